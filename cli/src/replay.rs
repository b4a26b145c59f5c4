//! `hookproof replay`: runs scenarios from files, and says whether what was to come of them did.

use std::{
    io::{self, IsTerminal as _, Write},
    path::PathBuf,
};

use clap::Args;
use hookproof_sim::{
    history::Line,
    oracle::Breach,
    rogue::Rogue,
    scenario::{Played, Scenario},
    trace::{Clock, Rows},
};
use serde::Serialize;

use crate::{
    End,
    files::{self, Found},
    html::scene::{self, Scene},
    input::{Fault, note},
    prove::rogue_named,
    say::{BAD, DIM, GOOD, HEAD, OPEN, count, hanging, number},
    table::{Cell, Side, Table},
};

/// How a replay ends, below the help.
pub(crate) const ENDS: &str = "\
Exit codes: 0 all came as expected; 1 a promise was broken, or something else came of it; 2 an option was not
understood; 3 a file is no scenario; 4 nothing was broken, and a fault did not happen.";

/// Options of `hookproof replay`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Scenarios, or directories of them.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Switch this wrong line on: what the scenario expects, it expects of the correct code.
    #[arg(long, value_name = "NAME", value_parser = rogue_named)]
    rogue: Option<Rogue>,

    /// Print the trace of each, and not of a single one alone.
    #[arg(long)]
    trace: bool,

    /// Wait for the return key after each step of the trace.
    #[arg(long, conflicts_with = "json")]
    step: bool,

    /// Write a page for a browser as well: each scenario drawn, with the rows of both databases at each
    /// step.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Print one JSON object a scenario, one a line.
    #[arg(long)]
    json: bool,
}

/// What a replay came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    AsExpected,
    Otherwise,
    Unfired,
}

#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    name: &'a str,
    about: &'static str,
    verdict: &'static str,
    steps: usize,
    broken: Vec<BrokenAt<'a>>,
    unfired: Vec<String>,
    surprises: Vec<String>,
}

#[derive(Serialize)]
struct BrokenAt<'a> {
    promise: &'static str,
    step: usize,
    what: &'a str,
}

/// Replays what the options name.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> io::Result<End> {
    let found = Found::of(&options.files, FORMS);
    let mut end = End::Kept;
    for fault in found.faults {
        end = fault.end();
    }
    for name in &found.skipped {
        note("skipped", &format!("{name}: it has no `format` of {FORMS}"));
    }
    let mut table = Table::new([("scenario", Side::Left), ("about", Side::Left), ("", Side::Left)]);
    let alone = found.files.len() == 1;
    let mut as_expected = 0;
    let mut shown: Vec<(&str, Scenario)> = Vec::new();
    for (name, text) in &found.files {
        let scenario = match Scenario::from_json(text) {
            Ok(scenario) => scenario,
            Err(why) => {
                end = Fault::unreadable(format!("{name}: {why}")).end();
                continue;
            }
        };
        let played = scenario.play(options.rogue);
        let came = came(&played);
        if options.json {
            let report = report(name, &scenario, &played, came);
            serde_json::to_writer(&mut *out, &report).map_err(io::Error::from)?;
            writeln!(out)?;
        } else if alone || options.trace || options.step {
            head(name, &scenario, options, out)?;
            trace(&scenario, &played, options.step, out)?;
            ending(&scenario, &played, came, out)?;
        } else if came != Came::AsExpected {
            table.row([name.as_str().into(), scenario.about.id().into(), cell(&played, came)]);
        }
        end = worse(end, came);
        as_expected += u64::from(came == Came::AsExpected);
        if options.html.is_some() {
            shown.push((name, scenario));
        }
    }
    let all = found.files.len() as u64;
    if !options.json && !alone {
        if as_expected < all && !options.trace && !options.step {
            table.write(out)?;
        }
        let all = count(all, "scenario", "scenarios");
        writeln!(out, "{} of {all} came as expected", number(as_expected))?;
    }
    if let Some(path) = &options.html
        && let Err(fault) = files::write(path, &page(&shown, options.rogue))
    {
        end = fault.end();
    }
    Ok(end)
}

fn page(shown: &[(&str, Scenario)], rogue: Option<Rogue>) -> String {
    let with = rogue.map_or_else(String::new, |rogue| format!(" --rogue {}", rogue.name()));
    let scenes = shown.iter().enumerate().map(|(number, (name, scenario))| {
        let command = format!("hookproof replay {name}{with}");
        Scene::new(format!("s{number}"), scenario, rogue, command)
    });
    let scenes: Vec<Scene<'_>> = scenes.collect();
    scene::page(&scenes)
}

fn came(played: &Played) -> Came {
    if !played.report.broken.is_empty() || !played.surprises.is_empty() || !played.walk.ended {
        Came::Otherwise
    } else if played.unfired.is_empty() {
        Came::AsExpected
    } else {
        Came::Unfired
    }
}

/// What cannot be read counts more than what broke, and that more than what did not happen.
fn worse(end: End, came: Came) -> End {
    match (end, came) {
        (End::Failed, _) => End::Failed,
        (_, Came::Otherwise) | (End::Broken, _) => End::Broken,
        (_, Came::Unfired) => End::Unexercised,
        (end, Came::AsExpected) => end,
    }
}

