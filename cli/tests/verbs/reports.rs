//! What `hookproof prove` writes for programs and for CI.

use std::fs;

use hookproof_conformance::schema;
use serde_json::Value;

use crate::support::{Folder, hookproof, json, stderr, vectors};

const SMALL: [&str; 5] = ["prove", "--level", "sim", "--seeds", "50"];

fn schema_of_prove() -> Value {
    let text = fs::read_to_string(vectors("schema/prove.json")).expect("a schema");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_object_is_as_its_schema_says() {
    let folder = Folder::new();
    let out = folder.path();
    let more: [&[&str]; 3] = [
        &["--rogue", "none"],
        &["--rogue", "check-then-insert", "--out", &out],
        &["--rogue", "none", "--sabotage", "no-wake", "--out", &out],
    ];
    for args in more {
        let object = json(&hookproof(&[&SMALL[..], args, &["--json"]].concat()));
        assert_eq!(schema::findings(&schema_of_prove(), &object, "report"), [""; 0], "{args:?}");
    }
    let explored = ["prove", "--level", "explore", "--rogue", "none", "--budget", "1s", "--json"];
    let object = json(&hookproof(&explored));
    assert_eq!(schema::findings(&schema_of_prove(), &object, "report"), [""; 0]);
}

#[test]
fn the_schema_knows_each_key_and_no_other() {
    let object = json(&hookproof(&[&SMALL[..], &["--rogue", "none", "--json"]].concat()));
    let map = object.as_object().expect("an object");
    for key in map.keys() {
        let mut less = map.clone();
        less.remove(key);
        assert!(
            !schema::findings(&schema_of_prove(), &Value::Object(less), "").is_empty(),
            "{key}"
        );
    }
    let mut more = map.clone();
    more.insert("more".to_owned(), Value::Null);
    assert!(!schema::findings(&schema_of_prove(), &Value::Object(more), "").is_empty());
}

/// A run's JUnit and Markdown.
fn reports(args: &[&str], code: i32) -> (String, String) {
    let folder = Folder::new();
    let out = folder.path();
    let (junit, markdown) = (format!("{out}/junit.xml"), format!("{out}/summary.md"));
    let files = ["--out", &out, "--junit", &junit, "--markdown", &markdown];
    let run = hookproof(&[args, &files].concat());
    assert_eq!(run.status.code(), Some(code), "{}", stderr(&run));
    let read = |path: String| fs::read_to_string(path).expect("a report").replace(&out, "OUT");
    (read(junit), read(markdown))
}

/// The case whose name begins so.
fn case<'a>(junit: &'a str, name: &str) -> &'a str {
    let start = format!("<testcase name=\"{name}");
    let rest = junit.split(&start).nth(1).unwrap_or_else(|| panic!("no case {name}"));
    rest.split("<testcase").next().unwrap_or_default()
}

#[test]
fn what_was_not_asked_is_skipped_and_never_a_pass() {
    let args = ["prove", "--level", "sim", "--seeds", "200", "--rogue", "check-then-insert"];
    let (junit, markdown) = reports(&[&args[..], &["--promise", "R4"]].concat(), 0);
    assert!(
        case(&junit, "R4 (sim)").contains("/>") && !case(&junit, "R4 (sim)").contains("skipped")
    );
    assert!(case(&junit, "R4 (explore)").contains("this level was not asked for"));
    assert!(case(&junit, "R7 (sim)").contains("this promise was not asked for"));
    assert!(!case(&junit, "check-then-insert").contains("skipped"));
    assert!(case(&junit, "no-alert").contains("this rogue was not asked for"));
    assert!(markdown.starts_with("## Hookproof: ✅ Checked, not proven\n"), "{markdown}");
    assert!(markdown.contains("| R4 | duplicates fold") && !markdown.contains("| R7 |"));
}

#[test]
fn a_failure_has_its_sentence_its_last_lines_and_what_repeats_it() {
    let args = ["prove", "--level", "sim", "--rogue", "none", "--sabotage", "no-wake"];
    let (junit, markdown) = reports(&args, 1);
    let broken = case(&junit, "R9 (sim)");
    assert!(broken.contains("<failure message=\"receipt "), "{broken}");
    assert!(broken.contains("R9: a deferral ends"), "{broken}");
    assert!(broken.contains(" lines before\n"), "{broken}");
    assert!(broken.contains("replay: hookproof replay OUT/seed-"), "{broken}");
    assert!(broken.contains("again: hookproof prove --seed "), "{broken}");
    assert!(case(&junit, "shipped before paid").contains("<failure message=\"R9 is broken"));
    assert!(case(&junit, "the whole run").contains("<failure message=\"Broken"));
    assert!(markdown.starts_with("## Hookproof: ❌ Broken\n"), "{markdown}");
    assert!(markdown.contains("**R9 is broken**: a deferral ends"), "{markdown}");
}

#[test]
fn an_open_verdict_is_an_error_of_the_whole_run() {
    let args = ["prove", "--level", "sim", "--seeds", "1", "--rogue", "none"];
    let (junit, markdown) = reports(&args, 0);
    assert!(case(&junit, "the whole run").contains("<error message=\"Not enough was exercised"));
    assert!(junit.contains("never in danger at this level"), "one history is not enough for all");
    assert!(markdown.starts_with("## Hookproof: ⚠️ Not enough was exercised\n"), "{markdown}");
}
