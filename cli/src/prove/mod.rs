//! `hookproof prove`: explores the small worlds, walks seeded histories of large ones, hunts the rogues.
//!
//! The clock is here and nowhere in the simulator: [`pace`] measures, shows progress and says when a
//! budget is over.

mod json;
mod matrix;
mod options;
mod outcome;
mod pace;
mod report;
mod trace;

use std::{
    io::{self, Write},
    ops::Range,
    time::{Duration, Instant},
};

use hookproof_sim::{
    prove::{Effort, Hunt, hunt_all, walk_seeds},
    rogue::{CANARY, Rogue},
};

use crate::End;
use options::Level;
pub(crate) use options::Options;
use outcome::{Outcome, Walked};
use pace::Pace;

/// Proves what the options ask for, and reports it.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> io::Result<End> {
    if let Some(seed) = options.seed() {
        return trace::print(seed, options, out);
    }
    let outcome = prove(options);
    if options.json {
        json::print(&outcome, options, out)?;
    } else {
        report::print(&outcome, options, out)?;
    }
    Ok(outcome.end(options))
}

fn prove(options: &Options) -> Outcome {
    let start = Instant::now();
    let deadline = |share: u32| options.budget.map(|budget| start + budget * share / 100);
    let walked = options.has(Level::Sim).then(|| walks(options, deadline(BUDGET_WALKED)));
    let rogues = hunted(options);
    let hunts = hunts(options, &rogues, deadline(100));
    Outcome { walked, hunts, rogues, took: start.elapsed() }
}

fn walks(options: &Options, deadline: Option<Instant>) -> Walked {
    let seeds: Range<u64> = options.seeds();
    let pace = Pace::of_histories(seeds.end - seeds.start, deadline);
    let start = Instant::now();
    let walks = walk_seeds(seeds, options.favoured(), options.promise, options.jobs(), &pace);
    pace.ends();
    Walked { walks, took: start.elapsed().max(Duration::from_micros(1)) }
}

/// The rogues to hunt: the canary always, and first.
fn hunted(options: &Options) -> Vec<Rogue> {
    let others = options.rogues().into_iter().filter(|rogue| *rogue != CANARY);
    std::iter::once(CANARY).chain(others).collect()
}

fn hunts(options: &Options, rogues: &[Rogue], deadline: Option<Instant>) -> Vec<Hunt> {
    let pace = Pace::of_rogues(rogues.len() as u64, deadline);
    let hunts = hunt_all(rogues, EFFORT, options.jobs(), &pace);
    pace.ends();
    hunts
}

/// How long a rogue is hunted. What escapes this many histories is not seen by a default run.
const EFFORT: Effort = Effort { tries: 20_000, further: 300 };
/// The part of a budget after which walks leave the rest to the rogues, in hundredths.
const BUDGET_WALKED: u32 = 60;
