//! What SQLite writes: one prepared statement a row, which costs no round trip here.

use std::collections::BTreeSet;

use hookproof_core::{
    Id, Millis, Reason,
    endpoint::Endpoint,
    inbox::Receipt,
    model::Operation,
    outbox::{Delivery, Event},
    plan::{About, Audit},
};
use sqlx::{Sqlite, SqliteConnection, query::Query, sqlite::SqliteArguments};

use super::{Outbox, load, read};
use crate::{
    audit::{self, AuditRow},
    batch::{Changes, Kind, Session},
    clock::Clock,
    error::{Error, of_statement},
    ident::Key,
    outbox,
    rows::{
        DeliveryRow, EndpointRow, EntityRow, EventRow, ReceiptRow, columns, digest_bytes, instant,
    },
    store::{Callback, Letter, Message},
    words::{self, REASONS},
};

/// A batch's statements.
pub(super) struct SqliteSession<'a> {
    pub(super) connection: &'a mut SqliteConnection,
    pub(super) clock: &'a Clock,
}

impl SqliteSession<'_> {
    async fn run(
        &mut self,
        expected: &str,
        query: Query<'_, Sqlite, SqliteArguments>,
    ) -> Result<u64, Error> {
        let done = query.execute(&mut *self.connection).await;
        Ok(done.map_err(|error| of_statement(expected, &error))?.rows_affected())
    }

    async fn update_receipt(&mut self, row: &ReceiptRow, now: Millis) -> Result<u64, Error> {
        let query = sqlx::query(UPDATE_RECEIPT)
            .bind(row.id)
            .bind(row.rev)
            .bind(&row.status)
            .bind(&row.verdict)
            .bind(&row.reason)
            .bind(row.wake)
            .bind(row.strikes)
            .bind(row.fence)
            .bind(row.applied)
            .bind(row.cap)
            .bind(row.is_processed().then_some(instant(now)));
        self.run("a receipt to change", query).await
    }

    async fn update_delivery(&mut self, row: &DeliveryRow) -> Result<u64, Error> {
        let query = sqlx::query(UPDATE_DELIVERY)
            .bind(row.id)
            .bind(row.rev)
            .bind(&row.stand)
            .bind(&row.reason)
            .bind(row.wake)
            .bind(row.lease)
            .bind(row.hurried)
            .bind(row.attempt)
            .bind(row.rung)
            .bind(row.cycle)
            .bind(row.fence);
        self.run("a delivery to change", query).await
    }

    async fn insert_receipt(&mut self, row: &ReceiptRow, letter: &Letter) -> Result<u64, Error> {
        let (text, bytes) = columns(&letter.payload);
        let query = sqlx::query(INSERT_RECEIPT)
            .bind(row.id)
            .bind(&letter.source)
            .bind(&letter.account)
            .bind(&letter.delivery)
            .bind(text)
            .bind(bytes)
            .bind(&letter.event_type)
            .bind(&letter.resource)
            .bind(&row.digest)
            .bind(row.rev)
            .bind(row.entity)
            .bind(row.event)
            .bind(row.occurrence)
            .bind(row.version)
            .bind(&row.status)
            .bind(&row.reason)
            .bind(row.wake)
            .bind(row.strikes)
            .bind(row.fence)
            .bind(row.applied)
            .bind(row.cap)
            .bind(row.received)
            .bind(&letter.verified_by);
        self.run("a new receipt", query).await
    }

    async fn insert_delivery(&mut self, row: &DeliveryRow) -> Result<u64, Error> {
        let query = sqlx::query(INSERT_DELIVERY)
            .bind(row.id)
            .bind(row.rev)
            .bind(&row.subject_kind)
            .bind(row.subject)
            .bind(row.transition)
            .bind(row.occurrence)
            .bind(row.endpoint)
            .bind(&row.stand)
            .bind(row.wake)
            .bind(row.attempt)
            .bind(row.rung)
            .bind(row.cycle)
            .bind(row.fence)
            .bind(row.created);
        self.run("a new delivery", query).await
    }
}

