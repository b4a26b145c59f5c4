//! Reading a history, strictly: an error names the line and says what was expected there.

use core::fmt;

use hookproof_core::{Millis, instant};
use serde_json::{Map, Number, Value};

use super::{
    Record,
    header::{self, Header, UNTYPED},
    held::{Held, Holds},
    names::{Kind, Names},
};
use crate::history::{Fact, Line, Node, Side};

/// Why a file is no history: the line, counted from 1, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// The line.
    pub line: usize,
    /// What was expected.
    pub what: String,
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for BadRecord {}

/// A line before its ids have numbers.
struct Raw {
    place: usize,
    at: Millis,
    by: Node,
    fact: String,
    fields: Map<String, Value>,
}

impl Record {
    /// Reads a history; held against the named profile instead of its own, if one is given.
    ///
    /// # Errors
    /// Names the line, and says what was expected there.
    pub fn read(text: &str, profile: Option<&str>) -> Result<Self, BadRecord> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let (place, first) = lines.next().ok_or_else(|| bad(1, "nothing: expected a header"))?;
        let head = |what: String| bad(place, what);
        let header =
            object(first).and_then(|map| Header::read(Value::Object(map))).map_err(head)?;
        let mut holds = header.holds().map_err(head)?;
        let mut names = Names::default();
        header.names(&mut names).map_err(head)?;
        let mut nodes = Nodes::default();
        let mut raws: Vec<Raw> = Vec::new();
        for (place, line) in lines {
            let raw = Raw::read(place, line, &mut nodes).and_then(|mut raw| {
                raw.follows(raws.last())?;
                raw.fill_in(&mut holds);
                each_id(&raw.fields, &mut |kind, value| {
                    names.take(kind, header::name(value)?);
                    Ok(())
                })?;
                Ok(raw)
            });
            raws.push(raw.map_err(|what| bad(place, what))?);
        }
        names.number().map_err(|kind| {
            head(format!("a history has at most {} {}: split it", kind.most(), kind.many()))
        })?;
        let terms = header.terms(&names, profile).map_err(head)?;
        let places = raws.iter().map(|raw| raw.place).collect();
        let mut facts = Vec::with_capacity(raws.len());
        for raw in raws {
            let place = raw.place;
            facts.push(raw.line(&names).map_err(|what| bad(place, what))?);
        }
        if terms.model_of.contains(&UNTYPED) {
            if holds == Holds::ALL {
                return Err(head("entities: expected the type of each, since it holds all".into()));
            }
            holds = holds.without(Holds::of(&[Held::Types]));
        }
        Ok(Self { terms, holds, lines: facts, places, names })
    }
}

fn bad(line: usize, what: impl Into<String>) -> BadRecord {
    BadRecord { line, what: what.into() }
}

fn object(line: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(line).map_err(|error| format!("expected an object of JSON: {error}"))
}

impl Raw {
    fn read(place: usize, line: &str, nodes: &mut Nodes) -> Result<Self, String> {
        let mut fields = object(line)?;
        let mut taken = |name: &str| fields.remove(name);
        let at = match (taken("at_ms"), taken("at")) {
            (Some(at), None) => number("at_ms", &at)?,
            (None, Some(at)) => instant(&at)?,
            _ => return Err("expected either `at_ms` or `at`".to_owned()),
        };
        let by = taken("by");
        let by = by.as_ref().and_then(Value::as_str).ok_or("expected `by`, the name of a node")?;
        let fact = taken("fact");
        let fact = fact.as_ref().and_then(Value::as_str).ok_or("expected `fact`, its name")?;
        let (by, fact) = (nodes.node(by)?, fact.to_owned());
        let at = Millis(at);
        let mut fields = Value::Object(fields);
        tidy(&mut fields)?;
        let Value::Object(fields) = fields else { unreachable!("an object stays one") };
        Ok(Self { place, at, by, fact, fields })
    }

    fn follows(&self, last: Option<&Self>) -> Result<(), String> {
        match last.filter(|last| last.at > self.at) {
            None => Ok(()),
            Some(last) => Err(format!(
                "it is {} ms before line {}: expected lines in the order of time",
                last.at.since(self.at),
                last.place
            )),
        }
    }

