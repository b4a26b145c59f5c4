//! PostgreSQL: what is committed is on its disk, and rows are locked until then.

/// The database's clock, as its columns keep an instant.
macro_rules! clock {
    () => {
        "clock_timestamp()"
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
         floor(extract(epoch FROM e.created_at) * 1000)::bigint AS created, e.wake,
         floor(extract(epoch FROM e.processed_at) * 1000)::bigint AS processed"
    };
}

/// A receipt's columns.
macro_rules! receipt {
    () => {
        "r.id, r.rev, r.digest, r.entity, r.event, r.occurrence, r.version, r.status, r.verdict,
         r.reason, r.wake, r.strikes, r.fence, r.applied, r.cap,
         floor(extract(epoch FROM r.received_at) * 1000)::bigint AS received"
    };
}

/// How a set write passes by what others hold.
macro_rules! skip_locked {
    () => {
        " FOR NO KEY UPDATE SKIP LOCKED"
    };
}

mod hints;
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
mod sql;
#[expect(clippy::duplicate_mod, reason = "one text, compiled for each database")]
#[path = "sql/upkeep.rs"]
mod upkeep;
mod write;

use hookproof_core::{
    Id, Millis,
    endpoint::{Endpoint, Lane},
    inbox::Receipt,
    model::Operation,
    outbox::{Delivery, Event, Published},
};
use sqlx::{PgConnection, PgPool, Postgres, Transaction};

use self::write::PgSession;
use crate::{
    batch,
    clock::Clock,
    error::{self, Error, ended_by_handler},
    outbox,
    rogue::{self, Rogue},
    store::{Bundle, Keys, Letter, Message, Rows, Store},
};

/// What the statements that both databases share are compiled for.
type Here = PgStore;
type Database = Postgres;
type Connection = PgConnection;

/// A PostgreSQL database, version 15 or later.
#[derive(Clone, Debug)]
pub struct PgStore {
    pool: PgPool,
    clock: Clock,
}

impl Store for PgStore {
    type Tx = Transaction<'static, Postgres>;

    async fn begin(&self) -> Result<Self::Tx, Error> {
        // The guards are locks: at READ COMMITTED a lock that was waited for shows what was committed.
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
        let tx = self.pool.begin_with(begin).await;
        tx.map_err(|error| error::of_statement("to begin a transaction", &error))
    }

    methods_in_common!();

    async fn write_each(
        &self,
        tx: &mut Self::Tx,
        bundles: &[Bundle<'_>],
    ) -> Result<Vec<bool>, Error> {
        batch::write_each(&mut PgSession { connection: tx, clock: &self.clock }, bundles).await
    }

    /// A handler that ran into an error leaves a transaction that PostgreSQL answers with a rollback when
    /// it is told to commit, and says so in a tag that nobody reads. One that ran a `COMMIT` of its own
    /// leaves none. Every work has written, so it has a number.
    async fn is_whole(&self, tx: &mut Self::Tx) -> Result<(), Error> {
        let number: Result<Option<String>, _> =
            sqlx::query_scalar("SELECT pg_current_xact_id_if_assigned()::text")
                .fetch_one(&mut **tx)
                .await;
        match number {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(ended_by_handler()),
            Err(error) => Err(error::of_handled(&error)),
        }
    }
}

/// A statement as it is, which locks; the rogue's only reads.
fn locking(sql: &'static str) -> &'static str {
    match sql.split_once("FOR NO KEY UPDATE") {
        Some((reads, _)) if rogue::is(Rogue::GuardsWithoutLock) => reads,
        Some(_) | None => sql,
    }
}

/// The outbox of a connection that may be anybody's.
pub(crate) struct Outbox<'a>(pub(crate) &'a mut PgConnection, pub(crate) &'a Clock);