fn head(name: &str, scenario: &Scenario, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let Scenario { name: title, about, seen, .. } = scenario;
    let title = if title.is_empty() { name } else { title };
    writeln!(out, "{HEAD}{title}{HEAD:#}")?;
    writeln!(out, "{DIM}{about}: {}{DIM:#}", hanging(about.sentence(), 4))?;
    if !seen.is_empty() {
        writeln!(out, "{DIM}seen: {}{DIM:#}", hanging(seen, 6))?;
    }
    if let Some(rogue) = options.rogue {
        let said = format!("with the rogue {}: {}", rogue.name(), rogue.sentence());
        writeln!(out, "{OPEN}{}{OPEN:#}", hanging(&said, 0))?;
    }
    writeln!(out)
}

/// One line a step: what a process did between two I/O boundaries.
fn trace(scenario: &Scenario, played: &Played, stops: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{HEAD}{}{HEAD:#}",
        columns("time", "node", ["event", "delivery", "attempt"], "what happened")
    )?;
    let broken = played.report.breach().map(|broken| broken.line + 1);
    for lines in played.steps() {
        let breaks = broken == Some(lines.end);
        let said = step(&played.lines[lines], scenario);
        if breaks {
            writeln!(out, "{BAD}{said}{BAD:#}")?;
        } else {
            writeln!(out, "{said}")?;
        }
        if stops && !breaks {
            out.flush()?;
            wait()?;
        }
    }
    Ok(())
}

fn step(lines: &[Line], scenario: &Scenario) -> String {
    let rows = lines.iter().map(|line| Rows::of(&line.fact, |of| scenario.setup.event_of(of)));
    let rows = rows.fold(Rows::default(), Rows::or);
    let numbers = [rows.event, rows.delivery, rows.attempt]
        .map(|number| number.map_or_else(String::new, |number| number.to_string()));
    let what: Vec<String> = lines.iter().map(|line| line.fact.to_string()).collect();
    let (at, by) = (Clock(lines[0].at).to_string(), lines[0].by.to_string());
    columns(&at, &by, [&numbers[0], &numbers[1], &numbers[2]], &what.join("; "))
}

fn columns(at: &str, by: &str, [event, delivery, attempt]: [&str; 3], what: &str) -> String {
    format!("{at:>17}  {by:<14}  {event:>5}  {delivery:>8}  {attempt:>7}  {what}")
}

/// Waits for the return key, where a person can press it.
fn wait() -> io::Result<()> {
    if io::stdin().is_terminal() {
        io::stdin().read_line(&mut String::new())?;
    }
    Ok(())
}

fn ending(scenario: &Scenario, played: &Played, came: Came, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    for broken in &played.report.broken {
        let Breach { promise, what } = &broken.breach;
        let at = count(played.steps_to(broken.line) as u64, "step", "steps");
        writeln!(out, "{BAD}{promise} is broken{BAD:#} after {at}: {what}")?;
    }
    for (seen, times, count) in &played.surprises {
        writeln!(out, "{BAD}{seen}{BAD:#}: {count}, expected {times}")?;
    }
    if !played.walk.ended && played.report.broken.is_empty() {
        writeln!(out, "{BAD}it never ends{BAD:#}: left before all timers had run out")?;
    }
    for unfired in &played.unfired {
        writeln!(out, "{OPEN}did not happen{OPEN:#}: {unfired}")?;
    }
    match came {
        Came::AsExpected => {
            let danger = played.report.danger.of(scenario.about);
            let danger = count(u64::from(danger), "time", "times");
            let about = scenario.about;
            writeln!(
                out,
                "{GOOD}as expected{GOOD:#}: every promise was kept; {about} was in danger {danger}"
            )
        }
        Came::Unfired => {
            writeln!(out, "{OPEN}inconclusive{OPEN:#}: not all happened that was to happen")
        }
        Came::Otherwise => writeln!(out, "{BAD}not as expected{BAD:#}"),
    }
}

fn cell(played: &Played, came: Came) -> Cell {
    match came {
        Came::AsExpected => Cell::new("as expected", GOOD),
        Came::Unfired => Cell::new(format!("did not happen: {}", played.unfired[0]), OPEN),
        Came::Otherwise => match (played.report.breach(), played.surprises.first()) {
            (Some(broken), _) => Cell::new(format!("BROKE {}", broken.breach.promise), BAD),
            (None, Some((seen, times, count))) => {
                Cell::new(format!("{seen}: {count}, expected {times}"), BAD)
            }
            (None, None) => Cell::new("never ends", BAD),
        },
    }
}

fn report<'a>(file: &'a str, scenario: &'a Scenario, played: &'a Played, came: Came) -> Report<'a> {
    let broken = played.report.broken.iter().map(|broken| BrokenAt {
        promise: broken.breach.promise.id(),
        step: played.steps_to(broken.line),
        what: &broken.breach.what,
    });
    let surprises = played.surprises.iter();
    Report {
        file,
        name: &scenario.name,
        about: scenario.about.id(),
        verdict: match came {
            Came::AsExpected => "pass",
            Came::Otherwise => "fail",
            Came::Unfired => "inconclusive",
        },
        steps: played.walk.cuts.len(),
        broken: broken.collect(),
        unfired: played.unfired.iter().map(ToString::to_string).collect(),
        surprises: surprises
            .map(|(seen, times, count)| format!("{seen}: {count}, expected {times}"))
            .collect(),
    }
}

const FORMS: &str = "hookproof-scenario";
