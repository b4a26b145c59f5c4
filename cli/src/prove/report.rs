//! The report for people: what was checked, what the rogues came to, totals, failures, the verdict.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use hookproof_sim::{
    explore::Explored,
    history::{Family, Line},
    named::Seen,
    oracle::Breach,
    promise::Promise,
    prove::{Hunt, Origin, Tally},
    rogue::CANARY,
    situation::Situation,
};

use super::{
    json::speed,
    matrix,
    options::Options,
    outcome::{Outcome, Verdict, Violation, Walked, World},
};
use crate::{
    say::{
        BAD, DIM, GOOD, HEAD, OPEN, count, hanging, number, per_second, seconds, simulated, wrapped,
    },
    table::{Cell, Side, Table},
};

pub(crate) fn print(outcome: &Outcome, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if outcome.ran() {
        matrix::promises(outcome, options, out)?;
        writeln!(out)?;
    }
    matrix::rogues(outcome, out)?;
    writeln!(out)?;
    stories(outcome, out)?;
    totals(outcome, options, out)?;
    named_rogue(outcome, options, out)?;
    failures(outcome, options, out)?;
    writeln!(out)?;
    sentence(outcome, options, out)
}

pub(super) fn totals(outcome: &Outcome, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    for world in &outcome.worlds {
        explored(world, out)?;
    }
    if let Some(walked) = &outcome.walked {
        histories(walked, options, out)?;
        faults(walked, out)?;
    }
    let seeds = outcome.walked.as_ref().map(|walked| &walked.walks.seeds);
    total("took", &seconds(outcome.took), out)?;
    command("repeat", &options.repeat(seeds), out)?;
    for left_out in outcome.left_out(options) {
        total("left out", &left_out, out)?;
    }
    let shown = if outcome.ran() { outcome.unexercised(options) } else { Vec::new() };
    for idle in shown {
        writeln!(out, "{OPEN}{:<10} {}{OPEN:#}", "not shown", hanging(&idle, HANG))?;
    }
    Ok(())
}

/// Each history with a name, and what came of it.
fn stories(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    if outcome.stories.is_empty() {
        return Ok(());
    }
    let mut table = Table::new([("story", Side::Left), ("", Side::Left)]);
    for story in &outcome.stories {
        let end = match &story.told.breach {
            Some(breach) => Cell::new(format!("BROKE {}", breach.promise), BAD),
            None if story.holds() => Cell::new("as told", GOOD),
            None => Cell::new(surprise(&story.told.surprises), BAD),
        };
        table.row([story.name.into(), end]);
    }
    table.write(out)?;
    writeln!(out)
}

pub(super) fn surprise(surprises: &[(Seen, usize, usize)]) -> String {
    let said = surprises.iter().map(|(seen, times, count)| format!("{seen}: {count}, not {times}"));
    said.collect::<Vec<_>>().join("; ")
}

fn explored(world: &World, out: &mut dyn Write) -> io::Result<()> {
    let Explored { states, transitions, exhausted, .. } = world.explored;
    let bound = if exhausted { "all of" } else { "only a part of" };
    let said = format!(
        "{bound} it: {}, {}, in {} ({} transitions a second)",
        count(states, "state", "states"),
        count(transitions, "transition", "transitions"),
        seconds(world.took),
        number(per_second(transitions, world.took)),
    );
    total("world", &format!("{} ({})", world.name, world.bounds), out)?;
    total("", &said, out)
}

fn histories(walked: &Walked, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let (tally, seeds) = (&walked.walks.tally, &walked.walks.seeds);
    let mean = tally.steps / tally.histories.max(1);
    let last = number(seeds.end.saturating_sub(1));
    let said = format!(
        "{} (seeds {} to {last}), {} on average",
        number(tally.histories),
        number(seeds.start),
        count(mean, "step", "steps"),
    );
    total("histories", &said, out)?;
    total("steps", &format!("{} in {}", number(tally.steps), seconds(walked.took)), out)?;
    total("simulated", &simulated(tally.simulated_ms), out)?;
    let cores = count(options.cores() as u64, "core", "cores");
    let speed = number(speed(walked, options));
    total("speed", &format!("{speed} steps a second a core, on {cores}"), out)
}

