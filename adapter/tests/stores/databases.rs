//! The three stores, each with the same few endpoints, and what can be asked of each besides.

use std::{env, str::FromStr};

#[cfg(feature = "rogues")]
use hookproof::rogue;
use hookproof::{
    Callback, Clock, Content, Durability, EVERY_TYPE, Keys, PgStore, SqliteStore, Store, commit,
    ident,
};
use hookproof_core::{
    Id, endpoint,
    handler::{Handler, HandlerError, Incoming},
};
use hookproof_sim::world::db::Db;
use sqlx::{Connection, PgConnection, Postgres, Sqlite, Transaction, postgres::PgConnectOptions};
use tempfile::TempDir;
use uuid::Uuid;

use crate::model::{ModelStore, ModelTx};

pub(crate) const EVENTS: u128 = 4;
pub(crate) const SUBSCRIBERS: u128 = 2;
pub(crate) const ENTITIES: u128 = 2;
pub(crate) const RECEIPTS: u128 = 8;
/// Every event to every subscriber, and then one effect outside of each entity.
pub(crate) const DELIVERIES: u128 = EVENTS * SUBSCRIBERS + ENTITIES;
/// Where effects outside go: nobody's subscription.
pub(crate) const OUTSIDE: Id = Id(SUBSCRIBERS);

/// A store that the suite can look into.
pub(crate) trait Probe: Store {
    /// Effects, alerts and lines of the archive, in order.
    async fn lines(&self) -> Vec<String>;
}

/// What the application's handler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Made,
    /// It writes, and then says that it cannot.
    Fails,
    /// What it stands on failed.
    Unfounded,
}

impl Effect {
    fn end(self) -> Result<(), HandlerError> {
        match self {
            Self::Made => Ok(()),
            Self::Fails => Err(HandlerError::event("no such plan")),
            Self::Unfounded => Err(HandlerError::infrastructure("no pool")),
        }
    }
}

fn text(event: &Incoming<'_>) -> String {
    let name = (event.name, event.resource, event.delivery, event.payload);
    format!("effect {} of {name:?} for {}", event.key(), Uuid::from_u128(event.receipt.0))
}

impl Handler<ModelTx> for Effect {
    async fn apply(&self, tx: &mut ModelTx, event: &Incoming<'_>) -> Result<(), HandlerError> {
        tx.state.lines.push(text(event));
        self.end()
    }
}

impl Handler<Transaction<'static, Postgres>> for Effect {
    async fn apply(
        &self,
        tx: &mut Transaction<'static, Postgres>,
        event: &Incoming<'_>,
    ) -> Result<(), HandlerError> {
        let insert = sqlx::query("INSERT INTO effects (line) VALUES ($1)").bind(text(event));
        insert.execute(&mut **tx).await.map_err(HandlerError::infrastructure)?;
        self.end()
    }
}

impl Handler<Transaction<'static, Sqlite>> for Effect {
    async fn apply(
        &self,
        tx: &mut Transaction<'static, Sqlite>,
        event: &Incoming<'_>,
    ) -> Result<(), HandlerError> {
        let insert = sqlx::query("INSERT INTO effects (line) VALUES ($1)").bind(text(event));
        insert.execute(&mut **tx).await.map_err(HandlerError::infrastructure)?;
        self.end()
    }
}

fn callbacks() -> Vec<Callback> {
    let callback = |account: &str, types: &[&str]| Callback {
        account: account.to_owned(),
        url: "https://example.com/hook".to_owned(),
        event_types: types.iter().copied().map(str::to_owned).collect(),
    };
    vec![
        callback("shop", &[EVERY_TYPE]),
        callback("shop", &["invoice.paid", "invoice.paid"]),
        callback("outside", &[]),
    ]
}

async fn register<S: Store>(store: &S) {
    for (id, callback) in (0..).zip(callbacks()) {
        let tx = store.begin().await.unwrap();
        let plan = endpoint::register(Id(id));
        commit(store, tx, plan, Content::Callback(&callback)).await.unwrap();
    }
    // The model's entities are there from the beginning.
    let mut tx = store.begin().await.unwrap();
    let keys = Keys { entities: (0..ENTITIES).map(Id).collect(), ..Keys::default() };
    store.load(&mut tx, &keys).await.unwrap();
    store.commit(tx).await.unwrap();
}

pub(crate) fn model(clock: Clock) -> ModelStore {
    let size = |n: u128| n as usize;
    let (endpoints, entities) = (size(SUBSCRIBERS) + 1, size(ENTITIES));
    let db = Db::new(size(EVENTS), size(DELIVERIES), size(RECEIPTS), endpoints, entities);
    ModelStore::new(db, callbacks(), clock)
}

