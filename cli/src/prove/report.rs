//! The report for people: what was checked, what the rogues came to, totals, failures, the verdict.

use std::io::{self, Write};

use hookproof_sim::{
    history::{Family, Line},
    oracle::Breach,
    promise::Promise,
    prove::Hunt,
    rogue::CANARY,
};

use super::{
    json::speed,
    matrix,
    options::Options,
    outcome::{Outcome, Verdict, Violation, Walked},
};
use crate::say::{BAD, DIM, GOOD, HEAD, OPEN, count, number, seconds, simulated};

pub(crate) fn print(outcome: &Outcome, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if outcome.walked.is_some() {
        matrix::promises(outcome, options, out)?;
        writeln!(out)?;
    }
    matrix::rogues(outcome, out)?;
    writeln!(out)?;
    totals(outcome, options, out)?;
    named_rogue(outcome, options, out)?;
    failures(outcome, options, out)?;
    writeln!(out)?;
    sentence(outcome, options, out)
}

fn totals(outcome: &Outcome, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if let Some(walked) = &outcome.walked {
        histories(walked, options, out)?;
        faults(walked, out)?;
    }
    let seeds = outcome.walked.as_ref().map(|walked| &walked.walks.seeds);
    total("took", &seconds(outcome.took), out)?;
    total("repeat", &options.repeat(seeds), out)?;
    for left_out in outcome.left_out(options) {
        total("left out", &left_out, out)?;
    }
    let shown = if outcome.walked.is_some() { outcome.unexercised(options) } else { Vec::new() };
    for idle in shown {
        writeln!(out, "{OPEN}{:<10} {idle}{OPEN:#}", "not shown")?;
    }
    Ok(())
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
    total("faults", &(said + &rarest.unwrap_or_default()), out)
}

fn total(head: &str, said: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEAD}{head:<10}{HEAD:#} {said}")
}

/// The shortest history of the one rogue that was asked for.
fn named_rogue(outcome: &Outcome, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let hunt = outcome.hunts.iter().find(|hunt| Some(hunt.rogue) == options.one_rogue());
    let Some((hunt, catch)) = hunt.and_then(|hunt| Some((hunt, hunt.catch.as_ref()?))) else {
        return Ok(());
    };
    let name = hunt.rogue.name();
    writeln!(out, "\n{HEAD}the shortest history that catches {name}{HEAD:#}")?;
    history(&catch.breach, &catch.lines, out)?;
    total("all of it", &format!("hookproof prove --seed {} --rogue {name}", catch.seed), out)
}

fn failures(outcome: &Outcome, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    for violation in outcome.violations() {
        broken(&violation, options, out)?;
    }
    for hunt in outcome.escaped() {
        escaped(hunt, out)?;
    }
    Ok(())
}

fn broken(violation: &Violation<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let found = violation.found;
    let promise = found.breach.promise;
    writeln!(out, "\n{BAD}{promise} is BROKEN{BAD:#}: {}", promise.sentence())?;
    history(&found.breach, &found.lines, out)?;
    let command = match violation.hunt_for {
        Some(rogue) => format!("hookproof prove --seed {} --favour {}", found.seed, rogue.name()),
        None => options.trace(found.seed),
    };
    total("all of it", &command, out)
}

/// The last part of a history, and what its last line broke.
fn history(breach: &Breach, lines: &[Line], out: &mut dyn Write) -> io::Result<()> {
    let from = lines.len().saturating_sub(SHOWN);
    if from > 0 {
        writeln!(out, "{DIM}… {} before{DIM:#}", count(from as u64, "line", "lines"))?;
    }
    for line in &lines[from..] {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{BAD}{}{BAD:#}: {}", breach.promise, breach.what)
}

fn escaped(hunt: &Hunt, out: &mut dyn Write) -> io::Result<()> {
    let name = hunt.rogue.name();
    if hunt.rogue == CANARY {
        writeln!(out, "\n{BAD}THE PROVER IS BLIND{BAD:#}: the canary, {name}, was not caught.")?;
        writeln!(out, "Nothing else in this report means anything until it is.")?;
    } else {
        writeln!(out, "\n{BAD}{name} ESCAPED{BAD:#} in {} histories", number(hunt.tries))?;
    }
    for promise in hunt.rogue.breaks() {
        writeln!(out, "expected a breach of {promise}: {}", promise.sentence())?;
    }
    total("again", &format!("hookproof prove --rogue {name} --seeds 1"), out)
}

/// The verdict, in one sentence.
fn sentence(outcome: &Outcome, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let (style, word) = match outcome.verdict(options) {
        Verdict::Checked => (GOOD, "Checked, not proven"),
        Verdict::Broken => (BAD, "Broken"),
        Verdict::Open => (OPEN, "Not enough was exercised"),
    };
    let caught = outcome.hunts.iter().filter(|hunt| hunt.catch.is_some()).count() as u64;
    let all = count(outcome.rogues.len() as u64, "rogue", "rogues");
    let held = held(outcome, options);
    writeln!(out, "{style}{word}{style:#}: {held}{} of {all} caught.", number(caught))
}

fn held(outcome: &Outcome, options: &Options) -> String {
    if outcome.walked.is_none() {
        return String::new();
    }
    let bounds = bounds(outcome);
    let (promises, violations) = (options.promises(), outcome.violations());
    if !violations.is_empty() {
        let ids = violations.iter().map(|violation| violation.found.breach.promise.id());
        return format!("{} did not hold in {bounds}; ", ids.collect::<Vec<_>>().join(" and "));
    }
    let checked = |promise: &&Promise| outcome.verdict_of(**promise) == Verdict::Checked;
    let shown = promises.iter().filter(checked).count() as u64;
    let promises = count(promises.len() as u64, "promise", "promises");
    format!("{} of {promises} were in danger and held in {bounds}; ", number(shown))
}

/// What a verdict is about.
fn bounds(outcome: &Outcome) -> String {
    let histories = outcome.walked.as_ref().map_or(0, |walked| walked.walks.tally.histories);
    count(histories, "seeded history", "seeded histories")
}

/// How many lines of a history are shown where it fails.
const SHOWN: usize = 24;
