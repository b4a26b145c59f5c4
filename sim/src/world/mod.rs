//! The world as one value: two databases, the processes between them, and all work in flight.
//!
//! Work in flight is data. A [`Task`] is what a process will do next, and between any two tasks lies
//! an I/O boundary: forgetting the tasks of a process is its crash, at whichever boundary it stood.
//! The rows that a decision was made on travel in its task, so a decision is always as old as its
//! load, and whoever committed in between makes it conflict.

pub mod db;
mod faults;
mod operate;
mod own;
pub mod pack;
mod receive;
mod send;
mod work;

use hookproof_core::{
    Id, Millis,
    endpoint::{Endpoint, Lane, Life},
    inbox::Receipt,
    model::{Entity, State},
    outbox::{Attempt, Delivery, Ended, Event, Request, Subject, Ticket},
    plan::{About as RowAbout, Outcome, Plan, Uncommitted, Write},
    profile::Profile,
    work::{Fault, Fetched, Job},
};

use crate::{
    dice::{Dice, Site},
    handler::Handle,
    history::{
        About, Body, Cause, DeliveryId, DeliveryNo, EndpointLife, EndpointNo, EntityNo, EventNo,
        Fact, Line, Node, Reason, ReceiptNo, Side,
    },
    rogue::Rogue,
    setup::Setup,
};
use db::{Db, index};
pub use faults::crash as crash_family;

/// The state of everything.
#[derive(Debug, PartialEq, Eq)]
pub struct World {
    /// True time.
    pub now: Millis,
    /// The sender's database, then the receiver's.
    pub dbs: [Db; 2],
    /// Work in flight, of processes and of the network.
    pub tasks: Vec<Task>,
    /// The processes, by number: relays, ingresses, workers, the relay of effects.
    pub processes: Vec<Process>,
    /// What the external service has done, by key.
    pub done_outside: Vec<u64>,
    /// What the authoritative API knows of each entity, and what it knew before.
    pub truth: Vec<[Fetched; 2]>,
    /// Runs of each event's handler that failed so far.
    pub failures: Vec<u8>,
    /// Whether poisoned events were repaired.
    pub repaired: bool,
    /// Whether requests and responses are cut off.
    pub cut: [bool; 2],
    /// Which endpoints answer nothing but 503.
    pub endpoints_down: u32,
    /// Whether each side's connection pool has room.
    pub pool_free: [bool; 2],
    /// Backups, by side.
    pub backups: [Option<Box<(Millis, Db)>>; 2],
    /// What a wrong store had not made durable yet, by side.
    pub durable: [Option<Box<Db>>; 2],
    /// The highest event that a relay with a cursor has seen.
    pub cursor: u32,
    /// Whether faults have stopped.
    pub quiet: bool,
}

clone_reusing!(World {
    now,
    dbs,
    tasks,
    processes,
    done_outside,
    truth,
    failures,
    repaired,
    cut,
    endpoints_down,
    pool_free,
    backups,
    durable,
    cursor,
    quiet,
});

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Whether it runs.
    pub up: bool,
    /// When it next looks for due rows, at the earliest.
    pub ready: Millis,
    /// Until when it stands still, whatever happens.
    pub asleep: Millis,
    /// How often in a row it found nothing to take.
    pub idle: u8,
    /// Which version of the software it runs.
    pub version: u16,
}

/// The number of a process; [`NOBODY`] for the network and for people.
pub type ProcessNo = u8;

/// Owner of what no crash of a process takes away.
pub const NOBODY: ProcessNo = u8::MAX;

/// One thing that will happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// When, where time is the point.
    pub at: Millis,
    /// Whose it is: a crash of that process forgets it.
    pub owner: ProcessNo,
    /// How often it was tried before.
    pub tries: u8,
    /// What.
    pub step: Step,
}

