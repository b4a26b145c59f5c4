//! Every case file and every published vector against the built-in implementation.

use std::{fs, path::PathBuf};

use hookproof_conformance::{
    cases::{File, Level, Report},
    generate, lint,
    published::{self, Vector},
};
use hookproof_core::{profile::Profile, scheme};

fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../vectors")
}

fn read(name: &str) -> String {
    let path = vectors().join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn run(text: &str) -> Report {
    let file = File::read(text).unwrap_or_else(|e| panic!("{e}"));
    Report { outcomes: file.check(&Profile::hookproof()).unwrap_or_else(|e| panic!("{e}")) }
}

#[test]
fn no_must_and_no_should_of_any_case_file_differs() {
    let mut all = Report::default();
    for entry in fs::read_dir(vectors().join("cases")).expect("vectors/cases") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a readable file");
        all.outcomes.extend(run(&text).outcomes);
    }
    assert!(all.outcomes.len() >= 240, "only {} cases", all.outcomes.len());
    assert_eq!(all.exit_code(true), 0, "{all}");
    let policies = all.differing(Level::Policy).count();
    assert!(policies <= 6, "{policies} policies differ from the handed choice: {all}");
}

#[test]
fn every_published_vector_is_checked_and_only_rsa_is_listed() {
    let all = published::vectors(&read("published.json")).expect("vectors");
    assert_eq!(all.len(), 199);
    let mut checked = 0;
    for vector in &all {
        match vector {
            Vector::Listed { id, why } => {
                assert!(why.contains("RSA"), "{id} is listed: {why}");
            }
            Vector::Case { kind, case } => {
                let file = serde_json::json!({
                    "format": "hookproof-cases/1", "kind": kind, "cases": [case],
                });
                let report = run(&file.to_string());
                assert_eq!(report.exit_code(true), 0, "{report}");
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 191, "199 vectors, 8 of them RSA");
}

/// Every case file, by name.
fn files() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(vectors().join("cases")).expect("vectors/cases") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        files.push((name, fs::read_to_string(&path).expect("a readable file")));
    }
    files.sort();
    files
}

#[test]
fn the_lint_finds_nothing() {
    let mut findings = lint::findings(&files());
    findings.extend(lint::count_findings(&read("manifest.json"), &files()));
    assert_eq!(findings, Vec::<String>::new());
}

#[test]
fn generated_files_are_the_ones_that_are_committed() {
    for made in generate::all(&read("published.json")).expect("published vectors") {
        let committed = read(&format!("cases/{}", made.name));
        assert!(committed == made.text(), "{}: run the example `generate`", made.name);
    }
}

#[test]
fn no_scheme_of_the_list_is_forgotten() {
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(&read("schemes.json")).expect("a list of schemes");
    for row in rows {
        let name = row["scheme"].as_str().expect("a name");
        let known = name == "(ladder only)"
            || scheme::named(name).is_some()
            || scheme::UNSUPPORTED.iter().any(|unsupported| unsupported.name == name);
        assert!(known, "{name} has neither a row nor a reason");
    }
}

#[test]
fn each_row_says_how_many_vectors_are_published_for_it() {
    let vectors: Vec<serde_json::Value> =
        serde_json::from_str(&read("published.json")).expect("a list of vectors");
    for row in scheme::all() {
        let published = vectors
            .iter()
            .filter(|vector| vector["scheme"] == *row.name && vector.get("kind").is_none())
            .count();
        assert_eq!(usize::from(row.facts.vectors), published, "{}", row.name);
    }
}
