//! What PostgreSQL locks and loads.

use hookproof_core::{
    Id, Millis,
    endpoint::{Endpoint, Lane},
    inbox::Receipt,
    model::{Entity, Operation},
    outbox::{Delivery, Event},
};
use sqlx::{FromRow, PgConnection, postgres::PgRow};

use super::locking;
use crate::{
    clock::Clock,
    error::{Error, of_statement},
    ident::Key,
    rows::{
        DeliveryRow, EndpointRow, EntityRow, EventRow, KeptReceipt, LetterRow, ReceiptRow, instant,
        keys, millis,
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
         floor(extract(epoch FROM e.created_at) * 1000)::bigint AS created, e.wake,
         floor(extract(epoch FROM e.processed_at) * 1000)::bigint AS processed"
    };
}

macro_rules! receipt {
    () => {
        "r.id, r.rev, r.digest, r.entity, r.event, r.occurrence, r.version, r.status, r.verdict,
         r.reason, r.wake, r.strikes, r.fence, r.applied, r.cap,
         floor(extract(epoch FROM r.received_at) * 1000)::bigint AS received"
    };
}

const ENDPOINTS: &str = concat!(
    "SELECT ",
    endpoint!(),
    " FROM hookproof_endpoints AS e WHERE e.id = ANY($1)
     ORDER BY e.id FOR NO KEY UPDATE"
);
const ENDPOINT: &str =
    concat!("SELECT ", endpoint!(), " FROM hookproof_endpoints AS e WHERE e.id = $1");
const MAKE_ENTITIES: &str = "INSERT INTO hookproof_entities (id)
     SELECT id FROM unnest($1::uuid[]) AS id ORDER BY id ON CONFLICT (id) DO NOTHING";
const ENTITIES: &str = "SELECT e.id, e.rev, e.state, e.version, e.projected
     FROM hookproof_entities AS e WHERE e.id = ANY($1) ORDER BY e.id FOR NO KEY UPDATE";
const RECEIPTS: &str = concat!(
    "SELECT ",
    receipt!(),
    " FROM webhook_inbox AS r WHERE r.id = ANY($1)
     ORDER BY r.id FOR NO KEY UPDATE"
);
const EVENTS: &str = concat!(
    "SELECT ",
    event!(),
    " FROM outbox_events AS e WHERE e.id = ANY($1)
     ORDER BY e.id FOR NO KEY UPDATE"
);
const EVENT: &str = concat!("SELECT ", event!(), " FROM outbox_events AS e WHERE e.id = $1");
const DELIVERIES: &str = "SELECT d.* FROM hookproof_deliveries AS d WHERE d.id = ANY($1)
     ORDER BY d.id FOR NO KEY UPDATE";

/// The lanes are locked first and counted next: a count in the locking statement would be as old as its
/// snapshot, and another relay may have claimed since.
const LANES: &str = concat!(
    "SELECT ",
    endpoint!(),
    " FROM hookproof_endpoints AS e
     WHERE ($1::uuid IS NULL OR e.id > $1) AND EXISTS (
         SELECT FROM hookproof_deliveries AS d WHERE d.endpoint = e.id AND d.wake <= $2
     ) ORDER BY e.id LIMIT $3 FOR NO KEY UPDATE OF e SKIP LOCKED"
);
const IN_FLIGHT: &str = "SELECT lane.id, (
         SELECT count(*) FROM hookproof_deliveries AS d
         WHERE d.endpoint = lane.id AND d.lease > $2
     ) FROM unnest($1::uuid[]) AS lane (id)";
const DUE_DELIVERIES: &str = "SELECT d.*
     FROM unnest($1::uuid[], $2::bigint[]) AS lane (endpoint, most)
     CROSS JOIN LATERAL (
         SELECT * FROM hookproof_deliveries AS of_lane
         WHERE of_lane.endpoint = lane.endpoint AND of_lane.wake <= $3
         ORDER BY of_lane.wake LIMIT lane.most FOR NO KEY UPDATE SKIP LOCKED
     ) AS d";
const DUE_EVENTS: &str = concat!(
    "SELECT ",
    event!(),
    " FROM outbox_events AS e WHERE e.wake <= $1
     ORDER BY e.wake LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED"
);
const DUE_RECEIPTS: &str = concat!(
    "SELECT ",
    receipt!(),
    " FROM webhook_inbox AS r WHERE r.wake <= $1
     ORDER BY r.wake LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED"
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
         SELECT FROM hookproof_operations
         WHERE entity = $1 AND transition = $2 AND occurrence = $3
     )";

pub(super) async fn now(connection: &mut PgConnection, clock: &Clock) -> Result<Millis, Error> {
    let now = sqlx::query_scalar("SELECT coalesce($1, hookproof_now())")
        .bind(clock.override_ms())
        .fetch_one(connection)
        .await;
    now.map(millis).map_err(|error| of_statement("the database's clock", &error))
}

