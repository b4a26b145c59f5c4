//! What can happen next in a small world: the transitions of the explorer.

use hookproof_core::{
    Id,
    endpoint::{Admission, Lane},
};

use super::{Budget, Run, state::State};
use crate::{
    history::Side,
    setup::Deed,
    world::{
        NOBODY, ProcessNo, Step, Task, Twist, World,
        db::{Db, index},
    },
};

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each says what its fields are")]
pub enum Action {
    /// A task is taken, with what goes wrong with it. The number is its place among the world's tasks.
    Step { task: u32, twist: Option<Twist> },
    /// A process dies with all that it has in flight.
    Crash { process: ProcessNo },
    /// A process looks at a due row, and will decide on what it found.
    Look { process: ProcessNo, row: Row },
    /// A person does what is offered.
    Act { deed: u8 },
    /// Time moves to the next wake or deadline.
    Tick,
}

/// A row that can be due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "plain words")]
pub enum Row {
    Event(Id),
    Delivery(Id),
    Receipt(Id),
}

impl State<'_> {
    /// Everything that can happen, in an order that depends on the state's key alone.
    pub(super) fn actions(&self, run: &Run<'_>, actions: &mut Vec<Action>) {
        actions.clear();
        for &at in &self.order {
            self.steps(at as usize, run, actions);
        }
        self.crashes(run, actions);
        self.looks(run, actions);
        if self.next_instant().is_some() && (self.left.budget.stalls > 0 || !self.is_at_work()) {
            actions.push(Action::Tick);
        }
        self.deeds(run, actions);
    }

    fn steps(&self, at: usize, run: &Run<'_>, actions: &mut Vec<Action>) {
        let task = &self.world.tasks[at];
        if self.waits(task) {
            return;
        }
        let step = |twist| Action::Step { task: at as u32, twist };
        actions.push(step(None));
        for &twist in Twist::of(&task.step, run.setup()) {
            if self.left.budget.allows(twist, task) {
                actions.push(step(Some(twist)));
            }
        }
    }

    /// Whether a task is nothing but waiting.
    pub(super) fn waits(&self, task: &Task) -> bool {
        matches!(task.step, Step::Await { .. }) && task.at > self.world.now
    }

    /// Whether anything is under way that time would pass over: then a tick is a stall.
    pub(super) fn is_at_work(&self) -> bool {
        self.world.tasks.iter().any(|task| !self.waits(task))
    }

    fn crashes(&self, run: &Run<'_>, actions: &mut Vec<Action>) {
        if self.left.budget.crashes == 0 {
            return;
        }
        for process in 0..run.setup().processes() {
            let works = self.world.tasks.iter().any(|task| task.owner == process);
            if works && self.world.processes[usize::from(process)].up {
                actions.push(Action::Crash { process });
            }
        }
    }

    fn looks(&self, run: &Run<'_>, actions: &mut Vec<Action>) {
        let setup = run.setup();
        let first_worker = setup.relays + setup.ingresses;
        let effects = first_worker + setup.workers;
        let nameless = self.sight(run).nameless;
        let of =
            |from: ProcessNo, to: ProcessNo| from..if nameless { to.min(from + 1) } else { to };
        let now = self.world.db_now(Side::Sender);
        let sender = self.world.db(Side::Sender);
        for event in sender.events.iter().flatten() {
            if event.wake.is_some_and(|wake| wake <= now) {
                self.look(of(0, setup.relays), Row::Event(event.id), run, actions);
            }
        }
        for id in claimable(sender, &self.world, Side::Sender, run) {
            self.look(of(0, setup.relays), Row::Delivery(id), run, actions);
        }
        let receiver = self.world.db(Side::Receiver);
        for receipt in receiver.due_receipts(self.world.db_now(Side::Receiver)) {
            self.look(of(first_worker, effects), Row::Receipt(receipt.id), run, actions);
        }
        for id in claimable(receiver, &self.world, Side::Receiver, run) {
            self.look(effects..effects + 1, Row::Delivery(id), run, actions);
        }
    }

    /// A process looks at a row unless it is about to claim it already, and as long as few others are.
    fn look(
        &self,
        processes: core::ops::Range<ProcessNo>,
        row: Row,
        run: &Run<'_>,
        actions: &mut Vec<Action>,
    ) {
        let side = World::side(processes.start, run.setup());
        let about = |task: &&Task| {
            World::side(task.owner, run.setup()) == side
                && task.owner != NOBODY
                && is_about(&task.step, row)
        };
        let racing = self.world.tasks.iter().filter(about);
        if racing.clone().count() >= usize::from(run.small.racers) {
            return;
        }
        let nameless = self.sight(run).nameless;
        for process in processes {
            let busy = !nameless && racing.clone().any(|task| task.owner == process);
            if !busy && self.world.processes[usize::from(process)].up {
                actions.push(Action::Look { process, row });
            }
        }
    }

    fn deeds(&self, run: &Run<'_>, actions: &mut Vec<Action>) {
        let deeds = &run.small.deeds;
        for (no, deed) in (0..).zip(deeds) {
            let left = |no: usize| self.left.deeds & (1 << no) != 0;
            // Of two that are alike the first is done first.
            let alike = (0..usize::from(no)).any(|before| left(before) && deeds[before] == *deed);
            if left(usize::from(no)) && !alike && self.can(deed) {
                actions.push(Action::Act { deed: no });
            }
        }
    }

    /// Whether a deed finds what it is about.
    fn can(&self, deed: &Deed) -> bool {
        match *deed {
            Deed::Resend { delivery } | Deed::Cancel { delivery } => {
                self.world.db(Side::Sender).delivery(Id(u128::from(delivery))).is_some()
            }
            Deed::Replay { receipt, .. } => {
                self.world.db(Side::Receiver).receipt(Id(u128::from(receipt))).is_some()
            }
            _ => true,
        }
    }
}