fn faults(walked: &Walked, out: &mut dyn Write) -> io::Result<()> {
    let tally = &walked.walks.tally;
    let fired = Family::ALL.into_iter().filter(|family| tally.fired(*family) > 0);
    let rarest = fired.clone().min_by_key(|family| tally.fired(*family));
    let all: u64 = Family::ALL.into_iter().map(|family| tally.fired(family)).sum();
    let families = Family::ALL.len();
    let said = format!("{}, of {} of {families} families", number(all), fired.count());
    let rarest = rarest
        .map(|family| format!("; the rarest: {}, {}", family.name(), number(tally.fired(family))));
    total("faults", &(said + &rarest.unwrap_or_default()), out)?;
    situations(tally, out)
}

/// What faults met, at which step, in which state.
fn situations(tally: &Tally, out: &mut dyn Write) -> io::Result<()> {
    let all = Situation::all();
    let met = all.iter().filter(|situation| tally.met(**situation) > 0);
    let rarest = met.clone().min_by_key(|situation| tally.met(**situation));
    let rarest = rarest
        .map(|situation| format!("; the rarest: {situation}, {}", number(tally.met(*situation))));
    let said = format!("{} of {} (fault, step, state)", met.count(), all.len());
    total("situations", &(said + &rarest.unwrap_or_default()), out)
}

fn total(head: &str, said: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEAD}{head:<10}{HEAD:#} {}", hanging(said, HANG))
}

/// A command stays on one line, to be copied.
fn command(head: &str, command: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEAD}{head:<10}{HEAD:#} {command}")
}

/// The shortest history of the one rogue that was asked for.
fn named_rogue(outcome: &Outcome, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let hunt = outcome.hunts.iter().find(|hunt| Some(hunt.rogue) == options.one_rogue());
    let Some((hunt, catch)) = hunt.and_then(|hunt| Some((hunt, hunt.catch.as_ref()?))) else {
        return Ok(());
    };
    let name = hunt.rogue.name();
    writeln!(out, "\n{HEAD}the shortest history that catches {name}{HEAD:#}")?;
    writeln!(out, "{}", hanging(hunt.rogue.sentence(), 0))?;
    let shown = match catch.origin {
        Origin::Seed(_) => SHOWN,
        Origin::World(_) => usize::MAX,
    };
    let Breach { promise, what } = &catch.breach;
    history(*promise, what, &catch.lines, shown, out)?;
    match catch.origin {
        Origin::Seed(seed) => {
            command("all of it", &format!("hookproof prove --seed {seed} --rogue {name}"), out)?;
        }
        Origin::World(world) => total("in", world, out)?,
    }
    let (Some(shrunk), Some(path)) = (&hunt.shrunk, outcome.kept.rogues.get(name)) else {
        return Ok(());
    };
    let steps = count(shrunk.steps as u64, "step", "steps");
    total("scenario", &format!("{}, which needs {steps}", path.display()), out)?;
    command("replay", &format!("hookproof replay {} --rogue {name}", path.display()), out)
}

fn failures(outcome: &Outcome, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    for violation in outcome.violations(options) {
        broken(&violation, out)?;
    }
    for hunt in outcome.escaped(options) {
        escaped(hunt, options, out)?;
    }
    Ok(())
}

fn broken(violation: &Violation<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Violation { promise, what, lines, kept, command: again, traced, .. } = violation;
    writeln!(out, "\n{BAD}{promise} is BROKEN{BAD:#}: {}", promise.sentence())?;
    history(*promise, what, lines, if *traced { SHOWN } else { usize::MAX }, out)?;
    command(if *traced { "all of it" } else { "again" }, again, out)?;
    kept.map_or(Ok(()), |path| {
        command("replay", &format!("hookproof replay {}", path.display()), out)
    })
}

