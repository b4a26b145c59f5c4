//! What a database does for the core: lock and load rows, and carry plans out. It decides nothing.

use core::{future::Future, time::Duration};

use hookproof_core::{
    Id, Millis,
    endpoint::{Endpoint, Lane},
    inbox::Receipt,
    model::{Entity, Operation},
    outbox::{Delivery, Event, Published},
    payload::Payload,
    plan::Write,
};

use crate::error::Error;

/// A database with the tables of a sender and a receiver.
///
/// Whatever is loaded is locked until the transaction ends, but for what a method says. The lock order
/// is the core's: endpoint, entity, operation, receipt, event, delivery, and by key within each.
pub trait Store: Sync {
    /// A transaction. Dropping it rolls it back.
    type Tx: Send + 'static;

    /// How long a handler may keep its transaction open.
    const HANDLER_LIMIT: Duration = Duration::from_secs(15);

    /// Begins a transaction.
    fn begin(&self) -> impl Future<Output = Result<Self::Tx, Error>> + Send;

    /// Commits. [`Error::Unknown`] says that the answer was lost.
    fn commit(&self, tx: Self::Tx) -> impl Future<Output = Result<(), Error>> + Send;

    /// Rolls back.
    fn rollback(&self, tx: Self::Tx) -> impl Future<Output = Result<(), Error>> + Send;

    /// The database's clock. Read after the rows of a decision are locked, so that what it writes is
    /// not older than the lock.
    fn now(&self, tx: &mut Self::Tx) -> impl Future<Output = Result<Millis, Error>> + Send;

    /// The rows with these keys. Entities that are not there yet are made, in their initial state.
    fn load(
        &self,
        tx: &mut Self::Tx,
        keys: &Keys,
    ) -> impl Future<Output = Result<Rows, Error>> + Send;

    /// An endpoint as it is, without a lock: for a decision that guards what it makes of it.
    fn endpoint(
        &self,
        tx: &mut Self::Tx,
        id: Id,
    ) -> impl Future<Output = Result<Option<Endpoint>, Error>> + Send;

    /// Endpoints with a due delivery and a key after `after`, in order of keys, each with how many of
    /// its deliveries are in flight. Those that another relay holds are skipped.
    fn lanes(
        &self,
        tx: &mut Self::Tx,
        after: Option<Id>,
        most: u16,
    ) -> impl Future<Output = Result<Vec<Lane>, Error>> + Send;

    /// The deliveries that are due at `now` on lanes that the transaction holds, at most so many of
    /// each and its oldest first. Those that somebody else holds are skipped.
    fn due_deliveries(
        &self,
        tx: &mut Self::Tx,
        lanes: &[(Id, u16)],
        now: Millis,
    ) -> impl Future<Output = Result<Vec<Delivery>, Error>> + Send;

    /// The oldest events that are due at `now`. Those that somebody else holds are skipped.
    fn due_events(
        &self,
        tx: &mut Self::Tx,
        most: u16,
        now: Millis,
    ) -> impl Future<Output = Result<Vec<Event>, Error>> + Send;

    /// The endpoints of an event's account that have ever subscribed to its type, without a lock: who
    /// was subscribed when it was created is past.
    fn subscribers(
        &self,
        tx: &mut Self::Tx,
        event: Id,
    ) -> impl Future<Output = Result<Vec<Endpoint>, Error>> + Send;

    /// The oldest receipts that are due at `now`. Those that somebody else holds are skipped.
    fn due_receipts(
        &self,
        tx: &mut Self::Tx,
        most: u16,
        now: Millis,
    ) -> impl Future<Output = Result<Vec<Receipt>, Error>> + Send;

    /// The committed receipt of a delivery, without a lock: one index probe.
    fn receipt_of(
        &self,
        tx: &mut Self::Tx,
        source: &str,
        account: &str,
        delivery: &str,
    ) -> impl Future<Output = Result<Option<Receipt>, Error>> + Send;

    /// What a receipt's row keeps besides what is decided on.
    fn letter(
        &self,
        tx: &mut Self::Tx,
        receipt: Id,
    ) -> impl Future<Output = Result<Option<Letter>, Error>> + Send;

    /// Whether an operation is booked: if so, it stays so for ever.
    fn is_booked(
        &self,
        tx: &mut Self::Tx,
        operation: Operation,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Publishes an event within a transaction. The answer is true once that has committed.
    fn publish(
        &self,
        tx: &mut Self::Tx,
        message: &Message,
    ) -> impl Future<Output = Result<Published, Error>> + Send;

    /// Carries out each plan whose guards hold, and says which. A plan whose guard fails, or whose row
    /// another one has, leaves nothing behind, and the others go on.
    fn write_each(
        &self,
        tx: &mut Self::Tx,
        bundles: &[Bundle<'_>],
    ) -> impl Future<Output = Result<Vec<bool>, Error>> + Send;

    /// Ends what a handler had its hands in: an error where it left the transaction broken or ended,
    /// since a commit of that would look like one.
    fn is_whole(&self, tx: &mut Self::Tx) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Which rows to lock and load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is a list of keys")]
pub struct Keys {
    pub endpoints: Vec<Id>,
    pub entities: Vec<Id>,
    pub receipts: Vec<Id>,
    pub events: Vec<Id>,
    pub deliveries: Vec<Id>,
}

/// The rows that were found, each kind in order of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is a list of rows")]
pub struct Rows {
    pub endpoints: Vec<Endpoint>,
    pub entities: Vec<Entity>,
    pub receipts: Vec<Receipt>,
    pub events: Vec<Event>,
    pub deliveries: Vec<Delivery>,
}

/// The writes of one plan, and what is stored beside a row that they insert.
#[derive(Clone, Copy, Debug)]
pub struct Bundle<'a> {
    /// The plan's writes.
    pub writes: &'a [Write],
    /// What no decision is made on.
    pub content: Content<'a>,
}

/// What a row keeps besides what is decided on, written with its insert and never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// The plan inserts no row that has any.
    None,
    /// Of an endpoint.
    Callback(&'a Callback),
    /// Of a receipt.
    Letter(&'a Letter),
}

/// Where an endpoint's deliveries go, and which it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// Whose events.
    pub account: String,
    /// Where to.
    pub url: String,
    /// Which types of events; [`EVERY_TYPE`] stands for all.
    pub event_types: Vec<String>,
}

/// An event as its publisher sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The key of its row: [`crate::ident::named`] of an idempotency key, or [`crate::ident::fresh`].
    pub id: Id,
    /// Whose it is: endpoints of this account get it.
    pub account: String,
    /// The kind of thing that it is about.
    pub aggregate_type: String,
    /// Which one.
    pub aggregate_id: String,
    /// What happened.
    pub event_type: String,
    /// The bytes to deliver.
    pub payload: Payload,
}

/// A received delivery as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The source that it came from.
    pub source: String,
    /// The account there; empty where the source has none.
    pub account: String,
    /// The delivery id.
    pub delivery: String,
    /// The type of the event, as the source calls it.
    pub event_type: String,
    /// What the event is about, as the source calls it.
    pub resource: String,
    /// The name of the secret that verified it; empty where nobody gave it one.
    pub verified_by: String,
    /// The bytes, as they were received.
    pub payload: Payload,
}

/// In [`Callback::event_types`]: whatever the type.
pub const EVERY_TYPE: &str = "*";
