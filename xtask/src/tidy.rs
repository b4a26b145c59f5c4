//! `cargo xtask tidy`: the house rules, read from the files and from `cargo metadata`.

use std::{fs, process::Command};

use anyhow::{Context, Result, ensure};
use cargo_metadata::Metadata;

use crate::{clauses, directions, rules};

pub(crate) fn run(workspace: &Metadata) -> Result<()> {
    let files = texts()?;
    let mut findings = directions::findings(workspace);
    findings.extend(files.iter().flat_map(|(path, text)| rules::findings(path, text)));
    findings.extend(files.iter().filter_map(|(path, text)| rules::release(path, text)));
    findings.extend(rules::unequal(&files));
    findings.extend(clauses::findings(&files));
    for finding in &findings {
        println!("{finding}");
    }
    ensure!(findings.is_empty(), "expected a tidy house: mend the {} lines above", findings.len());
    println!("{} files, every rule kept", files.len());
    let long = files.iter().filter_map(|(path, text)| rules::long(path, text));
    let (count, most) = (long.clone().count(), long.max_by_key(|(_, lines)| *lines));
    if let Some((path, lines)) = most {
        println!("{count} have more than {} lines; the longest is {path}: {lines}", rules::LONG);
    }
    Ok(())
}

/// Every file that is or would be committed and is text, by its path from the root.
pub(crate) fn texts() -> Result<Vec<(String, String)>> {
    let listing = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .context("expected git: the rules hold for what it would commit")?;
    ensure!(listing.status.success(), "expected a git checkout: {}", listing.status);
    let names = String::from_utf8(listing.stdout).context("expected file names in UTF-8")?;
    let read = |name: &str| Some((name.to_owned(), fs::read_to_string(name).ok()?));
    Ok(names.split_terminator('\0').filter_map(read).collect())
}
