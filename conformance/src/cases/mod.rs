//! Case files: reading, running, reporting.

mod answers;
mod bytes;
mod events;
mod fields;
mod handshakes;
mod identities;
mod signatures;
mod targets;

use std::{collections::BTreeSet, fmt};

use serde_json::{Map, Value};

use crate::{lint, schema};
pub use fields::Fields;
use hookproof_core::profile::Profile;
pub use signatures::request_headers;

/// The form that is read.
pub const FORMAT: &str = "hookproof-cases/1";

/// A file, kind, scheme or field that cannot be read: exit code 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// How binding a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Any correct implementation.
    Must,
    /// Strongly advised; good libraries differ.
    Should,
    /// Each product chooses and says so.
    Policy,
}

impl Level {
    /// As it is written in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Policy => "policy",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Must, Self::Should, Self::Policy].into_iter().find(|level| level.name() == name)
    }
}

/// What runs the cases of one kind: the outcome, as graded fields.
type Run = fn(&Fields<'_>, &Profile) -> Result<Map<String, Value>, Unreadable>;

/// A kind of case: what runs it, and which fields of `expected` are graded.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// The graded fields; of several, those that a case names.
    pub graded: &'static [&'static str],
    run: Run,
}

impl Kind {
    /// Whether its schema allows this result.
    fn knows(&self, result: &Value) -> bool {
        let allowed = lint::case_schema(self.name, "/expected/properties/result");
        allowed.is_none_or(|allowed| schema::findings(&allowed, result, "").is_empty())
    }
}

/// Every kind there is.
pub const KINDS: [Kind; 16] = [
    Kind { name: "signature.verify", graded: &["result"], run: signatures::verify },
    Kind { name: "signature.sign", graded: &["headers"], run: signatures::sign },
    Kind { name: "secret.decode", graded: &["result", "key_hex"], run: signatures::decode_secret },
    Kind { name: "primitive", graded: &["result"], run: signatures::primitive },
    Kind {
        name: "handshake.answer",
        graded: &["result", "status", "headers", "body"],
        run: handshakes::answer,
    },
    Kind { name: "config.tolerance", graded: &["result"], run: answers::tolerance },
    Kind { name: "timestamp.parse", graded: &["seconds", "error"], run: answers::timestamp },
    Kind { name: "retry_after.parse", graded: &["delay_s"], run: answers::retry_after },
    Kind { name: "backoff.delay", graded: &["min_ms", "max_ms"], run: answers::backoff },
    Kind {
        name: "ladder.schedule",
        graded: &["waits_s", "attempts", "total_s"],
        run: answers::ladder,
    },
    Kind { name: "response.classify", graded: &["outcome"], run: answers::classify },
    Kind { name: "ssrf.url", graded: &["allow"], run: targets::url },
    Kind { name: "ssrf.resolve", graded: &["connect_to", "outcome"], run: targets::resolve },
    Kind { name: "redirect", graded: &["follow", "second_request_sent"], run: targets::redirect },
    Kind {
        name: "json.preserve",
        graded: &["stored_equals_received", "delivered_equals_received"],
        run: bytes::preserve,
    },
    Kind { name: "header.custom", graded: &["result"], run: targets::custom_header },
];

/// The kinds that decide on events.
pub const EVENT_KINDS: [Kind; 3] = [
    Kind {
        name: "identity.read",
        graded: &["result", "id", "event_type", "resource", "version", "seconds", "account"],
        run: identities::read,
    },
    Kind { name: "dedup.identity", graded: &["same"], run: events::same_delivery },
    Kind { name: "order.merge", graded: &["final"], run: events::merge },
];

/// The kind with this name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().chain(&EVENT_KINDS).find(|kind| kind.name == name)
}

/// A file of cases of one kind.
pub struct File {
    kind: &'static Kind,
    cases: Vec<Case>,
}

/// One input and the one right outcome.
pub struct Case {
    id: String,
    level: Level,
    why: String,
    input: Map<String, Value>,
    expected: Map<String, Value>,
}