/// What a task does. A step that ends in `Commit` carries the rows that it was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each step is named after the core's verb that it calls")]
pub enum Step {
    Publish {
        event: u32,
        call: u8,
    },
    PublishCommit {
        event: u32,
        call: u8,
        found: Option<Event>,
        now: Millis,
    },
    FanOut {
        event: Event,
    },
    Sweep {
        event: Id,
    },
    Claim {
        row: Delivery,
        lane: Lane,
        now: Millis,
        loaded: Millis,
    },
    Start {
        attempt: Attempt,
        claimed: Millis,
    },
    Await {
        request: Request,
    },
    Settle {
        request: Request,
        ended: Ended,
    },
    SettleCommit {
        request: Request,
        ended: Ended,
        row: Delivery,
        endpoint: Endpoint,
        now: Millis,
    },
    Release {
        attempt: Attempt,
    },
    ReleaseCommit {
        attempt: Attempt,
        row: Delivery,
        now: Millis,
    },
    Request(Parcel),
    Response(Answer),
    Receive {
        parcel: Parcel,
    },
    ReceiveCommit {
        parcel: Parcel,
        found: Option<Receipt>,
        now: Millis,
    },
    Reply {
        parcel: Parcel,
        status: u16,
    },
    WorkClaim {
        row: Receipt,
        now: Millis,
    },
    Work {
        job: Job,
    },
    WorkCommit {
        job: Job,
        row: Receipt,
        entity: Entity,
        booked: bool,
        now: Millis,
    },
    Fetch {
        job: Job,
    },
    FetchCommit {
        job: Job,
        row: Receipt,
        entity: Entity,
        booked: bool,
        now: Millis,
        fetched: Option<Fetched>,
    },
    Fail {
        job: Job,
        fault: Fault,
    },
    FailCommit {
        job: Job,
        fault: Fault,
        row: Receipt,
        now: Millis,
    },
    SendAlert {
        alert: u32,
        side: Side,
    },
    PurgeCommit {
        row: Receipt,
        now: Millis,
    },
    Restart {
        process: ProcessNo,
    },
}

/// A request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// The claim that it was sent under.
    pub ticket: Ticket,
    /// The relay that waits for the answer.
    pub from: ProcessNo,
    /// The delivery id that it shows.
    pub id: DeliveryId,
    /// The bytes that it carries.
    pub body: Body,
    /// Which copy of the request this is: 0 is the first.
    pub copy: u8,
}

/// An answer on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The claim that it answers.
    pub ticket: Ticket,
    /// The relay that waits for it.
    pub to: ProcessNo,
    /// The status.
    pub status: u16,
    /// Its `Retry-After`, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// What goes wrong with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Twist {
    /// The database gives the transaction up for another one.
    Serialization,
    /// The database rolls the transaction back.
    CommitFails,
    /// The commit is in, but its answer is lost.
    AnswerLost,
    /// The message is lost.
    Drop,
    /// The message arrives, and arrives again.
    Duplicate,
    /// The message arrives much later.
    Delay,
    /// The connection breaks half-way through the message.
    Reset,
    /// Somebody between the two answers 2xx, and passes nothing on.
    ForeignAck,
    /// The receiver answers 2xx before it has the whole request, and gets no more of it.
    EarlyAck,
    /// The receiver takes so long that the sender has given up.
    Hang,
    /// The answer comes byte by byte.
    Slow,
    /// The receiver refuses, with this status, whatever it is asked.
    Refuse(u16),
    /// The bytes are not those of the first attempt.
    OtherBytes,
    /// The handler fails on its own account.
    HandlerFails,
    /// The infrastructure under the handler fails.
    HandlerInfrastructure,
    /// The process dies inside the step, before its commit.
    Die,
    /// The API answers with what it knew before.
    Stale,
    /// The API does not answer.
    Mute,
    /// The service acts, and its answer never comes.
    ActsSilently,
}

/// What a step may look at besides the world.
pub struct Ctx<'a> {
    /// The run.
    pub setup: &'a Setup,
    /// The sender's choices as it runs them; a wrong one runs others than it declares.
    pub profile: &'a Profile,
    /// The wrong line, if one is switched on.
    pub rogue: Option<Rogue>,
    /// The dice.
    pub dice: Dice,
    /// Where the history goes.
    pub lines: &'a mut Vec<Line>,
    /// The application's handler.
    pub handler: &'a mut dyn Handle,
}

