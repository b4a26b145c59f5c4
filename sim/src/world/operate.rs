//! What people and the world do to the systems: crashes, restores, resends, replays, bookings; and
//! how processes look for work.

use hookproof_core::{
    Id, Millis, Reason,
    endpoint::{Endpoint, Lane, Life, register},
    inbox::{NotReplayed, Receipt, Warrant},
    model::Operation,
    outbox::{Delivery, Ended, Resent},
    plan::Uncommitted,
    profile::Profile,
    work::book,
};

use super::{Ctx, NOBODY, Process, ProcessNo, Step, Task, World, db::index, seal::Target};
use crate::{
    dice::Site,
    history::{
        self, DeliveryNo, EndpointLife, EndpointNo, Fact, Family, Node, Person, ReceiptNo, Side,
    },
    rogue::Rogue,
    setup::Deed,
};

impl World {
    /// Does what was appointed for this time.
    pub fn act(&mut self, deed: Deed, ctx: &mut Ctx<'_>) {
        if let Some(family) = deed.family() {
            self.say(ctx, Node::World, Fact::Fault { family });
        }
        match deed {
            Deed::Resend { delivery } => self.resend(delivery, 0, ctx),
            Deed::ResendAll => (0..ctx.setup.deliveries()).for_each(|d| self.resend(d, 0, ctx)),
            Deed::Replay { receipt, allowed } => self.replay(receipt, allowed, 0, ctx),
            Deed::ReplayAll => (0..ctx.setup.deliveries()).for_each(|r| self.replay_failed(r, ctx)),
            Deed::Repair => self.repaired = true,
            Deed::Book { operation } => self.book(operation, ctx),
            Deed::Cancel { delivery } => self.cancel(delivery, ctx),
            Deed::Endpoint { endpoint, life } => self.turn(endpoint, Some(life), 0, ctx),
            Deed::ChangeEndpoint { endpoint } => self.turn(endpoint, None, 0, ctx),
            Deed::RegisterAgain { endpoint } => self.register_again(endpoint, ctx),
            Deed::Crash { process } => self.crash(process, ctx),
            Deed::Upgrade { process } => self.upgrade(process, ctx),
            Deed::PowerLoss { side } => self.power_loss(side, ctx),
            Deed::Database { side, up } => {
                self.turn_database(side, ctx, |world| world.db_mut(side).up = up);
            }
            Deed::Writable { side, writable } => {
                self.turn_database(side, ctx, |world| world.db_mut(side).writable = writable);
            }
            Deed::Pool { side, free } => {
                self.turn_database(side, ctx, |world| world.pool_free[side as usize] = free);
            }
            Deed::Cut { requests, responses } => self.cut = [requests, responses],
            Deed::Heal => self.heal(ctx),
            Deed::EndpointDown { endpoint, down } => {
                let bit = 1 << endpoint;
                self.endpoints_down =
                    if down { self.endpoints_down | bit } else { self.endpoints_down & !bit };
            }
            Deed::Clock { side, by_ms } => self.jump(side, by_ms, ctx),
            Deed::Skew { side, by_ms } => self.skew(side, by_ms, ctx),
            Deed::Backup { side } => {
                self.backups[side as usize] = Some(Box::new((self.now, self.db(side).clone())));
                self.say(ctx, Node::Database(side), Fact::BackedUp { side });
            }
            Deed::Restore { side } => self.restore(side, ctx),
            Deed::Purge => self.purge(ctx),
            Deed::Rotate { endpoint } => self.rotate(endpoint, ctx),
            Deed::Revoke { endpoint } => self.revoke(endpoint, ctx),
            Deed::Target { endpoint, target } => self.targets[endpoint as usize] = target,
        }
        self.kick();
    }

    /// A process dies with all that it had in flight, and will be restarted.
    pub fn crash(&mut self, process: ProcessNo, ctx: &mut Ctx<'_>) {
        let Some(Process { up, .. }) = self.processes.get_mut(usize::from(process)) else { return };
        if !*up {
            return;
        }
        *up = false;
        self.tasks.retain(|task| task.owner != process);
        self.say(ctx, self.node(process, ctx), Fact::Crashed);
        let at = self.now + RESTART_MS;
        self.tasks.push(Task { at, owner: NOBODY, tries: 0, step: Step::Restart { process } });
    }

    pub(super) fn restart(&mut self, process: ProcessNo, ctx: &mut Ctx<'_>) {
        let now = self.now;
        let Some(row) = self.processes.get_mut(usize::from(process)) else { return };
        row.up = true;
        row.ready = now;
        let version = row.version;
        ctx.handler.restarted(process);
        self.say(ctx, self.node(process, ctx), Fact::Restarted { version });
    }

