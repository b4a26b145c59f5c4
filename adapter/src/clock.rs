//! Which clock persisted times are read from.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use hookproof_core::Millis;

/// The clock of a store: its database's, or in tests one that a test sets.
#[derive(Clone, Debug, Default)]
pub struct Clock(Option<Arc<AtomicI64>>);

impl Clock {
    /// The database's own clock, read once the rows are locked.
    pub const fn database() -> Self {
        Self(None)
    }

    /// A clock that stands still until [`Clock::set`].
    pub fn fixed(now: Millis) -> Self {
        Self(Some(Arc::new(AtomicI64::new(crate::rows::instant(now)))))
    }

    /// Sets a fixed clock, and every clone of it; the database's takes no orders.
    pub fn set(&self, now: Millis) {
        if let Some(clock) = &self.0 {
            clock.store(crate::rows::instant(now), Ordering::SeqCst);
        }
    }

    /// What a fixed clock shows.
    pub fn shows(&self) -> Option<Millis> {
        self.override_ms().map(|ms| Millis(ms as u64))
    }

    pub(crate) fn override_ms(&self) -> Option<i64> {
        self.0.as_ref().map(|clock| clock.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_is_set_for_every_clone() {
        let clock = Clock::fixed(Millis(5));
        let other = clock.clone();
        clock.set(Millis(9));
        assert_eq!((other.shows(), Clock::database().shows()), (Some(Millis(9)), None));
    }
}
