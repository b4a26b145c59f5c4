//! The search: depth-first on several threads as long as nothing is broken, breadth-first on one for the
//! shortest way to a breach.
//!
//! Which states there are and how many transitions lie between them is the same either way. Depth-first
//! the states that wait stay few enough for the processor's caches, and every thread has its own.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

use super::{
    Action, Counterexample, Dangers, Explored, Limits, Run,
    state::State,
    table::{Id, Parent, Table},
};
use crate::{
    history::{Fact, Line, Node},
    oracle::Breach,
    world::pack::Packer,
};

/// A state that waits to be left, with its number.
type Place<'t> = (Id, Box<State<'t>>);

/// Which of the states that wait is left next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The last: few wait at any time.
    Depth,
    /// The first, so that the first breach is a shortest one. On one thread.
    Breadth,
}

/// What the threads share.
struct Shared<'a, 't> {
    run: &'a Run<'t>,
    limits: Limits,
    order: Order,
    table: Table,
    pool: Pool<'t>,
    states: AtomicU64,
    /// A breach was found, or a limit hit.
    over: AtomicBool,
    progress: &'a (dyn Fn(u64) + Sync),
}

/// States that a thread has given to whoever has none.
struct Pool<'t> {
    given: Mutex<Given<'t>>,
    changed: Condvar,
    /// How many threads wait for some.
    hungry: AtomicUsize,
    threads: usize,
}

struct Given<'t> {
    places: Vec<Place<'t>>,
    /// All threads wait: there is nothing left.
    done: bool,
}

/// What one thread has found, and the buffers that it keeps.
struct Scout<'t> {
    /// The states that wait.
    waiting: VecDeque<Place<'t>>,
    /// Where states are taken from and given back to.
    #[expect(clippy::vec_box, reason = "boxes are handed on, and states are large")]
    spare: Vec<Box<State<'t>>>,
    scratch: Box<State<'t>>,
    packer: Packer,
    actions: Vec<Action>,
    lines: Vec<Line>,
    key: Vec<u8>,
    transitions: u64,
    ends: u64,
    danger: Dangers,
    outcomes: BTreeSet<Vec<u8>>,
    breach: Option<Found>,
}

/// A breach, and how it was come to: `None` where the world had come to its end.
struct Found {
    from: Id,
    action: Option<u16>,
    breach: Breach,
}

pub(super) fn search(
    run: &Run<'_>,
    limits: Limits,
    order: Order,
    jobs: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Explored {
    let threads = if order == Order::Depth { jobs.max(1) } else { 1 };
    let shared = Shared {
        run,
        limits,
        order,
        table: Table::new(),
        pool: Pool::new(threads),
        states: AtomicU64::new(0),
        over: AtomicBool::new(false),
        progress,
    };
    let mut lines = Vec::new();
    let mut first = State::first(run, &mut lines);
    let begun = first.judge(&lines);
    assert!(begun.is_ok(), "nothing is broken before the first step: {begun:?}");
    let mut scouts: Vec<Scout<'_>> = (0..threads).map(|_| Scout::new(&first)).collect();
    scouts[0].reach(&shared, first, (Id::MAX, 0));
    thread::scope(|scope| {
        for scout in &mut scouts {
            scope.spawn(|| scout.work(&shared));
        }
    });
    conclude(&shared, scouts)
}

fn conclude(shared: &Shared<'_, '_>, scouts: Vec<Scout<'_>>) -> Explored {
    let mut explored = Explored {
        states: shared.states.load(Ordering::Relaxed),
        transitions: 0,
        ends: 0,
        bytes: shared.table.bytes(),
        exhausted: !shared.over.load(Ordering::Relaxed),
        breach: None,
        danger: Dangers::default(),
        outcomes: BTreeSet::new(),
    };
    for scout in scouts {
        explored.transitions += scout.transitions;
        explored.ends += scout.ends;
        explored.danger.add(&scout.danger);
        explored.outcomes.extend(scout.outcomes);
        if explored.breach.is_none() {
            explored.breach = scout.breach.map(|found| replay(shared, &found));
        }
    }
    explored
}

impl<'t> Pool<'t> {
    fn new(threads: usize) -> Self {
        Self {
            given: Mutex::new(Given { places: Vec::new(), done: false }),
            changed: Condvar::new(),
            hungry: AtomicUsize::new(0),
            threads,
        }
    }

    fn given(&self) -> MutexGuard<'_, Given<'t>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for states. None: there are no more anywhere.
    fn take(&self) -> Option<Vec<Place<'t>>> {
        let mut given = self.given();
        let hungry = self.hungry.fetch_add(1, Ordering::Relaxed) + 1;
        if hungry == self.threads && given.places.is_empty() {
            given.done = true;
            self.changed.notify_all();
        }
        while given.places.is_empty() && !given.done {
            given = self.changed.wait(given).unwrap_or_else(PoisonError::into_inner);
        }
        if given.done {
            return None;
        }
        self.hungry.fetch_sub(1, Ordering::Relaxed);
        Some(core::mem::take(&mut given.places))
    }

    /// Gives half of what waits, the oldest first: most lies behind those.
    fn share(&self, waiting: &mut VecDeque<Place<'t>>) {
        let mut given = self.given();
        if given.places.is_empty() {
            given.places.extend(waiting.drain(..waiting.len() / 2));
            self.changed.notify_one();
        }
    }

    /// Sends everybody home.
    fn close(&self) {
        self.given().done = true;
        self.changed.notify_all();
    }
}

