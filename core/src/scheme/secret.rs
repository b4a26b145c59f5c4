//! Secrets with the time in which they count.

use core::fmt;

use super::{BadSecret, Scheme, key::Key};
use crate::Millis;

/// When a secret counts. Half-open: from its first instant, up to its last but one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Window {
    /// The first instant.
    pub from: Millis,
    /// The instant from which it no longer counts; `None` while nobody retired it.
    pub until: Option<Millis>,
    /// Revoked: it counts no more, whatever its window says (S9: no overlap).
    pub revoked: bool,
}

impl Window {
    /// Always.
    pub const fn always() -> Self {
        Self { from: Millis(0), until: None, revoked: false }
    }

    /// Retired at an instant, counting for the overlap (milliseconds) after it.
    #[must_use]
    pub fn retire(self, at: Millis, overlap_ms: u64) -> Self {
        let until = at + overlap_ms;
        Self { until: Some(self.until.map_or(until, |other| other.min(until))), ..self }
    }

    /// Revoked: no overlap.
    #[must_use]
    pub const fn revoke(self) -> Self {
        Self { revoked: true, ..self }
    }

    /// Whether it counts now. Where time is not tested, everything but a revoked secret does.
    pub fn is_live(&self, now: Option<Millis>) -> bool {
        !self.revoked
            && now.is_none_or(|now| self.from <= now && self.until.is_none_or(|until| now < until))
    }
}

/// A secret whose key is prepared: as much of the algorithm as needs no request is done already.
#[derive(Clone)]
pub struct Secret {
    pub(crate) key: Key,
    pub(crate) window: Window,
}

impl Secret {
    /// Prepares a secret's text for a scheme.
    pub fn new(scheme: &Scheme, text: &str, window: Window) -> Result<Self, BadSecret> {
        Ok(Self { key: Key::prepare(scheme, text)?, window })
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("window", &self.window).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retired_secret_counts_for_its_overlap_and_a_revoked_one_never() {
        let retired = Window::always().retire(Millis(100), 50);
        assert!(retired.is_live(Some(Millis(149))));
        assert!(!retired.is_live(Some(Millis(150))));
        assert!(!Window::always().revoke().is_live(Some(Millis(0))));
        assert!(!Window::always().revoke().is_live(None));
    }

    #[test]
    fn retiring_twice_never_lengthens_the_overlap() {
        let once = Window::always().retire(Millis(100), 50);
        assert_eq!(once.retire(Millis(120), 50), once);
    }

    #[test]
    fn a_secret_of_tomorrow_does_not_count_today() {
        let window = Window { from: Millis(10), ..Window::always() };
        assert!(!window.is_live(Some(Millis(9))));
        assert!(window.is_live(Some(Millis(10))));
    }
}
