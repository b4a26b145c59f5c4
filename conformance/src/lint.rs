//! The house rules on case files, stricter than what is needed to run them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use hookproof_core::{codec, profile::Profile, scheme};

use crate::{
    cases::{File, Unreadable, one_key_each},
    recipe, schema,
};

/// The schema of each kind.
const SCHEMAS: [(&str, &str); 19] = [
    ("backoff.delay", include_str!("../../vectors/schema/backoff.delay.json")),
    ("config.tolerance", include_str!("../../vectors/schema/config.tolerance.json")),
    ("dedup.identity", include_str!("../../vectors/schema/dedup.identity.json")),
    ("handshake.answer", include_str!("../../vectors/schema/handshake.answer.json")),
    ("header.custom", include_str!("../../vectors/schema/header.custom.json")),
    ("identity.read", include_str!("../../vectors/schema/identity.read.json")),
    ("json.preserve", include_str!("../../vectors/schema/json.preserve.json")),
    ("ladder.schedule", include_str!("../../vectors/schema/ladder.schedule.json")),
    ("order.merge", include_str!("../../vectors/schema/order.merge.json")),
    ("primitive", include_str!("../../vectors/schema/primitive.json")),
    ("redirect", include_str!("../../vectors/schema/redirect.json")),
    ("response.classify", include_str!("../../vectors/schema/response.classify.json")),
    ("retry_after.parse", include_str!("../../vectors/schema/retry_after.parse.json")),
    ("secret.decode", include_str!("../../vectors/schema/secret.decode.json")),
    ("signature.sign", include_str!("../../vectors/schema/signature.sign.json")),
    ("signature.verify", include_str!("../../vectors/schema/signature.verify.json")),
    ("ssrf.resolve", include_str!("../../vectors/schema/ssrf.resolve.json")),
    ("ssrf.url", include_str!("../../vectors/schema/ssrf.url.json")),
    ("timestamp.parse", include_str!("../../vectors/schema/timestamp.parse.json")),
];

/// Holds a set of files (name, text) to the rules: schema, ids unique in the whole set and never a
/// retired one, every flag explained and used, recipes that make their cases (and one, or a
/// reason, for every request that has to be fresh), counts where
/// `vectors/manifest.json` states them. One sentence a finding; none is a clean set.
pub fn findings(files: &[(String, String)]) -> Vec<String> {
    let mut all = Vec::new();
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let mut retired = BTreeSet::new();
    for (name, text) in files {
        let file = match read(text) {
            Ok(file) => file,
            Err(unreadable) => {
                all.push(format!("{name}: {unreadable}"));
                continue;
            }
        };
        let of_form = of_file(name, &file);
        if of_form.is_empty() {
            all.extend(unread(name, text));
        }
        all.extend(of_form);
        let ids = |list: &str| -> Vec<String> {
            let items = file.get(list).and_then(Value::as_array).into_iter().flatten();
            let id = |item: &Value| {
                item.as_str().or_else(|| item.get("id")?.as_str()).map(str::to_owned)
            };
            items.filter_map(id).collect()
        };
        retired.extend(ids("retired"));
        for id in ids("cases") {
            if let Some(other) = seen.insert(id.clone(), name.clone()) {
                all.push(format!("{name}: the id {id} stands in {other} too"));
            }
        }
    }
    for id in retired {
        if let Some(name) = seen.get(&id) {
            all.push(format!("{name}: the id {id} is retired and must not come back"));
        }
    }
    all
}

/// What a manifest says of the number of cases by kind, and what there is.
pub fn count_findings(manifest: &str, files: &[(String, String)]) -> Vec<String> {
    let Ok(manifest) = serde_json::from_str::<Value>(manifest) else {
        return vec!["the manifest is not JSON".into()];
    };
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for file in files.iter().filter_map(|(_, text)| read(text).ok()) {
        let kind = file.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        let cases = file.get("cases").and_then(Value::as_array).map_or(0, Vec::len);
        *counts.entry(kind).or_default() += cases as u64;
    }
    let stated = manifest.get("counts").and_then(Value::as_object);
    let mut all = Vec::new();
    for (kind, count) in &counts {
        let says = stated.and_then(|stated| stated.get(kind)).and_then(Value::as_u64);
        if says != Some(*count) {
            all.push(format!("the manifest counts {says:?} cases of {kind}, there are {count}"));
        }
    }
    all
}

