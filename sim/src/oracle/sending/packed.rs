//! How the sender's rows are packed: what verdicts of later lines depend on, and nothing else.

use hookproof_core::Millis;

use super::{
    super::{
        Terms,
        pack::{Names, at_latest, not_before, number},
    },
    Sending,
    clock::Clock,
    lag_ms,
    rows::{Claim, Delivery, Due, Endpoint, Event, Phase, Row, Zombie},
};

impl Sending {
    /// Appends what later verdicts depend on.
    pub(in super::super) fn pack(
        &self,
        terms: &Terms,
        now: Millis,
        names: Names<'_>,
        key: &mut Vec<u8>,
    ) {
        let Self { events, deliveries, endpoints, zombies, owed: _, may: _, clock, .. } = self;
        let Self { relays, silent, fan_outs, stand_ins, stalls, refuses, .. } = *self;
        let Self { open: _, flights: _, .. } = self;
        let (timely, lag_ms) = (terms.timely, lag_ms(terms));
        let with = Packing { now, names, timely, lag_ms, stand_ins, stalls, clock, fan_outs };
        for rows in [events.len(), deliveries.len(), endpoints.len()] {
            number(key, rows as u64);
        }
        for event in events {
            event.pack(&with, key);
        }
        for (no, delivery) in deliveries.iter().enumerate() {
            delivery.pack(&with, no, endpoints, key);
        }
        for endpoint in endpoints {
            endpoint.pack(&with, key);
        }
        for zombie in zombies.iter().filter(|zombie| zombie.matters(now)) {
            zombie.pack(&with, key);
        }
        number(key, 0);
        key.push(bits([refuses, self.stood]));
        number(key, self.ingresses_down);
        if timely {
            number(key, self.set_back_ms);
            not_before(key, now, self.stalled_until);
            let stalled = self.stalled_until != Millis(0);
            number(key, if stalled { now.since(self.stalled_until) } else { 0 });
            number(key, relays);
            number(key, silent);
            clock.pack(key);
        }
    }
}

/// What packing needs besides the rows.
struct Packing<'a> {
    now: Millis,
    names: Names<'a>,
    timely: bool,
    /// How long before its line a decision can have been made, as far as waits go.
    lag_ms: u64,
    stand_ins: u32,
    stalls: u32,
    clock: &'a Clock,
    fan_outs: u32,
}

impl Event {
    fn pack(&self, with: &Packing<'_>, key: &mut Vec<u8>) {
        let Self { committed, fanned, closed, adrift, owed, may, got, .. } = *self;
        let Self { due, fan_outs, last: _, .. } = *self;
        key.push(bits([committed, fanned, closed, adrift]));
        if !committed || fanned {
            return;
        }
        for endpoints in [owed, may, got] {
            number(key, endpoints);
        }
        if with.timely {
            with.clock.pack_instant(with.now, due, key);
            number(key, u64::from(with.fan_outs - fan_outs));
        }
    }
}

impl Delivery {
    fn pack(&self, with: &Packing<'_>, no: usize, endpoints: &[Endpoint], key: &mut Vec<u8>) {
        let Self { row, adrift, pulled, jumped, foreign, stood, stalls, .. } = *self;
        key.push(row as u8);
        if row == Row::Unborn {
            return;
        }
        let stalled = with.timely && stalls != with.stalls;
        key.push(bits([adrift, pulled, jumped, foreign, stood, stalled]));
        let Self { event, endpoint, id, cycle, rung, attempt, requests, lost, .. } = *self;
        for value in [event, endpoint, id, attempt] {
            number(key, u64::from(value));
        }
        for value in [cycle, rung, requests, lost] {
            number(key, u64::from(value));
        }
        let Self { wake, window, claim, due, former, began, before: _, .. } = *self;
        at_latest(key, with.now - with.lag_ms, wake);
        if with.timely {
            at_latest(key, with.now, window + with.lag_ms);
        }
        let on = with.timely.then(|| &endpoints[endpoint as usize]);
        claim.pack(with, no, on, key);
        for due in [due, former, began] {
            due.pack(with, on, key);
        }
    }
}

impl Due {
    fn pack(self, with: &Packing<'_>, on: Option<&Endpoint>, key: &mut Vec<u8>) {
        if let Some(endpoint) = on {
            endpoint.clock.pack_instant(with.now, self.at, key);
            number(key, u64::from(endpoint.starts.wrapping_sub(self.starts)));
        }
    }
}

impl Claim {
    /// Each phase packs what its verdicts need and nothing else.
    fn pack(&self, with: &Packing<'_>, delivery: usize, on: Option<&Endpoint>, key: &mut Vec<u8>) {
        let Self { fence, relay, phase, attempt, dead, astray, hurried, counted, said, .. } = *self;
        number(key, fence.map_or(0, |fence| with.names.sent(delivery, fence) + 1));
        key.push(phase as u8);
        if phase == Phase::Over {
            return;
        }
        let Self { stand_ins, stalls, start_by, end_by, slot_until, .. } = *self;
        let in_flight = phase == Phase::InFlight && !dead;
        let stood_in = in_flight && stand_ins != with.stand_ins;
        let stalled = in_flight && stalls != with.stalls;
        key.push(bits([dead, astray, hurried, counted, said.yes, said.no, stood_in, stalled]));
        key.push(with.names.relay(relay));
        number(key, u64::from(attempt));
        let Self { lease, next, retry_after_ms, was, .. } = *self;
        not_before(key, with.now, lease);
        match phase {
            Phase::Idle | Phase::InFlight if dead => {}
            Phase::Idle => {
                at_latest(key, with.now, start_by);
                at_latest(key, with.now, slot_until);
            }
            Phase::InFlight => {
                at_latest(key, with.now, end_by);
                at_latest(key, with.now, slot_until);
            }
            Phase::Over | Phase::Acknowledged | Phase::Refused | Phase::Gone | Phase::Unknown => {
                not_before(key, with.now, next);
                number(key, retry_after_ms);
            }
        }
        was.pack(with, on, key);
    }
}

impl Zombie {
    fn pack(&self, with: &Packing<'_>, key: &mut Vec<u8>) {
        number(key, u64::from(self.delivery) + 1);
        self.claim.pack(with, self.delivery as usize, None, key);
    }
}

impl Endpoint {
    fn pack(&self, with: &Packing<'_>, key: &mut Vec<u8>) {
        let Self { life, turned, adrift, moved, observed, may_disable, url, next, clock, .. } =
            *self;
        key.push(life as u8);
        key.push(bits([turned, adrift, moved, observed, may_disable]));
        number(key, u64::from(url));
        not_before(key, with.now, next);
        // `in_flight` is the number of its claims that are `counted`, and `starts` is in each `Due`.
        if with.timely {
            clock.pack(key);
        }
    }
}

fn bits<const N: usize>(flags: [bool; N]) -> u8 {
    flags.into_iter().rev().fold(0, |byte, flag| byte << 1 | u8::from(flag))
}
