//! Scenarios in files: JSON, one line for each thing that there is, happens or is chosen.

use std::{collections::BTreeMap, fmt};

use hookproof_core::{
    Id, Millis,
    model::{EventType, Model, Operation, Transition},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Scenario, address,
    terms::{InboxOf, ProfileOf, SchemeOf, span, within},
};
use crate::{
    dice::{Script, Site},
    models,
    named::Seen,
    oracle::Terms,
    promise::Promise,
    rogue::Rogue,
    setup::{Deed, Form, Lags, Odds, POISONED, Planned, Setup},
};

/// The format that is written, and the only one that is read.
pub const FORMAT: &str = "hookproof-scenario/1";

/// Why a file is no scenario: what was expected, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadScenario(pub(super) String);

impl fmt::Display for BadScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadScenario {}

pub(super) fn bad<T>(what: impl Into<String>) -> Result<T, BadScenario> {
    Err(BadScenario(what.into()))
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    name: String,
    about: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    seen: String,
    /// The names of the event types of a receiver of one's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    own: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    broken_by: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    expect: BTreeMap<String, usize>,
    profile: ProfileOf,
    inbox: InboxOf,
    scheme: SchemeOf,
    world: WorldOf,
    events: Vec<EventOf>,
    #[serde(default)]
    deeds: Vec<DeedAt>,
    #[serde(default)]
    faults: Vec<FaultOf>,
    #[serde(default)]
    choices: Vec<ChoiceOf>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WorldOf {
    entities: Vec<String>,
    endpoints: u32,
    relays: u8,
    ingresses: u8,
    workers: u8,
    disk_ms: u64,
    net_ms: u64,
    handler_ms: u64,
    poll_ms: u64,
    skew_ms: u64,
    quiet_ms: u64,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct EventOf {
    at_ms: u64,
    #[serde(default, skip_serializing_if = "is_usual")]
    takes_ms: u64,
    entity: u32,
    #[serde(rename = "type")]
    kind: String,
    occurrence: u64,
    version: u64,
    #[serde(default, skip_serializing_if = "is_usual")]
    form: FormOf,
    /// How many runs of its handler fail.
    #[serde(default, skip_serializing_if = "is_usual")]
    fails: Fails,
    #[serde(default, skip_serializing_if = "is_usual")]
    rolls_back: bool,
    #[serde(default = "once", skip_serializing_if = "is_once")]
    calls: u8,
}

#[derive(Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum FormOf {
    #[default]
    Plain,
    UnknownType,
    Unreadable,
}

/// So many runs of a handler, or all until it is repaired.
#[derive(Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
enum Fails {
    Runs(u8),
    Until(UntilRepaired),
}

#[derive(Deserialize, PartialEq, Serialize)]
enum UntilRepaired {
    #[serde(rename = "until-repaired")]
    UntilRepaired,
}

impl Default for Fails {
    fn default() -> Self {
        Self::Runs(0)
    }
}

#[derive(Deserialize, Serialize)]
struct DeedAt {
    at_ms: u64,
    #[serde(flatten)]
    deed: Deed,
}

#[derive(Deserialize, Serialize)]
struct FaultOf {
    what: String,
    hits: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    for_ms: Option<u64>,
    #[serde(flatten)]
    numbers: BTreeMap<String, u64>,
}

#[derive(Deserialize, Serialize)]
struct ChoiceOf {
    what: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    of: String,
    is: u64,
    #[serde(flatten)]
    numbers: BTreeMap<String, u64>,
}

impl Scenario {
    /// Reads a scenario.
    ///
    /// # Errors
    /// Says what was expected, and where.
    pub fn from_json(text: &str) -> Result<Self, BadScenario> {
        Self::read(text, None)
    }

    /// Reads a scenario of a receiver of one's own, whose entities are of this type, with these names of
    /// events.
    ///
    /// # Errors
    /// Says what was expected, and where.
    pub fn from_json_own(text: &str, model: &Model, names: &[String]) -> Result<Self, BadScenario> {
        Self::read(text, Some((model, names)))
    }

    fn read(text: &str, own: Option<(&Model, &[String])>) -> Result<Self, BadScenario> {
        let value: Value = parsed(text)?;
        match value.get("format").and_then(Value::as_str) {
            Some(FORMAT) => {}
            Some(other) => return bad(format!("format `{other}`: expected `{FORMAT}`")),
            None => return bad(format!("no `format`: expected `{FORMAT}`")),
        }
        parsed::<File>(text)?.scenario(own)
    }

    /// Writes the scenario.
    pub fn to_json(&self) -> String {
        laid_out(&File::of(self))
    }
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, BadScenario> {
    serde_json::from_str(text).map_err(|error| BadScenario(error.to_string()))
}

/// One line a member, and one line for each in a list of things.
fn laid_out(file: &File) -> String {
    let mut members = vec![
        member("format", &file.format),
        member("name", &file.name),
        member("about", &file.about),
    ];
    members.extend((!file.seen.is_empty()).then(|| member("seen", &file.seen)));
    members.extend((!file.own.is_empty()).then(|| member("own", &file.own)));
    members.extend(file.broken_by.as_ref().map(|name| member("broken_by", name)));
    members.extend((!file.expect.is_empty()).then(|| member("expect", &file.expect)));
    members.extend([
        member("world", &file.world),
        member("profile", &file.profile),
        member("inbox", &file.inbox),
        member("scheme", &file.scheme),
        list("events", &file.events),
        list("deeds", &file.deeds),
        list("faults", &file.faults),
        list("choices", &file.choices),
    ]);
    format!("{{\n{}\n}}\n", members.join(",\n"))
}

fn member(key: &str, value: &impl Serialize) -> String {
    format!("  \"{key}\": {}", written(value))
}

fn list(key: &str, items: &[impl Serialize]) -> String {
    if items.is_empty() {
        return format!("  \"{key}\": []");
    }
    let items: Vec<_> = items.iter().map(|item| format!("    {}", written(item))).collect();
    format!("  \"{key}\": [\n{}\n  ]", items.join(",\n"))
}

fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a scenario has no key that is not a string")
}

impl File {
    fn of(scenario: &Scenario) -> Self {
        let Scenario { name, about, seen, broken_by, expected, setup, script, own } = scenario;
        let named = |no: &u8| if own.is_empty() { models::NAMES[usize::from(*no)] } else { OWN };
        let events = |kind: EventType| match own.get(usize::from(kind.0)) {
            Some(name) => name.clone(),
            None => models::EVENTS[usize::from(kind.0)].to_owned(),
        };
        let Terms { profile, inbox, scheme, model_of, poll_ms, skew_ms, .. } = &setup.terms;
        let expect = expected.iter().map(|&(seen, times)| (seen_name(seen).to_owned(), times));
        Self {
            format: FORMAT.to_owned(),
            name: name.clone(),
            about: about.id().to_owned(),
            seen: seen.clone(),
            own: own.clone(),
            broken_by: broken_by.map(|rogue| rogue.name().to_owned()),
            expect: expect.collect(),
            profile: ProfileOf::of(profile),
            inbox: InboxOf::of(inbox),
            scheme: SchemeOf::of(*scheme),
            world: WorldOf {
                entities: model_of.iter().map(|no| named(no).to_owned()).collect(),
                endpoints: setup.endpoints,
                relays: setup.relays,
                ingresses: setup.ingresses,
                workers: setup.workers,
                disk_ms: setup.lags.disk_ms,
                net_ms: setup.lags.net_ms,
                handler_ms: setup.lags.handler_ms,
                poll_ms: *poll_ms,
                skew_ms: *skew_ms,
                quiet_ms: setup.quiet.0,
            },
            events: setup
                .events
                .iter()
                .map(|event| EventOf::of(event, events(event.kind)))
                .collect(),
            deeds: setup.deeds.iter().map(|&(at, deed)| DeedAt { at_ms: at.0, deed }).collect(),
            faults: script.faults.iter().filter_map(|site| FaultOf::of(*site, script)).collect(),
            choices: script
                .choices
                .iter()
                .filter_map(|choice| ChoiceOf::of(choice, script))
                .collect(),
        }
    }

    fn scenario(self, own: Option<(&Model, &[String])>) -> Result<Scenario, BadScenario> {
        match own {
            None if !self.own.is_empty() => {
                return bad(
                    "it is about a receiver of one's own: run its test with HOOKPROOF_SCENARIO",
                );
            }
            Some((_, names)) if self.own != names => {
                let own = self.own.join(", ");
                return bad(format!("own `{own}`: expected the events `{}`", names.join(", ")));
            }
            _ => {}
        }
        let Some(about) = Promise::named(&self.about) else {
            return bad(format!(
                "about `{}`: expected the id of a promise, such as R7",
                self.about
            ));
        };
        let broken_by = match &self.broken_by {
            None => None,
            Some(name) => Some(Rogue::named(name).ok_or_else(|| {
                BadScenario(format!("broken_by `{name}`: expected a name of `hookproof rogues`"))
            })?),
        };
        let mut expected = Vec::new();
        for (name, times) in &self.expect {
            let known = SEEN.iter().find(|(known, _)| known == name);
            let Some((_, seen)) = known else {
                let known: Vec<_> = SEEN.iter().map(|(known, _)| *known).collect();
                return bad(format!("expect `{name}`: expected one of {}", known.join(", ")));
            };
            expected.push((*seen, *times));
        }
        let script = self.script()?;
        let (name, seen) = (self.name.clone(), self.seen.clone());
        let names = self.own.clone();
        let setup = self.setup(own)?;
        Ok(Scenario { name, about, seen, broken_by, expected, setup, script, own: names })
    }

    fn script(&self) -> Result<Script, BadScenario> {
        let mut script = Script::default();
        for (no, fault) in (1..).zip(&self.faults) {
            let site = address::fault_site(&fault.what, &fault.hits, &fault.numbers)
                .map_err(|why| BadScenario(format!("fault {no}: {why}")))?;
            if !script.faults.insert(site) {
                return bad(format!("fault {no}: expected each fault once"));
            }
            if let Some(status) = fault.status {
                let roll = address::refusing(status)
                    .map_err(|why| BadScenario(format!("fault {no}: {why}")))?;
                script.choices.insert(site, roll);
            }
            if let Some(for_ms) = fault.for_ms {
                script.choices.insert(site, for_ms.saturating_sub(crate::walk::STALL_MIN_MS));
            }
        }
        for (no, choice) in (1..).zip(&self.choices) {
            let site = address::choice_site(&choice.what, &choice.of, &choice.numbers)
                .map_err(|why| BadScenario(format!("choice {no}: {why}")))?;
            script.choices.insert(site, choice.is);
        }
        Ok(script)
    }

    fn setup(self, own: Option<(&Model, &[String])>) -> Result<Setup, BadScenario> {
        let types = Types::of(own);
        let WorldOf { entities, endpoints, relays, ingresses, workers, .. } = &self.world;
        within("endpoints", u64::from(*endpoints), 1, ENDPOINTS_MAX)?;
        for (name, count) in [("relays", relays), ("ingresses", ingresses), ("workers", workers)] {
            within(name, u64::from(*count), 1, PROCESSES_MAX)?;
        }
        within("events", self.events.len() as u64, 1, EVENTS_MAX)?;
        within("entities", entities.len() as u64, 1, EVENTS_MAX)?;
        let mut model_of = Vec::new();
        for name in entities {
            let Some(no) = types.names.iter().position(|known| known == name) else {
                let known = types.names.join(", ");
                return bad(format!("entity type `{name}`: expected one of {known}"));
            };
            model_of.push(no as u8);
        }
        let terms = Terms {
            profile: self.profile.profile()?,
            inbox: self.inbox.inbox()?,
            scheme: self.scheme.scheme()?,
            models: types.models,
            model_of,
            poll_ms: span("world.poll_ms", self.world.poll_ms.max(1))?,
            skew_ms: span("world.skew_ms", self.world.skew_ms)?,
            timely: true,
        };
        let mut events = Vec::new();
        for (no, event) in self.events.iter().enumerate() {
            let planned = event.planned(&terms, &types.events);
            events.push(planned.map_err(|why| BadScenario(format!("event {no}: {why}")))?);
        }
        let mut setup = Setup {
            seed: 0,
            terms,
            events,
            endpoints: self.world.endpoints,
            relays: self.world.relays,
            ingresses: self.world.ingresses,
            workers: self.world.workers,
            deeds: Vec::new(),
            odds: Odds::NONE,
            quiet: Millis(span("world.quiet_ms", self.world.quiet_ms)?),
            lags: Lags {
                disk_ms: span("world.disk_ms", self.world.disk_ms)?,
                net_ms: span("world.net_ms", self.world.net_ms)?,
                handler_ms: span("world.handler_ms", self.world.handler_ms)?,
            },
        };
        let mut last = 0;
        for (no, DeedAt { at_ms, deed }) in self.deeds.into_iter().enumerate() {
            let why = |why: BadScenario| BadScenario(format!("deed {no}: {why}"));
            span("at_ms", at_ms).map_err(why)?;
            possible(&deed, &setup).map_err(why)?;
            if at_ms < last {
                return bad(format!(
                    "deed {no}: at {at_ms} ms: expected deeds in the order of time"
                ));
            }
            last = at_ms;
            setup.deeds.push((Millis(at_ms), deed));
        }
        Ok(setup)
    }
}

/// The types that a file may speak of.
struct Types {
    models: Vec<Model>,
    names: Vec<String>,
    events: Vec<String>,
}

impl Types {
    fn of(own: Option<(&Model, &[String])>) -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match own {
            Some((model, events)) => {
                Self { models: vec![model.clone()], names: owned(&[OWN]), events: events.to_vec() }
            }
            None => Self {
                models: models::all(),
                names: owned(&models::NAMES),
                events: owned(&models::EVENTS),
            },
        }
    }
}

