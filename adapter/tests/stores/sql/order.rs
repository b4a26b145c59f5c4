//! Who is due is found oldest first, whatever the indexes are, and sweeps look at a few rows at a time.

use std::time::Duration;

use hookproof::{Astray, Clock, PgStore, SqliteStore, Store, UpkeepStore};
use hookproof_core::{Id, Millis, plan::About};
use sqlx::{ConnectOptions as _, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

use crate::databases;

const NOW: Millis = Millis(1_700_000_000_000);

/// Rows that were made in another order than they are due, and that no index puts right.
const DUE: [&str; 7] = [
    "DROP INDEX hookproof_deliveries_wake",
    "DROP INDEX outbox_events_wake",
    "DROP INDEX webhook_inbox_wake",
    "INSERT INTO hookproof_deliveries
         (id, rev, subject_kind, subject, transition, occurrence, endpoint, stand, wake, hurried,
          attempt, rung, cycle, fence, created)
     VALUES ('IDb', 0, 'event', 'IDb', 0, 0, 'ID0', 'pending', 2, false, 0, 0, 1, 0, 0),
         ('IDc', 0, 'event', 'IDc', 0, 0, 'ID0', 'pending', 3, false, 0, 0, 1, 0, 0),
         ('IDa', 0, 'event', 'IDa', 0, 0, 'ID0', 'pending', 1, false, 0, 0, 1, 0, 0)",
    "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, wake)
     VALUES ('IDb', 'invoice', 'inv_1', 'paid', '{}', 2), ('IDc', 'invoice', 'inv_1', 'paid', '{}', 3),
         ('IDa', 'invoice', 'inv_1', 'paid', '{}', 1)",
    "INSERT INTO webhook_inbox
         (id, partner_name, partner_event_id, payload, event_type, resource, digest, rev, status, wake,
          entity, event, occurrence, version, strikes, fence, applied, cap)
     VALUES ('IDb', 'p', 'b', '{}', 'paid', '', BYTES, 0, 'PENDING', 2, 'ID0', 0, 0, 0, 0, 0, false, 0),
         ('IDc', 'p', 'c', '{}', 'paid', '', BYTES, 0, 'PENDING', 3, 'ID0', 0, 0, 0, 0, 0, false, 0),
         ('IDa', 'p', 'a', '{}', 'paid', '', BYTES, 0, 'PENDING', 1, 'ID0', 0, 0, 0, 0, 0, false, 0)",
    "INSERT INTO hookproof_alerts (about_kind, about, reason)
     VALUES ('receipt', 'IDa', 'failing'), ('receipt', 'IDb', 'failing'), ('receipt', 'IDc', 'failing')",
];

fn spelled(sql: &str, bytes: &str) -> String {
    sql.replace("BYTES", bytes).replace("ID", "00000000-0000-0000-0000-00000000000")
}

async fn the_oldest_are_found_first<S: Store>(store: S) {
    let mut tx = store.begin().await.unwrap();
    let deliveries = store.due_deliveries(&mut tx, &[(Id(0), 2)], NOW).await.unwrap();
    assert_eq!(deliveries.iter().map(|row| row.id.0).collect::<Vec<_>>(), [10, 11]);
    let events = store.due_events(&mut tx, 2, NOW).await.unwrap();
    assert_eq!(events.iter().map(|row| row.id.0).collect::<Vec<_>>(), [10, 11]);
    let receipts = store.due_receipts(&mut tx, 2, NOW).await.unwrap();
    assert_eq!(receipts.iter().map(|row| row.id.0).collect::<Vec<_>>(), [10, 11]);
}

async fn postgres() -> PgStore {
    let store = databases::postgres(Clock::fixed(NOW)).await;
    for sql in DUE {
        let sql = spelled(sql, r"'\x000102030405060708090a0b0c0d0e0f'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(store.pool()).await.unwrap();
    }
    store
}

async fn sqlite() -> (SqliteStore, TempDir) {
    let (store, folder) = databases::sqlite(Clock::fixed(NOW)).await;
    for sql in DUE {
        let sql = spelled(sql, "x'000102030405060708090a0b0c0d0e0f'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(store.pool()).await.unwrap();
    }
    (store, folder)
}

#[tokio::test]
async fn the_oldest_are_found_first_in_postgresql() {
    the_oldest_are_found_first(postgres().await).await;
}

#[tokio::test]
async fn the_oldest_are_found_first_in_sqlite() {
    let (store, _folder) = sqlite().await;
    the_oldest_are_found_first(store).await;
}

const A: Id = Id(10);
const B: Id = Id(11);
const C: Id = Id(12);

async fn sweeps_take_a_few_at_a_time<S: UpkeepStore>(store: S) {
    let mut tx = store.begin().await.unwrap();
    assert_eq!(store.events_after(&mut tx, None, 2).await, Ok(vec![A, B]));
    assert_eq!(store.events_after(&mut tx, Some(A), 2).await, Ok(vec![B, C]));
    store.forget_event_payload(&mut tx, B).await.unwrap();
    assert_eq!(store.events_after(&mut tx, None, 9).await, Ok(vec![A, C]), "two have their bytes");
    let receipts = async |tx: &mut S::Tx, after, most| {
        let receipts = store.receipts_after(tx, after, most).await.unwrap();
        receipts.iter().map(|(row, has_bytes)| (row.id, *has_bytes)).collect::<Vec<_>>()
    };
    assert_eq!(receipts(&mut tx, None, 2).await, [(A, true), (B, true)]);
    store.forget_receipt_payload(&mut tx, C).await.unwrap();
    assert_eq!(receipts(&mut tx, Some(A), 2).await, [(B, true), (C, false)]);
    for astray in [Astray::Events, Astray::Deliveries, Astray::Receipts] {
        let mut pull = async |latest| store.pull_in(&mut tx, astray, Millis(latest), 1).await;
        let pulled = [pull(2).await, pull(2).await, pull(1).await, pull(1).await, pull(1).await];
        assert_eq!(pulled, [1, 0, 1, 1, 0].map(Ok), "{astray:?}: two lie after the first");
    }
    let alerts = async |tx: &mut S::Tx, most| {
        let alerts = store.unsent_alerts(tx, most).await.unwrap();
        alerts.iter().map(|alert| (alert.number, alert.about)).collect::<Vec<_>>()
    };
    let two = alerts(&mut tx, 2).await;
    assert_eq!(two.iter().map(|alert| alert.1).collect::<Vec<_>>(), [A, B].map(About::Receipt));
    store.mark_alert(&mut tx, two[0].0).await.unwrap();
    let left = alerts(&mut tx, 9).await;
    assert_eq!(left.iter().map(|alert| alert.1).collect::<Vec<_>>(), [B, C].map(About::Receipt));
}

#[tokio::test]
async fn sweeps_take_a_few_at_a_time_in_postgresql() {
    sweeps_take_a_few_at_a_time(postgres().await).await;
}

#[tokio::test]
async fn sweeps_take_a_few_at_a_time_in_sqlite() {
    let (store, _folder) = sqlite().await;
    sweeps_take_a_few_at_a_time(store).await;
}

/// Another process may write to the file; this store has no row to lock.
#[tokio::test]
async fn a_transaction_has_the_database_from_its_beginning_in_sqlite() {
    let (store, folder) = sqlite().await;
    let options = SqliteConnectOptions::new().filename(folder.path().join("hookproof.db"));
    let mut other = options.busy_timeout(Duration::ZERO).connect().await.unwrap();
    let tx = store.begin().await.unwrap();
    let busy = sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await;
    assert!(busy.is_err(), "it is another's");
    store.rollback(tx).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
}