/// How the built-in implementation did in one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The kind.
    pub kind: &'static str,
    /// The case.
    pub id: String,
    /// How binding it is.
    pub level: Level,
    /// The graded part of what is right.
    pub expected: Value,
    /// What came out, reasons included.
    pub got: Value,
    /// Whether the graded fields agree.
    pub agrees: bool,
    /// Why the outcome is right, in one sentence.
    pub why: String,
}

impl Outcome {
    /// Whether a report shows it: it differs, or a choice was made.
    pub fn is_worth_a_line(&self) -> bool {
        !self.agrees || self.level == Level::Policy
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, id, level, expected, got, agrees, why } = self;
        match (level, agrees) {
            (Level::Policy, true) => write!(f, "policy   {id} {kind}: {got}"),
            (Level::Policy, false) => {
                write!(f, "policy   {id} {kind}: {got}, where the case has {expected}: {why}")
            }
            (Level::Must | Level::Should, _) => {
                let word = if *agrees { "agrees" } else { "differs" };
                let level = level.name();
                write!(f, "{word}  {id} [{level}] {kind}: expected {expected}, got {got}: {why}")
            }
        }
    }
}

/// Refuses a key that stands twice in one object: two readers would run two cases.
pub(crate) fn one_key_each(text: &str) -> Result<(), Unreadable> {
    match repeated_key(text.as_bytes()) {
        Some(key) => Err(Unreadable(format!("the key {key} stands twice in one object"))),
        None => Ok(()),
    }
}

/// The first key of a JSON text that stands twice in one object, as it is written.
fn repeated_key(text: &[u8]) -> Option<String> {
    let mut objects: Vec<Option<BTreeSet<String>>> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' => objects.push(Some(BTreeSet::new())),
            b'[' => objects.push(None),
            b'}' | b']' => drop(objects.pop()),
            b'"' => {
                while let Some(&inner) = text.get(at).filter(|inner| **inner != b'"') {
                    at += if inner == b'\\' { 2 } else { 1 };
                }
                at += 1;
                let is_key = text.get(at..)?.trim_ascii_start().starts_with(b":");
                if let (true, Some(Some(keys))) = (is_key, objects.last_mut()) {
                    let written = String::from_utf8_lossy(text.get(start..at)?);
                    let key = serde_json::from_str(&written).unwrap_or_else(|_| written.into());
                    if keys.contains(&key) {
                        return Some(key);
                    }
                    keys.insert(key);
                }
            }
            _ => {}
        }
    }
    None
}

impl File {
    /// Reads a file. The lint is stricter.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        let root: Value =
            serde_json::from_str(text).map_err(|e| Unreadable(format!("not JSON: {e}")))?;
        one_key_each(text)?;
        let text_of = |name: &str| root.get(name).and_then(Value::as_str).unwrap_or_default();
        if text_of("format") != FORMAT {
            return Err(Unreadable(format!("expected the format {FORMAT}")));
        }
        let name = text_of("kind");
        let kind = kind(name).ok_or_else(|| Unreadable(format!("unknown kind `{name}`")))?;
        let cases = root.get("cases").and_then(Value::as_array);
        let cases = cases.ok_or_else(|| Unreadable("no list of `cases`".into()))?;
        let cases = cases.iter().map(Case::read).collect::<Result<_, _>>()?;
        Ok(Self { kind, cases })
    }

    /// Runs every case; the first that cannot be read ends it.
    pub fn check(&self, profile: &Profile) -> Result<Vec<Outcome>, Unreadable> {
        self.each(profile).collect()
    }

    /// Runs case by case, so that one that cannot be read does not hide the others.
    pub fn each(&self, profile: &Profile) -> impl Iterator<Item = Result<Outcome, Unreadable>> {
        self.cases.iter().map(|case| case.check(self.kind, profile))
    }

    /// The kind of all its cases.
    pub fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// How many cases it has.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }
}