    /// What a history that holds less may leave out. What is left out is not held.
    fn fill_in(&mut self, holds: &mut Holds) {
        if *holds == Holds::ALL {
            return;
        }
        if !holds.has(Held::Claimed)
            && NUMBERED_BY_CLAIM.contains(&self.fact.as_str())
            && !self.fields.contains_key("fence")
            && let Some(attempt) = self.fields.get("attempt").cloned()
        {
            self.fields.insert("fence".to_owned(), attempt);
        }
        for (facts, field, part) in PARTS {
            if facts.contains(&self.fact.as_str()) && !self.fields.contains_key(field) {
                *holds = holds.without(Holds::of(&[part]));
                let filler = match part {
                    Held::Origins => Value::from("yes"),
                    Held::Signatures => serde_json::json!({ "at_ms": self.at.0, "secrets": [] }),
                    _ => Value::from(0),
                };
                self.fields.insert(field.to_owned(), filler);
            }
        }
    }

    fn line(self, names: &Names) -> Result<Line, String> {
        let Self { at, by, fact, fields, .. } = self;
        let fields = numbered(Value::Object(fields), names)?;
        let bare = fields.as_object().is_some_and(Map::is_empty);
        let read = |value: Value| serde_json::from_value::<Fact>(value);
        let named = |fields: Value| Value::Object(Map::from_iter([(fact.clone(), fields)]));
        let fact = if bare {
            read(Value::from(fact.as_str())).or_else(|_| read(named(fields)))
        } else {
            read(named(fields))
        };
        Ok(Line { at, by, fact: fact.map_err(|error| error.to_string())? })
    }
}

/// The names of nodes. A process has a number of its own or a name, which gets one.
#[derive(Default)]
struct Nodes {
    processes: Vec<(String, String)>,
}

impl Nodes {
    fn node(&mut self, text: &str) -> Result<Node, String> {
        let plain = [
            ("app", Node::App),
            ("network", Node::Network),
            ("external", Node::External),
            ("api", Node::Api),
            ("sender db", Node::Database(Side::Sender)),
            ("receiver db", Node::Database(Side::Receiver)),
            ("operator", Node::Operator),
            ("world", Node::World),
        ];
        if let Some((_, node)) = plain.iter().find(|(name, _)| *name == text) {
            return Ok(*node);
        }
        for (what, node) in PROCESSES {
            if let Some(rest) = text.strip_prefix(what) {
                let of = rest.strip_prefix(' ').unwrap_or(rest);
                if rest.is_empty() || of.len() < rest.len() {
                    return self.process(what, of).map(node);
                }
            }
        }
        let known = plain.iter().map(|(name, _)| *name);
        let known: Vec<_> = known.chain(PROCESSES.iter().map(|(what, _)| *what)).collect();
        Err(format!("by `{text}`: expected one of {}, with a number or name", known.join(", ")))
    }

    /// Names are numbered from behind, where small numbers are not.
    fn process(&mut self, what: &str, of: &str) -> Result<u8, String> {
        match of.parse::<u8>() {
            _ if of.is_empty() => return Ok(0),
            Ok(number) if number < NUMBERED => return Ok(number),
            _ => {}
        }
        let mut alike = self.processes.iter().filter(|(other, _)| other == what);
        let place = alike.clone().position(|(_, name)| name == of);
        let place = place.unwrap_or_else(|| alike.by_ref().count());
        if !self.processes.iter().any(|(other, name)| (other.as_str(), name.as_str()) == (what, of))
        {
            self.processes.push((what.to_owned(), of.to_owned()));
        }
        u8::try_from(place)
            .ok()
            .and_then(|place| place.checked_add(NUMBERED))
            .ok_or_else(|| format!("by `{what} {of}`: expected at most {NUMBERED} names"))
    }
}

