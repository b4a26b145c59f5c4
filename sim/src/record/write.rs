//! Writing a history of ours, which holds every fact.

use std::io::{self, Write};

use serde_json::Value;

use super::header::{Header, event_name};
use crate::{
    history::{Fact, Line, Reading},
    oracle::Terms,
};

/// Writes a history: the header, and a line for each fact.
pub fn write(terms: &Terms, lines: &[Line], out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Header::of(terms))?;
    writeln!(out)?;
    lines.iter().try_for_each(|line| writeln!(out, "{}", written(line)))
}

/// A line. The fields of its fact stand beside its name, in the order of their declaration.
fn written(line: &Line) -> String {
    let fact = serde_json::to_string(&line.fact).expect("a fact has no key that is not a text");
    let (name, fields) = match fact.strip_prefix("{\"").and_then(|rest| rest.split_once("\":{")) {
        Some((name, fields)) => (name, format!(",{}", fields.trim_end_matches('\n'))),
        None => (fact.trim_matches('"'), "}}".to_owned()),
    };
    let fields = fields.strip_suffix('}').unwrap_or(&fields);
    let fields = with_event_name(&line.fact, fields);
    format!("{{\"at_ms\":{},\"by\":\"{}\",\"fact\":\"{name}\"{fields}", line.at.0, line.by)
}

/// Types of events have names in a file.
fn with_event_name(fact: &Fact, fields: &str) -> String {
    let (Fact::Committed { kind, .. }
    | Fact::Received { reading: Reading::Event { kind, .. }, .. }) = *fact
    else {
        return fields.to_owned();
    };
    let name = Value::String(event_name(kind));
    fields.replacen(&format!("\"type\":{}", kind.0), &format!("\"type\":{name}"), 1)
}