impl Probe for ModelStore {
    async fn lines(&self) -> Vec<String> {
        let mut lines = self.every_line();
        lines.sort();
        lines
    }
}

/// A SQLite database in a folder of its own, quick: nothing here is pulled out of the wall.
pub(crate) async fn sqlite(clock: Clock) -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hookproof.db");
    SqliteStore::migrate(&path).await.unwrap();
    let store = SqliteStore::open(&path, Durability::Waived, clock).await.unwrap();
    sqlx::raw_sql("CREATE TABLE effects (line TEXT NOT NULL)").execute(store.pool()).await.unwrap();
    register(&store).await;
    (store, folder)
}

impl Probe for SqliteStore {
    async fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            sqlx::query_scalar(LINES).fetch_all(self.pool()).await.unwrap();
        lines.sort();
        lines
    }
}

/// A PostgreSQL schema of its own, quick: nothing here is pulled out of the wall.
pub(crate) async fn postgres(clock: Clock) -> PgStore {
    postgres_with(|options| options, clock).await
}

/// Eight sessions at once, and somebody who looks.
const CONNECTIONS: u32 = 9;

/// The same, with more settings.
pub(crate) async fn postgres_with(
    more: impl Fn(PgConnectOptions) -> PgConnectOptions,
    clock: Clock,
) -> PgStore {
    let options = more(schema().await.options([("synchronous_commit", "off")]));
    open(options, clock).await
}

/// A prepared store on an empty schema.
pub(crate) async fn open(options: PgConnectOptions, clock: Clock) -> PgStore {
    PgStore::migrate(options.clone()).await.unwrap();
    let store = PgStore::open(options, CONNECTIONS, Durability::Waived, clock).await.unwrap();
    sqlx::raw_sql("CREATE TABLE effects (line text NOT NULL)").execute(store.pool()).await.unwrap();
    #[cfg(feature = "rogues")]
    if rogue::is(rogue::Rogue::CheckThenInsert) {
        let drop = "ALTER TABLE webhook_inbox DROP CONSTRAINT webhook_inbox_delivery";
        sqlx::raw_sql(drop).execute(store.pool()).await.unwrap();
    }
    register(&store).await;
    store
}

/// Takes every row away but those that a store of the suite begins with.
pub(crate) async fn empty(store: &PgStore) {
    let delete = "DELETE FROM hookproof_subscriptions; DELETE FROM hookproof_deliveries;
         DELETE FROM hookproof_endpoints; DELETE FROM hookproof_entities;
         DELETE FROM hookproof_operations; DELETE FROM hookproof_alerts; DELETE FROM hookproof_audit;
         DELETE FROM outbox_events; DELETE FROM webhook_inbox; DELETE FROM effects";
    sqlx::raw_sql(delete).execute(store.pool()).await.unwrap();
    register(store).await;
}

/// The way to an empty schema.
pub(crate) async fn schema() -> PgConnectOptions {
    let options = server();
    let name = format!("suite_{}", Uuid::from_u128(ident::fresh().0).simple());
    let quick = options.clone().options([("synchronous_commit", "off")]);
    let mut connection = PgConnection::connect_with(&quick).await.unwrap();
    let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"));
    sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
    options.options([("search_path", name)])
}

/// The server that the suite may fill.
pub(crate) fn server() -> PgConnectOptions {
    let url = env::var(SERVER).unwrap_or_else(|_| {
        panic!(
            "expected {SERVER} to name a PostgreSQL server, found nothing: run `cargo xtask test \
             tests`, or this test alone by `cargo xtask postgres cargo test --release -p hookproof`"
        )
    });
    PgConnectOptions::from_str(&url).expect("a postgres:// address")
}

/// What `cargo xtask` sets.
const SERVER: &str = "HOOKPROOF_POSTGRES";

impl Probe for PgStore {
    async fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            sqlx::query_scalar(LINES).fetch_all(self.pool()).await.unwrap();
        lines.sort();
        lines
    }
}

const LINES: &str = "SELECT line FROM (
         SELECT line FROM effects
         UNION ALL
         SELECT 'alert ' || about_kind || ' ' || CAST(about AS text) || ' ' || reason
         FROM hookproof_alerts
         UNION ALL
         SELECT 'audit ' || what || ' ' || CAST(about AS text)
             || coalesce(' by ' || CAST(by_whom AS text), '')
             || coalesce(' ' || transition || ' ' || occurrence, '')
         FROM hookproof_audit
         UNION ALL
         SELECT 'processed_at is not when it was processed: ' || CAST(id AS text)
         FROM webhook_inbox WHERE (processed_at IS NULL) = (status = 'PROCESSED')
     ) AS every";
