//! A scenario: one run, written down whole. What there is, what happens, which faults hit what, and what
//! must come of it.
//!
//! Nothing in it is drawn. A fault is addressed by what it hits, in the numbers that a trace shows
//! ("response of delivery 3, claim 2: dropped"), and so is every choice that is not the usual one, so a
//! scenario is kept in a file, read by people, shrunk line by line, and tells the same history next year.
//! A seed only makes one: [`Scenario::of`] writes down what its dice decided.

mod address;
mod file;
mod shrink;
pub(crate) mod terms;

pub use address::{Numbers, Words, choice as choice_in_words, fault as fault_in_words};
pub use file::{BadScenario, FORMAT};
pub(crate) use file::{LifeOf, operation};
pub use shrink::{Shrunk, shrink, shrink_by};

use std::{cell::RefCell, collections::BTreeSet, fmt, ops::Range};

use crate::{
    dice::{Chance, Dice, Script, Site},
    handler::{Handle, OneEffect},
    history::Line,
    named::Seen,
    oracle::{Broken, Oracle, Report},
    promise::Promise,
    rogue::Rogue,
    setup::{Deed, Odds, Setup},
    walk::{Walk, Watch, walk_by},
    world::seal::Target,
};

/// One run, written down whole, and what must come of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// What it is called, in a few words.
    pub name: String,
    /// The promise that it is about.
    pub about: Promise,
    /// Where the fault was seen; empty where nobody says.
    pub seen: String,
    /// A wrong line that breaks the promise in it.
    pub broken_by: Option<Rogue>,
    /// What must come of it: how often each of these stands in its history.
    pub expected: Vec<(Seen, usize)>,
    /// The run before its first step. Its seed and its odds say nothing.
    pub setup: Setup,
    /// What is decided in it.
    pub script: Script,
    /// The names of the event types by their numbers, where the entity type is somebody's own; empty: the
    /// types are those of [`models`](crate::models).
    pub own: Vec<String>,
}

/// What came of a scenario.
#[derive(Clone, Debug)]
pub struct Played {
    /// The history.
    pub lines: Vec<Line>,
    /// How it ended.
    pub walk: Walk,
    /// What the oracle says of it.
    pub report: Report,
    /// The faults that did not happen.
    pub unfired: Vec<Unfired>,
    /// What was expected and did not come so: what, expected, seen. Where a promise was broken, the history
    /// ends there, and nothing is counted.
    pub surprises: Vec<(Seen, usize, usize)>,
}

/// A fault of a scenario that did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfired {
    /// What it was to hit was never there.
    Fault(Site),
    /// The deed with this number in the scenario changed nothing.
    Deed(usize, Deed),
}

impl fmt::Display for Unfired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deed(no, deed) => write!(f, "deed {no} changed nothing: {deed:?}"),
            Self::Fault(site) => match address::fault(*site) {
                Some(Words { what, step, numbers }) => {
                    write!(f, "{what} of {step}")?;
                    numbers.iter().try_for_each(|(name, number)| write!(f, ", {name} {number}"))
                }
                None => write!(f, "{site:?}"),
            },
        }
    }
}

impl Scenario {
    /// What the seed of a run decides, written down. Told again, it is the same history.
    pub fn of(setup: &Setup, about: Promise, broken_by: Option<Rogue>) -> Self {
        Self::of_own(setup, about, broken_by, &[], &mut OneEffect)
    }

    /// [`Scenario::of`] with the application's own handler, and the names of its event types.
    pub fn of_own(
        setup: &Setup,
        about: Promise,
        broken_by: Option<Rogue>,
        own: &[String],
        handler: &mut dyn Handle,
    ) -> Self {
        let script = RefCell::default();
        let mut oracle = Oracle::new(&setup.terms);
        let chance = Chance::Noted(Dice::new(setup.seed), &script);
        walk_by(setup, broken_by, chance, handler, &mut oracle, &mut Vec::new(), None);
        Self {
            name: String::new(),
            about,
            seen: String::new(),
            broken_by,
            expected: Vec::new(),
            setup: Setup { seed: 0, odds: Odds::NONE, ..setup.clone() },
            script: script.into_inner(),
            own: own.to_vec(),
        }
    }

