//! Who is due is found oldest first, whatever the indexes are, and sweeps look at a few rows at a time.

use std::time::Duration;

use hookproof::{
    Astray, Bundle, Clock, Content, Keys, PgStore, SenderStore, SqliteStore, Store, UpkeepStore,
};
use hookproof_core::{
    Id, Millis,
    inbox::Receipt,
    outbox::Event,
    plan::{About, Put, Write},
};
use sqlx::{ConnectOptions as _, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

use crate::databases;

const NOW: Millis = Millis(1_700_000_000_000);

/// Rows that were made in another order than they are due, and that no index puts right.
const DUE: [&str; 13] = [
    "DROP INDEX hookproof_deliveries_wake",
    "DROP INDEX outbox_events_wake",
    "DROP INDEX outbox_events_unmarked",
    "DROP INDEX hookproof_alerts_unsent",
    "CREATE INDEX hookproof_alerts_by_what ON hookproof_alerts (sent_at, about)",
    "DROP INDEX webhook_inbox_wake",
    "INSERT INTO hookproof_endpoints (id, url) VALUES ('ID5', ''), ('ID4', '')",
    "INSERT INTO hookproof_deliveries
         (id, rev, subject_kind, subject, transition, occurrence, endpoint, stand, wake, hurried,
          attempt, rung, cycle, fence, created)
     VALUES ('IDb', 0, 'event', 'IDb', 0, 0, 'ID0', 'pending', 2, false, 0, 0, 1, 0, 0),
         ('IDc', 0, 'event', 'IDc', 0, 0, 'ID0', 'pending', 3, false, 0, 0, 1, 0, 0),
         ('IDa', 0, 'event', 'IDa', 0, 0, 'ID0', 'pending', 1, false, 0, 0, 1, 0, 0),
         ('IDd', 0, 'event', 'IDd', 0, 0, 'ID5', 'pending', 1, false, 0, 0, 1, 0, 0),
         ('IDe', 0, 'event', 'IDe', 0, 0, 'ID4', 'pending', 1, false, 0, 0, 1, 0, 0)",
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
     VALUES ('receipt', 'IDc', 'failing'), ('receipt', 'IDb', 'failing'), ('receipt', 'IDa', 'failing')",
    "UPDATE hookproof_alerts SET sent_at = raised_at WHERE about = 'IDc'",
    "UPDATE hookproof_alerts SET sent_at = NULL",
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

/// Has SQLite look through no index in its order, as it is free to, and through one for each value.
const UNORDERED: [&str; 3] = [
    "ANALYZE",
    "UPDATE sqlite_stat1 SET stat = '1000000 1 1 unordered' WHERE idx IS NOT NULL",
    "ANALYZE sqlite_schema",
];

async fn sqlite() -> (SqliteStore, TempDir) {
    let (store, folder) = databases::sqlite(Clock::fixed(NOW)).await;
    for sql in DUE.into_iter().chain(UNORDERED) {
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

/// The next claim goes on behind the last of them, so whoever is out of order is passed over.
async fn lanes_come_in_order<S: Store>(store: S) {
    let mut tx = store.begin().await.unwrap();
    let lanes = store.lanes(&mut tx, None, 2).await.unwrap();
    assert_eq!(lanes.iter().map(|lane| lane.endpoint.id.0).collect::<Vec<_>>(), [0, 4]);
    let lanes = store.lanes(&mut tx, Some(Id(4)), 2).await.unwrap();
    assert_eq!(lanes.iter().map(|lane| lane.endpoint.id.0).collect::<Vec<_>>(), [5]);
}

#[tokio::test]
async fn lanes_come_in_order_in_postgresql() {
    lanes_come_in_order(postgres().await).await;
}

#[tokio::test]
async fn lanes_come_in_order_in_sqlite() {
    let (store, _folder) = sqlite().await;
    lanes_come_in_order(store).await;
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
    assert_eq!(two.iter().map(|alert| alert.1).collect::<Vec<_>>(), [C, B].map(About::Receipt));
    store.mark_alert(&mut tx, two[0].0).await.unwrap();
    let left = alerts(&mut tx, 9).await;
    assert_eq!(left.iter().map(|alert| alert.1).collect::<Vec<_>>(), [B, A].map(About::Receipt));
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

async fn a_sweep_looks_at_what_is_fanned_out_and_not_marked<S: SenderStore>(store: S) {
    let mut tx = store.begin().await.unwrap();
    assert_eq!(store.unmarked(&mut tx, None, 9).await, Ok(vec![]), "nothing is fanned out");
    for id in [C, B, A] {
        becomes(&store, &mut tx, id, None).await;
    }
    assert_eq!(store.unmarked(&mut tx, None, 2).await, Ok(vec![A, B]));
    assert_eq!(store.unmarked(&mut tx, Some(A), 2).await, Ok(vec![B, C]));
    becomes(&store, &mut tx, B, Some(NOW)).await;
    assert_eq!(store.unmarked(&mut tx, None, 9).await, Ok(vec![A, C]), "one is marked");
}

/// The event is fanned out, and marked if it is given when.
async fn becomes<S: Store>(store: &S, tx: &mut S::Tx, id: Id, processed: Option<Millis>) {
    let keys = Keys { events: vec![id], ..Keys::default() };
    let row = store.load(tx, &keys).await.unwrap().events[0];
    let event = Event { rev: row.rev + 1, wake: None, processed, ..row };
    let writes = &[Write::Event(Put { was: Some(row.rev), row: event })];
    let written = store.write_each(tx, &[Bundle { writes, content: Content::None }]).await;
    assert_eq!(written, Ok(vec![true]));
}

#[tokio::test]
async fn a_sweep_looks_at_what_is_fanned_out_and_not_marked_in_postgresql() {
    a_sweep_looks_at_what_is_fanned_out_and_not_marked(postgres().await).await;
}

#[tokio::test]
async fn a_sweep_looks_at_what_is_fanned_out_and_not_marked_in_sqlite() {
    let (store, _folder) = sqlite().await;
    a_sweep_looks_at_what_is_fanned_out_and_not_marked(store).await;
}

/// Two more deferred receipts than a wake reaches, the youngest first; no index puts them right.
const SLEEPERS: [&str; 2] = [
    "DROP INDEX webhook_inbox_deferred",
    "WITH RECURSIVE of (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM of WHERE n < 10002)
     INSERT INTO webhook_inbox
         (id, partner_name, partner_event_id, payload, event_type, resource, digest, rev, status, wake,
          entity, event, occurrence, version, strikes, fence, applied, cap, received_at)
     SELECT KEY, 'p', KEY, '{}', 'paid', '', BYTES, 0, 'DEFERRED', 9, 'ID0', 0, 0, 0, 0, 0, false, 0,
         RECEIVED FROM of",
];

async fn a_wake_reaches_the_oldest_sleepers<S: Store>(store: S) {
    let mut tx = store.begin().await.unwrap();
    let wake = Bundle { writes: &[Write::Wake { entity: Id(0) }], content: Content::None };
    assert_eq!(store.write_each(&mut tx, &[wake]).await, Ok(vec![true]));
    let keys = Keys { receipts: [1, 2, 3].map(Id).to_vec(), ..Keys::default() };
    let rows = store.load(&mut tx, &keys).await.unwrap();
    let wakes: Vec<_> = rows.receipts.iter().map(Receipt::wake).collect();
    assert_eq!(wakes, [9, 9, 2].map(|ms| Some(Millis(ms))));
}

#[tokio::test]
async fn a_wake_reaches_the_oldest_sleepers_in_postgresql() {
    let store = databases::postgres(Clock::fixed(Millis(2))).await;
    for sql in SLEEPERS {
        let sql = sql
            .replacen("KEY", "CAST(lpad(CAST(n AS text), 32, '0') AS uuid)", 1)
            .replace("KEY", "n")
            .replace("RECEIVED", "timestamptz 'epoch' - n * interval '1 second'");
        let sql = spelled(&sql, r"'\x000102030405060708090a0b0c0d0e0f'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(store.pool()).await.unwrap();
    }
    a_wake_reaches_the_oldest_sleepers(store).await;
}

#[tokio::test]
async fn a_wake_reaches_the_oldest_sleepers_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::fixed(Millis(2))).await;
    for sql in SLEEPERS {
        let sql = sql
            .replacen("KEY", "printf('00000000-0000-0000-0000-%012d', n)", 1)
            .replace("KEY", "CAST(n AS TEXT)")
            .replace("RECEIVED", "-n");
        let sql = spelled(&sql, "x'000102030405060708090a0b0c0d0e0f'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(store.pool()).await.unwrap();
    }
    a_wake_reaches_the_oldest_sleepers(store).await;
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
