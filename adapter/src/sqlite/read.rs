//! What SQLite loads: the transaction has the database's lock, so no statement needs one of its own.

use std::collections::BTreeSet;

use hookproof_core::{
    Id, Millis,
    endpoint::{Endpoint, Lane},
    model::Entity,
    outbox::Delivery,
};
use sqlx::{FromRow, SqliteConnection, sqlite::SqliteRow};

use super::load;
use crate::{
    clock::Clock,
    error::{Error, of_statement},
    ident::Key,
    rows::{DeliveryRow, EndpointRow, EntityRow, EventRow, ReceiptRow, all, instant, millis},
    store::{Keys, Rows},
};

const MAKE_ENTITY: &str =
    "INSERT INTO hookproof_entities (id) VALUES ($1) ON CONFLICT (id) DO NOTHING";
const ENTITY: &str = "SELECT e.id, e.rev, e.state, e.version, e.projected
     FROM hookproof_entities AS e WHERE e.id = $1";
const RECEIPT: &str = concat!("SELECT ", receipt!(), " FROM webhook_inbox AS r WHERE r.id = $1");
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
    let endpoints = by_key::<EndpointRow>(connection, load::ENDPOINT, &keys.endpoints).await?;
    for entity in &keys.entities {
        let made = sqlx::query(MAKE_ENTITY).bind(Key(*entity)).execute(&mut *connection).await;
        made.map_err(|error| of_statement("an entity in its initial state", &error))?;
    }
    let entities = by_key::<EntityRow>(connection, ENTITY, &keys.entities).await?;
    let receipts = by_key::<ReceiptRow>(connection, RECEIPT, &keys.receipts).await?;
    let events = by_key::<EventRow>(connection, load::EVENT, &keys.events).await?;
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
