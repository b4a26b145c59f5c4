//! What SQLite loads: the transaction has the database's lock, so no statement needs one of its own.

use std::collections::BTreeSet;

use hookproof_core::{
    Id, Millis,
    endpoint::{Endpoint, Lane},
    inbox::Receipt,
    model::{Entity, Operation},
    outbox::{Delivery, Event},
};
use sqlx::{FromRow, SqliteConnection, sqlite::SqliteRow};

use crate::{
    clock::Clock,
    error::{Error, of_statement},
    ident::Key,
    rows::{
        DeliveryRow, EndpointRow, EntityRow, EventRow, KeptReceipt, LetterRow, ReceiptRow, instant,
        millis,
    },
    store::{Keys, Letter, Rows},
};

macro_rules! endpoint {
    () => {
        "e.id, e.rev, e.life, e.left_ms, e.next_ms"
    };
}

macro_rules! event {
    () => {
        "e.id, e.rev, e.digest,
         CASE WHEN e.digest IS NULL THEN e.payload END AS payload,
         CASE WHEN e.digest IS NULL THEN e.payload_bytes END AS payload_bytes,
         e.created_at AS created, e.wake,
         e.processed_at AS processed"
    };
}

macro_rules! receipt {
    () => {
        "r.id, r.rev, r.digest, r.entity, r.event, r.occurrence, r.version, r.status, r.verdict,
         r.reason, r.wake, r.strikes, r.fence, r.applied, r.cap,
         r.received_at AS received"
    };
}

const ENDPOINT: &str =
    concat!("SELECT ", endpoint!(), " FROM hookproof_endpoints AS e WHERE e.id = $1");
const MAKE_ENTITY: &str =
    "INSERT INTO hookproof_entities (id) VALUES ($1) ON CONFLICT (id) DO NOTHING";
const ENTITY: &str = "SELECT e.id, e.rev, e.state, e.version, e.projected
     FROM hookproof_entities AS e WHERE e.id = $1";
const RECEIPT: &str = concat!("SELECT ", receipt!(), " FROM webhook_inbox AS r WHERE r.id = $1");
const EVENT: &str = concat!("SELECT ", event!(), " FROM outbox_events AS e WHERE e.id = $1");
const DELIVERY: &str = "SELECT d.* FROM hookproof_deliveries AS d WHERE d.id = $1";

const LANES: &str = concat!(
    "SELECT ",
    endpoint!(),
    " FROM hookproof_endpoints AS e
     WHERE ($1 IS NULL OR e.id > $1) AND EXISTS (
         SELECT 1 FROM hookproof_deliveries AS d WHERE d.endpoint = e.id AND d.wake <= $2
     ) ORDER BY e.id LIMIT $3"
);
const IN_FLIGHT: &str =
    "SELECT count(*) FROM hookproof_deliveries WHERE endpoint = $1 AND lease > $2";
const DUE_DELIVERIES: &str = "SELECT d.* FROM hookproof_deliveries AS d
     WHERE d.endpoint = $1 AND d.wake <= $2 ORDER BY d.wake LIMIT $3";
const DUE_EVENTS: &str = concat!(
    "SELECT ",
    event!(),
    " FROM outbox_events AS e WHERE e.wake <= $1
     ORDER BY e.wake LIMIT $2"
);
const DUE_RECEIPTS: &str = concat!(
    "SELECT ",
    receipt!(),
    " FROM webhook_inbox AS r WHERE r.wake <= $1
     ORDER BY r.wake LIMIT $2"
);
const RECEIPTS_AFTER: &str = concat!(
    "SELECT ",
    receipt!(),
    ", NOT r.payload_gone AS has_payload
     FROM webhook_inbox AS r WHERE r.id > $1 ORDER BY r.id LIMIT $2"
);
const RECEIPT_OF: &str = concat!(
    "SELECT ",
    receipt!(),
    " FROM webhook_inbox AS r
     WHERE r.partner_name = $1 AND r.account = $2 AND r.partner_event_id = $3"
);
const LETTER: &str =
    "SELECT partner_name, account, partner_event_id, event_type, resource, verified_by, payload,
         payload_bytes FROM webhook_inbox WHERE id = $1";