/// Whether there is what a deed is about.
fn possible(deed: &Deed, setup: &Setup) -> Result<(), BadScenario> {
    let below = |what: &str, number: u32, count: u32| {
        if number < count {
            return Ok(());
        }
        bad(format!("{what} {number}: expected one below {count}"))
    };
    match *deed {
        Deed::Resend { delivery } | Deed::Cancel { delivery } => {
            below("delivery", delivery, setup.deliveries())
        }
        Deed::Replay { receipt, .. } => below("receipt", receipt, setup.deliveries()),
        Deed::Endpoint { endpoint, .. }
        | Deed::ChangeEndpoint { endpoint }
        | Deed::RegisterAgain { endpoint }
        | Deed::EndpointDown { endpoint, .. }
        | Deed::Rotate { endpoint }
        | Deed::Revoke { endpoint }
        | Deed::Target { endpoint, .. } => below("endpoint", endpoint, setup.endpoints),
        Deed::Crash { process } | Deed::Upgrade { process } => {
            below("process", u32::from(process), u32::from(setup.processes()))
        }
        Deed::Book { operation } => {
            let entities = setup.terms.model_of.len() as u32;
            below("entity", operation.entity.0.min(u128::from(u32::MAX)) as u32, entities)
        }
        Deed::Clock { by_ms, .. } | Deed::Skew { by_ms, .. } => {
            span("by_ms", by_ms.unsigned_abs()).map(|_| ())
        }
        Deed::ResendAll
        | Deed::ReplayAll
        | Deed::Repair
        | Deed::PowerLoss { .. }
        | Deed::Database { .. }
        | Deed::Writable { .. }
        | Deed::Pool { .. }
        | Deed::Cut { .. }
        | Deed::Heal
        | Deed::Backup { .. }
        | Deed::Restore { .. }
        | Deed::Purge => Ok(()),
    }
}

