//! Requests and their ends: S1, S3, S5, S7, S14.

use hookproof_core::Millis;

use super::{
    super::{Breach, Danger, Terms, row},
    Sending, relay_of,
    rows::{Claim, Delivery, Phase},
};
use crate::{
    history::{DeliveryNo, Fact, Line, Outcome},
    promise::Promise,
};

impl Sending {
    pub(super) fn requested(
        &mut self,
        terms: &Terms,
        line: &Line,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let Fact::Requested { delivery: no, attempt, fence, id, .. } = line.fact else {
            return Ok(());
        };
        let delivery = *self.delivery(no);
        hold!(
            delivery.row.exists(),
            S1,
            "a request for delivery {} started before any row of it committed",
            no.0
        );
        if attempt > 1 {
            danger.count(Promise::S3);
        }
        hold!(
            id.0 == delivery.id,
            S3,
            "attempt {attempt} of delivery {} shows id {} instead of id {}",
            no.0,
            id.0,
            delivery.id
        );
        let held = delivery.claim.is(fence);
        let Some(claim) = self.claim(no, fence, line.at) else {
            breaks!(S5, "a request for delivery {} started without a claim", no.0)
        };
        may_start(claim, no, line)?;
        hold!(
            claim.attempt == attempt,
            S6,
            "a request for delivery {} counts as attempt {attempt}, and its claim as {}",
            no.0,
            claim.attempt
        );
        let counts = held && !delivery.claim.astray;
        self.start(terms, line.at, (no, fence), counts);
        if counts { self.is_gentle(terms, &delivery, no, line.at, danger) } else { Ok(()) }
    }

    /// A zombie that still may start takes no slot: its own was given to another. Nor does a claim of
    /// which the database may count the lease from another time (S14).
    fn start(&mut self, terms: &Terms, at: Millis, (no, fence): (DeliveryNo, u32), counts: bool) {
        let (stand_ins, stalls) = (self.stand_ins, self.stalls);
        let Some(claim) = self.claim(no, fence, at) else { return };
        claim.phase = Phase::InFlight;
        claim.end_by = at + terms.profile.time_limit_ms;
        claim.slot_until = claim.slot_until.min(claim.end_by);
        claim.counted = counts;
        (claim.stand_ins, claim.stalls) = (stand_ins, stalls);
        let delivery = &mut self.deliveries[no.index()];
        delivery.requests += 1;
        let endpoint = &mut self.endpoints[delivery.endpoint as usize];
        endpoint.starts += 1;
        endpoint.in_flight += u16::from(counts);
        self.flights += u32::from(counts);
    }

    /// Slots and rate of the endpoint, the request that just started included. The rate is kept when
    /// a claim is made, and its request starts up to the start limit later.
    fn is_gentle(
        &mut self,
        terms: &Terms,
        delivery: &Delivery,
        no: DeliveryNo,
        at: Millis,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let slots = terms.profile.slots;
        if self.endpoints[delivery.endpoint as usize].in_flight > slots {
            self.recount(delivery.endpoint, at);
        }
        let endpoint = &mut self.endpoints[delivery.endpoint as usize];
        if endpoint.in_flight == slots {
            danger.count(Promise::S14);
        }
        hold!(
            endpoint.in_flight <= slots,
            S14,
            "delivery {} is request {} in flight to endpoint {}, which has {slots} slots",
            no.0,
            endpoint.in_flight,
            delivery.endpoint
        );
        let interval_ms = terms.profile.interval_ms;
        if interval_ms == 0 {
            return Ok(());
        }
        if endpoint.next > at {
            danger.count(Promise::S14);
        }
        let burst_ms = interval_ms.saturating_mul(u64::from(terms.profile.burst.saturating_sub(1)));
        let early_ms = endpoint.next.since(at + burst_ms + terms.profile.start_limit_ms);
        hold!(
            early_ms == 0,
            S14,
            "delivery {} starts {early_ms} ms before the rate of endpoint {} allows",
            no.0,
            delivery.endpoint
        );
        endpoint.next = endpoint.next.max(at) + interval_ms;
        Ok(())
    }

