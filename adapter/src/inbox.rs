//! A receiver: its sources, its entity types, and the door through which requests come in.
//!
//! What is verified is stored and committed before it is answered (R3); what it asks for is done later,
//! by a [`crate::Worker`]. So an answer never waits for business (R5).

mod setup;

use std::sync::Arc;

use hookproof_core::{
    Id,
    inbox::{self, Arrival, NotReplayed, Reading, Receipt, Reply, Warrant},
    model::{EventType, Operation},
    profile::InboxPolicy,
    scheme::{Refusal, Request, handshake::Reply as Answer},
    work,
};

pub use self::setup::{BadInbox, Setup};
use crate::{
    bell::Bell,
    commit::commit,
    crash::{self, Point},
    entity::EntityType,
    error::Error,
    host::Host,
    ident,
    source::{Opened, Source},
    store::{Content, Keys, Store},
};

/// A receiver on a store.
pub struct Inbox<S: Store> {
    pub(crate) store: S,
    pub(crate) policy: InboxPolicy,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) bell: Bell,
    pub(crate) outside: Option<Id>,
    sources: Vec<Source>,
    types: Vec<EntityType<S::Tx>>,
}

/// A request that was taken in, durably.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Whether it was new.
    pub reply: Reply,
    /// Its receipt.
    pub receipt: Id,
}

/// Why a request was not taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReceived {
    /// No source has this name.
    UnknownSource,
    /// It is not authentic. Nothing of it is kept (R2).
    Refused(Refusal),
    /// It took longer than the source waits; whether it is stored the next copy will tell.
    Late,
    /// The database did not take it. The source shall come back.
    Store(Error),
}

impl NotReceived {
    /// What the sender is answered.
    pub const fn status(&self) -> u16 {
        match self {
            Self::UnknownSource => 404,
            Self::Refused(refusal) => refusal.http_status(),
            Self::Late | Self::Store(_) => 503,
        }
    }
}

impl std::fmt::Display for NotReceived {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownSource => f.write_str("no source has this name"),
            Self::Refused(refusal) => write!(f, "refused: {refusal}"),
            Self::Late => f.write_str("the receipt took longer than the source waits"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NotReceived {}

/// Why nothing was changed by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotDone<R> {
    /// There is no such row.
    Unknown,
    /// It may not be.
    Refused(R),
    /// The database did not do it.
    Store(Error),
}

impl<R: std::fmt::Display> std::fmt::Display for NotDone<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no row with this id"),
            Self::Refused(why) => why.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl<R: std::fmt::Debug + std::fmt::Display> std::error::Error for NotDone<R> {}

impl<R> From<Error> for NotDone<R> {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// Who does something by hand, and whether the application lets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Person {
    /// Under which id it is written down.
    pub id: Id,
    /// May they do this, for this account?
    pub allowed: bool,
}

impl<S: Store> Inbox<S> {
    /// Takes a request in, as it came: verified, stored, committed. Copies fold into one receipt (R4).
    ///
    /// The headers are every field line in order; the body is what was read, all of it: a request that
    /// was cut short must not get here (R2).
    pub async fn receive(
        &self,
        source: &str,
        request: &Request<'_>,
    ) -> Result<Received, NotReceived> {
        let source = self.source(source).ok_or(NotReceived::UnknownSource)?;
        let opened = source.open(request, self.host.now()).map_err(NotReceived::Refused)?;
        crash::here(Point::AfterVerify).await;
        let stored = tokio::time::timeout(source.answer_limit, self.store_letter(opened)).await;
        let received = stored.map_err(|_| NotReceived::Late)?.map_err(NotReceived::Store)?;
        crash::here(Point::AfterReceipt).await;
        if received.reply == Reply::Accepted {
            self.bell.ring();
        }
        Ok(received)
    }

    /// What a request is answered, as its source wants it (R18): once it was taken in or refused, or in
    /// reply to a handshake, which leaves nothing.
    pub async fn answer(&self, source: &str, request: &Request<'_>) -> Answer {
        let bare = |status| Answer { status, headers: Vec::new(), body: String::new() };
        let known = self.source(source);
        if let Some(shaken) = known.and_then(|known| known.shake(request, self.host.now())) {
            return shaken.unwrap_or_else(|refusal| bare(refusal.http_status()));
        }
        match self.receive(source, request).await {
            Ok(_) => bare(known.map_or(200, |known| known.acknowledge)),
            Err(why) => {
                tracing::warn!(source, %why, "a request was not taken in");
                bare(why.status())
            }
        }
    }