impl EventOf {
    fn of(event: &Planned, kind: String) -> Self {
        Self {
            at_ms: event.at.0,
            takes_ms: event.takes_ms,
            entity: event.entity,
            kind,
            occurrence: event.occurrence,
            version: event.version,
            form: match event.form {
                Form::Plain => FormOf::Plain,
                Form::UnknownType => FormOf::UnknownType,
                Form::Unreadable => FormOf::Unreadable,
            },
            fails: match event.poison {
                POISONED => Fails::Until(UntilRepaired::UntilRepaired),
                runs => Fails::Runs(runs),
            },
            rolls_back: event.rolls_back,
            calls: event.calls,
        }
    }

    fn planned(&self, terms: &Terms, events: &[String]) -> Result<Planned, BadScenario> {
        let Some(model) = terms.model_of.get(self.entity as usize) else {
            return bad(format!("entity {}: expected one of `entities`", self.entity));
        };
        let kind = events.iter().position(|known| *known == self.kind);
        let kind = kind.map(|no| EventType(no as u16));
        let kind = kind.filter(|kind| terms.models[usize::from(*model)].rule(*kind).is_some());
        let Some(kind) = kind else {
            return bad(format!(
                "type `{}`: expected one that its entity has a rule for",
                self.kind
            ));
        };
        within("occurrence", self.occurrence, 0, u64::from(u16::MAX))?;
        within("version", self.version, 0, u64::from(u16::MAX))?;
        within("calls", u64::from(self.calls), 1, CALLS_MAX)?;
        Ok(Planned {
            at: Millis(span("at_ms", self.at_ms)?),
            takes_ms: span("takes_ms", self.takes_ms)?,
            entity: self.entity,
            kind,
            occurrence: self.occurrence,
            version: self.version,
            form: match self.form {
                FormOf::Plain => Form::Plain,
                FormOf::UnknownType => Form::UnknownType,
                FormOf::Unreadable => Form::Unreadable,
            },
            poison: match self.fails {
                Fails::Runs(runs) => runs.min(POISONED - 1),
                Fails::Until(_) => POISONED,
            },
            rolls_back: self.rolls_back,
            calls: self.calls,
        })
    }
}

