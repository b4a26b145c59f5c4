//! A seeded walk through a large world: one history, judged while it is written.

use hookproof_core::{
    Id, Millis,
    endpoint::{Admission, Lane},
    outbox::Delivery,
    profile::Profile,
};

use crate::{
    dice::{Chance, Dice, Site},
    handler::{Handle, OneEffect},
    history::{Fact, Family, Line, Side},
    oracle::{Breach, Oracle},
    rogue::Rogue,
    setup::Setup,
    situation::{Met, Situation},
    world::{
        Ctx, NOBODY, ProcessNo, STALLED, Step, Task, Twist, World, crash_family, db::Db, place,
    },
};

/// How one walk ended.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The promise that it broke, and at which line.
    pub breach: Option<Breach>,
    /// Whether it came to its end: all timers have run out.
    pub ended: bool,
    /// How much time passed in it.
    pub simulated_ms: u64,
    /// Where its steps end: how many lines there were after each that wrote some.
    pub cuts: Vec<usize>,
    /// The deeds, by their place in the run, that changed nothing. Told of a script alone.
    pub idle: Vec<usize>,
    /// The situations that faults met.
    pub met: Vec<Situation>,
}

/// Walks one run to its end, or to the first broken promise. The history is left in `lines`.
pub fn walk(
    setup: &Setup,
    rogue: Option<Rogue>,
    oracle: &mut Oracle<'_>,
    lines: &mut Vec<Line>,
) -> Walk {
    walk_with(setup, rogue, &mut OneEffect, oracle, lines)
}

/// [`walk`] with the application's own handler.
pub fn walk_with(
    setup: &Setup,
    rogue: Option<Rogue>,
    handler: &mut dyn Handle,
    oracle: &mut Oracle<'_>,
    lines: &mut Vec<Line>,
) -> Walk {
    walk_by(setup, rogue, Chance::Seed(Dice::new(setup.seed)), handler, oracle, lines, None)
}

/// [`walk_with`], decided by something else than the seed of the run, and looked at after each step that
/// wrote a line.
pub fn walk_by(
    setup: &Setup,
    rogue: Option<Rogue>,
    chance: Chance<'_>,
    handler: &mut dyn Handle,
    oracle: &mut Oracle<'_>,
    lines: &mut Vec<Line>,
    watch: Option<Watch<'_>>,
) -> Walk {
    lines.clear();
    let wrong = rogue.and_then(|rogue| rogue.misconfigures(&setup.terms.profile));
    let profile = wrong.as_ref().unwrap_or(&setup.terms.profile);
    let wrong_inbox = rogue.and_then(|rogue| rogue.misconfigures_inbox(&setup.terms.inbox));
    let inbox = wrong_inbox.as_ref().unwrap_or(&setup.terms.inbox);
    let mut ctx = Ctx { setup, profile, inbox, rogue, chance, lines, handler };
    let rows = setup.deliveries() as usize;
    let looked = [setup.events.len(), rows, rows, rows].map(|rows| vec![0; rows]);
    let done = vec![false; setup.deeds.len()];
    let mut walker = Walker {
        world: World::new(setup, chance),
        judged: 0,
        deed: 0,
        done,
        looks: 0,
        looked,
        alerted: 0,
        cuts: Vec::new(),
        idle: Vec::new(),
        met: Vec::new(),
        watch,
    };
    let breach = walker.run(&mut ctx, oracle).err();
    let ended = ctx.lines.last().is_some_and(|line| line.fact == Fact::Ended);
    let Walker { world, cuts, idle, met, .. } = walker;
    Walk { breach, ended, simulated_ms: world.now.0, cuts, idle, met }
}

/// Sees the world after each step that wrote a line, and the lines so far.
pub type Watch<'a> = &'a mut dyn FnMut(&World, &[Line]);

struct Walker<'a> {
    world: World,
    /// How many lines the oracle has seen.
    judged: usize,
    /// The next deed.
    deed: usize,
    /// Which deeds people did earlier than appointed.
    done: Vec<bool>,
    /// Looks so far, which names each one for the dice.
    looks: u32,
    /// Looks at each event, delivery, effect and receipt, which names each claim for the dice.
    looked: [Vec<u8>; 4],
    /// Looks at alerts.
    alerted: u8,
    cuts: Vec<usize>,
    idle: Vec<usize>,
    met: Vec<Situation>,
    watch: Option<Watch<'a>>,
}

/// What happens next.
enum Next {
    Deed,
    Quiet,
    Task(usize),
    Look(ProcessNo),
}

