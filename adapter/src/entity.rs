//! Entity types: their events by name, the handler of each, and where their state is kept.

mod boxed;

use std::{future::Future, time::Duration};

pub(crate) use self::boxed::{AnyAuthority, AnyHandler, AnyKeeper, Chosen};
use hookproof_core::{
    Id,
    handler::{Handler, HandlerError},
    identity::{Identity, Place, Places},
    inbox::Reading,
    instant::Instant,
    model::{Early, EventType, Model, Occurrence, Order, Proposal, State},
    work::Fetched,
};

use crate::ident;

/// An entity type of the application: its model, and for each event its name and its handler.
pub struct EntityType<Tx> {
    pub(crate) name: String,
    pub(crate) model: Model,
    pub(crate) keeper: Option<Box<dyn AnyKeeper<Tx>>>,
    pub(crate) authority: Option<Box<dyn AnyAuthority>>,
    source: Option<String>,
    events: Vec<Known<Tx>>,
    resource: Option<Place>,
    occurrence: Option<Place>,
}

/// An event by its name at the source.
struct Known<Tx> {
    name: String,
    event: EventType,
    handler: Option<Box<dyn AnyHandler<Tx>>>,
}

/// An entity by its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// Whose it is.
    pub account: &'a str,
    /// What it is.
    pub entity_type: &'a str,
    /// Which one.
    pub resource: &'a str,
}

/// What the application's own table says of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The state that it is in.
    pub state: State,
    /// The version, sequence or instant of the newest event applied; 0 before the first.
    pub version: u64,
}

/// An application's own table that holds the state of an entity type.
///
/// Its row is the truth, and its lock the guard: whoever else changes the row waits until the work has
/// committed, and the work waits for whoever was first. What is deferred on an entity that other hands
/// have moved is looked at again when its timer runs out.
pub trait Keeper<Tx>: Send + Sync {
    /// Locks the row until the transaction ends (`SELECT … FOR UPDATE`) and says what is in it. Where
    /// there is none it is inserted first, in its initial state: nothing can lock a row that is not there.
    fn load(
        &self,
        tx: &mut Tx,
        entity: &Named<'_>,
    ) -> impl Future<Output = Result<Kept, HandlerError>> + Send;

    /// Stores what the entity has become, before the event's handler runs.
    fn store(
        &self,
        tx: &mut Tx,
        entity: &Named<'_>,
        kept: Kept,
    ) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

/// The authoritative API of a source, asked about an entity outside of any transaction (R9, R15).
pub trait Authority: Send + Sync {
    /// The entity as it is there. An error, or [`FETCH_LIMIT`] without an answer: the event waits as any
    /// deferred one.
    fn fetch(
        &self,
        entity: &Named<'_>,
    ) -> impl Future<Output = Result<Fetched, HandlerError>> + Send;
}

/// Why an entity type cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadEntityType {
    /// The model has no rule for an event that is named.
    NoRule(String),
    /// An event of the model has no name, so that it can never come.
    NoName(EventType),
    /// An event books an operation within the database, and nothing makes its effect.
    NoHandler(String),
    /// Its model asks an authoritative API, and none is given.
    NoAuthority,
}

impl std::fmt::Display for BadEntityType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoRule(name) => {
                write!(f, "expected a rule of the model for `{name}`, found none: add it")
            }
            Self::NoName(EventType(number)) => write!(
                f,
                "expected a name for event {number} of the model, found none: add it with `on` or `moves`"
            ),
            Self::NoHandler(name) => write!(
                f,
                "expected a handler for `{name}`, which books an operation: name it with `on`, not `moves`"
            ),
            Self::NoAuthority => f.write_str(
                "expected an authoritative API, which the model asks about early or equal events: add \
                 it with `authority`",
            ),
        }
    }
}

impl std::error::Error for BadEntityType {}

