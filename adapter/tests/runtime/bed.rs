//! A database of its own for each test, its clock in the test's hand.

use std::{
    env,
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use hookproof::{Clock, Durability, Host, PgStore, SqliteStore, Store, ident};
use hookproof_core::Millis;
use sqlx::{Connection, PgConnection, Row, postgres::PgConnectOptions};
use tempfile::TempDir;
use uuid::Uuid;

/// When every test begins.
pub(crate) const BEGIN: Millis = Millis(1_700_000_000_000);

/// A store, its clock, and what must live as long.
pub(crate) struct Bed<S> {
    pub(crate) store: S,
    pub(crate) clock: Clock,
    _folder: Option<TempDir>,
}

/// A machine whose time is the database's, and whose chance is a count.
pub(crate) struct Steady {
    clock: Clock,
    rolls: AtomicU64,
}

impl Host for Steady {
    fn now(&self) -> Millis {
        self.clock.shows().unwrap()
    }

    fn roll(&self) -> u64 {
        self.rolls.fetch_add(1, Ordering::SeqCst)
    }
}

impl<S> Bed<S> {
    pub(crate) fn host(&self) -> Arc<Steady> {
        // Two machines of one test must make different ids.
        let first = ident::fresh().0 as u64;
        Arc::new(Steady { clock: self.clock.clone(), rolls: AtomicU64::new(first) })
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, ms: u64) {
        self.clock.set(self.clock.shows().unwrap() + ms);
    }
}

/// A store that tests can ask in SQL.
pub(crate) trait Sql: Store + Clone + Send + 'static {
    /// The first column of each row, as text.
    async fn texts(&self, sql: &str) -> Vec<String>;

    /// Runs statements.
    async fn run(&self, sql: &str);

    async fn count(&self, sql: &str) -> usize {
        self.texts(sql).await.len()
    }
}

impl Sql for SqliteStore {
    async fn texts(&self, sql: &str) -> Vec<String> {
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(self.pool()).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn run(&self, sql: &str) {
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(self.pool()).await.unwrap();
    }
}

impl Sql for PgStore {
    async fn texts(&self, sql: &str) -> Vec<String> {
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(self.pool()).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn run(&self, sql: &str) {
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(self.pool()).await.unwrap();
    }
}

pub(crate) async fn sqlite() -> Bed<SqliteStore> {
    let clock = Clock::fixed(BEGIN);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hookproof.db");
    SqliteStore::migrate(&path).await.unwrap();
    let store = SqliteStore::open(&path, Durability::Waived, clock.clone()).await.unwrap();
    store.run(TABLES).await;
    Bed { store, clock, _folder: Some(folder) }
}

pub(crate) async fn postgres() -> Bed<PgStore> {
    let clock = Clock::fixed(BEGIN);
    let options = schema().await.options([("synchronous_commit", "off")]);
    PgStore::migrate(options.clone()).await.unwrap();
    let store = PgStore::open(options, 6, Durability::Waived, clock.clone()).await.unwrap();
    store.run(TABLES).await;
    Bed { store, clock, _folder: None }
}

/// The way to an empty schema.
pub(crate) async fn schema() -> PgConnectOptions {
    let options = PgConnectOptions::from_str(&server()).expect("a postgres:// address");
    let name = format!("runtime_{}", Uuid::from_u128(ident::fresh().0).simple());
    let mut connection = PgConnection::connect_with(&options).await.unwrap();
    let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"));
    sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
    options.options([("search_path", name)])
}

/// The server that tests may fill.
pub(crate) fn server() -> String {
    env::var("HOOKPROOF_POSTGRES").unwrap_or_else(|_| {
        panic!(
            "expected HOOKPROOF_POSTGRES to name a server, found nothing: run `cargo xtask test tests`, \
             or this test alone by `cargo xtask postgres cargo test --release -p hookproof`"
        )
    })
}

/// The application's own tables.
const TABLES: &str = "CREATE TABLE effects (line TEXT NOT NULL);
     CREATE TABLE orders (id TEXT PRIMARY KEY, state BIGINT NOT NULL)";
