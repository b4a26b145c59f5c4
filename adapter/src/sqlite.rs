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

    methods_in_common!();

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