impl Walker<'_> {
    fn run(&mut self, ctx: &mut Ctx<'_>, oracle: &mut Oracle<'_>) -> Result<(), Breach> {
        self.world.open(ctx);
        self.judge(ctx, oracle)?;
        for _ in 0..STEPS_MAX {
            let Some((at, next)) = self.next(ctx) else { break };
            self.world.now = self.world.now.max(at);
            match next {
                Next::Deed => {
                    let deed = self.deed;
                    self.deed += 1;
                    while self.done.get(self.deed) == Some(&true) {
                        self.deed += 1;
                    }
                    self.act(deed, ctx);
                }
                Next::Quiet => self.world.quiet(ctx),
                Next::Task(task) => self.task(task, ctx),
                Next::Look(process) => self.look(process, ctx),
            }
            self.judge(ctx, oracle)?;
        }
        self.world.close(ctx);
        self.judge(ctx, oracle)
    }

    fn act(&mut self, deed: usize, ctx: &mut Ctx<'_>) {
        let told = matches!(ctx.chance, Chance::Told(..));
        let before = told.then(|| (self.world.clone(), ctx.lines.len()));
        self.world.act(ctx.setup.deeds[deed].1, ctx);
        if before.is_some_and(|before| before.0 == self.world && before.1 == ctx.lines.len()) {
            self.idle.push(deed);
        }
    }

    fn judge(&mut self, ctx: &Ctx<'_>, oracle: &mut Oracle<'_>) -> Result<(), Breach> {
        if ctx.lines.len() > self.judged {
            self.cuts.push(ctx.lines.len());
            if let Some(watch) = &mut self.watch {
                watch(&self.world, ctx.lines);
            }
        }
        while let Some(line) = ctx.lines.get(self.judged) {
            self.judged += 1;
            oracle.observe(line)?;
        }
        Ok(())
    }

    /// The earliest of what is appointed; `None` once nothing is.
    fn next(&self, ctx: &Ctx<'_>) -> Option<(Millis, Next)> {
        let mut best: Option<(Millis, Next)> = None;
        let mut offer = |at: Millis, next: Next| {
            if best.as_ref().is_none_or(|(first, _)| at < *first) {
                best = Some((at, next));
            }
        };
        if let Some((at, _)) = ctx.setup.deeds.get(self.deed) {
            offer(*at, Next::Deed);
        }
        if !self.world.quiet {
            offer(ctx.setup.quiet, Next::Quiet);
        }
        let earliest = (0..).zip(&self.world.tasks).min_by_key(|(_, task)| task.at);
        if let Some((at, task)) = earliest {
            offer(task.at, Next::Task(at));
        }
        let over =
            self.world.quiet && self.world.tasks.is_empty() && self.deed == ctx.setup.deeds.len();
        let wakes = self.wakes();
        for (process, row) in (0..).zip(&self.world.processes) {
            if let Some(wake) = wakes[kind(process, ctx.setup) as usize].filter(|_| row.up) {
                // What is due now and taken by nobody waits for a person.
                if over && row.idle > IDLE_IN_VAIN && self.opening(process, ctx).is_none() {
                    continue;
                }
                offer(wake.max(row.ready), Next::Look(process));
            }
        }
        best
    }

    /// When something becomes due for each kind of process, in true time.
    fn wakes(&self) -> [Option<Millis>; 4] {
        let [sender, receiver] = &self.world.dbs;
        let delivery = sender.next_delivery();
        let event = sender.next_event();
        let relay = match (delivery, event) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let alert = |db: &Db| db.next_alert().map(|_| Millis(0));
        [
            alert(sender).or(relay.map(|wake| sender.true_time(wake))),
            None,
            alert(receiver).or(receiver.next_receipt().map(|wake| receiver.true_time(wake))),
            receiver.next_delivery().map(|wake| receiver.true_time(wake)),
        ]
    }

    fn task(&mut self, at: usize, ctx: &mut Ctx<'_>) {
        let task = self.world.tasks.swap_remove(at);
        if self.world.quiet {
            return self.world.step(task, None, ctx);
        }
        if self.dies_before(&task, ctx) || self.stalls(&task, ctx) || self.waits(&task, ctx) {
            return;
        }
        let twist = Self::twist(&task, ctx).filter(|twist| {
            *twist != Twist::TakenId || self.world.taken_id(&task.step, ctx).is_some()
        });
        self.met.extend(twist.map(|twist| Situation::of(&task, Met::Twist(twist), ctx.setup)));
        self.world.step(task, twist, ctx);
    }

    /// A process may die at any boundary, with this task and all its others.
    fn dies_before(&mut self, task: &Task, ctx: &mut Ctx<'_>) -> bool {
        if task.owner == NOBODY || !self.world.processes[usize::from(task.owner)].up {
            return false;
        }
        let family = crash_family(task.owner, ctx.setup);
        let hit = ctx.chance.hits(site(DIES, task, ctx), ctx.setup.odds.of(family));
        if hit {
            self.fault(task, family, ctx);
            self.met.push(Situation::of(task, Met::Crash, ctx.setup));
            self.world.crash(task.owner, ctx);
        }
        hit
    }

    /// A worker may stand still for longer than its lease, and then go on as if nothing were.
    fn stalls(&mut self, task: &Task, ctx: &mut Ctx<'_>) -> bool {
        if task.owner == NOBODY || task.tries >= STALLED {
            return false;
        }
        let site = site(STALLS, task, ctx);
        let hit = ctx.chance.hits(site, ctx.setup.odds.of(Family::Stall));
        if hit {
            self.fault(task, Family::Stall, ctx);
            self.met.push(Situation::of(task, Met::Stall, ctx.setup));
            let longest = ctx.setup.terms.profile.lease_ms() * 8;
            let at = self.world.now + STALL_MIN_MS + ctx.chance.below(site, longest);
            let stalled = Task { at, tries: task.tries | STALLED, ..*task };
            self.world.tasks.push(stalled);
        }
        hit
    }

    /// A person may act at any time; now and then it is while a transaction about the same row is
    /// open, which then takes a little longer.
    fn waits(&mut self, task: &Task, ctx: &mut Ctx<'_>) -> bool {
        let setup = ctx.setup;
        let Some(next) = (self.deed..setup.deeds.len()).find(|&no| {
            let (at, deed) = setup.deeds[no];
            at < setup.quiet
                && !self.done[no]
                && self.world.meets(
                    deed,
                    &task.step,
                    ctx.chance.below(Site::new(MEETS, no as u32, 0, 0), 4),
                    ctx.profile,
                )
                && ctx.chance.below(Site::new(MEETS, no as u32, self.world.now.0 as u32, 0), 4) == 0
        }) else {
            return false;
        };
        self.done[next] = true;
        while self.done.get(self.deed) == Some(&true) {
            self.deed += 1;
        }
        self.act(next, ctx);
        let longer_ms = ctx.chance.below(site(MEETS, task, ctx), 2 * setup.lags.disk_ms + 1);
        self.world.tasks.push(Task { at: self.world.now + longer_ms, ..*task });
        true
    }

    fn twist(task: &Task, ctx: &Ctx<'_>) -> Option<Twist> {
        (0..).zip(Twist::of(&task.step, ctx.setup)).find_map(|(n, &twist)| {
            // What was late once arrives the second time.
            let once = matches!(
                twist,
                Twist::Delay
                    | Twist::Hang
                    | Twist::Duplicate
                    | Twist::Forge
                    | Twist::Tamper
                    | Twist::Replay
                    | Twist::ReplayLate
                    | Twist::Relabel
            );
            if once && task.tries > 0 {
                return None;
            }
            let odds = ctx.setup.odds.of(twist.family_at(task, ctx.setup));
            let site = site(TWISTS + n, task, ctx);
            ctx.chance.hits(site, odds).then(|| match twist {
                Twist::Refuse(_) => Twist::Refuse(refusal(ctx.chance.roll(site))),
                twist => twist,
            })
        })
    }

    fn fault(&self, task: &Task, family: Family, ctx: &mut Ctx<'_>) {
        let by = self.world.node(task.owner, ctx);
        ctx.lines.push(Line { at: self.world.now, by, fact: Fact::Fault { family } });
    }

    /// A process looks for due rows and takes one, whichever the dice say: a store promises no order.
    fn look(&mut self, process: ProcessNo, ctx: &mut Ctx<'_>) {
        self.looks += 1;
        let found = match kind(process, ctx.setup) {
            Kind::Relay => self.look_at_outbox(process, Side::Sender, ctx),
            Kind::EffectRelay => self.look_at_outbox(process, Side::Receiver, ctx),
            Kind::Worker => self.look_at_inbox(process, ctx),
            Kind::Ingress => false,
        };
        let ready = if found { self.world.now + GAP_MS } else { self.asleep(process, ctx) };
        let row = &mut self.world.processes[usize::from(process)];
        row.idle = if found { 0 } else { (row.idle + 1).min(IDLE_MAX) };
        row.ready = ready;
    }

    /// Until when a process sleeps that found nothing it may take. A real one polls; this one looks
    /// when a poll could find what the last one did not: a row that becomes due, a slot whose lease
    /// runs out, a rate that opens. A commit or a deed wakes it.
    fn asleep(&self, process: ProcessNo, ctx: &Ctx<'_>) -> Millis {
        let row = self.world.processes[usize::from(process)];
        let poll = self.world.now + ctx.setup.terms.poll_ms;
        let long = self.world.now + (ctx.setup.terms.poll_ms << row.idle);
        self.opening(process, ctx).map_or(long, |opening| long.min(opening).max(poll))
    }

    fn opening(&self, process: ProcessNo, ctx: &Ctx<'_>) -> Option<Millis> {
        let db = self.world.db(World::side(process, ctx.setup));
        let opening = db.next_opening(db.now(self.world.now), ctx.profile)?;
        Some(db.true_time(opening))
    }

    fn look_at_outbox(&mut self, process: ProcessNo, side: Side, ctx: &mut Ctx<'_>) -> bool {
        if !self.world.reachable(side) {
            return false;
        }
        if side == Side::Sender && self.look_at_alerts(process, side, ctx) {
            return true;
        }
        let now = self.world.db_now(side);
        if side == Side::Sender
            && let Some(event) = self.due_event(now, ctx)
        {
            let tries = self.tries(EVENT, event);
            self.world.cursor = self.world.cursor.max(event.0 as u32 + 1);
            self.world.look_at_event(process, event, tries, ctx);
            return true;
        }
        let Some(id) = self.due_delivery(process, side, now, ctx) else { return false };
        let tries = self.tries(DELIVERY + side as usize, id);
        self.world.look_at_delivery(process, id, tries, ctx);
        true
    }

    fn due_delivery(
        &self,
        process: ProcessNo,
        side: Side,
        now: Millis,
        ctx: &Ctx<'_>,
    ) -> Option<Id> {
        let db = self.world.db(side);
        if ctx.rogue.is_some_and(Rogue::takes_the_oldest) {
            return db.oldest_unsent(now);
        }
        let profile = ctx.profile;
        let unlimited = ctx.is(Rogue::NoLimitAfterOutage);
        let shut = if unlimited { 0 } else { shut_lanes(db, now, profile) };
        let open = |row: &&Delivery| {
            (row.is_used_up(profile) || shut & (1 << row.endpoint.0) == 0)
                && !self.skips(row.id, ctx, |step| match step {
                    Step::Claim { row: held, .. } => held.endpoint == row.endpoint,
                    Step::SettleCommit { row: held, .. } => held.id == row.id,
                    _ => false,
                })
        };
        self.pick(process, db.due_deliveries(now).filter(open).map(|row| row.id), ctx)
    }

    fn due_event(&self, now: Millis, ctx: &Ctx<'_>) -> Option<Id> {
        let due = self.world.db(Side::Sender).due_events(now).filter(|event| {
            let held =
                |step: &Step| matches!(step, Step::FanOut { event: held } if held.id == event.id);
            !self.skips(event.id, ctx, held)
        });
        match ctx.rogue {
            Some(Rogue::PollsByCursor) => {
                due.map(|event| event.id).find(|id| id.0 as u32 >= self.world.cursor)
            }
            _ => due.map(|event| event.id).next(),
        }
    }

    fn look_at_inbox(&mut self, process: ProcessNo, ctx: &mut Ctx<'_>) -> bool {
        if !self.world.reachable(Side::Receiver) {
            return false;
        }
        if self.look_at_alerts(process, Side::Receiver, ctx) {
            return true;
        }
        let now = self.world.db_now(Side::Receiver);
        let db = self.world.db(Side::Receiver);
        let free = |id: &Id| {
            !self.skips(*id, ctx, |step| match step {
                Step::WorkClaim { row, .. }
                | Step::WorkCommit { row, .. }
                | Step::FailCommit { row, .. } => row.id == *id,
                _ => false,
            })
        };
        let picked = if ctx.is(Rogue::PoisonBlocksQueue) {
            db.oldest_unfinished(now)
        } else {
            self.pick(process, db.due_receipts(now).map(|row| row.id).filter(free), ctx)
        };
        let Some(id) = picked else { return false };
        let tries = self.tries(RECEIPT, id);
        self.world.look_at_receipt(process, id, tries, ctx);
        true
    }

    fn look_at_alerts(&mut self, process: ProcessNo, side: Side, ctx: &mut Ctx<'_>) -> bool {
        let Some(alert) = self.world.db(side).next_alert() else { return false };
        let alert = alert as u32;
        let held = |task: &Task| task.step == Step::SendAlert { alert, side };
        if self.world.tasks.iter().any(held) {
            return false;
        }
        self.alerted = (self.alerted + 1) % STALLED;
        let step = Step::SendAlert { alert, side };
        self.world.again(process, ctx.setup.lags.disk_ms, self.alerted, step, ctx);
        true
    }

    fn tries(&mut self, table: usize, id: Id) -> u8 {
        let tries = &mut self.looked[table][id.0 as usize];
        *tries = (*tries + 1) % STALLED;
        *tries
    }

    /// Whether a look passes over a row because a transaction holds it. Now and then two look at one
    /// row before either has locked it.
    fn skips(&self, id: Id, ctx: &Ctx<'_>, holds: impl Fn(&Step) -> bool) -> bool {
        let site = Site::new(SKIPS, self.looks, id.0 as u32, 0);
        // A transaction that stands still has lost its locks: databases end those that idle.
        let held = |task: &Task| task.tries & STALLED == 0 && holds(&task.step);
        self.world.tasks.iter().any(held) && ctx.chance.below(site, RACES) != 0
    }

    /// One of the rows that no task of this process is about already.
    fn pick(&self, process: ProcessNo, due: impl Iterator<Item = Id>, ctx: &Ctx<'_>) -> Option<Id> {
        let mut picked = None;
        for (n, id) in (1..).zip(due.take(LOOK_MAX)) {
            let site = Site::new(PICKS, self.looks, u32::from(process), n as u32);
            if ctx.chance.below(site, n) == 0 {
                picked = Some(id);
            }
        }
        picked
    }
}

