//! A disk that is full, and transactions that the database gives up for others: nothing is lost, and the
//! next try goes through.

use hookproof::{Clock, Content, Error, PgStore, Store, commit};
use hookproof_core::inbox::Reply;

use super::faults::{NOW, letter, received};
use crate::databases;

async fn receive<S: Store>(store: &S, receipt: u128) -> Result<Reply, Error> {
    let letter = letter(&receipt.to_string());
    commit(store, store.begin().await?, received(receipt), Content::Letter(&letter)).await
}

/// Has every new receipt fail in this way.
async fn fail_with(store: &PgStore, code: &str) {
    let sql = format!(
        "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$;
         CREATE TRIGGER fails BEFORE INSERT ON webhook_inbox EXECUTE FUNCTION fails()"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(store.pool()).await.unwrap();
}

async fn mend(store: &PgStore) {
    let sql = "DROP TRIGGER fails ON webhook_inbox; DROP FUNCTION fails";
    sqlx::raw_sql(sql).execute(store.pool()).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_loses_nothing_in_postgresql() {
    let store = databases::postgres(Clock::fixed(NOW)).await;
    assert_eq!(receive(&store, 1).await, Ok(Reply::Accepted));
    fail_with(&store, "53100").await;
    let full = receive(&store, 2).await;
    assert!(matches!(full, Err(Error::Database(_))), "{full:?}");
    mend(&store).await;
    assert_eq!(receive(&store, 2).await, Ok(Reply::Accepted), "R4: it was no duplicate");
    assert_eq!(receive(&store, 1).await, Err(Error::Conflict), "the first is there");
}

#[tokio::test]
async fn a_serialization_failure_is_a_conflict_in_postgresql() {
    let store = databases::postgres(Clock::fixed(NOW)).await;
    for code in ["40001", "40P01"] {
        fail_with(&store, code).await;
        assert_eq!(receive(&store, 1).await, Err(Error::Conflict), "{code}");
        mend(&store).await;
    }
    assert_eq!(receive(&store, 1).await, Ok(Reply::Accepted));
}

#[tokio::test]
async fn a_full_disk_loses_nothing_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::fixed(NOW)).await;
    assert_eq!(receive(&store, 1).await, Ok(Reply::Accepted));
    // It takes no more than it has.
    sqlx::raw_sql("PRAGMA max_page_count = 1").execute(store.pool()).await.unwrap();
    let mut accepted = vec![1];
    let full = loop {
        let next = accepted.len() as u128 + 1;
        match receive(&store, next).await {
            Ok(_) => accepted.push(next),
            Err(error) => break error,
        }
    };
    assert!(matches!(full, Error::Database(_)), "{full:?}");
    sqlx::raw_sql("PRAGMA max_page_count = 1000000").execute(store.pool()).await.unwrap();
    for receipt in &accepted {
        assert_eq!(receive(&store, *receipt).await, Err(Error::Conflict), "{receipt} is there");
    }
    let next = accepted.len() as u128 + 1;
    assert_eq!(receive(&store, next).await, Ok(Reply::Accepted), "R4: it was no duplicate");
}