const IS_BOOKED: &str = "SELECT EXISTS (
         SELECT 1 FROM hookproof_operations
         WHERE entity = $1 AND transition = $2 AND occurrence = $3
     )";

pub(super) async fn now(connection: &mut SqliteConnection, clock: &Clock) -> Result<Millis, Error> {
    let now = sqlx::query_scalar(
        "SELECT coalesce($1, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))",
    )
    .bind(clock.override_ms())
    .fetch_one(connection)
    .await;
    now.map(millis).map_err(|error| of_statement("the database's clock", &error))
}

pub(super) async fn load(connection: &mut SqliteConnection, keys: &Keys) -> Result<Rows, Error> {
    let endpoints = by_key::<EndpointRow>(connection, ENDPOINT, &keys.endpoints).await?;
    for entity in &keys.entities {
        let made = sqlx::query(MAKE_ENTITY).bind(Key(*entity)).execute(&mut *connection).await;
        made.map_err(|error| of_statement("an entity in its initial state", &error))?;
    }
    let entities = by_key::<EntityRow>(connection, ENTITY, &keys.entities).await?;
    let receipts = by_key::<ReceiptRow>(connection, RECEIPT, &keys.receipts).await?;
    let events = by_key::<EventRow>(connection, EVENT, &keys.events).await?;
    let deliveries = by_key::<DeliveryRow>(connection, DELIVERY, &keys.deliveries).await?;
    Ok(Rows {
        endpoints: all(endpoints)?,
        entities: entities.into_iter().map(Entity::from).collect(),
        receipts: all(receipts)?,
        events: all(events)?,
        deliveries: all(deliveries)?,
    })
}

async fn by_key<R>(
    connection: &mut SqliteConnection,
    sql: &'static str,
    ids: &[Id],
) -> Result<Vec<R>, Error>
where
    R: for<'r> FromRow<'r, SqliteRow> + Send + Unpin,
{
    let ids: BTreeSet<Id> = ids.iter().copied().collect();
    let mut rows = Vec::with_capacity(ids.len());
    for id in ids {
        let row = sqlx::query_as(sql).bind(Key(id)).fetch_optional(&mut *connection).await;
        rows.extend(row.map_err(|error| of_statement("a row by its key", &error))?);
    }
    Ok(rows)
}

fn all<R, T: TryFrom<R, Error = Error>>(rows: Vec<R>) -> Result<Vec<T>, Error> {
    rows.into_iter().map(T::try_from).collect()
}

pub(super) async fn endpoint(
    connection: &mut SqliteConnection,
    id: Id,
) -> Result<Option<Endpoint>, Error> {
    let row: Result<Option<EndpointRow>, _> =
        sqlx::query_as(ENDPOINT).bind(Key(id)).fetch_optional(connection).await;
    row.map_err(|error| of_statement("an endpoint", &error))?.map(Endpoint::try_from).transpose()
}

pub(super) async fn lanes(
    connection: &mut SqliteConnection,
    after: Option<Id>,
    most: u16,
    clock: &Clock,
) -> Result<Vec<Lane>, Error> {
    let now = instant(now(connection, clock).await?);
    let rows: Vec<EndpointRow> = sqlx::query_as(LANES)
        .bind(after.map(Key))
        .bind(now)
        .bind(i64::from(most))
        .fetch_all(&mut *connection)
        .await
        .map_err(|error| of_statement("lanes", &error))?;
    let endpoints: Vec<Endpoint> = all(rows)?;
    let mut lanes = Vec::with_capacity(endpoints.len());
    for endpoint in endpoints {
        let flying: i64 = sqlx::query_scalar(IN_FLIGHT)
            .bind(Key(endpoint.id))
            .bind(now)
            .fetch_one(&mut *connection)
            .await
            .map_err(|error| of_statement("what is in flight", &error))?;
        lanes.push(Lane { endpoint, in_flight: u16::try_from(flying).unwrap_or(u16::MAX) });
    }
    Ok(lanes)
}