impl<Tx: Send + 'static> EntityType<Tx> {
    /// An entity type under a name that stays: entities are found by it, and so are their operations.
    pub fn new(name: &str, model: Model) -> Self {
        Self {
            name: name.to_owned(),
            model,
            keeper: None,
            authority: None,
            source: None,
            events: Vec::new(),
            resource: None,
            occurrence: None,
        }
    }

    /// An event, and the handler that makes its effect true.
    #[must_use]
    pub fn on<H>(self, name: &str, event: EventType, handler: H) -> Self
    where
        H: Handler<Tx> + Send + Sync + 'static,
    {
        self.known(name, event, Some(Box::new(handler)))
    }

    /// An event that moves the entity, or has its effect outside, with nothing to do in the database.
    #[must_use]
    pub fn moves(self, name: &str, event: EventType) -> Self {
        self.known(name, event, None)
    }

    fn known(
        mut self,
        name: &str,
        event: EventType,
        handler: Option<Box<dyn AnyHandler<Tx>>>,
    ) -> Self {
        self.events.push(Known { name: name.to_owned(), event, handler });
        self
    }

    /// Its events come from this source alone: another one may call other events by the same names.
    #[must_use]
    pub fn only_from(self, source: &str) -> Self {
        Self { source: Some(source.to_owned()), ..self }
    }

    /// Where its events name the entity, if not where the source usually does: a pointer into the body.
    #[must_use]
    pub fn resource_at(self, pointer: &str) -> Self {
        Self { resource: Some(Place::Body(pointer.to_owned().into())), ..self }
    }

    /// Where its events name the occurrence, if that is not their version: a pointer into the body.
    #[must_use]
    pub fn occurrence_at(self, pointer: &str) -> Self {
        Self { occurrence: Some(Place::Body(pointer.to_owned().into())), ..self }
    }

    /// The state is in a table of the application.
    #[must_use]
    pub fn kept_by<K: Keeper<Tx> + 'static>(self, keeper: K) -> Self {
        Self { keeper: Some(Box::new(keeper)), ..self }
    }

    /// Who is asked where the model asks.
    #[must_use]
    pub fn authority<A: Authority + 'static>(self, authority: A) -> Self {
        Self { authority: Some(Box::new(authority)), ..self }
    }

    pub(crate) fn check(&self) -> Result<(), BadEntityType> {
        for known in &self.events {
            let rule = self.model.rule(known.event);
            let rule = rule.ok_or_else(|| BadEntityType::NoRule(known.name.clone()))?;
            if rule.books.is_some() && !rule.external && known.handler.is_none() {
                return Err(BadEntityType::NoHandler(known.name.clone()));
            }
        }
        let named = |event| self.events.iter().any(|known| known.event == event);
        match self.model.rules().iter().find(|rule| !named(rule.event)) {
            Some(rule) => Err(BadEntityType::NoName(rule.event)),
            None if self.model.early() == Early::Refetch && self.authority.is_none() => {
                Err(BadEntityType::NoAuthority)
            }
            None => Ok(()),
        }
    }

    /// The events that a source may call by these names.
    pub(crate) fn names(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        self.events.iter().map(|known| (self.source.as_deref(), &*known.name))
    }

    /// The number of an event of this source.
    pub(crate) fn event(&self, source: &str, name: &str) -> Option<EventType> {
        let speaks = self.source.as_deref().is_none_or(|only| only == source);
        let known = self.events.iter().find(|known| speaks && known.name == name);
        known.map(|known| known.event)
    }

    pub(crate) fn handles(&self, event: EventType) -> Chosen<'_, Tx> {
        let known = self.events.iter().find(|known| known.event == event);
        Chosen::of(known.and_then(|known| known.handler.as_deref()))
    }

    pub(crate) fn has(&self, event: EventType) -> bool {
        self.model.rule(event).is_some()
    }

    pub(crate) fn has_effects_outside(&self) -> bool {
        self.model.rules().iter().any(|rule| rule.external)
    }

    /// What an event proposes, and about which resource; what lacks something that the model needs
    /// cannot be read (R6, R19).
    pub(crate) fn read(
        &self,
        event: EventType,
        account: &str,
        said: &Identity,
        payload: &[u8],
    ) -> (Reading, Option<String>) {
        let at = |place: &Option<Place>| place.as_ref().and_then(|place| text_at(place, payload));
        let resource = at(&self.resource).or_else(|| said.resource.clone());
        let occurrence = match self.occurrence {
            Some(_) => at(&self.occurrence).and_then(|text| text.parse().ok()),
            None => said.version,
        };
        let recurs = self.model.rule(event).and_then(|rule| rule.books);
        let occurrence = match recurs {
            Some((_, Occurrence::FromEvent)) => occurrence,
            Some((_, Occurrence::Once)) | None => Some(0),
        };
        let version = match self.model.order() {
            Order::Graph => Some(0),
            Order::Version | Order::Sequence => said.version,
            Order::Instant => said.time.map(version_of),
        };
        let proposal = resource.as_ref().zip(occurrence).zip(version).map(
            |((resource, occurrence), version)| {
                let entity = self.entity(account, resource);
                Reading::Proposal(Proposal { entity, event, occurrence, version })
            },
        );
        (proposal.unwrap_or(Reading::Unreadable), resource)
    }

    pub(crate) fn entity(&self, account: &str, resource: &str) -> Id {
        entity_id(&Named { account, entity_type: &self.name, resource })
    }
}

