//! The sender's steps from claim to settle. The receiver's own outbox, with its
//! effects for an external service, is driven by the same steps.

use hookproof_core::{
    Id, Millis, Reason,
    endpoint::{Endpoint, Lane},
    outbox::{Attempt, Claim, Delivery, Ended, Request, Stand},
    plan::{self, Plan, Uncommitted},
};

use super::{
    Answer, Ctx, NOBODY, Parcel, ProcessNo, Step, Task, Twist, World, db::index, seal::Seal,
};
use crate::{
    dice::Site,
    history::{
        Address, Body, DeliveryId, DeliveryNo, DeliveryStand, EndpointNo, Fact, Node, Outcome,
        Side, Signed,
    },
    rogue::Rogue,
};

impl World {
    pub(super) fn send_step(&mut self, task: &Task, twist: Option<Twist>, ctx: &mut Ctx<'_>) {
        let Task { owner, tries, .. } = *task;
        match task.step {
            Step::Publish { event, call } => self.publish(event, call, tries, ctx),
            Step::PublishCommit { event, call, found, now } => {
                self.publish_commit(event, call, tries, found.as_ref(), now, twist, ctx);
            }
            Step::FanOut { event } => self.fan_out(owner, &event, twist, ctx),
            Step::Sweep { event } => self.sweep(owner, event, twist, ctx),
            Step::SweepCommit { row } => self.sweep_commit(owner, &row, twist, ctx),
            Step::Claim { .. } => self.claim(task, twist, ctx),
            Step::Start { attempt, claimed } => self.start(owner, attempt, claimed, ctx),
            Step::Await { request } if ctx.is(Rogue::UnknownIsRefused) => {
                let outcome = Outcome::Refused { status: 504, retry_after_ms: None };
                self.ended(owner, request, outcome, ctx);
            }
            Step::Await { request } => self.ended(owner, request, Outcome::Unknown, ctx),
            Step::Settle { request, ended } => self.settle(owner, request, ended, tries, ctx),
            Step::SettleCommit { request, ended, row, endpoint, now } => {
                self.settle_commit(task, request, ended, &row, &endpoint, now, twist, ctx);
            }
            Step::Release { attempt } => self.release(owner, attempt, tries, ctx),
            Step::ReleaseCommit { attempt, row, now } => {
                self.release_commit(owner, attempt, &row, now, tries, twist, ctx);
            }
            Step::Response(answer) => self.response(answer, twist, ctx),
            _ => unreachable!("the other steps have their own rooms"),
        }
    }

    /// Commits a claim, and with it what else its relay is about to claim.
    fn claim(&mut self, task: &Task, twist: Option<Twist>, ctx: &mut Ctx<'_>) {
        let Task { owner, .. } = *task;
        let mut tasks = vec![*task];
        tasks.extend(self.next_claim(task, ctx));
        let mut plans = Vec::new();
        tasks.retain(|task| {
            let plan = self.claim_of(task, ctx);
            let decided = plan.is_some();
            plans.extend(plan);
            decided
        });
        let (side, node) = (Self::side(owner, ctx.setup), self.node(owner, ctx));
        let claims =
            self.commit_each(side, node, plans, twist, ctx, |place, claim, db| {
                match tasks[place].step {
                    Step::Claim { row, now, url, .. } if side == Side::Sender => {
                        claim_facts(&row, db.delivery(row.id), claim, now, url)
                    }
                    _ => [None, None],
                }
            });
        for (task, claim) in tasks.iter().zip(claims) {
            let Step::Claim { loaded, .. } = task.step else { continue };
            match claim {
                Ok(Claim::Send(_)) if ctx.is(Rogue::SendsBeforeClaim) => {}
                Ok(Claim::Send(attempt)) => {
                    let step = Step::Start { attempt, claimed: loaded };
                    self.then(owner, ctx.setup.lags.disk_ms, step, ctx);
                }
                Ok(Claim::Failed | Claim::Cancelled) | Err(Uncommitted::Conflict) => {}
                Err(Uncommitted::RolledBack | Uncommitted::Unknown) => self.pause(owner, ctx),
            }
        }
    }