pub(super) async fn due_deliveries(
    connection: &mut SqliteConnection,
    lanes: &[(Id, u16)],
    now: Millis,
) -> Result<Vec<Delivery>, Error> {
    let mut due: Vec<DeliveryRow> = Vec::new();
    for (lane, most) in lanes {
        let rows: Vec<DeliveryRow> = sqlx::query_as(DUE_DELIVERIES)
            .bind(Key(*lane))
            .bind(instant(now))
            .bind(i64::from(*most))
            .fetch_all(&mut *connection)
            .await
            .map_err(|error| of_statement("due deliveries", &error))?;
        due.extend(rows);
    }
    all(due)
}

pub(super) async fn due_events(
    connection: &mut SqliteConnection,
    most: u16,
    now: Millis,
) -> Result<Vec<Event>, Error> {
    let rows: Vec<EventRow> = sqlx::query_as(DUE_EVENTS)
        .bind(instant(now))
        .bind(i64::from(most))
        .fetch_all(connection)
        .await
        .map_err(|error| of_statement("due events", &error))?;
    all(rows)
}

pub(super) async fn due_receipts(
    connection: &mut SqliteConnection,
    most: u16,
    now: Millis,
) -> Result<Vec<Receipt>, Error> {
    let rows: Vec<ReceiptRow> = sqlx::query_as(DUE_RECEIPTS)
        .bind(instant(now))
        .bind(i64::from(most))
        .fetch_all(connection)
        .await
        .map_err(|error| of_statement("due receipts", &error))?;
    all(rows)
}

pub(super) async fn receipts_after(
    connection: &mut SqliteConnection,
    after: Id,
    most: u16,
) -> Result<Vec<(Receipt, bool)>, Error> {
    let rows: Vec<KeptReceipt> = sqlx::query_as(RECEIPTS_AFTER)
        .bind(Key(after))
        .bind(i64::from(most))
        .fetch_all(connection)
        .await
        .map_err(|error| of_statement("receipts in order", &error))?;
    rows.into_iter().map(|row| Ok((Receipt::try_from(row.receipt)?, row.has_payload))).collect()
}

pub(super) async fn receipt_of(
    connection: &mut SqliteConnection,
    source: &str,
    account: &str,
    delivery: &str,
) -> Result<Option<Receipt>, Error> {
    let row: Result<Option<ReceiptRow>, _> = sqlx::query_as(RECEIPT_OF)
        .bind(source)
        .bind(account)
        .bind(delivery)
        .fetch_optional(connection)
        .await;
    row.map_err(|error| of_statement("a receipt", &error))?.map(Receipt::try_from).transpose()
}

pub(super) async fn letter(
    connection: &mut SqliteConnection,
    receipt: Id,
) -> Result<Option<Letter>, Error> {
    let row: Option<LetterRow> = sqlx::query_as(LETTER)
        .bind(Key(receipt))
        .fetch_optional(connection)
        .await
        .map_err(|error| of_statement("a receipt's letter", &error))?;
    Ok(row.map(Letter::from))
}

pub(super) async fn is_booked(
    connection: &mut SqliteConnection,
    operation: Operation,
) -> Result<bool, Error> {
    let booked = sqlx::query_scalar(IS_BOOKED)
        .bind(Key(operation.entity))
        .bind(i64::from(operation.transition.0))
        .bind(operation.occurrence as i64)
        .fetch_one(connection)
        .await;
    booked.map_err(|error| of_statement("whether an operation is booked", &error))
}

pub(super) async fn event(
    connection: &mut SqliteConnection,
    id: Id,
) -> Result<Option<Event>, Error> {
    let row: Result<Option<EventRow>, _> =
        sqlx::query_as(EVENT).bind(Key(id)).fetch_optional(connection).await;
    row.map_err(|error| of_statement("an event", &error))?.map(Event::try_from).transpose()
}
