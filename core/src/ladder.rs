//! The published list of waits between attempts, and what may lengthen one of them.

use alloc::borrow::Cow;

use crate::time::{DAY, HOUR, MINUTE, SECOND};

/// The waits between the attempts of one cycle, in milliseconds. `n` waits are `n + 1` attempts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ladder {
    waits_ms: Cow<'static, [u64]>,
}

/// A ladder that cannot be climbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadLadder {
    /// More than [`WAITS_MAX`] waits.
    TooManyWaits(usize),
    /// A wait longer than [`WAIT_MAX_MS`], at this rung (counted from 1).
    WaitTooLong(usize),
}

impl core::fmt::Display for BadLadder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooManyWaits(n) => {
                write!(f, "a ladder has at most {WAITS_MAX} waits, this one has {n}")
            }
            Self::WaitTooLong(rung) => {
                write!(f, "wait {rung} of the ladder is longer than {} days", WAIT_MAX_MS / DAY)
            }
        }
    }
}

impl core::error::Error for BadLadder {}

impl Ladder {
    /// A ladder of one's own.
    pub fn new(waits_ms: impl Into<Cow<'static, [u64]>>) -> Result<Self, BadLadder> {
        let waits_ms = waits_ms.into();
        if waits_ms.len() > WAITS_MAX {
            return Err(BadLadder::TooManyWaits(waits_ms.len()));
        }
        match waits_ms.iter().position(|&wait| wait > WAIT_MAX_MS) {
            Some(at) => Err(BadLadder::WaitTooLong(at + 1)),
            None => Ok(Self { waits_ms }),
        }
    }

    /// Paymos: 11 attempts over 16 h 03 min.
    pub const fn paymos() -> Self {
        Self { waits_ms: Cow::Borrowed(&PAYMOS) }
    }

    /// The receiver's own ladder for failing work: the fourth failure goes to the dead letters.
    pub const fn inbox_default() -> Self {
        Self { waits_ms: Cow::Borrowed(&INBOX_DEFAULT) }
    }

    /// The example schedule of the Standard Webhooks specification: 10 attempts over 75 h 35 min 5 s.
    pub const fn standard_webhooks() -> Self {
        Self { waits_ms: Cow::Borrowed(&STANDARD_WEBHOOKS) }
    }

    /// The waits in milliseconds, the first before the second attempt.
    pub fn waits_ms(&self) -> &[u64] {
        &self.waits_ms
    }

    /// How many attempts one cycle has.
    pub fn attempts(&self) -> u16 {
        self.waits_ms.len() as u16 + 1
    }

    /// The wait after the `rung`-th attempt of a cycle, in milliseconds, lengthened by at most 5 %
    /// as `roll` says; `None` once the cycle is used up.
    pub fn wait(&self, rung: u16, roll: u64) -> Option<u64> {
        let wait = *self.waits_ms.get(usize::from(rung).checked_sub(1)?)?;
        Some(wait + roll % (jitter_max(wait) + 1))
    }

    /// The longest wait with its jitter, in milliseconds.
    pub fn wait_max_ms(&self) -> u64 {
        self.waits_ms.iter().map(|wait| wait + jitter_max(*wait)).max().unwrap_or(0)
    }

    /// The sum of all waits with all their jitter, in milliseconds.
    pub fn longest(&self) -> u64 {
        self.waits_ms.iter().map(|wait| wait + jitter_max(*wait)).sum()
    }
}

/// Jitter only ever adds, and at most a twentieth of the wait.
const fn jitter_max(wait: u64) -> u64 {
    wait / 20
}

/// The longest ladder that is accepted.
pub const WAITS_MAX: usize = 200;
/// The longest single wait that is accepted.
pub const WAIT_MAX_MS: u64 = 30 * DAY;

const PAYMOS: [u64; 10] = [
    MINUTE,
    2 * MINUTE,
    4 * MINUTE,
    8 * MINUTE,
    16 * MINUTE,
    32 * MINUTE,
    HOUR,
    2 * HOUR,
    4 * HOUR,
    8 * HOUR,
];
const INBOX_DEFAULT: [u64; 3] = [MINUTE, 5 * MINUTE, 15 * MINUTE];
const STANDARD_WEBHOOKS: [u64; 9] = [
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_runs_once_then_stops() {
        let ladder = Ladder::paymos();
        assert_eq!(ladder.attempts(), 11);
        assert_eq!(ladder.waits_ms().iter().sum::<u64>(), 16 * HOUR + 3 * MINUTE);
        assert_eq!(ladder.wait(0, 0), None, "there is no wait before the first attempt");
        assert_eq!(ladder.wait(1, 0), Some(MINUTE));
        assert_eq!(ladder.wait(10, 0), Some(8 * HOUR));
        assert_eq!(ladder.wait(11, 0), None);
    }

    #[test]
    fn jitter_only_adds_and_at_most_a_twentieth() {
        let ladder = Ladder::paymos();
        for roll in [0, 1, 2_999, 3_000, 3_001, u64::MAX] {
            let wait = ladder.wait(1, roll).expect("a first wait");
            assert!((MINUTE..=MINUTE + 3 * SECOND).contains(&wait), "{wait}");
        }
        assert_eq!(ladder.wait(1, 3_000), Some(MINUTE + 3 * SECOND));
        assert_eq!(ladder.wait(1, 3_001), Some(MINUTE));
        assert_eq!(Ladder::new(alloc::vec![10, 40]).expect("short").longest(), 10 + 42);
    }

    #[test]
    fn the_named_ladders_are_the_published_ones() {
        let minutes = |ladder: Ladder| -> alloc::vec::Vec<u64> {
            ladder.waits_ms().iter().map(|wait| wait / MINUTE).collect()
        };
        assert_eq!(minutes(Ladder::paymos()), [1, 2, 4, 8, 16, 32, 60, 120, 240, 480]);
        assert_eq!(minutes(Ladder::inbox_default()), [1, 5, 15]);
        let standard = Ladder::standard_webhooks();
        assert_eq!(standard.waits_ms().first(), Some(&5_000));
        assert_eq!(minutes(standard), [0, 5, 30, 120, 300, 600, 840, 1_200, 1_440]);
    }

    #[test]
    fn a_ladder_without_waits_has_one_attempt() {
        let once = Ladder::new(alloc::vec![]).expect("short");
        assert_eq!((once.attempts(), once.wait(1, 0), once.longest()), (1, None, 0));
    }

    #[test]
    fn absurd_ladders_are_refused_with_a_reason() {
        let long = Ladder::new(alloc::vec![1; WAITS_MAX + 1]).expect_err("too long");
        assert_eq!(alloc::format!("{long}"), "a ladder has at most 200 waits, this one has 201");
        let steep = Ladder::new(alloc::vec![1, WAIT_MAX_MS + 1]).expect_err("too long a wait");
        assert_eq!(steep, BadLadder::WaitTooLong(2));
        assert_eq!(alloc::format!("{steep}"), "wait 2 of the ladder is longer than 30 days");
        assert!(Ladder::new(alloc::vec![WAIT_MAX_MS; WAITS_MAX]).is_ok());
    }
}