    fn upgrade(&mut self, process: ProcessNo, ctx: &mut Ctx<'_>) {
        if let Some(row) = self.processes.get_mut(usize::from(process)) {
            row.version += 1;
        }
        self.crash(process, ctx);
    }

    /// A machine is lost: its processes, and whatever its database had not made durable. A store that
    /// keeps R3 has nothing of the latter.
    fn power_loss(&mut self, side: Side, ctx: &mut Ctx<'_>) {
        self.say(ctx, Node::Database(side), Fact::PowerLost { side });
        if let Some(durable) = self.durable[side as usize].take() {
            *self.db_mut(side) = *durable;
        }
        self.tasks.retain(|task| of_people(&task.step) != Some(side));
        for process in 0..ctx.setup.processes() {
            if Self::side(process, ctx.setup) == side {
                self.crash(process, ctx);
            }
        }
    }

    /// Changes what a database does, and says so if its processes notice: it answers them, or not.
    fn turn_database(&mut self, side: Side, ctx: &mut Ctx<'_>, turn: impl FnOnce(&mut Self)) {
        let was = self.serves(side);
        turn(self);
        let up = self.serves(side);
        if was != up {
            self.say(ctx, Node::Database(side), Fact::DatabaseUp { side, up });
        }
    }

    fn serves(&self, side: Side) -> bool {
        self.reachable(side) && self.db(side).writable
    }

    fn jump(&mut self, side: Side, by_ms: i64, ctx: &mut Ctx<'_>) {
        self.db_mut(side).ahead_ms += by_ms;
        self.say(ctx, Node::Database(side), Fact::ClockJumped { by_ms });
    }

    /// A side's clocks are all off: its database's, and at the receiver those of the ingresses too.
    fn skew(&mut self, side: Side, by_ms: i64, ctx: &mut Ctx<'_>) {
        self.jump(side, by_ms, ctx);
        if side == Side::Receiver {
            self.ingress_ahead_ms += by_ms;
            for ingress in 0..ctx.setup.ingresses {
                self.say(ctx, Node::Ingress(ingress), Fact::ClockJumped { by_ms });
            }
        }
    }

    fn restore(&mut self, side: Side, ctx: &mut Ctx<'_>) {
        let Some(backup) = self.backups[side as usize].take() else { return };
        let (taken, rows) = *backup;
        self.db_mut(side).restore(rows);
        self.tasks.retain(|task| of_people(&task.step) != Some(side));
        self.hang_up(side, ctx);
        self.say(ctx, Node::Database(side), Fact::Restored { side, taken });
        for process in 0..ctx.setup.processes() {
            if Self::side(process, ctx.setup) == side {
                self.crash(process, ctx);
            }
        }
    }

    /// The connections of a restored sender are gone, and its claims' numbers will come again: what is
    /// on its way is answered to nobody.
    fn hang_up(&mut self, side: Side, ctx: &Ctx<'_>) {
        let own = |process| process != NOBODY && Self::side(process, ctx.setup) == side;
        self.tasks.retain(|task| !matches!(task.step, Step::Response(answer) if own(answer.to)));
        for task in &mut self.tasks {
            if let Step::Request(parcel)
            | Step::Receive { parcel }
            | Step::ReceiveCommit { parcel, .. }
            | Step::Reply { parcel, .. } = &mut task.step
                && side == Side::Sender
                && own(parcel.from)
            {
                parcel.from = NOBODY;
            }
        }
    }

    fn heal(&mut self, ctx: &mut Ctx<'_>) {
        self.cut = [false; 2];
        self.endpoints_down = 0;
        self.targets.fill(Target::Public);
        for side in [Side::Sender, Side::Receiver] {
            self.turn_database(side, ctx, |world| {
                world.pool_free[side as usize] = true;
                let db = world.db_mut(side);
                (db.up, db.writable) = (true, true);
            });
        }
    }

    /// Faults stop.
    pub fn quiet(&mut self, ctx: &mut Ctx<'_>) {
        self.heal(ctx);
        self.quiet = true;
        self.say(ctx, Node::World, Fact::Quiet);
        self.kick();
    }

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

