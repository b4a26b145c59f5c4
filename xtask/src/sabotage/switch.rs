//! Puts switches into the text of a copy.

use anyhow::{Context, Result, ensure};

use super::list::Patch;

/// The environment variable from which the copy reads the number of its wrong line.
pub(super) const VARIABLE: &str = "WRONG";

/// Applies the patches and what they need, and gives the names in the order of their numbers, from 1.
pub(super) fn put_in(files: &mut Vec<(String, String)>, patches: &[Patch]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for Patch { file, from, to } in patches {
        let text = text_of(files, file)?;
        let found = text.matches(from).count();
        ensure!(found == 1, "{file}: expected once, and found {found} times:\n{from}");
        let wrong = number(to, prefix(file), &mut names)?;
        *text = text.replacen(from, &wrong, 1);
    }
    for (file, from, to) in SWITCHES {
        let text = text_of(files, file)?;
        ensure!(text.contains(from), "{file}: expected to find\n{from}");
        *text = text.replacen(from, to, 1);
    }
    files.push(("core/src/wrong.rs".to_owned(), MODULE.to_owned()));
    Ok(names)
}

fn text_of<'a>(files: &'a mut [(String, String)], file: &str) -> Result<&'a mut String> {
    let found = files.iter_mut().find(|(path, _)| path == file);
    found.map(|(_, text)| text).with_context(|| format!("expected a file {file}"))
}

fn prefix(file: &str) -> &'static str {
    if file.starts_with("core/") { "crate::wrong" } else { "hookproof_core::wrong" }
}

/// Turns `wrong!("name")` and `unguarded!("name", write)` into calls with numbers.
fn number(to: &str, prefix: &str, names: &mut Vec<String>) -> Result<String> {
    let mut text = String::new();
    let mut rest = to;
    while let Some((before, name, tail)) = next_name(rest) {
        let (before, call) = match before.strip_suffix("wrong!(\"") {
            Some(before) => (before, "is"),
            None => {
                (before.strip_suffix("unguarded!(\"").context("expected a macro")?, "unguarded")
            }
        };
        names.push(name.to_owned());
        let call = format!("{prefix}::{call}({}", names.len());
        text.extend([before, &call]);
        rest = tail;
    }
    text.push_str(rest);
    Ok(text)
}

/// What is before the next name, with its opening quote; the name; what follows its closing quote.
fn next_name(text: &str) -> Option<(&str, &str, &str)> {
    let at = text.find("!(\"")? + "!(\"".len();
    let (before, rest) = text.split_at(at);
    let (name, tail) = rest.split_once('"')?;
    Some((before, name, tail))
}

/// Where the copy asks for its wrong line, and how its store takes a write without its guard.
const SWITCHES: [(&str, &str, &str); 5] = [
    ("core/src/lib.rs", "pub mod work;", "pub mod work;\npub mod wrong;"),
    (
        "cli/src/main.rs",
        "let verb = Verb::parse();",
        "let number = std::env::var(\"WRONG\").ok().and_then(|text| text.parse().ok());
    hookproof_core::wrong::switch(number.unwrap_or(0));
    let verb = Verb::parse();",
    ),
    (
        "sim/src/world/db.rs",
        "        if rogue.is_some_and(|rogue| rogue.unguards(write)) {",
        "        if hookproof_core::wrong::is_unguarded(write) {
            return true;
        }
        if rogue.is_some_and(|rogue| rogue.unguards(write)) {",
    ),
    (
        "sim/src/world/db.rs",
        "self.operations.push(*operation)",
        "self.operations.push(hookproof_core::wrong::plain(*operation))",
    ),
    (
        "sim/src/world/commit.rs",
        "if put.was.is_none() =>",
        "if put.was.is_none() || put.was == Some(hookproof_core::wrong::NEW) =>",
    ),
];

/// The module that holds the switch.
const MODULE: &str = r"//! Which line is wrong.
#![allow(missing_docs)]

use core::sync::atomic::{AtomicU32, Ordering};