/// The schema of a place within the cases of a kind, where it says something.
pub(crate) fn case_schema(kind: &str, place: &str) -> Option<Value> {
    let (_, schema) = SCHEMAS.iter().find(|(known, _)| *known == kind)?;
    let schema: Value = serde_json::from_str(schema).ok()?;
    let items = schema.pointer("/properties/cases/items/properties")?;
    items.pointer(place).cloned()
}

fn read(text: &str) -> Result<Value, Unreadable> {
    one_key_each(text)?;
    serde_json::from_str(text).map_err(|e| Unreadable(format!("not JSON: {e}")))
}

fn of_file(name: &str, file: &Value) -> Vec<String> {
    let kind = file.get("kind").and_then(Value::as_str).unwrap_or_default();
    let Some((_, schema)) = SCHEMAS.iter().find(|(known, _)| *known == kind) else {
        return vec![format!("{name}: unknown kind `{kind}`")];
    };
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let mut all = schema::findings(&schema, file, name);
    let explained = file.get("flags").and_then(Value::as_object);
    let mut used = BTreeSet::new();
    for case in file.get("cases").and_then(Value::as_array).into_iter().flatten() {
        let id = case.get("id").and_then(Value::as_str).unwrap_or_default();
        all.extend(of_case(case).into_iter().map(|finding| format!("{name}: {id}: {finding}")));
        for flag in case.get("flags").and_then(Value::as_array).into_iter().flatten() {
            let flag = flag.as_str().unwrap_or_default();
            used.insert(flag.to_owned());
            if explained.is_none_or(|explained| !explained.contains_key(flag)) {
                all.push(format!("{name}: {id}: the flag {flag} is not explained"));
            }
        }
    }
    for flag in explained.into_iter().flat_map(|explained| explained.keys()) {
        if !used.contains(flag) {
            all.push(format!("{name}: the flag {flag} is explained and not used"));
        }
    }
    all
}

/// The cases of a file that nothing can run: an unknown scheme, an input that says two things.
fn unread(name: &str, text: &str) -> Vec<String> {
    match File::read(text) {
        Err(why) => vec![format!("{name}: {why}")],
        Ok(file) => file
            .each(&Profile::hookproof())
            .filter_map(Result::err)
            .map(|why| format!("{name}: {why}"))
            .collect(),
    }
}

fn of_case(case: &Value) -> Vec<String> {
    let mut all = Vec::new();
    let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
    let slug = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if text("id").is_empty() || !text("id").chars().all(slug) {
        all.push("the id is no slug".into());
    }
    if text("why").is_empty() || text("source").is_empty() {
        all.push("`why` and `source` have to say something".into());
    }
    if case.get("flags").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        all.push("no flag says which fault it hunts".into());
    }
    all.extend(of_recipe(case));
    all
}

/// A recipe makes its case, and a case that has to be fresh has one or says why not.
fn of_recipe(case: &Value) -> Option<String> {
    let input = case.get("input")?.as_object()?;
    match (case.get("recipe"), case.get("no_recipe").and_then(Value::as_str)) {
        (Some(_), Some(_)) => Some("expected `recipe` or `no_recipe`, not both".into()),
        (Some(recipe), None) => {
            let Some(made) = recipe::made(recipe, input) else {
                return Some("the recipe cannot be followed".into());
            };
            if Some(&made.headers) != input.get("headers") {
                Some("the recipe makes other headers".into())
            } else if input.get("body_b64")?.as_str()? != codec::to_base64(&made.body) {
                Some("the recipe makes another body".into())
            } else {
                None
            }
        }
        (None, None | Some("")) if needs_recipe(case) => {
            Some("a time is signed: expected a `recipe`, or `no_recipe` with the reason".into())
        }
        (None, _) => None,
    }
}