    /// A request whose time is up is not in flight, though a stalled worker has not noticed.
    fn recount(&mut self, endpoint: u32, now: Millis) {
        let mut in_flight = 0;
        let mut over = 0;
        for delivery in self.deliveries.iter_mut().filter(|d| d.endpoint == endpoint) {
            let claim = &mut delivery.claim;
            let live = claim.counted && claim.slot_until > now;
            over += u32::from(claim.counted && !live);
            claim.counted = live;
            in_flight += u16::from(live);
        }
        self.flights -= over;
        self.endpoints[endpoint as usize].in_flight = in_flight;
    }

    pub(super) fn responded(
        &mut self,
        terms: &Terms,
        line: &Line,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let Fact::Responded { delivery: no, fence, outcome, .. } = line.fact else {
            return Ok(());
        };
        let (stand_ins, stalls) = (self.stand_ins, self.stalls);
        let claim = self.claim(no, fence, line.at).map(|claim| *claim);
        let Some(claim) = claim.filter(|claim| !claim.dead) else { return Ok(()) };
        self.endanger(terms, outcome, danger);
        match claim.phase {
            Phase::Idle => {
                hold!(
                    matches!(outcome, Outcome::Unknown | Outcome::Denied),
                    S7,
                    "the outcome of delivery {} is known, and nothing was sent",
                    no.0
                );
                // A dial that failed is an attempt: its deadline covers the connection.
                let delivery = &mut self.deliveries[no.index()];
                delivery.requests += 1;
                // One that was denied had taken its turn at its endpoint.
                if outcome == Outcome::Denied {
                    self.endpoints[delivery.endpoint as usize].starts += 1;
                }
            }
            Phase::InFlight => {
                ended_in_time(terms, &claim, no, line.at, outcome, claim.stalls != stalls)?;
                self.was_said(&claim, no, outcome, claim.stand_ins != stand_ins)?;
            }
            Phase::Over | Phase::Acknowledged | Phase::Refused | Phase::Gone | Phase::Unknown => {
                return Ok(());
            }
        }
        self.learned(terms, line.at, no, fence, outcome);
        Ok(())
    }

    /// A failure endangers the delivery itself, its ladder, and whoever waits beside it.
    fn endanger(&self, terms: &Terms, outcome: Outcome, danger: &mut Danger) {
        match outcome {
            Outcome::Acknowledged => return,
            Outcome::Refused { .. } | Outcome::Denied => {}
            Outcome::Unknown => danger.count(Promise::S7),
        }
        danger.count(Promise::S2);
        danger.count(Promise::S6);
        if terms.timely && self.open > 1 {
            danger.count(Promise::S8);
        }
    }

    /// What is known was said: by the receiver, or by something in its place, since the request
    /// started. An endpoint of whose receiver no line tells may have said anything.
    fn was_said(
        &self,
        claim: &Claim,
        no: DeliveryNo,
        outcome: Outcome,
        stood_in: bool,
    ) -> Result<(), Breach> {
        let delivery = &self.deliveries[no.index()];
        let refuses = self.refuses || self.ingresses_down != 0;
        let observed = self.endpoints[delivery.endpoint as usize].observed;
        match outcome {
            Outcome::Acknowledged => {
                hold!(
                    claim.said.yes || stood_in || !observed,
                    S7,
                    "attempt {} of delivery {} counts as acknowledged, and nobody did",
                    claim.attempt,
                    no.0
                );
            }
            Outcome::Refused { .. } => hold!(
                claim.said.no || stood_in || refuses || !observed,
                S7,
                "attempt {} of delivery {} counts as refused, and nobody did",
                claim.attempt,
                no.0
            ),
            Outcome::Unknown => {}
            Outcome::Denied => {
                breaks!(S7, "delivery {} counts as denied, and its request was sent", no.0)
            }
        }
        Ok(())
    }

