//! A state of the exploration, and what happens to it.

use hookproof_core::Millis;

use super::{Action, Budget, Row, Run};
use crate::{
    dice::{Chance, Dice},
    history::{Fact, Family, Line, Node, Side},
    oracle::{Breach, Oracle},
    rogue::Rogue,
    world::{
        Ctx, NOBODY, Step, Task, World, crash_family,
        pack::{Packer, Sight},
    },
};

/// A state: the world, what the oracle remembers, and what may still go wrong.
pub(super) struct State<'t> {
    pub(super) world: World,
    pub(super) oracle: Oracle<'t>,
    pub(super) left: Left,
    /// The tasks that differ, in the order of the key. Known once the state was packed.
    pub(super) order: Vec<u32>,
}

/// The order is for whoever packs the copy.
impl Clone for State<'_> {
    fn clone(&self) -> Self {
        Self {
            world: self.world.clone(),
            oracle: self.oracle.clone(),
            left: self.left,
            order: Vec::new(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.world.clone_from(&source.world);
        self.oracle.clone_from(&source.oracle);
        self.left = source.left;
    }
}

/// What is left of what may go wrong and of what people may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) budget: Budget,
    /// The deeds that are still offered, as a set.
    pub(super) deeds: u8,
}

impl<'t> State<'t> {
    /// The state in which an exploration begins.
    pub(super) fn first(run: &Run<'t>, lines: &mut Vec<Line>) -> Self {
        lines.clear();
        let deeds = ((1_u16 << run.small.deeds.len()) - 1) as u8;
        let left = Left { budget: run.small.budget, deeds };
        let (world, oracle) = (
            World::new(run.setup(), Chance::Seed(Dice::new(run.setup().seed))),
            Oracle::new(run.terms()),
        );
        let mut state = Self { world, oracle, left, order: Vec::new() };
        run.with(lines, |ctx| state.world.open(ctx));
        state.reduce(run, lines);
        state
    }

    /// Does one thing, and what follows from it at once. Its lines are left in `lines`.
    pub(super) fn take(&mut self, action: Action, run: &Run<'_>, lines: &mut Vec<Line>) {
        lines.clear();
        match action {
            Action::Step { task, twist } => {
                let task = self.world.tasks.swap_remove(task as usize);
                if let Some(twist) = twist {
                    self.left.budget.spend(twist);
                }
                run.with(lines, |ctx| self.world.step(task, twist, ctx));
            }
            Action::Crash { process } => {
                self.left.budget.crashes -= 1;
                run.with(lines, |ctx| {
                    let family = crash_family(process, ctx.setup);
                    say(&self.world, process, Fact::Fault { family }, ctx);
                    self.world.crash(process, ctx);
                });
            }
            Action::Look { process, row } => run.with(lines, |ctx| match row {
                Row::Event(id) => self.world.look_at_event(process, id, 0, ctx),
                Row::Delivery(id) => self.world.look_at_delivery(process, id, 0, ctx),
                Row::Receipt(id) => self.world.look_at_receipt(process, id, 0, ctx),
            }),
            Action::Act { deed } => {
                self.left.deeds &= !(1 << deed);
                let deed = run.small.deeds[usize::from(deed)];
                run.with(lines, |ctx| self.world.act(deed, ctx));
            }
            Action::Tick => self.tick(run, lines),
        }
        self.reduce(run, lines);
    }

    fn tick(&mut self, run: &Run<'_>, lines: &mut Vec<Line>) {
        if self.is_at_work() {
            self.left.budget.stalls -= 1;
            run.with(lines, |ctx| self.say_stalls(ctx));
        }
        if let Some(instant) = self.next_instant() {
            self.world.now = instant;
        }
    }

