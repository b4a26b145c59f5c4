//! The report for programs: one object, its keys in a fixed order.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use hookproof_sim::{history::Family, promise::Promise, prove::Hunt, situation::Situation};
use serde::{Serialize, Serializer};

use super::{
    keep::Kept,
    options::{Level, Options},
    outcome::{self, Outcome, Verdict, Walked},
};
use crate::say::per_second;

#[derive(Serialize)]
struct Report {
    verdict: &'static str,
    seconds: f64,
    histories: u64,
    steps: u64,
    steps_per_second_per_core: u64,
    violations: usize,
    /// The first seed and the last one.
    seed_range: Option<[u64; 2]>,
    repeat: String,
    promises: Vec<Row>,
    rogues: Vec<Rogue>,
    explore: Vec<World>,
    faults: Pairs,
    /// How often each fault met each step in each state.
    situations: BTreeMap<String, u64>,
    stories: Vec<Story>,
}

#[derive(Serialize)]
struct Story {
    name: &'static str,
    verdict: &'static str,
}

#[derive(Serialize)]
struct Row {
    id: &'static str,
    sentence: &'static str,
    levels: Pairs,
    in_danger: u64,
    verdict: &'static str,
}

#[derive(Serialize)]
struct Rogue {
    name: &'static str,
    promise: Option<&'static str>,
    level: Option<&'static str>,
    caught: bool,
    tries: u64,
    steps: Option<usize>,
    /// Steps of the scenario that is left of a history.
    shrunk_steps: Option<usize>,
    /// Where it was written.
    scenario: Option<String>,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the key is `world`")]
struct World {
    world: &'static str,
    states: u64,
    transitions: u64,
    transitions_per_second: u64,
    exhausted: bool,
    seconds: f64,
}

/// An object whose keys stay in their order.
struct Pairs(Vec<(&'static str, u64)>);

impl Serialize for Pairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

pub(crate) fn print(outcome: &Outcome, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let report = report(outcome, options);
    serde_json::to_writer(&mut *out, &report).map_err(io::Error::from)?;
    writeln!(out)
}

fn report(outcome: &Outcome, options: &Options) -> Report {
    let walked = outcome.walked.as_ref();
    let tally = walked.map(|walked| &walked.walks.tally);
    let seeds = walked.map(|walked| &walked.walks.seeds).filter(|seeds| !seeds.is_empty());
    let fired = |family| tally.map_or(0, |tally| tally.fired(family));
    Report {
        verdict: word(outcome.verdict(options)),
        seconds: outcome.took.as_secs_f64(),
        histories: tally.map_or(0, |tally| tally.histories),
        steps: tally.map_or(0, |tally| tally.steps),
        steps_per_second_per_core: walked.map_or(0, |walked| speed(walked, options)),
        violations: outcome.violations(options).len(),
        seed_range: seeds.map(|seeds| [seeds.start, seeds.end - 1]),
        repeat: options.repeat(seeds),
        promises: outcome
            .asked(options)
            .into_iter()
            .map(|promise| row(promise, outcome, options))
            .collect(),
        rogues: outcome.hunts.iter().map(|hunt| rogue(hunt, &outcome.kept)).collect(),
        explore: outcome.worlds.iter().map(world).collect(),
        faults: Pairs(Family::ALL.map(|family| (family.name(), fired(family))).to_vec()),
        situations: tally.map_or_else(BTreeMap::new, |tally| {
            Situation::all().into_iter().map(|of| (of.to_string(), tally.met(of))).collect()
        }),
        stories: outcome.stories.iter().map(story).collect(),
    }
}

/// Lines that a core walked and judged in a second.
pub(crate) fn speed(walked: &Walked, options: &Options) -> u64 {
    per_second(walked.walks.tally.steps, walked.took) / options.cores() as u64
}

fn row(promise: Promise, outcome: &Outcome, options: &Options) -> Row {
    let mut levels = Vec::new();
    if !outcome.worlds.is_empty() {
        levels.push((Level::Explore.name(), outcome.states(promise)));
    }
    if outcome.walked.is_some() {
        levels.push((Level::Sim.name(), outcome.kept(promise)));
    }
    Row {
        id: promise.id(),
        sentence: promise.sentence(),
        levels: Pairs(levels),
        in_danger: outcome.danger(promise),
        verdict: word(outcome.verdict_of(promise, options)),
    }
}

fn rogue(hunt: &Hunt, kept: &Kept) -> Rogue {
    let catch = hunt.catch.as_ref();
    Rogue {
        name: hunt.rogue.name(),
        promise: catch.map(|catch| catch.breach.promise.id()),
        level: catch.map(|catch| Level::of(catch.origin).name()),
        caught: catch.is_some(),
        tries: hunt.tries,
        steps: catch.map(|catch| catch.lines.len()),
        shrunk_steps: hunt.shrunk.as_ref().map(|shrunk| shrunk.steps),
        scenario: kept.rogues.get(hunt.rogue.name()).map(|path| path.display().to_string()),
    }
}

fn world(world: &outcome::World) -> World {
    let explored = &world.explored;
    World {
        world: world.name,
        states: explored.states,
        transitions: explored.transitions,
        transitions_per_second: per_second(explored.transitions, world.took),
        exhausted: explored.exhausted,
        seconds: world.took.as_secs_f64(),
    }
}

fn story(story: &outcome::Story) -> Story {
    let verdict = if story.holds() { Verdict::Checked } else { Verdict::Broken };
    Story { name: story.name, verdict: word(verdict) }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Checked => "pass",
        Verdict::Broken => "fail",
        Verdict::Open => "inconclusive",
    }
}
