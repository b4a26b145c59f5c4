//! How monitors write themselves into a key: exactly, briefly, and without absolute times.

use hookproof_core::Millis;

/// An instant that never comes.
pub(super) const NEVER: Millis = Millis(u64::MAX);

/// A number, seven bits a byte.
pub(super) fn number(key: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        key.push(value as u8 | 0x80);
        value >>= 7;
    }
    key.push(value as u8);
}

/// An instant before which something must not happen: all that have passed are one.
pub(super) fn not_before(key: &mut Vec<u8>, now: Millis, instant: Millis) {
    match instant {
        NEVER => number(key, 1),
        instant if instant <= now => number(key, 0),
        instant => number(key, instant.since(now) + 1),
    }
}

/// An instant after which something must not happen: all that have passed are one, and now has not.
pub(super) fn at_latest(key: &mut Vec<u8>, now: Millis, instant: Millis) {
    match instant {
        NEVER => number(key, 1),
        instant if instant < now => number(key, 0),
        instant => number(key, instant.since(now) + 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