    /// The decision about a claim, on the rows that were loaded for it.
    fn claim_of(&mut self, task: &Task, ctx: &mut Ctx<'_>) -> Option<Plan<Claim>> {
        let Step::Claim { row, mut lane, now, loaded, .. } = task.step else { return None };
        let side = Self::side(task.owner, ctx.setup);
        let roll = ctx.chance.roll(Site::new(0x80, row.id.0 as u32, row.fence, side as u32));
        if ctx.is(Rogue::NoLimitAfterOutage) {
            lane = Lane { endpoint: Endpoint { next: Millis(0), ..lane.endpoint }, in_flight: 0 };
        }
        let plan = row.claim(&lane, now, roll, ctx.profile)?;
        // The only way past a seal is to lie about the transaction.
        if ctx.is(Rogue::SendsBeforeClaim)
            && side == Side::Sender
            && let Ok(Claim::Send(attempt)) = plan.clone().commit(|_| plan::Outcome::Committed)
        {
            self.then(task.owner, 0, Step::Start { attempt, claimed: loaded }, ctx);
        }
        Some(plan)
    }

    /// Another claim that a relay has loaded its rows for: a walk takes both in one transaction. What is
    /// used up commits alone, for the sake of its lines.
    fn next_claim(&mut self, task: &Task, ctx: &Ctx<'_>) -> Option<Task> {
        let sends = |task: &Task| match &task.step {
            Step::Claim { row, .. } => !row.is_used_up(ctx.profile),
            _ => false,
        };
        if !ctx.setup.terms.timely || !sends(task) {
            return None;
        }
        let place = self.tasks.iter().position(|of| of.owner == task.owner && sends(of))?;
        Some(self.tasks.remove(place))
    }

    fn start(&mut self, owner: ProcessNo, attempt: Attempt, claimed: Millis, ctx: &mut Ctx<'_>) {
        let side = Self::side(owner, ctx.setup);
        let late = ctx.is(Rogue::ClaimsMoreThanItCanDial);
        let elapsed = if late { 0 } else { self.now.since(claimed) };
        let request = match attempt.start(elapsed, ctx.profile) {
            Ok(request) => request,
            Err(attempt) => {
                self.then(owner, ctx.setup.lags.disk_ms, Step::Release { attempt }, ctx);
                return;
            }
        };
        let ticket = request.ticket();
        if side == Side::Sender {
            let Some(address) = self.vet(ticket, ctx) else {
                return self.ended(owner, request, Outcome::Denied, ctx);
            };
            self.dialled(ticket, address, self.node(owner, ctx), ctx);
        }
        let event = ctx.setup.event_of(ticket.delivery.0 as u32);
        let mut parcel = parcel(ticket, owner, event);
        if side == Side::Sender {
            let cycle = self.db(side).delivery(ticket.delivery).map_or(1, |row| row.cycle);
            parcel = ctx.rogue.map_or(parcel, |rogue| rogue.relabels(parcel, cycle));
            parcel = self.sealed(parcel, ctx);
            self.requested(owner, &parcel, ctx);
        }
        self.then(NOBODY, ctx.setup.lags.net_ms, Step::Request(parcel), ctx);
        let limit = ctx.profile.time_limit_ms;
        let limit = if ctx.is(Rogue::NoTotalDeadline) { limit * 20 } else { limit };
        let at = self.now + limit;
        self.tasks.push(Task { at, owner, tries: 0, step: Step::Await { request } });
    }

    pub(super) fn requested(&self, owner: ProcessNo, parcel: &Parcel, ctx: &mut Ctx<'_>) {
        let fact = Fact::Requested {
            delivery: DeliveryNo(parcel.ticket.delivery.0 as u32),
            endpoint: EndpointNo(parcel.ticket.endpoint.0 as u32),
            attempt: parcel.ticket.attempt,
            fence: parcel.ticket.fence,
            id: parcel.id,
            body: parcel.body,
            signed: Signed { at: parcel.seal.at, secrets: parcel.seal.secrets },
        };
        let node = if owner == NOBODY { Node::App } else { self.node(owner, ctx) };
        self.say(ctx, node, fact);
    }

