//! Opening: the journal, its durability, the schema.

use std::{path::Path, time::Duration};

use sqlx::{
    Connection as _, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{SqliteStore, schema};
use crate::{
    Durability,
    clock::Clock,
    error::{Error, of_commit, of_statement},
    migrate::{self, Step},
};

/// How long a transaction waits for another process's.
const BUSY: Duration = Duration::from_secs(5);

/// Whether there is a schema.
pub(super) const IS_THERE: &str =
    "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'hookproof_schema')";

const STEPS: &[Step] =
    &[Step { version: 1, sql: include_str!("../../migrations/sqlite/0001_tables.sql") }];

impl SqliteStore {
    /// Opens a database that [`SqliteStore::migrate`] has prepared.
    pub async fn open(
        path: impl AsRef<Path>,
        durability: Durability,
        clock: Clock,
    ) -> Result<Self, Error> {
        let synchronous = match durability {
            Durability::Required => SqliteSynchronous::Full,
            Durability::Waived => SqliteSynchronous::Off,
        };
        let pool = connect(options(path).synchronous(synchronous)).await?;
        let mut connection =
            pool.acquire().await.map_err(|error| of_statement("a connection", &error))?;
        match durability {
            Durability::Required => check_durability(&mut connection).await?,
            Durability::Waived => {}
        }
        migrate::check(schema::version(&mut connection).await?)?;
        drop(connection);
        Ok(Self { pool, clock })
    }

    /// Makes the file where it is missing and brings the schema to this version, under the database's
    /// lock: of many that do so at once, one does. Gives the version that it was.
    pub async fn migrate(path: impl AsRef<Path>) -> Result<i64, Error> {
        let pool = connect(options(path).create_if_missing(true)).await?;
        let begin = pool.begin_with("BEGIN IMMEDIATE").await;
        let mut tx = begin.map_err(|error| of_statement("the migration lock", &error))?;
        let found = schema::catch_up(&mut tx, STEPS).await?;
        tx.commit().await.map_err(|error| of_commit(&error))?;
        pool.close().await;
        Ok(found)
    }

    /// The one connection that writes, for what an application does besides.
    pub fn pool(&self) -> &SqlitePool {
        &self.pool
    }
}

fn options(path: impl AsRef<Path>) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY)
}

/// One connection, since SQLite has one writer: who waits for it waits in the pool, in turn. SQLite ends a
/// transaction by itself when the disk is full, and the driver goes on believing in it: such a connection
/// is replaced.
async fn connect(options: SqliteConnectOptions) -> Result<SqlitePool, Error> {
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .before_acquire(|connection, _| {
            let is_sound = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_sound) })
        })
        .connect_with(options)
        .await;
    pool.map_err(|error| {
        Error::unfit("a SQLite database", error, "is the path right, and may it be written?")
    })
}

/// A database in memory has no journal to keep, and some file systems refuse one.
async fn check_durability(connection: &mut SqliteConnection) -> Result<(), Error> {
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode")
        .fetch_one(&mut *connection)
        .await
        .map_err(|error| of_statement("the journal's mode", &error))?;
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous")
        .fetch_one(connection)
        .await
        .map_err(|error| of_statement("whether commits are synchronous", &error))?;
    if journal == "wal" && synchronous >= SYNCHRONOUS_FULL {
        return Ok(());
    }
    Err(Error::unfit(
        "journal_mode = wal with synchronous = FULL, so that what is acknowledged survives the machine",
        format!("{journal} with synchronous = {synchronous}"),
        "keep the database in a file, or open it with `Durability::Waived` for throw-away data",
    ))
}

/// What `PRAGMA synchronous` answers for FULL; EXTRA is above.
const SYNCHRONOUS_FULL: i64 = 2;