impl Session for SqliteSession<'_> {
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
            Kind::Endpoint => "SELECT rev FROM hookproof_endpoints WHERE id = $1",
            Kind::Entity => "SELECT rev FROM hookproof_entities WHERE id = $1",
            Kind::Operation => unreachable!("an operation is inserted, never changed"),
            Kind::Receipt => "SELECT rev FROM webhook_inbox WHERE id = $1",
            Kind::Event => "SELECT rev FROM outbox_events WHERE id = $1",
            Kind::Delivery => "SELECT rev FROM hookproof_deliveries WHERE id = $1",
        };
        let mut revs = Vec::with_capacity(ids.len());
        for id in ids {
            let rev: Result<Option<i64>, _> =
                sqlx::query_scalar(sql).bind(Key(*id)).fetch_optional(&mut *self.connection).await;
            let rev = rev.map_err(|error| of_statement("a guarded row", &error))?;
            revs.extend(rev.map(|rev| (*id, rev as u32)));
        }
        Ok(revs)
    }

    async fn insert_endpoints(&mut self, rows: &[(Endpoint, &Callback)]) -> Result<Vec<Id>, Error> {
        let mut free = Vec::new();
        for (endpoint, callback) in rows {
            let row = EndpointRow::from(endpoint);
            let query = sqlx::query(INSERT_ENDPOINT)
                .bind(row.id)
                .bind(row.rev)
                .bind(&callback.account)
                .bind(&callback.url)
                .bind(&row.life)
                .bind(row.left_ms)
                .bind(row.next_ms);
            if self.run("a new endpoint", query).await? == 0 {
                continue;
            }
            free.push(endpoint.id);
            let event_types: BTreeSet<&String> = callback.event_types.iter().collect();
            for event_type in event_types {
                let query = sqlx::query(INSERT_SUBSCRIPTION).bind(row.id).bind(event_type);
                self.run("a subscription", query).await?;
            }
        }
        Ok(free)
    }

    async fn insert_operations(&mut self, rows: &[Operation]) -> Result<Vec<Operation>, Error> {
        let mut free = Vec::new();
        for operation in rows {
            let query = sqlx::query(INSERT_OPERATION)
                .bind(Key(operation.entity))
                .bind(i64::from(operation.transition.0))
                .bind(operation.occurrence as i64);
            if self.run("a new operation", query).await? == 1 {
                free.push(*operation);
            }
        }
        Ok(free)
    }

    async fn insert_receipts(&mut self, rows: &[(Receipt, &Letter)]) -> Result<Vec<Id>, Error> {
        let mut free = Vec::new();
        for (receipt, letter) in rows {
            if self.insert_receipt(&receipt.into(), letter).await? == 1 {
                free.push(receipt.id);
            }
        }
        Ok(free)
    }

    async fn insert_deliveries(&mut self, rows: &[Delivery]) -> Result<Vec<Id>, Error> {
        let mut free = Vec::new();
        for delivery in rows {
            if self.insert_delivery(&delivery.into()).await? == 1 {
                free.push(delivery.id);
            }
        }
        Ok(free)
    }

    async fn update(&mut self, changes: &Changes, now: Millis) -> Result<(), Error> {
        let mut done = 0;
        for row in changes.endpoints.values().map(EndpointRow::from) {
            let query = sqlx::query(UPDATE_ENDPOINT)
                .bind(row.id)
                .bind(row.rev)
                .bind(&row.life)
                .bind(row.left_ms)
                .bind(row.next_ms);
            done += self.run("an endpoint to change", query).await?;
        }
        for row in changes.entities.values().map(EntityRow::from) {
            let query = sqlx::query(UPDATE_ENTITY)
                .bind(row.id)
                .bind(row.rev)
                .bind(row.state)
                .bind(row.version)
                .bind(row.projected);
            done += self.run("an entity to change", query).await?;
        }
        for row in changes.receipts.values().map(ReceiptRow::from) {
            done += self.update_receipt(&row, now).await?;
        }
        for id in &changes.purged {
            done += self.run("a receipt to purge", sqlx::query(PURGE).bind(Key(*id))).await?;
        }
        for row in changes.events.values().map(EventRow::from) {
            let query = sqlx::query(UPDATE_EVENT)
                .bind(row.id)
                .bind(row.rev)
                .bind(row.wake)
                .bind(row.processed)
                .bind(&row.digest);
            done += self.run("an event to change", query).await?;
        }
        for row in changes.deliveries.values().map(DeliveryRow::from) {
            done += self.update_delivery(&row).await?;
        }
        changes.account_for(done)
    }

    async fn alert(&mut self, alerts: &[(About, Reason)], now: Millis) -> Result<(), Error> {
        for (about, reason) in alerts {
            let (kind, id) = audit::about(*about);
            let query = sqlx::query(INSERT_ALERT)
                .bind(kind)
                .bind(id)
                .bind(words::word(&REASONS, *reason))
                .bind(instant(now));
            self.run("an alert", query).await?;
        }
        Ok(())
    }

    async fn audit(&mut self, audits: &[Audit], now: Millis) -> Result<(), Error> {
        for row in audits.iter().map(AuditRow::from) {
            let query = sqlx::query(INSERT_AUDIT)
                .bind(row.what)
                .bind(row.about)
                .bind(row.by_whom)
                .bind(row.transition)
                .bind(row.occurrence)
                .bind(&row.digest)
                .bind(instant(now));
            self.run("a line for the archive", query).await?;
        }
        Ok(())
    }

    async fn wake(&mut self, entities: &[Id], now: Millis) -> Result<(), Error> {
        for entity in entities {
            let query = sqlx::query(WAKE).bind(Key(*entity)).bind(instant(now)).bind(WOKEN_MAX);
            self.run("sleepers to wake", query).await?;
        }
        Ok(())
    }
}

