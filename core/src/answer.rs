//! What a receiver's answer means to the sender: its class, and how long it asks to wait.

use crate::{
    instant,
    outbox::Ended,
    profile::{OnGone, Profile},
    time::{DAY, SECOND},
};

/// What came back of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A complete status line and headers: the outcome is known (S7).
    Status(u16),
    /// No answer: name look-up, connection, TLS, the time limit, a reset. Whether the receiver acted
    /// may be unknown, so the retry carries the same id.
    NoAnswer,
}

/// What an answer does to the delivery (S6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Acknowledged.
    Success,
    /// It climbs the ladder.
    FailedRetry,
    /// It has failed: the same bytes will not do better next time.
    FailedPermanent {
        /// Whether the profile disables the endpoint too.
        disable: bool,
    },
}

/// Sorts an answer. 2xx alone is success; a redirect is none; 413 ends the delivery, 410 as the
/// profile says; everything else climbs.
pub const fn classify(answer: Answer, profile: &Profile) -> Class {
    match answer {
        Answer::Status(200..=299) => Class::Success,
        Answer::Status(410) => match profile.on_gone {
            OnGone::Climb => Class::FailedRetry,
            OnGone::Fail => Class::FailedPermanent { disable: false },
            OnGone::Disable => Class::FailedPermanent { disable: true },
        },
        Answer::Status(413) => Class::FailedPermanent { disable: false },
        Answer::Status(_) | Answer::NoAnswer => Class::FailedRetry,
    }
}

/// How a request ended, as its delivery is settled by it. `retry_after_s` is what [`retry_after`] read.
pub const fn ended(answer: Answer, retry_after_s: Option<u64>) -> Ended {
    match answer {
        Answer::Status(200..=299) => Ended::Acknowledged,
        Answer::Status(410) => Ended::Gone,
        Answer::Status(_) => Ended::Refused {
            retry_after_ms: match retry_after_s {
                Some(seconds) => Some(seconds.saturating_mul(SECOND)),
                None => None,
            },
        },
        Answer::NoAnswer => Ended::Unknown,
    }
}

/// Reads `Retry-After` (RFC 9110 section 10.2.3): the seconds to wait, at most `cap_s`.
///
/// `lines` are the field lines of that name, `now_s` is in seconds since the Unix epoch. Of several
/// lines the largest that can be read counts. `None`: ignore the header and use the own wait.
pub fn retry_after<'a>(
    lines: impl IntoIterator<Item = &'a [u8]>,
    now_s: i64,
    cap_s: u64,
) -> Option<u64> {
    let waits = lines.into_iter().filter_map(|line| retry_after_line(trim(line), now_s));
    Some(waits.max()?.min(cap_s))
}

fn retry_after_line(value: &[u8], now_s: i64) -> Option<u64> {
    if !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
        // Any number of digits may stand there, zeros in front of them too.
        let zeros = value.iter().take_while(|digit| **digit == b'0').count();
        let seconds = match &value[zeros..] {
            [] => 0,
            significant => instant::digits(significant).unwrap_or(i64::MAX),
        };
        return Some(seconds.unsigned_abs());
    }
    let at = instant::http_date(value, now_s)?;
    Some(at.saturating_sub(now_s).max(0).unsigned_abs())
}

/// The value without blanks around it: a space or a tab, nothing else.
pub const fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// A tolerance in seconds as a configuration writes it: digits, at most a year. Zero means "the same
/// second only"; there is no value that switches the check off.
pub fn tolerance(text: &str) -> Option<u32> {
    let seconds = instant::digits(text.as_bytes())?;
    u32::try_from(seconds).ok().filter(|seconds| *seconds <= TOLERANCE_MAX_S)
}

/// A wait that grows by a factor from retry to retry, up to a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Backoff {
    /// The wait before the first retry, in milliseconds.
    pub base_ms: u64,
    /// What each further wait is multiplied by, in thousandths (2000 doubles).
    pub factor_milli: u64,
    /// No wait is longer, in milliseconds.
    pub cap_ms: u64,
    /// How the wait is spread.
    pub jitter: Jitter,
}

/// How a wait is spread, so that what failed together is not retried together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Jitter {
    /// Not at all.
    None,
    /// Anywhere from zero to the wait.
    Full,
    /// A tenth less to a tenth more, within the cap.
    TenPercent,
}

impl Backoff {
    /// The shortest and the longest wait before this retry, in milliseconds. `retry` 1 is the first.
    /// A `Retry-After` (seconds) lifts both, within [`RETRY_AFTER_MAX_S`].
    pub fn bounds_ms(&self, retry: u32, retry_after_s: Option<u64>) -> (u64, u64) {
        let wait = self.wait_ms(retry);
        let (shortest, longest) = match self.jitter {
            Jitter::None => (wait, wait),
            Jitter::Full => (0, wait),
            Jitter::TenPercent => (wait - wait / 10, wait.saturating_add(wait / 10)),
        };
        let longest = longest.min(self.cap_ms);
        let asked = retry_after_s.unwrap_or(0).min(RETRY_AFTER_MAX_S) * SECOND;
        (shortest.max(asked), longest.max(asked))
    }

