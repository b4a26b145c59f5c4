//! `hookproof cases` and `hookproof schemes`: what they print, and how they end.

use std::fs;

use crate::support::{Folder, hookproof, json, stderr, stdout, vectors};
use serde_json::{Value, json};

/// A case file without notice and flags, as others write them.
fn file(cases: &[Value]) -> String {
    json!({ "format": "hookproof-cases/1", "kind": "config.tolerance", "cases": cases }).to_string()
}

fn case(id: &str, level: &str, result: &str) -> Value {
    json!({
        "id": id, "level": level, "input": { "tolerance_s": "300" },
        "expected": { "result": result, "note": "not graded" }, "why": "a whole number",
    })
}

#[test]
fn every_case_that_ships_agrees_also_when_strict() {
    let output = hookproof(&["cases", "check", "--strict", &vectors("cases").to_string_lossy()]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(!text.contains("differs"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("signature.verify ")), "{text}");
    assert!(text.lines().last().is_some_and(|line| line.starts_with("total ")), "{text}");
}

#[test]
fn files_without_notice_and_flags_are_run_too() {
    let folder = Folder::new();
    let mut paths = Vec::new();
    for entry in fs::read_dir(vectors("cases")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut root: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let object = root.as_object_mut().unwrap();
        object.retain(|key, _| ["format", "kind", "cases"].contains(&key.as_str()));
        for case in object["cases"].as_array_mut().unwrap() {
            case.as_object_mut().unwrap().retain(|key, _| key != "flags" && key != "recipe");
        }
        paths.push(folder.file(&name, root.to_string()));
    }
    let args: Vec<&str> = ["cases", "check", "--strict", "--json"]
        .into_iter()
        .chain(paths.iter().map(String::as_str))
        .collect();
    let output = hookproof(&args);
    let object = json(&output);
    assert_eq!(output.status.code(), Some(0), "{object}");
    assert!(object["cases"].as_u64() > Some(1_000), "{object}");
    assert_eq!((&object["differs"], &object["unread"]), (&json!([]), &json!([])));
}

#[test]
fn chunks_that_are_no_lengths_make_their_case_unreadable_and_no_other() {
    let folder = Folder::new();
    let case = |at: usize, chunks: Value| {
        let framing = json!({ "transfer_encoding": "chunked", "chunks": chunks });
        json!({
            "id": format!("c{at}"), "level": "must", "why": "framing",
            "input": { "scheme": "github", "secrets": ["s"], "headers": [["a", "b"]],
                       "body_b64": "e30=", "framing": framing },
            "expected": { "result": "reject" },
        })
    };
    let all = [json!([u64::MAX, 1]), json!([1, "1"]), json!([-1, 3]), json!([1.5]), json!([1, 1])];
    let cases: Vec<Value> = all.into_iter().enumerate().map(|(at, each)| case(at, each)).collect();
    let root = json!({ "format": "hookproof-cases/1", "kind": "signature.verify", "cases": cases });
    let path = folder.file("chunks.json", root.to_string());
    let output = hookproof(&["cases", "check", &path]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert_eq!(stdout(&output).matches("`chunks` has the wrong type").count(), 4);
    assert!(stdout(&output).contains("1 of 1 agree"), "{}", stdout(&output));
}

#[test]
fn a_must_that_differs_ends_with_1_and_a_should_only_when_strict() {
    let folder = Folder::new();
    let check = |cases: &[Value], more: &[&str]| {
        let path = folder.file("a.json", file(cases));
        hookproof(&[&["cases", "check", &path], more].concat())
    };
    let must = check(&[case("a", "must", "config_error"), case("b", "must", "accept")], &[]);
    assert_eq!(must.status.code(), Some(1));
    insta::assert_snapshot!(stdout(&must), @r#"
    differs  a [must] config.tolerance: expected {"result":"config_error"}, got {"result":"accept"}: a whole number
    config.tolerance     1 of 2 agree
    total                1 of 2 agree, under the profile hookproof
    "#);
    let should = [case("a", "should", "config_error")];
    assert_eq!(check(&should, &[]).status.code(), Some(0));
    assert!(stdout(&check(&should, &[])).contains("differs  a [should]"));
    assert_eq!(check(&should, &["--strict"]).status.code(), Some(1));
    let policy = check(&[case("a", "policy", "config_error")], &["--strict"]);
    assert_eq!(policy.status.code(), Some(0));
    assert!(
        stdout(&policy).contains("policy   a config.tolerance: {\"result\":\"accept\"}, where")
    );
}

#[test]
fn what_cannot_be_read_ends_with_3_and_hides_nothing() {
    let folder = Folder::new();
    let check = |text: &str| hookproof(&["cases", "check", &folder.file("a.json", text)]);
    let good = case("good", "must", "accept");
    let extra = json!({ "tolerance_s": "300", "unit": "s" });
    let mut odd = case("odd", "must", "accept");
    odd["input"] = extra;
    let output = check(&file(&[odd, good.clone()]));
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("odd: unknown input field `unit`"), "{}", stdout(&output));
    assert!(stdout(&output).contains("1 of 1 agree, 1 not read"), "{}", stdout(&output));
    let whole = file(&[good]);
    for (from, to, expected) in [
        ("config.tolerance", "config.unheard", "unknown kind `config.unheard`"),
        ("cases/1", "cases/2", "expected the format"),
        ("{\"tolerance", "{{", "not JSON"),
        ("\"must\"", "\"may\"", "unknown level"),
    ] {
        let output = check(&whole.replacen(from, to, 1));
        assert_eq!(output.status.code(), Some(3), "{to}");
        assert!(stdout(&output).contains(expected), "{to}: {}", stdout(&output));
    }
    let scheme = json!({
        "format": "hookproof-cases/1", "kind": "signature.verify", "cases": [{
            "id": "a", "level": "must", "why": "w", "expected": { "result": "reject" },
            "input": { "scheme": "unheard", "secrets": ["s"], "headers": [], "body_b64": "" },
        }],
    });
    let output = check(&scheme.to_string());
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("unknown scheme `unheard`"), "{}", stdout(&output));
    assert_eq!(hookproof(&["cases", "check", "no such file"]).status.code(), Some(3));
}

#[test]
fn a_directory_is_searched_and_what_holds_no_cases_is_skipped_by_name() {
    let whole = hookproof(&["cases", "check", "--strict", &vectors("").to_string_lossy()]);
    let text = stdout(&whole);
    assert_eq!(whole.status.code(), Some(0), "{text}");
    assert!(text.contains(" without a `format` of cases: "), "{text}");
    assert!(text.contains("schemes.json") && text.contains("total "), "{text}");
    let folder = Folder::new();
    folder.file("other.json", "[1]");
    folder.file("below/a.json", file(&[case("a", "must", "accept")]));
    let object = json(&hookproof(&["cases", "check", "--json", &folder.path()]));
    assert_eq!((&object["cases"], &object["agree"]), (&json!(1), &json!(1)), "{object}");
    assert_eq!(object["skipped"].as_array().map(Vec::len), Some(1), "{object}");
    folder.file("below/broken.json", "{");
    assert_eq!(hookproof(&["cases", "check", &folder.path()]).status.code(), Some(3));
    let named = hookproof(&["cases", "check", &vectors("schemes.json").to_string_lossy()]);
    assert_eq!(named.status.code(), Some(3), "a file that is named is meant");
}

#[test]
fn no_case_at_all_never_ends_with_0() {
    let folder = Folder::new();
    let empty = folder.file("empty.json", file(&[]));
    let output = hookproof(&["cases", "check", &empty]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("expected at least one case"), "{}", stdout(&output));
    let bare = Folder::new();
    bare.file("other.json", "{}");
    let output = hookproof(&["cases", "check", &bare.path()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("expected files"), "{}", stdout(&output));
}

#[test]
fn the_profile_makes_the_choices() {
    let folder = Folder::new();
    let gone = json!({
        "format": "hookproof-cases/1", "kind": "response.classify", "cases": [{
            "id": "gone", "level": "policy", "input": { "status": 410 },
            "expected": { "outcome": "failed_permanent" }, "why": "410 is the profile's",
        }],
    });
    let path = folder.file("a.json", gone.to_string());
    let check = |name| stdout(&hookproof(&["cases", "check", &path, "--profile", name]));
    assert!(
        check("hookproof").contains("policy   gone response.classify: {\"outcome\":\"failed_retry")
    );
    assert!(check("standard-webhooks").contains("{\"outcome\":\"failed_permanent\"}\n"));
    let wrong = hookproof(&["cases", "check", &path, "--profile", "x"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("hookproof, paymos, standard-webhooks"));
}

#[test]
fn the_lint_finds_nothing_in_what_ships_and_something_in_bare_files() {
    let clean = hookproof(&["cases", "lint", &vectors("cases").to_string_lossy()]);
    assert_eq!(clean.status.code(), Some(0), "{}", stdout(&clean));
    let folder = Folder::new();
    folder.file("a.json", file(&[case("a", "must", "accept")]));
    let output = hookproof(&["cases", "lint", &folder.path()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("\"flags\" is missing"), "{}", stdout(&output));
    folder.file("manifest.json", r#"{ "counts": { "config.tolerance": 2 } }"#);
    let counted = stdout(&hookproof(&["cases", "lint", &folder.path()]));
    assert!(counted.contains("the manifest counts Some(2) cases"), "{counted}");
    assert_eq!(hookproof(&["cases", "lint", "no such file"]).status.code(), Some(3));
}

#[test]
fn a_scheme_says_what_it_does_not_sign() {
    for name in ["paymos", "github"] {
        let text = stdout(&hookproof(&["schemes", name]));
        assert!(text.contains("NOT signed   the delivery id in X-"), "{text}");
    }
    insta::assert_snapshot!("schemes_paymos", stdout(&hookproof(&["schemes", "paymos"])));
    insta::assert_snapshot!("schemes_swh", stdout(&hookproof(&["schemes", "swh"])));
    let object = json(&hookproof(&["schemes", "github", "--json"]));
    assert_eq!(object["not_signed"], json!(["id", "time"]));
}

#[test]
fn all_schemes_are_listed_with_those_that_have_no_vector_or_no_row() {
    let text = stdout(&hookproof(&["schemes"]));
    let rows = json(&hookproof(&["schemes", "--json"]));
    let (_, without) = text.split_once("no published vector").expect("a list");
    for row in rows.as_array().expect("a list") {
        let name = row["scheme"].as_str().expect("a name");
        assert!(text.contains(name), "{name}");
        let listed = without.lines().any(|line| line.trim() == name);
        assert_eq!(listed, row["published_vectors"] == 0, "{name}");
    }
    assert!(text.contains("sns-rsa (AWS SNS): RSA"), "{text}");
    assert!(text.lines().all(|line| line == line.trim_end()), "no line ends in a blank");
}

#[test]
fn an_unknown_scheme_has_near_ones_and_an_unsupported_one_its_reason() {
    let output = hookproof(&["schemes", "githb"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("near are github"), "{}", stderr(&output));
    let known = hookproof(&["schemes", "paypal-rsa-sha256-crc32"]);
    assert_eq!(known.status.code(), Some(0));
    assert!(stdout(&known).contains("not verified"), "{}", stdout(&known));
}

#[test]
fn help_says_how_each_verb_ends() {
    for verb in [&["verify"][..], &["sign"], &["schemes"], &["cases", "check"], &["cases", "lint"]]
    {
        let text = stdout(&hookproof(&[verb, &["--help"]].concat()));
        assert!(text.contains("Exit codes: 0 "), "{verb:?}: {text}");
    }
}