/// The key of an entity: the same for each source of its account.
pub fn entity_id(entity: &Named<'_>) -> Id {
    ident::named(&["entity", entity.account, entity.entity_type, entity.resource])
}

/// An instant as the version of an entity whose order is [`Order::Instant`]: a number that grows with it.
/// An [`Authority`] of such a type answers in the same measure.
///
/// Until 2500 these are nanoseconds since the epoch, which no number of this size holds for ever: from
/// then on each microsecond counts, and everything before the epoch is equal. Of two instants that have
/// become equal neither is called newer.
pub fn version_of(instant: Instant) -> u64 {
    let Ok(seconds) = u64::try_from(instant.seconds) else { return 0 };
    let nanos = u64::from(instant.nanos);
    match seconds.checked_sub(COARSE_S) {
        None => seconds * 1_000_000_000 + nanos,
        Some(since) => {
            let micros = since.saturating_mul(1_000_000).saturating_add(nanos / 1_000);
            micros.saturating_add(COARSE_S * 1_000_000_000)
        }
    }
}

fn text_at(place: &Place, payload: &[u8]) -> Option<String> {
    let places = Places { resource: Some(place.clone()), ..NOWHERE };
    let text = places.read(&[], payload).ok()?.resource?;
    hookproof_core::identity::is_id(&text).then_some(text)
}

const NOWHERE: Places = Places {
    id: None,
    id_copy: None,
    event_type: None,
    resource: None,
    version: None,
    time: None,
    account: None,
};

/// The first second of the year 2500.
const COARSE_S: u64 = 16_725_225_600;
/// How long the authoritative API may take over an answer.
pub const FETCH_LIMIT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_is_its_accounts_whichever_source_speaks() {
        let order = Named { account: "shop", entity_type: "order", resource: "1" };
        assert_ne!(entity_id(&order), entity_id(&Named { account: "other", ..order }));
        assert_ne!(entity_id(&order), entity_id(&Named { entity_type: "invoice", ..order }));
    }

    #[test]
    fn a_version_grows_with_its_instant_in_any_year() {
        let at = |seconds, nanos| version_of(Instant { seconds, nanos });
        assert_eq!(at(1, 2), 1_000_000_002);
        let coarse = COARSE_S as i64;
        let years = [
            at(-62_135_596_800, 0),
            at(0, 1),
            at(1_704_067_200, 0),
            at(1_704_067_200, 1),
            at(coarse - 1, 999_999_999),
            at(coarse, 0),
            at(coarse, 1_000),
            at(18_446_744_073, 709_551_616),
            at(253_402_300_799, 0),
            at(253_402_300_799, 999_999_999),
        ];
        assert!(years.is_sorted_by(|one, next| one < next), "{years:?}");
        assert_eq!((at(-1, 0), at(i64::MAX, 0)), (0, u64::MAX));
    }
}
