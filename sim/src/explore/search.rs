//! The search: level by level, on several threads, with the way back to the beginning.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
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

/// A state of the level that is being left, with its number.
type Place<'t> = (Id, Box<State<'t>>);

/// The states of a level, in portions that a thread takes at once.
type Level<'t> = VecDeque<Vec<Place<'t>>>;

/// What the threads share.
struct Shared<'a, 't> {
    run: &'a Run<'t>,
    limits: Limits,
    table: Table,
    states: AtomicU64,
    full: AtomicBool,
    progress: &'a (dyn Fn(u64) + Sync),
}

/// What one thread has found, and the buffers that it keeps.
struct Scout<'t> {
    /// The states of the next level that it was the first to reach.
    next: Level<'t>,
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
    jobs: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Explored {
    let shared = Shared {
        run,
        limits,
        table: Table::new(),
        states: AtomicU64::new(0),
        full: AtomicBool::new(false),
        progress,
    };
    let mut lines = Vec::new();
    let mut first = State::first(run, &mut lines);
    let begun = first.judge(&lines);
    assert!(begun.is_ok(), "nothing is broken before the first step: {begun:?}");
    let mut scouts: Vec<Scout<'_>> = (0..jobs.max(1)).map(|_| Scout::new(&first)).collect();
    scouts[0].reach(&shared, first, (Id::MAX, 0));
    let mut depth = 0;
    let exhausted = loop {
        let mut level = Level::new();
        for scout in &mut scouts {
            level.append(&mut scout.next);
        }
        if level.is_empty() {
            break true;
        }
        let width: usize = level.iter().map(Vec::len).sum();
        if width as u64 * STATE_BYTES + shared.table.bytes() > limits.bytes {
            break false;
        }
        leave(&shared, &mut scouts, level);
        if scouts.iter().any(|scout| scout.breach.is_some()) || shared.full.load(Ordering::Relaxed)
        {
            break false;
        }
        depth += u32::from(scouts.iter().any(|scout| !scout.next.is_empty()));
    };
    conclude(&shared, scouts, depth, exhausted)
}

/// Does everything that can happen in the states of a level.
fn leave<'t>(shared: &Shared<'_, 't>, scouts: &mut [Scout<'t>], level: Level<'t>) {
    let alone = scouts.len() == 1 || level.len() < ALONE_MAX;
    let level = Mutex::new(level);
    if alone {
        return scouts[0].work(shared, &level);
    }
    thread::scope(|scope| {
        for scout in scouts {
            scope.spawn(|| scout.work(shared, &level));
        }
    });
}

fn conclude(
    shared: &Shared<'_, '_>,
    scouts: Vec<Scout<'_>>,
    depth: u32,
    exhausted: bool,
) -> Explored {
    let mut explored = Explored {
        states: shared.states.load(Ordering::Relaxed),
        transitions: 0,
        ends: 0,
        depth,
        bytes: shared.table.bytes(),
        exhausted,
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

impl<'t> Scout<'t> {
    fn new(first: &State<'t>) -> Self {
        Self {
            next: Level::new(),
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

    fn work(&mut self, shared: &Shared<'_, 't>, level: &Mutex<Level<'t>>) {
        while self.breach.is_none() && !shared.full.load(Ordering::Relaxed) {
            let portion = level.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(portion) = portion else { return };
            for (id, state) in portion {
                self.expand(shared, id, state);
            }
        }
    }

    fn expand(&mut self, shared: &Shared<'_, 't>, id: Id, mut state: Box<State<'t>>) {
        let mut actions = core::mem::take(&mut self.actions);
        state.actions(shared.run, &mut self.packer, &mut actions);
        if actions.iter().all(|action| matches!(action, Action::Act { .. })) {
            self.end(shared, id, &state);
        }
        let last = actions.len().saturating_sub(1);
        for (code, &action) in actions.iter().enumerate() {
            if self.breach.is_some() || shared.full.load(Ordering::Relaxed) {
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
        self.danger.count(&self.scratch.oracle.take_danger());
        match judged {
            Ok(()) => self.arrive(shared, way),
            Err((_, breach)) => {
                self.breach = Some(Found { from: way.0, action: Some(way.1), breach });
            }
        }
    }

    /// Keeps the state in `scratch` if nobody has been there.
    fn arrive(&mut self, shared: &Shared<'_, 't>, parent: Parent) {
        self.scratch.pack(shared.run, &mut self.packer, &mut self.key);
        let Some(id) = shared.table.insert(&self.key, parent) else { return };
        let spare = self.spare.pop().unwrap_or_else(|| self.scratch.clone());
        let place = (id, core::mem::replace(&mut self.scratch, spare));
        match self.next.back_mut() {
            Some(portion) if portion.len() < PORTION => portion.push(place),
            _ => self.next.push_back(vec![place]),
        }
        shared.count(id);
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
        self.danger.count(&self.scratch.oracle.take_danger());
        if let Err((_, breach)) = judged {
            self.breach = Some(Found { from: id, action: None, breach });
            return;
        }
        self.key.clear();
        outcome(&self.lines, &mut self.key);
        if !self.outcomes.contains(&self.key) {
            self.outcomes.insert(self.key.clone());
        }
    }
}

impl Shared<'_, '_> {
    fn count(&self, id: Id) {
        let states = self.states.fetch_add(1, Ordering::Relaxed) + 1;
        if states.is_multiple_of(PROGRESS) {
            (self.progress)(states);
            if self.table.bytes() > self.limits.bytes {
                self.full.store(true, Ordering::Relaxed);
            }
        }
        if states >= self.limits.states || id >= IDS_MAX {
            self.full.store(true, Ordering::Relaxed);
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
    let (mut packer, mut actions, mut lines) = (Packer::default(), Vec::new(), Vec::new());
    let mut state = State::first(run, &mut lines);
    let mut history = lines.clone();
    let mut judged = state.judge(&lines);
    let mut taken = Vec::new();
    for code in codes.into_iter().rev() {
        state.actions(run, &mut packer, &mut actions);
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

/// About how much memory the states of a level take each, with those that they lead to.
const STATE_BYTES: u64 = 8 << 10;
/// How many states a thread takes at once.
const PORTION: usize = 64;
/// A level of fewer portions is not worth a second thread.
const ALONE_MAX: usize = 8;
/// How often progress is told, in states.
const PROGRESS: u64 = 1 << 16;
/// Numbers of states stay below this.
const IDS_MAX: Id = Id::MAX - (1 << 16);
