//! What the tables refuse, whoever writes to them.

use std::collections::BTreeSet;

use hookproof::{Clock, PgStore, SqliteStore};

use crate::databases;

/// A database that takes any SQL.
trait Tables {
    const POSTGRES: bool;

    /// Tries a statement and takes it back. Whether it was refused.
    async fn refuses(&self, sql: &str) -> bool;
    async fn run(&self, sql: &str);
    /// The first column of each row.
    async fn texts(&self, sql: &str) -> Vec<String>;

    /// Each table, and each column as `table.column`.
    async fn columns(&self) -> Vec<String> {
        self.texts(if Self::POSTGRES {
            "SELECT table_name || '.' || column_name FROM information_schema.columns
             WHERE table_schema = current_schema AND table_name <> 'effects' ORDER BY 1"
        } else {
            "SELECT t.name || '.' || c.name FROM sqlite_schema AS t
             JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table' AND t.name <> 'effects'
             ORDER BY 1"
        })
        .await
    }

    /// A row in each table.
    async fn fill(&self) {
        for row in ROWS {
            self.run(&self.spelled(row)).await;
        }
    }

    fn spelled(&self, sql: &str) -> String {
        let bytes = if Self::POSTGRES { r"'\x000102030405060708090a0b0c0d0e0f'" } else { BLOB };
        sql.replace("BYTES", bytes).replace("ID", "0000000a-0000-0000-0000-00000000000")
    }
}

const BLOB: &str = "x'000102030405060708090a0b0c0d0e0f'";

impl Tables for PgStore {
    const POSTGRES: bool = true;

    async fn refuses(&self, sql: &str) -> bool {
        let mut tx = self.pool().begin().await.unwrap();
        let now = "SET CONSTRAINTS ALL IMMEDIATE";
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut *tx).await.is_err()
            || sqlx::raw_sql(now).execute(&mut *tx).await.is_err()
    }

    async fn run(&self, sql: &str) {
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(self.pool()).await.unwrap();
    }

    async fn texts(&self, sql: &str) -> Vec<String> {
        sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(self.pool()).await.unwrap()
    }
}

impl Tables for SqliteStore {
    const POSTGRES: bool = false;

    async fn refuses(&self, sql: &str) -> bool {
        let mut tx = self.pool().begin().await.unwrap();
        let now = "SELECT count(*) FROM pragma_foreign_key_check";
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut *tx).await.is_err()
            || sqlx::query_scalar::<_, i64>(now).fetch_one(&mut *tx).await.unwrap() > 0
    }

    async fn run(&self, sql: &str) {
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(self.pool()).await.unwrap();
    }

    async fn texts(&self, sql: &str) -> Vec<String> {
        sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(self.pool()).await.unwrap()
    }
}

/// `ID` is most of a key and `BYTES` are sixteen.
const ROWS: [&str; 10] = [
    "INSERT INTO hookproof_endpoints (id, url) VALUES ('IDa', 'https://example.com')",
    "INSERT INTO hookproof_subscriptions (endpoint, event_type, since_ms) VALUES ('IDa', '*', 0)",
    "INSERT INTO hookproof_secrets (id, endpoint, sealed, from_ms) VALUES ('IDa', 'IDa', BYTES, 0)",
    "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, digest)
     VALUES ('IDa', 'invoice', 'inv_1', 'invoice.paid', '{}', BYTES)",
    "INSERT INTO hookproof_deliveries
         (id, rev, subject_kind, subject, transition, occurrence, endpoint, stand, hurried, attempt,
          rung, cycle, fence, created)
     VALUES ('IDa', 0, 'event', 'IDa', 0, 0, 'IDa', 'pending', false, 0, 0, 0, 0, 0)",
    "INSERT INTO webhook_inbox
         (id, partner_name, partner_event_id, payload, event_type, resource, digest, rev, entity,
          strikes, fence, applied, cap)
     VALUES ('IDa', 'partner', 'evt_1', '{}', 'paid', 'order_1', BYTES, 0, 'IDa', 0, 0, false, 0)",
    "INSERT INTO hookproof_entities (id) VALUES ('IDa')",
    "INSERT INTO hookproof_operations (entity, transition, occurrence) VALUES ('IDa', 0, 0)",
    "INSERT INTO hookproof_alerts (about_kind, about, reason) VALUES ('receipt', 'IDa', 'failing')",
    "INSERT INTO hookproof_audit (what, about, by_whom) VALUES ('resent', 'IDa', 'IDa')",
];