/// Checks numbers and writes instants as numbers.
fn tidy(value: &mut Value) -> Result<(), String> {
    match value {
        Value::Object(fields) => {
            for (text, name) in [("at", "at_ms"), ("taken", "taken_ms")] {
                if let Some(value) = fields.remove(text) {
                    let ms = instant(&value)?;
                    if fields.insert(name.to_owned(), Value::from(ms)).is_some() {
                        return Err(format!("expected either `{name}` or `{text}`"));
                    }
                }
            }
            if let Some(version) = fields.get_mut("version")
                && version.is_string()
            {
                *version = Value::from(instant(version)?);
            }
            for (name, value) in fields {
                if let Some(most) = COUNTED.iter().find(|(counted, _)| counted == name) {
                    let count = number(name, value)?;
                    if count > most.1 {
                        return Err(format!("`{name}` is {count}: expected at most {}", most.1));
                    }
                }
                tidy(value)?;
            }
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(tidy),
        Value::Number(of) => bounded(of),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn bounded(number: &Number) -> Result<(), String> {
    let whole = number.as_i64().map(i64::unsigned_abs).filter(|number| *number <= NUMBER_MAX);
    match whole {
        Some(_) => Ok(()),
        None => Err(format!("{number}: expected a whole number of at most {NUMBER_MAX}")),
    }
}

fn number(name: &str, value: &Value) -> Result<u64, String> {
    let number = value.as_u64().filter(|number| *number <= NUMBER_MAX);
    number.ok_or_else(|| format!("`{name}` is {value}: expected a whole number from 0 on"))
}

/// Milliseconds since the epoch of an instant of RFC 3339.
fn instant(value: &Value) -> Result<u64, String> {
    let read = value.as_str().and_then(|text| instant::rfc3339(text.as_bytes()));
    let ms = read.and_then(instant::Instant::millis).and_then(|ms| u64::try_from(ms).ok());
    let ms = ms.filter(|ms| *ms <= NUMBER_MAX);
    ms.ok_or_else(|| format!("{value}: expected an instant like 2026-01-31T12:00:00.000Z"))
}

/// What a field names; a field that holds others names nothing.
fn kind(field: &str, value: &Value) -> Option<Kind> {
    let named = if field == "transition" { Some(Kind::Operation) } else { Kind::of_field(field) };
    named.filter(|_| !value.is_object() && !value.is_null())
}

fn each_id(
    fields: &Map<String, Value>,
    take: &mut impl FnMut(Kind, &Value) -> Result<(), String>,
) -> Result<(), String> {
    for (field, value) in fields {
        match (kind(field, value), value) {
            (Some(kind), _) => take(kind, value).map_err(|why| format!("`{field}`: {why}"))?,
            (None, Value::Object(inner)) => each_id(inner, take)?,
            (None, _) => {}
        }
    }
    Ok(())
}

/// The same with the numbers of all ids.
fn numbered(value: Value, names: &Names) -> Result<Value, String> {
    let Value::Object(fields) = value else { return Ok(value) };
    let each = fields.into_iter().map(|(field, value)| {
        let value = match kind(&field, &value) {
            Some(kind) => Value::from(names.number_of(kind, &header::name(&value)?)),
            None => numbered(value, names)?,
        };
        Ok((field, value))
    });
    each.collect::<Result<Map<_, _>, String>>().map(Value::Object)
}

/// A node by its number.
type Numbered = fn(u8) -> Node;

/// The nodes of which there can be several.
const PROCESSES: [(&str, Numbered); 4] = [
    ("relay", Node::Relay),
    ("ingress", Node::Ingress),
    ("worker", Node::Worker),
    ("effect relay", Node::EffectRelay),
];
/// Processes with smaller numbers keep them.
const NUMBERED: u8 = 128;
/// The facts of a claim's worker. Where no claims are told of, an attempt is its own.
const NUMBERED_BY_CLAIM: [&str; 3] = ["requested", "responded", "settled"];
/// The parts of facts that may be left out, and what is not held then.
const PARTS: [(&[&str], &str, Held); 3] = [
    (&["committed", "requested", "arrived", "received"], "body", Held::Bodies),
    (&["requested"], "signed", Held::Signatures),
    (&["arrived"], "authentic", Held::Origins),
];
/// The most that the numbers of a line can be: what every reader of JSON can keep.
const NUMBER_MAX: u64 = 1 << 53;
/// What is counted, and how far.
const COUNTED: [(&str, u64); 6] = [
    ("attempt", 1_000_000_000),
    ("fence", 4_000_000_000),
    ("rung", 60_000),
    ("cycle", 60_000),
    ("strike", 60_000),
    ("deliveries", 1_000_000),
];