    fn resend(&mut self, delivery: u32, tries: u8, ctx: &mut Ctx<'_>) {
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

    fn cancel(&mut self, delivery: u32, ctx: &mut Ctx<'_>) {
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

    fn replay_failed(&mut self, receipt: u32, ctx: &mut Ctx<'_>) {
        let row = self.db(Side::Receiver).receipt(Id(u128::from(receipt)));
        if row.is_some_and(|row| matches!(row.stand, hookproof_core::inbox::Stand::InReview(_))) {
            self.replay(receipt, true, 0, ctx);
        }
    }

    fn replay(&mut self, receipt: u32, allowed: bool, tries: u8, ctx: &mut Ctx<'_>) {
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
            Err(NotReplayed::Waiting) => self.replayed(receipt, history::Replayed::Waiting, ctx),
            Err(_) => self.replayed(receipt, history::Replayed::Refused, ctx),
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
            Ok(_) if allowed => self.replayed(receipt, history::Replayed::Accepted, ctx),
            Ok(_) => self.replayed(receipt, history::Replayed::AcceptedUnauthorised, ctx),
            Err(Uncommitted::Conflict) => {
                self.replay(receipt, allowed, tries.saturating_add(1), ctx);
            }
            Err(Uncommitted::RolledBack | Uncommitted::Unknown) => {}
        }
    }

    fn replayed(&self, receipt: u32, answer: history::Replayed, ctx: &mut Ctx<'_>) {
        let fact = Fact::Replayed { receipt: ReceiptNo(receipt), by: Person(1), answer };
        self.say(ctx, Node::Operator, fact);
    }

    fn book(&mut self, operation: Operation, ctx: &mut Ctx<'_>) {
        if !self.reachable(Side::Receiver) {
            return;
        }
        let plan = book(operation, Id(1));
        let fact = Fact::BookedByHand { operation: operation.into(), by: Person(1) };
        let _ = self
            .commit(Side::Receiver, Node::Operator, plan, None, ctx, |(), _| [Some(fact), None]);
    }

    /// Turns an endpoint, or changes its URL or secret.
    fn turn(&mut self, endpoint: u32, life: Option<Life>, tries: u8, ctx: &mut Ctx<'_>) {
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
                self.greet(endpoint, ctx);
            }
            Err(Uncommitted::Conflict) => self.turn(endpoint, life, tries.saturating_add(1), ctx),
            Ok(()) | Err(Uncommitted::RolledBack | Uncommitted::Unknown) => {}
        }
    }

    /// Somebody presses the button twice: the key is taken, and nothing changes.
    fn register_again(&mut self, endpoint: u32, ctx: &mut Ctx<'_>) {
        let plan = register(Id(u128::from(endpoint)));
        let _ = self.commit(Side::Sender, Node::Operator, plan, None, ctx, |(), _| [None; 2]);
    }

    fn purge(&mut self, ctx: &Ctx<'_>) {
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

    /// Loads a due delivery and its lane for a claim.
    pub fn look_at_delivery(&mut self, owner: ProcessNo, id: Id, tries: u8, ctx: &Ctx<'_>) {
        let side = Self::side(owner, ctx.setup);
        let now = self.db_now(side);
        let db = self.db(side);
        let Some(row) = db.delivery(id).copied() else { return };
        let endpoint = db.endpoints[index(row.endpoint)];
        let lane = Lane { endpoint, in_flight: db.in_flight(row.endpoint, now) };
        let loaded = self.now;
        let step = Step::Claim { row, lane, now, loaded };
        self.again(owner, ctx.setup.lags.disk_ms, tries, step, ctx);
    }

    /// Loads a due receipt for a claim.
    pub fn look_at_receipt(&mut self, owner: ProcessNo, id: Id, tries: u8, ctx: &Ctx<'_>) {
        let now = self.db_now(Side::Receiver);
        let Some(row) = self.db(Side::Receiver).receipt(id).copied() else { return };
        self.again(owner, ctx.setup.lags.disk_ms, tries, Step::WorkClaim { row, now }, ctx);
    }

    /// Loads a due event for its fan-out.
    pub fn look_at_event(&mut self, owner: ProcessNo, id: Id, tries: u8, ctx: &Ctx<'_>) {
        let Some(event) = self.db(Side::Sender).events[index(id)] else { return };
        self.again(owner, ctx.setup.lags.disk_ms, tries, Step::FanOut { event }, ctx);
    }

    /// Writes down how every row stands in the end.
    pub fn close(&mut self, ctx: &mut Ctx<'_>) {
        self.say_deliveries(ctx);
        self.say_receipts(ctx);
        for entity in 0..self.db(Side::Receiver).entities.len() {
            let row = self.db(Side::Receiver).entities[entity];
            let entity = history::EntityNo(entity as u32);
            let fact = Fact::EntityStands { entity, state: row.state, version: row.version };
            self.say(ctx, Node::Database(Side::Receiver), fact);
        }
        self.say(ctx, Node::World, Fact::Ended);
    }

    fn say_deliveries(&self, ctx: &mut Ctx<'_>) {
        let now = self.db_now(Side::Sender);
        for row in self.db(Side::Sender).deliveries.iter().flatten() {
            let endpoint = self.db(Side::Sender).endpoints[index(row.endpoint)];
            let takes = endpoint.life == Life::Active;
            let due = takes && row.wake().is_some_and(|wake: Millis| wake <= now);
            let stand = super::send::delivery_stand(row.stand, now);
            let fact = Fact::DeliveryStands { delivery: DeliveryNo(row.id.0 as u32), stand, due };
            self.say(ctx, Node::Database(Side::Sender), fact);
        }
    }

    fn say_receipts(&self, ctx: &mut Ctx<'_>) {
        let now = self.db_now(Side::Receiver);
        for row in self.db(Side::Receiver).receipts.iter().flatten() {
            let due = row.wake().is_some_and(|wake| wake <= now);
            let fact = Fact::ReceiptStands {
                receipt: ReceiptNo(row.id.0 as u32),
                stand: row.stand.into(),
                due,
            };
            self.say(ctx, Node::Database(Side::Receiver), fact);
        }
    }
}