impl Ctx<'_> {
    /// Whether this wrong line is switched on.
    pub fn is(&self, rogue: Rogue) -> bool {
        self.rogue == Some(rogue)
    }
}

impl World {
    /// The world before its first step: endpoints registered, nothing published.
    pub fn new(setup: &Setup) -> Self {
        let (events, deliveries) = (setup.events.len(), setup.deliveries() as usize);
        let entities = setup.terms.model_of.len();
        let process =
            Process { up: true, ready: Millis(0), asleep: Millis(0), idle: 0, version: 1 };
        let unknown = Fetched { state: State(0), version: 0 };
        let mut world = Self {
            now: Millis(0),
            dbs: [
                Db::new(events, deliveries, setup.endpoints as usize, 0),
                Db::new(0, deliveries, 1, entities),
            ],
            tasks: Vec::new(),
            processes: vec![process; usize::from(setup.processes())],
            done_outside: Vec::new(),
            truth: vec![[unknown; 2]; entities],
            failures: vec![0; events],
            repaired: false,
            cut: [false; 2],
            endpoints_down: 0,
            pool_free: [true; 2],
            backups: [None, None],
            durable: [None, None],
            cursor: 0,
            quiet: false,
        };
        for (event, planned) in (0..).zip(&setup.events) {
            for call in 0..planned.calls {
                let at = planned.at + planned.takes_ms + u64::from(call) * REPUBLISH_MS;
                world.tasks.push(Task {
                    at,
                    owner: NOBODY,
                    tries: 0,
                    step: Step::Publish { event, call },
                });
            }
        }
        world
    }

    /// Writes the lines that precede the first step.
    pub fn open(&self, ctx: &mut Ctx<'_>) {
        for endpoint in 0..ctx.setup.endpoints {
            let life = EndpointLife::Registered;
            let endpoint = EndpointNo(endpoint);
            self.say(ctx, Node::Operator, Fact::Endpoint { endpoint, life });
        }
    }

    /// Takes one task, with what goes wrong with it.
    pub fn step(&mut self, task: Task, twist: Option<Twist>, ctx: &mut Ctx<'_>) {
        if let Some(twist) = twist {
            self.say(
                ctx,
                self.node(task.owner, ctx),
                Fact::Fault { family: twist.family(&task, ctx) },
            );
        }
        match task.step {
            Step::Publish { .. }
            | Step::PublishCommit { .. }
            | Step::FanOut { .. }
            | Step::Sweep { .. }
            | Step::Claim { .. }
            | Step::Start { .. }
            | Step::Await { .. }
            | Step::Settle { .. }
            | Step::SettleCommit { .. }
            | Step::Release { .. }
            | Step::ReleaseCommit { .. }
            | Step::Response(_) => self.send_step(task, twist, ctx),
            Step::Request(_)
            | Step::Receive { .. }
            | Step::ReceiveCommit { .. }
            | Step::Reply { .. } => {
                self.receive_step(task, twist, ctx);
            }
            Step::WorkClaim { .. }
            | Step::Work { .. }
            | Step::WorkCommit { .. }
            | Step::Fetch { .. }
            | Step::FetchCommit { .. }
            | Step::Fail { .. }
            | Step::FailCommit { .. }
            | Step::SendAlert { .. } => self.work_step(task, twist, ctx),
            Step::PurgeCommit { row, now } => self.purge_commit(&row, now, ctx),
            Step::Restart { process } => self.restart(process, ctx),
        }
    }

    /// The database of a side.
    pub fn db(&self, side: Side) -> &Db {
        &self.dbs[side as usize]
    }

    pub(crate) fn db_mut(&mut self, side: Side) -> &mut Db {
        &mut self.dbs[side as usize]
    }

    /// The time on a database's clock.
    pub fn db_now(&self, side: Side) -> Millis {
        self.db(side).now(self.now)
    }

    /// The side that a process works for.
    pub fn side(process: ProcessNo, setup: &Setup) -> Side {
        if process < setup.relays { Side::Sender } else { Side::Receiver }
    }