/// Where the dice are asked what becomes of a task.
fn site(purpose: u8, task: &Task, ctx: &Ctx<'_>) -> Site {
    let (step, a, b) = place(&task.step, task.owner, ctx.setup);
    Site::new(purpose, a, b, u32::from(step) << 8 | u32::from(task.tries))
}

/// The endpoints that take nothing now, as a set.
fn shut_lanes(db: &Db, now: Millis, profile: &Profile) -> u64 {
    let shut = db.endpoints.iter().filter(|endpoint| {
        let lane = Lane { endpoint: **endpoint, in_flight: db.in_flight(endpoint.id, now) };
        lane.admit(now, profile) == Admission::Shut
    });
    shut.fold(0, |set, endpoint| set | 1 << endpoint.id.0)
}

/// The kinds of processes that look for due rows.
#[derive(Clone, Copy)]
enum Kind {
    Relay,
    Ingress,
    Worker,
    EffectRelay,
}

fn kind(process: ProcessNo, setup: &Setup) -> Kind {
    match process {
        n if n < setup.relays => Kind::Relay,
        n if n < setup.relays + setup.ingresses => Kind::Ingress,
        n if n < setup.relays + setup.ingresses + setup.workers => Kind::Worker,
        _ => Kind::EffectRelay,
    }
}