/// The columns that may have no value. R4: none of the unique key of a receipt.
const MAY_LACK: [&str; 26] = [
    "hookproof_alerts.sent_at",
    "hookproof_audit.by_whom",
    "hookproof_audit.digest",
    "hookproof_audit.occurrence",
    "hookproof_audit.transition",
    "hookproof_deliveries.lease",
    "hookproof_deliveries.reason",
    "hookproof_deliveries.wake",
    "hookproof_endpoints.left_ms",
    "hookproof_endpoints.reason",
    "hookproof_entities.projected",
    "hookproof_secrets.until_ms",
    "hookproof_subscriptions.until_ms",
    "outbox_events.digest",
    "outbox_events.payload_bytes",
    "outbox_events.processed_at",
    "outbox_events.wake",
    "webhook_inbox.entity",
    "webhook_inbox.event",
    "webhook_inbox.occurrence",
    "webhook_inbox.payload_bytes",
    "webhook_inbox.processed_at",
    "webhook_inbox.reason",
    "webhook_inbox.verdict",
    "webhook_inbox.version",
    "webhook_inbox.wake",
];

async fn a_column_without_a_value_is_refused_unless_it_may_lack_one<T: Tables>(store: T) {
    store.fill().await;
    for column in store.columns().await {
        let (table, name) = column.split_once('.').expect("a table and a column");
        let count = store.texts(&format!("SELECT '' FROM {table}")).await;
        assert!(!count.is_empty(), "expected a row in {table} to try with: add one to ROWS");
        let refused = store.refuses(&format!("UPDATE {table} SET {name} = NULL")).await;
        assert_eq!(refused, !MAY_LACK.contains(&column.as_str()), "{column}");
    }
}

#[tokio::test]
async fn no_column_lacks_its_value_in_postgresql() {
    let store = databases::postgres(Clock::database()).await;
    a_column_without_a_value_is_refused_unless_it_may_lack_one(store).await;
}

#[tokio::test]
async fn no_column_lacks_its_value_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::database()).await;
    a_column_without_a_value_is_refused_unless_it_may_lack_one(store).await;
}

/// What nobody may do to the rows, in any table.
const REFUSED: [&str; 16] = [
    // Two payloads, or none, or one that is gone and there.
    "UPDATE outbox_events SET payload_gone = true",
    "UPDATE webhook_inbox SET payload_gone = true",
    "UPDATE outbox_events SET payload_bytes = BYTES",
    "UPDATE outbox_events SET payload = NULL",
    "UPDATE webhook_inbox SET payload_bytes = BYTES",
    "UPDATE webhook_inbox SET payload = NULL",
    // Half a digest.
    "UPDATE outbox_events SET digest = substr(digest, 1, 8)",
    "UPDATE webhook_inbox SET digest = substr(digest, 1, 8)",
    // A receipt that nobody verified.
    "UPDATE webhook_inbox SET signature_verified = false",
    // Nobody's subscription or secret, and a delivery to nobody.
    "UPDATE hookproof_secrets SET endpoint = 'IDb'",
    "UPDATE hookproof_subscriptions SET endpoint = 'IDb' WHERE endpoint = 'IDa'",
    "UPDATE hookproof_deliveries SET endpoint = 'IDb'",
    // One key for two deliveries, and one delivery under two keys.
    "INSERT INTO hookproof_deliveries
     SELECT id, rev, subject_kind, subject, transition, 1, endpoint, stand, reason, wake, lease,
         hurried, attempt, rung, cycle, fence, created FROM hookproof_deliveries",
    "INSERT INTO hookproof_deliveries
     SELECT 'IDb', rev, subject_kind, subject, transition, occurrence, endpoint, stand, reason, wake,
         lease, hurried, attempt, rung, cycle, fence, created FROM hookproof_deliveries",
    // One key for two receipts, and one delivery of a source's account under two keys.
    "INSERT INTO webhook_inbox
         (id, partner_name, partner_event_id, payload, event_type, resource, digest, rev, strikes,
          fence, applied, cap)
     VALUES ('IDa', 'partner', 'evt_2', '{}', 'paid', 'order_1', BYTES, 0, 0, 0, false, 0)",
    "INSERT INTO webhook_inbox
         (id, partner_name, partner_event_id, payload, event_type, resource, digest, rev, strikes,
          fence, applied, cap)
     VALUES ('IDb', 'partner', 'evt_1', '{}', 'paid', 'order_1', BYTES, 0, 0, 0, false, 0)",
];

