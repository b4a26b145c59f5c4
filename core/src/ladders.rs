//! The ladders that providers publish, by name, as facts with their sources.
//!
//! The source of most is a provider's page or code as it was when it was read; providers change their
//! minds. Where a page states a rule the steps follow from it, and the source says so. A ladder that
//! goes on for a published time has all its repeats: how long keys are kept follows from it (R16).

use alloc::vec::Vec;

use crate::{ladder::Ladder, time::SECOND};

/// A published ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// Its name in profiles and scenarios.
    pub name: &'static str,
    /// The provider, as it writes itself.
    pub provider: &'static str,
    /// The waits between the attempts of one cycle, in seconds.
    pub waits_s: &'static [u64],
    /// Where the steps were read.
    pub source: &'static str,
}

/// The ladder of this name, or of the provider of this name, in whatever case.
pub fn named(name: &str) -> Option<Ladder> {
    let published = LADDERS.iter().find(|ladder| {
        ladder.name.eq_ignore_ascii_case(name) || ladder.provider.eq_ignore_ascii_case(name)
    })?;
    let waits: Vec<u64> = published.waits_s.iter().map(|wait| wait * SECOND).collect();
    Ladder::new(waits).ok()
}

/// All of them: our three names first, then by name.
pub const LADDERS: &[Published] = &[
    Published {
        name: "paymos",
        provider: "Paymos",
        waits_s: &[60, 120, 240, 480, 960, 1920, 3600, 7200, 14_400, 28_800],
        source: "paymos-engineering on hashnode; older plugin READMEs say about 32 h",
    },
    Published {
        name: "inbox-default",
        provider: "Hookproof inbox",
        waits_s: &[60, 300, 900],
        source: "the contract: the receiver's own",
    },
    Published {
        name: "standard-webhooks",
        provider: "Standard Webhooks",
        waits_s: &[5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
        source: "standard-webhooks/standard-webhooks spec/standard-webhooks.md",
    },
    Published {
        name: "360learning",
        provider: "360Learning",
        waits_s: &[5, 300, 1800, 7200, 18_000, 36_000, 36_000],
        source: "360learning.readme.io/docs/retry-logic",
    },
    Published {
        name: "adyen",
        provider: "Adyen",
        waits_s: &[
            9, 18, 27, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 28_800, 28_800,
            28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800,
            28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800,
            28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800,
            28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800,
            28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800,
            28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800,
            28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800,
            28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800, 28_800,
        ],
        source: "Adyen documentation; its 8 h repeat up to 30 days",
    },
    Published {
        name: "akamai-identity-cloud",
        provider: "Akamai Identity Cloud v3",
        waits_s: &[3, 30, 300, 3600, 86_400],
        source: "techdocs.akamai.com schedule-redelivery",
    },
    Published {
        name: "alloy",
        provider: "Alloy",
        waits_s: &[1, 60, 540, 1200, 3600, 5400, 10_800, 21_600, 43_200],
        source: "developer.alloy.com retry-logic",
    },
    Published {
        name: "apideck-unify",
        provider: "Apideck Unify",
        waits_s: &[180, 300, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200],
        source: "help.apideck.com/en/articles/4231682; a TTL of 24 h cuts the last",
    },
    Published {
        name: "aws-sns",
        provider: "AWS SNS",
        waits_s: &[20, 20, 20],
        source: "docs.aws.amazon.com sns, defaults of a custom policy",
    },
    Published {
        name: "brevo",
        provider: "Brevo",
        waits_s: &[600, 3600, 7200, 28_800],
        source: "developers.brevo.com/docs/retry-mechanism",
    },
    Published {
        name: "circle-cpn",
        provider: "Circle CPN",
        waits_s: &[1, 10, 30, 60, 900, 3600, 10_800, 18_000, 21_600, 36_000, 39_600],
        source: "developers.circle.com/cpn/references/webhook-retries",
    },
    Published {
        name: "clerk",
        provider: "Clerk",
        waits_s: &[5, 300, 1800, 7200, 18_000, 36_000, 36_000],
        source: "delivered by Svix",
    },
    Published {
        name: "contentstack",
        provider: "Contentstack",
        waits_s: &[5, 25, 125, 625],
        source: "contentstack.com webhook-retry-policy",
    },
    Published {
        name: "cratis-chronicle",
        provider: "Cratis Chronicle",
        waits_s: &[
            1, 5, 30, 120, 600, 1800, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600,
            3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600,
        ],
        source: "cratis/chronicle v19.104.0; its 1 h repeats up to 24 h",
    },
    Published {
        name: "dialpad-call",
        provider: "Dialpad call",
        waits_s: &[2, 4, 8],
        source: "developers.dialpad.com/docs/webhook-delivery-failures",
    },
    Published {
        name: "dialpad-sms",
        provider: "Dialpad SMS",
        waits_s: &[30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600],
        source: "developers.dialpad.com/docs/webhook-delivery-failures",
    },
    Published {
        name: "didww-phone-systems",
        provider: "DIDWW phone.systems",
        waits_s: &[1, 2, 5, 10, 30, 60, 120, 300, 300],
        source: "doc.didww.com webhook-delivery; the longest of each random wait",
    },
    Published {
        name: "firstpromoter",
        provider: "FirstPromoter",
        waits_s: &[1200, 2400, 3600],
        source: "docs.firstpromoter.com/webhooks-v2/deliveries",
    },
    Published {
        name: "juspay-upi",
        provider: "Juspay UPI",
        waits_s: &[
            60, 300, 300, 600, 600, 600, 600, 600, 3600, 3600, 3600, 3600, 3600, 21_600, 21_600,
            21_600,
        ],
        source: "juspay.io webhook-callback-retries",
    },
    Published {
        name: "kit",
        provider: "Kit",
        waits_s: &[30, 120, 900, 3600, 14_400, 43_200, 86_400],
        source: "developers.kit.com/webhooks/retries",
    },
    Published {
        name: "mailgun",
        provider: "Mailgun",
        waits_s: &[600, 600, 900, 1800, 3600, 7200, 14_400],
        source: "mailgun/documentation user_manual.rst",
    },
    Published {
        name: "nmi",
        provider: "NMI",
        waits_s: &[
            15, 60, 60, 60, 300, 900, 1800, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600,
            3600, 43_200, 43_200, 86_400,
        ],
        source: "docs.nmi.com/reference/retry-logic",
    },
    Published {
        name: "plaid",
        provider: "Plaid",
        waits_s: &[30, 120, 480, 1920, 7680, 30_720],
        source: "plaid docs; 4 times the last up to 24 h, expanded",
    },
    Published {
        name: "pusher-beams",
        provider: "Pusher Beams",
        waits_s: &[10, 30, 120, 300],
        source: "docs.bird.com beams-webhook-timeouts-and-retries",
    },
    Published {
        name: "recurly",
        provider: "Recurly",
        waits_s: &[10, 74, 266, 778, 2058, 5130, 12_298, 28_682, 65_546, 147_466],
        source: "docs.recurly.com automatic-retries, from its formula",
    },
    Published {
        name: "resend",
        provider: "Resend",
        waits_s: &[5, 300, 1800, 7200, 18_000, 36_000, 36_000],
        source: "resend.com/docs/webhooks/retries-and-replays",
    },
    Published {
        name: "sanity",
        provider: "Sanity",
        waits_s: &[30, 30],
        source: "sanity.io changelog 2026-04-29",
    },
    Published {
        name: "slack",
        provider: "Slack",
        waits_s: &[0, 60, 300],
        source: "docs.slack.dev, by way of an article on dev.classmethod.jp",
    },
    Published {
        name: "square",
        provider: "Square",
        waits_s: &[
            60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600,
            3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600,
            3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600,
            3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600,
            3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600,
            3600, 3600, 3600, 3600, 3600, 3600, 3600,
        ],
        source: "square delivery-sla page",
    },
    Published {
        name: "svix",
        provider: "Svix",
        waits_s: &[5, 300, 1800, 7200, 18_000, 36_000, 36_000],
        source: "svix/svix-webhooks; docs.svix.com",
    },
    Published {
        name: "ticket-tailor",
        provider: "Ticket Tailor",
        waits_s: &[
            0, 16, 65, 175, 369, 671, 1105, 1695, 2465, 3439, 4641, 6095, 7825, 9855, 12_209,
            14_911, 17_985, 21_455, 25_345, 29_679, 34_481, 39_775,
        ],
        source: "developers.tickettailor.com/docs/webhook/retry, from elapsed times",
    },
    Published {
        name: "tidio",
        provider: "Tidio",
        waits_s: &[5, 10, 30, 60, 180, 600, 1800, 3600, 10_800],
        source: "developers.tidio.com/docs/webhooks-delivering",
    },
    Published {
        name: "transfi",
        provider: "TransFi",
        waits_s: &[900, 900, 900, 900, 900, 900, 900, 900],
        source: "docs.transfi.com webhook-retry",
    },
    Published {
        name: "truecaller",
        provider: "Truecaller",
        waits_s: &[120, 360, 1800, 3600, 18_000, 86_400, 172_800],
        source: "docs.truecaller.com automatic-retries",
    },
    Published {
        name: "ultravox",
        provider: "Ultravox",
        waits_s: &[30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360],
        source: "docs.ultravox.ai/webhooks/errors-and-retries",
    },
    Published {
        name: "wake-commerce",
        provider: "Wake Commerce",
        waits_s: &[600, 1200, 1800, 3600, 3600, 7200, 10_800, 14_400, 21_600],
        source: "wakecommerce.readme.io/docs/webhook-timeout-retentativas, from offsets",
    },
    Published {
        name: "wix",
        provider: "Wix",
        waits_s: &[60, 600, 3600, 7200, 7200, 7200, 14_400, 14_400, 14_400, 28_800, 28_800, 43_200],
        source: "dev.wix.com webhook-resend-policy",
    },
    Published {
        name: "zoom",
        provider: "Zoom",
        waits_s: &[300, 1200, 3600],
        source: "developers.zoom.us/blog/webhook-delays",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{DAY, HOUR, MINUTE};

    #[test]
    fn every_ladder_loads_by_its_name_and_by_its_provider() {
        for published in LADDERS {
            let ladder = named(published.name).expect(published.name);
            assert_eq!(named(published.provider), Some(ladder.clone()), "{}", published.provider);
            assert_eq!(usize::from(ladder.attempts()), published.waits_s.len() + 1);
            assert_eq!(total(published.name), published.waits_s.iter().sum::<u64>() * SECOND);
            assert!(!published.source.is_empty(), "{} names its source", published.name);
        }
        assert_eq!(named("nobody"), None);
    }

    #[test]
    fn no_name_means_two_ladders() {
        for (i, a) in LADDERS.iter().enumerate() {
            for b in &LADDERS[..i] {
                for (one, other) in [(a.name, b.name), (a.name, b.provider), (a.provider, b.name)] {
                    assert!(!one.eq_ignore_ascii_case(other), "{one}");
                }
            }
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(a.name.chars().all(plain), "{}", a.name);
        }
    }

    #[test]
    fn our_three_names_are_the_ladders_of_the_profiles() {
        assert_eq!(named("Paymos"), Some(Ladder::paymos()));
        assert_eq!(named("INBOX-DEFAULT"), Some(Ladder::inbox_default()));
        assert_eq!(named("Standard Webhooks"), Some(Ladder::standard_webhooks()));
    }

    #[test]
    fn known_totals_are_kept() {
        assert_eq!(total("paymos"), 16 * HOUR + 3 * MINUTE);
        assert_eq!(total("standard-webhooks"), 75 * HOUR + 35 * MINUTE + 5 * SECOND);
        assert_eq!(total("svix"), 27 * HOUR + 35 * MINUTE + 5 * SECOND);
        assert_eq!(total("square"), 73 * HOUR + 3 * MINUTE);
        assert_eq!(total("slack"), 6 * MINUTE);
        assert_eq!(total("zoom"), HOUR + 25 * MINUTE);
        assert_eq!(total("mailgun"), 8 * HOUR + 5 * MINUTE);
        assert_eq!(total("plaid"), 11 * HOUR + 22 * MINUTE + 30 * SECOND);
    }

    #[test]
    fn a_ladder_that_repeats_fills_its_published_time() {
        assert!((29 * DAY..=30 * DAY).contains(&total("adyen")));
        assert!((23 * HOUR..=DAY).contains(&total("cratis-chronicle")));
    }

    fn total(name: &str) -> u64 {
        named(name).map(|ladder| ladder.waits_ms().iter().sum()).unwrap_or_default()
    }
}