    /// Where the lines of a process are written from.
    pub fn node(&self, process: ProcessNo, ctx: &Ctx<'_>) -> Node {
        let setup = ctx.setup;
        let ingress = setup.relays;
        let worker = ingress + setup.ingresses;
        let effect = worker + setup.workers;
        match process {
            NOBODY => Node::Network,
            n if n < ingress => Node::Relay(n),
            n if n < worker => Node::Ingress(n - ingress),
            n if n < effect => Node::Worker(n - worker),
            n => Node::EffectRelay(n - effect),
        }
    }

    pub(crate) fn say(&self, ctx: &mut Ctx<'_>, by: Node, fact: Fact) {
        ctx.lines.push(Line { at: self.now, by, fact });
    }

    /// Appoints the next step of a process, after at most `lag_ms`.
    pub(crate) fn then(&mut self, owner: ProcessNo, lag_ms: u64, step: Step, ctx: &Ctx<'_>) {
        self.again(owner, lag_ms, 0, step, ctx);
    }

    /// [`World::then`] for a step that was tried before.
    pub(crate) fn again(
        &mut self,
        owner: ProcessNo,
        lag_ms: u64,
        tries: u8,
        step: Step,
        ctx: &Ctx<'_>,
    ) {
        let at = self.now + ctx.dice.below(site(&step, tries), lag_ms + 1);
        self.tasks.push(Task { at, owner, tries, step });
    }

    /// Runs a plan's transaction and writes down what it made true, whoever learns of it. `note`
    /// gives the lines for what the plan says of itself.
    pub(crate) fn commit<T>(
        &mut self,
        side: Side,
        by: Node,
        plan: Plan<T>,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
        note: impl FnOnce(&T, &Db) -> [Option<Fact>; 2],
    ) -> Result<T, Uncommitted> {
        let mut woken = Vec::new();
        let then = plan.commit(|writes| self.transact(side, by, writes, twist, &mut woken, ctx))?;
        for fact in note(&then, self.db(side)).into_iter().flatten() {
            self.say(ctx, by, fact);
        }
        for fact in woken {
            self.say(ctx, by, fact);
        }
        if twist == Some(Twist::AnswerLost) {
            self.say(ctx, by, Fact::CommitUnknown);
            return Err(Uncommitted::Unknown);
        }
        Ok(then)
    }

    fn transact(
        &mut self,
        side: Side,
        by: Node,
        writes: &[Write],
        twist: Option<Twist>,
        woken: &mut Vec<Fact>,
        ctx: &mut Ctx<'_>,
    ) -> Outcome {
        let outcome = self.gives_up(side, twist, writes.is_empty()).unwrap_or_else(|| {
            let now = self.db_now(side);
            let rogue = ctx.rogue;
            let tampered = rogue.and_then(|rogue| rogue.tampers(writes, self.db(side), now, ctx));
            let writes = tampered.as_deref().unwrap_or(writes);
            let was = self.entity_before(writes);
            let disabled = self.disabled_by(side, by, writes);
            if rogue == Some(Rogue::RelaxedDurability) && side == Side::Receiver {
                self.lag_behind(side, ctx);
            }
            woken.extend(self.wakes(writes, rogue));
            let outcome = self.db_mut(side).commit(writes, now, rogue);
            if outcome == Outcome::Committed {
                self.record(by, writes, was, ctx);
                if let Some(endpoint) = disabled {
                    let life = EndpointLife::Disabled;
                    self.say(ctx, by, Fact::Endpoint { endpoint, life });
                }
                self.kick();
            }
            outcome
        });
        match outcome {
            Outcome::Committed => {}
            Outcome::Conflict => self.say(ctx, by, Fact::Conflicted),
            Outcome::RolledBack | Outcome::Unknown => self.say(ctx, by, Fact::RolledBackByDatabase),
        }
        outcome
    }

    /// What a store keeps that commits before the disk has it: now and then the disk catches up.
    fn lag_behind(&mut self, side: Side, ctx: &Ctx<'_>) {
        let site = Site::new(0x83, self.now.0 as u32, side as u32, 0);
        if self.durable[side as usize].is_none() || ctx.dice.below(site, 4) == 0 {
            self.durable[side as usize] = Some(Box::new(self.db(side).clone()));
        }
    }

