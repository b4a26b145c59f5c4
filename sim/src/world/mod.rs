//! The world as one value: two databases, the processes between them, and all work in flight.
//!
//! Work in flight is data. A [`Task`] is what a process will do next, and between any two tasks lies
//! an I/O boundary: forgetting the tasks of a process is its crash, at whichever boundary it stood.
//! The rows that a decision was made on travel in its task, so a decision is always as old as its
//! load, and whoever committed in between makes it conflict.

mod commit;
pub mod db;
mod faults;
mod operate;
mod own;
pub mod pack;
mod people;
mod publish;
mod receive;
pub mod seal;
mod send;
mod task;
mod work;

use hookproof_core::{
    Millis,
    model::State,
    profile::{InboxPolicy, Profile},
    work::Fetched,
};

use crate::{
    dice::{Chance, Site},
    handler::Handle,
    history::{EndpointLife, EndpointNo, Fact, Line, Node, SecretLife, Side},
    rogue::Rogue,
    setup::Setup,
};
use db::Db;
pub use faults::{CALLS, COPIES, KINDS, Kind, crash as crash_family};
pub use own::SILENT;
use seal::{Ring, Target};
use task::site;
pub use task::{Answer, EFFECT, LAG, Parcel, STALLED, Step, Task, Twist, address, place};

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
    /// The secrets of each endpoint.
    pub rings: Vec<Ring>,
    /// What the addresses of each endpoint's host are.
    pub targets: Vec<Target>,
    /// How far the clocks of the ingresses are ahead of true time.
    pub ingress_ahead_ms: i64,
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
    rings,
    targets,
    ingress_ahead_ms,
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

/// What a step may look at besides the world.
pub struct Ctx<'a> {
    /// The run.
    pub setup: &'a Setup,
    /// The sender's choices as it runs them; a wrong one runs others than it declares.
    pub profile: &'a Profile,
    /// The receiver's, likewise.
    pub inbox: &'a InboxPolicy,
    /// The wrong line, if one is switched on.
    pub rogue: Option<Rogue>,
    /// What decides where several things can happen.
    pub chance: Chance<'a>,
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
    pub fn new(setup: &Setup, chance: Chance<'_>) -> Self {
        let (events, deliveries) = (setup.events.len(), setup.deliveries() as usize);
        let entities = setup.terms.model_of.len();
        let process =
            Process { up: true, ready: Millis(0), asleep: Millis(0), idle: 0, version: 1 };
        let unknown = Fetched { state: State(0), version: 0 };
        let mut world = Self {
            now: Millis(0),
            dbs: [
                Db::new(events, deliveries, 0, setup.endpoints as usize, 0),
                Db::new(0, deliveries, deliveries, 1, entities),
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
            rings: vec![Ring::FIRST; setup.endpoints as usize],
            targets: vec![Target::Public; setup.endpoints as usize],
            ingress_ahead_ms: 0,
            quiet: false,
        };
        for (event, planned) in (0..).zip(&setup.events) {
            for call in 0..planned.calls {
                let at = planned.at + planned.takes_ms + u64::from(call) * apart_ms(chance, event);
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
            let life = SecretLife::Made;
            self.say(ctx, Node::Operator, Fact::Secret { endpoint, secret: 0, life });
            self.greet(endpoint.0, ctx);
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
            | Step::SweepCommit { .. }
            | Step::Claim { .. }
            | Step::Start { .. }
            | Step::Await { .. }
            | Step::Settle { .. }
            | Step::SettleCommit { .. }
            | Step::Release { .. }
            | Step::ReleaseCommit { .. }
            | Step::Response(_) => self.send_step(&task, twist, ctx),
            Step::Request(_)
            | Step::Receive { .. }
            | Step::ReceiveCommit { .. }
            | Step::Reply { .. } => {
                self.receive_step(&task, twist, ctx);
            }
            Step::WorkClaim { .. }
            | Step::Work { .. }
            | Step::WorkCommit { .. }
            | Step::Fetch { .. }
            | Step::FetchCommit { .. }
            | Step::Fail { .. }
            | Step::FailCommit { .. }
            | Step::SendAlert { .. } => self.work_step(&task, twist, ctx),
            Step::PurgeCommit { .. }
            | Step::ResendCommit { .. }
            | Step::ReplayCommit { .. }
            | Step::CancelCommit { .. }
            | Step::TurnCommit { .. } => self.people_step(&task, ctx),
            Step::Restart { process } => self.restart(process, ctx),
            Step::Secret { endpoint, turn } => self.turn_secret(endpoint, turn, ctx),
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
        let at = self.now + ctx.chance.below(site(&step, owner, tries, ctx), lag_ms + 1);
        self.tasks.push(Task { at, owner, tries, step });
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

/// How long after a call a publisher calls again: that did not hear of it, or that is two at once.
fn apart_ms(chance: Chance<'_>, event: u32) -> u64 {
    let at_once = chance.below(Site::new(0x86, event, 0, 0), 3) == 0;
    if at_once { 1 } else { REPUBLISH_MS }
}

/// How long after a call a publisher that did not hear of it calls again.
const REPUBLISH_MS: u64 = 700;
/// How long a hint takes to reach whoever waits for due rows.
const WAKE_HINT_MS: u64 = 20;
