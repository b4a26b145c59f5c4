//! A copy of the adapter below `target/` in which a statement can be swapped for another at run time. The
//! rest of the workspace is linked beside it, so that cargo takes what is built of it for what it is.

use std::{fs, io, os::unix::fs::symlink, path::Path, process::Command};

use anyhow::{Context, Result, ensure};
use cargo_metadata::Message;

use crate::tidy;

/// The environment variable that names the file with the statement and, behind [`BETWEEN`], the other.
pub(super) const VARIABLE: &str = "HOOKPROOF_SWAP";
/// The one that names the file for every statement that the program has sent, each followed by [`BETWEEN`].
pub(super) const SENT: &str = "HOOKPROOF_SENT";
pub(super) const BETWEEN: &str = "\n----\n";

/// The programs of these tests of the copy. They are built where all else is, so that only the copy itself is
/// compiled; its feature keeps it apart from what it is a copy of.
pub(super) fn build(folder: &Path, target: &Path, tests: &[&str]) -> Result<Vec<String>> {
    let copy = folder.join("copy");
    write(&copy)?;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["test", "--locked", "--release", "--package", "hookproof", "--no-run"])
        .args(["--features", FEATURE])
        .args(tests.iter().flat_map(|test| ["--test", test]))
        .args(["--message-format", "json-render-diagnostics", "--target-dir"])
        .arg(target)
        .arg("--manifest-path")
        .arg(copy.join("Cargo.toml"))
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("expected cargo to run")?;
    ensure!(output.status.success(), "expected the copy in {} to compile", copy.display());
    let mut programs = Vec::new();
    for message in Message::parse_stream(&*output.stdout) {
        let Message::CompilerArtifact(artifact) = message? else { continue };
        if artifact.target.is_test() && artifact.profile.test {
            programs.extend(artifact.executable.map(String::from));
        }
    }
    ensure!(!programs.is_empty(), "expected test programs in {}", copy.display());
    Ok(programs)
}

/// What has not changed is not written, so that it is not built again.
fn write(copy: &Path) -> Result<()> {
    for (name, text) in tidy::texts()? {
        let Some(inner) = name.strip_prefix("adapter/") else {
            link(copy, &name)?;
            continue;
        };
        let text = match inner.strip_prefix("src/") {
            Some("lib.rs") => format!("{text}{MODULE}"),
            Some(_) => swappable(&text),
            None if inner == "Cargo.toml" => with_feature(&text),
            None => text,
        };
        let path = copy.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).with_context(|| format!("expected to write {}", path.display()))?;
    }
    Ok(())
}

/// Links the folder or file of the root that this file is in.
fn link(copy: &Path, name: &str) -> Result<()> {
    let Some(top) = name.split('/').next() else { return Ok(()) };
    fs::create_dir_all(copy)?;
    let (from, to) = (std::env::current_dir()?.join(top), copy.join(top));
    match symlink(&from, &to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.with_context(|| format!("expected to link {}", to.display())),
    }
}

fn with_feature(manifest: &str) -> String {
    manifest.replace("[features]\n", &format!("[features]\n{FEATURE} = []\n"))
}

/// Lets each statement pass the switch on its way to the database.
fn swappable(rust: &str) -> String {
    let (code, tests) = match rust.find("#[cfg(test)]") {
        Some(at) => rust.split_at(at),
        None => (rust, ""),
    };
    let mut text = String::new();
    let mut rest = code;
    while let Some(end) = next_call(rest) {
        let (before, after) = rest.split_at(end);
        let argument = &after[..argument_length(after)];
        text.extend([before, "crate::swap::sql(", argument, ")"]);
        rest = &after[argument.len()..];
    }
    text.push_str(rest);
    text.push_str(tests);
    text
}

/// Where the first of the arguments begins.
fn next_call(text: &str) -> Option<usize> {
    let ends = CALLS.iter().filter_map(|call| Some(text.find(call)? + call.len()));
    ends.min()
}

/// How long the argument is that begins here: up to its comma or its parenthesis.
fn argument_length(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' => depth += 1,
            ')' | ',' if depth == 0 => return at,
            ')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// What hands a statement to the database.
const CALLS: [&str; 6] = [
    "sqlx::query(",
    "sqlx::query_as(",
    "sqlx::query_scalar(",
    "sqlx::raw_sql(",
    ".begin_with(",
    "QueryBuilder::<Database>::new(",
];

/// What the copy has and the adapter has not.
const FEATURE: &str = "swap";

/// The module that holds the switch.
const MODULE: &str = r#"
mod swap {
    use std::{
        collections::BTreeSet,
        io::Write as _,
        sync::{Mutex, OnceLock},
    };

    static SWAP: OnceLock<Option<(String, String)>> = OnceLock::new();
    static SENT: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

    pub(crate) fn sql(text: &'static str) -> &'static str {
        note(text);
        match SWAP.get_or_init(read) {
            Some((from, to)) if from == text => to,
            _ => text,
        }
    }

    fn read() -> Option<(String, String)> {
        let text = std::fs::read_to_string(std::env::var_os("HOOKPROOF_SWAP")?).ok()?;
        let (from, to) = text.split_once("\n----\n")?;
        Some((from.to_owned(), to.to_owned()))
    }

    fn note(text: &'static str) {
        let Some(path) = std::env::var_os("HOOKPROOF_SENT") else { return };
        let mut sent = SENT.lock().expect("nobody panics with it");
        if sent.insert(text) {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            let mut file = file.expect("a file to write to");
            file.write_all(format!("{text}\n----\n").as_bytes()).expect("to write to it");
        }
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_passes_the_switch_wherever_it_is_spelled() {
        let code = "let a = sqlx::query(sql::WAKE).bind(b); begin_with(c); x.begin_with(\"a (\");";
        assert_eq!(
            swappable(code),
            "let a = sqlx::query(crate::swap::sql(sql::WAKE)).bind(b); begin_with(c); \
             x.begin_with(crate::swap::sql(\"a (\"));"
        );
    }

    #[test]
    fn the_switch_reads_what_is_written_for_it() {
        let words = [VARIABLE, SENT, &BETWEEN.replace('\n', "\\n")];
        assert!(words.iter().all(|word| MODULE.contains(word)));
    }
}