impl FaultOf {
    fn of(site: Site, script: &Script) -> Option<Self> {
        let words = address::fault(site)?;
        Some(Self {
            what: words.what.to_owned(),
            hits: words.step.to_owned(),
            status: address::refusal(site, &script.choices),
            for_ms: address::standstill_ms(site, &script.choices),
            numbers: owned(&words),
        })
    }
}

impl ChoiceOf {
    /// `None` for what is written with its fault.
    fn of((site, is): (&Site, &u64), script: &Script) -> Option<Self> {
        if script.faults.contains(site) {
            return None;
        }
        let words = address::choice(*site)?;
        let (what, of) = (words.what.to_owned(), words.step.to_owned());
        Some(Self { what, of, is: *is, numbers: owned(&words) })
    }
}

fn owned(words: &address::Words) -> BTreeMap<String, u64> {
    words.numbers.iter().map(|&(name, is)| (name.to_owned(), u64::from(is))).collect()
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

const fn once() -> u8 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_once(calls: &u8) -> bool {
    *calls == 1
}

fn seen_name(seen: Seen) -> &'static str {
    SEEN.iter().find(|(_, known)| *known == seen).map_or("", |(name, _)| name)
}

/// What is counted in a history, by name.
const SEEN: [(&str, Seen); 10] = {
    use crate::history::{Reason, Verdict};
    [
        ("requests", Seen::Request),
        ("failed_deliveries", Seen::FailedDelivery),
        ("effects", Seen::Effect),
        ("deferrals", Seen::Deferral),
        ("handler_failures", Seen::HandlerFailure),
        ("applied", Seen::Worked(Verdict::Applied)),
        ("already_booked", Seen::Worked(Verdict::AlreadyBooked)),
        ("overtaken", Seen::Worked(Verdict::Overtaken)),
        ("at_the_cap", Seen::Worked(Verdict::SetAside(Reason::DeferralCap))),
        ("failing", Seen::Worked(Verdict::SetAside(Reason::Failing))),
    ]
};

