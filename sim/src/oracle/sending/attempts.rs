//! Claims and what becomes of them: S2, S5, S6, and S8 and S11 for a start that comes too late.
//!
//! # S8 on one history
//!
//! A delivery that is due is claimed within one look for due rows and one lease. What counts is a
//! clock of its endpoint, which stands still while the endpoint takes nothing, while the sender's
//! database does not answer and while no relay is up (a relay that crashed, stalled, or met a
//! conflict, a failed commit or a full pool is down until it is next heard of), or while a worker that
//! stalled may hold locks. Each end of such a
//! hold, and each of these faults, grants one more patience to everybody; so does each attempt that
//! was started to the *same* endpoint in the meantime, with one interval of its rate, since slots and
//! rate hold a delivery back behind its own kind (S14). Attempts to others buy nothing: a worker that
//! sleeps on a neighbour's `Retry-After`, or a queue behind a delivery that fails, is late by minutes.

use hookproof_core::{
    Millis,
    profile::{OnExhausted, OnGone},
};

use super::{
    super::{Breach, Danger, Terms},
    Sending,
    ladder::{
        claim_keeps_the_ladder, has_ended, may_be_claimed, may_be_taken_over, may_be_used_up,
        may_fail, may_wait,
    },
    lag_ms, patience_ms, relay_of,
    rows::{Claim, Delivery, Due, Life, Phase, Row},
};
use crate::{
    history::{DeliveryNo, DeliveryStand, EndpointNo, Fact, Line, Node, Reason},
    promise::Promise,
};

impl Sending {
    pub(super) fn claimed(&mut self, terms: &Terms, line: &Line) -> Result<(), Breach> {
        let Fact::Claimed { delivery: no, endpoint, attempt, rung, cycle, fence, wait_ms, url } =
            line.fact
        else {
            return Ok(());
        };
        let delivery = *self.delivery(no);
        if delivery.adrift {
            self.found(no, attempt, rung, cycle);
            self.due_in(no, line.at, 0);
        } else {
            may_be_claimed(&delivery, no, line.at)?;
        }
        self.may_be_sent_to(endpoint, &delivery, no, url)?;
        let delivery = self.deliveries[no.index()];
        hold!(
            cycle == delivery.cycle,
            S11,
            "delivery {} climbs in cycle {cycle}, which no resend opened",
            no.0
        );
        hold!(
            attempt == delivery.attempt + 1,
            S6,
            "attempt {attempt} of delivery {} follows attempt {}",
            no.0,
            delivery.attempt
        );
        hold!(
            rung == delivery.rung + 1,
            S6,
            "rung {rung} of delivery {} follows rung {}",
            no.0,
            delivery.rung
        );
        hold!(
            rung <= terms.profile.ladder.attempts(),
            S6,
            "delivery {} gets attempt {rung} of a ladder of {}",
            no.0,
            terms.profile.ladder.attempts()
        );
        hold!(
            delivery.claim.fence != Some(fence) || delivery.adrift,
            S5,
            "two claims of delivery {} have the number {fence}",
            no.0
        );
        claim_keeps_the_ladder(terms, no, rung, wait_ms)?;
        self.is_paced(terms, no, line.at)?;
        self.in_time(terms, &delivery, no, line.at, rung)?;
        self.take(terms, line, no);
        Ok(())
    }

    /// It is the delivery's own endpoint, which takes deliveries, and where it is now: a claim that was
    /// decided before it was turned or changed does not commit.
    fn may_be_sent_to(
        &mut self,
        no: EndpointNo,
        delivery: &Delivery,
        of: DeliveryNo,
        url: u32,
    ) -> Result<(), Breach> {
        let own = no.0 == delivery.endpoint || delivery.adrift;
        hold!(own, S12, "delivery {} is claimed for endpoint {}, which is not its own", of.0, no.0);
        let Some(endpoint) = self.endpoints.get_mut(no.index()) else { return Ok(()) };
        hold!(
            endpoint.life == Life::Active || endpoint.adrift,
            S14,
            "delivery {} is claimed, and endpoint {} takes nothing",
            of.0,
            no.0
        );
        if core::mem::take(&mut endpoint.moved) {
            endpoint.url = url;
        }
        hold!(
            url == endpoint.url,
            S10,
            "delivery {} is claimed for what endpoint {} was before it was changed",
            of.0,
            no.0
        );
        Ok(())
    }

