//! What PostgreSQL locks and loads.

use hookproof_core::{
    Id, Millis,
    endpoint::{Endpoint, Lane},
    model::Entity,
    outbox::Delivery,
};
use sqlx::{FromRow, PgConnection, postgres::PgRow};

use super::locking;
use crate::{
    clock::Clock,
    error::{Error, of_statement},
    ident::Key,
    rows::{DeliveryRow, EndpointRow, EntityRow, EventRow, ReceiptRow, all, instant, keys, millis},
    store::{Keys, Rows},
};

const ENDPOINTS: &str = concat!(
    "SELECT ",
    endpoint!(),
    " FROM hookproof_endpoints AS e WHERE e.id = ANY($1)
     ORDER BY e.id FOR NO KEY UPDATE"
);
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