/// Whether a request that is right today is refused tomorrow.
fn needs_recipe(case: &Value) -> bool {
    let text = |pointer: &str| case.pointer(pointer).and_then(Value::as_str);
    let scheme = text("/input/scheme").and_then(scheme::named);
    let is_request = case.pointer("/input/headers").is_some();
    text("/expected/result") == Some("accept")
        && is_request
        && scheme.is_some_and(|scheme| scheme.tolerance.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(cases: &str) -> (String, String) {
        let text = format!(
            r#"{{"format":"hookproof-cases/1","kind":"config.tolerance","notice":"n",
                "flags":{{"F":{{"class":"INTEROP","why":"w"}}}},"retired":["old"],"cases":[{cases}]}}"#
        );
        ("a.json".into(), text)
    }

    const GOOD: &str = r#"{"id":"a","level":"must","flags":["F"],"input":{"tolerance_s":"1"},
        "expected":{"result":"accept"},"why":"w","source":"s"}"#;

    #[test]
    fn a_clean_file_has_no_findings() {
        assert_eq!(findings(&[file(GOOD)]), Vec::<String>::new());
    }

    #[test]
    fn each_rule_finds_what_breaks_it() {
        let finds = |cases: &str| findings(&[file(cases)]).len();
        assert_eq!(finds(&format!("{GOOD},{GOOD}")), 1, "an id twice");
        assert_eq!(finds(&GOOD.replace("\"a\"", "\"old\"")), 1, "a retired id");
        assert_eq!(finds(&GOOD.replace("[\"F\"]", "[\"F\",\"G\"]")), 1, "a flag without a word");
        assert_eq!(finds(&GOOD.replace("[\"F\"]", "[]")), 2, "no flag, and one that nobody uses");
        assert_eq!(finds(&GOOD.replace("\"must\"", "\"may\"")), 1, "an unknown level");
        assert_eq!(
            finds(&GOOD.replace("\"tolerance_s\"", "\"x\"")),
            2,
            "a field unknown, one missing"
        );
        assert_eq!(finds(&GOOD.replace("\"w\"", "\"\"")), 1, "no reason");
        assert_eq!(finds(&GOOD.replace("\"why\"", "\"why\":\"v\",\"why\"")), 1, "a key twice");
        assert_eq!(finds(&GOOD.replace("\"accept\"", "\"maybe\"")), 1, "an unknown result");
    }

    #[test]
    fn a_request_that_has_to_be_fresh_needs_a_recipe_or_a_reason() {
        let case = r#"{"id":"a","level":"must","flags":["F"],"why":"w","source":"s",
            "input":{"scheme":"slack","secrets":["s"],"now":5,"body_b64":"","headers":[
            ["X-Slack-Request-Timestamp","5"],["X-Slack-Signature","x"]]},
            "expected":{"result":"accept"}MORE}"#;
        let finds = |more: &str| {
            let (name, text) = file(&case.replace("MORE", more));
            let text = text.replace("config.tolerance", "signature.verify");
            findings(&[(name, text)]).join("; ")
        };
        assert!(finds("").contains("expected a `recipe`, or `no_recipe`"), "{}", finds(""));
        assert_eq!(finds(r#","no_recipe":"the key is not known""#), "");
        let headers = r#"[["X-Slack-Request-Timestamp","{timestamp}"],["X-Slack-Signature","x"]]"#;
        let recipe = |more: &str| {
            finds(&format!(
                r#","recipe":{{"timestamp_offset_s":0,"tags":[],"headers":{headers}{more}}}"#
            ))
        };
        assert_eq!(recipe(""), "");
        assert!(recipe(r#","unit":"ms""#).contains("other headers"));
        assert!(recipe(r#","body":"x""#).contains("another body"));
        assert!(recipe(r#","unit":"date""#).contains("cannot be followed"));
    }

    #[test]
    fn a_case_that_nothing_can_run_is_found() {
        let finds = |kind: &str, input: &str, expected: &str| {
            let (name, text) = file(GOOD);
            let text = text
                .replace("config.tolerance", kind)
                .replace(r#"{"tolerance_s":"1"}"#, input)
                .replace(r#"{"result":"accept"}"#, expected);
            findings(&[(name, text)])
        };
        let wait = r#""now":1,"cap_s":1"#;
        for values in [String::new(), r#""value":"1","values":["1"],"#.into()] {
            let input = format!("{{{values}{wait}}}");
            let found = finds("retry_after.parse", &input, r#"{"delay_s":1}"#);
            assert!(found[0].contains("either `value` or `values`"), "{found:?}");
        }
        let verify = r#"{"scheme":"nobody","secrets":["s"],"headers":[],"body_b64":""}"#;
        let found = finds("signature.verify", verify, r#"{"result":"accept"}"#);
        assert!(found[0].contains("unknown scheme `nobody`"), "{found:?}");
    }
}
