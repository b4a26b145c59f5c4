//! Opening a store: what it refuses, and what it says.

use hookproof::{Clock, Durability, Error, PgStore, SCHEMA_VERSION, SqliteStore};
use sqlx::{
    ConnectOptions as _,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::SqliteConnectOptions,
};

use crate::databases;

async fn open(options: PgConnectOptions, durability: Durability) -> Result<PgStore, Error> {
    PgStore::open(options, 1, durability, Clock::database()).await
}

#[tokio::test]
async fn postgresql_without_synchronous_commits_is_refused_unless_it_is_waived() {
    let options = databases::schema().await;
    PgStore::migrate(options.clone()).await.unwrap();
    assert!(open(options.clone(), Durability::Required).await.is_ok());
    let relaxed = options.options([("synchronous_commit", "off")]);
    let refused = open(relaxed.clone(), Durability::Required).await.expect_err("off");
    let text = refused.to_string();
    assert!(text.starts_with("expected synchronous_commit = on"), "{text}");
    assert!(text.contains("Durability::Waived"), "{text}");
    assert!(open(relaxed, Durability::Waived).await.is_ok());
}

#[tokio::test]
async fn of_many_who_migrate_at_once_one_does() {
    let options = databases::schema().await;
    let migrate = || PgStore::migrate(options.clone());
    let found = tokio::join!(migrate(), migrate(), migrate());
    let mut found = [found.0.unwrap(), found.1.unwrap(), found.2.unwrap()];
    found.sort_unstable();
    assert_eq!(found, [0, SCHEMA_VERSION, SCHEMA_VERSION]);
}

#[tokio::test]
async fn a_schema_of_another_version_says_what_to_do() {
    let options = databases::schema().await;
    let refused = open(options.clone(), Durability::Required).await.expect_err("no schema");
    assert!(refused.to_string().contains("run the store's `migrate`"), "{refused}");
    PgStore::migrate(options.clone()).await.unwrap();
    let pool = PgPoolOptions::new().connect_with(options.clone()).await.unwrap();
    let newer = sqlx::query("INSERT INTO hookproof_schema (version) VALUES ($1)");
    newer.bind(SCHEMA_VERSION + 1).execute(&pool).await.unwrap();
    let refused = open(options.clone(), Durability::Required).await.expect_err("a newer schema");
    assert!(refused.to_string().contains("a newer Hookproof"), "{refused}");
    assert!(PgStore::migrate(options).await.is_err());
}

#[tokio::test]
async fn sqlite_keeps_what_it_commits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hookproof.db");
    let unmade = SqliteStore::open(&path, Durability::Required, Clock::database()).await;
    assert!(unmade.is_err(), "a path that is wrong makes no database");
    assert_eq!(SqliteStore::migrate(&path).await, Ok(0));
    assert_eq!(SqliteStore::migrate(&path).await, Ok(SCHEMA_VERSION));
    let store = SqliteStore::open(&path, Durability::Required, Clock::database()).await.unwrap();
    let pragma = async |sql: &'static str| {
        sqlx::query_scalar::<_, String>(sql).fetch_one(store.pool()).await.unwrap()
    };
    assert_eq!(pragma("PRAGMA journal_mode").await, "wal");
    let full: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(store.pool()).await.unwrap();
    assert_eq!(full, 2);
}

#[tokio::test]
async fn an_applications_own_database_is_migrated_beside_its_tables_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut shop = options.connect().await.unwrap();
    sqlx::raw_sql("CREATE TABLE orders (id TEXT)").execute(&mut shop).await.unwrap();
    assert_eq!(SqliteStore::migrate(&path).await, Ok(0));
}

#[tokio::test]
async fn sqlite_in_memory_is_refused() {
    let refused = SqliteStore::open(":memory:", Durability::Required, Clock::database()).await;
    let text = refused.expect_err("nothing is kept").to_string();
    assert!(text.starts_with("expected journal_mode = wal"), "{text}");
}