impl<'t> Scout<'t> {
    fn new(first: &State<'t>) -> Self {
        Self {
            waiting: VecDeque::new(),
            spare: Vec::new(),
            scratch: Box::new(first.clone()),
            packer: Packer::default(),
            actions: Vec::new(),
            lines: Vec::new(),
            key: Vec::new(),
            transitions: 0,
            ends: 0,
            danger: Dangers::default(),
            outcomes: BTreeSet::new(),
            breach: None,
        }
    }

    fn work(&mut self, shared: &Shared<'_, 't>) {
        while !shared.over.load(Ordering::Relaxed) {
            let next = match shared.order {
                Order::Depth => self.waiting.pop_back(),
                Order::Breadth => self.waiting.pop_front(),
            };
            if let Some((id, state)) = next {
                self.expand(shared, id, state);
            } else if let Some(places) = shared.pool.take() {
                self.waiting.extend(places);
            } else {
                return;
            }
            if self.waiting.len() > 1 && shared.pool.hungry.load(Ordering::Relaxed) > 0 {
                shared.pool.share(&mut self.waiting);
            }
        }
        shared.pool.close();
    }

    fn expand(&mut self, shared: &Shared<'_, 't>, id: Id, mut state: Box<State<'t>>) {
        let mut actions = core::mem::take(&mut self.actions);
        state.actions(shared.run, &mut actions);
        if actions.iter().all(|action| matches!(action, Action::Act { .. })) {
            self.end(shared, id, &state);
        }
        let last = actions.len().saturating_sub(1);
        for (code, &action) in actions.iter().enumerate() {
            if shared.over.load(Ordering::Relaxed) {
                break;
            }
            if code == last {
                core::mem::swap(&mut self.scratch, &mut state);
            } else {
                State::clone_from(&mut self.scratch, &state);
            }
            self.take(shared, (id, code as u16), action);
        }
        self.actions = actions;
        self.spare.push(state);
    }

    fn take(&mut self, shared: &Shared<'_, 't>, way: Parent, action: Action) {
        self.transitions += 1;
        self.scratch.take(action, shared.run, &mut self.lines);
        let judged = self.scratch.judge(&self.lines);
        self.danger.count(&mut self.scratch.oracle);
        match judged {
            Ok(()) => self.arrive(shared, way),
            Err((_, breach)) => self.found(shared, way.0, Some(way.1), breach),
        }
    }

    /// Keeps the state in `scratch` if nobody has been there.
    fn arrive(&mut self, shared: &Shared<'_, 't>, parent: Parent) {
        self.scratch.pack(shared.run, &mut self.packer, &mut self.key);
        let Some(id) = shared.table.insert(&self.key, parent) else { return };
        self.scratch.keep_order(&self.packer);
        let spare = self.spare.pop().unwrap_or_else(|| self.scratch.clone());
        let place = (id, core::mem::replace(&mut self.scratch, spare));
        self.waiting.push_back(place);
        shared.count(id, self.waiting.len());
    }

