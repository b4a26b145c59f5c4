//! Instants and durations: integers in milliseconds.

use core::ops::{Add, Sub};

/// An instant: milliseconds since the Unix epoch, always supplied by the caller.
///
/// Deadlines are persisted and outlive processes, so they are wall time. Arithmetic saturates: a
/// clock that a peer or an operator set to nonsense moves a deadline, never a panic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// The milliseconds from `earlier` to `self`; zero where `earlier` is not earlier.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<u64> for Millis {
    type Output = Self;

    fn add(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

impl Sub<u64> for Millis {
    type Output = Self;

    fn sub(self, ms: u64) -> Self {
        Self(self.0.saturating_sub(ms))
    }
}

/// One second in milliseconds.
pub const SECOND: u64 = 1_000;
/// One minute in milliseconds.
pub const MINUTE: u64 = 60 * SECOND;
/// One hour in milliseconds.
pub const HOUR: u64 = 60 * MINUTE;
/// One day in milliseconds.
pub const DAY: u64 = 24 * HOUR;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonsensical_clock_moves_a_deadline_and_panics_nowhere() {
        assert_eq!((Millis(5) + 2, Millis(5) - 2), (Millis(7), Millis(3)));
        assert_eq!(Millis(u64::MAX) + 1, Millis(u64::MAX));
        assert_eq!(Millis(1) - 2, Millis(0));
        assert_eq!((Millis(7).since(Millis(5)), Millis(5).since(Millis(7))), (2, 0));
        assert_eq!((MINUTE, HOUR, DAY), (60_000, 3_600_000, 86_400_000));
    }
}
