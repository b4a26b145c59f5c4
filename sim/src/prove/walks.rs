//! Seeded histories of the correct code.

use std::ops::{ControlFlow, Range};

use super::{Tally, Watch, share::share};
use crate::{
    history::{Family, Line},
    oracle::{Breach, Oracle},
    promise::Promise,
    rogue::Rogue,
    setup::Setup,
    swarm::draw_for,
    walk::walk,
};

/// What the seeds of a range showed.
#[derive(Clone, Debug)]
pub struct Walks {
    /// The seeds that were walked: up to the first breach, or to where time was up.
    pub seeds: Range<u64>,
    /// Their counts, the history of the breach included.
    pub tally: Tally,
    /// The first breach: of the promise that was asked for, else of any.
    pub found: Option<Found>,
}

/// A history that breaks a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its seed.
    pub seed: u64,
    /// What it broke, at its last line.
    pub breach: Breach,
    /// The history, up to the breach.
    pub lines: Vec<Line>,
}

/// Walks and judges the history of each seed, until one breaks a promise; with `sabotage`, of the code
/// with that wrong line in place of the correct code. Where `wanted` names one,
/// breaches of others are passed over, and the first of them is kept in case that none of it is found.
pub fn walk_seeds(
    seeds: Range<u64>,
    favoured: &[Family],
    sabotage: Option<Rogue>,
    wanted: Option<Promise>,
    jobs: usize,
    watch: &dyn Watch,
) -> Walks {
    let count = seeds.end.saturating_sub(seeds.start);
    let chunk = |number: u64| {
        let from = seeds.start.saturating_add(number.saturating_mul(CHUNK));
        from..from.saturating_add(CHUNK).min(seeds.end)
    };
    let mut walks = Walks { seeds: seeds.start..seeds.start, tally: Tally::default(), found: None };
    let mut aside = None;
    let run = |number| {
        let part = walk_chunk(chunk(number), favoured, sabotage, wanted);
        watch.walked(part.walks.tally.histories, part.walks.tally.steps);
        part
    };
    share(count.div_ceil(CHUNK), jobs, watch, run, |part: Part| {
        walks.seeds.end = part.walks.seeds.end;
        walks.tally.add(&part.walks.tally);
        walks.found = part.walks.found;
        aside = aside.take().or(part.aside);
        if walks.found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    walks.found = walks.found.or(aside);
    walks
}

/// What a chunk of seeds showed.
struct Part {
    walks: Walks,
    aside: Option<Found>,
}

fn walk_chunk(
    seeds: Range<u64>,
    favoured: &[Family],
    sabotage: Option<Rogue>,
    wanted: Option<Promise>,
) -> Part {
    let mut lines = Vec::new();
    let mut tally = Tally::default();
    let mut aside = None;
    for seed in seeds.clone() {
        let setup = draw_for(seed, favoured);
        let mut oracle = Oracle::new(&setup.terms);
        let walk = walk(&setup, sabotage, &mut oracle, &mut lines);
        tally.count(&walk, &oracle, &lines);
        let Some(found) = found(&setup, &oracle, wanted, &lines) else { continue };
        if wanted.is_none_or(|wanted| wanted == found.breach.promise) {
            let seeds = seeds.start..seed + 1;
            return Part { walks: Walks { seeds, tally, found: Some(found) }, aside };
        }
        aside = aside.or(Some(found));
    }
    Part { walks: Walks { seeds, tally, found: None }, aside }
}

/// What a judged history broke: the promise that is wanted, if it is among them.
pub(super) fn found(
    setup: &Setup,
    oracle: &Oracle<'_>,
    wanted: Option<Promise>,
    lines: &[Line],
) -> Option<Found> {
    let report = oracle.report();
    let asked = report.broken.iter().find(|broken| Some(broken.breach.promise) == wanted);
    let broken = asked.or(report.breach())?;
    let lines = lines[..=broken.line].to_vec();
    Some(Found { seed: setup.seed, breach: broken.breach.clone(), lines })
}

/// The history of one seed with what it broke, correct or with a wrong line.
pub fn walk_one(
    seed: u64,
    favoured: &[Family],
    rogue: Option<Rogue>,
) -> (Setup, Vec<Line>, Vec<Breach>) {
    let setup = draw_for(seed, favoured);
    let mut lines = Vec::new();
    let mut oracle = Oracle::new(&setup.terms);
    walk(&setup, rogue, &mut oracle, &mut lines);
    let broken = oracle.report().broken.into_iter().map(|broken| broken.breach).collect();
    (setup, lines, broken)
}

/// How many seeds a thread takes at once.
const CHUNK: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::Unwatched;

    #[test]
    fn the_counts_are_the_same_for_any_number_of_jobs() {
        let walks = |jobs| walk_seeds(5..405, &[], None, None, jobs, &Unwatched);
        let (one, three) = (walks(1), walks(3));
        assert_eq!(one.seeds, three.seeds);
        assert_eq!(one.tally, three.tally);
        assert_eq!(one.found, three.found);
    }
}
