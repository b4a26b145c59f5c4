//! The schemes that ship, as data. Each fact has its source; defaults of ours are marked as such.

mod body;
mod standard;
mod timed;
mod url;

use alloc::borrow::Cow;

use super::{
    Algorithm, Carrier, Construction, Encoding, Facts, Grammar, KeyForm, Names, Part, Place,
    Scheme, Side, Template, Text, Tolerance,
};
use crate::instant::Unit;

/// Every scheme that ships.
pub fn all() -> impl Iterator<Item = &'static Scheme> {
    standard::ROWS.iter().chain(&timed::ROWS).chain(&body::ROWS).chain(&url::ROWS)
}

/// The scheme with this name or alias.
pub fn named(name: &str) -> Option<&'static Scheme> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    all().find(|scheme| scheme.name == name)
}

/// Short names of cases and configurations.
pub const ALIASES: [(&str, &str); 24] = [
    ("swh", "standard-webhooks-v1"),
    ("standard-webhooks", "standard-webhooks-v1"),
    ("swh-v1a", "standard-webhooks-v1a"),
    ("svix", "svix-v1"),
    ("clerk", "svix-v1"),
    ("resend", "svix-v1"),
    ("t-v1", "stripe-v1"),
    ("stripe", "stripe-v1"),
    ("paymos", "paymos-v1"),
    ("hub256", "github-sha256"),
    ("github", "github-sha256"),
    ("meta", "github-sha256"),
    ("b64body", "shopify-hmac"),
    ("shopify", "shopify-hmac"),
    ("slack", "slack-v0"),
    ("zoom", "zoom-v0"),
    ("paddle", "paddle-h1"),
    ("square", "square-hmacsha256"),
    ("twilio", "twilio-sha1"),
    ("line", "line-hmacsha256-b64"),
    ("razorpay", "razorpay-hmacsha256-hex"),
    ("discord", "discord-ed25519"),
    ("sendgrid", "sendgrid-ecdsa-p256"),
    ("twitch", "twitch-sha256"),
];

/// A scheme of `vectors/schemes.json` that has no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Its name there.
    pub name: &'static str,
    /// Who uses it.
    pub provider: &'static str,
    /// Why it has no row.
    pub why: &'static str,
}

/// What is known and not verified, with the reason.
pub const UNSUPPORTED: [Unsupported; 9] = [
    Unsupported {
        name: "paypal-rsa-sha256-crc32",
        provider: "PayPal",
        why: "RSA with a certificate to fetch; only a CRC-32 of the body is signed",
    },
    Unsupported {
        name: "sns-rsa",
        provider: "AWS SNS",
        why: "RSA with a certificate to fetch from a URL in the body",
    },
    Unsupported {
        name: "http-message-signatures/rsa-pss-sha512",
        provider: "RFC 9421",
        why: "RSA: hmac-sha256, ed25519 and ecdsa-p256-sha256 are verified",
    },
    Unsupported {
        name: "plaid-jwt-es256",
        provider: "Plaid",
        why: "a JWT whose key has to be fetched; no whole published vector",
    },
    Unsupported {
        name: "tabapay-v1v2",
        provider: "TabaPay",
        why: "the name of its header is not published: declare it as a scheme of your own",
    },
    Unsupported {
        name: "none",
        provider: "CloudEvents webhooks",
        why: "nothing is signed: a bearer token in `Authorization` or the URL. Handshake: OPTIONS with \
              WebHook-Request-Origin, answered by WebHook-Allowed-Origin",
    },
    Unsupported {
        name: "content-digest-sha-512",
        provider: "RFC 9530",
        why: "a digest, not a signature: it is checked within message signatures",
    },
    Unsupported {
        name: "hmac-sha256-hex-raw",
        provider: "RFC 4231 / Wycheproof",
        why: "a primitive, not a webhook scheme: its vectors are checked as such",
    },
    Unsupported {
        name: "ed25519-raw",
        provider: "Wycheproof",
        why: "a primitive, not a webhook scheme: its vectors are checked as such",
    },
];

/// A list of a row.
macro_rules! list {
    ($($item:expr),* $(,)?) => {
        ::alloc::borrow::Cow::Borrowed(const { &[$($item),*] })
    };
}
use list;

const fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

#[expect(clippy::unnecessary_wraps, reason = "a row's field is optional, and rows are tables")]
const fn some(text: &'static str) -> Option<Text> {
    Some(Cow::Borrowed(text))
}

/// A row without template, or with one.
const fn row(
    names: (&'static str, &'static str),
    construction: Construction,
    algorithm: Algorithm,
    key: KeyForm,
    tolerance: Option<Tolerance>,
    facts: Facts,
) -> Scheme {
    let (name, provider) = names;
    Scheme {
        name: Cow::Borrowed(name),
        provider: Cow::Borrowed(provider),
        construction,
        algorithm,
        key,
        tolerance,
        facts,
    }
}

/// A template with one spelling of its names and nothing special.
const fn template(
    names: super::List<Names>,
    grammar: Grammar,
    encoding: Encoding,
    signed: &'static [Part],
    clock: Option<(Place, Unit)>,
) -> Construction {
    Construction::Template(Template {
        names,
        grammar,
        encoding,
        signed: Cow::Borrowed(signed),
        clock,
        fixed: Cow::Borrowed(&[]),
        body_sha256_query: None,
    })
}

/// Names with the signature in one header.
const fn names(signature: &'static str, id: Option<Text>, timestamp: Option<Text>) -> Names {
    Names { signature: Carrier::One(Cow::Borrowed(signature)), id, timestamp }
}

const fn single(prefix: &'static str) -> Grammar {
    Grammar::Single { prefix: Cow::Borrowed(prefix) }
}

const fn facts(
    acknowledge: &'static str,
    handshake: Option<Text>,
    vectors: u16,
    source: &'static str,
) -> Facts {
    Facts {
        acknowledge: Cow::Borrowed(acknowledge),
        handshake,
        legacy: false,
        vectors,
        source: Cow::Borrowed(source),
    }
}

const fn legacy(vectors: u16, source: &'static str) -> Facts {
    Facts {
        acknowledge: Cow::Borrowed("2xx"),
        handshake: None,
        legacy: true,
        vectors,
        source: Cow::Borrowed(source),
    }
}

/// A window that the provider states.
#[expect(clippy::unnecessary_wraps, reason = "a row's field is optional, and rows are tables")]
const fn within(seconds: u32) -> Option<Tolerance> {
    Some(Tolerance { seconds, side: Side::Both, stated: true })
}

const OURS: Option<Tolerance> = Some(Tolerance::OURS);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_aliases_lead_to_rows() {
        let mut seen = BTreeSet::new();
        for scheme in all() {
            assert!(seen.insert(&*scheme.name), "{} stands twice", scheme.name);
        }
        for (alias, name) in ALIASES {
            assert!(named(alias).is_some(), "{alias} leads to {name}, which is no row");
            assert!(!seen.contains(alias), "{alias} is a row too");
        }
        for unsupported in UNSUPPORTED {
            assert!(!seen.contains(unsupported.name), "{} has a row", unsupported.name);
        }
    }

    #[test]
    fn what_is_not_signed_can_be_read_off_a_row() {
        let signs = |name| named(name).expect("a row").signs();
        assert!(signs("swh").id && signs("swh").body);
        for unsigned in ["paymos", "github", "razorpay-hmacsha256-hex", "shopify"] {
            assert!(!signs(unsigned).id && signs(unsigned).body, "{unsigned}");
        }
        assert!(!signs("gitlab-token").body && !signs("mailgun-body-token").body);
    }
}
