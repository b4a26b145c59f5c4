//! Declaring a receiver: what does not fit together is refused here, before the first request.

use std::{collections::BTreeSet, sync::Arc};

use hookproof_core::{
    Id,
    profile::{InboxPolicy, RetentionTooShort, check_retention},
    time::MINUTE,
};

use super::Inbox;
use crate::{
    bell::Bell,
    entity::{BadEntityType, EntityType},
    host::{Host, Machine},
    source::{BadSource, Source},
    store::Store,
};

/// A receiver that is being declared.
pub struct Setup<S: Store> {
    store: S,
    policy: InboxPolicy,
    host: Arc<dyn Host>,
    outside: Option<Id>,
    sources: Vec<Source>,
    types: Vec<EntityType<S::Tx>>,
}

/// Why a receiver cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadInbox {
    /// A source, by its name.
    Source(String, BadSource),
    /// An entity type, by its name.
    EntityType(String, BadEntityType),
    /// Two sources have this name, or two entity types.
    Twice(String),
    /// Two entity types take this event of one source.
    EventTwice(String),
    /// Two entity types have events of this number, by which a receipt is found again.
    NumberTwice(u16),
    /// This entity type has effects outside, and no target was named.
    NoTarget(String),
    /// Keys would be forgotten while this source may still send (R16).
    Retention(String, RetentionTooShort),
    /// Keys would be forgotten, and nobody knows how long this source sends (R16).
    UnknownSender(String),
}

impl std::fmt::Display for BadInbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Source(name, bad) => write!(f, "source `{name}`: {bad}"),
            Self::EntityType(name, bad) => write!(f, "entity type `{name}`: {bad}"),
            Self::Twice(name) => write!(f, "expected `{name}` once, found it twice: rename one"),
            Self::EventTwice(name) => write!(
                f,
                "expected one entity type for event `{name}`, found two: say `only_from` which source \
                 each hears"
            ),
            Self::NumberTwice(number) => write!(
                f,
                "expected event {number} in one entity type, found it in two: number events across all"
            ),
            Self::NoTarget(name) => write!(
                f,
                "entity type `{name}`: expected a target for its effects outside: name the endpoint with \
                 `effects_to`"
            ),
            Self::Retention(name, short) => write!(f, "source `{name}`: {short}"),
            Self::UnknownSender(name) => write!(
                f,
                "source `{name}`: expected to know how it sends, since keys are to be forgotten: declare \
                 its profile with `sender`, or keep keys for ever"
            ),
        }
    }
}

impl std::error::Error for BadInbox {}

impl<S: Store> Setup<S> {
    /// A receiver on this store, with the defaults of the contract.
    pub fn new(store: S) -> Self {
        Self {
            store,
            policy: InboxPolicy::hookproof(),
            host: Arc::new(Machine),
            outside: None,
            sources: Vec::new(),
            types: Vec::new(),
        }
    }

    /// Takes requests of this source in.
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.sources.push(source);
        self
    }

    /// Works on entities of this type.
    #[must_use]
    pub fn entity(mut self, of: EntityType<S::Tx>) -> Self {
        self.types.push(of);
        self
    }

    /// Works through the inbox in this way.
    #[must_use]
    pub fn policy(self, policy: InboxPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Sends effects outside to this endpoint, which nobody subscribes.
    #[must_use]
    pub fn effects_to(self, endpoint: Id) -> Self {
        Self { outside: Some(endpoint), ..self }
    }

    /// Takes time and chance from this machine.
    #[must_use]
    pub fn host(self, host: Arc<dyn Host>) -> Self {
        Self { host, ..self }
    }

    /// Opens it, if everything fits together.
    pub fn open(self) -> Result<Inbox<S>, BadInbox> {
        self.check_sources()?;
        self.check_types()?;
        self.check_names()?;
        let Self { store, policy, host, outside, sources, types } = self;
        Ok(Inbox { store, policy, host, bell: Bell::default(), outside, sources, types })
    }

    fn check_sources(&self) -> Result<(), BadInbox> {
        for source in &self.sources {
            source.check().map_err(|bad| BadInbox::Source(source.name.clone(), bad))?;
            match &source.sender {
                _ if self.policy.retention_ms.is_none() => {}
                None => return Err(BadInbox::UnknownSender(source.name.clone())),
                Some(sender) => check_retention(&self.policy, sender, SKEW_MS)
                    .map_err(|short| BadInbox::Retention(source.name.clone(), short))?,
            }
        }
        Ok(())
    }

    fn check_types(&self) -> Result<(), BadInbox> {
        for of in &self.types {
            of.check().map_err(|bad| BadInbox::EntityType(of.name.clone(), bad))?;
            if of.has_effects_outside() && self.outside.is_none() {
                return Err(BadInbox::NoTarget(of.name.clone()));
            }
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), BadInbox> {
        let sources = self.sources.iter().map(|source| ("source", &*source.name));
        let mut seen = BTreeSet::new();
        for name in sources.chain(self.types.iter().map(|of| ("type", &*of.name))) {
            if !seen.insert(name) {
                return Err(BadInbox::Twice(name.1.to_owned()));
            }
        }
        for (at, of) in self.types.iter().enumerate() {
            let others = &self.types[at + 1..];
            let mut rules = of.model.rules().iter().map(|rule| rule.event);
            if let Some(event) = rules.find(|event| others.iter().any(|other| other.has(*event))) {
                return Err(BadInbox::NumberTwice(event.0));
            }
            for (source, name) in of.names() {
                let meets = |(other, same): (Option<&str>, &str)| {
                    same == name && (source.is_none() || other.is_none() || source == other)
                };
                if others.iter().flat_map(EntityType::names).any(meets) {
                    return Err(BadInbox::EventTwice(name.to_owned()));
                }
            }
        }
        Ok(())
    }
}

/// How far the clocks of a source and of this receiver may be apart, when keys are forgotten.
const SKEW_MS: u64 = 5 * MINUTE;
