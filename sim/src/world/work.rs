//! The receiver's workers: claim a receipt, work on it, record what came of it, and send alerts.

use hookproof_core::{
    Id, Millis,
    inbox::{End, Receipt, Stand},
    model::{Entity, Model, State},
    plan::{Plan, Uncommitted, Write},
    work::{Claim, Failed, Fault, Fetched, Ground, Job, Worked},
};

use super::{Ctx, ProcessNo, Step, Task, Twist, World, db::index, own::Work};
use crate::{
    dice::Site,
    history::{EntityNo, Fact, HandlerOutcome, Node, ReceiptNo, Side, Verdict, WorkFault},
    rogue::Rogue,
    setup::POISONED,
};

/// The rows that a decision of the work was loaded with.
pub(super) struct Loaded {
    pub(super) row: Receipt,
    entity: Entity,
    booked: bool,
    now: Millis,
}

impl World {
    pub(super) fn work_step(&mut self, task: &Task, twist: Option<Twist>, ctx: &mut Ctx<'_>) {
        let Task { owner, tries, .. } = *task;
        match task.step {
            Step::WorkClaim { row, now } => self.work_claim(owner, &row, now, twist, ctx),
            Step::Work { job } => self.work(owner, job, tries, ctx),
            Step::WorkCommit { job, row, entity, booked, now } => {
                let loaded = Loaded { row, entity, booked, now };
                self.work_commit(task, job, &loaded, twist, ctx);
            }
            Step::Fetch { job } => self.fetch(owner, job, tries, twist, ctx),
            Step::FetchCommit { job, row, entity, booked, now, fetched } => {
                let loaded = Loaded { row, entity, booked, now };
                self.fetch_commit(task, job, &loaded, fetched, twist, ctx);
            }
            Step::Fail { job, fault } => self.fail(owner, job, fault, tries, ctx),
            Step::FailCommit { job, fault, row, now } => {
                self.fail_commit(task, job, fault, &row, now, twist, ctx);
            }
            Step::SendAlert { alert, side } => self.send_alert(owner, alert, side, twist, ctx),
            _ => unreachable!("the other steps have their own rooms"),
        }
    }

    fn work_claim(
        &mut self,
        owner: ProcessNo,
        row: &Receipt,
        now: Millis,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        let Some(plan) = row.claim(now, ctx.inbox) else { return };
        let node = self.node(owner, ctx);
        let receipt = ReceiptNo(row.id.0 as u32);
        let claim = self.commit(Side::Receiver, node, plan, twist, ctx, |claim, db| match claim {
            Claim::Work(job) => {
                let strike = db.receipt(row.id).map_or(0, |row| row.strikes);
                [Some(Fact::WorkClaimed { receipt, fence: job.fence(), strike }), None]
            }
            Claim::SetAside => {
                let verdict = Verdict::SetAside(hookproof_core::Reason::WorkerLost.into());
                [Some(Fact::Worked { receipt, fence: row.fence, verdict }), None]
            }
        });
        match claim {
            Ok(Claim::Work(job)) => {
                self.then(owner, ctx.setup.lags.disk_ms, Step::Work { job }, ctx);
            }
            Ok(Claim::SetAside) | Err(Uncommitted::Conflict) => {}
            Err(Uncommitted::RolledBack | Uncommitted::Unknown) => self.pause(owner, ctx),
        }
    }

    fn work(&mut self, owner: ProcessNo, job: Job, tries: u8, ctx: &mut Ctx<'_>) {
        if !self.reachable(Side::Receiver) {
            let fault = Fault::Infrastructure;
            self.then(owner, 0, Step::Fail { job, fault }, ctx);
            return;
        }
        let Some(loaded) = self.load(job, ctx) else { return };
        let Loaded { row, entity, booked, now } = loaded;
        let step = Step::WorkCommit { job, row, entity, booked, now };
        self.again(owner, ctx.setup.lags.handler_ms, tries, step, ctx);
    }

    /// Loads what the work on a receipt is decided on; `None` where it is gone.
    fn load(&self, job: Job, ctx: &Ctx<'_>) -> Option<Loaded> {
        let db = self.db(Side::Receiver);
        let row = *db.receipt(job.receipt())?;
        let proposal = row.proposal?;
        let entity = db.entities[index(proposal.entity)];
        let operation = model_of(&entity, ctx).operation(&proposal);
        let operation = operation.map(|op| ctx.rogue.map_or(op, |rogue| rogue.misbooks(op, &row)));
        let booked = operation.is_some_and(|operation| db.is_booked(operation));
        let row = ctx.rogue.map_or(row, |rogue| rogue.refences_job(row, job));
        Some(Loaded { row, entity, booked, now: self.db_now(Side::Receiver) })
    }