fn refusal(roll: u64) -> u16 {
    REFUSALS[(roll % REFUSALS.len() as u64) as usize]
}

/// The longest walk, in steps; a longer one is a livelock, and is left without its end.
const STEPS_MAX: u32 = 200_000;
/// How long between two looks of a process that finds something.
const GAP_MS: u64 = 3;
/// How often a process looks in vain before what is due counts as waiting for a person.
const IDLE_IN_VAIN: u8 = 8;
/// How often a sleep doubles at most.
const IDLE_MAX: u8 = 14;
/// How many due rows a look considers.
const LOOK_MAX: usize = 16;
/// One look in this many races a transaction that is about to lock the row.
const RACES: u64 = 10;
const EVENT: usize = 0;
const DELIVERY: usize = 1;
const RECEIPT: usize = 3;
/// What a receiver refuses with.
pub(crate) const REFUSALS: [u16; 8] = [500, 503, 429, 400, 404, 410, 302, 401];
/// How long a worker stands still at least.
pub(crate) const STALL_MIN_MS: u64 = 1_000;
/// What the walk decides, each at addresses of its own.
pub(crate) const DIES: u8 = 0xa0;
pub(crate) const STALLS: u8 = 0xa1;
pub(crate) const PICKS: u8 = 0xa2;
pub(crate) const SKIPS: u8 = 0xa3;
pub(crate) const MEETS: u8 = 0xa4;
pub(crate) const TWISTS: u8 = 0xb0;
