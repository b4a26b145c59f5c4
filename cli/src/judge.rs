//! `hookproof judge`: the oracle over anybody's history.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use hookproof_sim::{
    oracle::Verdict,
    record::{Decision, Held, Holds, Judged, Place, Record, Why, profiles},
};
use serde_json::{Value, json};

use crate::{
    End, files,
    html::record::page,
    input::{self, Fault},
    say::{BAD, DIM, GOOD, OPEN, count, hanging, number, short},
    table::{Cell, Side, Table},
};

/// How `judge` ends.
pub(crate) const ENDS: &str = "\
Exit codes: 0 no promise is broken; 1 one is; 3 a history cannot be read; 4 nothing could be decided.

The format is in vectors/HISTORY.md. A history that holds few facts decides few promises: what cannot be \
decided is listed with what is missing.";

/// Options of `hookproof judge`.
#[derive(Args)]
pub(crate) struct Options {
    /// Histories (hookproof-history/1, JSON Lines), or `-`.
    #[arg(required = true, value_name = "FILE")]
    paths: Vec<PathBuf>,

    /// Hold them against this profile instead of their own: hookproof, paymos or standard-webhooks.
    #[arg(long, value_name = "NAME", value_parser = profile)]
    profile: Option<String>,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    /// Write a page that shows each history, and where it breaks.
    #[arg(long, value_name = "OUT")]
    html: Option<PathBuf>,
}

fn profile(name: &str) -> Result<String, String> {
    let known = profiles().map(|profile| profile.name);
    if known.contains(&name) {
        return Ok(name.to_owned());
    }
    Err(format!("expected one of {}", known.join(", ")))
}

/// Judges each history.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> io::Result<End> {
    if let Err(fault) = input::one_stdin(options.paths.iter().map(PathBuf::as_path)) {
        return Ok(fault.end());
    }
    let mut ends = Vec::new();
    let mut objects = Vec::new();
    let mut told = Vec::new();
    for path in &options.paths {
        let name = path.display().to_string();
        let read = input::text(path).and_then(|text| {
            Record::read(&text, options.profile.as_deref())
                .map_err(|bad| Fault::unreadable(format!("{name}: {bad}")))
        });
        let record = match read {
            Ok(record) => record,
            Err(fault) => {
                objects.push(json!({ "file": name, "error": fault.to_string() }));
                ends.push(fault.end());
                continue;
            }
        };
        let judged = record.judge();
        if options.json {
            objects.push(object(&name, &record, &judged));
        } else {
            print(&name, &record, &judged, out)?;
        }
        ends.push(end(&judged));
        told.push((name, record, judged));
    }
    if let Some(path) = &options.html
        && let Err(fault) = files::write(path, &page(&told))
    {
        ends.push(fault.end());
    }
    if options.json {
        writeln!(out, "{}", json!({ "histories": objects }))?;
    }
    // What is worst counts: unreadable, broken, nothing decided.
    let order = [End::Failed, End::Broken, End::Unexercised];
    Ok(order.into_iter().find(|end| ends.contains(end)).unwrap_or(End::Kept))
}

fn end(judged: &Judged) -> End {
    match judged.verdict() {
        Verdict::Pass => End::Kept,
        Verdict::Fail => End::Broken,
        Verdict::Inconclusive => End::Unexercised,
    }
}

fn print(name: &str, record: &Record, judged: &Judged, out: &mut dyn Write) -> io::Result<()> {
    let lines = count(record.lines.len() as u64, "fact", "facts");
    writeln!(out, "{DIM}{name}: {lines}, profile {}{DIM:#}", record.terms.profile.name)?;
    let mut table = Table::new([
        ("", Side::Left),
        ("promise", Side::Left),
        ("in danger", Side::Right),
        ("", Side::Left),
        ("", Side::Left),
    ]);
    for decision in &judged.decisions {
        let Decision { promise, verdict, danger, why } = decision;
        let (word, said) = match verdict {
            Verdict::Pass => (Cell::new("pass", GOOD), String::new()),
            Verdict::Fail => (Cell::new("FAIL", BAD), brief(why.as_ref(), record.holds)),
            Verdict::Inconclusive => {
                (Cell::new("undecided", OPEN), brief(why.as_ref(), record.holds))
            }
        };
        table.row([
            promise.id().into(),
            short(promise.sentence(), SENTENCE).into(),
            if *danger == 0 { Cell::new("-", DIM) } else { number(u64::from(*danger)).into() },
            word,
            Cell::new(said, DIM),
        ]);
    }
    table.write(out)?;
    for decision in &judged.decisions {
        let broken = decision.verdict == Verdict::Fail;
        match &decision.why {
            Some(Why::Broken(Place { line, promise, what })) if broken => {
                let said = format!("{name}:{line}: {what}");
                let column = promise.id().len() + 2;
                writeln!(out, "\n{BAD}{promise}{BAD:#}: {}", hanging(&said, column))?;
                writeln!(out, "{DIM}{promise}: {}{DIM:#}", hanging(promise.sentence(), column))?;
            }
            Some(Why::Unexcused(Place { line, promise, what }, holds)) => {
                let said = format!(
                    "{name}:{line}: {what}. Whether something excuses it cannot be told without {}",
                    listed(*holds)
                );
                let column = promise.id().len() + 2;
                writeln!(out, "\n{OPEN}{promise}{OPEN:#}: {}", hanging(&said, column))?;
            }
            _ => {}
        }
    }
    writeln!(out, "\n{}", sentence(judged))
}

