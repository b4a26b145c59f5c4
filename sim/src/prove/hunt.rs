//! Hunting rogues: a rogue is caught by a history that breaks a promise which it is known to break,
//! where the correct code breaks none.

use std::{collections::BTreeSet, ops::ControlFlow};

use super::{Found, Watch, favours, share::share, walks::found};
use crate::{
    explore::{Counterexample, Limits, default_worlds, explore},
    history::Line,
    oracle::{Breach, Broken, Oracle},
    promise::Promise,
    rogue::Rogue,
    scenario::{Scenario, Shrunk, shrink},
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
    /// States of each small world to look at, where histories did not catch it; 0 for none.
    pub states: u64,
    /// Whether to look at them in any case: what they show is the shortest there is.
    pub thorough: bool,
}

/// How a hunt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunt {
    /// The rogue.
    pub rogue: Rogue,
    /// Histories tried until the catch, or states of small worlds looked at until one that is from
    /// there; where nothing caught it, all of both.
    pub tries: u64,
    /// The shortest history that catches it.
    pub catch: Option<Catch>,
    /// Every promise that caught it in one of the histories, in the order of the contract.
    pub by: BTreeSet<Promise>,
    /// Whether time was up before the hunt had ended.
    pub cut: bool,
    /// A history which the correct code breaks a promise in as well.
    pub honest: Option<Found>,
    /// What is left of one of the histories, written down, without all that the breach does not need.
    pub shrunk: Option<Shrunk>,
    /// Seeds whose histories catch it, with the promise that it breaks in them.
    seeds: Vec<(u64, Promise)>,
}

/// A history that catches a rogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catch {
    /// Where it is from.
    pub origin: Origin,
    /// The promise that the rogue broke, at its last line.
    pub breach: Breach,
    /// The history, up to the breach.
    pub lines: Vec<Line>,
}

