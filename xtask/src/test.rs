//! `cargo xtask test`: everything that CI runs, each job with its budget.

use std::{
    env::consts::EXE_SUFFIX,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::Metadata;

use crate::{
    cargo, clauses,
    postgres::{self, Server},
    sabotage, tidy,
};

struct Job {
    name: &'static str,
    /// What it may take on two cores. More is a warning: a slow machine is no fault of the code.
    budget_min: u64,
    run: fn(&Metadata) -> Result<()>,
}

/// The jobs in their order: cheap ones first, each with what the ones before it have built.
const JOBS: [Job; 10] = [
    Job { name: "format", budget_min: 1, run: |_| run_cargo(&["fmt", "--all", "--check"], &[]) },
    Job { name: "tidy", budget_min: 1, run: tidy::run },
    Job { name: "clippy", budget_min: 4, run: |_| run_cargo(CLIPPY, &[]) },
    Job { name: "docs", budget_min: 2, run: |_| run_cargo(DOCS, DENY_DOC_WARNINGS) },
    Job { name: "tests", budget_min: 7, run: tests },
    Job {
        name: "clauses",
        budget_min: 3,
        run: |workspace| clauses::run(workspace, &GUARDS.map(str::to_owned), &["stores"], false),
    },
    Job { name: "build", budget_min: 2, run: |_| build() },
    Job { name: "determinism", budget_min: 1, run: determinism },
    Job { name: "prove", budget_min: 1, run: prove },
    Job { name: "sabotage", budget_min: 3, run: |workspace| sabotage::run(workspace, &[]) },
];

const CLIPPY: &[&str] =
    &["clippy", "--locked", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"];
const DOCS: &[&str] = &["doc", "--locked", "--release", "--workspace", "--no-deps"];
const DENY_DOC_WARNINGS: &[(&str, &str)] = &[("RUSTDOCFLAGS", "-D warnings")];
const TESTS: &[&str] =
    &["test", "--locked", "--release", "--workspace", "--lib", "--bins", "--tests"];
/// The wrong lines are in no build but this one.
const ROGUES: &[&str] = &[
    "test",
    "--locked",
    "--release",
    "--package",
    "hookproof",
    "--features",
    "rogues",
    "--test",
    "stores",
    "rogues::",
];
const DOC_TESTS: &[&str] = &["test", "--locked", "--release", "--workspace", "--doc"];
const BUILD: &[&str] = &["build", "--locked", "--release", "--workspace", "--bins"];

/// Of all clauses of the adapter's SQL those that a delivery, a receipt and an operation stand on; the store
/// suite alone notices them.
const GUARDS: [&str; 3] = ["LOCK_", "INSERT_RECEIPT", "INSERT_OPERATION"];

/// One history, with its trace: whatever differs between processes shows in it.
const ONE_HISTORY: [&str; 3] = ["prove", "--seed", "7"];
const SHORT_PROOF: [&str; 3] = ["prove", "--budget", "20s"];

pub(crate) fn job_names() -> Vec<&'static str> {
    JOBS.iter().map(|job| job.name).collect()
}

pub(crate) fn run(workspace: &Metadata, only: &[String]) -> Result<()> {
    let chosen = |job: &&Job| only.is_empty() || only.iter().any(|name| name == job.name);
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    for job in JOBS.iter().filter(chosen) {
        println!("\n== {} (budget {} min)", job.name, job.budget_min);
        let start = Instant::now();
        let outcome = (job.run)(workspace);
        let took = start.elapsed();
        if let Err(error) = &outcome {
            println!("{} failed: {error:#}", job.name);
            failed.push(job.name);
        }
        lines.push(summary(job, took, outcome.is_ok()));
    }
    println!("\n== all jobs\n{}", lines.join("\n"));
    ensure!(
        failed.is_empty(),
        "expected every job to pass; repeat with `cargo xtask test {}`",
        failed.join(" ")
    );
    Ok(())
}

fn summary(job: &Job, took: Duration, passed: bool) -> String {
    let word = if passed { "ok" } else { "FAILED" };
    let (minutes, seconds) = (took.as_secs() / 60, took.as_secs() % 60);
    let over =
        if took > Duration::from_mins(job.budget_min) { "  warning: over budget" } else { "" };
    format!(
        "{:<12} {word:<6} {minutes:>2} min {seconds:>2} s of {:>2} min{over}",
        job.name, job.budget_min
    )
}

fn tests(_: &Metadata) -> Result<()> {
    let server = Server::start()?;
    let url = server.url();
    let programs = server.programs();
    let beside: &[(&str, &str)] = &[(postgres::VARIABLE, &url), (postgres::PROGRAMS, &programs)];
    run_cargo(TESTS, beside)?;
    run_cargo(ROGUES, beside)?;
    drop(server);
    run_cargo(DOC_TESTS, &[])
}

/// The same seed in two processes must print the same bytes.
fn determinism(workspace: &Metadata) -> Result<()> {
    let (first, second) = (one_history(workspace)?, one_history(workspace)?);
    ensure!(!first.is_empty(), "expected a trace from `hookproof {}`", ONE_HISTORY.join(" "));
    if let Some(line) = first_difference(&first, &second) {
        bail!(
            "expected the same bytes twice from `hookproof {}`; they part at line {line}: look for \
             a clock, a hash map, a thread or an address in what it prints",
            ONE_HISTORY.join(" ")
        );
    }
    println!("{} bytes, twice the same", first.len());
    Ok(())
}

fn one_history(workspace: &Metadata) -> Result<Vec<u8>> {
    let output = hookproof(workspace)?.args(ONE_HISTORY).output()?;
    ensure!(
        output.status.success(),
        "expected `hookproof {}` to pass, got {}:\n{}{}",
        ONE_HISTORY.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output.stdout)
}

/// The number of the first line in which the two differ.
fn first_difference(a: &[u8], b: &[u8]) -> Option<usize> {
    let (mut left, mut right) = (a.split(|byte| *byte == b'\n'), b.split(|byte| *byte == b'\n'));
    for line in 1.. {
        match (left.next(), right.next()) {
            (None, None) => return None,
            (one, other) if one != other => return Some(line),
            (_, _) => {}
        }
    }
    None
}

fn prove(workspace: &Metadata) -> Result<()> {
    let status = hookproof(workspace)?.args(SHORT_PROOF).status()?;
    ensure!(
        status.success(),
        "expected `hookproof {}` to pass, got {status}",
        SHORT_PROOF.join(" ")
    );
    Ok(())
}

/// Builds the binary.
pub(crate) fn build() -> Result<()> {
    run_cargo(BUILD, &[])
}

/// The binary that `build` made.
pub(crate) fn hookproof(workspace: &Metadata) -> Result<Command> {
    let path: PathBuf =
        workspace.target_directory.join(format!("release/hookproof{EXE_SUFFIX}")).into();
    ensure!(path.exists(), "expected {} : run `cargo xtask test build` first", path.display());
    Ok(Command::new(path))
}

fn run_cargo(args: &[&str], envs: &[(&str, &str)]) -> Result<()> {
    let status = cargo(args, envs).context("expected cargo to run")?;
    ensure!(status.success(), "expected `cargo {}` to pass, got {status}", args.join(" "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_output_has_no_difference() {
        assert_eq!(first_difference(b"a\nb\n", b"a\nb\n"), None);
        assert_eq!(first_difference(b"", b""), None);
    }

    #[test]
    fn the_first_differing_line_is_named() {
        assert_eq!(first_difference(b"a\nb\nc", b"a\nx\ny"), Some(2));
        assert_eq!(first_difference(b"a\n", b"a\nb\n"), Some(2));
        assert_eq!(first_difference(b"a\nb", b"a\nb\n"), Some(3));
    }

    #[test]
    fn a_job_over_its_budget_is_warned_of_and_not_failed() {
        let job = Job { name: "format", budget_min: 1, run: |_| Ok(()) };
        assert_eq!(
            summary(&job, Duration::from_mins(1), true),
            "format       ok      1 min  0 s of  1 min"
        );
        assert!(summary(&job, Duration::from_secs(61), true).ends_with("warning: over budget"));
    }

    #[test]
    fn all_jobs_together_fit_the_budget_of_a_run() {
        assert!(JOBS.iter().map(|job| job.budget_min).sum::<u64>() <= 25);
    }
}
