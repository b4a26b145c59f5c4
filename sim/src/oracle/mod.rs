//! The oracle: one pure function over a history, a fold of [`Oracle::observe`] over its lines.
//!
//! It knows the contract and the declared numbers, and nothing of how a world is run. What it stores
//! between lines is a value that can be compared and packed, so that the explorer can carry it.
//!
//! Four monitors read the same lines, each with the promises that it decides: `sending` (S),
//! `receiving` (R), `securing` (S and R where signatures, targets and bytes count) and `accounted` (E1),
//! which joins sending and receiving at the end.

/// Returns a breach of the promise unless the condition holds; the sentence is made only then.
macro_rules! hold {
    ($condition:expr, $promise:ident, $($what:tt)+) => {
        if !$condition {
            breaks!($promise, $($what)+);
        }
    };
}

/// Returns a breach of the promise.
macro_rules! breaks {
    ($promise:ident, $($what:tt)+) => {
        return Err($crate::oracle::breach($crate::promise::Promise::$promise, format_args!($($what)+)))
    };
}

mod accounted;
mod alone;
pub(crate) mod pack;
mod receiving;
mod report;
mod scheme;
mod securing;
mod sending;

pub(crate) use alone::{Alone, judge_alone};
pub use pack::Names;
pub use report::{Broken, Report, Row, Verdict};
pub use scheme::Scheme;

use hookproof_core::{
    Millis,
    model::Model,
    profile::{InboxPolicy, Profile},
};

use crate::{
    history::{Fact, Line},
    promise::Promise,
};

use accounted::Accounted;
use receiving::Receiving;
use securing::Securing;
use sending::Sending;

/// The declared numbers that a history is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The sender's choices.
    pub profile: Profile,
    /// The receiver's choices.
    pub inbox: InboxPolicy,
    /// How requests are vouched for.
    pub scheme: Scheme,
    /// The entity type of each entity, by its number.
    pub models: Vec<Model>,
    /// Which model an entity has, by the entity's number.
    pub model_of: Vec<u8>,
    /// How often relays and workers look for due rows, in milliseconds.
    pub poll_ms: u64,
    /// How far two clocks may be apart, in milliseconds.
    pub skew_ms: u64,
    /// Whether lateness counts: not in worlds whose steps may take any time (the explorer).
    pub timely: bool,
}

/// A promise broken, at the line that broke it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The promise.
    pub promise: Promise,
    /// What happened, in one sentence that names the rows.
    pub what: String,
}

/// How often each promise was in danger: its precondition held while a fault that could have
/// broken it was active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Danger([u32; Promise::ALL.len()]);

impl Default for Danger {
    fn default() -> Self {
        Self([0; Promise::ALL.len()])
    }
}

impl Danger {
    /// Counts one more time for this promise.
    pub fn count(&mut self, promise: Promise) {
        self.0[promise as usize] += 1;
    }

    /// How often this promise was in danger.
    pub fn of(&self, promise: Promise) -> u32 {
        self.0[promise as usize]
    }

    /// Adds the counts of another history.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

/// What is known of a history so far.
#[derive(Debug)]
pub struct Oracle<'t> {
    terms: &'t Terms,
    sending: Sending,
    receiving: Receiving,
    securing: Securing,
    accounted: Accounted,
    danger: Danger,
    lines: usize,
    ended: bool,
    broken: Vec<Broken>,
}

impl Clone for Oracle<'_> {
    fn clone(&self) -> Self {
        Self {
            terms: self.terms,
            sending: self.sending.clone(),
            receiving: self.receiving.clone(),
            securing: self.securing.clone(),
            accounted: self.accounted.clone(),
            danger: self.danger,
            lines: self.lines,
            ended: self.ended,
            broken: self.broken.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.terms = source.terms;
        self.sending.clone_from(&source.sending);
        self.receiving.clone_from(&source.receiving);
        self.securing.clone_from(&source.securing);
        self.accounted.clone_from(&source.accounted);
        self.danger = source.danger;
        self.lines = source.lines;
        self.ended = source.ended;
        self.broken.clone_from(&source.broken);
    }
}

