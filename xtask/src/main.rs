//! The checks of this repository, one file a verb. A person and CI run the same ones.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a check speaks to whoever runs it")]

mod browser;
mod clauses;
mod directions;
mod mutants;
mod postgres;
mod rules;
mod sabotage;
mod test;
mod tidy;

use std::{
    env,
    path::PathBuf,
    process::{Command, ExitCode, ExitStatus},
};

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;
use clap::Parser;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "The checks of this repository")]
enum Verb {
    /// Run everything that CI runs, in order.
    Test {
        /// Run these jobs alone.
        #[arg(value_name = "JOB", value_parser = test::job_names())]
        only: Vec<String>,
    },
    /// Check the house rules and the directions of dependencies.
    Tidy,
    /// Change the deciding modules one line at a time; each change must fail a test.
    Mutants {
        /// Instead, take one clause of the adapter's SQL away at a time.
        #[arg(long)]
        sql: bool,
        /// With `--sql`: those alone whose name contains this.
        #[arg(value_name = "PART", requires = "sql")]
        only: Vec<String>,
        /// Forget what an earlier run found.
        #[arg(long)]
        fresh: bool,
    },
    /// Leave out one guard, seal, fence or wake at a time; `hookproof prove` must notice each.
    Sabotage {
        /// Those alone whose name contains this.
        #[arg(value_name = "PART")]
        only: Vec<String>,
    },
    /// Click through the pages of `replay --html` and `prove --html` in a browser.
    Browser {
        /// Keep a picture of each in this directory.
        #[arg(long, value_name = "DIR")]
        shots: Option<PathBuf>,
    },
    /// Run a command beside a throw-away PostgreSQL, whose address is in `HOOKPROOF_POSTGRES`.
    Postgres {
        /// The command, as in `cargo xtask postgres cargo test -p hookproof`.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(Verb::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(verb: Verb) -> Result<()> {
    let workspace = MetadataCommand::new()
        .no_deps()
        .exec()
        .context("expected a workspace: run `cargo xtask` inside the repository")?;
    env::set_current_dir(&workspace.workspace_root)?;
    match verb {
        Verb::Test { only } => test::run(&workspace, &only),
        Verb::Tidy => tidy::run(&workspace),
        Verb::Postgres { command } => postgres::run(&command),
        Verb::Mutants { sql: true, only, fresh } => {
            clauses::run(&workspace, &only, &clauses::TESTS, fresh)
        }
        Verb::Mutants { sql: false, fresh, .. } => mutants::run(&workspace, fresh),
        Verb::Browser { shots } => browser::run(&workspace, shots.as_deref()),
        Verb::Sabotage { only } => sabotage::run(&workspace, &only),
    }
}

/// Runs cargo with the caller's output and gives its end.
fn cargo(args: &[&str], envs: &[(&str, &str)]) -> Result<ExitStatus> {
    let program = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    Command::new(&program)
        .args(args)
        .envs(envs.iter().copied())
        .status()
        .with_context(|| format!("expected to start {program}: is cargo installed?"))
}
