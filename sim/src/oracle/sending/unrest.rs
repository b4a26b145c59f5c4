//! What the world does to the sender: crashes, outages, restores, clocks.

use hookproof_core::Millis;

use super::{
    super::{Danger, Terms},
    Sending,
    clock::{DATABASE, RELAYS, SHUT, STALL},
    lag_ms, patience_ms,
    rows::{Due, Phase},
};
use crate::{
    history::{EndpointNo, Fact, Family, Line, Node, Side},
    promise::Promise,
};

impl Sending {
    pub(super) fn unrest(&mut self, terms: &Terms, line: &Line, danger: &mut Danger) {
        match line.fact {
            Fact::Crashed => match line.by {
                Node::App => danger.count(Promise::S1),
                Node::Ingress(ingress) => self.ingress(ingress, false),
                Node::Relay(relay) => self.died(|other| other == relay, danger),
                _ => {}
            },
            Fact::PowerLost { side: Side::Sender } => self.died(|_| true, danger),
            Fact::Restarted { .. } => {
                if let Node::Ingress(ingress) = line.by {
                    self.ingress(ingress, true);
                }
            }
            Fact::CommitUnknown => self.commit_unknown(line.by, danger),
            Fact::ClockJumped { by_ms } if line.by == Node::Database(Side::Sender) => {
                self.clock_jumped(by_ms);
                self.astray_until = line.at + lag_ms(terms);
            }
            Fact::Restored { side: Side::Sender, .. } => self.restored(line.at),
            Fact::Fault { family } => self.fault(family, line.by, danger),
            _ => {}
        }
        if terms.timely {
            self.falters(terms, line);
        }
    }

    /// A worker that died does nothing more; its row stays claimed until somebody takes over.
    fn died(&mut self, is: impl Fn(u8) -> bool, danger: &mut Danger) {
        self.endanger_fan_out(danger);
        for delivery in &mut self.deliveries {
            let claim = &mut delivery.claim;
            if claim.phase != Phase::Over && !claim.dead && is(claim.relay) {
                danger.count(Promise::S2);
                if core::mem::take(&mut claim.counted) {
                    self.endpoints[delivery.endpoint as usize].in_flight -= 1;
                    self.flights -= 1;
                }
                claim.dead = true;
            }
        }
        self.zombies.retain(|zombie| !is(zombie.claim.relay));
    }

    /// While an ingress is down, what stands before it refuses in its place.
    fn ingress(&mut self, ingress: u8, up: bool) {
        let bit = bit_of(ingress);
        self.ingresses_down =
            if up { self.ingresses_down & !bit } else { self.ingresses_down | bit };
        self.stand_ins += 1;
    }

    fn endanger_fan_out(&self, danger: &mut Danger) {
        if self.events.iter().any(|event| event.committed && !event.fanned) {
            danger.count(Promise::S12);
        }
    }

    fn commit_unknown(&self, by: Node, danger: &mut Danger) {
        match by {
            Node::App => danger.count(Promise::S1),
            Node::Relay(_) => {
                danger.count(Promise::S2);
                self.endanger_fan_out(danger);
            }
            _ => {}
        }
    }

    /// A jump forward brings what the database waits for sooner; one back puts it off, unless a sweep
    /// pulls it in. The resend window moves with the clock either way.
    fn clock_jumped(&mut self, by_ms: i64) {
        let ahead_ms = by_ms.max(0).unsigned_abs();
        let back_ms = by_ms.min(0).unsigned_abs();
        self.set_back_ms = self.set_back_ms.saturating_add(back_ms);
        for delivery in &mut self.deliveries {
            delivery.wake = delivery.wake - ahead_ms;
            delivery.window = delivery.window + back_ms - ahead_ms;
            delivery.jumped = delivery.row.exists();
            let claim = &mut delivery.claim;
            claim.lease = claim.lease - ahead_ms;
            claim.next = claim.next - ahead_ms;
            claim.slot_until = claim.slot_until - ahead_ms;
        }
        for endpoint in &mut self.endpoints {
            endpoint.next = if back_ms == 0 { endpoint.next - ahead_ms } else { Millis(0) };
            endpoint.paced = Millis(0);
        }
    }

    /// Every row is what it was some time ago. What a worker knows stays: it may still send under its
    /// claim, and the slot and the rate that it takes are forgotten.
    fn restored(&mut self, at: Millis) {
        for event in &mut self.events {
            event.adrift = event.committed;
        }
        for endpoint in &mut self.endpoints {
            endpoint.adrift |= endpoint.turned;
            endpoint.moved = endpoint.url > 0;
            (endpoint.next, endpoint.paced) = (Millis(0), Millis(0));
            endpoint.in_flight = 0;
        }
        self.flights = 0;
        for delivery in self.deliveries.iter_mut().filter(|delivery| delivery.row.exists()) {
            let endpoint = &self.endpoints[delivery.endpoint as usize];
            delivery.adrift = true;
            delivery.wake = Millis(0);
            delivery.claim.counted = false;
            delivery.began = Due { at: endpoint.clock.now(at), starts: endpoint.starts };
        }
        for no in 0..self.endpoints.len() as u32 {
            let endpoint = &mut self.endpoints[no as usize];
            if endpoint.adrift {
                // It may be paused again: until a line says otherwise, nothing of it is late.
                endpoint.clock.stop(SHUT, at);
                self.loosen(EndpointNo(no));
            }
        }
    }