/// The last part of a history, and what its last line broke.
fn history(
    promise: Promise,
    what: &str,
    lines: &[Line],
    shown: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let from = lines.len().saturating_sub(shown);
    if from > 0 {
        writeln!(out, "{DIM}… {} before{DIM:#}", count(from as u64, "line", "lines"))?;
    }
    for line in &lines[from..] {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{BAD}{promise}{BAD:#}: {what}")
}

fn escaped(hunt: &Hunt, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let name = hunt.rogue.name();
    if hunt.rogue == CANARY {
        writeln!(out, "\n{BAD}THE PROVER IS BLIND{BAD:#}: the canary, {name}, was not caught.")?;
        writeln!(out, "Nothing else in this report means anything until it is.")?;
    } else {
        writeln!(out, "\n{BAD}{name} ESCAPED{BAD:#} in {}", count(hunt.tries, "try", "tries"))?;
    }
    writeln!(out, "{}", hanging(hunt.rogue.sentence(), 0))?;
    for promise in hunt.rogue.breaks() {
        writeln!(out, "expected a breach of {promise}: {}", promise.sentence())?;
    }
    command("again", &options.hunted_again(hunt.rogue), out)
}

/// The verdict, in one sentence.
fn sentence(outcome: &Outcome, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let (verdict, word, said) = verdict(outcome, options);
    let style = match verdict {
        Verdict::Checked => GOOD,
        Verdict::Broken => BAD,
        Verdict::Open => OPEN,
    };
    writeln!(out, "{style}{word}{style:#}: {}", wrapped(&said, word.len() + 2, 2))
}

/// The verdict in a few words, and within which bounds.
pub(super) fn verdict(outcome: &Outcome, options: &Options) -> (Verdict, &'static str, String) {
    let verdict = outcome.verdict(options);
    let word = match verdict {
        Verdict::Checked => "Checked, not proven",
        Verdict::Broken => "Broken",
        Verdict::Open => "Not enough was exercised",
    };
    let caught = outcome.hunts.iter().filter(|hunt| hunt.catch.is_some()).count() as u64;
    let all = count(outcome.rogues.len() as u64, "rogue", "rogues");
    let held = held(outcome, options);
    (verdict, word, format!("{held}{} of {all} caught.", number(caught)))
}

fn held(outcome: &Outcome, options: &Options) -> String {
    if !outcome.ran() {
        return String::new();
    }
    let bounds = bounds(outcome);
    let (promises, violations) = (options.promises(), outcome.violations(options));
    if !violations.is_empty() {
        let broken: BTreeSet<Promise> = violations.iter().map(|broken| broken.promise).collect();
        let ids: Vec<&str> = broken.into_iter().map(Promise::id).collect();
        return format!("{} did not hold in {bounds}; ", ids.join(" and "));
    }
    let checked = |promise: &&Promise| outcome.verdict_of(**promise, options) == Verdict::Checked;
    let shown = promises.iter().filter(checked).count() as u64;
    let promises = count(promises.len() as u64, "promise", "promises");
    let were = if shown == 1 { "was" } else { "were" };
    format!("{} of {promises} {were} in danger and held in {bounds}; ", number(shown))
}

/// What a verdict is about.
fn bounds(outcome: &Outcome) -> String {
    let states = outcome.worlds.iter().map(|world| world.explored.states).sum();
    let worlds = outcome.worlds.len() as u64;
    let states = || {
        let worlds = count(worlds, "small world", "small worlds");
        format!("{} of {worlds}", count(states, "state", "states"))
    };
    let walked = outcome.walked.as_ref().map(|walked| walked.walks.tally.histories);
    let histories = walked.map(|walked| count(walked, "seeded history", "seeded histories"));
    match histories {
        Some(histories) if worlds > 0 => format!("{histories} and {}", states()),
        Some(histories) => histories,
        None => states(),
    }
}

/// Where what is said of a total begins.
const HANG: usize = 11;
/// How many lines of a history are shown where it fails.
pub(super) const SHOWN: usize = 24;
