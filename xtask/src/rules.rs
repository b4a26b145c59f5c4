//! The house rules on text, as data. Patterns are spelled in two halves, so that this file keeps them.

use std::path::Path;

/// No Rust file is longer than this.
const LONGEST: usize = 700;
/// A Rust file longer than this wants a reason, and is counted.
pub(crate) const LONG: usize = 400;

/// What no Rust file may contain, and what to do instead.
const NOT_IN_RUST: [(&str, &str); 3] = [
    (concat!("todo", "!("), "write it, or leave the caller out too"),
    (concat!("unimplemented", "!("), "write it, or leave the caller out too"),
    (concat!("#[", "ignore"), "make the test quick, or delete it"),
];

/// Where files lie on one machine alone. Paths are relative to the repository.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/t", "mp/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// Files that must say the same, since the tool that reads them cannot include one in the other.
const SAME_TEXT: [(&str, &str); 1] = [("core/clippy.toml", "sim/clippy.toml")];

/// Where a commit may be told to a plan, outside tests, and how often. Each place can break a seal:
/// it must be a store, and must answer so only for what is durable.
const RELEASES: [(&str, usize); 7] = [
    ("core/src/plan.rs", 2),
    // The model's store, and what it does with a commit.
    ("sim/src/world/db.rs", 1),
    ("sim/src/world/commit.rs", 2),
    // The rogue that lies about its transaction.
    ("sim/src/world/send.rs", 1),
    // The stores of production, and the one commit that is left to the caller.
    ("adapter/src/commit.rs", 1),
    ("adapter/src/outbox.rs", 1),
    // What a decision costs is measured without a store.
    ("benches/benches/decisions.rs", 2),
];
const RELEASE: &str = concat!("Outcome::", "Committed");

/// What in this file breaks a rule, one sentence each.
pub(crate) fn findings(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if is_rust(path) {
        let lines = text.lines().count();
        if lines > LONGEST {
            findings.push(format!("{path}: {lines} lines, expected at most {LONGEST}: split it"));
        }
        if path.starts_with("vectors/") {
            findings.push(format!("{path}: expected data only in vectors: move the code"));
        }
    }
    for (index, line) in text.lines().enumerate() {
        let mut found = |what: &str, instead: &str| {
            findings.push(format!("{path}:{}: expected no `{what}`: {instead}", index + 1));
        };
        for (pattern, instead) in NOT_IN_RUST {
            if is_rust(path) && line.contains(pattern) {
                found(pattern, instead);
            }
        }
        for root in MACHINE_PATHS {
            if names_absolute(line, root) {
                found(root, "name it from the root of the repository");
            }
        }
    }
    findings
}

/// The path and length of a Rust file that wants a reason.
pub(crate) fn long<'a>(path: &'a str, text: &str) -> Option<(&'a str, usize)> {
    let lines = text.lines().count();
    (is_rust(path) && lines > LONG).then_some((path, lines))
}

/// Pairs of files that should be one text and are not.
pub(crate) fn unequal(files: &[(String, String)]) -> Vec<String> {
    let text = |name: &str| files.iter().find(|(path, _)| path == name).map(|(_, text)| text);
    SAME_TEXT
        .iter()
        .filter(|(one, other)| text(one) != text(other))
        .map(|(one, other)| format!("{one}: expected the text of {other}: copy the newer one"))
        .collect()
}

/// A place that breaks a seal and is not in the list, or a row of the list that is no longer true.
pub(crate) fn release(path: &str, text: &str) -> Option<String> {
    if !is_rust(path) || path.contains("tests") {
        return None;
    }
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let found = code.matches(RELEASE).count();
    let listed = RELEASES.iter().find(|(file, _)| *file == path).map_or(0, |(_, count)| *count);
    (found != listed).then(|| {
        format!(
            "{path}: expected {listed} times `{RELEASE}`, found {found}: each can break a seal; if it \
             is a store's answer, put it into RELEASES of xtask/src/rules.rs"
        )
    })
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// Whether the line names a path from this root. `network/` or `src/work/` in a longer path do not.
fn names_absolute(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(at, _)| {
        line[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !"_-.*/}".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_at_the_limit_passes_and_one_line_more_does_not() {
        assert!(findings("core/src/a.rs", &"\n".repeat(LONGEST)).is_empty());
        assert_eq!(findings("core/src/a.rs", &"\n".repeat(LONGEST + 1)).len(), 1);
        assert!(findings("README.md", &"\n".repeat(LONGEST + 1)).is_empty());
    }

    #[test]
    fn a_long_file_is_counted() {
        assert_eq!(long("core/src/a.rs", &"\n".repeat(LONG)), None);
        assert_eq!(
            long("core/src/a.rs", &"\n".repeat(LONG + 1)),
            Some(("core/src/a.rs", LONG + 1))
        );
    }

    #[test]
    fn unfinished_code_is_found_at_its_line() {
        let text = format!("fn a() {{\n    {}\n}}", concat!("todo", "!()"));
        assert!(findings("core/src/a.rs", &text)[0].starts_with("core/src/a.rs:2: "));
        assert!(findings("CONTRIBUTING.md", &text).is_empty());
    }

    #[test]
    fn a_path_from_the_root_of_a_machine_is_found_in_any_file() {
        let text = format!("see `{}file`", MACHINE_PATHS[0]);
        assert_eq!(findings("README.md", &text).len(), 1);
        assert!(findings("README.md", "see core/src/work/claim.rs and ./work/ too").is_empty());
    }

    #[test]
    fn code_among_the_vectors_is_found() {
        assert_eq!(findings("vectors/read.rs", "").len(), 1);
        assert!(findings("vectors/schemes.json", "").is_empty());
    }

    #[test]
    fn a_new_place_that_breaks_a_seal_is_found() {
        let text = format!("{RELEASE} and {RELEASE}\n#[cfg(test)]\n{RELEASE}");
        assert_eq!(release("core/src/plan.rs", &text), None);
        assert!(release("core/src/plan.rs", RELEASE).is_some());
        assert!(release("sim/src/worker.rs", RELEASE).is_some());
        assert_eq!(release("core/tests/seal.rs", RELEASE), None);
    }

    #[test]
    fn the_two_lint_files_must_agree() {
        let files = |other: &str| {
            let (one, two) = SAME_TEXT[0];
            [(one.to_owned(), "a".to_owned()), (two.to_owned(), other.to_owned())]
        };
        assert!(unequal(&files("a")).is_empty());
        assert_eq!(unequal(&files("b")).len(), 1);
        assert_eq!(unequal(&files("a")[..1]).len(), 1);
    }
}
