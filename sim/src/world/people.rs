//! What people do: resend, cancel, replay, book, turn endpoints, purge. A person's transaction loads and
//! commits in two steps, as a worker's does.

use hookproof_core::{
    Id, Millis, Reason,
    endpoint::{Endpoint, Life, register},
    inbox::{NotReplayed, Receipt, Warrant},
    model::Operation,
    outbox::{Delivery, Ended, Resent},
    plan::Uncommitted,
    profile::Profile,
    work::book,
};

use super::{Ctx, NOBODY, Step, Task, World, db::index, operate::of_receipt};
use crate::{
    dice::Site,
    history::{self, DeliveryNo, EndpointLife, EndpointNo, Fact, Node, Person, ReceiptNo, Side},
    rogue::Rogue,
    setup::Deed,
};

impl World {
    /// Whether a person's deed is about the row of a transaction that is open, or of work that goes on.
    /// Of an endpoint there are many: each deed is for one kind of them.
    pub fn meets(&self, deed: Deed, step: &Step, whim: u64, profile: &Profile) -> bool {
        let at = |id: Id| id.0 as u32;
        match deed {
            Deed::Resend { delivery } | Deed::Cancel { delivery } => match step {
                Step::SettleCommit { row, .. }
                | Step::ReleaseCommit { row, .. }
                | Step::ResendCommit { row, .. }
                | Step::CancelCommit { row } => at(row.id) == delivery,
                Step::Claim { row, .. } => at(row.id) == delivery && row.attempt > 0,
                _ => false,
            },
            Deed::Endpoint { endpoint, life: Life::Active }
                if self.db(Side::Sender).endpoints[endpoint as usize].life == Life::Active =>
            {
                false
            }
            Deed::Endpoint { endpoint, .. } | Deed::ChangeEndpoint { endpoint } => match step {
                Step::Claim { row, .. } => {
                    at(row.endpoint) == endpoint && whim == u64::from(row.is_used_up(profile))
                }
                Step::SettleCommit { row, ended, .. } => {
                    let last = row.is_used_up(profile) || *ended == Ended::Gone;
                    at(row.endpoint) == endpoint && whim == 2 && last
                }
                Step::ResendCommit { row, .. } => at(row.endpoint) == endpoint && whim == 3,
                Step::TurnCommit { row, .. } => at(row.id) == endpoint && whim == 3,
                _ => false,
            },
            Deed::Replay { receipt, .. } => {
                let of = match step {
                    Step::ReplayCommit { row, .. } | Step::FailCommit { row, .. } => row.id,
                    Step::Fail { job, .. } | Step::Work { job } => job.receipt(),
                    _ => return false,
                };
                let row = self.db(Side::Receiver).receipt(of);
                at(of) == receipt && row.is_some_and(|row| row.wake().is_none())
            }
            Deed::Book { operation } => {
                let Step::WorkCommit { entity, .. } = step else { return false };
                entity.id == operation.entity
            }
            _ => false,
        }
    }

    /// Takes the second half of what a person does: the transaction, on the rows that were loaded.
    pub(super) fn people_step(&mut self, task: &Task, ctx: &mut Ctx<'_>) {
        let tries = task.tries;
        match &task.step {
            Step::ResendCommit { row, endpoint, now } => {
                self.resend_commit(row, endpoint, *now, tries, ctx);
            }
            Step::ReplayCommit { row, allowed, now } => {
                self.replay_commit(row, *allowed, *now, tries, ctx);
            }
            Step::CancelCommit { row } => self.cancel_commit(row, ctx),
            Step::TurnCommit { row, life, now } => self.turn_commit(row, *life, *now, tries, ctx),
            Step::PurgeCommit { row, now } => self.purge_commit(row, *now, ctx),
            _ => unreachable!("the other steps are of processes"),
        }
    }

    pub(super) fn resend(&mut self, delivery: u32, tries: u8, ctx: &mut Ctx<'_>) {
        let now = self.db_now(Side::Sender);
        let db = self.db(Side::Sender);
        if !self.reachable(Side::Sender) || !db.writable {
            return;
        }
        let Some(row) = db.delivery(Id(u128::from(delivery))).copied() else { return };
        let endpoint = db.endpoints[index(row.endpoint)];
        if row.resend(&endpoint, Id(1), now, ctx.profile).is_err() {
            return self.resent(delivery, history::Resent::Refused, ctx);
        }
        let step = Step::ResendCommit { row, endpoint, now };
        self.again(NOBODY, ctx.setup.lags.disk_ms, tries, step, ctx);
    }