    /// Has a receipt worked again (R12): with the same bytes, not verified again, past the same guards.
    pub async fn replay(&self, receipt: Id, by: Person) -> Result<Receipt, NotDone<NotReplayed>> {
        loop {
            let mut tx = self.store.begin().await?;
            let keys = Keys { receipts: vec![receipt], ..Keys::default() };
            let rows = self.store.load(&mut tx, &keys).await?;
            let letter = self.store.letter(&mut tx, receipt).await?;
            let (Some(row), Some(letter)) = (rows.receipts.first(), letter) else {
                self.store.rollback(tx).await?;
                return Err(NotDone::Unknown);
            };
            let source = self.source(&letter.source);
            let warrant = Warrant {
                by: by.id,
                person_allowed: by.allowed,
                source_authorised: source.is_some(),
                secret_unrevoked: source.is_some_and(|it| it.trusts(&letter.verified_by)),
            };
            let now = self.store.now(&mut tx).await?;
            let plan = match row.replay(&warrant, now, &self.policy) {
                Ok(plan) => plan,
                Err(refused) => {
                    self.store.rollback(tx).await?;
                    return Err(NotDone::Refused(refused));
                }
            };
            match commit(&self.store, tx, plan, Content::None).await {
                Err(Error::Conflict) => {}
                Err(error) => return Err(error.into()),
                Ok(row) => {
                    self.bell.ring();
                    return Ok(row);
                }
            }
        }
    }

    /// Books an operation by hand: an event that asks for it later finds it done. `false`: it was booked
    /// already, by whomever.
    pub async fn book(&self, operation: Operation, by: Id) -> Result<bool, Error> {
        book(&self.store, operation, by).await
    }

    /// What takes the hints of this receiver to its workers, and to other processes.
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// One receipt for each delivery id: whoever comes second finds the first, or waits for it to end.
    async fn store_letter(&self, opened: Opened) -> Result<Received, Error> {
        let (reading, resource) = self.read(&opened);
        let mut letter = opened.letter;
        letter.resource = resource.unwrap_or(letter.resource);
        let digest = ident::digest(letter.payload.as_bytes());
        let arrival = Arrival { receipt: self.host.id(), digest, reading };
        let mut tries = 0;
        loop {
            let mut tx = self.store.begin().await?;
            let (source, account) = (&letter.source, &letter.account);
            let found = self.store.receipt_of(&mut tx, source, account, &letter.delivery).await?;
            let now = self.store.now(&mut tx).await?;
            let plan = inbox::receive(found.as_ref(), &arrival, now, &self.policy);
            let receipt = found.map_or(arrival.receipt, |found| found.id);
            match commit(&self.store, tx, plan, Content::Letter(&letter)).await {
                Ok(reply) => return Ok(Received { reply, receipt }),
                Err(Error::Conflict) if tries < CONFLICTS_MAX => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// What a verified request says to this application (R19: everything has an answer).
    fn read(&self, opened: &Opened) -> (Reading, Option<String>) {
        let letter = &opened.letter;
        let Some(said) = &opened.identity else { return (Reading::Unreadable, None) };
        let Some(name) = &said.event_type else { return (Reading::Unreadable, None) };
        let known = self.types.iter().find_map(|of| Some((of, of.event(&letter.source, name)?)));
        match known {
            Some((of, event)) => of.read(event, &letter.account, said, letter.payload.as_bytes()),
            None => (Reading::UnknownType, None),
        }
    }

    fn source(&self, name: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.name == name)
    }

    /// The entity type that an event belongs to.
    pub(crate) fn type_of(&self, event: EventType) -> Option<&EntityType<S::Tx>> {
        self.types.iter().find(|of| of.has(event))
    }
}

/// Books an operation by hand, without a receiver at hand. `false`: it was booked already.
pub async fn book<S: Store>(store: &S, operation: Operation, by: Id) -> Result<bool, Error> {
    let tx = store.begin().await?;
    match commit(store, tx, work::book(operation, by), Content::None).await {
        Ok(()) => Ok(true),
        Err(Error::Conflict) => {
            let mut tx = store.begin().await?;
            // A conflict of another kind leaves it open: then it is asked for again.
            if store.is_booked(&mut tx, operation).await? {
                Ok(false)
            } else {
                Err(Error::Conflict)
            }
        }
        Err(error) => Err(error),
    }
}

/// How often a conflict is decided again before it is given on.
pub(crate) const CONFLICTS_MAX: u8 = 8;