impl<'t> Oracle<'t> {
    /// An oracle that has seen nothing.
    pub fn new(terms: &'t Terms) -> Self {
        Self {
            terms,
            sending: Sending::default(),
            receiving: Receiving::default(),
            securing: Securing::default(),
            accounted: Accounted::default(),
            danger: Danger::default(),
            lines: 0,
            ended: false,
            broken: Vec::new(),
        }
    }

    /// Forgets the history and keeps the memory.
    pub fn reset(&mut self) {
        self.sending.reset();
        self.receiving.reset();
        self.securing.reset();
        self.accounted.reset();
        self.danger = Danger::default();
        self.lines = 0;
        self.ended = false;
        self.broken.clear();
    }

    /// Takes in the next line. All monitors judge it; the first breach is returned, all are in
    /// the report. After a breach nothing more can be said: the history is to be left there.
    pub fn observe(&mut self, line: &Line) -> Result<(), Breach> {
        let Self { terms, sending, receiving, securing, accounted, danger, .. } = self;
        accounted.observe(terms, line);
        let mut verdicts = [
            sending.observe(terms, line, danger),
            receiving.observe(terms, line, danger),
            securing.observe(terms, line, danger),
            Ok(()),
        ];
        if line.fact == Fact::Ended {
            self.ended = true;
            let [of_sending, of_receiving, _, of_accounted] = &mut verdicts;
            and_then(of_sending, || sending.end());
            and_then(of_receiving, || receiving.end(terms, line.at, danger));
            and_then(of_accounted, || accounted.end(sending, danger));
        }
        self.lines += 1;
        if verdicts.iter().all(Result::is_ok) { Ok(()) } else { Err(self.record(verdicts)) }
    }

    /// Appends everything that verdicts of later lines depend on: two oracles under the same terms
    /// with equal keys have the same future. No absolute time is in it, and no count of dangers.
    pub fn pack(&self, now: Millis, key: &mut Vec<u8>) {
        self.pack_as(now, Names::default(), key);
    }

    /// [`Oracle::pack`] with other names for relays and claims.
    pub fn pack_as(&self, now: Millis, names: Names<'_>, key: &mut Vec<u8>) {
        self.sending.pack(self.terms, now, names, key);
        self.receiving.pack(self.terms, now, names, key);
        self.securing.pack(self.terms, now, key);
        self.accounted.pack(key);
    }

    /// Judges the commit whose lines were read last: no more of it will come.
    pub fn pause(&mut self) -> Result<(), Breach> {
        self.receiving.pause(self.terms)
    }

    /// Gives out how often each promise was in danger since this was last asked.
    pub fn take_danger(&mut self) -> Danger {
        core::mem::take(&mut self.danger)
    }

    /// The terms that it judges by.
    pub fn terms(&self) -> &'t Terms {
        self.terms
    }

    /// How often each promise was in danger so far.
    pub fn danger(&self) -> &Danger {
        &self.danger
    }

    #[cold]
    fn record(&mut self, verdicts: [Result<(), Breach>; 4]) -> Breach {
        let line = self.lines - 1;
        let found = verdicts.into_iter().filter_map(Result::err);
        self.broken.extend(found.map(|breach| Broken { line, breach }));
        self.broken[0].breach.clone()
    }
}

/// Judges a whole history, up to its first breach.
pub fn judge(terms: &Terms, lines: &[Line]) -> Report {
    let mut oracle = Oracle::new(terms);
    for line in lines {
        if oracle.observe(line).is_err() {
            break;
        }
    }
    oracle.report()
}

fn and_then(verdict: &mut Result<(), Breach>, next: impl FnOnce() -> Result<(), Breach>) {
    if verdict.is_ok() {
        *verdict = next();
    }
}

#[cold]
fn breach(promise: Promise, what: core::fmt::Arguments<'_>) -> Breach {
    Breach { promise, what: what.to_string() }
}

/// The row with this number; the table grows to hold it.
fn row<T: Clone + Default>(rows: &mut Vec<T>, number: usize) -> &mut T {
    if number >= rows.len() {
        rows.resize(number + 1, T::default());
    }
    &mut rows[number]
}