    fn work_commit(
        &mut self,
        task: &Task,
        job: Job,
        loaded: &Loaded,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        let owner = task.owner;
        let mut ground = ground(loaded, model_of(&loaded.entity, ctx));
        if twist == Some(Twist::TakenId)
            && let Some(taken) = self.taken_id(&task.step, ctx)
        {
            ground.outside = Some((EFFECT_TARGET, taken));
        }
        let Some(plan) = job.work(&loaded.row, &ground, loaded.now, ctx.inbox) else {
            return;
        };
        if twist == Some(Twist::Die) && ctx.is(Rogue::MarkThenEffect) {
            ctx.rogue = Some(Rogue::NoHandler);
            let _ = self.conclude(owner, job, loaded, plan, None, ctx);
            ctx.rogue = Some(Rogue::MarkThenEffect);
            self.crash(owner, ctx);
            return;
        }
        if ctx.handler.speaks() && runs_handler(&plan) {
            return self.work_by_own(&Work { task, job, loaded, twist }, plan, ctx);
        }
        // Guards and writes come first: a handler runs only behind locks that it holds.
        let locked = self.db(Side::Receiver).guards_hold(plan.writes(), ctx.rogue);
        if locked && runs_handler(&plan) && !self.run_handler(owner, job, twist, ctx) {
            if twist == Some(Twist::Die) {
                self.leaks(owner, job, &plan, ctx);
                self.crash(owner, ctx);
                return;
            }
            self.leaks(owner, job, &plan, ctx);
            let fault = match twist {
                Some(Twist::HandlerInfrastructure) => Fault::Infrastructure,
                _ => Fault::Event,
            };
            let fault = ctx.rogue.map_or(fault, |rogue| rogue.blames(fault));
            if !ctx.is(Rogue::SwallowsHandlerError) {
                self.then(owner, ctx.setup.lags.disk_ms, Step::Fail { job, fault }, ctx);
                return;
            }
        } else if self.dies(owner, twist, ctx) {
            return;
        }
        let worked = self.conclude(owner, job, loaded, plan, twist, ctx);
        match worked {
            Ok(Worked::Refetch) => {
                self.again(owner, ctx.setup.lags.net_ms, task.tries, Step::Fetch { job }, ctx);
            }
            Ok(_) => {}
            Err(failure) => self.not_worked(task, job, failure, ctx),
        }
    }

    pub(super) fn conclude(
        &mut self,
        owner: ProcessNo,
        job: Job,
        loaded: &Loaded,
        plan: Plan<Worked>,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) -> Result<Worked, Uncommitted> {
        let node = self.node(owner, ctx);
        let (receipt, fence) = (ReceiptNo(job.receipt().0 as u32), job.fence());
        let now = loaded.now;
        self.commit(Side::Receiver, node, plan, twist, ctx, |worked, db| {
            let row = db.receipt(job.receipt());
            let verdict = row.and_then(|row| verdict(*worked, row, now));
            [verdict.map(|verdict| Fact::Worked { receipt, fence, verdict }), None]
        })
    }

    pub(super) fn not_worked(
        &mut self,
        task: &Task,
        job: Job,
        failure: Uncommitted,
        ctx: &mut Ctx<'_>,
    ) {
        let owner = task.owner;
        match failure {
            Uncommitted::Conflict if task.tries < CONFLICTS_MAX => {
                let tries = task.tries + 1;
                self.again(owner, ctx.setup.lags.disk_ms, tries, Step::Work { job }, ctx);
            }
            // Whether it is in is for the row to say; a worker that does not ask leaves it to its wake.
            Uncommitted::Unknown => {
                let site = Site::new(0x88, job.receipt().0 as u32, job.fence(), 0);
                if ctx.setup.terms.timely && ctx.chance.below(site, 2) == 0 {
                    self.retry(owner, task.tries, Step::Work { job }, ctx);
                }
            }
            Uncommitted::Conflict | Uncommitted::RolledBack => {
                let fault = Fault::Infrastructure;
                let fault = ctx.rogue.map_or(fault, |rogue| rogue.blames(fault));
                self.then(owner, ctx.setup.lags.disk_ms, Step::Fail { job, fault }, ctx);
            }
        }
    }