/// Operations by their parts.
pub(crate) mod operation {
    use serde::{Deserializer, Serializer};

    use super::{Deserialize, Id, Operation, Serialize, Transition};

    #[derive(Deserialize, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Parts {
        entity: u32,
        transition: u16,
        occurrence: u64,
    }

    pub(crate) fn serialize<S: Serializer>(
        operation: &Operation,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let Operation { entity, transition, occurrence } = *operation;
        Parts { entity: entity.0 as u32, transition: transition.0, occurrence }.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Operation, D::Error> {
        let Parts { entity, transition, occurrence } = Parts::deserialize(from)?;
        let entity = Id(u128::from(entity));
        Ok(Operation { entity, transition: Transition(transition), occurrence })
    }
}

/// The lives of endpoints, by name.
#[derive(Deserialize, Serialize)]
#[serde(remote = "hookproof_core::endpoint::Life", rename_all = "kebab-case")]
pub(crate) enum LifeOf {
    Active,
    Paused,
    Disabled,
    Unsubscribed,
    Deleted,
}

/// What the entity type of a receiver of one's own is called.
const OWN: &str = "own";
/// The most of each that a file may ask for: more takes long, and tells nothing that fewer do not.
const ENDPOINTS_MAX: u64 = 16;
const PROCESSES_MAX: u64 = 8;
const EVENTS_MAX: u64 = 1_000;
const CALLS_MAX: u64 = 8;
