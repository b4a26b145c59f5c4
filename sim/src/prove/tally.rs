//! What many histories came to.

use crate::{
    history::{Fact, Family, Line},
    oracle::{Oracle, Verdict},
    promise::Promise,
    situation::Situation,
    walk::Walk,
};

/// Counts over histories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Histories walked.
    pub histories: u64,
    /// Their lines.
    pub steps: u64,
    /// The time that passed in them, in milliseconds.
    pub simulated_ms: u64,
    /// Those that were left before their timers had run out: nothing is known of their end.
    pub unended: u64,
    kept: [u64; Promise::ALL.len()],
    danger: [u64; Promise::ALL.len()],
    faults: [u64; Family::ALL.len()],
    met: Vec<u64>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            histories: 0,
            steps: 0,
            simulated_ms: 0,
            unended: 0,
            kept: [0; Promise::ALL.len()],
            danger: [0; Promise::ALL.len()],
            faults: [0; Family::ALL.len()],
            met: vec![0; Situation::COUNT],
        }
    }
}

impl Tally {
    /// Counts one more history.
    pub fn count(&mut self, walk: &Walk, oracle: &Oracle<'_>, lines: &[Line]) {
        self.histories += 1;
        self.steps += lines.len() as u64;
        self.simulated_ms += walk.simulated_ms;
        self.unended += u64::from(!walk.ended && walk.breach.is_none());
        for row in oracle.report().rows {
            let promise = row.promise as usize;
            self.kept[promise] += u64::from(row.verdict == Verdict::Pass);
            self.danger[promise] += u64::from(row.danger);
        }
        for situation in &walk.met {
            self.met[situation.number()] += 1;
        }
        for line in lines {
            if let Fact::Fault { family } = line.fact {
                self.faults[family as usize] += 1;
            }
        }
    }

    /// Adds the counts of other histories.
    pub fn add(&mut self, other: &Self) {
        self.histories += other.histories;
        self.steps += other.steps;
        self.simulated_ms += other.simulated_ms;
        self.unended += other.unended;
        add(&mut self.kept, &other.kept);
        add(&mut self.danger, &other.danger);
        add(&mut self.faults, &other.faults);
        add(&mut self.met, &other.met);
    }

    /// In how many histories this promise was decided, and kept.
    pub fn kept(&self, promise: Promise) -> u64 {
        self.kept[promise as usize]
    }

    /// How often this promise was in danger.
    pub fn danger(&self, promise: Promise) -> u64 {
        self.danger[promise as usize]
    }

    /// How often a situation came about.
    pub fn met(&self, situation: Situation) -> u64 {
        self.met[situation.number()]
    }

    /// How many situations came about that are not declared.
    pub fn undeclared(&self) -> u64 {
        let declared: u64 = Situation::all().into_iter().map(|situation| self.met(situation)).sum();
        self.met.iter().sum::<u64>() - declared
    }

    /// How often a fault of this family happened.
    pub fn fired(&self, family: Family) -> u64 {
        self.faults[family as usize]
    }
}

fn add(mine: &mut [u64], theirs: &[u64]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine += theirs;
    }
}