    /// Runs the handler inside the open transaction. Whether it did its work.
    fn run_handler(
        &mut self,
        owner: ProcessNo,
        job: Job,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) -> bool {
        let poisoned = self.is_poisoned(job.receipt(), ctx);
        let outcome = match twist {
            Some(Twist::HandlerInfrastructure) => HandlerOutcome::Infrastructure,
            Some(Twist::HandlerFails) => HandlerOutcome::Failed,
            _ if poisoned => HandlerOutcome::Failed,
            _ => HandlerOutcome::Done,
        };
        if outcome == HandlerOutcome::Failed {
            self.fails(job.receipt(), ctx);
        }
        let receipt = ReceiptNo(job.receipt().0 as u32);
        self.say(ctx, self.node(owner, ctx), Fact::HandlerRan { receipt, outcome });
        outcome == HandlerOutcome::Done && twist != Some(Twist::Die)
    }

    /// Whether the event of a receipt cannot be applied yet.
    pub(super) fn is_poisoned(&self, receipt: Id, ctx: &Ctx<'_>) -> bool {
        let event = ctx.setup.event_of(receipt.0 as u32) as usize;
        match ctx.setup.events[event].poison {
            POISONED => !self.repaired,
            runs => self.failures[event] < runs,
        }
    }

    /// One more run of its handler failed.
    pub(super) fn fails(&mut self, receipt: Id, ctx: &Ctx<'_>) {
        let failures = &mut self.failures[ctx.setup.event_of(receipt.0 as u32) as usize];
        *failures = failures.saturating_add(1);
    }

    /// What a wrong handler leaves behind although its transaction did not commit.
    fn leaks(&mut self, owner: ProcessNo, job: Job, plan: &Plan<Worked>, ctx: &mut Ctx<'_>) {
        if !ctx.is(Rogue::EffectInAnotherTransaction) {
            return;
        }
        let operation = plan.writes().iter().find_map(|write| match write {
            Write::Handle { operation, .. } => Some(*operation),
            _ => None,
        });
        if let Some(operation) = operation {
            let by = crate::history::Cause::Receipt(ReceiptNo(job.receipt().0 as u32));
            let fact = Fact::Effect { operation: operation.into(), by };
            self.say(ctx, self.node(owner, ctx), fact);
        }
    }

    /// Asks the authoritative API, outside any transaction.
    fn fetch(
        &mut self,
        owner: ProcessNo,
        job: Job,
        tries: u8,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        if !self.reachable(Side::Receiver) {
            let fault = Fault::Infrastructure;
            self.then(owner, 0, Step::Fail { job, fault }, ctx);
            return;
        }
        let Some(loaded) = self.load(job, ctx) else { return };
        let Loaded { row, entity, booked, now } = loaded;
        let fetched = match twist {
            Some(Twist::Mute) => None,
            Some(Twist::Stale) => Some(self.truth[index(entity.id)][1]),
            Some(Twist::Nonsense) => {
                let state = State(model_of(&entity, ctx).states() as u8);
                Some(Fetched { state, ..self.truth[index(entity.id)][0] })
            }
            _ => Some(self.truth[index(entity.id)][0]),
        };
        if let Some(Fetched { state, version }) = fetched {
            let (receipt, entity) = (ReceiptNo(row.id.0 as u32), EntityNo(entity.id.0 as u32));
            let fence = job.fence();
            self.say(ctx, Node::Api, Fact::Fetched { receipt, fence, entity, state, version });
        }
        let step = Step::FetchCommit { job, row, entity, booked, now, fetched };
        self.again(owner, ctx.setup.lags.net_ms, tries, step, ctx);
    }

    fn fetch_commit(
        &mut self,
        task: &Task,
        job: Job,
        loaded: &Loaded,
        fetched: Option<Fetched>,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        let owner = task.owner;
        if self.dies(owner, twist, ctx) {
            return;
        }
        let ground = ground(loaded, model_of(&loaded.entity, ctx));
        let policy = ctx.inbox;
        let Some(plan) = job.fetched(&loaded.row, &ground, fetched, loaded.now, policy) else {
            return;
        };
        if let Err(failure) = self.conclude(owner, job, loaded, plan, twist, ctx) {
            self.not_worked(task, job, failure, ctx);
        }
    }

    fn fail(&mut self, owner: ProcessNo, job: Job, fault: Fault, tries: u8, ctx: &mut Ctx<'_>) {
        if !self.reachable(Side::Receiver) {
            self.retry(owner, tries, Step::Fail { job, fault }, ctx);
            return;
        }
        let now = self.db_now(Side::Receiver);
        let Some(row) = self.db(Side::Receiver).receipt(job.receipt()).copied() else { return };
        let row = ctx.rogue.map_or(row, |rogue| rogue.refences_job(row, job));
        let step = Step::FailCommit { job, fault, row, now };
        self.again(owner, ctx.setup.lags.disk_ms, tries, step, ctx);
    }

