//! The application's own handler in the open transaction of the work.

use hookproof_core::{
    inbox::Receipt,
    plan::{Plan, Uncommitted, Write},
    work::{Fault, Job, Worked},
};

use super::{Ctx, ProcessNo, Step, Task, Twist, World, work::Loaded};
use crate::{
    dice::Site,
    handler::{Called, Left, Luck, SimTx, Tables},
    history::{Cause, Fact, Family, HandlerOutcome, Line, NO_KEY, Node, ReceiptNo, Side},
    rogue::Rogue,
};

/// The work on one receipt, as far as its commit.
pub(super) struct Work<'a> {
    pub(super) task: &'a Task,
    pub(super) job: Job,
    pub(super) loaded: &'a Loaded,
    pub(super) twist: Option<Twist>,
}

/// How a run of the handler ended, in a transaction that is still open.
struct Ran {
    /// Whose fault the handler says it is, if it fails.
    said: Result<(), Fault>,
    /// The application's rows, if the transaction commits.
    rows: Tables,
    left: Left,
}

impl World {
    /// The work with a handler that speaks: guards and locks first, then the handler, then the commit.
    pub(super) fn work_by_own(&mut self, work: &Work<'_>, plan: Plan<Worked>, ctx: &mut Ctx<'_>) {
        let owner = work.task.owner;
        let Some(called) = self.called(&plan, &work.loaded.row, ctx.rogue) else {
            if !self.dies(owner, work.twist, ctx) {
                let _ = self.commit_own(work, plan, work.twist, ctx);
            }
            return;
        };
        let ran = self.run_own(work, &called, ctx);
        let left = ctx.lines.len();
        if work.twist == Some(Twist::Die) {
            self.leave(owner, &called, &ran.left, left, ctx);
            return self.crash(owner, ctx);
        }
        let fault = match ran.said {
            Ok(()) => {
                // A connection that broke commits nothing, whoever passed over its errors.
                let broken = work.twist == Some(Twist::HandlerInfrastructure);
                let twist = if broken { Some(Twist::CommitFails) } else { work.twist };
                if self.commit_own(work, plan, twist, ctx) {
                    self.db_mut(Side::Receiver).tables = ran.rows;
                } else {
                    self.leave(owner, &called, &ran.left, left, ctx);
                }
                return;
            }
            Err(fault) => fault,
        };
        self.leave(owner, &called, &ran.left, left, ctx);
        self.then(owner, ctx.setup.lags.disk_ms, Step::Fail { job: work.job, fault }, ctx);
    }

    /// What the handler is called for; `None` if the transaction does not come so far.
    fn called(&self, plan: &Plan<Worked>, row: &Receipt, rogue: Option<Rogue>) -> Option<Called> {
        let db = self.db(Side::Receiver);
        let open = self.reachable(Side::Receiver) && db.writable;
        if !open || !db.guards_hold(plan.writes(), rogue) {
            return None;
        }
        let operation = plan.writes().iter().find_map(|write| match write {
            Write::Handle { operation, .. } => Some(*operation),
            _ => None,
        })?;
        Some(Called { receipt: row.id, proposal: row.proposal?, operation })
    }

    fn run_own(&mut self, work: &Work<'_>, called: &Called, ctx: &mut Ctx<'_>) -> Ran {
        let luck = self.luck(work, ctx);
        let by = self.node(work.task.owner, ctx);
        let committed = core::mem::take(&mut self.db_mut(Side::Receiver).tables);
        let mut tx = SimTx::begin(committed, luck);
        let done = ctx.handler.run(work.task.owner, &mut tx, called);
        let lost = tx.is_lost();
        let (committed, rows, left) = tx.end();
        self.db_mut(Side::Receiver).tables = committed;
        self.hear_calls(by, &left, luck, ctx);
        let said = done.map_err(|error| error.fault());
        // Whatever the handler says: where its connection was lost, it was not the event.
        let outcome = match said {
            Ok(()) => HandlerOutcome::Done,
            Err(Fault::Event) if !lost => HandlerOutcome::Failed,
            Err(_) => HandlerOutcome::Infrastructure,
        };
        if luck.refuses {
            self.fails(called.receipt, ctx);
        }
        let receipt = ReceiptNo(called.receipt.0 as u32);
        self.say(ctx, by, Fact::HandlerRan { receipt, outcome });
        Ran { said, rows, left }
    }