    fn response(&mut self, answer: Answer, twist: Option<Twist>, ctx: &mut Ctx<'_>) {
        let lost = self.cut[1] || matches!(twist, Some(Twist::Drop));
        if lost {
            return;
        }
        let waiting = self.tasks.iter().position(|task| {
            task.owner == answer.to
                && matches!(task.step, Step::Await { request } if request.ticket() == answer.ticket)
        });
        let Some(waiting) = waiting else { return };
        let Step::Await { request } = self.tasks.swap_remove(waiting).step else {
            unreachable!("the position is of a task that waits")
        };
        let outcome = match answer.status {
            _ if twist == Some(Twist::Reset) => Outcome::Unknown,
            300..=399 if ctx.is(Rogue::FollowsRedirects) => {
                self.dialled(answer.ticket, Address::Other, self.node(answer.to, ctx), ctx);
                Outcome::Acknowledged
            }
            status if acknowledges(status, answer.to, ctx) => Outcome::Acknowledged,
            status => Outcome::Refused { status, retry_after_ms: answer.retry_after_ms },
        };
        self.ended(answer.to, request, outcome, ctx);
    }

    /// The worker learns how its request ended, and will say so to the database.
    pub(super) fn ended(
        &mut self,
        owner: ProcessNo,
        request: Request,
        outcome: Outcome,
        ctx: &mut Ctx<'_>,
    ) {
        let ticket = request.ticket();
        if Self::side(owner, ctx.setup) == Side::Sender {
            let fact = Fact::Responded {
                delivery: DeliveryNo(ticket.delivery.0 as u32),
                attempt: ticket.attempt,
                fence: ticket.fence,
                outcome,
            };
            self.say(ctx, self.node(owner, ctx), fact);
        }
        let ended = match outcome {
            Outcome::Acknowledged => Ended::Acknowledged,
            Outcome::Refused { status: 410, .. } => Ended::Gone,
            Outcome::Refused { retry_after_ms, .. } => Ended::Refused { retry_after_ms },
            Outcome::Unknown => Ended::Unknown,
            Outcome::Denied => Ended::Refused { retry_after_ms: None },
        };
        let ended = ctx.rogue.map_or(ended, |rogue| rogue.misreads(ended, outcome));
        if ctx.is(Rogue::RetryAfterStallsWorker)
            && let Ended::Refused { retry_after_ms: Some(ms) } = ended
        {
            self.stall(owner, ms);
        }
        self.then(owner, ctx.setup.lags.disk_ms, Step::Settle { request, ended }, ctx);
    }

    fn settle(
        &mut self,
        owner: ProcessNo,
        request: Request,
        ended: Ended,
        tries: u8,
        ctx: &mut Ctx<'_>,
    ) {
        let side = Self::side(owner, ctx.setup);
        let ticket = request.ticket();
        if !self.reachable(side) {
            self.retry(owner, tries, Step::Settle { request, ended }, ctx);
            return;
        }
        let now = self.db_now(side);
        let db = self.db(side);
        let Some(row) = db.delivery(ticket.delivery).copied() else { return };
        let endpoint = db.endpoints[index(ticket.endpoint)];
        let step = Step::SettleCommit { request, ended, row, endpoint, now };
        self.again(owner, ctx.setup.lags.disk_ms, tries, step, ctx);
    }