    fn reach(&mut self, shared: &Shared<'_, 't>, state: State<'t>, parent: Parent) {
        *self.scratch = state;
        self.arrive(shared, parent);
    }

    /// Judges an end: nothing more happens by itself.
    fn end(&mut self, shared: &Shared<'_, 't>, id: Id, state: &State<'t>) {
        self.ends += 1;
        State::clone_from(&mut self.scratch, state);
        self.scratch.close(shared.run, &mut self.lines);
        let judged = self.scratch.judge(&self.lines);
        self.danger.count(&mut self.scratch.oracle);
        if let Err((_, breach)) = judged {
            return self.found(shared, id, None, breach);
        }
        self.key.clear();
        outcome(&self.lines, &mut self.key);
        if !self.outcomes.contains(&self.key) {
            self.outcomes.insert(self.key.clone());
        }
    }

    #[cold]
    fn found(&mut self, shared: &Shared<'_, 't>, from: Id, action: Option<u16>, breach: Breach) {
        self.breach = Some(Found { from, action, breach });
        shared.over.store(true, Ordering::Relaxed);
    }
}

impl Shared<'_, '_> {
    /// Counts a state. `waiting`: how many wait with it.
    fn count(&self, id: Id, waiting: usize) {
        let states = self.states.fetch_add(1, Ordering::Relaxed) + 1;
        let mut over = states >= self.limits.states || id >= IDS_MAX;
        if states.is_multiple_of(PROGRESS) {
            (self.progress)(states);
            over |= self.table.bytes() + waiting as u64 * STATE_BYTES > self.limits.bytes;
        }
        if over {
            self.over.store(true, Ordering::Relaxed);
        }
    }
}

/// How everything stands in the end, without its times.
fn outcome(lines: &[Line], key: &mut Vec<u8>) {
    use std::io::Write;
    for line in lines {
        let written = match line.fact {
            Fact::DeliveryStands { delivery, stand, .. } => {
                write!(key, "d{} {stand:?};", delivery.0)
            }
            Fact::ReceiptStands { receipt, stand, .. } => write!(key, "r{} {stand:?};", receipt.0),
            Fact::EntityStands { entity, state, .. } => write!(key, "e{} {};", entity.0, state.0),
            _ => Ok(()),
        };
        assert!(written.is_ok(), "writing to memory does not fail");
    }
}

/// Goes the way to a breach again and writes down everything.
fn replay(shared: &Shared<'_, '_>, found: &Found) -> Counterexample {
    let mut codes: Vec<u16> = found.action.into_iter().collect();
    let mut id = found.from;
    loop {
        let (parent, code) = shared.table.parent(id);
        if parent == Id::MAX {
            break;
        }
        codes.push(code);
        id = parent;
    }
    let run = shared.run;
    let (mut packer, mut key) = (Packer::default(), Vec::new());
    let (mut actions, mut lines) = (Vec::new(), Vec::new());
    let mut state = State::first(run, &mut lines);
    let mut history = lines.clone();
    let mut judged = state.judge(&lines);
    let mut taken = Vec::new();
    for code in codes.into_iter().rev() {
        state.pack(run, &mut packer, &mut key);
        state.keep_order(&packer);
        state.actions(run, &mut actions);
        let action = actions[usize::from(code)];
        taken.push(action);
        state.take(action, run, &mut lines);
        judged = state.judge(&lines);
        history.extend_from_slice(&lines);
    }
    if found.action.is_none() {
        state.close(run, &mut lines);
        judged = state.judge(&lines);
        history.extend_from_slice(&lines);
    }
    if let Err((at, _)) = judged {
        let begun = history.len() - lines.len();
        history.push(Line { at: state.world.now, by: Node::World, fact: Fact::Quiet });
        history.truncate(begun + at);
    }
    let Breach { promise, what } = found.breach.clone();
    Counterexample { promise, what, lines: history, actions: taken }
}

/// About how much memory a state takes that waits.
const STATE_BYTES: u64 = 8 << 10;
/// How often progress is told, in states.
const PROGRESS: u64 = 1 << 16;
/// Numbers of states stay below this.
const IDS_MAX: Id = Id::MAX - (1 << 16);