    fn learned(&mut self, terms: &Terms, at: Millis, no: DeliveryNo, fence: u32, outcome: Outcome) {
        if self.deliveries[no.index()].claim.is(fence) {
            self.free_slot(no);
            self.may_disable(terms, no, outcome);
        }
        let rung = usize::from(self.deliveries[no.index()].rung);
        let Some(claim) = self.claim(no, fence, at) else { return };
        let wait = terms.profile.ladder.waits_ms().get(rung.wrapping_sub(1));
        claim.next = at + wait.copied().unwrap_or(0);
        (claim.phase, claim.retry_after_ms) = match outcome {
            Outcome::Acknowledged => (Phase::Acknowledged, 0),
            Outcome::Refused { status: 410, .. } => (Phase::Gone, 0),
            Outcome::Refused { retry_after_ms, .. } => {
                let asked = retry_after_ms.unwrap_or(0);
                (Phase::Refused, asked.min(terms.profile.retry_after_max_ms))
            }
            Outcome::Unknown => (Phase::Unknown, 0),
            Outcome::Denied => (Phase::Refused, 0),
        };
    }

    /// A 410, or a failure on the last rung, is what a profile may disable an endpoint for.
    fn may_disable(&mut self, terms: &Terms, no: DeliveryNo, outcome: Outcome) {
        let delivery = &self.deliveries[no.index()];
        let gone = matches!(outcome, Outcome::Refused { status: 410, .. });
        let last = delivery.rung == terms.profile.ladder.attempts();
        if gone || (last && outcome != Outcome::Acknowledged) {
            self.endpoints[delivery.endpoint as usize].may_disable = true;
        }
    }

    pub(super) fn arrived(&mut self, no: DeliveryNo) {
        let delivery = *self.delivery(no);
        if delivery.row.exists() {
            row(&mut self.endpoints, delivery.endpoint as usize).observed = true;
        }
    }

    pub(super) fn answered(&mut self, no: DeliveryNo, attempt: u32, status: u16) {
        self.arrived(no);
        let of = |claim: &Claim| {
            claim.attempt == attempt && claim.phase == Phase::InFlight && !claim.dead
        };
        let zombies = self.zombies.iter_mut().filter(|zombie| zombie.delivery == no.0);
        let zombies = zombies.map(|zombie| &mut zombie.claim);
        let current = &mut self.deliveries[no.index()].claim;
        let claims = core::iter::once(current).chain(zombies);
        for claim in claims.filter(|claim| of(claim)) {
            let yes = (200..300).contains(&status);
            claim.said.yes |= yes;
            claim.said.no |= !yes;
        }
    }
}

fn may_start(claim: &Claim, no: DeliveryNo, line: &Line) -> Result<(), Breach> {
    hold!(
        claim.phase == Phase::Over || (claim.relay == relay_of(line.by) && !claim.dead),
        S5,
        "a request for delivery {} was started by a worker that does not hold its claim",
        no.0
    );
    match claim.phase {
        Phase::Idle => {}
        Phase::Over => breaks!(S5, "a request for delivery {} started after its claim", no.0),
        Phase::InFlight | Phase::Acknowledged | Phase::Refused | Phase::Gone | Phase::Unknown => {
            breaks!(S6, "two requests for delivery {} started under one claim", no.0)
        }
    }
    hold!(
        line.at <= claim.start_by,
        S5,
        "a request for delivery {} started {} ms after its claim's start limit",
        no.0,
        line.at.since(claim.start_by)
    );
    Ok(())
}

/// Whatever is learned after the limit was not waited for. A worker that stalled learns late what
/// came in time, or that its time is up.
fn ended_in_time(
    terms: &Terms,
    claim: &Claim,
    no: DeliveryNo,
    at: Millis,
    outcome: Outcome,
    stalled: bool,
) -> Result<(), Breach> {
    let late_ms = at.since(claim.end_by);
    let excused = match outcome {
        Outcome::Acknowledged | Outcome::Refused { .. } => stalled,
        Outcome::Unknown | Outcome::Denied => stalled || !terms.timely,
    };
    hold!(
        late_ms == 0 || excused,
        S7,
        "attempt {} of delivery {} ended {late_ms} ms after its limit",
        claim.attempt,
        no.0
    );
    Ok(())
}
