//! How soon rogues are caught: not once, which may be luck, but from many first seeds.

use std::ops::{ControlFlow, Range};

use super::{Watch, favours, share::share};
use crate::{oracle::Oracle, rogue::Rogue, swarm::draw_for, walk::walk};

/// How soon a rogue is caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// The rogue.
    pub rogue: Rogue,
    /// Histories until it was caught, for each range of seeds that caught it, the fewest first.
    pub tries: Vec<u64>,
    /// Ranges of seeds that did not.
    pub missed: u64,
}

impl Detection {
    /// The median; `None` where more ranges missed it than caught it.
    pub fn median(&self) -> Option<u64> {
        let all = self.tries.len() + self.missed as usize;
        self.tries.get(all.checked_sub(1)? / 2).copied()
    }

    /// The most; `None` where a range missed it.
    pub fn worst(&self) -> Option<u64> {
        self.tries.last().copied().filter(|_| self.missed == 0)
    }
}

/// Hunts each rogue in so many ranges of seeds that have none in common.
pub fn detect(rogues: &[Rogue], ranges: u64, jobs: usize, watch: &dyn Watch) -> Vec<Detection> {
    let mut all = Vec::new();
    let run = |number: u64| {
        let rogue = rogues[number as usize];
        let from = |range: u64| (1 + range) * RANGE..(2 + range) * RANGE;
        let mut tries: Vec<u64> =
            (0..ranges).filter_map(|range| tries_until(rogue, from(range))).collect();
        tries.sort_unstable();
        watch.hunted();
        Detection { rogue, missed: ranges - tries.len() as u64, tries }
    };
    share(rogues.len() as u64, jobs, watch, run, |detection| {
        all.push(detection);
        ControlFlow::Continue(())
    });
    all
}

/// How many of these seeds it takes.
fn tries_until(rogue: Rogue, seeds: Range<u64>) -> Option<u64> {
    let mut lines = Vec::new();
    (1..).zip(seeds).find_map(|(tries, seed)| {
        let setup = draw_for(seed, favours(rogue));
        let mut oracle = Oracle::new(&setup.terms);
        walk(&setup, Some(rogue), &mut oracle, &mut lines);
        let broken = oracle.report().broken;
        let caught = broken.iter().any(|broken| rogue.breaks().contains(&broken.breach.promise));
        caught.then_some(tries)
    })
}

/// How many seeds a range has.
const RANGE: u64 = 20_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{prove::Unwatched, rogue::CANARY};

    #[test]
    fn a_median_needs_half_of_the_ranges_and_a_worst_all() {
        let of = |tries: &[u64], missed| Detection { rogue: CANARY, tries: tries.to_vec(), missed };
        assert_eq!((of(&[1, 5, 9], 0).median(), of(&[1, 5, 9], 0).worst()), (Some(5), Some(9)));
        assert_eq!((of(&[1, 5], 1).median(), of(&[1, 5], 1).worst()), (Some(5), None));
        assert_eq!((of(&[1], 2).median(), of(&[], 0).median()), (None, None));
    }

    #[test]
    fn the_canary_is_caught_wherever_one_begins() {
        let detections = detect(&[CANARY], 5, 2, &Unwatched);
        assert_eq!((detections[0].missed, detections[0].tries.len()), (0, 5));
    }
}
