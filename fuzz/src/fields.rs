//! HTTP message signatures: what we read of their fields is what a library for structured fields reads.

use hookproof_core::scheme::{Field, HttpSignature, Request};
use sfv::{BareItem, Dictionary, FieldType, InnerList, List, ListEntry, Parser};

/// The input is a `Signature-Input`, and behind its line a `Signature`.
pub fn run(data: &[u8]) {
    let mut lines = data.splitn(2, |byte| *byte == b'\n');
    let input = lines.next().unwrap_or_default();
    let value = lines.next().unwrap_or_default();
    let ours = signatures(input, value);
    let (Some(inputs), Some(values)) = (dictionary(input), dictionary(value)) else {
        assert!(ours.is_empty(), "no structured fields to others");
        return;
    };
    for signature in &ours {
        let Some(ListEntry::InnerList(list)) = inputs.get(signature.label.as_str()) else {
            panic!("no inner list to others: {}", signature.label);
        };
        assert_eq!(last_line(&signature.base), params(list));
        let theirs = values.get(signature.label.as_str()).and_then(bytes);
        assert_eq!(theirs, Some(&signature.signature[..]));
    }
    takes_what_is_well_formed(&inputs, &values);
}

/// Written canonically, every signature is found whose components the request has.
fn takes_what_is_well_formed(inputs: &Dictionary, values: &Dictionary) {
    let (Some(input), Some(value)) = (inputs.serialize(), values.serialize()) else { return };
    let small = inputs.len() <= 16 && input.len() < LINE_MAX;
    if !small {
        return;
    }
    let ours = signatures(input.as_bytes(), value.as_bytes());
    for (label, entry) in inputs {
        let ListEntry::InnerList(list) = entry else { continue };
        if is_covered(list) && values.get(label).and_then(bytes).is_some() {
            let found = ours.iter().any(|signature| signature.label == label.as_str());
            assert!(found, "a signature that others find: {label} in {input}");
        }
    }
}

/// Whether the base of this list can be built for the request below.
fn is_covered(list: &InnerList) -> bool {
    let mut seen = Vec::new();
    list.params.len() <= ITEMS_MAX
        && list.items.iter().all(|item| {
            let BareItem::String(name) = &item.bare_item else { return false };
            let known = HEADERS.iter().any(|(header, _)| *header == name.as_str())
                || ["@method", "@target-uri", "@path"].contains(&name.as_str());
            let new = !seen.contains(&name.as_str());
            seen.push(name.as_str());
            known && new && item.params.is_empty()
        })
}

fn signatures(input: &[u8], value: &[u8]) -> Vec<HttpSignature> {
    let mut headers = vec![("signature-input", input), ("signature", value)];
    headers.extend(HEADERS);
    let request = Request {
        headers: &headers,
        method: Some("POST"),
        url: Some("https://hooks.example.com/in?a=1"),
        ..Request::default()
    };
    HttpSignature::of(&request).unwrap_or_default()
}

fn dictionary(text: &[u8]) -> Option<Dictionary> {
    Parser::new(hookproof_core::answer::trim(text)).parse().ok()
}

fn bytes(entry: &ListEntry) -> Option<&[u8]> {
    match entry {
        ListEntry::Item(item) => item.bare_item.as_byte_sequence(),
        ListEntry::InnerList(_) => None,
    }
}

fn params(list: &InnerList) -> String {
    let list: List = vec![ListEntry::InnerList(list.clone())];
    list.serialize().expect("one member")
}

fn last_line(base: &str) -> &str {
    let line = base.rsplit('\n').next().expect("a line");
    line.strip_prefix("\"@signature-params\": ").expect("the parameters stand last")
}

const HEADERS: [Field<'static>; 3] = [
    ("content-type", b"application/json"),
    ("content-digest", b"sha-256=:AA==:"),
    ("date", b"now"),
];
const LINE_MAX: usize = 32_768;
const ITEMS_MAX: usize = 64;