impl Budget {
    /// Whether there is enough left for this fault at this task.
    fn allows(self, twist: Twist, task: &Task) -> bool {
        match twist {
            Twist::Drop => self.drops > 0,
            Twist::Duplicate => self.duplicates > 0,
            Twist::AnswerLost => self.lost_answers > 0,
            Twist::CommitFails | Twist::Serialization => self.failed_commits > 0,
            Twist::HandlerFails => self.handler_failures > 0,
            // Elsewhere it leaves what a crash before the step leaves.
            Twist::Die => {
                self.crashes > 0
                    && matches!(task.step, Step::WorkCommit { .. } | Step::FanOut { .. })
            }
            Twist::Delay
            | Twist::Reset
            | Twist::ForeignAck
            | Twist::EarlyAck
            | Twist::Hang
            | Twist::Slow
            | Twist::Refuse(_)
            | Twist::OtherBytes
            | Twist::HandlerInfrastructure
            | Twist::Stale
            | Twist::Mute
            | Twist::Nonsense
            | Twist::ActsSilently
            | Twist::Redirect
            | Twist::Forge
            | Twist::Tamper
            | Twist::Replay
            | Twist::ReplayLate
            | Twist::Truncate
            | Twist::Relabel
            | Twist::TakenId => false,
        }
    }

    /// Takes what this fault costs.
    pub(super) fn spend(&mut self, twist: Twist) {
        match twist {
            Twist::Drop => self.drops -= 1,
            Twist::Duplicate => self.duplicates -= 1,
            Twist::AnswerLost => self.lost_answers -= 1,
            Twist::CommitFails | Twist::Serialization => self.failed_commits -= 1,
            Twist::HandlerFails => self.handler_failures -= 1,
            Twist::Die => self.crashes -= 1,
            _ => unreachable!("no other fault is allowed"),
        }
    }
}

/// The due deliveries of which a claim would do something.
fn claimable<'a>(
    db: &'a Db,
    world: &'a World,
    side: Side,
    run: &'a Run<'_>,
) -> impl Iterator<Item = Id> + 'a {
    let now = world.db_now(side);
    let profile = &run.setup().terms.profile;
    db.due_deliveries(now).filter_map(move |row| {
        let endpoint = db.endpoints[index(row.endpoint)];
        let lane = Lane { endpoint, in_flight: db.in_flight(row.endpoint, now) };
        let used_up = row.rung >= profile.ladder.attempts();
        (used_up || lane.admit(now, profile) != Admission::Shut).then_some(row.id)
    })
}

fn is_about(step: &Step, row: Row) -> bool {
    match (step, row) {
        (Step::FanOut { event }, Row::Event(id)) => event.id == id,
        (Step::Claim { row, .. }, Row::Delivery(id)) => row.id == id,
        (Step::WorkClaim { row, .. }, Row::Receipt(id)) => row.id == id,
        _ => false,
    }
}