    /// Runs it, of the code with this wrong line or of the correct code.
    pub fn play(&self, rogue: Option<Rogue>) -> Played {
        self.play_own(rogue, &mut OneEffect, None)
    }

    /// [`Scenario::play`], looked at after each step that wrote a line.
    pub fn play_watched(&self, rogue: Option<Rogue>, watch: Watch<'_>) -> Played {
        self.play_own(rogue, &mut OneEffect, Some(watch))
    }

    /// [`Scenario::play`] with the application's own handler.
    pub fn play_own(
        &self,
        rogue: Option<Rogue>,
        handler: &mut dyn Handle,
        watch: Option<Watch<'_>>,
    ) -> Played {
        let mut lines = Vec::new();
        let mut oracle = Oracle::new(&self.setup.terms);
        let happened = RefCell::default();
        let chance = Chance::Told(&self.script, &happened);
        let walk = walk_by(&self.setup, rogue, chance, handler, &mut oracle, &mut lines, watch);
        let count = |seen: Seen| lines.iter().filter(|line| seen.is(&line.fact)).count();
        let expected = self.expected.iter().map(|&(seen, times)| (seen, times, count(seen)));
        let whole = oracle.report().broken.is_empty();
        let surprises = expected.filter(|(_, times, count)| whole && times != count).collect();
        let unfired = self.unfired(&happened.into_inner(), &walk);
        Played { report: oracle.report(), lines, walk, unfired, surprises }
    }

    fn unfired(&self, happened: &BTreeSet<Site>, walk: &Walk) -> Vec<Unfired> {
        let faults = self.script.faults.difference(happened).map(|site| Unfired::Fault(*site));
        let idle = walk.idle.iter().map(|&no| (no, self.setup.deeds[no].1));
        let idle = idle.filter(|(_, deed)| is_a_fault(deed));
        faults.chain(idle.map(|(no, deed)| Unfired::Deed(no, deed))).collect()
    }
}

impl Played {
    /// The breach of this promise.
    pub fn breach_of(&self, promise: Promise) -> Option<&Broken> {
        self.report.broken.iter().find(|broken| broken.breach.promise == promise)
    }

    /// How many steps wrote the lines up to this one: what a process does between two I/O boundaries is
    /// a step, and one line of the trace.
    pub fn steps_to(&self, line: usize) -> usize {
        self.walk.cuts.iter().take_while(|cut| **cut <= line).count() + 1
    }

    /// The lines of each step, as far as they were judged: up to the one that broke a promise.
    pub fn steps(&self) -> Vec<Range<usize>> {
        let end = self.report.breach().map_or(self.lines.len(), |broken| broken.line + 1);
        let mut from = 0;
        let mut steps = Vec::new();
        for &cut in &self.walk.cuts {
            if from >= end {
                break;
            }
            steps.push(from..cut.min(end));
            from = cut;
        }
        steps
    }

    /// Whether the correct code keeps every promise, and all happened that was to happen.
    pub fn holds(&self) -> bool {
        self.report.broken.is_empty()
            && self.walk.ended
            && self.unfired.is_empty()
            && self.surprises.is_empty()
    }
}

/// Whether a deed is a fault, and not what people do because of one or to end one.
fn is_a_fault(deed: &Deed) -> bool {
    !matches!(
        deed,
        Deed::Heal
            | Deed::Repair
            | Deed::ReplayAll
            | Deed::ResendAll
            | Deed::Purge
            | Deed::Endpoint { .. }
            | Deed::Database { up: true, .. }
            | Deed::Writable { writable: true, .. }
            | Deed::Pool { free: true, .. }
            | Deed::Cut { requests: false, responses: false }
            | Deed::EndpointDown { down: false, .. }
            | Deed::Target { target: Target::Public, .. }
    )
}
