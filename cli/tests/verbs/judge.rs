//! `hookproof judge`: histories of others, and what is said where they cannot be judged.

use hookproof_conformance::schema::findings;
use hookproof_sim::{prove::walk_one, record};
use serde_json::Value;
use sqlx::{Connection as _, SqliteConnection};

use crate::support::{Folder, hookproof, json, piped, stderr, stdout, vectors};

/// The hand-written service of the example, exported by its own SQL.
macro_rules! example {
    ($data:literal) => {
        exported([
            include_str!("../../../conformance/examples/judge/schema.sql"),
            include_str!(concat!("../../../conformance/examples/judge/", $data)),
        ])
    };
}

fn exported(statements: [&'static str; 2]) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let mut db = SqliteConnection::connect("sqlite::memory:").await.expect("a database");
        for sql in statements {
            sqlx::raw_sql(sql).execute(&mut db).await.expect("its own SQL");
        }
        let export = include_str!("../../../conformance/examples/judge/export.sql");
        let lines: Vec<String> =
            sqlx::query_scalar(export).fetch_all(&mut db).await.expect("lines");
        lines.join("\n") + "\n"
    })
}

#[test]
fn the_histories_of_the_example_are_what_its_sql_exports() {
    let kept = include_str!("../../../conformance/examples/judge/correct.jsonl");
    assert_eq!(example!("correct.sql"), kept);
    let kept = include_str!("../../../conformance/examples/judge/careless.jsonl");
    assert_eq!(example!("careless.sql"), kept);
}

/// The ids of the promises with this verdict.
fn with(verdict: &str, object: &Value) -> Vec<String> {
    let promises = object["histories"][0]["promises"].as_array().expect("a list");
    let of_it = promises.iter().filter(|row| row["verdict"] == verdict);
    of_it.map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_correct_receiver_that_was_written_by_hand_keeps_what_its_tables_tell() {
    let output = piped(&["judge", "-", "--json"], example!("correct.sql").as_bytes());
    let object = json(&output);
    assert_eq!(with("fail", &object), [""; 0], "{object}");
    let kept = ["S1", "S3", "S4", "R1", "R2", "R3", "R4", "R7", "R17"];
    assert_eq!(with("pass", &object), kept, "{object}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_careless_receiver_breaks_what_its_tables_tell() {
    let history = example!("careless.sql");
    let output = piped(&["judge", "-", "--json"], history.as_bytes());
    let object = json(&output);
    assert_eq!(with("fail", &object), ["R3", "R4", "R7"], "{object}");
    assert_eq!(output.status.code(), Some(1));
    let said = stdout(&piped(&["judge", "-"], history.as_bytes()));
    for sentence in [
        "R3: -:6: delivery id evt_1 was acknowledged before any receipt of it was durable",
        "R4: -:14: delivery id evt_1 has a second receipt beside receipt 1",
        "R7: -:15: operation pay of entity order-17 (occurrence 0) has two effects",
    ] {
        assert!(said.contains(sentence), "{said}");
    }
}

#[test]
fn the_history_of_a_seed_is_judged_as_it_was_in_the_simulator() {
    let folder = Folder::new();
    let path = folder.file("seven.jsonl", "");
    let output = hookproof(&["prove", "--seed", "7", "--history", &path]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let judged = hookproof(&["judge", &path, "--json"]);
    assert_eq!(judged.status.code(), Some(0), "{}", stdout(&judged));
    assert_eq!(with("pass", &json(&judged)).len(), 36);
}

#[test]
fn what_is_no_history_is_refused_by_its_line() {
    let head = r#"{"format":"hookproof-history/1","holds":["received"],"profile":"paymos"}"#;
    for (text, said) in [
        ("", "line 1: nothing: expected a header"),
        ("{}", "line 1: no `format`"),
        (
            r#"{"format":"hookproof-history/1","holds":["sent"],"profile":"paymos"}"#,
            "line 1: holds",
        ),
        ("1", "line 2: expected an object"),
        (r#"{"at_ms":-1,"by":"app","fact":"ended"}"#, "line 2: `at_ms` is -1"),
        (r#"{"at":"yesterday","by":"app","fact":"ended"}"#, "line 2: \"yesterday\""),
        (r#"{"at_ms":1,"by":"nobody","fact":"ended"}"#, "line 2: by `nobody`"),
        (r#"{"at_ms":1,"by":"app","fact":"sent"}"#, "line 2: unknown variant `sent`"),
        (r#"{"at_ms":1,"by":"app","fact":"swept"}"#, "line 2: missing field `event`"),
        (r#"{"at_ms":1,"by":"app","fact":"ended","x":1}"#, "line 2: "),
        (r#"{"at_ms":1,"by":"app","fact":"swept","event":1,"x":1}"#, "line 2: unknown field `x`"),
        (r#"{"at_ms":1,"by":"app","fact":"swept","event":1.5}"#, "line 2: 1.5"),
        (
            "{\"at_ms\":2,\"by\":\"app\",\"fact\":\"ended\"}\n{\"at_ms\":1,\"by\":\"app\",\"fact\":\"ended\"}",
            "line 3: it is 1 ms before line 2",
        ),
    ] {
        let text =
            if said.starts_with("line 1") { text.to_owned() } else { format!("{head}\n{text}\n") };
        let output = piped(&["judge", "-"], text.as_bytes());
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(stderr(&output).contains(said), "{text}: {}", stderr(&output));
    }
}

#[test]
fn where_nothing_can_be_decided_nothing_is_said_to_hold() {
    let head = r#"{"format":"hookproof-history/1","holds":["received"],"profile":"paymos"}"#;
    let output = piped(&["judge", "-"], head.as_bytes());
    assert_eq!(output.status.code(), Some(4), "{}", stdout(&output));
    assert!(stdout(&output).contains("Nothing could be decided"));
}

#[test]
fn every_line_is_one_of_the_schema() {
    let schema = std::fs::read_to_string(vectors("schema/history.json")).expect("the schema");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    for seed in 0..100 {
        let (setup, lines, _) = walk_one(seed, &[], None);
        let mut out = Vec::new();
        record::write(&setup.terms, &lines, &mut out).expect("memory");
        for line in String::from_utf8(out).expect("JSON").lines() {
            let value: Value = serde_json::from_str(line).expect("JSON");
            let name = value.get("fact").and_then(Value::as_str).unwrap_or("header");
            let of_it = schema["$defs"].get(name).unwrap_or_else(|| panic!("{name} has no schema"));
            assert_eq!(findings(of_it, &value, name), [""; 0], "{line}");
        }
    }
}