    #[expect(clippy::too_many_arguments, reason = "the rows that the decision was loaded with")]
    fn settle_commit(
        &mut self,
        task: &Task,
        request: Request,
        ended: Ended,
        row: &Delivery,
        endpoint: &Endpoint,
        now: Millis,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        let owner = task.owner;
        let side = Self::side(owner, ctx.setup);
        let ticket = request.ticket();
        let node = self.node(owner, ctx);
        let roll = ctx.chance.roll(Site::new(0x81, row.id.0 as u32, ticket.fence, side as u32));
        let row = ctx.rogue.map_or(*row, |rogue| rogue.refences(*row, ticket, ended));
        let delivery = DeliveryNo(ticket.delivery.0 as u32);
        let Some(plan) = request.settle(&row, endpoint, ended, now, roll, ctx.profile) else {
            if side == Side::Sender {
                self.say(ctx, node, Fact::Fenced { delivery, fence: ticket.fence });
            }
            return;
        };
        let settled = self.commit(side, node, plan, twist, ctx, |_, db| {
            let (attempt, fence) = (ticket.attempt, ticket.fence);
            let fact = db.delivery(ticket.delivery).map(|row| {
                let stand = delivery_stand(row.stand, now);
                Fact::Settled { delivery, attempt, fence, stand }
            });
            [fact.filter(|_| side == Side::Sender), None]
        });
        match settled {
            Ok(Stand::Acknowledged) if side == Side::Sender => {
                let event = Id(u128::from(ctx.setup.event_of(ticket.delivery.0 as u32)));
                self.then(owner, SWEEP_MS, Step::Sweep { event }, ctx);
            }
            Ok(_) => {}
            Err(Uncommitted::Conflict) => {
                self.again(
                    owner,
                    ctx.setup.lags.disk_ms,
                    task.tries.saturating_add(1),
                    Step::Settle { request, ended },
                    ctx,
                );
            }
            Err(Uncommitted::RolledBack | Uncommitted::Unknown) => {
                self.retry(owner, task.tries, Step::Settle { request, ended }, ctx);
            }
        }
    }

    fn release(&mut self, owner: ProcessNo, attempt: Attempt, tries: u8, ctx: &mut Ctx<'_>) {
        let side = Self::side(owner, ctx.setup);
        if !self.reachable(side) {
            self.retry(owner, tries, Step::Release { attempt }, ctx);
            return;
        }
        let now = self.db_now(side);
        let Some(row) = self.db(side).delivery(attempt.ticket().delivery).copied() else { return };
        let step = Step::ReleaseCommit { attempt, row, now };
        self.again(owner, ctx.setup.lags.disk_ms, tries, step, ctx);
    }

    #[expect(clippy::too_many_arguments, reason = "the rows that the decision was loaded with")]
    fn release_commit(
        &mut self,
        owner: ProcessNo,
        attempt: Attempt,
        row: &Delivery,
        now: Millis,
        tries: u8,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        let side = Self::side(owner, ctx.setup);
        let node = self.node(owner, ctx);
        let ticket = attempt.ticket();
        let (delivery, fence) = (DeliveryNo(ticket.delivery.0 as u32), ticket.fence);
        let spoken = side == Side::Sender;
        let row = ctx.rogue.map_or(*row, |rogue| rogue.refences_release(*row, ticket));
        let Some(plan) = attempt.release(&row, now) else {
            if spoken {
                self.say(ctx, node, Fact::Fenced { delivery, fence });
            }
            return;
        };
        let fact = Fact::Released { delivery, fence };
        match self.commit(side, node, plan, twist, ctx, |(), _| [spoken.then_some(fact), None]) {
            Ok(()) => {}
            Err(Uncommitted::Conflict) => {
                self.again(
                    owner,
                    ctx.setup.lags.disk_ms,
                    tries.saturating_add(1),
                    Step::Release { attempt },
                    ctx,
                );
            }
            Err(Uncommitted::RolledBack | Uncommitted::Unknown) => {
                self.retry(owner, tries, Step::Release { attempt }, ctx);
            }
        }
    }

