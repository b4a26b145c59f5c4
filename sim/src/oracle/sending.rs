//! The sending half: S1, S2, S3, S5, S6, S7, S8, S11, S12, S14, S15.
//!
//! What is stored is what the sender's rows must be by the lines so far, and, rather than past times,
//! the instants before or after which something must not happen. Persisted times are those of the
//! sender's database. When its clock jumps forward, what it waits for comes sooner by as much, so every
//! "not before" that the database keeps moves; when it goes back, that comes later, or earlier where a
//! sweep pulls it in, so nothing moves, and lateness is excused by as much. Limits within a process are
//! monotonic and stay.
//!
//! After a restore from a backup the rows are what they were some time ago: such a row is *adrift*,
//! may stand anywhere that it may have stood, and is held to its promises again from the next line
//! that shows it.

mod attempts;
mod clock;
mod ends;
mod ladder;
mod packed;
mod people;
mod publishing;
mod requests;
mod rows;
mod unrest;

#[cfg(test)]
pub(super) mod tests;

use hookproof_core::Millis;

use super::{Breach, Danger, Terms, row};
use crate::{
    history::{About, DeliveryNo, Fact, Line, Node, Person},
    promise::Promise,
};
use clock::Clock;
pub(super) use ends::Sent;
pub(super) use rows::Row;
use rows::{Claim, Delivery, Endpoint, Event, Zombie};

/// What is known of the sender.
#[derive(Debug, Default)]
pub(super) struct Sending {
    events: Vec<Event>,
    deliveries: Vec<Delivery>,
    endpoints: Vec<Endpoint>,
    zombies: Vec<Zombie>,
    /// The endpoints subscribed now, which the next event is owed to.
    owed: u64,
    /// The endpoints that may get the next event.
    may: u64,
    /// The clock of the whole sender.
    clock: Clock,
    /// The relays that were heard of, and those of them that may be down.
    relays: u64,
    silent: u64,
    /// How many fan-outs committed.
    fan_outs: u32,
    /// How often something answered in a receiver's place, and how often a worker stalled.
    stand_ins: u32,
    stalls: u32,
    /// Whether endpoints may refuse for a receiver that is not there.
    refuses: bool,
    /// The ingresses of the receiver that are down.
    ingresses_down: u64,
    /// Until when a worker that stalled may hold locks.
    stalled_until: Millis,
    /// By how much the database's clock went back in all.
    set_back_ms: u64,
    /// Until when a decision may commit that was made before that clock jumped, where lateness counts.
    astray_until: Millis,
    /// Whether the history says which rows were there when everything had run out.
    stood: bool,
    /// The audit line of the commit being read.
    audited: Option<(About, Person)>,
    /// How many deliveries are on their ladder, and how many requests under way. For dangers alone.
    open: u32,
    flights: u32,
}

clone_reusing!(Sending {
    events,
    deliveries,
    endpoints,
    zombies,
    owed,
    may,
    clock,
    relays,
    silent,
    fan_outs,
    stand_ins,
    stalls,
    refuses,
    ingresses_down,
    stalled_until,
    set_back_ms,
    astray_until,
    stood,
    audited,
    open,
    flights,
});

impl Sending {
    /// Forgets the history and keeps the memory.
    pub(super) fn reset(&mut self) {
        let Self { events, deliveries, endpoints, zombies, .. } = core::mem::take(self);
        *self = Self { events, deliveries, endpoints, zombies, ..Self::default() };
        self.events.clear();
        self.deliveries.clear();
        self.endpoints.clear();
        self.zombies.clear();
    }

    /// Takes in the next line.
    pub(super) fn observe(
        &mut self,
        terms: &Terms,
        line: &Line,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        if terms.timely {
            self.hear(terms, line);
        }
        let audited = core::mem::take(&mut self.audited);
        match line.fact {
            Fact::Committed { .. }
            | Fact::RolledBack { .. }
            | Fact::Published { .. }
            | Fact::FannedOut { .. }
            | Fact::FanOutDone { .. }
            | Fact::Swept { .. } => self.publishing(terms, line, danger),
            Fact::Claimed { .. } => self.claimed(terms, line),
            Fact::ClaimLost { delivery, fence } => {
                self.claim_lost(terms, line.at, delivery, fence, danger)
            }
            Fact::Released { delivery, fence } => self.released(line.at, delivery, fence),
            Fact::Requested { .. } => self.requested(terms, line, danger),
            Fact::Responded { .. } => self.responded(terms, line, danger),
            Fact::Settled { .. } => self.settled(terms, line),
            Fact::Closed { delivery, stand } => self.closed(terms, line, delivery, stand),
            Fact::Audited { about, by } => {
                self.audited = Some((about, by));
                Ok(())
            }
            Fact::Resent { delivery, by, answer } => {
                let audited = audited == Some((About::Delivery(delivery), by));
                self.resent(terms, line.at, delivery, (answer, audited), danger)
            }
            Fact::Endpoint { endpoint, life } => self.endpoint(terms, line, endpoint, life, danger),
            _ => {
                self.note(terms, line, danger);
                Ok(())
            }
        }
    }

