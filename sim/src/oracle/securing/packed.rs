//! How signatures, targets and the door are packed: what verdicts of later lines depend on.

use hookproof_core::Millis;

use super::{
    super::{
        Terms,
        pack::{at_latest, number},
    },
    Delivery, Securing,
    door::Request,
    keys::Keys,
};

impl Securing {
    /// Appends what later verdicts depend on. Which bytes an event has is settled when it is committed,
    /// and read when it is fanned out.
    pub(in super::super) fn pack(&self, terms: &Terms, now: Millis, key: &mut Vec<u8>) {
        let Self { bodies, deliveries, keys, requests, ahead_ms } = self;
        number(key, bodies.len() as u64);
        for body in bodies {
            number(key, body.map_or(0, |body| u64::from(body.0) + 1));
        }
        number(key, deliveries.len() as u64);
        for delivery in deliveries {
            delivery.pack(key);
        }
        for keys in keys {
            keys.pack(terms, now, key);
        }
        number(key, ahead_ms.unsigned_abs() << 1 | u64::from(*ahead_ms < 0));
        // A plain request is in the receiving half's key: it arrives, is answered and dies here as it
        // does there.
        for request in requests.iter().filter(|of| terms.timely || !of.is_plain()) {
            request.pack(terms, now, key);
        }
        key.push(0);
    }
}

impl Delivery {
    fn pack(self, key: &mut Vec<u8>) {
        let Self { known, body, endpoint } = self;
        key.push(u8::from(known));
        if known {
            number(key, body.map_or(0, |body| u64::from(body.0) + 1));
            number(key, u64::from(endpoint));
        }
    }
}

impl Keys {
    fn pack(&self, terms: &Terms, now: Millis, key: &mut Vec<u8>) {
        let Self { made, retired, over, since } = *self;
        for set in [made, retired, over] {
            number(key, u64::from(set));
        }
        if terms.timely && retired & !over != 0 {
            number(key, now.since(since));
        }
    }
}

impl Request {
    fn pack(&self, terms: &Terms, now: Millis, key: &mut Vec<u8>) {
        let Self { ingress, delivery, attempt, id, body, authentic, late, .. } = *self;
        let flags = [self.shaken, self.stalled, self.stored, self.hung, self.left];
        let flags = flags.into_iter().fold(0, |bits, flag| bits << 1 | u8::from(flag));
        key.extend([1, ingress, authentic as u8, flags]);
        for value in [delivery.0, attempt, id.0, body.0] {
            number(key, u64::from(value));
        }
        if terms.timely {
            at_latest(key, now, late);
        }
    }
}