    /// Whoever has something under way stands still with it; a message on its way is late.
    fn say_stalls(&self, ctx: &mut Ctx<'_>) {
        let works = |process| {
            self.world.tasks.iter().any(|task| task.owner == process && !self.waits(task))
        };
        for process in 0..ctx.setup.processes() {
            if works(process) {
                say(&self.world, process, Fact::Fault { family: Family::Stall }, ctx);
            }
        }
        if works(NOBODY) {
            say(&self.world, NOBODY, Fact::Fault { family: Family::Delay }, ctx);
        }
    }

    /// The next instant at which something becomes due.
    pub(super) fn next_instant(&self) -> Option<Millis> {
        let now = self.world.now;
        let wakes = [Side::Sender, Side::Receiver].into_iter().filter_map(|side| {
            let db = self.world.db(side);
            [db.next_opening(db.now(now), &self.oracle.terms().profile)]
                .into_iter()
                .flatten()
                .map(|at| db.true_time(at))
                .min()
        });
        let deadlines = self.world.tasks.iter().filter(|task| self.waits(task)).map(|task| task.at);
        wakes.chain(deadlines).min()
    }

    /// Lets the oracle judge what happened. A breach comes with how many lines led to it; one more than
    /// there are where it is in what the last commit left out, which the next line shows, whatever it is.
    pub(super) fn judge(&mut self, lines: &[Line]) -> Result<(), (usize, Breach)> {
        for (at, line) in lines.iter().enumerate() {
            self.oracle.observe(line).map_err(|breach| (at + 1, breach))?;
        }
        self.oracle.pause().map_err(|breach| (lines.len() + 1, breach))
    }

    /// Lets faults stop and writes down how everything stands.
    pub(super) fn close(&mut self, run: &Run<'_>, lines: &mut Vec<Line>) {
        lines.clear();
        run.with(lines, |ctx| {
            self.world.quiet(ctx);
            self.world.close(ctx);
        });
    }

    pub(super) fn sight<'a>(&self, run: &Run<'a>) -> Sight<'a> {
        let may_die = self.left.budget.crashes > 0;
        let nameless = !may_die && run.rogue.is_none() && !run.small.unreduced;
        Sight { setup: run.setup(), nameless }
    }

    /// Remembers the order of the tasks in the key that was packed last.
    pub(super) fn keep_order(&mut self, packer: &Packer) {
        self.order.clear();
        self.order.extend(packer.tasks());
    }

    /// Writes the state as a key.
    pub(super) fn pack(&self, run: &Run<'_>, packer: &mut Packer, key: &mut Vec<u8>) {
        key.clear();
        let Left { budget, deeds } = self.left;
        let Budget { crashes, drops, duplicates, lost_answers, .. } = budget;
        let Budget { failed_commits, handler_failures, stalls, .. } = budget;
        key.extend([deeds, crashes, drops, duplicates, lost_answers]);
        key.extend([failed_commits, handler_failures, stalls]);
        if run.rogue == Some(Rogue::RelaxedDurability) {
            // When its disk catches up is rolled for, by the time.
            key.extend(self.world.now.0.to_le_bytes());
        }
        packer.pack(&self.world, self.sight(run), key);
        let known = key.len();
        self.oracle.pack_as(self.world.now, packer.names(), key);
        if packer.tied() {
            // Two relays with the same tasks: the oracle may tell them apart, so the lesser key counts.
            let other = key.len();
            packer.exchange();
            self.oracle.pack_as(self.world.now, packer.names(), key);
            if key[other..] < key[known..other] {
                key.copy_within(other.., known);
            }
            key.truncate(other);
        }
    }
}

/// Writes a line of a process.
fn say(world: &World, process: u8, fact: Fact, ctx: &mut Ctx<'_>) {
    let by: Node = world.node(process, ctx);
    ctx.lines.push(Line { at: world.now, by, fact });
}

/// Whether a step is taken at its time alone, and so has one.
pub(super) fn is_timed(task: &Task) -> bool {
    matches!(task.step, Step::Await { .. })
}
