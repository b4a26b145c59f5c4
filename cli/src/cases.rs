//! `hookproof cases`: runs case files against the built-in implementation, and holds them to the house
//! rules.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
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
    /// Case files (hookproof-cases/1), directories of them, or `-`.
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
    /// Case files, or directories of them; a `manifest.json` in or beside a directory states counts.
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
    let mut faults = Vec::new();
    for path in files(&options.paths, &mut faults) {
        match run_file(&path, &options.profile) {
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
    if options.json {
        print_json(&report, &faults, options, out)?;
    } else {
        print(&report, &faults, options, out)?;
    }
    Ok(match report.exit_code(options.strict) {
        _ if !faults.is_empty() => End::Failed,
        0 => End::Kept,
        _ => End::Broken,
    })
}

/// Every case of a file, or why it cannot be read. A case that cannot does not hide the others.
fn run_file(path: &Path, profile: &Profile) -> Result<Vec<Result<Outcome, Fault>>, Fault> {
    let text = input::text(path)?;
    let fault =
        |why: &dyn std::fmt::Display| Fault::unreadable(format!("{}: {why}", path.display()));
    let file = File::read(&text).map_err(|why| fault(&why))?;
    Ok(file.each(profile).map(|result| result.map_err(|why| fault(&why))).collect())
}

fn print(
    report: &Report,
    faults: &[Fault],
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
    faults: &[Fault],
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
        "unread": faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    writeln!(out, "{object}")
}

fn agreeing(report: &Report) -> usize {
    report.outcomes.iter().filter(|outcome| outcome.agrees).count()
}

fn lint(options: &Lint, out: &mut dyn Write) -> io::Result<End> {
    let mut faults = Vec::new();
    let mut texts = Vec::new();
    for path in files(&options.paths, &mut faults) {
        match input::text(&path) {
            Ok(text) => texts.push((path.display().to_string(), text)),
            Err(fault) => faults.push(fault),
        }
    }
    let mut findings = lint::findings(&texts);
    if let Some(manifest) = manifest(&options.paths) {
        match input::text(&manifest) {
            Ok(text) => findings.extend(lint::count_findings(&text, &texts)),
            Err(fault) => faults.push(fault),
        }
    }
    if options.json {
        let unread: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let object = json!({ "files": texts.len(), "findings": findings, "unread": unread });
        writeln!(out, "{object}")?;
    } else {
        for finding in &findings {
            writeln!(out, "{finding}")?;
        }
        for fault in &faults {
            writeln!(out, "{BAD}unread{BAD:#}   {fault}")?;
        }
        writeln!(out, "{} files, {} findings", texts.len(), findings.len())?;
    }
    Ok(match (faults.is_empty(), findings.is_empty()) {
        (false, _) => End::Failed,
        (true, false) => End::Broken,
        (true, true) => End::Kept,
    })
}

/// The files that are meant: those of a directory by name, its manifest left out.
fn files(paths: &[PathBuf], faults: &mut Vec<Fault>) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        match of_directory(path) {
            Ok(found) if found.is_empty() => faults.push(Fault::unreadable(format!(
                "{}: expected case files: none ends in .json",
                path.display()
            ))),
            Ok(found) => all.extend(found),
            Err(error) => faults.push(Fault::unreadable(format!("{}: {error}", path.display()))),
        }
    }
    all
}

fn of_directory(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        if is_json && path.file_name().is_some_and(|name| name != MANIFEST) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The manifest of a single directory: in it, or beside it.
fn manifest(paths: &[PathBuf]) -> Option<PathBuf> {
    let [directory] = paths else { return None };
    if !directory.is_dir() {
        return None;
    }
    let beside = directory.canonicalize().ok()?.parent()?.join(MANIFEST);
    [directory.join(MANIFEST), beside].into_iter().find(|path| path.is_file())
}

fn profile(name: &str) -> Result<Profile, String> {
    let all = [Profile::hookproof(), Profile::paymos(), Profile::standard_webhooks()];
    let names = all.each_ref().map(|profile| profile.name).join(", ");
    let found = all.into_iter().find(|profile| profile.name == name);
    found.ok_or_else(|| format!("expected one of {names}"))
}

const MANIFEST: &str = "manifest.json";
const CHECK_ENDS: &str = "\
Only the graded fields of `expected` count; unknown input fields are refused. A `policy` case is \
printed with the choice made, and never fails.

Exit codes: 0 all agree; 1 a `must` differs (--strict: or a `should`); 2 a wrong option; 3 a file, kind, \
scheme or field that cannot be read";
const LINT_ENDS: &str =
    "Exit codes: 0 nothing found; 1 findings; 2 a wrong option; 3 a file that cannot be read";