    fn resend_commit(
        &mut self,
        row: &Delivery,
        endpoint: &Endpoint,
        now: Millis,
        tries: u8,
        ctx: &mut Ctx<'_>,
    ) {
        let Ok(plan) = row.resend(endpoint, Id(1), now, ctx.profile) else { return };
        let delivery = row.id.0 as u32;
        match self.commit(Side::Sender, Node::Operator, plan, None, ctx, |_, _| [None; 2]) {
            Ok(Resent::Opened { cycle }) => {
                self.resent(delivery, history::Resent::Opened { cycle }, ctx);
            }
            Ok(Resent::PulledForward) => {
                self.resent(delivery, history::Resent::PulledForward, ctx);
            }
            Err(Uncommitted::Conflict) => self.resend(delivery, tries.saturating_add(1), ctx),
            Err(Uncommitted::RolledBack | Uncommitted::Unknown) => {}
        }
    }

    fn resent(&self, delivery: u32, answer: history::Resent, ctx: &mut Ctx<'_>) {
        let fact = Fact::Resent { delivery: DeliveryNo(delivery), by: Person(1), answer };
        self.say(ctx, Node::Operator, fact);
    }

    pub(super) fn cancel(&mut self, delivery: u32, ctx: &mut Ctx<'_>) {
        let db = self.db(Side::Sender);
        if !self.reachable(Side::Sender) || !db.writable {
            return;
        }
        let Some(row) = db.delivery(Id(u128::from(delivery))).copied() else { return };
        if row.cancel(Reason::Operator).is_some() {
            self.then(NOBODY, ctx.setup.lags.disk_ms, Step::CancelCommit { row }, ctx);
        }
    }

    /// Whoever cancels what has changed meanwhile looks again.
    fn cancel_commit(&mut self, row: &Delivery, ctx: &mut Ctx<'_>) {
        let Some(plan) = row.cancel(Reason::Operator) else { return };
        let (delivery, now) = (DeliveryNo(row.id.0 as u32), self.db_now(Side::Sender));
        let done = self.commit(Side::Sender, Node::Operator, plan, None, ctx, |(), db| {
            let stand = db.delivery(row.id).map(|row| super::send::delivery_stand(row.stand, now));
            [stand.map(|stand| Fact::Closed { delivery, stand }), None]
        });
        if done == Err(Uncommitted::Conflict) {
            self.cancel(delivery.0, ctx);
        }
    }

    pub(super) fn replay_failed(&mut self, receipt: u32, ctx: &mut Ctx<'_>) {
        let row = self.db(Side::Receiver).receipt(Id(u128::from(receipt)));
        if row.is_some_and(|row| matches!(row.stand, hookproof_core::inbox::Stand::InReview(_))) {
            self.replay(receipt, true, 0, ctx);
        }
    }

    pub(super) fn replay(&mut self, receipt: u32, allowed: bool, tries: u8, ctx: &mut Ctx<'_>) {
        if !self.reachable(Side::Receiver) || !self.db(Side::Receiver).writable {
            return;
        }
        let now = self.db_now(Side::Receiver);
        let Some(row) = self.db(Side::Receiver).receipt(Id(u128::from(receipt))).copied() else {
            return;
        };
        match row.replay(&warrant(receipt, allowed, ctx), now, ctx.inbox) {
            Ok(_) => {
                let step = Step::ReplayCommit { row, allowed, now };
                self.again(NOBODY, ctx.setup.lags.disk_ms, tries, step, ctx);
            }
            Err(NotReplayed::Waiting) => {
                self.replayed(receipt, allowed, history::Replayed::Waiting, ctx);
            }
            Err(_) => self.replayed(receipt, allowed, history::Replayed::Refused, ctx),
        }
    }

    fn replay_commit(
        &mut self,
        row: &Receipt,
        allowed: bool,
        now: Millis,
        tries: u8,
        ctx: &mut Ctx<'_>,
    ) {
        let receipt = row.id.0 as u32;
        let Ok(plan) = row.replay(&warrant(receipt, allowed, ctx), now, ctx.inbox) else { return };
        match self.commit(Side::Receiver, Node::Operator, plan, None, ctx, |_, _| [None; 2]) {
            Ok(_) => self.replayed(receipt, allowed, history::Replayed::Accepted, ctx),
            Err(Uncommitted::Conflict) => {
                self.replay(receipt, allowed, tries.saturating_add(1), ctx);
            }
            Err(Uncommitted::RolledBack | Uncommitted::Unknown) => {}
        }
    }

    fn replayed(&self, receipt: u32, allowed: bool, answer: history::Replayed, ctx: &mut Ctx<'_>) {
        let fact = Fact::Replayed { receipt: ReceiptNo(receipt), by: Person(1), allowed, answer };
        self.say(ctx, Node::Operator, fact);
    }

