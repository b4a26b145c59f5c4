//! Kinds that decide on events: which are one delivery, and which state is the newest.

use hookproof_core::{
    Id,
    identity::is_id,
    instant::{self, Instant, rfc3339},
    model::{
        Early, Entity, EventType, Kind, Model, Order, Proposal, Rule, Standing, State, States,
    },
    profile::Profile,
};
use serde_json::{Map, Value, json};

use super::{Fields, Unreadable, fields::needed};

type Outcome = Result<Map<String, Value>, Unreadable>;

/// Whether two arrivals are one delivery: one source, account and id. What differs by attempt plays
/// no part, nor does the time between them. Where the id is no delivery id (absent, or one that names
/// a subscription while object or part differ) the key is derived, and two arrivals are never one by
/// accident.
pub(super) fn same_delivery(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let a = Arrival::read(&needed("a", fields.object("a")?)?)?;
    let b = Arrival::read(&needed("b", fields.object("b")?)?)?;
    fields.done()?;
    let same = a.id.is_some() && a == b;
    Ok(Map::from_iter([("same".to_owned(), json!(same))]))
}

#[derive(PartialEq)]
struct Arrival<'a> {
    source: String,
    account: String,
    id: Option<String>,
    object: Option<&'a Value>,
    part: Option<&'a Value>,
}

impl<'a> Arrival<'a> {
    fn read(fields: &Fields<'a>) -> Result<Self, Unreadable> {
        for name in ["attempt_id", "attempt", "body_b64", "seen_at", "replay"] {
            fields.any(name);
        }
        let arrival = Self {
            source: spelled(fields.any("source")).unwrap_or_default(),
            account: spelled(fields.any("account")).unwrap_or_default(),
            id: spelled(fields.any("id")).filter(|id| is_id(id)),
            object: fields.any("object"),
            part: fields.any("part"),
        };
        fields.done()?;
        Ok(arrival)
    }
}

/// A text, or a number as it is spelled; an absent account is the empty one.
fn spelled(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        number @ Value::Number(_) => Some(number.to_string()),
        _ => None,
    }
}

/// Applies events in their order of arrival.
pub(super) fn merge(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let ledger = match needed("entity", fields.text("entity")?)? {
        "latest" => false,
        "ledger" => true,
        other => return Err(Unreadable(format!("unknown entity `{other}`"))),
    };
    let order = fields.text("order_by")?;
    let arrivals = needed("arrivals", fields.list("arrivals")?)?;
    fields.done()?;
    let mut events: Vec<Event<'_>> = Vec::new();
    for arrival in arrivals {
        let event = Event::read(arrival, order)?;
        if !events.iter().any(|known| known.id == event.id) {
            events.push(event);
        }
    }
    rank(&mut events);
    let merged = if ledger { ledger_of(events) } else { newest(&events, order)? };
    Ok(Map::from_iter([("final".to_owned(), merged)]))
}

struct Event<'a> {
    id: &'a str,
    state: &'a str,
    order: Option<u64>,
    at: Option<Instant>,
}

impl<'a> Event<'a> {
    fn read(value: &'a Value, order: Option<&str>) -> Result<Self, Unreadable> {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let (order, at) = match order {
            None => (None, None),
            Some("version") => (value.get("version").and_then(version), None),
            Some("updated_at") => (None, text("updated_at").and_then(|at| rfc3339(at.as_bytes()))),
            Some(other) => return Err(Unreadable(format!("unknown order `{other}`"))),
        };
        let (id, state) = (needed("id", text("id"))?, needed("state", text("state"))?);
        Ok(Self { id, state, order, at })
    }
}

/// A number, also where it is written as a text: `"10"` is more than `"9"`.
fn version(value: &Value) -> Option<u64> {
    let written = || u64::try_from(instant::digits(value.as_str()?.as_bytes())?).ok();
    value.as_u64().or_else(written)
}

/// Numbers the instants in their order: no number holds all of them to the nanosecond.
fn rank(events: &mut [Event<'_>]) {
    let mut instants: Vec<Instant> = events.iter().filter_map(|event| event.at).collect();
    instants.sort_unstable();
    for event in events.iter_mut().filter(|event| event.at.is_some()) {
        event.order = Some(instants.partition_point(|at| Some(*at) <= event.at) as u64);
    }
}

/// All states in the declared order; events without one stay as they arrived.
fn ledger_of(mut events: Vec<Event<'_>>) -> Value {
    events.sort_by_key(|event| event.order);
    json!(events.iter().map(|event| event.state).collect::<Vec<_>>())
}

/// The newest state by the model's own decision; `refetch` where only the source can tell.
fn newest(events: &[Event<'_>], order: Option<&str>) -> Result<Value, Unreadable> {
    let (order, early) = match order {
        Some("version") => (Order::Version, Early::Wait),
        Some(_) => (Order::Instant, Early::Refetch),
        None if events.iter().all(|event| event.state == events[0].state) => {
            return Ok(json!(events.first().map(|event| event.state)));
        }
        None => return Ok(json!("refetch")),
    };
    let mut states: Vec<&str> = Vec::new();
    for event in events {
        if !states.contains(&event.state) {
            states.push(event.state);
        }
    }
    let number =
        |state: &str| states.iter().position(|known| *known == state).map_or(0, |at| at + 1);
    let rules = (1..=states.len()).map(|to| Rule {
        event: EventType(to as u16),
        from: States::ALL,
        to: State(to as u8),
        books: None,
        external: false,
    });
    let model = Model::declare(states.len() + 1, Kind::Latest, order, early, rules.collect());
    let model = model.map_err(|bad| Unreadable(bad.to_string()))?;
    let mut entity = Entity { id: Id(1), rev: 0, state: State(0), version: 0, projected: None };
    let mut undecided = false;
    for event in events {
        let proposal = Proposal {
            entity: entity.id,
            event: EventType(number(event.state) as u16),
            occurrence: 0,
            version: event.order.unwrap_or(0),
        };
        // States of a case have no order of their own, so two at one version are a question too.
        let known = entity.state != State(0) && entity.state != State(proposal.event.0 as u8);
        if order == Order::Version && known && entity.version == proposal.version {
            undecided = true;
            continue;
        }
        match model.standing(&entity, &proposal) {
            Standing::Due(state) => {
                entity.state = state;
                entity.version = proposal.version;
                undecided = false;
            }
            Standing::Equal => undecided = true,
            _ => {}
        }
    }
    if undecided {
        return Ok(json!("refetch"));
    }
    Ok(json!(usize::from(entity.state.0).checked_sub(1).map(|at| states[at])))
}