/// The receipt that a step knows by its key. A key never comes again, but the model's are few: whoever
/// held a receipt that was purged would find that it is gone.
fn of_receipt(step: &Step) -> Option<Id> {
    match step {
        Step::WorkClaim { row, .. }
        | Step::WorkCommit { row, .. }
        | Step::FetchCommit { row, .. }
        | Step::FailCommit { row, .. }
        | Step::ReplayCommit { row, .. }
        | Step::PurgeCommit { row, .. } => Some(row.id),
        Step::Work { job } | Step::Fetch { job } | Step::Fail { job, .. } => Some(job.receipt()),
        _ => None,
    }
}

/// The side whose database a person's transaction is open with.
fn of_people(step: &Step) -> Option<Side> {
    match step {
        Step::ResendCommit { .. } | Step::CancelCommit { .. } | Step::TurnCommit { .. } => {
            Some(Side::Sender)
        }
        Step::ReplayCommit { .. } => Some(Side::Receiver),
        _ => None,
    }
}

/// What a replay stands on. Where it is not allowed, one of the three is wanting: the person, the source,
/// or the secret.
fn warrant(receipt: u32, allowed: bool, ctx: &Ctx<'_>) -> Warrant {
    let wanting = ctx.dice.below(Site::new(WANTING, receipt, 0, 0), 3);
    let given = |which| allowed || wanting != which || ctx.is(Rogue::ReplayWithoutAuthorisation);
    Warrant {
        by: Id(1),
        person_allowed: given(0),
        source_authorised: given(1),
        secret_unrevoked: given(2),
    }
}

impl Deed {
    /// The family of faults that a deed belongs to, if it is the start of one.
    fn family(self) -> Option<Family> {
        Some(match self {
            Self::Resend { .. } | Self::Cancel { .. } => Family::OperatorResend,
            Self::ResendAll => Family::BulkResend,
            Self::Replay { .. } | Self::ReplayAll => Family::OperatorReplay,
            Self::Book { .. } => Family::ManualBooking,
            Self::Endpoint { life: Life::Active, .. } => return None,
            Self::Endpoint { .. } | Self::ChangeEndpoint { .. } | Self::RegisterAgain { .. } => {
                Family::EndpointLife
            }
            Self::Crash { .. } => Family::CrashSender,
            Self::Upgrade { .. } => Family::TwoVersions,
            Self::PowerLoss { .. } => Family::PowerLoss,
            Self::Database { up: false, .. } => Family::DatabaseDown,
            Self::Writable { writable: false, .. } => Family::DatabaseReadOnly,
            Self::Pool { free: false, .. } => Family::PoolExhausted,
            Self::Cut { requests: true, responses: true } => Family::Partition,
            Self::Cut { .. } => Family::PartitionOneWay,
            Self::EndpointDown { down: true, .. } => Family::EndpointDown,
            Self::Clock { .. } => Family::ClockJump,
            Self::Skew { .. } => Family::ClockSkew,
            Self::Restore { .. } => Family::Restore,
            Self::Purge => Family::Purge,
            Self::Rotate { .. } => Family::SecretRotated,
            Self::Revoke { .. } => Family::SecretRevoked,
            Self::Target { target: Target::Mixed | Target::Private, .. } => Family::TargetPrivate,
            Self::Repair
            | Self::Database { .. }
            | Self::Writable { .. }
            | Self::Pool { .. }
            | Self::Heal
            | Self::EndpointDown { .. }
            | Self::Backup { .. }
            | Self::Target { .. } => return None,
        })
    }
}

const WANTING: u8 = 0x8b;
/// How long a process is down after a crash.
const RESTART_MS: u64 = 3_000;