    /// Lines that break no promise of the sender by themselves.
    fn note(&mut self, terms: &Terms, line: &Line, danger: &mut Danger) {
        match line.fact {
            Fact::Arrived { delivery, .. } => self.arrived(delivery),
            Fact::Answered { delivery, attempt, status, .. } => {
                self.answered(delivery, attempt, status);
            }
            Fact::Fenced { .. } => danger.count(Promise::S5),
            Fact::DeliveryStands { delivery, .. } => {
                self.stood = true;
                self.delivery(delivery).stood = true;
            }
            Fact::Crashed
            | Fact::PowerLost { .. }
            | Fact::Restarted { .. }
            | Fact::DatabaseUp { .. }
            | Fact::Restored { .. }
            | Fact::Conflicted
            | Fact::RolledBackByDatabase
            | Fact::CommitUnknown
            | Fact::ClockJumped { .. }
            | Fact::Fault { .. } => self.unrest(terms, line, danger),
            _ => {}
        }
    }

    /// Whether a promise can be decided only by a history that has ended.
    pub(super) fn owes_at_end(promise: Promise) -> bool {
        matches!(promise, Promise::S2 | Promise::S11 | Promise::S12)
    }

    /// Whether this history, under these terms, shows what the promise needs: lateness must count
    /// for S8.
    pub(super) fn decides(terms: &Terms, promise: Promise) -> bool {
        promise != Promise::S8 || terms.timely
    }

    fn delivery(&mut self, delivery: DeliveryNo) -> &mut Delivery {
        row(&mut self.deliveries, delivery.index())
    }

    /// The claim with this number: held, taken over and still of account, or the last one that is over.
    fn claim(&mut self, delivery: DeliveryNo, fence: u32, now: Millis) -> Option<&mut Claim> {
        let current = &mut self.deliveries.get_mut(delivery.index())?.claim;
        if current.is(fence) {
            return Some(current);
        }
        let mut zombies = self.zombies.iter_mut().filter(|zombie| zombie.matters(now));
        let found = zombies.find(|z| z.delivery == delivery.0 && z.claim.is(fence));
        let last = (current.fence == Some(fence)).then_some(current);
        found.map(|zombie| &mut zombie.claim).or(last)
    }

    /// Moves a delivery to another stand and gives it back.
    fn turn(&mut self, delivery: DeliveryNo, to: Row) -> &mut Delivery {
        let delivery = row(&mut self.deliveries, delivery.index());
        self.open += u32::from(to.is_open());
        self.open -= u32::from(delivery.row.is_open());
        delivery.row = to;
        delivery
    }

    /// Takes its claim from whoever holds it. A worker that may still be at it is remembered.
    fn retire(&mut self, delivery: DeliveryNo, now: Millis) {
        self.free_slot(delivery);
        let claim = &mut self.deliveries[delivery.index()].claim;
        let zombie = Zombie { delivery: delivery.0, claim: *claim };
        *claim = claim.over();
        if zombie.matters(now) {
            self.zombies.retain(|zombie| zombie.matters(now));
            self.zombies.push(zombie);
        }
    }

    /// Ends a claim whose worker has done with it.
    fn end_claim(&mut self, delivery: DeliveryNo) {
        self.free_slot(delivery);
        let claim = &mut self.deliveries[delivery.index()].claim;
        *claim = claim.over();
    }

    fn free_slot(&mut self, delivery: DeliveryNo) {
        let delivery = &mut self.deliveries[delivery.index()];
        if core::mem::take(&mut delivery.claim.counted) {
            self.endpoints[delivery.endpoint as usize].in_flight -= 1;
            self.flights -= 1;
        }
    }
}

/// The longest that a delivery which is due may wait for its start, if nothing holds it (S8): one
/// look for due rows, and one lease.
fn patience_ms(terms: &Terms) -> u64 {
    terms.poll_ms.saturating_add(terms.profile.lease_ms())
}

/// How long before its line a decision can have been made where lateness counts: a transaction reads
/// the time and commits between two looks for due rows.
fn lag_ms(terms: &Terms) -> u64 {
    if terms.timely { terms.poll_ms } else { 0 }
}

/// The number of the relay that a line comes from.
fn relay_of(by: Node) -> u8 {
    match by {
        Node::Relay(relay) => relay,
        Node::App
        | Node::Network
        | Node::Ingress(_)
        | Node::Worker(_)
        | Node::EffectRelay(_)
        | Node::External
        | Node::Api
        | Node::Database(_)
        | Node::Operator
        | Node::World => u8::MAX,
    }
}