pub(super) async fn load(connection: &mut PgConnection, keys: &Keys) -> Result<Rows, Error> {
    let endpoints = locked::<EndpointRow>(connection, ENDPOINTS, &keys.endpoints).await?;
    if !keys.entities.is_empty() {
        let make = sqlx::query(MAKE_ENTITIES).bind(self::keys(&keys.entities));
        let made = make.execute(&mut *connection).await;
        made.map_err(|error| of_statement("entities in their initial state", &error))?;
    }
    let entities = locked::<EntityRow>(connection, ENTITIES, &keys.entities).await?;
    let receipts = locked::<ReceiptRow>(connection, RECEIPTS, &keys.receipts).await?;
    let events = locked::<EventRow>(connection, EVENTS, &keys.events).await?;
    let deliveries = locked::<DeliveryRow>(connection, DELIVERIES, &keys.deliveries).await?;
    Ok(Rows {
        endpoints: all(endpoints)?,
        entities: entities.into_iter().map(Entity::from).collect(),
        receipts: all(receipts)?,
        events: all(events)?,
        deliveries: all(deliveries)?,
    })
}

async fn locked<R>(
    connection: &mut PgConnection,
    sql: &'static str,
    ids: &[Id],
) -> Result<Vec<R>, Error>
where
    R: for<'r> FromRow<'r, PgRow> + Send + Unpin,
{
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query_as(locking(sql)).bind(keys(ids)).fetch_all(connection).await;
    rows.map_err(|error| of_statement("rows under lock", &error))
}

fn all<R, T: TryFrom<R, Error = Error>>(rows: Vec<R>) -> Result<Vec<T>, Error> {
    rows.into_iter().map(T::try_from).collect()
}

pub(super) async fn endpoint(
    connection: &mut PgConnection,
    id: Id,
) -> Result<Option<Endpoint>, Error> {
    let row: Result<Option<EndpointRow>, _> =
        sqlx::query_as(ENDPOINT).bind(Key(id)).fetch_optional(connection).await;
    row.map_err(|error| of_statement("an endpoint", &error))?.map(Endpoint::try_from).transpose()
}

pub(super) async fn lanes(
    connection: &mut PgConnection,
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
        .map_err(|error| of_statement("lanes under lock", &error))?;
    let endpoints: Vec<Endpoint> = all(rows)?;
    let ids: Vec<Id> = endpoints.iter().map(|endpoint| endpoint.id).collect();
    let flying: Vec<(Key, i64)> = sqlx::query_as(IN_FLIGHT)
        .bind(keys(&ids))
        .bind(now)
        .fetch_all(connection)
        .await
        .map_err(|error| of_statement("what is in flight", &error))?;
    let in_flight = |id: Id| {
        let found = flying.iter().find(|(key, _)| key.0 == id).map_or(0, |(_, count)| *count);
        u16::try_from(found).unwrap_or(u16::MAX)
    };
    Ok(endpoints
        .into_iter()
        .map(|endpoint| Lane { endpoint, in_flight: in_flight(endpoint.id) })
        .collect())
}

pub(super) async fn due_deliveries(
    connection: &mut PgConnection,
    lanes: &[(Id, u16)],
    now: Millis,
) -> Result<Vec<Delivery>, Error> {
    let (ids, most): (Vec<Id>, Vec<i64>) = lanes.iter().map(|(id, n)| (id, i64::from(*n))).unzip();
    let rows: Vec<DeliveryRow> = sqlx::query_as(DUE_DELIVERIES)
        .bind(keys(&ids))
        .bind(most)
        .bind(instant(now))
        .fetch_all(connection)
        .await
        .map_err(|error| of_statement("due deliveries under lock", &error))?;
    all(rows)
}

pub(super) async fn due_events(
    connection: &mut PgConnection,
    most: u16,
    now: Millis,
) -> Result<Vec<Event>, Error> {
    let rows: Vec<EventRow> = sqlx::query_as(DUE_EVENTS)
        .bind(instant(now))
        .bind(i64::from(most))
        .fetch_all(connection)
        .await
        .map_err(|error| of_statement("due events under lock", &error))?;
    all(rows)
}

pub(super) async fn due_receipts(
    connection: &mut PgConnection,
    most: u16,
    now: Millis,
) -> Result<Vec<Receipt>, Error> {
    let rows: Vec<ReceiptRow> = sqlx::query_as(DUE_RECEIPTS)
        .bind(instant(now))
        .bind(i64::from(most))
        .fetch_all(connection)
        .await
        .map_err(|error| of_statement("due receipts under lock", &error))?;
    all(rows)
}

pub(super) async fn receipts_after(
    connection: &mut PgConnection,
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
    connection: &mut PgConnection,
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
    connection: &mut PgConnection,
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
    connection: &mut PgConnection,
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

pub(super) async fn event(connection: &mut PgConnection, id: Id) -> Result<Option<Event>, Error> {
    let row: Result<Option<EventRow>, _> =
        sqlx::query_as(EVENT).bind(Key(id)).fetch_optional(connection).await;
    row.map_err(|error| of_statement("an event", &error))?.map(Event::try_from).transpose()
}
