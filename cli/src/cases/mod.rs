//! `hookproof cases`: runs case files against the built-in implementation, and holds them to the house
//! rules.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use hookproof_conformance::{
    cases::{File, Level, Outcome, Report},
    lint,
};
use hookproof_core::profile::Profile;
use serde_json::json;

use crate::{
    End,
    files::{Found, manifest},
    input::{self, Fault},
    say::{BAD, DIM, GOOD, OPEN},
};

/// What is done with case files.
#[derive(Subcommand)]
pub(crate) enum Cases {
    /// Run case files against the built-in implementation, and print each case that differs.
    #[command(after_help = CHECK_ENDS)]
    Check(Check),
    /// Hold case files to the house rules: schema, unique ids, flags explained, counts, recipes.
    #[command(after_help = LINT_ENDS)]
    Lint(Lint),
}

/// Options of `hookproof cases check`.
#[derive(Args)]
pub(crate) struct Check {
    /// Case files (hookproof-cases/1), directories with such files anywhere below, or `-`.
    #[arg(required = true, value_name = "FILE")]
    paths: Vec<PathBuf>,

    /// A `should` that differs counts like a `must`.
    #[arg(long)]
    strict: bool,

    /// Make the choices of this profile: hookproof, paymos or standard-webhooks.
    #[arg(long, value_name = "NAME", default_value = "hookproof", value_parser = profile)]
    profile: Profile,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Options of `hookproof cases lint`.
#[derive(Args)]
pub(crate) struct Lint {
    /// Case files, or directories with such files anywhere below; a `manifest.json` in or beside a
    /// directory states counts.
    #[arg(required = true, value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Does what is asked.
pub(crate) fn run(cases: &Cases, out: &mut dyn Write) -> io::Result<End> {
    match cases {
        Cases::Check(options) => check(options, out),
        Cases::Lint(options) => lint(options, out),
    }
}

fn check(options: &Check, out: &mut dyn Write) -> io::Result<End> {
    let mut report = Report::default();
    let Found { files, skipped, mut faults } = Found::of(&options.paths, FORMS);
    for (name, text) in &files {
        match run_file(name, text, &options.profile) {
            Ok(results) => {
                for result in results {
                    match result {
                        Ok(outcome) => report.outcomes.push(outcome),
                        Err(fault) => faults.push(fault),
                    }
                }
            }
            Err(fault) => faults.push(fault),
        }
    }
    if report.outcomes.is_empty() && faults.is_empty() {
        faults.push(Fault::unreadable("expected at least one case: there is none to agree"));
    }
    if options.json {
        print_json(&report, (&skipped, &faults), options, out)?;
    } else {
        print(&report, (&skipped, &faults), options, out)?;
    }
    Ok(match report.exit_code(options.strict) {
        _ if !faults.is_empty() => End::Failed,
        0 => End::Kept,
        _ => End::Broken,
    })
}

/// Every case of a file, or why it cannot be read. A case that cannot does not hide the others.
fn run_file(
    name: &str,
    text: &str,
    profile: &Profile,
) -> Result<Vec<Result<Outcome, Fault>>, Fault> {
    let fault = |why: &dyn std::fmt::Display| Fault::unreadable(format!("{name}: {why}"));
    let file = File::read(text).map_err(|why| fault(&why))?;
    Ok(file.each(profile).map(|result| result.map_err(|why| fault(&why))).collect())
}

fn print(
    report: &Report,
    (skipped, faults): (&[String], &[Fault]),
    options: &Check,
    out: &mut dyn Write,
) -> io::Result<()> {
    for outcome in report.outcomes.iter().filter(|outcome| outcome.is_worth_a_line()) {
        let style = match (outcome.level, outcome.agrees) {
            (Level::Policy, _) => DIM,
            (Level::Should, false) if !options.strict => OPEN,
            (Level::Must | Level::Should, false) => BAD,
            (Level::Must | Level::Should, true) => GOOD,
        };
        let line = outcome.to_string();
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        writeln!(out, "{style}{word}{style:#} {rest}")?;
    }
    for fault in faults {
        writeln!(out, "{BAD}unread{BAD:#}   {fault}")?;
    }
    print_skipped(skipped, out)?;
    for tally in report.tallies() {
        writeln!(out, "{:<20} {} of {} agree", tally.kind, tally.agreeing, tally.cases)?;
    }
    let (agreeing, all) = (agreeing(report), report.outcomes.len());
    let profile = options.profile.name;
    let unread = match faults.len() {
        0 => String::new(),
        number => format!(", {number} not read"),
    };
    writeln!(out, "{:<20} {agreeing} of {all} agree{unread}, under the profile {profile}", "total")
}

fn print_json(
    report: &Report,
    (skipped, faults): (&[String], &[Fault]),
    options: &Check,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = |outcome: &Outcome| {
        json!({
            "id": outcome.id, "kind": outcome.kind, "level": outcome.level.name(),
            "agrees": outcome.agrees, "expected": outcome.expected, "got": outcome.got,
            "why": outcome.why,
        })
    };
    let of = |wanted: &dyn Fn(&Outcome) -> bool| -> Vec<serde_json::Value> {
        report.outcomes.iter().filter(|outcome| wanted(outcome)).map(shown).collect()
    };
    let policy = |outcome: &Outcome| outcome.level == Level::Policy;
    let kinds: Vec<_> = report
        .tallies()
        .into_iter()
        .map(|tally| json!({ "kind": tally.kind, "cases": tally.cases, "agree": tally.agreeing }))
        .collect();
    let object = json!({
        "profile": options.profile.name,
        "strict": options.strict,
        "cases": report.outcomes.len(),
        "agree": agreeing(report),
        "kinds": kinds,
        "differs": of(&|outcome| !outcome.agrees && !policy(outcome)),
        "policies": of(&policy),
        "skipped": skipped,
        "unread": faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    writeln!(out, "{object}")
}

/// The files of a directory that hold no cases.
fn print_skipped(skipped: &[String], out: &mut dyn Write) -> io::Result<()> {
    if skipped.is_empty() {
        return Ok(());
    }
    let mut by_directory = BTreeMap::<&str, Vec<&str>>::new();
    for path in skipped {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        by_directory.entry(directory).or_default().push(path);
    }
    let named = |(directory, names): (&&str, &Vec<&str>)| match names.len() {
        0..=NAMED_MAX => names.join(", "),
        many => format!("{many} in {directory}"),
    };
    let names = by_directory.iter().map(named).collect::<Vec<_>>().join(", ");
    writeln!(out, "{DIM}skipped{DIM:#}  {} without a `format` of cases: {names}", skipped.len())
}

fn agreeing(report: &Report) -> usize {
    report.outcomes.iter().filter(|outcome| outcome.agrees).count()
}

fn lint(options: &Lint, out: &mut dyn Write) -> io::Result<End> {
    let Found { files: texts, skipped, mut faults } = Found::of(&options.paths, FORMS);
    let mut findings = lint::findings(&texts);
    if let Some(manifest) = manifest(&options.paths) {
        match input::text(&manifest) {
            Ok(text) => findings.extend(lint::count_findings(&text, &texts)),
            Err(fault) => faults.push(fault),
        }
    }
    if options.json {
        let unread: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let object = json!({
            "files": texts.len(), "findings": findings, "skipped": skipped, "unread": unread,
        });
        writeln!(out, "{object}")?;
    } else {
        for finding in &findings {
            writeln!(out, "{finding}")?;
        }
        for fault in &faults {
            writeln!(out, "{BAD}unread{BAD:#}   {fault}")?;
        }
        print_skipped(&skipped, out)?;
        writeln!(out, "{} files, {} findings", texts.len(), findings.len())?;
    }
    Ok(match (faults.is_empty(), findings.is_empty()) {
        (false, _) => End::Failed,
        (true, false) => End::Broken,
        (true, true) => End::Kept,
    })
}

fn profile(name: &str) -> Result<Profile, String> {
    let all = [Profile::hookproof(), Profile::paymos(), Profile::standard_webhooks()];
    let names = all.each_ref().map(|profile| profile.name).join(", ");
    let found = all.into_iter().find(|profile| profile.name == name);
    found.ok_or_else(|| format!("expected one of {names}"))
}

const CHECK_ENDS: &str = "\
Only the graded fields of `expected` count; unknown input fields are refused. A `policy` case is \
printed with the choice made, and never fails. JSON of other forms below a directory is skipped, and \
named.

Exit codes: 0 all agree; 1 a `must` differs (--strict: or a `should`); 2 a wrong option; 3 a file, kind, \
scheme or field that cannot be read, or no case at all";
const LINT_ENDS: &str =
    "Exit codes: 0 nothing found; 1 findings; 2 a wrong option; 3 a file that cannot be read";

const FORMS: &str = "hookproof-cases";
/// More files than these are a number.
const NAMED_MAX: usize = 3;
