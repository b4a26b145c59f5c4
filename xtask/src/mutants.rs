//! `cargo xtask mutants`: cargo-mutants over the deciding modules (`.cargo/mutants.toml`).
//!
//! Two passes over one state: the core's own tests, then for what survived them the simulator's.
//! Caught mutants are remembered, so an interrupted run goes on where it stopped.

use std::fs;

use anyhow::{Result, bail, ensure};
use cargo_metadata::Metadata;

use crate::cargo;

/// Whose tests each pass runs.
const PASSES: [&[&str]; 2] = [&["hookproof-core"], &["hookproof-core", "hookproof-sim"]];

pub(crate) fn run(workspace: &Metadata, fresh: bool) -> Result<()> {
    let state = workspace.target_directory.join("mutants");
    ensure!(
        cargo(&["mutants", "--version"], &[])?.success(),
        "expected cargo-mutants: run `cargo install cargo-mutants --locked`"
    );
    if fresh && state.exists() {
        fs::remove_dir_all(&state)?;
    }
    fs::create_dir_all(&state)?;
    for tests in PASSES {
        if all_caught(tests, state.as_str())? {
            println!("every mutant was caught");
            return Ok(());
        }
    }
    bail!(
        "expected no survivor: kill each line of {state}/mutants.out/missed.txt with a check, or \
         name it in ARCHITECTURE.md with the reason"
    )
}

/// One pass over what no earlier one has caught.
fn all_caught(tests: &[&str], state: &str) -> Result<bool> {
    println!("\n== mutants against the tests of {}", tests.join(" and "));
    let mut args = vec!["mutants", "--iterate", "--output", state, "--package", "hookproof-core"];
    for package in tests {
        args.extend(["--test-package", package]);
    }
    let status = cargo(&args, &[])?;
    match status.code() {
        Some(CAUGHT | TIMED_OUT) => Ok(true),
        Some(SURVIVED) => Ok(false),
        _ => bail!("expected `cargo {}` to run its mutants, got {status}", args.join(" ")),
    }
}

/// How cargo-mutants ends. A mutant that runs out of time loops, which is as good as caught.
const CAUGHT: i32 = 0;
const SURVIVED: i32 = 2;
const TIMED_OUT: i32 = 3;
