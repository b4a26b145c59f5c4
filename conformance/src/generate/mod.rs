//! Makes the generated case files anew. What is committed is what this makes: a test compares.
//!
//! A signature case that has to be fresh carries its *recipe* (see [`crate::recipe`]): the text of each
//! header with its tags left open, and what each tag is made of. A runner for an SDK without a clock
//! parameter signs it afresh with the time of its own; the lint makes each again and compares.

mod answers;
mod events;
mod families;
mod handshakes;
mod large;
mod layouts;
mod providers;
mod signing;
mod special;
mod targets;

use serde_json::{Value, json};

use crate::{
    cases::{FORMAT, Unreadable},
    published::{self, Vector},
};

/// A case file before it is written: its name below `vectors/cases/`, kind, flags and cases.
pub struct Made {
    /// The file's name.
    pub name: String,
    kind: &'static str,
    flags: Vec<Flag>,
    cases: Vec<Value>,
}

/// A flag: its name, its class, and why.
pub type Flag = (&'static str, &'static str, &'static str);

/// Everything that is generated, from the text of `vectors/published.json`.
pub fn all(published: &str) -> Result<Vec<Made>, Unreadable> {
    let mut files = families::files();
    files.push(providers::file());
    files.push(large::file());
    files.push(special::file());
    files.push(handshakes::file());
    files.push(signing::sign());
    files.push(signing::secrets());
    files.extend(answers::files());
    files.extend(targets::files());
    files.extend(events::files());
    files.extend(of_published(published)?);
    Ok(files)
}

fn of_published(text: &str) -> Result<Vec<Made>, Unreadable> {
    let mut requests = Vec::new();
    let mut primitives = Vec::new();
    for vector in published::vectors(text)? {
        match vector {
            Vector::Case { kind: "primitive", case } => primitives.push(case),
            Vector::Case { case, .. } => requests.push(case),
            Vector::Listed { .. } => {}
        }
    }
    let file = |name: &str, kind, cases| Made {
        name: name.to_owned(),
        kind,
        flags: PUBLISHED_FLAGS.to_vec(),
        cases,
    };
    Ok(vec![
        file("published.signature.verify.json", "signature.verify", requests),
        file("published.primitive.json", "primitive", primitives),
    ])
}

impl Made {
    fn uses(&self, flag: &str) -> bool {
        self.cases.iter().any(|case| {
            case["flags"].as_array().is_some_and(|flags| flags.iter().any(|used| used == flag))
        })
    }

    /// The text of the file: one line a case.
    pub fn text(&self) -> String {
        let mut flags = serde_json::Map::new();
        for (name, class, why) in self.flags.iter().filter(|(name, ..)| self.uses(name)) {
            flags.insert((*name).to_owned(), json!({ "class": class, "why": why }));
        }
        let cases: Vec<String> = self.cases.iter().map(|case| format!("  {case}")).collect();
        format!(
            "{{\n \"format\": \"{FORMAT}\",\n \"kind\": \"{}\",\n \"notice\": \"{NOTICE}\",\n \
             \"flags\": {},\n \"cases\": [\n{}\n ]\n}}\n",
            self.kind,
            Value::Object(flags),
            cases.join(",\n")
        )
    }
}

/// A case of a kind without recipe.
fn plain(id: &str, level: &str, flag: &str, (input, expected): (Value, Value), why: &str) -> Value {
    json!({
        "id": id,
        "level": level,
        "flags": [flag],
        "input": input,
        "expected": expected,
        "why": why,
        "source": "generated",
    })
}

/// What stands at the head of each file.
pub const NOTICE: &str = "the keys are public; never use them in production";
const PUBLISHED_FLAGS: [Flag; 2] = [
    ("PublishedValid", "INTEROP", "a provider or specification printed this as valid"),
    (
        "PublishedInvalid",
        "AUTH_BYPASS",
        "a provider or specification printed this as invalid, or it is such a vector with one thing changed",
    ),
];