    /// What will go wrong under the handler, and where.
    fn luck(&self, work: &Work<'_>, ctx: &Ctx<'_>) -> Luck {
        let Work { task, job, twist, .. } = work;
        let receipt = job.receipt().0 as u32;
        let site = |purpose| Site::new(purpose, receipt, job.fence(), u32::from(task.tries));
        let after = ctx.chance.below(site(WHERE), RUNS_THROUGH * 2);
        let within = (after < RUNS_THROUGH).then_some(after as u8);
        let silent = ctx.chance.hits(site(SILENT), ctx.setup.odds.of(Family::ExternalTimeout));
        // As often all writes as one of them: a handler may pass over the error of just that one.
        let which = ctx.chance.below(site(WHICH), u64::from(WRITES) * 2) as u8;
        let one = (*twist == Some(Twist::HandlerFails) && which < WRITES).then_some(which);
        let fails = *twist == Some(Twist::HandlerFails) && one.is_none();
        Luck {
            refuses: fails || self.is_poisoned(job.receipt(), ctx),
            refuses_write: one,
            breaks_after: within.filter(|_| *twist == Some(Twist::HandlerInfrastructure)),
            dies_after: within.filter(|_| *twist == Some(Twist::Die)),
            silent: silent && !self.quiet,
        }
    }

    /// Services outside do what they are called for, at once.
    fn hear_calls(&mut self, by: Node, left: &Left, luck: Luck, ctx: &mut Ctx<'_>) {
        if luck.silent && !left.calls.is_empty() {
            self.say(ctx, by, Fact::Fault { family: Family::ExternalTimeout });
        }
        for call in &left.calls {
            let key = call.key.unwrap_or(NO_KEY);
            let known = call.key.is_some() && self.done_outside.contains(&key);
            if call.key.is_some() && !known {
                self.done_outside.push(key);
            }
            let operation = call.operation.into();
            self.say(ctx, Node::External, Fact::ExternalCall { operation, key, did: !known });
        }
    }

    /// Commits the work, whatever the handler did. Whether it is in.
    fn commit_own(
        &mut self,
        work: &Work<'_>,
        plan: Plan<Worked>,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) -> bool {
        let worked = self.conclude(work.task.owner, work.job, work.loaded, plan, twist, ctx);
        if let Err(failure) = worked {
            self.not_worked(work.task, work.job, failure, ctx);
        }
        match worked {
            Ok(_) => true,
            Err(Uncommitted::Unknown) => twist == Some(Twist::AnswerLost),
            Err(Uncommitted::Conflict | Uncommitted::RolledBack) => false,
        }
    }

    /// Writes down the effects that other transactions made true, before the lines that say how this
    /// one ended.
    fn leave(
        &self,
        owner: ProcessNo,
        called: &Called,
        left: &Left,
        place: usize,
        ctx: &mut Ctx<'_>,
    ) {
        let by = self.node(owner, ctx);
        let cause = Cause::Receipt(ReceiptNo(called.receipt.0 as u32));
        for operation in left.effects.iter().rev() {
            let fact = Fact::Effect { operation: (*operation).into(), by: cause };
            ctx.lines.insert(place, Line { at: self.now, by, fact });
        }
    }
}

const WHERE: u8 = 0x84;
/// The service that a handler calls acts, and does not answer.
pub const SILENT: u8 = 0x85;
const WHICH: u8 = 0x8a;
/// One of so many writes is refused alone.
const WRITES: u8 = 3;
/// Something breaks after fewer statements and calls than this, or, as often, after all of them.
const RUNS_THROUGH: u64 = 4;