    /// A row that a restore left adrift is found again. It can only have gone back, or back to an
    /// attempt that was released since.
    fn found(&mut self, no: DeliveryNo, attempt: u32, rung: u16, cycle: u16) {
        let delivery = &mut self.deliveries[no.index()];
        delivery.attempt = attempt.saturating_sub(1).min(delivery.attempt + 1);
        delivery.cycle = delivery.cycle.min(cycle);
        let before = rung.saturating_sub(1);
        delivery.rung = before;
        (delivery.requests, delivery.lost) = (before, 0);
        delivery.wake = Millis(0);
    }

    /// The horizon of the cycle (S6), and the start of a delivery that is due (S8). One that starts
    /// when it would have been due anyway, though a person asked for it at once, was not pulled
    /// forward (S11).
    fn in_time(
        &self,
        terms: &Terms,
        delivery: &Delivery,
        no: DeliveryNo,
        at: Millis,
        rung: u16,
    ) -> Result<(), Breach> {
        if !terms.timely || delivery.adrift {
            return Ok(());
        }
        let endpoint = &self.endpoints[delivery.endpoint as usize];
        let now = endpoint.clock.now(at);
        let each_ms = patience_ms(terms).saturating_add(terms.profile.interval_ms);
        let starts = |since: Due| u64::from(endpoint.starts.saturating_sub(since.starts));
        let allowed_ms =
            |since: Due| starts(since).saturating_mul(each_ms).saturating_add(self.set_back_ms);
        let began = delivery.began;
        let horizon = began.at + terms.profile.horizon_ms() + allowed_ms(began);
        hold!(
            rung == 1 || now <= horizon,
            S6,
            "attempt {rung} of delivery {} starts {} ms after its ladder's horizon",
            no.0,
            now.since(horizon)
        );
        let late_ms = |due: Due| now.since(due.at + patience_ms(terms) + allowed_ms(due));
        let waited = delivery.pulled && late_ms(delivery.former) == 0;
        let late_ms = late_ms(delivery.due);
        hold!(
            late_ms == 0 || !waited,
            S11,
            "a person asked for delivery {} at once, and it starts {late_ms} ms too late",
            no.0
        );
        hold!(late_ms == 0, S8, "delivery {} starts {late_ms} ms too late", no.0);
        Ok(())
    }

    /// The rate of the endpoint, which claims keep (S14). When a claim read the time is known between
    /// two bounds: no later than its line, by which it is held to the rate, and no earlier than by which
    /// the next one is.
    fn is_paced(&mut self, terms: &Terms, no: DeliveryNo, at: Millis) -> Result<(), Breach> {
        let interval_ms = terms.profile.interval_ms;
        if interval_ms == 0 || !terms.timely {
            return Ok(());
        }
        let decided = self.decided(terms, no, at).unwrap_or(Millis(0));
        let delivery = &self.deliveries[no.index()];
        let endpoint = &mut self.endpoints[delivery.endpoint as usize];
        let burst_ms = interval_ms.saturating_mul(u64::from(terms.profile.burst.saturating_sub(1)));
        let early_ms = endpoint.paced.since(at + burst_ms);
        hold!(
            early_ms == 0 || delivery.adrift || endpoint.adrift,
            S14,
            "delivery {} is claimed {early_ms} ms before the rate of endpoint {} allows",
            no.0,
            delivery.endpoint
        );
        endpoint.paced = endpoint.paced.max(decided) + interval_ms;
        Ok(())
    }

    fn take(&mut self, terms: &Terms, line: &Line, no: DeliveryNo) {
        let Fact::Claimed { attempt, rung, fence, wait_ms, .. } = line.fact else { return };
        let stalls = self.stalls;
        let decided = self.decided(terms, no, line.at);
        let after = |ms: u64| decided.map_or(Millis(0), |at| at + ms);
        self.retire(no, line.at);
        let delivery = self.turn(no, Row::Claimed);
        delivery.claim = Claim {
            fence: Some(fence),
            relay: relay_of(line.by),
            phase: Phase::Idle,
            attempt,
            start_by: line.at + terms.profile.start_limit_ms,
            slot_until: line.at + terms.profile.lease_ms(),
            astray: delivery.jumped,
            lease: after(terms.profile.lease_ms()),
            was: delivery.due,
            ..Claim::default()
        };
        (delivery.attempt, delivery.rung, delivery.stalls) = (attempt, rung, stalls);
        (delivery.adrift, delivery.pulled, delivery.jumped) = (false, false, false);
        delivery.former = Due::default();
        delivery.wake = after(wait_ms);
        if terms.timely {
            self.time(no, line.at, rung, wait_ms);
        }
    }