    fn fault(&mut self, family: Family, by: Node, danger: &mut Danger) {
        match family {
            Family::EarlyAck | Family::ForeignAck | Family::Refusal | Family::Redirect => {
                self.stand_ins += 1;
            }
            Family::EndpointDown => self.refuses = true,
            Family::Stall => {
                self.stalls += 1;
                if matches!(by, Node::Relay(_)) && self.open > 0 {
                    danger.count(Promise::S5);
                }
            }
            Family::Hang
            | Family::SlowReader
            | Family::DropRequest
            | Family::DropResponse
            | Family::ResetRequest
            | Family::ResetResponse
            | Family::Truncated
            | Family::Partition
            | Family::PartitionOneWay
                if self.flights > 0 =>
            {
                danger.count(Promise::S7);
            }
            _ => {}
        }
    }
}

// What holds the sender back, where lateness counts.
impl Sending {
    /// A relay of which something committed is up, and so is its database.
    pub(super) fn hear(&mut self, terms: &Terms, line: &Line) {
        if line.at >= self.stalled_until && self.stalled_until != Millis(0) {
            let until = core::mem::take(&mut self.stalled_until);
            self.clocks(|clock| clock.start(STALL, until, patience_ms(terms)));
        }
        let Node::Relay(relay) = line.by else { return };
        let bit = bit_of(relay);
        if self.relays & !self.silent & bit != 0 {
            return;
        }
        self.relays |= bit;
        if !is_commit(&line.fact) {
            self.silent |= bit;
            return;
        }
        self.silent &= !bit;
        self.clocks(|clock| clock.start(RELAYS, line.at, patience_ms(terms)));
    }

    fn falters(&mut self, terms: &Terms, line: &Line) {
        let stall = line.fact == (Fact::Fault { family: Family::Stall });
        if stall && matches!(line.by, Node::Relay(_)) {
            self.stalled_until = line.at + terms.profile.lease_ms().saturating_mul(STALL_LEASES);
            self.clocks(|clock| clock.stop(STALL, line.at));
        }
        match line.fact {
            Fact::DatabaseUp { side: Side::Sender, up } if up => {
                self.clocks(|clock| clock.start(DATABASE, line.at, patience_ms(terms)));
            }
            Fact::DatabaseUp { side: Side::Sender, .. } => {
                self.clocks(|clock| clock.stop(DATABASE, line.at));
            }
            Fact::PowerLost { side: Side::Sender } | Fact::Restored { side: Side::Sender, .. } => {
                self.falls_silent(terms, line.at, self.relays);
            }
            fact if is_silence(&fact) => {
                let relays = match line.by {
                    Node::Relay(relay) => bit_of(relay),
                    Node::Database(Side::Sender) | Node::World => self.relays,
                    _ => 0,
                };
                self.falls_silent(terms, line.at, relays);
            }
            _ => {}
        }
    }

    fn falls_silent(&mut self, terms: &Terms, at: Millis, relays: u64) {
        if relays == 0 {
            return;
        }
        self.silent |= relays;
        let all = self.silent == self.relays;
        self.clocks(|clock| {
            clock.grant(patience_ms(terms));
            if all {
                clock.stop(RELAYS, at);
            }
        });
    }

    fn clocks(&mut self, mut turn: impl FnMut(&mut super::Clock)) {
        turn(&mut self.clock);
        self.endpoints.iter_mut().for_each(|endpoint| turn(&mut endpoint.clock));
    }
}

/// These lines say that something of a relay committed.
fn is_commit(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::FannedOut { .. }
            | Fact::FanOutDone { .. }
            | Fact::Swept { .. }
            | Fact::Claimed { .. }
            | Fact::ClaimLost { .. }
            | Fact::Released { .. }
            | Fact::Settled { .. }
            | Fact::Closed { .. }
    )
}

/// After these lines a relay may be busy with itself until it is heard of again.
fn is_silence(fact: &Fact) -> bool {
    match fact {
        Fact::Crashed | Fact::Conflicted | Fact::RolledBackByDatabase | Fact::CommitUnknown => true,
        Fact::Fault { family } => matches!(
            family,
            Family::CrashSender
                | Family::Stall
                | Family::PoolExhausted
                | Family::DatabaseReadOnly
                | Family::CommitFailed
                | Family::CommitAnswerLost
                | Family::Serialization
        ),
        _ => false,
    }
}

fn bit_of(process: u8) -> u64 {
    1 << (process % 64)
}

/// A stall lasts for at most so many leases; after longer the database ends the transaction.
const STALL_LEASES: u64 = 10;
