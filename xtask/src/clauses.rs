//! `cargo xtask mutants --sql`: takes one clause of one SQL statement away at a time, and a test of the
//! adapter must fail for each.
//!
//! The clauses are found in the code ([`source`], [`remove`]), so a new one is tried from its first day.
//! All are swapped at run time in one copy of the adapter ([`copy`]), which no clause makes compile
//! again. Tests run one at a time and the first that fails is enough; one that was seen to pass without
//! sending the statement is left out. Which one failed is remembered, so an interrupted run goes on where
//! it stopped, and a later one begins with it.

mod copy;
mod exempt;
mod hunt;
mod remove;
mod source;

use std::{collections::BTreeSet, fmt};

use anyhow::{Result, ensure};
use cargo_metadata::Metadata;

use self::{exempt::EXEMPT, hunt::Hunt, remove::Removed};
use crate::tidy;

/// Which database a statement is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Database {
    Postgres,
    Sqlite,
}

impl Database {
    /// Whether this file has statements for it. Some are one text for both.
    fn is_in(self, path: &str) -> bool {
        let Some(path) = path.strip_prefix("adapter/") else { return false };
        let own = [format!("src/{self}"), format!("migrations/{self}/")];
        own.iter().any(|folder| path.starts_with(folder)) || path.starts_with("src/sql/")
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
        })
    }
}

/// A statement, and the same without one of its clauses.
struct Mutant {
    database: Database,
    name: String,
    from: String,
    to: String,
}

pub(crate) fn run(
    workspace: &Metadata,
    only: &[String],
    tests: &[&str],
    fresh: bool,
) -> Result<()> {
    let all = mutants(&tidy::texts()?);
    let chosen =
        |name: &str| only.is_empty() || only.iter().any(|part| name.contains(part.as_str()));
    let chosen: Vec<Mutant> = all.into_iter().filter(|mutant| chosen(&mutant.name)).collect();
    ensure!(!chosen.is_empty(), "expected a name that contains {}", only.join(" or "));
    let folder = workspace.target_directory.join("clauses");
    let target = workspace.target_directory.as_std_path();
    let programs = copy::build(folder.as_std_path(), target, tests)?;
    let unnoticed = Hunt::new(folder.as_std_path(), &programs, fresh)?.run(&chosen)?;
    for name in &unnoticed {
        println!("unnoticed: {name}");
    }
    ensure!(
        unnoticed.is_empty(),
        "expected a test to fail whatever clause is gone; {} of {} are unnoticed: write the test, or \
         name the clause in xtask/src/clauses/exempt.rs with the reason",
        unnoticed.len(),
        chosen.len()
    );
    println!("{} clauses, each noticed when it is gone", chosen.len());
    Ok(())
}

/// What keeps a clause from being tried, one sentence each.
pub(crate) fn findings(files: &[(String, String)]) -> Vec<String> {
    let all = clauses(files);
    let names: BTreeSet<&str> = all.iter().map(|mutant| mutant.name.as_str()).collect();
    let gone = EXEMPT.iter().filter(|row| !names.contains(row.name));
    let gone = gone.map(|row| {
        format!("xtask/src/clauses/exempt.rs: expected a clause `{}`: take its line out", row.name)
    });
    let made = files
        .iter()
        .filter(|(path, text)| path.starts_with("adapter/src/") && text.contains("AssertSqlSafe"));
    let made = made.map(|(path, _)| {
        format!(
            "{path}: expected no statement that is put together at run time: write it out, so \
             that each of its clauses can be taken away"
        )
    });
    gone.chain(made).collect()
}

/// Every clause of the adapter's SQL but the exempt ones.
fn mutants(files: &[(String, String)]) -> Vec<Mutant> {
    let mut found = clauses(files);
    found.retain(|mutant| EXEMPT.iter().all(|row| row.name != mutant.name));
    found
}

fn clauses(files: &[(String, String)]) -> Vec<Mutant> {
    let mut found = Vec::new();
    for database in [Database::Postgres, Database::Sqlite] {
        let root = format!("adapter/src/{database}.rs");
        let macros = files.iter().find(|(path, _)| *path == root).map_or("", |(_, text)| text);
        for (path, text) in files.iter().filter(|(path, _)| database.is_in(path)) {
            let mut add = |statement: &str, from: &str, removed: Vec<Removed>| {
                found.extend(removed.into_iter().map(|Removed { clause, text }| Mutant {
                    database,
                    name: format!("{database} {statement} without {clause}"),
                    from: from.to_owned(),
                    to: text,
                }));
            };
            if path.starts_with("adapter/migrations/") {
                let name = path.rsplit('/').next().unwrap_or(path);
                add(name, text, remove::of_migration(text));
                continue;
            }
            for statement in source::statements(text, macros) {
                let removed = remove::of_statement(&statement.text);
                add(&statement.name, &statement.text, removed);
            }
        }
    }
    let mut tried = BTreeSet::new();
    found.retain(|mutant| tried.insert((mutant.name.clone(), mutant.to.clone())));
    found
}

/// The tests of the adapter that can notice.
pub(crate) const TESTS: [&str; 2] = ["stores", "runtime"];
