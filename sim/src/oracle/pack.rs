//! How monitors write themselves into a key: exactly, briefly, and without absolute times.

use hookproof_core::Millis;

/// An instant that never comes.
pub(crate) const NEVER: Millis = Millis(u64::MAX);

/// A number, seven bits a byte.
pub(crate) fn number(key: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        key.push(value as u8 | 0x80);
        value >>= 7;
    }
    key.push(value as u8);
}

/// An instant before which something must not happen: all that have passed are one.
pub(crate) fn not_before(key: &mut Vec<u8>, now: Millis, instant: Millis) {
    match instant {
        NEVER => number(key, 1),
        instant if instant <= now => number(key, 0),
        instant => number(key, instant.since(now) + 1),
    }
}

/// An instant after which something must not happen: all that have passed are one, and now has not.
pub(crate) fn at_latest(key: &mut Vec<u8>, now: Millis, instant: Millis) {
    match instant {
        NEVER => number(key, 1),
        instant if instant < now => number(key, 0),
        instant => number(key, instant.since(now) + 2),
    }
}

/// What a key calls relays and claims. Which of several relays it was, and how many claims there were
/// before, is not for the future to tell: names are given by how they stand to each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// The name of each relay; its number where there is none.
    pub relays: &'a [u8],
    /// The number from which the claims of each delivery are counted.
    pub sent: &'a [u32],
    /// The number from which the claims of each receipt are counted.
    pub worked: &'a [u32],
}

impl Names<'_> {
    /// The name of a relay.
    pub(crate) fn relay(&self, relay: u8) -> u8 {
        self.relays.get(usize::from(relay)).copied().unwrap_or(relay)
    }

    /// The name of a claim of a delivery.
    pub(crate) fn sent(&self, delivery: usize, fence: u32) -> u64 {
        apart(self.sent.get(delivery).copied().unwrap_or(0), fence)
    }

    /// The name of a claim of a receipt.
    pub(crate) fn worked(&self, receipt: usize, fence: u32) -> u64 {
        apart(self.worked.get(receipt).copied().unwrap_or(0), fence)
    }
}

/// How far a number is from another one, either way, as a small number.
pub(crate) fn apart(from: u32, number: u32) -> u64 {
    let by = i64::from(from) - i64::from(number);
    ((by << 1) ^ (by >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_near_each_other_have_short_names() {
        let near = [5, 4, 6, 3, 7].map(|number| apart(5, number));
        assert_eq!(near, [0, 2, 1, 4, 3]);
        assert_ne!(apart(0, u32::MAX), apart(u32::MAX, 0));
    }

    fn packed(pack: fn(&mut Vec<u8>, Millis, Millis), instant: u64) -> Vec<u8> {
        let mut key = Vec::new();
        pack(&mut key, Millis(1_000), Millis(instant));
        key
    }

    #[test]
    fn the_past_is_one_and_the_future_is_exact() {
        assert_eq!(packed(not_before, 0), packed(not_before, 1_000));
        assert_ne!(packed(not_before, 1_000), packed(not_before, 1_001));
        assert_eq!(packed(at_latest, 0), packed(at_latest, 999));
        assert_ne!(packed(at_latest, 999), packed(at_latest, 1_000));
        assert_ne!(packed(at_latest, 1_000), packed(at_latest, 1_001));
        for pack in [not_before, at_latest] {
            assert!((0..3_000).all(|instant| packed(pack, instant) != packed(pack, u64::MAX)));
        }
    }

    #[test]
    fn numbers_are_told_apart_wherever_they_end() {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for value in [0, 1, 127, 128, 129, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let mut key = Vec::new();
            number(&mut key, value);
            assert!(keys.iter().all(|other| !key.starts_with(other)), "{value}");
            keys.push(key);
        }
    }
}