    fn gives_up(&self, side: Side, twist: Option<Twist>, reads_only: bool) -> Option<Outcome> {
        if !self.reachable(side) || (!self.db(side).writable && !reads_only) {
            return Some(Outcome::RolledBack);
        }
        match twist {
            Some(Twist::Serialization) => Some(Outcome::Conflict),
            Some(Twist::CommitFails) => Some(Outcome::RolledBack),
            _ => None,
        }
    }

    /// Whether a side's database answers a process.
    pub(crate) fn reachable(&self, side: Side) -> bool {
        self.db(side).up && self.pool_free[side as usize]
    }

    /// The entity that a transaction changes, as it was.
    fn entity_before(&self, writes: &[Write]) -> Option<Entity> {
        writes.iter().find_map(|write| match write {
            Write::Entity(put) => Some(self.db(Side::Receiver).entities[index(put.row.id)]),
            _ => None,
        })
    }

    /// The endpoint that a transaction of a relay disables.
    fn disabled_by(&self, side: Side, by: Node, writes: &[Write]) -> Option<EndpointNo> {
        writes.iter().find_map(|write| match write {
            Write::Endpoint(put) if by != Node::Operator => {
                let was = self.db(side).endpoints[index(put.row.id)].life;
                let turned = was != put.row.life && put.row.life == Life::Disabled;
                (turned && side == Side::Sender).then_some(EndpointNo(put.row.id.0 as u32))
            }
            _ => None,
        })
    }

    /// The sleepers that a transaction's wakes will reach.
    fn wakes(&self, writes: &[Write], rogue: Option<Rogue>) -> impl Iterator<Item = Fact> {
        let db = self.db(Side::Receiver);
        let now = self.db_now(Side::Receiver);
        writes
            .iter()
            .filter(move |write| !rogue.is_some_and(|rogue| rogue.drops(write)))
            .filter_map(|write| match write {
                Write::Wake { entity } => Some(*entity),
                _ => None,
            })
            .flat_map(move |entity| db.sleepers(entity, now).map(move |id| (entity, id)))
            .map(|(entity, id)| Fact::Woken {
                receipt: ReceiptNo(id.0 as u32),
                entity: EntityNo(entity.0 as u32),
            })
    }

    fn record(&self, by: Node, writes: &[Write], was: Option<Entity>, ctx: &mut Ctx<'_>) {
        for write in writes {
            if ctx.rogue.is_some_and(|rogue| rogue.drops(write)) {
                continue;
            }
            match write {
                Write::Entity(put) => self.record_move(by, &put.row, was, ctx),
                Write::Delivery(put) if put.was.is_none() => self.record_made(by, &put.row, ctx),
                Write::Alert { about, reason } => {
                    let about = self.about(*about);
                    let silent = ctx.is(Rogue::NoReason);
                    let reason = if silent { Reason::None } else { (*reason).into() };
                    self.say(ctx, by, Fact::DeadLettered { about, reason });
                    if !ctx.is(Rogue::NoAlert) {
                        self.say(ctx, by, Fact::Alerted { about });
                    }
                }
                Write::Handle { receipt, operation } => {
                    let by_receipt = Cause::Receipt(ReceiptNo(receipt.0 as u32));
                    if !ctx.handler.speaks() {
                        let operation = (*operation).into();
                        self.say(ctx, by, Fact::Effect { operation, by: by_receipt });
                        continue;
                    }
                    for operation in ctx.handler.effects().to_vec() {
                        let operation = operation.into();
                        self.say(ctx, by, Fact::Effect { operation, by: by_receipt });
                    }
                }
                _ => {}
            }
        }
    }

    fn record_move(&self, by: Node, row: &Entity, was: Option<Entity>, ctx: &mut Ctx<'_>) {
        let Some(was) = was else { return };
        if (was.state, was.version) != (row.state, row.version) {
            let entity = EntityNo(row.id.0 as u32);
            let fact = Fact::Moved { entity, from: was.state, to: row.state, version: row.version };
            self.say(ctx, by, fact);
        }
    }

