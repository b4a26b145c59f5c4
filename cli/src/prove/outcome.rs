//! What a proof came to, and what that means.

use std::time::Duration;

use hookproof_sim::{
    history::Family,
    promise::Promise,
    prove::{Found, Hunt, Walks},
    rogue::Rogue,
};

use super::Options;
use crate::{End, say};

/// Everything that a run showed.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The seeded histories, where they were asked for.
    pub(crate) walked: Option<Walked>,
    /// The hunts that were begun, the canary's first.
    pub(crate) hunts: Vec<Hunt>,
    /// The rogues that were to be hunted, in the same order.
    pub(crate) rogues: Vec<Rogue>,
    /// How long the whole run took.
    pub(crate) took: Duration,
}

/// Seeded histories, and how long they took.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) walks: Walks,
    pub(crate) took: Duration,
}

/// A broken promise, and where.
#[derive(Debug)]
pub(crate) struct Violation<'a> {
    pub(crate) found: &'a Found,
    /// The rogue in whose hunt the correct code broke it, if it was in one.
    pub(crate) hunt_for: Option<Rogue>,
}

/// What is said of one promise, or of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Checked,
    Broken,
    /// Not enough happened to say.
    Open,
}

impl Outcome {
    /// What was broken, by the correct code.
    pub(crate) fn violations(&self) -> Vec<Violation<'_>> {
        let walked = self.walked.iter().filter_map(|walked| walked.walks.found.as_ref());
        let walked = walked.map(|found| Violation { found, hunt_for: None });
        let hunts = self.hunts.iter().filter_map(|hunt| {
            let found = hunt.honest.as_ref()?;
            Some(Violation { found, hunt_for: Some(hunt.rogue) })
        });
        walked.chain(hunts).collect()
    }

    /// The rogues that were hunted to the end and not caught.
    pub(crate) fn escaped(&self) -> Vec<&Hunt> {
        self.hunts.iter().filter(|hunt| hunt.catch.is_none() && !hunt.cut).collect()
    }

    /// How often a promise was in danger, at all levels.
    pub(crate) fn danger(&self, promise: Promise) -> u64 {
        self.walked.as_ref().map_or(0, |walked| walked.walks.tally.danger(promise))
    }

    /// In how many seeded histories a promise was decided, and kept.
    pub(crate) fn kept(&self, promise: Promise) -> u64 {
        self.walked.as_ref().map_or(0, |walked| walked.walks.tally.kept(promise))
    }

    /// How many rogues this promise caught.
    pub(crate) fn caught_by(&self, promise: Promise) -> u64 {
        self.hunts.iter().filter(|hunt| hunt.by.contains(&promise)).count() as u64
    }

    /// Whether every rogue was hunted, and this promise caught none: it may be kept because nothing
    /// looks.
    pub(crate) fn unguarded(&self, promise: Promise) -> bool {
        let hunted =
            |rogue: &Rogue| self.hunts.iter().any(|hunt| hunt.rogue == *rogue && !hunt.cut);
        let of_its_own = |rogue: &&Rogue| rogue.breaks().contains(&promise);
        Rogue::ALL.iter().filter(of_its_own).all(hunted) && self.caught_by(promise) == 0
    }

    pub(crate) fn verdict_of(&self, promise: Promise) -> Verdict {
        let broke = |violation: &Violation<'_>| violation.found.breach.promise == promise;
        if self.violations().iter().any(broke) {
            Verdict::Broken
        } else if self.danger(promise) == 0 || self.unguarded(promise) {
            Verdict::Open
        } else {
            Verdict::Checked
        }
    }

    /// What should have happened and did not, a sentence each.
    pub(crate) fn unexercised(&self, options: &Options) -> Vec<String> {
        let mut said = Vec::new();
        let promises = options.promises().into_iter();
        let safe: Vec<&str> =
            promises.filter(|&promise| self.danger(promise) == 0).map(Promise::id).collect();
        if !safe.is_empty() {
            said.push(format!("never in danger: {}", safe.join(", ")));
        }
        let promises = options.promises().into_iter();
        let uncaught: Vec<&str> =
            promises.filter(|&promise| self.unguarded(promise)).map(Promise::id).collect();
        if !uncaught.is_empty() {
            said.push(format!("no rogue was caught by: {}", uncaught.join(", ")));
        }
        if let Some(walked) = &self.walked {
            let tally = &walked.walks.tally;
            let idle = Family::ALL.into_iter().filter(|family| tally.fired(*family) == 0);
            let idle: Vec<&str> = idle.map(Family::name).collect();
            if !idle.is_empty() {
                said.push(format!("faults that never fired: {}", idle.join(", ")));
            }
            if tally.unended > 0 {
                let left = say::count(tally.unended, "history was", "histories were");
                said.push(format!("{left} left before all timers had run out"));
            }
        }
        said
    }

    /// What was left out because of the options or because time was up, a phrase each.
    pub(crate) fn left_out(&self, options: &Options) -> Vec<String> {
        let mut left_out = options.left_out();
        let cut: Vec<&str> = self
            .rogues
            .iter()
            .enumerate()
            .filter(|(at, _)| self.hunts.get(*at).is_none_or(|hunt| hunt.cut))
            .map(|(_, rogue)| rogue.name())
            .collect();
        if !cut.is_empty() {
            left_out.push(format!("rogues that time was too short for: {}", cut.join(", ")));
        }
        left_out
    }

    pub(crate) fn verdict(&self, options: &Options) -> Verdict {
        match self.end(options) {
            End::Kept => Verdict::Checked,
            End::Broken => Verdict::Broken,
            End::Failed | End::Unexercised => Verdict::Open,
        }
    }

    pub(crate) fn end(&self, options: &Options) -> End {
        // A prover that does not even see the canary has shown nothing.
        let blind = self.hunts.first().is_none_or(|hunt| hunt.cut);
        if !self.violations().is_empty() || !self.escaped().is_empty() {
            End::Broken
        } else if blind || (options.left_out().is_empty() && !self.unexercised(options).is_empty())
        {
            End::Unexercised
        } else {
            End::Kept
        }
    }
}
