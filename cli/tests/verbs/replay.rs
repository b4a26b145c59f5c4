//! `hookproof replay`, and the scenarios that `hookproof prove` keeps.

use std::{fs, path::Path};

use serde_json::json;

use crate::support::{Folder, hookproof, json as object, stderr, stdout};

/// The scenario of a rogue, kept by `prove`.
fn kept(folder: &Folder, rogue: &str) -> String {
    let out = folder.path();
    let run =
        hookproof(&["prove", "--rogue", rogue, "--level", "sim", "--seeds", "1", "--out", &out]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let path = format!("{out}/{rogue}.json");
    assert!(stdout(&run).contains(&format!("hookproof replay {path} --rogue {rogue}")));
    path
}

#[test]
fn what_is_kept_of_a_rogue_fails_with_it_and_passes_without() {
    let folder = Folder::new();
    let path = kept(&folder, "check-then-insert");
    let right = hookproof(&["replay", &path]);
    let text = stdout(&right);
    assert_eq!(right.status.code(), Some(0), "{text}");
    assert!(text.contains("as expected") && text.contains("R4 was in danger"), "{text}");
    let wrong = hookproof(&["replay", &path, "--rogue", "check-then-insert"]);
    let text = stdout(&wrong);
    assert_eq!(wrong.status.code(), Some(1), "{text}");
    assert!(text.contains("R4 is broken after") && text.contains("not as expected"), "{text}");
    let again = hookproof(&["replay", &path, "--rogue", "check-then-insert"]);
    assert_eq!(again.stdout, wrong.stdout, "two processes");
    let report = object(&hookproof(&["replay", &path, "--rogue", "check-then-insert", "--json"]));
    assert_eq!(report["verdict"], json!("fail"));
    assert_eq!(report["broken"][0]["promise"], json!("R4"));
}

#[test]
fn a_fault_that_does_not_happen_ends_with_4_and_its_name() {
    let folder = Folder::new();
    let text = fs::read_to_string(kept(&folder, "check-then-insert")).expect("a scenario");
    let fault =
        "\"faults\": [\n    {\"what\":\"drop\",\"hits\":\"response\",\"claim\":77,\"delivery\":0},";
    let path = folder.file("never.json", text.replacen("\"faults\": [", fault, 1));
    let output = hookproof(&["replay", &path]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("drop of response, delivery 0, claim 77"), "{text}");
}

#[test]
fn what_was_expected_and_did_not_come_is_named() {
    let folder = Folder::new();
    let text = fs::read_to_string(kept(&folder, "check-then-insert")).expect("a scenario");
    let path = folder.file(
        "more.json",
        text.replacen("\"world\"", "\"expect\": {\"effects\": 9},\n  \"world\"", 1),
    );
    let output = hookproof(&["replay", &path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("expected 9"), "{}", stdout(&output));
}

#[test]
fn a_directory_is_a_table_and_what_is_no_scenario_is_said_to_be_none() {
    let folder = Folder::new();
    let text = fs::read_to_string(kept(&folder, "check-then-insert")).expect("a scenario");
    folder.file("all/a.json", &text);
    folder.file("all/b.json", &text);
    folder.file("all/other.json", "{}");
    let all = format!("{}/all", folder.path());
    let output = hookproof(&["replay", &all]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "2 of 2 scenarios came as expected\n");
    assert!(stderr(&output).contains("other.json"), "{}", stderr(&output));
    let named = format!("{all}/other.json");
    assert!(Path::new(&named).exists());
    let output = hookproof(&["replay", &named]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("expected `hookproof-scenario/1`"), "{}", stderr(&output));
    assert_eq!(hookproof(&["replay", "no such file"]).status.code(), Some(3));
    assert_eq!(hookproof(&["replay"]).status.code(), Some(2));
}