/// Why, in a few words.
fn brief(why: Option<&Why>, holds: Holds) -> String {
    match why {
        None => String::new(),
        Some(Why::Broken(place)) => format!("line {}", place.line),
        Some(Why::Unexcused(place, _)) => format!("line {} may be excused", place.line),
        Some(Why::Ended(place)) => {
            format!("up to line {}, which breaks {}", place.line, place.promise)
        }
        Some(Why::Missing(missing)) => {
            let names = listed(*missing);
            let few = short(&names, MISSING);
            let all = missing.each().count();
            if few == names { format!("without {names}") } else { format!("without {few} ({all})") }
        }
        Some(Why::Untold) if holds == Holds::ALL => "no line shows what it needs".to_owned(),
        Some(Why::Untold) => "it does not go on to its end".to_owned(),
    }
}

fn listed(holds: Holds) -> String {
    holds.each().map(Held::name).collect::<Vec<_>>().join(", ")
}

fn sentence(judged: &Judged) -> String {
    let of = |verdict| judged.decisions.iter().filter(|d| d.verdict == verdict).count() as u64;
    let (kept, broken, open) = (of(Verdict::Pass), of(Verdict::Fail), of(Verdict::Inconclusive));
    let word = match judged.verdict() {
        Verdict::Pass => format!("{GOOD}Nothing is broken{GOOD:#}"),
        Verdict::Fail => format!("{BAD}Broken{BAD:#}"),
        Verdict::Inconclusive => format!("{OPEN}Nothing could be decided{OPEN:#}"),
    };
    let idle_pass = judged
        .decisions
        .iter()
        .filter(|decision| decision.verdict == Verdict::Pass && decision.danger == 0)
        .count() as u64;
    let idle = if idle_pass > 0 {
        format!(" ({} of them never in danger here)", number(idle_pass))
    } else {
        String::new()
    };
    format!(
        "{word}: {} kept{idle}, {} broken, {} undecided.",
        count(kept, "promise", "promises"),
        number(broken),
        number(open)
    )
}

fn object(name: &str, record: &Record, judged: &Judged) -> Value {
    let place = |place: &Place| json!({ "line": place.line, "promise": place.promise.id(), "what": place.what });
    let names = |holds: Holds| holds.each().map(Held::name).collect::<Vec<_>>();
    let promises = judged.decisions.iter().map(|decision| {
        let mut row = json!({
            "id": decision.promise.id(),
            "sentence": decision.promise.sentence(),
            "verdict": word(decision.verdict),
            "in_danger": decision.danger,
        });
        match &decision.why {
            None => {}
            Some(Why::Broken(of)) => row["breach"] = place(of),
            Some(Why::Unexcused(of, missing)) => {
                row["looks_broken"] = place(of);
                row["missing"] = json!(names(*missing));
            }
            Some(Why::Ended(of)) => row["read_up_to"] = place(of),
            Some(Why::Missing(missing)) => row["missing"] = json!(names(*missing)),
            Some(Why::Untold) => row["untold"] = json!(true),
        }
        row
    });
    json!({
        "file": name,
        "verdict": word(judged.verdict()),
        "facts": record.lines.len(),
        "profile": record.terms.profile.name,
        "promises": promises.collect::<Vec<_>>(),
    })
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// How much of a promise's sentence the table shows.
const SENTENCE: usize = 40;
/// How much of what is missing the table shows.
const MISSING: usize = 44;