impl outbox::Table for Outbox<'_> {
    async fn now(&mut self) -> Result<Millis, Error> {
        read::now(self.0, self.1).await
    }

    async fn insert(&mut self, event: &Event, message: &Message) -> Result<bool, Error> {
        let (text, bytes) = columns(&message.payload);
        let query = sqlx::query(INSERT_EVENT)
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

// Each names the one constraint whose violation means that the place is taken: any other is an error (R4).
const INSERT_ENDPOINT: &str = "INSERT INTO hookproof_endpoints
         (id, rev, account, url, life, left_ms, next_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING";
const INSERT_SUBSCRIPTION: &str = "INSERT INTO hookproof_subscriptions (endpoint, event_type)
     VALUES ($1, $2)";
const INSERT_OPERATION: &str = "INSERT INTO hookproof_operations (entity, transition, occurrence)
     VALUES ($1, $2, $3) ON CONFLICT (entity, transition, occurrence) DO NOTHING";
const INSERT_RECEIPT: &str = "INSERT INTO webhook_inbox
         (id, partner_name, account, partner_event_id, payload, payload_bytes, event_type, resource,
          digest, rev, entity, event, occurrence, version, status, reason, wake, strikes, fence,
          applied, cap, received_at, verified_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
         $21, $22, $23)
     ON CONFLICT (partner_name, account, partner_event_id) DO NOTHING";
const INSERT_DELIVERY: &str = "INSERT INTO hookproof_deliveries
         (id, rev, subject_kind, subject, transition, occurrence, endpoint, stand, wake, attempt, rung,
          cycle, fence, created, hurried)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0)
     ON CONFLICT (subject_kind, subject, transition, occurrence, endpoint) DO NOTHING";
const INSERT_EVENT: &str = "INSERT INTO outbox_events
         (id, account, aggregate_type, aggregate_id, event_type, payload, payload_bytes, digest, rev,
          created_at, wake)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO NOTHING";
const INSERT_ALERT: &str = "INSERT INTO hookproof_alerts (about_kind, about, reason, raised_at)
     VALUES ($1, $2, $3, $4)";
const INSERT_AUDIT: &str = "INSERT INTO hookproof_audit
         (what, about, by_whom, transition, occurrence, digest, at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)";

const UPDATE_ENDPOINT: &str = "UPDATE hookproof_endpoints
     SET rev = $2, life = $3, left_ms = $4, next_ms = $5 WHERE id = $1";
const UPDATE_ENTITY: &str = "UPDATE hookproof_entities
     SET rev = $2, state = $3, version = $4, projected = $5 WHERE id = $1";
const UPDATE_RECEIPT: &str = "UPDATE webhook_inbox
     SET rev = $2, status = $3, verdict = $4, reason = $5, wake = $6, strikes = $7, fence = $8,
         applied = $9, cap = $10, processed_at = $11 WHERE id = $1";
const UPDATE_EVENT: &str = "UPDATE outbox_events
     SET rev = $2, wake = $3, processed_at = $4, digest = $5 WHERE id = $1";
const UPDATE_DELIVERY: &str = "UPDATE hookproof_deliveries
     SET rev = $2, stand = $3, reason = $4, wake = $5, lease = $6, hurried = $7, attempt = $8,
         rung = $9, cycle = $10, fence = $11 WHERE id = $1";
const PURGE: &str = "DELETE FROM webhook_inbox WHERE id = $1";

/// It may only lower a wake.
const WAKE: &str = "UPDATE webhook_inbox SET wake = $2 WHERE id IN (
         SELECT id FROM webhook_inbox
         WHERE entity = $1 AND status = 'DEFERRED' AND wake > $2
         ORDER BY received_at LIMIT $3
     )";
