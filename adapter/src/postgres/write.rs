//! What PostgreSQL writes: one statement a kind, however many rows.

use hookproof_core::{
    Id, Millis, Reason,
    endpoint::Endpoint,
    inbox::Receipt,
    model::{Operation, Transition},
    outbox::{Delivery, Event},
    plan::{About, Audit},
};
use sqlx::{
    PgConnection, Postgres,
    postgres::PgArguments,
    query::{Query, QueryAs},
};

use super::{Outbox, load, locking, read, sql};
use crate::{
    audit::{self, AuditRow},
    batch::{Changes, Kind, Session},
    clock::Clock,
    error::{Error, of_statement},
    ident::Key,
    outbox,
    rogue::{self, Rogue},
    rows::{
        DeliveryRow, EndpointRow, EntityRow, EventRow, ReceiptRow, columns, digest_bytes, instant,
        keys,
    },
    store::{Callback, Letter, Message},
    words::{self, REASONS},
};

/// A batch's statements.
pub(super) struct PgSession<'a> {
    pub(super) connection: &'a mut PgConnection,
    pub(super) clock: &'a Clock,
}

/// One column of many rows.
fn column<R, T>(rows: &[R], of: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

impl PgSession<'_> {
    async fn run(
        &mut self,
        expected: &str,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<u64, Error> {
        let done = query.execute(&mut *self.connection).await;
        Ok(done.map_err(|error| of_statement(expected, &error))?.rows_affected())
    }

    async fn ids(
        &mut self,
        expected: &str,
        query: QueryAs<'_, Postgres, (Key,), PgArguments>,
    ) -> Result<Vec<Id>, Error> {
        let rows = query.fetch_all(&mut *self.connection).await;
        let rows = rows.map_err(|error| of_statement(expected, &error))?;
        Ok(rows.into_iter().map(|(key,)| key.0).collect())
    }

    async fn update_endpoints(&mut self, rows: &[EndpointRow]) -> Result<u64, Error> {
        let query = sqlx::query(sql::UPDATE_ENDPOINTS)
            .bind(column(rows, |row| row.id))
            .bind(column(rows, |row| row.rev))
            .bind(column(rows, |row| row.life.clone()))
            .bind(column(rows, |row| row.left_ms))
            .bind(column(rows, |row| row.next_ms));
        self.run("endpoints to change", query).await
    }

    async fn update_entities(&mut self, rows: &[EntityRow]) -> Result<u64, Error> {
        let query = sqlx::query(sql::UPDATE_ENTITIES)
            .bind(column(rows, |row| row.id))
            .bind(column(rows, |row| row.rev))
            .bind(column(rows, |row| row.state))
            .bind(column(rows, |row| row.version))
            .bind(column(rows, |row| row.projected));
        self.run("entities to change", query).await
    }

    async fn update_receipts(&mut self, rows: &[ReceiptRow], now: Millis) -> Result<u64, Error> {
        let processed = |row: &ReceiptRow| row.is_processed().then_some(instant(now));
        let query = sqlx::query(sql::UPDATE_RECEIPTS)
            .bind(column(rows, |row| row.id))
            .bind(column(rows, |row| row.rev))
            .bind(column(rows, |row| row.status.clone()))
            .bind(column(rows, |row| row.verdict.clone()))
            .bind(column(rows, |row| row.reason.clone()))
            .bind(column(rows, |row| row.wake))
            .bind(column(rows, |row| row.strikes))
            .bind(column(rows, |row| row.fence))
            .bind(column(rows, |row| row.applied))
            .bind(column(rows, |row| row.cap))
            .bind(column(rows, processed));
        self.run("receipts to change", query).await
    }

    async fn update_events(&mut self, rows: &[EventRow]) -> Result<u64, Error> {
        let query = sqlx::query(sql::UPDATE_EVENTS)
            .bind(column(rows, |row| row.id))
            .bind(column(rows, |row| row.rev))
            .bind(column(rows, |row| row.wake))
            .bind(column(rows, |row| row.processed))
            .bind(column(rows, |row| row.digest.clone()));
        self.run("events to change", query).await
    }

    async fn update_deliveries(&mut self, rows: &[DeliveryRow]) -> Result<u64, Error> {
        let query = sqlx::query(sql::UPDATE_DELIVERIES)
            .bind(column(rows, |row| row.id))
            .bind(column(rows, |row| row.rev))
            .bind(column(rows, |row| row.stand.clone()))
            .bind(column(rows, |row| row.reason.clone()))
            .bind(column(rows, |row| row.wake))
            .bind(column(rows, |row| row.lease))
            .bind(column(rows, |row| row.hurried))
            .bind(column(rows, |row| row.attempt))
            .bind(column(rows, |row| row.rung))
            .bind(column(rows, |row| row.cycle))
            .bind(column(rows, |row| row.fence));
        self.run("deliveries to change", query).await
    }

    async fn insert_subscriptions(&mut self, rows: &[(Endpoint, &Callback)]) -> Result<(), Error> {
        let each = rows.iter().flat_map(|(endpoint, callback)| {
            callback.event_types.iter().map(|event_type| (Key(endpoint.id), event_type.as_str()))
        });
        let (endpoints, types): (Vec<Key>, Vec<&str>) = each.unzip();
        let query = sqlx::query(sql::INSERT_SUBSCRIPTIONS).bind(endpoints).bind(types);
        self.run("subscriptions", query).await.map(drop)
    }

    async fn insert_receipts_by(
        &mut self,
        sql: &'static str,
        rows: &[(Receipt, &Letter)],
    ) -> Result<Vec<Id>, Error> {
        let flat = column(rows, |(receipt, _)| ReceiptRow::from(receipt));
        let query = sqlx::query_as(sql)
            .bind(column(&flat, |row| row.id))
            .bind(column(rows, |(_, letter)| letter.source.as_str()))
            .bind(column(rows, |(_, letter)| letter.account.as_str()))
            .bind(column(rows, |(_, letter)| letter.delivery.as_str()))
            .bind(column(rows, |(_, letter)| columns(&letter.payload).0))
            .bind(column(rows, |(_, letter)| columns(&letter.payload).1))
            .bind(column(rows, |(_, letter)| letter.event_type.as_str()))
            .bind(column(rows, |(_, letter)| letter.resource.as_str()))
            .bind(column(&flat, |row| row.digest.clone()))
            .bind(column(&flat, |row| row.rev))
            .bind(column(&flat, |row| row.entity))
            .bind(column(&flat, |row| row.event))
            .bind(column(&flat, |row| row.occurrence))
            .bind(column(&flat, |row| row.version))
            .bind(column(&flat, |row| row.status.clone()))
            .bind(column(&flat, |row| row.reason.clone()))
            .bind(column(&flat, |row| row.wake))
            .bind(column(&flat, |row| row.strikes))
            .bind(column(&flat, |row| row.fence))
            .bind(column(&flat, |row| row.applied))
            .bind(column(&flat, |row| row.cap))
            .bind(column(&flat, |row| row.received))
            .bind(column(rows, |(_, letter)| letter.verified_by.as_str()));
        self.ids("new receipts", query).await
    }

    /// The rogue's way.
    async fn check_then_insert_receipts(
        &mut self,
        rows: &[(Receipt, &Letter)],
    ) -> Result<Vec<Id>, Error> {
        let mut free = Vec::new();
        for (receipt, letter) in rows {
            let key = (&letter.source, &letter.account, &letter.delivery);
            let found = load::receipt_of(self.connection, key.0, key.1, key.2).await?;
            free.extend(found.is_none().then_some((*receipt, *letter)));
        }
        let (sql, _) = sql::INSERT_RECEIPTS.split_once("ON CONFLICT").unwrap_or_default();
        self.insert_receipts_by(sql, &free).await?;
        Ok(column(&free, |(receipt, _)| receipt.id))
    }
}

impl Session for PgSession<'_> {
    async fn savepoint(&mut self) -> Result<(), Error> {
        self.run("a savepoint", sqlx::query("SAVEPOINT hookproof_batch")).await.map(drop)
    }

    async fn back_to_savepoint(&mut self) -> Result<(), Error> {
        let back = sqlx::query("ROLLBACK TO SAVEPOINT hookproof_batch");
        self.run("to go back to a savepoint", back).await.map(drop)
    }

    async fn now(&mut self) -> Result<Millis, Error> {
        read::now(self.connection, self.clock).await
    }

    async fn lock(&mut self, kind: Kind, ids: &[Id]) -> Result<Vec<(Id, u32)>, Error> {
        let sql = match kind {
            Kind::Endpoint => sql::LOCK_ENDPOINTS,
            Kind::Entity => sql::LOCK_ENTITIES,
            Kind::Operation => unreachable!("an operation is inserted, never changed"),
            Kind::Receipt => sql::LOCK_RECEIPTS,
            Kind::Event => sql::LOCK_EVENTS,
            Kind::Delivery => sql::LOCK_DELIVERIES,
        };
        let rows: Result<Vec<(Key, i64)>, _> =
            sqlx::query_as(locking(sql)).bind(keys(ids)).fetch_all(&mut *self.connection).await;
        let rows = rows.map_err(|error| of_statement("guarded rows under lock", &error))?;
        Ok(rows.into_iter().map(|(key, rev)| (key.0, rev as u32)).collect())
    }

    async fn insert_endpoints(&mut self, rows: &[(Endpoint, &Callback)]) -> Result<Vec<Id>, Error> {
        let flat = column(rows, |(endpoint, _)| EndpointRow::from(endpoint));
        let query = sqlx::query_as(sql::INSERT_ENDPOINTS)
            .bind(column(&flat, |row| row.id))
            .bind(column(&flat, |row| row.rev))
            .bind(column(rows, |(_, callback)| callback.account.as_str()))
            .bind(column(rows, |(_, callback)| callback.url.as_str()))
            .bind(column(&flat, |row| row.life.clone()))
            .bind(column(&flat, |row| row.left_ms))
            .bind(column(&flat, |row| row.next_ms));
        let free = self.ids("new endpoints", query).await?;
        let new: Vec<_> =
            rows.iter().filter(|(endpoint, _)| free.contains(&endpoint.id)).copied().collect();
        self.insert_subscriptions(&new).await?;
        Ok(free)
    }

    async fn insert_operations(&mut self, rows: &[Operation]) -> Result<Vec<Operation>, Error> {
        let free: Vec<(Key, i64, i64)> = sqlx::query_as(sql::INSERT_OPERATIONS)
            .bind(column(rows, |row| Key(row.entity)))
            .bind(column(rows, |row| i64::from(row.transition.0)))
            .bind(column(rows, |row| row.occurrence as i64))
            .fetch_all(&mut *self.connection)
            .await
            .map_err(|error| of_statement("new operations", &error))?;
        Ok(free
            .into_iter()
            .map(|(entity, transition, occurrence)| Operation {
                entity: entity.0,
                transition: Transition(transition as u16),
                occurrence: occurrence as u64,
            })
            .collect())
    }

    async fn insert_receipts(&mut self, rows: &[(Receipt, &Letter)]) -> Result<Vec<Id>, Error> {
        if rogue::is(Rogue::CheckThenInsert) {
            return self.check_then_insert_receipts(rows).await;
        }
        self.insert_receipts_by(sql::INSERT_RECEIPTS, rows).await
    }

    async fn insert_deliveries(&mut self, rows: &[Delivery]) -> Result<Vec<Id>, Error> {
        let rows: Vec<_> = rows.iter().map(DeliveryRow::from).collect();
        let query = sqlx::query_as(sql::INSERT_DELIVERIES)
            .bind(column(&rows, |row| row.id))
            .bind(column(&rows, |row| row.rev))
            .bind(column(&rows, |row| row.subject_kind.clone()))
            .bind(column(&rows, |row| row.subject))
            .bind(column(&rows, |row| row.transition))
            .bind(column(&rows, |row| row.occurrence))
            .bind(column(&rows, |row| row.endpoint))
            .bind(column(&rows, |row| row.stand.clone()))
            .bind(column(&rows, |row| row.wake))
            .bind(column(&rows, |row| row.attempt))
            .bind(column(&rows, |row| row.rung))
            .bind(column(&rows, |row| row.cycle))
            .bind(column(&rows, |row| row.fence))
            .bind(column(&rows, |row| row.created));
        self.ids("new deliveries", query).await
    }

    async fn update(&mut self, changes: &Changes, now: Millis) -> Result<(), Error> {
        let endpoints: Vec<_> = changes.endpoints.values().map(EndpointRow::from).collect();
        let entities: Vec<_> = changes.entities.values().map(EntityRow::from).collect();
        let receipts: Vec<_> = changes.receipts.values().map(ReceiptRow::from).collect();
        let events: Vec<_> = changes.events.values().map(EventRow::from).collect();
        let deliveries: Vec<_> = changes.deliveries.values().map(DeliveryRow::from).collect();
        let mut done = 0;
        if !endpoints.is_empty() {
            done += self.update_endpoints(&endpoints).await?;
        }
        if !entities.is_empty() {
            done += self.update_entities(&entities).await?;
        }
        if !receipts.is_empty() {
            done += self.update_receipts(&receipts, now).await?;
        }
        if !changes.purged.is_empty() {
            let purged: Vec<Key> = changes.purged.iter().copied().map(Key).collect();
            done += self.run("receipts to purge", sqlx::query(sql::PURGE).bind(purged)).await?;
        }
        if !events.is_empty() {
            done += self.update_events(&events).await?;
        }
        if !deliveries.is_empty() {
            done += self.update_deliveries(&deliveries).await?;
        }
        changes.account_for(done)
    }

    async fn alert(&mut self, alerts: &[(About, Reason)], now: Millis) -> Result<(), Error> {
        if alerts.is_empty() {
            return Ok(());
        }
        let query = sqlx::query(sql::INSERT_ALERTS)
            .bind(column(alerts, |(about, _)| audit::about(*about).0))
            .bind(column(alerts, |(about, _)| audit::about(*about).1))
            .bind(column(alerts, |(_, reason)| words::word(&REASONS, *reason)))
            .bind(instant(now));
        self.run("alerts", query).await.map(drop)
    }

    async fn audit(&mut self, audits: &[Audit], now: Millis) -> Result<(), Error> {
        if audits.is_empty() {
            return Ok(());
        }
        let rows: Vec<_> = audits.iter().map(AuditRow::from).collect();
        let query = sqlx::query(sql::INSERT_AUDIT)
            .bind(column(&rows, |row| row.what))
            .bind(column(&rows, |row| row.about))
            .bind(column(&rows, |row| row.by_whom))
            .bind(column(&rows, |row| row.transition))
            .bind(column(&rows, |row| row.occurrence))
            .bind(column(&rows, |row| row.digest.clone()))
            .bind(instant(now));
        self.run("lines for the archive", query).await.map(drop)
    }

    async fn wake(&mut self, entities: &[Id], now: Millis) -> Result<(), Error> {
        if entities.is_empty() {
            return Ok(());
        }
        let query = sqlx::query(sql::WAKE).bind(keys(entities)).bind(instant(now)).bind(WOKEN_MAX);
        self.run("sleepers to wake", query).await.map(drop)
    }
}

impl outbox::Table for Outbox<'_> {
    async fn now(&mut self) -> Result<Millis, Error> {
        read::now(self.0, self.1).await
    }

    async fn insert(&mut self, event: &Event, message: &Message) -> Result<bool, Error> {
        let (text, bytes) = columns(&message.payload);
        let query = sqlx::query(sql::INSERT_EVENT)
            .bind(Key(event.id))
            .bind(&message.account)
            .bind(&message.aggregate_type)
            .bind(&message.aggregate_id)
            .bind(&message.event_type)
            .bind(text)
            .bind(bytes)
            .bind(digest_bytes(event.digest))
            .bind(i64::from(event.rev))
            .bind(instant(event.created))
            .bind(event.wake.map(instant))
            .execute(&mut *self.0)
            .await;
        Ok(query.map_err(|error| of_statement("a new event", &error))?.rows_affected() == 1)
    }

    async fn find(&mut self, id: Id) -> Result<Option<Event>, Error> {
        load::event(self.0, id).await
    }
}

/// As many sleepers as one wake reaches, the oldest; those beyond have their timer.
const WOKEN_MAX: i64 = 10_000;
