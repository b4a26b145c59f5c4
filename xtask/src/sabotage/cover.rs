//! Whether the list says something of each line that guards, fences or wakes.

use super::{exempt::Exempt, list::Patch};

/// Where such lines are.
const FILES: [&str; 8] = [
    "core/src/endpoint.rs",
    "core/src/inbox.rs",
    "core/src/outbox.rs",
    "core/src/outbox/event.rs",
    "core/src/plan.rs",
    "core/src/work.rs",
    "core/src/work/ground.rs",
    "sim/src/world/db.rs",
];

/// What such a line contains: a guarded write or how one is made, a key that must be new, a wake, a
/// revision or a fence that moves on, where one is compared, and where a seal is broken.
const SIGNS: [&str; 16] = [
    "hold()",
    ".put(",
    ".finish(",
    ".move_to(",
    ".project(",
    ".withdraw(",
    "Put { was",
    "[Write::Purge",
    "Write::Operation(operation)",
    "Write::Wake",
    "wrapping_add(1)",
    "was + 1",
    "is_held_by(",
    "release(",
    "== put.was",
    "== Some(*was)",
];

/// The lines that no patch and no exemption speaks of, with their files; and exemptions of lines that
/// are not there.
pub(super) fn uncovered(
    files: &[(String, String)],
    patches: &[Patch],
    exempt: &[Exempt],
) -> Vec<String> {
    let mut bare = Vec::new();
    for (file, text) in files.iter().filter(|(file, _)| FILES.contains(&file.as_str())) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let spans: Vec<(usize, usize)> = patches
            .iter()
            .filter(|patch| patch.file == file)
            .filter_map(|patch| Some((code.find(patch.from)?, patch.from.len())))
            .collect();
        let mut start = 0;
        for line in code.split_inclusive('\n') {
            let end = start + line.len();
            let told = line.trim();
            let covered = spans.iter().any(|&(at, length)| at < end && start < at + length);
            let excused = exempt.iter().any(|row| row.file == file && row.line == told);
            let signed = SIGNS.iter().any(|sign| told.contains(sign)) && !told.contains("fn ");
            if signed && !covered && !excused {
                bare.push(format!("{file}: {told}"));
            }
            start = end;
        }
    }
    let there = |row: &Exempt| {
        let text = files.iter().find(|(file, _)| file == row.file).map(|(_, text)| text);
        text.is_some_and(|text| text.lines().any(|line| line.trim() == row.line))
    };
    let gone = exempt.iter().filter(|row| !there(row));
    bare.extend(gone.map(|row| format!("{}: exempt, and not there: {}", row.file, row.line)));
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<(String, String)> {
        vec![("core/src/work.rs".to_owned(), text.to_owned())]
    }

    #[test]
    fn a_guard_that_nobody_speaks_of_is_found() {
        let patch = Patch { file: "core/src/work.rs", from: "a.put(row)", to: "" };
        assert!(uncovered(&files("x = a.put(row);\n"), &[patch], &[]).is_empty());
        let patch = Patch { file: "core/src/work.rs", from: "a.put(row)", to: "" };
        assert_eq!(uncovered(&files("x = a.put(row);\nb.put(row);\n"), &[patch], &[]).len(), 1);
    }

    #[test]
    fn an_exemption_of_what_is_gone_is_found() {
        let row = Exempt { file: "core/src/work.rs", line: "b.put(row);", why: "" };
        assert_eq!(uncovered(&files("x\n"), &[], &[row]).len(), 1);
    }
}