impl Case {
    fn read(value: &Value) -> Result<Self, Unreadable> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        let id = text("id").to_owned();
        if id.is_empty() {
            return Err(Unreadable("a case has no `id`".into()));
        }
        let object = |name: &str| match value.get(name) {
            Some(Value::Object(map)) => Ok(map.clone()),
            _ => Err(Unreadable(format!("{id}: `{name}` is no object"))),
        };
        let level = Level::named(text("level"));
        Ok(Self {
            level: level.ok_or_else(|| Unreadable(format!("{id}: unknown level")))?,
            why: text("why").to_owned(),
            input: object("input")?,
            expected: object("expected")?,
            id,
        })
    }

    fn check(&self, kind: &'static Kind, profile: &Profile) -> Result<Outcome, Unreadable> {
        let fault = |e: Unreadable| Unreadable(format!("{}: {}", self.id, e.0));
        let got = (kind.run)(&Fields::new(&self.input), profile).map_err(fault)?;
        let graded: Map<String, Value> = kind
            .graded
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), self.expected.get(*name)?.clone())))
            .collect();
        if let Some(result) = graded.get("result").filter(|result| !kind.knows(result)) {
            return Err(Unreadable(format!("{}: unknown result {result}", self.id)));
        }
        if graded.is_empty() {
            return Err(Unreadable(format!("{}: `expected` has nothing to grade", self.id)));
        }
        let agrees = graded.iter().all(|(name, expected)| {
            let got = got.get(name).unwrap_or(&Value::Null);
            same(kind.name, name, expected, got)
        });
        Ok(Outcome {
            kind: kind.name,
            id: self.id.clone(),
            level: self.level,
            expected: Value::Object(graded),
            got: Value::Object(got),
            agrees,
            why: self.why.clone(),
        })
    }
}

/// Whether a graded field agrees. Two fields are compared by meaning: signed headers without order
/// or case of names, others beside them allowed; and what is not blocked goes by several words.
fn same(kind: &str, field: &str, expected: &Value, got: &Value) -> bool {
    match (kind, field) {
        ("signature.sign" | "handshake.answer", "headers") => {
            signatures::holds_headers(got, expected)
        }
        ("ssrf.resolve", "outcome") => (expected == "blocked") == (got == "blocked"),
        _ => expected == got,
    }
}

/// What a run of several files comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Every outcome, in order.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// The cases of a level that differ.
    pub fn differing(&self, level: Level) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(move |outcome| !outcome.agrees && outcome.level == level)
    }

    /// The kinds that occur, each with its counts.
    pub fn tallies(&self) -> Vec<Tally> {
        let tally = |kind: &Kind| {
            let of_kind = || self.outcomes.iter().filter(|outcome| outcome.kind == kind.name);
            let agreeing = of_kind().filter(|outcome| outcome.agrees).count();
            Tally { kind: kind.name, cases: of_kind().count(), agreeing }
        };
        let all = KINDS.iter().chain(&EVENT_KINDS).map(tally);
        all.filter(|tally| tally.cases > 0).collect()
    }

    /// 1 where a `must` differs, or a `should` where it is asked for; else 0.
    pub fn exit_code(&self, strict: bool) -> u8 {
        let musts = self.differing(Level::Must).count();
        let shoulds = if strict { self.differing(Level::Should).count() } else { 0 };
        u8::from(musts + shoulds > 0)
    }
}

impl fmt::Display for Report {
    /// Each case that differs, each policy with the choice made, a line a kind, a total.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for outcome in self.outcomes.iter().filter(|outcome| outcome.is_worth_a_line()) {
            writeln!(f, "{outcome}")?;
        }
        for Tally { kind, cases, agreeing } in self.tallies() {
            writeln!(f, "{kind:<20} {agreeing} of {cases} agree")?;
        }
        let agreeing = self.outcomes.iter().filter(|outcome| outcome.agrees).count();
        writeln!(f, "{:<20} {agreeing} of {} agree", "total", self.outcomes.len())
    }
}

/// How many cases of a kind there are, and how many of them agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The kind.
    pub kind: &'static str,
    /// All of its cases.
    pub cases: usize,
    /// Those that agree.
    pub agreeing: usize,
}