    /// The wait before this retry, in milliseconds, spread as `roll` says.
    pub fn delay_ms(&self, retry: u32, retry_after_s: Option<u64>, roll: u64) -> u64 {
        let (shortest, longest) = self.bounds_ms(retry, retry_after_s);
        match (longest - shortest).checked_add(1) {
            Some(span) => shortest + roll % span,
            None => roll,
        }
    }

    /// Multiplies until the cap: never more steps than the value has bits.
    fn wait_ms(&self, retry: u32) -> u64 {
        let cap = u128::from(self.cap_ms);
        let mut wait = u128::from(self.base_ms).min(cap);
        for _ in 1..retry {
            let next = (wait * u128::from(self.factor_milli) / 1_000).min(cap);
            if next == wait {
                break;
            }
            wait = next;
        }
        wait as u64
    }
}

/// The longest tolerance that a configuration may ask for, in seconds: a year.
pub const TOLERANCE_MAX_S: u32 = 31_536_000;
/// The longest wait that a `Retry-After` can ask of a backoff, in seconds.
pub const RETRY_AFTER_MAX_S: u64 = DAY / SECOND;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const NOW: i64 = 1_700_000_000;

    fn asks(value: &str) -> Option<u64> {
        retry_after([value.as_bytes()], NOW, 86_400)
    }

    #[test]
    fn only_2xx_is_success_and_410_is_the_profiles() {
        let profile = Profile::hookproof();
        let class = |status| classify(Answer::Status(status), &profile);
        assert_eq!(class(299), Class::Success);
        for status in [0, 100, 199, 300, 302, 304, 400, 404, 408, 429, 500, 599, 999] {
            assert_eq!(class(status), Class::FailedRetry, "{status}");
        }
        assert_eq!(class(413), Class::FailedPermanent { disable: false });
        let gone = classify(Answer::Status(410), &Profile::standard_webhooks());
        assert_eq!(gone, Class::FailedPermanent { disable: true });
        assert_eq!(classify(Answer::NoAnswer, &profile), Class::FailedRetry);
    }

    #[test]
    fn an_answer_is_settled_by_what_it_says_and_silence_is_unknown() {
        assert_eq!(ended(Answer::Status(204), Some(9)), Ended::Acknowledged);
        assert_eq!(ended(Answer::Status(410), None), Ended::Gone);
        for status in [100, 302, 409, 413, 503] {
            let refused = Ended::Refused { retry_after_ms: Some(9_000) };
            assert_eq!(ended(Answer::Status(status), Some(9)), refused, "{status}");
        }
        assert_eq!(ended(Answer::NoAnswer, Some(9)), Ended::Unknown);
    }

    #[test]
    fn retry_after_is_whole_or_ignored_and_clamped() {
        assert_eq!(asks(" 120\t"), Some(120));
        assert_eq!(asks("0"), Some(0));
        assert_eq!(asks("99999999999999999999999999"), Some(86_400));
        assert_eq!(asks("00000000000000000005"), Some(5));
        assert_eq!(asks("0000000000000000000000000"), Some(0));
        assert_eq!(asks("Tue, 14 Nov 2023 22:11:20 GMT"), Some(0), "in the past");
        for junk in ["", "-1", "+1", "1.5", "120junk", "120, 600", "120\u{a0}", "1e3", "0x10"] {
            assert_eq!(asks(junk), None, "{junk}");
        }
        assert_eq!(retry_after([&b"120"[..], b"600", b"x"], NOW, 300), Some(300));
    }

    #[test]
    fn a_tolerance_is_digits() {
        assert_eq!(tolerance("0"), Some(0));
        assert_eq!(tolerance("300"), Some(300));
        for bad in ["", "-1", "+1", "1.5", "abc", "NaN", "inf", " 300", "300s", "31536001", "1e3"] {
            assert_eq!(tolerance(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_backoff_grows_to_its_cap_and_stays_there() {
        let backoff = Backoff {
            base_ms: 1_000,
            factor_milli: 2_000,
            cap_ms: 3_600_000,
            jitter: Jitter::None,
        };
        let at = |retry| backoff.bounds_ms(retry, None).0;
        assert_eq!((at(0), at(1), at(5), at(12)), (1_000, 1_000, 16_000, 2_048_000));
        assert_eq!((at(13), at(u32::MAX)), (3_600_000, 3_600_000));
        assert_eq!(backoff.bounds_ms(1, Some(120)), (120_000, 120_000));
    }

    proptest! {
        #[test]
        fn a_delay_lies_within_its_bounds(
            base_ms: u64, factor_milli: u64, cap_ms: u64, retry: u32, roll: u64, asked: Option<u64>,
        ) {
            for jitter in [Jitter::None, Jitter::Full, Jitter::TenPercent] {
                // The factor 1.001 takes the most steps; keep its cap near.
                let backoff = Backoff { base_ms, factor_milli, cap_ms: cap_ms % 1_000_000_000, jitter };
                let (shortest, longest) = backoff.bounds_ms(retry, asked);
                let delay = backoff.delay_ms(retry, asked, roll);
                prop_assert!((shortest..=longest).contains(&delay));
            }
        }

        #[test]
        fn no_header_makes_it_panic(line: Vec<u8>, now: i64, cap: u64) {
            let _ = retry_after([&line[..]], now, cap);
        }
    }
}