    #[expect(clippy::too_many_arguments, reason = "the rows that the decision was loaded with")]
    fn fail_commit(
        &mut self,
        task: &Task,
        job: Job,
        fault: Fault,
        row: &Receipt,
        now: Millis,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        let owner = task.owner;
        let roll = ctx.chance.roll(Site::new(0x82, row.id.0 as u32, row.fence, 0));
        let Some(plan) = job.fail(row, fault, now, roll, ctx.inbox) else { return };
        let node = self.node(owner, ctx);
        let (receipt, fence) = (ReceiptNo(job.receipt().0 as u32), job.fence());
        let failed = self.commit(Side::Receiver, node, plan, twist, ctx, |failed, db| {
            let after = db.receipt(job.receipt());
            let strike = after.map_or(0, |row| row.strikes);
            let stand = after.map_or(row.stand, |row| row.stand).into();
            let wait_ms = after.and_then(Receipt::wake).map_or(0, |wake| wake.since(now));
            let fault = match fault {
                Fault::Event => WorkFault::Event,
                Fault::Infrastructure => WorkFault::Infrastructure,
            };
            let fact = match failed {
                Failed::Retrying { .. } => {
                    Fact::WorkFailed { receipt, fence, fault, stand, strike, wait_ms }
                }
                Failed::SetAside(reason) => {
                    Fact::Worked { receipt, fence, verdict: Verdict::SetAside((*reason).into()) }
                }
            };
            [Some(fact), None]
        });
        match failed {
            Ok(_) => {}
            Err(Uncommitted::Conflict) if task.tries < CONFLICTS_MAX => {
                let tries = task.tries + 1;
                self.again(owner, ctx.setup.lags.disk_ms, tries, Step::Fail { job, fault }, ctx);
            }
            Err(_) => self.retry(owner, task.tries, Step::Fail { job, fault }, ctx),
        }
    }

    fn send_alert(
        &mut self,
        owner: ProcessNo,
        alert: u32,
        side: Side,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        let sent = self.db(side).alerts.get(alert as usize);
        let Some(&(about, false)) = sent.filter(|_| self.reachable(side)) else { return };
        let about = Self::about(about);
        self.say(ctx, self.node(owner, ctx), Fact::AlertSent { about });
        // It was sent; marking it so may fail, and then it is sent again.
        if self.dies(owner, twist, ctx) {
            return;
        }
        if twist.is_some() {
            return self.pause(owner, ctx);
        }
        self.db_mut(side).alert_sent(alert as usize);
    }
}

pub(super) fn model_of<'a>(entity: &Entity, ctx: &Ctx<'a>) -> &'a Model {
    let terms = &ctx.setup.terms;
    &terms.models[usize::from(terms.model_of[index(entity.id)])]
}

fn ground<'a>(loaded: &'a Loaded, model: &'a Model) -> Ground<'a> {
    let outside = Some((EFFECT_TARGET, loaded.row.id));
    Ground { entity: &loaded.entity, model, booked: loaded.booked, outside }
}

fn runs_handler(plan: &Plan<Worked>) -> bool {
    plan.writes().iter().any(|write| matches!(write, Write::Handle { .. }))
}

/// What a commit of the work says, by the row that it left: a wrong store may have left another.
fn verdict(worked: Worked, row: &Receipt, now: Millis) -> Option<Verdict> {
    Some(match (worked, row.stand) {
        (Worked::Refetch, _) => return None,
        (Worked::Done(End::AlreadyBooked), Stand::Done(_))
        | (_, Stand::Done(End::AlreadyBooked)) => Verdict::AlreadyBooked,
        (Worked::Done(End::Overtaken), Stand::Done(_))
        | (_, Stand::Done(End::Overtaken) | Stand::Ignored) => Verdict::Overtaken,
        (_, Stand::Done(End::Applied)) => Verdict::Applied,
        (_, Stand::InReview(reason)) => Verdict::SetAside(reason.into()),
        (_, Stand::Queued { wake } | Stand::Deferred { wake } | Stand::Retrying { wake }) => {
            Verdict::Deferred { timer_ms: wake.since(now), cap_ms: row.cap.since(now) }
        }
    })
}

/// The one endpoint of the receiver's own outbox.
pub(super) const EFFECT_TARGET: Id = Id(0);
/// How often the work's conflict is decided again before it counts as the infrastructure's fault.
const CONFLICTS_MAX: u8 = 8;
