//! The first line of a history: what it is held against, and what it holds.

use std::collections::BTreeMap;

use hookproof_core::{
    model::{Early, EventType, Kind, Model, Occurrence, Order, Rule, State, States, Transition},
    profile::{InboxPolicy, Profile},
    time::{MINUTE, SECOND},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    FORMAT,
    held::{Held, Holds},
    names::{self, Name, Names},
};
use crate::{
    models,
    oracle::{Scheme, Terms},
    scenario::terms::{InboxOf, ProfileOf, SchemeOf, span},
};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    format: String,
    /// Which facts it holds: `"all"`, or a list of their names.
    holds: Value,
    /// The name of a profile, or its numbers.
    profile: Value,
    #[serde(default = "usual")]
    inbox: Value,
    #[serde(default = "usual")]
    scheme: Value,
    #[serde(default = "usual_poll_ms")]
    poll_ms: u64,
    #[serde(default = "usual_skew_ms")]
    skew_ms: u64,
    /// The types of entities, by name.
    #[serde(default)]
    types: BTreeMap<String, TypeOf>,
    /// The type of each entity, or the one type of all.
    #[serde(default = "nothing")]
    entities: Value,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TypeOf {
    /// How many states it has: 0, in which an entity begins, and so on.
    states: usize,
    kind: KindOf,
    order: OrderOf,
    early: EarlyOf,
    events: Vec<RuleOf>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct RuleOf {
    #[serde(rename = "type")]
    kind: Value,
    from: Vec<u8>,
    to: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    books: Option<BooksOf>,
    #[serde(default)]
    external: bool,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct BooksOf {
    transition: Value,
    occurrence: OccurrenceOf,
}

macro_rules! words {
    ($($name:ident of $core:ident { $($case:ident),+ })+) => {$(
        #[derive(Clone, Copy, Deserialize, Serialize)]
        #[serde(rename_all = "snake_case")]
        enum $name { $($case),+ }

        impl $name {
            fn of(core: $core) -> Self {
                match core { $($core::$case => Self::$case),+ }
            }

            fn core(self) -> $core {
                match self { $(Self::$case => $core::$case),+ }
            }
        }
    )+};
}

words! {
    KindOf of Kind { Ledger, Latest }
    OrderOf of Order { Graph, Version, Sequence, Instant }
    EarlyOf of Early { Wait, Project, Refetch }
    OccurrenceOf of Occurrence { Once, FromEvent }
}

impl Header {
    /// The header of a history that holds everything.
    pub(super) fn of(terms: &Terms) -> Self {
        let Terms { profile, inbox, scheme, models, model_of, poll_ms, skew_ms, .. } = terms;
        let used = (0..).zip(models).filter(|(no, _)| model_of.contains(no));
        let entities = (0..).zip(model_of).map(|(entity, no): (u32, _)| (entity.to_string(), *no));
        Self {
            format: FORMAT.to_owned(),
            holds: json!("all"),
            profile: json!(ProfileOf::of(profile)),
            inbox: json!(InboxOf::of(inbox)),
            scheme: json!(SchemeOf::of(*scheme)),
            poll_ms: *poll_ms,
            skew_ms: *skew_ms,
            types: used.map(|(no, model)| (type_name(no), TypeOf::of(model))).collect(),
            entities: entities.map(|(entity, no)| (entity, json!(type_name(no)))).collect(),
        }
    }

    pub(super) fn read(value: Value) -> Result<Self, String> {
        match value.get("format").and_then(Value::as_str) {
            Some(FORMAT) => {}
            Some(other) => return Err(format!("format `{other}`: expected `{FORMAT}`")),
            None => return Err(format!("no `format`: expected a header with `{FORMAT}`")),
        }
        parsed("header", value)
    }

    /// The ids that it names.
    pub(super) fn names(&self, names: &mut Names) -> Result<(), String> {
        for rule in self.types.values().flat_map(|of| &of.events) {
            names.take(names::Kind::Type, name(&rule.kind)?);
            if let Some(books) = &rule.books {
                names.take(names::Kind::Operation, name(&books.transition)?);
            }
        }
        if let Value::Object(entities) = &self.entities {
            entities.keys().for_each(|entity| names.take(names::Kind::Entity, entity_name(entity)));
        }
        Ok(())
    }

    /// What the history holds.
    pub(super) fn holds(&self) -> Result<Holds, String> {
        let listed = match &self.holds {
            Value::String(all) if all == "all" => return Ok(Holds::ALL),
            Value::Array(listed) => listed,
            _ => return Err("holds: expected \"all\", or a list of facts".to_owned()),
        };
        let mut holds = Holds::of(Held::PARTS);
        for fact in listed {
            let known = fact.as_str().and_then(Held::named);
            let known =
                known.ok_or_else(|| format!("holds {fact}: expected the name of a fact"))?;
            holds = holds.and(Holds::of(&[known]));
        }
        Ok(holds)
    }

    /// What it declares, once all ids have their numbers. Under a named profile instead, if one is given.
    pub(super) fn terms(self, names: &Names, profile: Option<&str>) -> Result<Terms, String> {
        let given = profile.map(|name| Value::String(name.to_owned()));
        let inbox = match self.inbox {
            Value::String(name) if name == USUAL => InboxPolicy::hookproof(),
            inbox => parsed::<InboxOf>("inbox", inbox)?.inbox().map_err(|why| why.to_string())?,
        };
        let scheme = match self.scheme {
            Value::String(name) if name == USUAL => Scheme::hookproof(),
            scheme => {
                parsed::<SchemeOf>("scheme", scheme)?.scheme().map_err(|why| why.to_string())?
            }
        };
        let mut models = Vec::new();
        for (name, of) in &self.types {
            models.push(of.model(names).map_err(|why| format!("type `{name}`: {why}"))?);
        }
        if models.len() > usize::from(TYPES_MAX) {
            return Err(format!("types: expected at most {TYPES_MAX}"));
        }
        let model_of = model_of(&self.entities, &self.types, names)?;
        Ok(Terms {
            profile: self::profile(given.unwrap_or(self.profile))?,
            inbox,
            scheme,
            models,
            model_of,
            poll_ms: span("poll_ms", self.poll_ms.max(1)).map_err(|why| why.to_string())?,
            skew_ms: span("skew_ms", self.skew_ms).map_err(|why| why.to_string())?,
            timely: true,
        })
    }
}

/// The profiles that a header can name.
pub fn profiles() -> [Profile; 3] {
    [Profile::hookproof(), Profile::paymos(), Profile::standard_webhooks()]
}

fn profile(value: Value) -> Result<Profile, String> {
    match value {
        Value::String(name) => {
            profiles().into_iter().find(|profile| profile.name == name).ok_or_else(|| {
                let known = profiles().map(|profile| profile.name).join(", ");
                format!("profile `{name}`: expected one of {known}, or its numbers")
            })
        }
        value => parsed::<ProfileOf>("profile", value)?.profile().map_err(|why| why.to_string()),
    }
}

/// Which model each entity has; [`UNTYPED`] where none is declared.
fn model_of(
    entities: &Value,
    types: &BTreeMap<String, TypeOf>,
    names: &Names,
) -> Result<Vec<u8>, String> {
    let number = |of: &Value| {
        let at = of.as_str().and_then(|of| types.keys().position(|known| known == of));
        at.map(|at| at as u8).ok_or_else(|| format!("entities: {of}: expected one of `types`"))
    };
    let count = names.count(names::Kind::Entity);
    match entities {
        Value::Null => Ok(vec![UNTYPED; count]),
        Value::String(_) => Ok(vec![number(entities)?; count]),
        Value::Object(each) => {
            let mut all = vec![UNTYPED; count];
            for (entity, of) in each {
                let at = names.number_of(names::Kind::Entity, &entity_name(entity));
                all[at as usize] = number(of)?;
            }
            Ok(all)
        }
        _ => Err("entities: expected the name of a type, or the type of each".to_owned()),
    }
}

impl TypeOf {
    fn of(model: &Model) -> Self {
        Self {
            states: model.states(),
            kind: KindOf::of(model.kind()),
            order: OrderOf::of(model.order()),
            early: EarlyOf::of(model.early()),
            events: model.rules().iter().map(|rule| RuleOf::of(rule, model.states())).collect(),
        }
    }

    fn model(&self, names: &Names) -> Result<Model, String> {
        let rules: Result<Vec<_>, _> = self.events.iter().map(|rule| rule.rule(names)).collect();
        let (kind, order, early) = (self.kind.core(), self.order.core(), self.early.core());
        Model::declare(self.states, kind, order, early, rules?).map_err(|bad| bad.to_string())
    }
}

impl RuleOf {
    fn of(rule: &Rule, states: usize) -> Self {
        let books = rule.books.map(|(transition, occurrence)| BooksOf {
            transition: json!(transition.0),
            occurrence: OccurrenceOf::of(occurrence),
        });
        Self {
            kind: json!(event_name(rule.event)),
            from: (0..states as u8).filter(|state| rule.from.has(State(*state))).collect(),
            to: rule.to.0,
            books,
            external: rule.external,
        }
    }

    fn rule(&self, names: &Names) -> Result<Rule, String> {
        let from: Vec<State> = self.from.iter().copied().map(State).collect();
        let books = self.books.as_ref().map(|BooksOf { transition, occurrence }| {
            let transition = names.number_of(names::Kind::Operation, &name(transition)?);
            Ok::<_, String>((Transition(transition as u16), occurrence.core()))
        });
        Ok(Rule {
            event: EventType(names.number_of(names::Kind::Type, &name(&self.kind)?) as u16),
            from: States::of(&from),
            to: State(self.to),
            books: books.transpose()?,
            external: self.external,
        })
    }
}

/// An id as a file has it.
pub(super) fn name(value: &Value) -> Result<Name, String> {
    match value {
        Value::String(text) if !text.is_empty() => Ok(Name::Text(text.clone())),
        Value::Number(number) if number.is_u64() => {
            Ok(Name::Number(number.as_u64().unwrap_or_default()))
        }
        _ => Err(format!("{value}: expected an id, which is a text or a whole number from 0 on")),
    }
}

/// The key of an object is a text, also where the ids of entities are numbers.
fn entity_name(key: &str) -> Name {
    let number = key.parse().ok().filter(|number: &u64| number.to_string() == key);
    number.map_or_else(|| Name::Text(key.to_owned()), Name::Number)
}

/// What the simulator's types are called.
fn type_name(no: u8) -> String {
    models::NAMES.get(usize::from(no)).map_or_else(|| format!("type-{no}"), ToString::to_string)
}

/// What the simulator's types of events are called.
pub(super) fn event_name(event: EventType) -> String {
    let known = models::EVENTS.get(usize::from(event.0));
    known.map_or_else(|| format!("event-{}", event.0), ToString::to_string)
}

fn parsed<T: DeserializeOwned>(what: &str, value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| format!("{what}: {error}"))
}

fn usual() -> Value {
    json!(USUAL)
}

fn nothing() -> Value {
    Value::Null
}

const fn usual_poll_ms() -> u64 {
    SECOND
}

const fn usual_skew_ms() -> u64 {
    MINUTE
}

/// The choices of the contract.
const USUAL: &str = "hookproof";
/// The most types of entities that a history can have.
const TYPES_MAX: u8 = 100;
/// The number of the type of an entity that has none.
pub(super) const UNTYPED: u8 = u8::MAX;