/// Where a history is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The draw of this seed in which what [`favours`] names for the rogue is on.
    Seed(u64),
    /// The small world of this name.
    World(&'static str),
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

/// Hunts a rogue by seeds, until it is caught and a while longer for a shorter history, then in the
/// small worlds.
pub fn hunt(rogue: Rogue, effort: Effort, watch: &dyn Watch) -> Hunt {
    let mut hunt = hunt_by_seeds(rogue, effort, watch);
    hunt.shrinks();
    if effort.states > 0 && !hunt.cut && (hunt.catch.is_none() || effort.thorough) {
        hunt.looks_at_worlds(effort.states);
    }
    hunt
}

fn hunt_by_seeds(rogue: Rogue, effort: Effort, watch: &dyn Watch) -> Hunt {
    let mut hunt = Hunt::of(rogue);
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
    /// A hunt that has not begun.
    pub fn of(rogue: Rogue) -> Self {
        Self {
            rogue,
            tries: 0,
            catch: None,
            by: BTreeSet::new(),
            cut: false,
            honest: None,
            shrunk: None,
            seeds: Vec::new(),
        }
    }

    /// Keeps the history of a seed if it catches the rogue in fewer lines than the one before.
    fn tries_seed(&mut self, seed: u64) {
        let rogue = self.rogue;
        let setup = draw_for(seed, favours(rogue));
        let mut lines = Vec::new();
        let mut oracle = Oracle::new(&setup.terms);
        walk(&setup, Some(rogue), &mut oracle, &mut lines);
        let mut broken = oracle.report().broken;
        broken.retain(|broken| rogue.breaks().contains(&broken.breach.promise));
        // The promise that the rogue is made for comes first in its list.
        let place = |promise| rogue.breaks().iter().position(|breaks| *breaks == promise);
        broken.sort_by_key(|broken| place(broken.breach.promise));
        self.seeds.extend(broken.first().map(|broken| (seed, broken.breach.promise)));
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
        let Some(Broken { line, breach }) = broken.into_iter().next() else { return };
        if self.catch.as_ref().is_none_or(|catch| line + 1 < catch.lines.len()) {
            lines.truncate(line + 1);
            self.catch = Some(Catch { origin: Origin::Seed(seed), breach, lines });
        }
    }

    /// Shrinks the shortest history, and others until what is left is short.
    fn shrinks(&mut self) {
        let Some(Catch { origin: Origin::Seed(shortest), breach, .. }) = &self.catch else {
            return;
        };
        let first = (*shortest, breach.promise);
        let others = self.seeds.iter().filter(|other| **other != first);
        for &(seed, promise) in std::iter::once(&first).chain(others).take(SHRUNK_MAX) {
            let setup = draw_for(seed, favours(self.rogue));
            let scenario = Scenario::of(&setup, promise, Some(self.rogue));
            let Some(shrunk) = shrink(&scenario, Some(self.rogue), promise) else { continue };
            if self.shrunk.as_ref().is_none_or(|best| shrunk.steps < best.steps) {
                self.shrunk = Some(shrunk);
            }
            if self.shrunk.as_ref().is_some_and(|best| best.steps <= SHORT) {
                break;
            }
        }
    }

    /// Keeps the history of a small world if it is shorter than what seeds have shown.
    fn looks_at_worlds(&mut self, states: u64) {
        let limits = Limits { states, bytes: states * BYTES_A_STATE };
        let mut looked_at = 0;
        for small in default_worlds() {
            let explored = explore(&small, Some(self.rogue), limits, 1, &|_| {});
            looked_at += explored.states;
            let Some(Counterexample { promise, what, lines, .. }) = explored.breach else {
                continue;
            };
            if !self.rogue.breaks().contains(&promise) {
                continue;
            }
            self.by.insert(promise);
            if self.catch.as_ref().is_none_or(|catch| lines.len() < catch.lines.len()) {
                let breach = Breach { promise, what };
                if !self.is_caught_in_a_world() {
                    self.tries = looked_at;
                }
                self.catch = Some(Catch { origin: Origin::World(small.name), breach, lines });
            }
        }
        if self.catch.is_none() {
            self.tries += looked_at;
        }
    }

    fn is_caught_in_a_world(&self) -> bool {
        self.catch.as_ref().is_some_and(|catch| matches!(catch.origin, Origin::World(_)))
    }

    /// Whether these breaches show a promise that has not caught the rogue yet, or a shorter history.
    fn tells_more(&self, broken: &[Broken]) -> bool {
        broken.iter().any(|broken| {
            let shortest = self.catch.as_ref().map_or(usize::MAX, |catch| catch.lines.len());
            broken.line + 1 < shortest || !self.by.contains(&broken.breach.promise)
        })
    }
}

/// A history of so few steps is short enough for people.
const SHORT: usize = 15;
/// How many histories are shrunk at most.
const SHRUNK_MAX: usize = 12;
/// More than the key of a state takes.
const BYTES_A_STATE: u64 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{prove::Unwatched, rogue::CANARY};

    #[test]
    fn the_canary_is_caught_by_the_promise_that_it_breaks() {
        let effort = Effort { tries: 500, further: 0, states: 0, thorough: false };
        let hunt = hunt(CANARY, effort, &Unwatched);
        let catch = hunt.catch.expect("a prover that sees");
        assert!([Promise::R6, Promise::R7].contains(&catch.breach.promise));
    }

    #[test]
    fn a_small_world_shows_a_shorter_history_than_seeds_do() {
        let effort = Effort { tries: 50, further: 0, states: 5_000, thorough: true };
        let hunt = hunt(Rogue::ResendBesideOpen, effort, &Unwatched);
        let catch = hunt.catch.expect("a rogue that is easily caught");
        assert!(matches!(catch.origin, Origin::World(_)), "{:?}", catch.origin);
    }

    #[test]
    fn a_hunt_ends_the_same_way_for_any_number_of_jobs() {
        let rogues = [Rogue::NoAlert, CANARY, Rogue::RetriesAtOnce];
        let effort = Effort { tries: 200, further: 20, states: 0, thorough: false };
        assert_eq!(
            hunt_all(&rogues, effort, 1, &Unwatched),
            hunt_all(&rogues, effort, 3, &Unwatched)
        );
    }
}
