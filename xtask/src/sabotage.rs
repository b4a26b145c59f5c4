//! `cargo xtask sabotage`: leaves out one guard, seal, fence or wake of the core or of the model's
//! store at a time, and `hookproof prove` must exit 1 for each.
//!
//! The places are data ([`list`]). All are switches in one copy of the workspace below `target/`, so
//! that one build serves them all and what ships has no switch. A place that is no longer found, and a
//! line that should be in the list and is not, are errors.

mod cover;
mod exempt;
mod list;
mod store;
mod switch;

use std::{
    collections::BTreeSet,
    env::consts::EXE_SUFFIX,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::Metadata;

use crate::{cargo, tidy};

pub(crate) fn run(workspace: &Metadata, only: &[String]) -> Result<()> {
    let root = workspace.target_directory.join("sabotage");
    let copy = root.join("workspace");
    let names = write_copy(copy.as_std_path())?;
    let manifest = copy.join("Cargo.toml");
    let target = root.join("target");
    let status = cargo(
        &[
            "build",
            "--locked",
            "--release",
            "--package",
            "hookproof-cli",
            "--manifest-path",
            manifest.as_str(),
            "--target-dir",
            target.as_str(),
        ],
        &[],
    )?;
    ensure!(status.success(), "expected the copy in {copy} to compile, got {status}");
    let program: PathBuf = target.join(format!("release/hookproof{EXE_SUFFIX}")).into();
    let chosen = |name: &str| only.is_empty() || only.iter().any(|part| name.contains(part));
    let wrongs: Vec<(usize, &str)> =
        (1..).zip(names.iter().map(String::as_str)).filter(|(_, name)| chosen(name)).collect();
    ensure!(!wrongs.is_empty(), "expected a name that contains {}", only.join(" or "));
    let kept = prove(&program, 0, KEEPS)?;
    ensure!(kept.0 == Some(0), "expected the copy with nothing left out to pass:\n{}", kept.1);
    let passed = hunt(&program, &wrongs)?;
    for name in &passed {
        println!("unnoticed: {name}");
    }
    ensure!(
        passed.is_empty(),
        "expected `hookproof prove` to exit 1 whatever is left out; {} of {} are unnoticed",
        passed.len(),
        wrongs.len()
    );
    println!("{} places, each noticed when it is left out", wrongs.len());
    Ok(())
}

/// Writes the workspace with all switches below `target/`, and gives the name of each switch. What has
/// not changed is not written, so that it is not built again.
fn write_copy(copy: &Path) -> Result<Vec<String>> {
    let (mut files, patches) = (tidy::texts()?, list::patches());
    let names = switch::put_in(&mut files, &patches)?;
    let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    ensure!(known.len() == names.len(), "expected each name in the list once");
    let bare = cover::uncovered(&tidy::texts()?, &patches, exempt::EXEMPT);
    ensure!(
        bare.is_empty(),
        "expected each guard, fence and wake in xtask/src/sabotage/{{list,store}}.rs; not in it are\n{}",
        bare.join("\n")
    );
    let kept: BTreeSet<PathBuf> = files.iter().map(|(name, _)| copy.join(name)).collect();
    forget(copy, &kept)?;
    for (name, text) in &files {
        let path = copy.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).with_context(|| format!("expected to write {}", path.display()))?;
    }
    Ok(names)
}

/// Removes what an earlier copy had and the workspace has no more.
fn forget(folder: &Path, kept: &BTreeSet<PathBuf>) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            forget(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// The names of those that pass unnoticed, in their order.
fn hunt(program: &Path, wrongs: &[(usize, &str)]) -> Result<Vec<String>> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Result<Option<String>>)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some(&(number, name)) = wrongs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let notice = notice(program, number);
            match &notice {
                Ok(Some(broken)) => println!("{name}: {broken}"),
                Ok(None) => println!("{name}: NOTHING"),
                Err(error) => println!("{name}: {error:#}"),
            }
            found.lock().unwrap_or_else(PoisonError::into_inner).push((number, notice));
        }
    };
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..jobs {
            scope.spawn(work);
        }
        work();
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(number, _)| *number);
    let mut passed = Vec::new();
    for (number, notice) in found {
        if notice?.is_none() {
            let name = wrongs.iter().find(|(wrong, _)| *wrong == number).map(|(_, name)| *name);
            passed.push(name.unwrap_or_default().to_owned());
        }
    }
    Ok(passed)
}

/// What `hookproof prove` says is broken with this one left out: the first line of its first breach.
/// The explorer's smallest worlds are slower than the seeds that nearly all fall to, so they come last.
fn notice(program: &Path, number: usize) -> Result<Option<String>> {
    for args in [FEW_SEEDS, MANY_SEEDS, WORLDS] {
        let (code, said) = prove(program, number, args)?;
        match code {
            Some(0) => {}
            Some(1) => {
                let broken = said.lines().find(|line| names_a_promise(line));
                let broken = broken.context("expected an exit 1 to name a promise")?;
                return Ok(Some(broken.to_owned()));
            }
            other => bail!("expected exit 0 or 1, got {other:?}:\n{said}"),
        }
    }
    Ok(None)
}

/// Whether a line begins as `S6: ` does.
fn names_a_promise(line: &str) -> bool {
    let Some((id, _)) = line.split_once(": ") else { return false };
    id.strip_prefix(['S', 'R', 'E']).is_some_and(|number| number.parse::<u8>().is_ok())
}

/// Runs the proof with the wrong line of this number, 0 for none, and gives its exit code and output.
fn prove(program: &Path, number: usize, args: &[&str]) -> Result<(Option<i32>, String)> {
    let output = Command::new(program)
        .arg("prove")
        .args(args)
        .args(["--rogue", "none", "--jobs", "1"])
        .env(switch::VARIABLE, number.to_string())
        .output()
        .with_context(|| format!("expected to start {}", program.display()))?;
    let said =
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    Ok((output.status.code(), said.concat()))
}

const KEEPS: &[&str] = &["--level", "sim", "--seeds", "3000"];
const FEW_SEEDS: &[&str] = &["--level", "sim", "--seeds", "1000"];
const MANY_SEEDS: &[&str] = &["--level", "sim", "--seeds", "1000..100000"];
const WORLDS: &[&str] = &["--level", "explore"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breach_is_told_from_other_lines() {
        assert!(names_a_promise("R10: receipt 0 is in try 0, where try 1 is next"));
        assert!(!names_a_promise("Rogues: none"));
        assert!(!names_a_promise("S6 the ladder"));
    }
}