    /// Since when at the earliest a claim's row counts its wait: from when the transaction read the
    /// time, which was once the row was due, and not long before the commit unless a worker stalled
    /// in between. `None`: that cannot be told.
    fn decided(&self, terms: &Terms, no: DeliveryNo, at: Millis) -> Option<Millis> {
        let delivery = &self.deliveries[no.index()];
        let latest = at - lag_ms(terms);
        if delivery.jumped {
            None
        } else if delivery.wake >= latest {
            Some(delivery.wake)
        } else {
            (terms.timely && delivery.stalls == self.stalls).then_some(latest)
        }
    }

    fn time(&mut self, no: DeliveryNo, at: Millis, rung: u16, wait_ms: u64) {
        self.due_in(no, at, wait_ms);
        let delivery = &mut self.deliveries[no.index()];
        if rung == 1 {
            let endpoint = &self.endpoints[delivery.endpoint as usize];
            delivery.began = Due { at: endpoint.clock.now(at), starts: endpoint.starts };
        }
    }

    /// The delivery is due again after this long, on the clock of its endpoint.
    pub(super) fn due_in(&mut self, no: DeliveryNo, at: Millis, wait_ms: u64) {
        let delivery = &mut self.deliveries[no.index()];
        let endpoint = &self.endpoints[delivery.endpoint as usize];
        delivery.due = Due { at: endpoint.clock.now(at) + wait_ms, starts: endpoint.starts };
    }

    pub(super) fn claim_lost(
        &mut self,
        terms: &Terms,
        at: Millis,
        no: DeliveryNo,
        fence: u32,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        for promise in [Promise::S2, Promise::S5, Promise::S6] {
            danger.count(promise);
        }
        let delivery = *self.delivery(no);
        if delivery.adrift {
            return Ok(());
        }
        let held = delivery.row == Row::Claimed && delivery.claim.fence == Some(fence);
        hold!(held, S5, "claim {fence} of delivery {} is called lost, and is not open", no.0);
        may_be_taken_over(&delivery, no, at)?;
        if delivery.rung == terms.profile.ladder.attempts() {
            self.endpoints[delivery.endpoint as usize].may_disable = true;
        }
        self.retire(no, at);
        self.turn(no, Row::Open).lost += 1;
        Ok(())
    }

    /// The delivery is due again, as it was, unless its worker stalled: that fault was its own.
    pub(super) fn released(
        &mut self,
        at: Millis,
        no: DeliveryNo,
        fence: u32,
    ) -> Result<(), Breach> {
        let delivery = *self.delivery(no);
        let claim = delivery.claim;
        let held = delivery.row == Row::Claimed && claim.fence == Some(fence);
        if delivery.adrift && !held {
            return Ok(());
        }
        hold!(held, S5, "delivery {} was released by claim {fence}, which is not open", no.0);
        hold!(
            claim.phase == Phase::Idle,
            S6,
            "delivery {} was released after its request: the attempt is not counted",
            no.0
        );
        let stalled = delivery.stalls != self.stalls;
        self.end_claim(no);
        let delivery = self.turn(no, Row::Open);
        delivery.attempt -= 1;
        delivery.rung -= 1;
        delivery.wake = Millis(0);
        delivery.due = claim.was;
        delivery.adrift = false;
        if stalled {
            self.due_in(no, at, 0);
        }
        Ok(())
    }

    pub(super) fn settled(&mut self, terms: &Terms, line: &Line) -> Result<(), Breach> {
        let Fact::Settled { delivery: no, fence, stand, .. } = line.fact else { return Ok(()) };
        let delivery = *self.delivery(no);
        let held = delivery.row == Row::Claimed && delivery.claim.fence == Some(fence);
        if delivery.adrift && !held {
            self.deliveries[no.index()].foreign = true;
            self.stands(no, line.at, stand);
            return Ok(());
        }
        hold!(held, S5, "delivery {} was settled by claim {fence}, which is not open", no.0);
        match stand {
            DeliveryStand::Waiting { wait_ms } => {
                has_ended(&delivery, no)?;
                may_wait(terms, &delivery, no, wait_ms)?;
            }
            DeliveryStand::Acknowledged => hold!(
                delivery.claim.phase == Phase::Acknowledged,
                S2,
                "delivery {} is marked as acknowledged, and attempt {} was not",
                no.0,
                delivery.attempt
            ),
            DeliveryStand::Failed { known } => {
                has_ended(&delivery, no)?;
                may_fail(terms, &delivery, no, known)?;
                let gone = delivery.claim.phase == Phase::Gone;
                let off = match (gone, terms.profile.on_gone) {
                    (true, OnGone::Disable) => true,
                    (true, OnGone::Fail) => false,
                    (true, OnGone::Climb) | (false, _) => {
                        terms.profile.on_exhausted == OnExhausted::Disable
                    }
                };
                if off {
                    self.is_off(no, &delivery)?;
                }
            }
            DeliveryStand::Cancelled { reason } => {
                self.may_be_cancelled(&delivery, no, line.by, reason)?;
            }
            DeliveryStand::Claimed => {
                breaks!(S2, "delivery {} was settled and is still claimed", no.0);
            }
        }
        self.deliveries[no.index()].foreign = !delivery.claim.said.yes;
        self.stands(no, line.at, stand);
        Ok(())
    }