async fn what_nobody_may_do_is_refused<T: Tables>(store: T) {
    store.fill().await;
    for sql in REFUSED {
        let sql = store.spelled(sql);
        assert!(store.refuses(&sql).await, "{sql}");
    }
}

#[tokio::test]
async fn what_nobody_may_do_is_refused_in_postgresql() {
    what_nobody_may_do_is_refused(databases::postgres(Clock::database()).await).await;
}

#[tokio::test]
async fn what_nobody_may_do_is_refused_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::database()).await;
    what_nobody_may_do_is_refused(store).await;
}

/// PostgreSQL has types; SQLite has them where a table is strict.
#[tokio::test]
async fn a_word_is_no_number_and_bytes_are_no_word_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::database()).await;
    store.fill().await;
    for wrong in [
        "hookproof_schema SET applied_at = 'one'",
        "hookproof_endpoints SET rev = 'one'",
        "hookproof_subscriptions SET event_type = x'00'",
        "hookproof_secrets SET from_ms = 'one'",
        "outbox_events SET rev = 'one'",
        "hookproof_deliveries SET rev = 'one'",
        "webhook_inbox SET rev = 'one'",
        "hookproof_entities SET rev = 'one'",
        "hookproof_operations SET transition = 'one'",
        "hookproof_alerts SET about = x'00'",
        "hookproof_audit SET about = x'00'",
    ] {
        assert!(store.refuses(&format!("UPDATE {wrong}")).await, "{wrong}");
    }
}

async fn no_row_is_there_twice<T: Tables>(store: T) {
    store.fill().await;
    let columns = store.columns().await;
    let tables = columns.iter().filter_map(|column| column.split_once('.'));
    let tables: BTreeSet<&str> = tables.map(|(table, _)| table).collect();
    let generated = if T::POSTGRES { "OVERRIDING SYSTEM VALUE" } else { "" };
    for table in tables {
        let again = format!("INSERT INTO {table} {generated} SELECT * FROM {table}");
        assert!(store.refuses(&again).await, "{table}");
    }
}

#[tokio::test]
async fn no_row_is_there_twice_in_postgresql() {
    no_row_is_there_twice(databases::postgres(Clock::database()).await).await;
}

#[tokio::test]
async fn no_row_is_there_twice_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::database()).await;
    no_row_is_there_twice(store).await;
}

/// PostgreSQL writes a UUID in one way; other people's programs write it in either.
#[tokio::test]
async fn a_key_is_the_same_in_either_case_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::database()).await;
    store.fill().await;
    let key = store.spelled("IDa");
    for column in store.columns().await {
        let (table, name) = column.split_once('.').expect("a table and a column");
        let rows = async |value: &str| {
            let sql = format!("SELECT '' FROM {table} WHERE {name} = '{value}'");
            store.texts(&sql).await.len()
        };
        assert_eq!(rows(&key).await, rows(&key.to_uppercase()).await, "{column}");
    }
}