use crate::{
    model::{Operation, Transition},
    plan::{Put, Write},
};

static WRONG: AtomicU32 = AtomicU32::new(0);

/// A revision that the store takes for any, and one that it takes for any or none.
pub const ANY: u32 = u32::MAX;
pub const NEW: u32 = u32::MAX - 1;
const UNGUARDED: u16 = 0x8000;

pub fn switch(number: u32) {
    WRONG.store(number, Ordering::Relaxed);
}

#[inline]
pub fn is(number: u32) -> bool {
    WRONG.load(Ordering::Relaxed) == number
}

pub fn unguarded(number: u32, write: Write) -> Write {
    if !is(number) {
        return write;
    }
    match write {
        Write::Endpoint(put) => Write::Endpoint(Put { was: any(put.was), ..put }),
        Write::HoldEndpoint { id, .. } => Write::HoldEndpoint { id, rev: ANY },
        Write::Entity(put) => Write::Entity(Put { was: any(put.was), ..put }),
        Write::HoldEntity { id, .. } => Write::HoldEntity { id, rev: ANY },
        Write::Operation(operation) => {
            let transition = Transition(operation.transition.0 | UNGUARDED);
            Write::Operation(Operation { transition, ..operation })
        }
        Write::Receipt(put) => Write::Receipt(Put { was: any(put.was), ..put }),
        Write::Purge { id, .. } => Write::Purge { id, rev: ANY },
        Write::Event(put) => Write::Event(Put { was: any(put.was), ..put }),
        Write::Delivery(put) => Write::Delivery(Put { was: any(put.was), ..put }),
        Write::Alert { .. } | Write::Audit(_) | Write::Wake { .. } | Write::Handle { .. } => write,
    }
}

fn any(was: Option<u32>) -> Option<u32> {
    Some(if was.is_none() { NEW } else { ANY })
}

fn is_any(was: Option<u32>) -> bool {
    was == Some(ANY) || was == Some(NEW)
}

pub fn is_unguarded(write: &Write) -> bool {
    match write {
        Write::Endpoint(Put { was, .. }) => is_any(*was),
        Write::Entity(Put { was, .. }) => is_any(*was),
        Write::Receipt(Put { was, .. }) => is_any(*was),
        Write::Event(Put { was, .. }) => is_any(*was),
        Write::Delivery(Put { was, .. }) => is_any(*was),
        Write::HoldEndpoint { rev, .. } | Write::HoldEntity { rev, .. } | Write::Purge { rev, .. } => {
            *rev == ANY
        }
        Write::Operation(operation) => operation.transition.0 & UNGUARDED != 0,
        Write::Alert { .. } | Write::Audit(_) | Write::Wake { .. } | Write::Handle { .. } => false,
    }
}

pub fn plain(operation: Operation) -> Operation {
    let transition = Transition(operation.transition.0 & !UNGUARDED);
    Operation { transition, ..operation }
}
";

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(text: &str, from: &'static str, to: &'static str) -> Result<(String, Vec<String>)> {
        let mut names = Vec::new();
        let found = text.matches(from).count();
        ensure!(found == 1, "found {found}");
        let to = number(to, "crate::wrong", &mut names)?;
        Ok((text.replacen(from, &to, 1), names))
    }

    #[test]
    fn each_name_becomes_a_number() {
        let to = r#"if wrong!("no a") { unguarded!("no b", c) }"#;
        let (text, names) = patched("a", "a", to).expect("found once");
        assert_eq!(text, "if crate::wrong::is(1) { crate::wrong::unguarded(2, c) }");
        assert_eq!(names, ["no a", "no b"]);
    }

    #[test]
    fn what_is_not_there_cannot_be_left_out() {
        assert!(put_in(&mut vec![], &[Patch { file: "a.rs", from: "a", to: "b" }]).is_err());
        let mut files = vec![("a.rs".to_owned(), "a a".to_owned())];
        assert!(put_in(&mut files, &[Patch { file: "a.rs", from: "a", to: "b" }]).is_err());
    }
}