    /// Tries a step again once the database may be back, with doubling waits; in the end the row's
    /// own wake takes over.
    pub(super) fn retry(&mut self, owner: ProcessNo, tries: u8, step: Step, ctx: &Ctx<'_>) {
        if tries < TRIES_MAX {
            let at = self.now
                + (RETRY_MS << tries.min(7))
                + ctx.chance.below(super::site(&step, owner, tries + 1, ctx), RETRY_MS);
            self.tasks.push(Task { at, owner, tries: tries + 1, step });
        }
    }

    /// An infrastructure that fails is not asked again at once.
    pub(super) fn pause(&mut self, owner: ProcessNo, ctx: &Ctx<'_>) {
        self.stall(owner, PAUSE_POLLS * ctx.setup.terms.poll_ms);
    }

    fn stall(&mut self, owner: ProcessNo, ms: u64) {
        if let Some(process) = self.processes.get_mut(usize::from(owner)) {
            process.asleep = self.now + ms;
            process.ready = process.ready.max(process.asleep);
        }
    }
}

/// The bytes of an event, as a number; the three above it are for bytes that differ.
pub(super) fn body_of(event: u32) -> Body {
    Body(event * 4)
}

pub(super) fn parcel(
    ticket: hookproof_core::outbox::Ticket,
    from: ProcessNo,
    event: u32,
) -> Parcel {
    let (id, body) = (DeliveryId(ticket.delivery.0 as u32), body_of(event));
    let signer = ticket.endpoint.0 as u32;
    let seal = Seal { signer, secrets: 0, at: Millis(0), body, id };
    Parcel { ticket, from, id, body, copy: 0, seal }
}

/// Whether a status acknowledges: to a sender as its scheme says, to the relay of effects any 2xx.
fn acknowledges(status: u16, to: ProcessNo, ctx: &Ctx<'_>) -> bool {
    match World::side(to, ctx.setup) {
        Side::Sender => ctx.setup.terms.scheme.acknowledges(status),
        Side::Receiver => (200..300).contains(&status),
    }
}

fn claim_facts(
    before: &Delivery,
    after: Option<&Delivery>,
    claim: &Claim,
    now: Millis,
    url: u32,
) -> [Option<Fact>; 2] {
    let delivery = DeliveryNo(before.id.0 as u32);
    let lost = matches!(before.stand, Stand::Claimed { .. })
        .then_some(Fact::ClaimLost { delivery, fence: before.fence });
    let fact = match claim {
        Claim::Send(attempt) => after.map(|row| Fact::Claimed {
            delivery,
            endpoint: EndpointNo(row.endpoint.0 as u32),
            attempt: attempt.ticket().attempt,
            rung: row.rung,
            cycle: row.cycle,
            fence: attempt.ticket().fence,
            wait_ms: row.wake().map_or(0, |wake| wake.since(now)),
            url,
        }),
        Claim::Failed | Claim::Cancelled => {
            let stand = after.map(|row| delivery_stand(row.stand, now));
            stand.map(|stand| Fact::Closed { delivery, stand })
        }
    };
    [lost, fact]
}

/// How a delivery stands, in the words of a history.
pub(crate) fn delivery_stand(stand: Stand, now: Millis) -> DeliveryStand {
    match stand {
        Stand::Pending { wake } => DeliveryStand::Waiting { wait_ms: wake.since(now) },
        Stand::Claimed { .. } => DeliveryStand::Claimed,
        Stand::Acknowledged => DeliveryStand::Acknowledged,
        Stand::Failed(Reason::Unanswered | Reason::ClaimLost) => {
            DeliveryStand::Failed { known: false }
        }
        Stand::Failed(_) => DeliveryStand::Failed { known: true },
        Stand::Cancelled(reason) => DeliveryStand::Cancelled { reason: reason.into() },
    }
}

/// How many polls a process waits after its infrastructure failed.
const PAUSE_POLLS: u64 = 5;
/// How long before a first second try.
pub(super) const RETRY_MS: u64 = 500;
/// How often a step is tried again before the row's own wake is left to take over.
const TRIES_MAX: u8 = 12;
/// How long after an acknowledgement the sweep looks at its event.
const SWEEP_MS: u64 = 2_000;
