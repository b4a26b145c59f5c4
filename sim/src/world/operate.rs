//! What the world does to the systems: crashes, outages, restores; and how processes look for work.

use hookproof_core::{
    Id, Millis,
    endpoint::{Lane, Life},
};

use super::{Ctx, NOBODY, Process, ProcessNo, Step, Task, World, db::index, seal::Target};
use crate::{
    history::{self, DeliveryNo, Fact, Family, Node, ReceiptNo, Side},
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

    /// Loads a due delivery and its lane for a claim.
    pub fn look_at_delivery(&mut self, owner: ProcessNo, id: Id, tries: u8, ctx: &Ctx<'_>) {
        let side = Self::side(owner, ctx.setup);
        let now = self.db_now(side);
        let db = self.db(side);
        let Some(row) = db.delivery(id).copied() else { return };
        let endpoint = db.endpoints[index(row.endpoint)];
        let lane = Lane { endpoint, in_flight: db.in_flight(row.endpoint, now) };
        let loaded = self.now;
        let url = db.urls[index(row.endpoint)];
        let step = Step::Claim { row, lane, url, now, loaded };
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
pub(super) fn of_receipt(step: &Step) -> Option<Id> {
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

/// How long a process is down after a crash.
const RESTART_MS: u64 = 3_000;
