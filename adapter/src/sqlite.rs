//! SQLite: one writer, whose transactions begin as writers, so that nothing moves under a decision.
//!
//! A lock on a row is the lock on the database here. A handler that is open keeps receipts out, so
//! handlers must be short.

/// The database's clock, as its columns keep an instant.
macro_rules! clock {
    () => {
        "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"
    };
}

/// An endpoint's columns.
macro_rules! endpoint {
    () => {
        "e.id, e.rev, e.life, e.left_ms, e.next_ms"
    };
}

/// An event's columns: the payload comes along where there is no digest of it yet.
macro_rules! event {
    () => {
        "e.id, e.rev, e.digest,
         CASE WHEN e.digest IS NULL THEN e.payload END AS payload,
         CASE WHEN e.digest IS NULL THEN e.payload_bytes END AS payload_bytes,
         e.created_at AS created, e.wake,
         e.processed_at AS processed"
    };
}

/// A receipt's columns.
macro_rules! receipt {
    () => {
        "r.id, r.rev, r.digest, r.entity, r.event, r.occurrence, r.version, r.status, r.verdict,
         r.reason, r.wake, r.strikes, r.fence, r.applied, r.cap,
         r.received_at AS received"
    };
}

/// How a set write passes by what others hold.
macro_rules! skip_locked {
    () => {
        ""
    };
}

#[expect(clippy::duplicate_mod, reason = "one text, compiled for each database")]
#[path = "sql/load.rs"]
mod load;
mod open;
mod read;
#[expect(clippy::duplicate_mod, reason = "one text, compiled for each database")]
#[path = "sql/schema.rs"]
mod schema;
#[expect(clippy::duplicate_mod, reason = "one text, compiled for each database")]
#[path = "sql/sender.rs"]
mod sender;
#[expect(clippy::duplicate_mod, reason = "one text, compiled for each database")]
#[path = "sql/upkeep.rs"]
mod upkeep;
mod write;

use std::time::Duration;

use hookproof_core::{
    Id, Millis,
    endpoint::{Endpoint, Lane},
    inbox::Receipt,
    model::Operation,
    outbox::{Delivery, Event, Published},
};
use sqlx::{Sqlite, SqliteConnection, SqlitePool, Transaction};

use self::write::SqliteSession;
use crate::{
    batch,
    clock::Clock,
    error::{self, Error, ended_by_handler},
    outbox,
    store::{Bundle, Keys, Letter, Message, Rows, Store},
};

/// What the statements that both databases share are compiled for.
type Here = SqliteStore;
type Database = Sqlite;
type Connection = SqliteConnection;

/// A SQLite database in a file.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    pool: SqlitePool,
    clock: Clock,
}

impl Store for SqliteStore {
    type Tx = Transaction<'static, Sqlite>;

    /// An open handler keeps every receipt out.
    const HANDLER_LIMIT: Duration = Duration::from_secs(2);

    async fn begin(&self) -> Result<Self::Tx, Error> {
        let tx = self.pool.begin_with("BEGIN IMMEDIATE").await;
        tx.map_err(|error| error::of_statement("to begin a transaction", &error))
    }

    async fn commit(&self, tx: Self::Tx) -> Result<(), Error> {
        tx.commit().await.map_err(|error| error::of_commit(&error))
    }

    async fn rollback(&self, tx: Self::Tx) -> Result<(), Error> {
        tx.rollback().await.map_err(|error| error::of_statement("to roll back", &error))
    }

    async fn now(&self, tx: &mut Self::Tx) -> Result<Millis, Error> {
        read::now(tx, &self.clock).await
    }

    async fn load(&self, tx: &mut Self::Tx, keys: &Keys) -> Result<Rows, Error> {
        read::load(tx, keys).await
    }

    async fn endpoint(&self, tx: &mut Self::Tx, id: Id) -> Result<Option<Endpoint>, Error> {
        load::endpoint(tx, id).await
    }

    async fn lanes(
        &self,
        tx: &mut Self::Tx,
        after: Option<Id>,
        most: u16,
    ) -> Result<Vec<Lane>, Error> {
        read::lanes(tx, after, most, &self.clock).await
    }

    async fn due_deliveries(
        &self,
        tx: &mut Self::Tx,
        lanes: &[(Id, u16)],
        now: Millis,
    ) -> Result<Vec<Delivery>, Error> {
        read::due_deliveries(tx, lanes, now).await
    }

    async fn due_events(
        &self,
        tx: &mut Self::Tx,
        most: u16,
        now: Millis,
    ) -> Result<Vec<Event>, Error> {
        load::due_events(tx, most, now).await
    }

    async fn subscribers(&self, tx: &mut Self::Tx, event: Id) -> Result<Vec<Endpoint>, Error> {
        sender::subscribers(tx, event).await
    }

    async fn due_receipts(
        &self,
        tx: &mut Self::Tx,
        most: u16,
        now: Millis,
    ) -> Result<Vec<Receipt>, Error> {
        load::due_receipts(tx, most, now).await
    }

    async fn receipt_of(
        &self,
        tx: &mut Self::Tx,
        source: &str,
        account: &str,
        delivery: &str,
    ) -> Result<Option<Receipt>, Error> {
        load::receipt_of(tx, source, account, delivery).await
    }

    async fn letter(&self, tx: &mut Self::Tx, receipt: Id) -> Result<Option<Letter>, Error> {
        load::letter(tx, receipt).await
    }

    async fn is_booked(&self, tx: &mut Self::Tx, operation: Operation) -> Result<bool, Error> {
        load::is_booked(tx, operation).await
    }

    async fn publish(&self, tx: &mut Self::Tx, message: &Message) -> Result<Published, Error> {
        outbox::publish(&mut Outbox(tx, &self.clock), message).await
    }

    async fn write_each(
        &self,
        tx: &mut Self::Tx,
        bundles: &[Bundle<'_>],
    ) -> Result<Vec<bool>, Error> {
        batch::write_each(&mut SqliteSession { connection: tx, clock: &self.clock }, bundles).await
    }

    /// A handler that ran a `COMMIT` of its own leaves no transaction, and a savepoint would begin one:
    /// only a nested `BEGIN` tells. It is an error within a transaction, and harms none.
    async fn is_whole(&self, tx: &mut Self::Tx) -> Result<(), Error> {
        let nested = sqlx::query("BEGIN IMMEDIATE").execute(&mut **tx).await;
        match nested {
            Err(sqlx::Error::Database(error))
                if error.message().contains("within a transaction") =>
            {
                Ok(())
            }
            Err(error) => {
                Err(error::of_statement("a transaction that the handler left whole", &error))
            }
            Ok(_) => Err(ended_by_handler()),
        }
    }
}

/// The outbox of a connection that may be anybody's.
pub(crate) struct Outbox<'a>(pub(crate) &'a mut SqliteConnection, pub(crate) &'a Clock);
