//! Time that counts against a sender: what a fault or a person holds back does not.

use hookproof_core::Millis;

use super::super::pack::{at_latest, number};

/// A clock that stands still while there is a reason for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// What it has lost so far.
    lost_ms: u64,
    /// Since when it stands still, while it does.
    since: Millis,
    /// Why it stands still; none: it runs.
    held: u8,
}

/// The sender's database does not answer.
pub(super) const DATABASE: u8 = 1;
/// No relay is known to be up.
pub(super) const RELAYS: u8 = 2;
/// A worker may stand still in the middle of a transaction, with its locks.
pub(super) const STALL: u8 = 8;
/// The endpoint takes no deliveries.
pub(super) const SHUT: u8 = 4;

impl Default for Clock {
    /// A history begins before any relay was heard of.
    fn default() -> Self {
        Self { lost_ms: 0, since: Millis(0), held: RELAYS }
    }
}

impl Clock {
    /// What it shows.
    pub(super) fn now(&self, at: Millis) -> Millis {
        let at = if self.held == 0 { at } else { self.since };
        at + AHEAD_MS - self.lost_ms
    }

    /// Stops it for this reason.
    pub(super) fn stop(&mut self, reason: u8, at: Millis) {
        if self.held == 0 {
            self.since = at;
        }
        self.held |= reason;
    }

    /// Takes this reason away. Once none is left it runs again, `grace_ms` later: whoever was held
    /// needs that long to come round.
    pub(super) fn start(&mut self, reason: u8, at: Millis, grace_ms: u64) {
        if self.held & reason == 0 {
            return;
        }
        self.held &= !reason;
        if self.held == 0 {
            self.grant(at.since(self.since).saturating_add(grace_ms));
        }
    }

    /// Sets it back once.
    pub(super) fn grant(&mut self, ms: u64) {
        self.lost_ms = self.lost_ms.saturating_add(ms);
    }

    /// Appends what its future depends on. Instants on it are packed by [`Clock::pack_instant`].
    pub(super) fn pack(&self, key: &mut Vec<u8>) {
        key.push(self.held);
    }

    /// Appends an instant that this clock showed or will show, to the millisecond.
    pub(super) fn pack_instant(&self, now: Millis, instant: Millis, key: &mut Vec<u8>) {
        let shown = self.now(now);
        at_latest(key, shown, instant);
        number(key, shown.since(instant));
    }
}

/// How far it is ahead to begin with, so that it can lose more than has passed.
const AHEAD_MS: u64 = 1 << 42;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_still_while_any_reason_is_left() {
        let mut clock = Clock::default();
        clock.start(RELAYS, Millis(50), 0);
        assert_eq!(clock.now(Millis(90)), Millis(40) + AHEAD_MS);
        clock.stop(DATABASE, Millis(100));
        clock.stop(RELAYS, Millis(150));
        clock.start(DATABASE, Millis(300), 7);
        assert_eq!(clock.now(Millis(350)), Millis(50) + AHEAD_MS);
        clock.start(RELAYS, Millis(400), 7);
        assert_eq!(clock.now(Millis(500)), Millis(143) + AHEAD_MS);
        clock.start(RELAYS, Millis(600), 7);
        clock.grant(3);
        assert_eq!(clock.now(Millis(600)), Millis(240) + AHEAD_MS);
    }
}
