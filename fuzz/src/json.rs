//! JSON bodies: another reader takes the same texts and finds the same values.

use std::collections::BTreeMap;

use hookproof_core::{
    identity::{self, Fault, Identity, Places},
    json::{self, Json, Unreadable, Value},
};
use serde_json::value::RawValue;

/// The input is a JSON pointer, and behind its line a body.
pub fn run(data: &[u8]) {
    let split = data.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let body = data.get(split + 1..).unwrap_or_default();
    let pointer = str::from_utf8(&data[..split]).unwrap_or("/id");
    same_grammar(body);
    if let Ok(json) = Json::check(body) {
        let found = json.at(pointer);
        same_value(body, pointer, found);
        texts(json.root());
        compacted(json, pointer, found);
    }
    identities(body);
}

/// The other reader has a limit of its own for nesting.
fn same_grammar(body: &[u8]) {
    let theirs = str::from_utf8(body).map(serde_json::from_str::<&RawValue>);
    let ours = Json::check(body);
    match theirs {
        Ok(Ok(raw)) => assert_eq!(ours.expect("JSON to others").root().raw(), raw.get().as_bytes()),
        Ok(Err(error)) if error.to_string().starts_with("recursion limit") => {}
        Ok(Err(_)) | Err(_) => assert!(ours.is_err(), "no JSON to others"),
    }
}

/// Where no key on the way stands twice.
fn same_value(body: &[u8], pointer: &str, found: Result<Option<Value<'_>>, Unreadable>) {
    let Ok(found) = found else { return };
    let Ok(theirs) = theirs(body, pointer) else { return };
    assert_eq!(found.map(Value::raw), theirs.map(|raw| raw.get().as_bytes()), "{pointer}");
}

/// What stands at a pointer; an error where the other reader cannot say.
fn theirs<'b>(body: &'b [u8], pointer: &str) -> serde_json::Result<Option<&'b RawValue>> {
    let mut value: &RawValue = serde_json::from_slice(body)?;
    let Some(path) = pointer.strip_prefix('/') else {
        return Ok(pointer.is_empty().then_some(value));
    };
    for token in path.split('/') {
        let token = token.replace("~1", "/").replace("~0", "~");
        let child = match value.get().as_bytes().first() {
            Some(b'{') => members(value)?.get(&token).copied(),
            Some(b'[') => {
                let elements: Vec<&RawValue> = serde_json::from_str(value.get())?;
                let index: Option<usize> = token.parse().ok();
                let index = index.filter(|index| index.to_string() == token);
                index.and_then(|index| elements.get(index).copied())
            }
            _ => None,
        };
        match child {
            Some(child) => value = child,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

/// A key that names half a character is no key to the other reader.
fn members(object: &RawValue) -> serde_json::Result<BTreeMap<String, &RawValue>> {
    serde_json::from_str(object.get())
}

/// A string is the same text to both; half a character is none.
fn texts(value: Value<'_>) {
    let theirs = serde_json::from_slice::<String>(value.raw()).ok();
    assert_eq!(value.text(), theirs);
    let elements = serde_json::from_slice::<Vec<&RawValue>>(value.raw()).ok();
    if let (Some(ours), Some(theirs)) = (value.elements(), elements) {
        let theirs: Vec<&[u8]> = theirs.iter().map(|raw| raw.get().as_bytes()).collect();
        assert_eq!(ours.into_iter().map(Value::raw).collect::<Vec<_>>(), theirs);
    }
}

/// Without its blanks a text says the same.
fn compacted(json: Json<'_>, pointer: &str, found: Result<Option<Value<'_>>, Unreadable>) {
    let compact = json::compact(json);
    let again = Json::check(&compact).expect("JSON without its blanks is JSON");
    assert_eq!(json::compact(again), compact);
    let scalar = |found: Result<Option<Value<'_>>, Unreadable>| found.map(|v| v.map(Value::scalar));
    assert_eq!(scalar(again.at(pointer)), scalar(found));
}

/// What is read is an id, and neither blanks nor an unrelated header change it.
fn identities(body: &[u8]) {
    for name in PRESETS {
        let places = Places::named(name).expect("a preset");
        let headers = [("webhook-id", ID), ("svix-id", ID), ("x-webhook-id", ID)];
        let read = places.read(&headers, body);
        if let Ok(identity) = &read {
            whole(identity);
            assert_eq!(identity.id.is_some(), places.id.is_some());
        }
        let spaced: Vec<u8> = [b" \r\n", body, b"\t"].concat();
        let more: Vec<(&str, &[u8])> = headers.into_iter().chain([("x-other", body)]).collect();
        let again = places.read(&more, &spaced);
        assert_eq!(again, read, "{name}");
        if Json::check(body).is_err() && places.event_type.is_some() {
            assert_eq!(read, Err(Fault::Body(Unreadable::NotJson)), "{name}");
        }
    }
}

fn whole(identity: &Identity) {
    assert!(identity.id.as_deref().is_none_or(identity::is_id));
}

const ID: &[u8] = b"evt_1";
const PRESETS: [&str; 7] =
    ["standard-webhooks", "svix", "stripe", "paymos", "github", "slack", "shopify"];
