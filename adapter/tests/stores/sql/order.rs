//! Who is due is found oldest first, whatever the indexes are.

use hookproof::{Clock, PgStore, SqliteStore, Store};
use hookproof_core::{Id, Millis};

use crate::databases;

const NOW: Millis = Millis(1_700_000_000_000);

/// Rows that were made in another order than they are due, and that no index puts right.
const DUE: [&str; 6] = [
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

#[tokio::test]
async fn the_oldest_are_found_first_in_postgresql() {
    let store: PgStore = databases::postgres(Clock::fixed(NOW)).await;
    for sql in DUE {
        let sql = spelled(sql, r"'\x000102030405060708090a0b0c0d0e0f'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(store.pool()).await.unwrap();
    }
    the_oldest_are_found_first(store).await;
}

#[tokio::test]
async fn the_oldest_are_found_first_in_sqlite() {
    let (store, _folder): (SqliteStore, _) = databases::sqlite(Clock::fixed(NOW)).await;
    for sql in DUE {
        let sql = spelled(sql, "x'000102030405060708090a0b0c0d0e0f'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(store.pool()).await.unwrap();
    }
    the_oldest_are_found_first(store).await;
}