    fn record_made(&self, by: Node, row: &Delivery, ctx: &mut Ctx<'_>) {
        let Subject::Event(event) = row.subject else { return };
        let delivery = row.id.0 as u32;
        let fact = Fact::FannedOut {
            event: EventNo(event.0 as u32),
            endpoint: EndpointNo(row.endpoint.0 as u32),
            delivery: DeliveryNo(delivery),
            id: DeliveryId(delivery),
        };
        self.say(ctx, by, fact);
    }

    fn about(&self, about: RowAbout) -> About {
        match about {
            RowAbout::Receipt(id) => About::Receipt(ReceiptNo(id.0 as u32)),
            RowAbout::Delivery(id) => About::Delivery(DeliveryNo(id.0 as u32)),
        }
    }

    /// A commit may have made rows due: whoever sleeps looks again.
    pub(crate) fn kick(&mut self) {
        let now = self.now;
        for process in &mut self.processes {
            process.ready = process.ready.min(now + WAKE_HINT_MS).max(process.asleep);
            process.idle = 0;
        }
    }
}

/// Where the dice are asked how long a step takes.
fn site(step: &Step, tries: u8) -> Site {
    let (purpose, a, b) = address(step);
    Site::new(LAG | purpose, a, b, u32::from(tries))
}

/// A step by what it hits: its kind, its row, and which attempt or claim of it.
pub fn address(step: &Step) -> (u8, u32, u32) {
    let of = |id: Id| id.0 as u32;
    match step {
        Step::Publish { event, call } => (0, *event, u32::from(*call)),
        Step::FanOut { event } => (1, of(event.id), event.rev),
        Step::Sweep { event } => (2, of(*event), 0),
        Step::Claim { row, .. } => (3, of(row.id), row.rev),
        Step::Start { attempt, .. } => (4, of(attempt.ticket().delivery), attempt.ticket().fence),
        Step::Await { request } => (5, of(request.ticket().delivery), request.ticket().fence),
        Step::Settle { request, .. } => (6, of(request.ticket().delivery), request.ticket().fence),
        Step::SettleCommit { request, .. } => {
            (7, of(request.ticket().delivery), request.ticket().fence)
        }
        Step::Release { attempt } => (8, of(attempt.ticket().delivery), attempt.ticket().fence),
        Step::ReleaseCommit { attempt, .. } => {
            (9, of(attempt.ticket().delivery), attempt.ticket().fence)
        }
        Step::Request(parcel) => (10, of(parcel.ticket.delivery), copy(parcel)),
        Step::Response(answer) => (11, of(answer.ticket.delivery), answer.ticket.fence),
        Step::Receive { parcel } => (12, of(parcel.ticket.delivery), copy(parcel)),
        Step::ReceiveCommit { parcel, .. } => (13, of(parcel.ticket.delivery), copy(parcel)),
        Step::Reply { parcel, .. } => (14, of(parcel.ticket.delivery), copy(parcel)),
        Step::WorkClaim { row, .. } => (15, of(row.id), row.rev),
        Step::Work { job } => (16, of(job.receipt()), job.fence()),
        Step::WorkCommit { job, .. } => (17, of(job.receipt()), job.fence()),
        Step::Fetch { job } => (18, of(job.receipt()), job.fence()),
        Step::FetchCommit { job, .. } => (19, of(job.receipt()), job.fence()),
        Step::Fail { job, .. } => (20, of(job.receipt()), job.fence()),
        Step::FailCommit { job, .. } => (21, of(job.receipt()), job.fence()),
        Step::SendAlert { alert, side } => (22, *alert, *side as u32),
        Step::Restart { process } => (23, u32::from(*process), 0),
        Step::PurgeCommit { row, .. } => (24, of(row.id), row.rev),
        Step::PublishCommit { event, call, .. } => (25, *event, u32::from(*call)),
    }
}

fn copy(parcel: &Parcel) -> u32 {
    parcel.ticket.fence * 8 + u32::from(parcel.copy)
}

/// The purpose bit of rolls about time; the rest of the purpose is the step's.
const LAG: u8 = 0x40;
/// How long after a call a publisher that did not hear of it calls again.
const REPUBLISH_MS: u64 = 700;
/// How long a hint takes to reach whoever waits for due rows.
const WAKE_HINT_MS: u64 = 20;
