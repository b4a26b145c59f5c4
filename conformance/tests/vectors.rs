//! Every case file and every published vector against the built-in implementation.

use std::{fs, path::PathBuf};

use hookproof_conformance::{
    cases::{EVENT_KINDS, File, KINDS, Level, Report},
    generate, lint,
    published::{self, Vector},
    recipe,
};
use hookproof_core::{codec, profile::Profile, scheme};
use serde_json::{Value, json};

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
                let file = json!({
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

/// Every case with a recipe, and its kind.
fn with_recipe() -> Vec<Value> {
    let read = |(_, text): (String, String)| serde_json::from_str::<Value>(&text).expect("JSON");
    let cases = |file: Value| file["cases"].as_array().expect("cases").clone();
    files().into_iter().map(read).flat_map(cases).filter(|c| c.get("recipe").is_some()).collect()
}

#[test]
fn every_recipe_makes_its_case_byte_for_byte() {
    let cases = with_recipe();
    assert!(cases.len() >= 620, "only {} cases have a recipe", cases.len());
    for case in cases {
        let input = case["input"].as_object().expect("an input");
        let made = recipe::made(&case["recipe"], input).expect("a recipe that can be followed");
        assert_eq!(made.headers, input["headers"], "{}", case["id"]);
        assert_eq!(codec::to_base64(&made.body), input["body_b64"], "{}", case["id"]);
    }
}

#[test]
fn what_a_recipe_makes_at_another_time_has_the_same_outcome() {
    for mut case in with_recipe() {
        let input = case["input"].as_object().expect("an input").clone();
        let now = recipe::now(&case["recipe"], &input) + 7_654_321;
        let made = recipe::made_at(&case["recipe"], &input, now).expect("a recipe");
        case["input"]["headers"] = made.headers;
        case["input"]["body_b64"] = json!(codec::to_base64(&made.body));
        case["input"]["now"] = json!(now);
        let file =
            json!({ "format": "hookproof-cases/1", "kind": "signature.verify", "cases": [case] });
        let report = run(&file.to_string());
        assert!(report.outcomes.iter().all(|outcome| outcome.agrees), "{report}");
    }
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
    let rows: Vec<Value> = serde_json::from_str(&read("schemes.json")).expect("a list of schemes");
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
    let vectors: Vec<Value> =
        serde_json::from_str(&read("published.json")).expect("a list of vectors");
    for row in scheme::all() {
        let published = vectors
            .iter()
            .filter(|vector| vector["scheme"] == *row.name && vector.get("kind").is_none())
            .count();
        assert_eq!(usize::from(row.facts.vectors), published, "{}", row.name);
    }
}

/// The files that the README shows.
fn shown() -> Vec<(String, String)> {
    let readme = read("README.md");
    let blocks = readme.split("```json\n").skip(1).map(|block| block.split("```").next());
    blocks.flatten().enumerate().map(|(at, text)| (format!("block {at}"), text.into())).collect()
}

#[test]
fn the_readme_shows_a_whole_file_of_each_kind() {
    let shown = shown();
    assert_eq!(lint::findings(&shown), Vec::<String>::new());
    let kinds: Vec<&str> =
        shown.iter().map(|(_, text)| File::read(text).expect("a case file").kind()).collect();
    for kind in KINDS.iter().chain(&EVENT_KINDS) {
        assert!(kinds.contains(&kind.name), "the README shows no file of {}", kind.name);
    }
    for (name, text) in shown {
        let report = run(&text);
        assert!(report.outcomes.iter().all(|outcome| outcome.agrees), "{name}: {report}");
    }
}

#[test]
fn the_readme_names_every_field_of_each_schema() {
    let readme = read("README.md");
    for kind in KINDS.iter().chain(&EVENT_KINDS) {
        let schema = read(&format!("schema/{}.json", kind.name));
        let schema: Value = serde_json::from_str(&schema).expect("JSON");
        for name in field_names(&schema) {
            let named = [format!("`{name}`"), format!("\"{name}\"")];
            assert!(named.iter().any(|text| readme.contains(text)), "{}: {name}", kind.name);
        }
    }
}

/// Every name under `properties`, at any depth.
fn field_names(schema: &Value) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        names.extend(properties.keys().cloned());
        names.extend(properties.values().flat_map(field_names));
    }
    for inner in ["items", "additionalProperties"] {
        names.extend(schema.get(inner).into_iter().flat_map(field_names));
    }
    names
}
