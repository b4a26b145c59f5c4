//! Publishing in the caller's own transaction, by the library and by plain SQL.

use hookproof::{Clock, EVERY_TYPE, Message, PgStore, SqliteStore, Store, ident, outbox};
use hookproof_core::{Id, outbox::Published, payload::Payload};

use crate::databases;

/// Bytes that a text column, a JSON column and a lenient driver each change in another way.
const EXACT: &str = r#"{"path":"C:\\dir", "nul":"\u0000","a":1,"a":2 , "n":1.10}"#;

fn message(id: Id, payload: &[u8]) -> Message {
    Message {
        id,
        account: "shop".to_owned(),
        aggregate_type: "invoice".to_owned(),
        aggregate_id: "inv_1".to_owned(),
        event_type: "invoice.paid".to_owned(),
        payload: Payload::of(payload.to_vec()),
    }
}

/// What is due, with its subscribers.
async fn due<S: Store>(store: &S) -> Vec<(Id, usize)> {
    let mut tx = store.begin().await.unwrap();
    let now = store.now(&mut tx).await.unwrap();
    let mut due = Vec::new();
    for event in store.due_events(&mut tx, 100, now).await.unwrap() {
        due.push((event.id, store.subscribers(&mut tx, event.id).await.unwrap().len()));
    }
    due
}

async fn stored(store: &PgStore) -> (Option<String>, Option<Vec<u8>>) {
    let sql = "SELECT payload, payload_bytes FROM outbox_events";
    sqlx::query_as(sql).fetch_one(store.pool()).await.unwrap()
}

#[tokio::test]
async fn an_event_of_a_transaction_that_rolled_back_never_was() {
    let store = databases::postgres(Clock::database()).await;
    let event = message(Id(1), EXACT.as_bytes());
    let mut tx = store.pool().begin().await.unwrap();
    assert_eq!(outbox::enqueue(&mut tx, &event).await, Ok(Published::Accepted));
    tx.rollback().await.unwrap();
    assert_eq!(due(&store).await, []);
    let mut tx = store.pool().begin().await.unwrap();
    assert_eq!(outbox::enqueue(&mut tx, &event).await, Ok(Published::Accepted));
    tx.commit().await.unwrap();
    assert_eq!(due(&store).await, [(Id(1), 2)]);
    assert_eq!(stored(&store).await, (Some(EXACT.to_owned()), None));
}

#[tokio::test]
async fn an_idempotency_key_makes_one_event() {
    let store = databases::postgres(Clock::database()).await;
    let id = ident::named(&["shop", "order-1-paid"]);
    let mut connection = store.pool().acquire().await.unwrap();
    let mut publish = async |payload: &[u8]| {
        outbox::enqueue(&mut *connection, &message(id, payload)).await.unwrap()
    };
    assert_eq!(publish(b"{}").await, Published::Accepted);
    assert_eq!(publish(b"{}").await, Published::Duplicate);
    assert_eq!(publish(b"{ }").await, Published::KeyReused);
    drop(connection);
    assert_eq!(due(&store).await, [(id, 2)]);
}

#[tokio::test]
async fn a_duplicate_waits_for_the_first_publisher_to_end() {
    let store = databases::postgres(Clock::database()).await;
    let mut first = store.pool().begin().await.unwrap();
    outbox::enqueue(&mut first, &message(Id(1), b"{}")).await.unwrap();
    let mut second = store.pool().begin().await.unwrap();
    let event = message(Id(1), b"{}");
    let (published, ()) = tokio::join!(outbox::enqueue(&mut second, &event), async {
        let waits = "SELECT EXISTS (SELECT FROM pg_stat_activity
             WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO outbox_events%')";
        while !sqlx::query_scalar::<_, bool>(waits).fetch_one(store.pool()).await.unwrap() {
            tokio::task::yield_now().await;
        }
        first.rollback().await.unwrap();
    });
    assert_eq!(published, Ok(Published::Accepted), "the first one never was");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_stored_as_bytes() {
    let store = databases::postgres(Clock::database()).await;
    let mut connection = store.pool().acquire().await.unwrap();
    let bytes = [0xff, 0, b'\\'];
    outbox::enqueue(&mut *connection, &message(Id(1), &bytes)).await.unwrap();
    drop(connection);
    assert_eq!(stored(&store).await, (None, Some(bytes.to_vec())));
}

#[tokio::test]
async fn a_plain_insert_of_the_contracts_columns_is_a_complete_enqueue() {
    let store = databases::postgres(Clock::database()).await;
    sqlx::raw_sql("UPDATE hookproof_endpoints SET account = ''")
        .execute(store.pool())
        .await
        .unwrap();
    sqlx::query(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload)
         VALUES ('00000000-0000-0000-0000-00000000000a', 'invoice', 'inv_1', 'invoice.paid', $1)",
    )
    .bind(EXACT)
    .execute(store.pool())
    .await
    .unwrap();
    assert_eq!(due(&store).await, [(Id(10), 2)]);
    assert_eq!(stored(&store).await.0.as_deref(), Some(EXACT));
    let mut connection = store.pool().acquire().await.unwrap();
    let again = outbox::enqueue(&mut *connection, &message(Id(10), EXACT.as_bytes())).await;
    assert_eq!(again, Ok(Published::Duplicate), "the library knows it by its bytes");
}

#[tokio::test]
async fn a_plain_insert_into_sqlite_is_one_too_in_either_case() {
    let (store, _folder) = databases::sqlite(Clock::database()).await;
    sqlx::query(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, account)
         VALUES ('00000000-0000-0000-0000-00000000000A', 'invoice', 'inv_1', 'invoice.seen', ?, 'shop')",
    )
    .bind(EXACT)
    .execute(store.pool())
    .await
    .unwrap();
    assert_eq!(due(&store).await, [(Id(10), 1)], "one of two subscribes to {EVERY_TYPE}");
    let again = publish(&store, &message(Id(10), EXACT.as_bytes())).await;
    assert_eq!(again, Published::Duplicate);
}

async fn publish(store: &SqliteStore, message: &Message) -> Published {
    let mut tx = store.pool().begin().await.unwrap();
    let published = outbox::enqueue(&mut tx, message).await.unwrap();
    tx.commit().await.unwrap();
    published
}
