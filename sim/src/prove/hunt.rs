//! Hunting rogues: a rogue is caught by a history that breaks a promise which it is known to break,
//! where the correct code breaks none.

use std::{collections::BTreeSet, ops::ControlFlow};

use super::{Found, Watch, favours, share::share, walks::found};
use crate::{
    history::Line,
    oracle::{Breach, Broken, Oracle},
    promise::Promise,
    rogue::Rogue,
    swarm::draw_for,
    walk::walk,
};

/// How far a hunt goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Histories to try before the rogue has escaped.
    pub tries: u64,
    /// Histories to try after the catch, for a shorter one.
    pub further: u64,
}

/// How a hunt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunt {
    /// The rogue.
    pub rogue: Rogue,
    /// Histories tried until the catch, or in all.
    pub tries: u64,
    /// The shortest history that catches it.
    pub catch: Option<Catch>,
    /// Every promise that caught it in one of the histories, in the order of the contract.
    pub by: BTreeSet<Promise>,
    /// Whether time was up before the hunt had ended.
    pub cut: bool,
    /// A history which the correct code breaks a promise in as well.
    pub honest: Option<Found>,
}

/// A history that catches a rogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catch {
    /// Its seed, in the draws that [`favours`] the rogue.
    pub seed: u64,
    /// The promise that the rogue broke, at its last line.
    pub breach: Breach,
    /// The history, up to the breach.
    pub lines: Vec<Line>,
}

/// Hunts each rogue, several at once, and gives the hunts in the order of the rogues. Those that time
/// was too short to begin are left out.
pub fn hunt_all(rogues: &[Rogue], effort: Effort, jobs: usize, watch: &dyn Watch) -> Vec<Hunt> {
    let mut hunts = Vec::new();
    let run = |number: u64| {
        let hunt = hunt(rogues[number as usize], effort, watch);
        watch.hunted();
        hunt
    };
    share(rogues.len() as u64, jobs, watch, run, |hunt| {
        hunts.push(hunt);
        ControlFlow::Continue(())
    });
    hunts
}

/// Hunts a rogue by seeds, until it is caught and a while longer for a shorter history.
pub fn hunt(rogue: Rogue, effort: Effort, watch: &dyn Watch) -> Hunt {
    let mut hunt =
        Hunt { rogue, tries: 0, catch: None, by: BTreeSet::new(), cut: false, honest: None };
    let mut last = effort.tries;
    let mut seed = 0;
    while seed < last {
        if !watch.goes_on() {
            hunt.cut = hunt.catch.is_none();
            break;
        }
        if hunt.catch.is_none() {
            hunt.tries += 1;
        }
        let caught = hunt.catch.is_some();
        hunt.tries_seed(seed);
        seed += 1;
        if !caught && hunt.catch.is_some() {
            last = seed + effort.further;
        }
    }
    hunt
}

impl Hunt {
    /// Keeps the history of a seed if it catches the rogue in fewer lines than the one before.
    fn tries_seed(&mut self, seed: u64) {
        let rogue = self.rogue;
        let setup = draw_for(seed, favours(rogue));
        let mut lines = Vec::new();
        let mut oracle = Oracle::new(&setup.terms);
        walk(&setup, Some(rogue), &mut oracle, &mut lines);
        let mut broken = oracle.report().broken;
        broken.retain(|broken| rogue.breaks().contains(&broken.breach.promise));
        if !self.tells_more(&broken) {
            return;
        }
        oracle.reset();
        let mut honest = Vec::new();
        walk(&setup, None, &mut oracle, &mut honest);
        if let Some(found) = found(&setup, &oracle, None, &honest) {
            self.honest.get_or_insert(found);
            return;
        }
        self.by.extend(broken.iter().map(|broken| broken.breach.promise));
        // The promise that the rogue is made for comes first in its list.
        let place = |promise| rogue.breaks().iter().position(|breaks| *breaks == promise);
        let Some(Broken { line, breach }) =
            broken.into_iter().min_by_key(|broken| place(broken.breach.promise))
        else {
            return;
        };
        if self.catch.as_ref().is_none_or(|catch| line + 1 < catch.lines.len()) {
            lines.truncate(line + 1);
            self.catch = Some(Catch { seed, breach, lines });
        }
    }

    /// Whether these breaches show a promise that has not caught the rogue yet, or a shorter history.
    fn tells_more(&self, broken: &[Broken]) -> bool {
        broken.iter().any(|broken| {
            let shortest = self.catch.as_ref().map_or(usize::MAX, |catch| catch.lines.len());
            broken.line + 1 < shortest || !self.by.contains(&broken.breach.promise)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{prove::Unwatched, rogue::CANARY};

    #[test]
    fn the_canary_is_caught_by_the_promise_that_it_breaks() {
        let hunt = hunt(CANARY, Effort { tries: 500, further: 0 }, &Unwatched);
        let catch = hunt.catch.expect("a prover that sees");
        assert!([Promise::R6, Promise::R7].contains(&catch.breach.promise));
    }

    #[test]
    fn a_hunt_ends_the_same_way_for_any_number_of_jobs() {
        let rogues = [Rogue::NoAlert, CANARY, Rogue::RetriesAtOnce];
        let effort = Effort { tries: 200, further: 20 };
        assert_eq!(
            hunt_all(&rogues, effort, 1, &Unwatched),
            hunt_all(&rogues, effort, 3, &Unwatched)
        );
    }
}