    pub(super) fn book(&mut self, operation: Operation, ctx: &mut Ctx<'_>) {
        if !self.reachable(Side::Receiver) {
            return;
        }
        let plan = book(operation, Id(1));
        let fact = Fact::BookedByHand { operation: operation.into(), by: Person(1) };
        let _ = self
            .commit(Side::Receiver, Node::Operator, plan, None, ctx, |(), _| [Some(fact), None]);
    }

    /// Turns an endpoint, or changes its URL or secret.
    pub(super) fn turn(&mut self, endpoint: u32, life: Option<Life>, tries: u8, ctx: &mut Ctx<'_>) {
        let row = self.db(Side::Sender).endpoints[endpoint as usize];
        let now = self.db_now(Side::Sender);
        let step = Step::TurnCommit { row, life, now };
        self.again(NOBODY, ctx.setup.lags.disk_ms, tries, step, ctx);
    }

    fn turn_commit(
        &mut self,
        row: &Endpoint,
        life: Option<Life>,
        now: Millis,
        tries: u8,
        ctx: &mut Ctx<'_>,
    ) {
        let plan = match life {
            Some(life) => row.turn(life, now),
            None => row.change(),
        };
        let Some(plan) = plan else { return };
        let turned = match life {
            None => EndpointLife::Changed,
            Some(Life::Active) if row.life == Life::Unsubscribed => EndpointLife::Registered,
            Some(Life::Active) => EndpointLife::Resumed,
            Some(Life::Paused) => EndpointLife::Paused,
            Some(Life::Disabled) => EndpointLife::Disabled,
            Some(Life::Unsubscribed) => EndpointLife::Unsubscribed,
            Some(Life::Deleted) => EndpointLife::Deleted,
        };
        let endpoint = row.id.0 as u32;
        let fact = Fact::Endpoint { endpoint: EndpointNo(endpoint), life: turned };
        let done =
            self.commit(Side::Sender, Node::Operator, plan, None, ctx, |(), _| [Some(fact), None]);
        match done {
            Ok(()) if matches!(turned, EndpointLife::Registered | EndpointLife::Changed) => {
                if turned == EndpointLife::Changed {
                    self.db_mut(Side::Sender).urls[endpoint as usize] += 1;
                }
                self.greet(endpoint, ctx);
            }
            Err(Uncommitted::Conflict) => self.turn(endpoint, life, tries.saturating_add(1), ctx),
            Ok(()) | Err(Uncommitted::RolledBack | Uncommitted::Unknown) => {}
        }
    }

    /// Somebody presses the button twice: the key is taken, and nothing changes.
    pub(super) fn register_again(&mut self, endpoint: u32, ctx: &mut Ctx<'_>) {
        let plan = register(Id(u128::from(endpoint)));
        let _ = self.commit(Side::Sender, Node::Operator, plan, None, ctx, |(), _| [None; 2]);
    }

    pub(super) fn purge(&mut self, ctx: &Ctx<'_>) {
        if !self.reachable(Side::Receiver) {
            return;
        }
        let now = self.db_now(Side::Receiver);
        for id in 0..ctx.setup.deliveries() {
            let Some(row) = self.db(Side::Receiver).receipt(Id(u128::from(id))).copied() else {
                continue;
            };
            let row = ctx.rogue.map_or(row, |rogue| rogue.ages(row));
            if row.purge(now, ctx.inbox).is_some() {
                let step = Step::PurgeCommit { row, now };
                self.then(NOBODY, ctx.setup.lags.disk_ms, step, ctx);
            }
        }
    }

    fn purge_commit(&mut self, row: &Receipt, now: Millis, ctx: &mut Ctx<'_>) {
        let Some(plan) = row.purge(now, ctx.inbox) else { return };
        let fact = Fact::Purged { receipt: ReceiptNo(row.id.0 as u32) };
        let done = self
            .commit(Side::Receiver, Node::Operator, plan, None, ctx, |(), _| [Some(fact), None]);
        if done.is_ok() {
            self.tasks.retain(|task| of_receipt(&task.step) != Some(row.id));
        }
    }
}

/// What a replay stands on. Where it is not allowed, one of the three is wanting: the person, the source,
/// or the secret.
fn warrant(receipt: u32, allowed: bool, ctx: &Ctx<'_>) -> Warrant {
    let wanting = ctx.chance.below(Site::new(WANTING, receipt, 0, 0), 3);
    let given = |which| allowed || wanting != which || ctx.is(Rogue::ReplayWithoutAuthorisation);
    Warrant {
        by: Id(1),
        person_allowed: given(0),
        source_authorised: given(1),
        secret_unrevoked: given(2),
    }
}

const WANTING: u8 = 0x8b;
