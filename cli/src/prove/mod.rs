//! `hookproof prove`: explores the small worlds, walks seeded histories of large ones, hunts the rogues.
//!
//! The clock is here and nowhere in the simulator: [`pace`] measures, shows progress and says when a
//! budget is over.

mod html;
mod json;
mod junit;
mod keep;
mod markdown;
mod matrix;
mod options;
mod outcome;
mod pace;
mod report;
mod trace;

use std::{
    io::{self, Write},
    path::PathBuf,
    time::{Duration, Instant},
};

use hookproof_sim::{
    explore::{Budget, Limits, Small, deep_worlds, default_worlds, explore},
    named,
    prove::{Effort, Hunt, hunt_all, walk_seeds},
    rogue::{CANARY, Rogue},
    setup::Setup,
};

use crate::{End, files, input::Fault, say::count};
use keep::{Kept, keep};
use options::Level;
pub(crate) use options::{Options, rogue_named};
use outcome::{Outcome, Story, Walked, World};
pub(crate) use pace::Pace;

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
    Ok(reports(&outcome, options).map_or_else(Fault::end, |()| outcome.end(options)))
}

/// Writes what is wanted in files.
fn reports(outcome: &Outcome, options: &Options) -> Result<(), Fault> {
    let wanted: [(&Option<PathBuf>, Form); 3] = [
        (&options.html, html::page),
        (&options.junit, junit::report),
        (&options.markdown, markdown::summary),
    ];
    for (path, form) in wanted {
        if let Some(path) = path {
            files::write(path, &form(outcome, options))?;
        }
    }
    Ok(())
}

/// A report as a text.
type Form = fn(&Outcome, &Options) -> String;

fn prove(options: &Options) -> Outcome {
    let start = Instant::now();
    let deadline = |share: u32| {
        let part = |budget: Duration| budget.saturating_mul(share) / 100;
        options.budget.and_then(|budget| start.checked_add(part(budget)))
    };
    let worlds = if options.has(Level::Explore) { worlds(options) } else { Vec::new() };
    let stories = if options.has(Level::Sim) { stories(options) } else { Vec::new() };
    let walked = options.has(Level::Sim).then(|| walks(options, deadline(BUDGET_WALKED)));
    let rogues = hunted(options);
    let hunts = hunts(options, &rogues, deadline(100));
    let kept = Kept::default();
    let mut outcome =
        Outcome { worlds, stories, walked, hunts, rogues, kept, took: start.elapsed() };
    outcome.kept = keep(&outcome, options);
    outcome
}

fn worlds(options: &Options) -> Vec<World> {
    let deep = if options.deep { deep_worlds() } else { Vec::new() };
    let all = default_worlds().into_iter().chain(deep);
    all.map(|small| world(&small, options)).collect()
}

fn world(small: &Small, options: &Options) -> World {
    let states = match options.budget {
        Some(budget) => budget.as_secs().saturating_mul(BUDGET_STATES),
        None if options.deep => u64::MAX,
        None => STATES,
    };
    let limits = Limits::default();
    let limits = Limits { states: limits.states.min(states), ..limits };
    let pace = Pace::of_states(small.name);
    let start = Instant::now();
    let explored =
        explore(small, options.sabotage, limits, options.jobs(), &|states| pace.is_at(states));
    pace.ends();
    World { name: small.name, bounds: bounds(small), explored, took: start.elapsed() }
}

/// What there is in a small world, and what may go wrong in it.
fn bounds(small: &Small) -> String {
    let Setup { events, endpoints, relays, workers, .. } = &small.setup;
    let Budget { crashes, drops, duplicates, lost_answers, .. } = small.budget;
    let Budget { failed_commits, handler_failures, stalls, .. } = small.budget;
    let of = |number: usize, one, many| count(number as u64, one, many);
    let there = [
        of(events.len(), "event", "events"),
        of(*endpoints as usize, "endpoint", "endpoints"),
        of(usize::from(*relays), "relay", "relays"),
        of(usize::from(*workers), "worker", "workers"),
    ];
    let wrong = [
        (crashes, "crash", "crashes"),
        (drops, "drop", "drops"),
        (duplicates, "duplicate", "duplicates"),
        (lost_answers, "lost commit answer", "lost commit answers"),
        (failed_commits, "failed commit", "failed commits"),
        (handler_failures, "handler's failure", "handler's failures"),
        (stalls, "stall", "stalls"),
        (small.deeds.len() as u8, "person's deed", "people's deeds"),
    ];
    let wrong = wrong.into_iter().filter(|(most, ..)| *most > 0);
    let wrong: Vec<String> =
        wrong.map(|(most, one, many)| of(usize::from(most), one, many)).collect();
    format!("{}; at most {}", there.join(", "), wrong.join(", "))
}

fn stories(options: &Options) -> Vec<Story> {
    let told = |named: named::Named| Story { name: named.name, told: named.tell(options.sabotage) };
    named::all().into_iter().map(told).collect()
}

fn walks(options: &Options, deadline: Option<Instant>) -> Walked {
    let seeds = options.seeds();
    let pace = Pace::of_histories(seeds.end - seeds.start, deadline);
    let start = Instant::now();
    let (favoured, sabotage) = (options.favoured(), options.sabotage);
    let walks = walk_seeds(seeds, favoured, sabotage, options.promise, options.jobs(), &pace);
    pace.ends();
    Walked { walks, took: start.elapsed() }
}

/// The rogues to hunt: the canary always, and first.
fn hunted(options: &Options) -> Vec<Rogue> {
    let others = options.rogues().into_iter().filter(|rogue| *rogue != CANARY);
    std::iter::once(CANARY).chain(others).collect()
}

/// The canary has its own hunt, by seeds, whatever is asked and whatever time is left: it must be seen by
/// each run.
fn hunts(options: &Options, rogues: &[Rogue], deadline: Option<Instant>) -> Vec<Hunt> {
    let others = match (options.keeps_to(Level::Explore), options.one_rogue()) {
        (true, _) => EFFORT_EXPLORED,
        (false, Some(_)) => Effort { thorough: !options.keeps_to(Level::Sim), ..EFFORT },
        (false, None) => EFFORT,
    };
    let (canary, rest) = rogues.split_at(1);
    let pace = Pace::of_rogues(1, None);
    let mut hunts = hunt_all(canary, Effort { states: 0, ..EFFORT }, 1, &pace);
    pace.ends();
    let pace = Pace::of_rogues(rest.len() as u64, deadline);
    hunts.extend(hunt_all(rest, others, options.jobs(), &pace));
    pace.ends();
    hunts
}

/// How long a rogue is hunted. What escapes all this is not seen by a default run.
const EFFORT: Effort = Effort { tries: 20_000, further: 300, states: 50_000, thorough: false };
/// How long a rogue is hunted in the small worlds alone.
const EFFORT_EXPLORED: Effort = Effort { tries: 0, further: 0, states: 50_000, thorough: true };
/// The most states of a world that a run has time for, unless it is deep.
const STATES: u64 = 3_000_000;
/// The part of a budget after which walks leave the rest to the rogues, in hundredths.
const BUDGET_WALKED: u32 = 60;
/// The states of each small world that a second of the budget is enough for, with time for the rest.
const BUDGET_STATES: u64 = 10_000;
