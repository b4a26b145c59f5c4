//! Opening: the server's version, its durability, the schema.

use std::{fmt, time::Duration};

use sqlx::{
    Connection as _, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use super::{PgStore, schema};
use crate::{
    Durability,
    clock::Clock,
    error::{Error, of_commit, of_statement},
    migrate::{self, Step},
};

/// How long a server may take to answer when it is opened.
const PATIENCE: Duration = Duration::from_secs(5);

/// The oldest server that this is tested with, as `server_version_num` writes it.
const SERVER_VERSION_MIN: i64 = 150_000;

/// The advisory lock that migrations are run under: a number of our own.
const MIGRATION_LOCK: i64 = 0x686f_6f6b_7072_6f66;

/// Whether there is a schema.
pub(super) const IS_THERE: &str = "SELECT to_regclass('hookproof_schema') IS NOT NULL";

const STEPS: &[Step] =
    &[Step { version: 1, sql: include_str!("../../migrations/postgres/0001_tables.sql") }];

impl PgStore {
    /// Opens a database that [`PgStore::migrate`] has prepared, with at most this many connections.
    pub async fn open(
        options: PgConnectOptions,
        connections: u32,
        durability: Durability,
        clock: Clock,
    ) -> Result<Self, Error> {
        let pool = connect(options, connections).await?;
        let mut connection = acquire(&pool).await?;
        match durability {
            Durability::Required => check_durability(&mut connection).await?,
            Durability::Waived => {}
        }
        migrate::check(schema::version(&mut connection).await?)?;
        drop(connection);
        Ok(Self { pool, clock })
    }

    /// Brings the schema to this version, under a lock: of many that do so at once, one does. Gives the
    /// version that it was.
    pub async fn migrate(options: PgConnectOptions) -> Result<i64, Error> {
        let pool = connect(options, 1).await?;
        let mut tx = pool.begin().await.map_err(|error| failed("a transaction", &error))?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(MIGRATION_LOCK)
            .execute(&mut *tx)
            .await
            .map_err(|error| failed("the migration lock", &error))?;
        let found = schema::catch_up(&mut tx, STEPS).await?;
        tx.commit().await.map_err(|error| of_commit(&error))?;
        Ok(found)
    }

    /// The connections, for what an application does besides.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }
}

/// The first connection is made without the pool, which would try again until it can only say that it was
/// too long.
async fn connect(options: PgConnectOptions, connections: u32) -> Result<PgPool, Error> {
    let missing = |found: &dyn fmt::Display| {
        Error::unfit("a PostgreSQL server", found, "is it running, and are address and user right?")
    };
    let first = tokio::time::timeout(PATIENCE, PgConnection::connect_with(&options)).await;
    let mut first = first
        .map_err(|_| missing(&format_args!("no answer within {} seconds", PATIENCE.as_secs())))?
        .map_err(|error| missing(&error))?;
    let version: String = sqlx::query_scalar("SHOW server_version_num")
        .fetch_one(&mut first)
        .await
        .map_err(|error| failed("the server's version", &error))?;
    if version.parse::<i64>().is_ok_and(|version| version >= SERVER_VERSION_MIN) {
        let _ = first.close().await;
        Ok(PgPoolOptions::new().max_connections(connections).connect_lazy_with(options))
    } else {
        let advice = "older servers are not tested: upgrade it";
        Err(Error::unfit("PostgreSQL 15 or later", format!("version {version}"), advice))
    }
}

/// `synchronous_commit` is asked of this connection, which has what the role, the database and the server
/// set; any value but `off` waits for the local disk.
async fn check_durability(connection: &mut PgConnection) -> Result<(), Error> {
    let settings = [
        ("fsync", "SHOW fsync"),
        ("synchronous_commit", "SHOW synchronous_commit"),
        ("full_page_writes", "SHOW full_page_writes"),
    ];
    for (name, sql) in settings {
        let value: String = sqlx::query_scalar(sql)
            .fetch_one(&mut *connection)
            .await
            .map_err(|error| failed("a setting", &error))?;
        if value == "off" {
            return Err(Error::unfit(
                &format!("{name} = on, so that what is acknowledged survives the machine"),
                "off",
                "switch it on, or open the store with `Durability::Waived` for throw-away data",
            ));
        }
    }
    Ok(())
}

async fn acquire(pool: &PgPool) -> Result<sqlx::pool::PoolConnection<sqlx::Postgres>, Error> {
    pool.acquire().await.map_err(|error| failed("a connection", &error))
}

fn failed(expected: &str, error: &sqlx::Error) -> Error {
    of_statement(expected, error)
}