    /// The end without an attempt: its endpoint is gone, or its last claim died with its worker.
    pub(super) fn closed(
        &mut self,
        terms: &Terms,
        line: &Line,
        no: DeliveryNo,
        stand: DeliveryStand,
    ) -> Result<(), Breach> {
        let delivery = *self.delivery(no);
        let open = delivery.row.is_open() || delivery.adrift;
        hold!(open, S2, "delivery {} has ended, and was ended again", no.0);
        match stand {
            DeliveryStand::Failed { known } => {
                let rungs = terms.profile.ladder.attempts();
                let lost = delivery.row == Row::Open && delivery.rung == rungs;
                hold!(lost || delivery.adrift, S2, "delivery {} failed without a reason", no.0);
                hold!(!known, S7, "the end of the last attempt of delivery {} is unknown", no.0);
                may_be_used_up(terms, &delivery, no)?;
                let endpoint = self.endpoints.get(delivery.endpoint as usize);
                let left =
                    endpoint.is_some_and(|endpoint| endpoint.life.has_left() && !endpoint.adrift);
                hold!(
                    !left || delivery.adrift,
                    S2,
                    "delivery {} failed at an endpoint that is gone: it was to be cancelled",
                    no.0
                );
                if terms.profile.on_exhausted == OnExhausted::Disable {
                    self.is_off(no, &delivery)?;
                }
            }
            DeliveryStand::Cancelled { reason } => {
                self.may_be_cancelled(&delivery, no, line.by, reason)?;
            }
            DeliveryStand::Acknowledged
            | DeliveryStand::Waiting { .. }
            | DeliveryStand::Claimed => {
                breaks!(S2, "delivery {} was ended without an end", no.0);
            }
        }
        self.retire(no, line.at);
        self.stands(no, line.at, stand);
        Ok(())
    }

    fn may_be_cancelled(
        &self,
        delivery: &Delivery,
        no: DeliveryNo,
        by: Node,
        reason: Reason,
    ) -> Result<(), Breach> {
        let endpoint = self.endpoints.get(delivery.endpoint as usize);
        let left = endpoint.is_none_or(|endpoint| endpoint.life.has_left() || endpoint.adrift);
        let true_to_it = match reason {
            Reason::EndpointGone => left || delivery.adrift,
            Reason::Operator => by == Node::Operator || delivery.adrift,
            _ => false,
        };
        hold!(true_to_it, S2, "delivery {} was cancelled, and not for this: {reason}", no.0);
        Ok(())
    }

    /// The row stands so now. What its cycle was is forgotten once it has ended.
    fn stands(&mut self, no: DeliveryNo, at: Millis, stand: DeliveryStand) {
        let next = self.deliveries[no.index()].claim.next;
        let stalls = self.stalls;
        self.end_claim(no);
        let (to, wait_ms) = match stand {
            DeliveryStand::Waiting { wait_ms } => (Row::Open, wait_ms),
            DeliveryStand::Claimed => (Row::Claimed, 0),
            DeliveryStand::Acknowledged => (Row::Acknowledged, 0),
            DeliveryStand::Failed { .. } => (Row::Failed, 0),
            DeliveryStand::Cancelled { .. } => (Row::Cancelled, 0),
        };
        let delivery = self.turn(no, to);
        // A row that a restore put back and nobody has claimed since is known by its end alone: of
        // which cycle it is the end stays open.
        (delivery.jumped, delivery.stalls) = (false, stalls);
        if to.is_open() {
            delivery.wake = if wait_ms == 0 { Millis(0) } else { next };
            self.due_in(no, at, wait_ms);
            return;
        }
        delivery.wake = Millis(0);
        delivery.rung = 0;
        delivery.pulled = false;
        (delivery.requests, delivery.lost) = (0, 0);
        (delivery.due, delivery.former) = (Due::default(), Due::default());
        delivery.began = Due::default();
    }
}
