//! Which rows a transaction has locked, how, and in which order. PostgreSQL alone: SQLite locks the database.

use std::{cell::Cell, collections::BTreeSet};

use hookproof::{
    Astray, Bundle, Callback, Clock, Content, Keys, Letter, PgStore, Store, UpkeepStore, ident,
};
use hookproof_core::{
    Digest, Id, Millis,
    endpoint::Endpoint,
    inbox::{Arrival, Reading, Receipt, receive},
    model::{Operation, Transition},
    outbox::{Delivery, Event, Subject},
    payload::Payload,
    plan::{Put, Write},
    profile::InboxPolicy,
};
use sqlx::{Postgres, Transaction, postgres::PgConnectOptions};

use crate::{databases, race::waits_for_a_lock};

const NOW: Millis = Millis(1_700_000_000_000);

const TABLES: [&str; 5] = [
    "hookproof_endpoints",
    "hookproof_entities",
    "webhook_inbox",
    "outbox_events",
    "hookproof_deliveries",
];

/// A store without plans that would put rows in order by themselves, and in each table the rows c, b and a.
async fn store() -> PgStore {
    let by_heap = |options: PgConnectOptions| {
        options.options([("enable_indexscan", "off"), ("enable_bitmapscan", "off")])
    };
    let store = databases::postgres_with(by_heap, Clock::fixed(NOW)).await;
    for key in [C, B, A] {
        let mut tx = store.begin().await.unwrap();
        store.load(&mut tx, &entity(key)).await.unwrap();
        for fresh in fresh(key) {
            assert_eq!(fresh.write(&store, &mut tx).await, [true]);
        }
        let event = event(key);
        let insert = "INSERT INTO outbox_events
             (id, aggregate_type, aggregate_id, event_type, payload, digest, wake)
             VALUES ($1, 'invoice', 'inv_1', 'paid', '{}', decode(repeat('00', 16), 'hex'), 0)";
        let insert = sqlx::query(insert).bind(uuid::Uuid::from_u128(event.id.0));
        insert.execute(&mut *tx).await.unwrap();
        store.commit(tx).await.unwrap();
    }
    store
}

const A: Id = Id(0xa);
const B: Id = Id(0xb);
const C: Id = Id(0xc);

/// Loading it makes it.
fn entity(key: Id) -> Keys {
    Keys { entities: vec![key], ..Keys::default() }
}

fn keys(ids: &[Id]) -> [Keys; 5] {
    let ids = || ids.to_vec();
    [
        Keys { endpoints: ids(), ..Keys::default() },
        Keys { entities: ids(), ..Keys::default() },
        Keys { receipts: ids(), ..Keys::default() },
        Keys { events: ids(), ..Keys::default() },
        Keys { deliveries: ids(), ..Keys::default() },
    ]
}

/// What locks a row of each table when it is written.
fn guarded(key: Id) -> [Write; 5] {
    let was = Some(0);
    [
        Write::HoldEndpoint { id: key, rev: 0 },
        Write::HoldEntity { id: key, rev: 0 },
        Write::Receipt(Put { was, row: receipt(key) }),
        Write::Event(Put { was, row: event(key) }),
        Write::Delivery(Put { was, row: delivery(key) }),
    ]
}

fn event(key: Id) -> Event {
    Event {
        id: key,
        rev: 0,
        digest: Digest(0),
        created: NOW,
        wake: Some(Millis(0)),
        processed: None,
    }
}

fn receipt(key: Id) -> Receipt {
    let arrival =
        Arrival { receipt: key, digest: ident::digest(b"{}"), reading: Reading::UnknownType };
    let plan = receive(None, &arrival, NOW, &InboxPolicy::hookproof());
    let [Write::Receipt(put)] = plan.writes() else { unreachable!("it is the first") };
    put.row
}

fn delivery(key: Id) -> Delivery {
    Delivery::made(key, Subject::Event(key), Id(0), NOW)
}

/// A new row, with what is stored beside it.
struct Fresh {
    write: Write,
    callback: Callback,
    letter: Letter,
}

impl Fresh {
    async fn write(&self, store: &PgStore, tx: &mut Transaction<'static, Postgres>) -> Vec<bool> {
        store.write_each(tx, &[self.bundle()]).await.unwrap()
    }

    fn bundle(&self) -> Bundle<'_> {
        let content = match self.write {
            Write::Endpoint(_) => Content::Callback(&self.callback),
            Write::Receipt(_) => Content::Letter(&self.letter),
            _ => Content::None,
        };
        Bundle { writes: std::slice::from_ref(&self.write), content }
    }
}

/// A new row of each kind that plans insert.
fn fresh(key: Id) -> [Fresh; 4] {
    [
        Write::Endpoint(Put { was: None, row: Endpoint::registered(key) }),
        Write::Operation(Operation { entity: key, transition: Transition(0), occurrence: 0 }),
        Write::Receipt(Put { was: None, row: receipt(key) }),
        Write::Delivery(Put { was: None, row: delivery(key) }),
    ]
    .map(|write| Fresh {
        write,
        callback: Callback {
            account: String::new(),
            url: "https://example.com/hook".to_owned(),
            event_types: Vec::new(),
        },
        letter: Letter {
            source: "partner".to_owned(),
            account: String::new(),
            delivery: format!("{:032x}", key.0),
            event_type: "order.paid".to_owned(),
            resource: "order_1".to_owned(),
            verified_by: String::new(),
            payload: Payload::of(b"{}".to_vec()),
        },
    })
}

/// Whether a row can be locked in this way at once.
async fn is_free(store: &PgStore, table: &str, key: Id, strength: &str) -> bool {
    let sql = format!("SELECT id FROM {table} WHERE id = $1 FOR {strength} SKIP LOCKED");
    let mut tx = store.pool().begin().await.unwrap();
    let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(uuid::Uuid::from_u128(key.0));
    row.fetch_optional(&mut *tx).await.unwrap().is_some()
}

#[tokio::test]
async fn what_is_loaded_is_locked_and_its_key_is_not() {
    let store = store().await;
    for (table, keys) in TABLES.into_iter().zip(keys(&[A])) {
        let mut tx = store.begin().await.unwrap();
        store.load(&mut tx, &keys).await.unwrap();
        assert!(!is_free(&store, table, A, "NO KEY UPDATE").await, "{table}");
        assert!(is_free(&store, table, A, "KEY SHARE").await, "{table}: what is beside it waits");
        assert!(is_free(&store, table, B, "NO KEY UPDATE").await, "{table}: nobody asked for it");
        store.rollback(tx).await.unwrap();
    }
}

#[tokio::test]
async fn what_a_plan_guards_is_locked_and_its_key_is_not() {
    let store = store().await;
    for (table, write) in TABLES.into_iter().zip(guarded(A)) {
        let mut tx = store.begin().await.unwrap();
        let bundle = Bundle { writes: &[write], content: Content::None };
        assert_eq!(store.write_each(&mut tx, &[bundle]).await, Ok(vec![true]), "{table}");
        assert!(!is_free(&store, table, A, "NO KEY UPDATE").await, "{table}");
        assert!(is_free(&store, table, A, "KEY SHARE").await, "{table}: what is beside it waits");
        assert!(is_free(&store, table, B, "NO KEY UPDATE").await, "{table}: nobody asked for it");
        store.rollback(tx).await.unwrap();
    }
}

/// Runs a step that must come to wait for a lock, does what is to be seen meanwhile, and lets it through.
async fn while_it_waits<T>(
    store: &PgStore,
    pid: i32,
    holder: Transaction<'static, Postgres>,
    step: impl Future<Output = T>,
    look: impl AsyncFnOnce(),
) -> T {
    let has_ended = Cell::new(false);
    let step = async {
        let output = step.await;
        has_ended.set(true);
        output
    };
    let (output, ()) = tokio::join!(step, async {
        while !waits_for_a_lock(store.pool(), pid).await {
            assert!(!has_ended.get(), "it waits for the row in the middle");
        }
        look().await;
        store.rollback(holder).await.unwrap();
    });
    output
}

async fn pid(tx: &mut Transaction<'static, Postgres>) -> i32 {
    sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut **tx).await.unwrap()
}

#[tokio::test]
async fn rows_are_loaded_in_the_order_of_their_keys() {
    let store = store().await;
    let wanted = keys(&[C, A, B]);
    for ((table, keys), held) in TABLES.into_iter().zip(wanted).zip(keys(&[B])) {
        let (mut holder, mut tx) = (store.begin().await.unwrap(), store.begin().await.unwrap());
        store.load(&mut holder, &held).await.unwrap();
        let pid = pid(&mut tx).await;
        let load = async { store.load(&mut tx, &keys).await.map(drop) };
        let look = async || {
            assert!(!is_free(&store, table, A, "NO KEY UPDATE").await, "{table}: the first");
            assert!(is_free(&store, table, C, "NO KEY UPDATE").await, "{table}: the last");
        };
        while_it_waits(&store, pid, holder, load, look).await.unwrap();
        store.rollback(tx).await.unwrap();
    }
}

#[tokio::test]
async fn guards_are_locked_in_the_order_of_their_keys() {
    let store = store().await;
    for (at, table) in TABLES.into_iter().enumerate() {
        let (mut holder, mut tx) = (store.begin().await.unwrap(), store.begin().await.unwrap());
        store.load(&mut holder, &keys(&[B])[at]).await.unwrap();
        let pid = pid(&mut tx).await;
        let writes = [guarded(C)[at], guarded(A)[at], guarded(B)[at]];
        let bundles = [0, 1, 2].map(|n| Bundle { writes: &writes[n..=n], content: Content::None });
        let write = store.write_each(&mut tx, &bundles);
        let look = async || {
            assert!(!is_free(&store, table, A, "NO KEY UPDATE").await, "{table}: the first");
            assert!(is_free(&store, table, C, "NO KEY UPDATE").await, "{table}: the last");
        };
        let done = while_it_waits(&store, pid, holder, write, look).await;
        assert_eq!(done, Ok(vec![true; 3]), "{table}");
        store.rollback(tx).await.unwrap();
    }
}

/// Whether nobody is just inserting this.
async fn is_untaken(store: &PgStore, fresh: &Fresh) -> bool {
    let mut tx = impatient(store).await;
    let written = store.write_each(&mut tx, &[fresh.bundle()]).await;
    store.rollback(tx).await.unwrap();
    written == Ok(vec![true])
}

/// Whether nobody is just making this entity.
async fn is_unmade(store: &PgStore, key: Id) -> bool {
    let mut tx = impatient(store).await;
    let made = store.load(&mut tx, &entity(key)).await;
    store.rollback(tx).await.unwrap();
    made.is_ok()
}

/// A transaction that does not wait for others.
async fn impatient(store: &PgStore) -> Transaction<'static, Postgres> {
    let mut tx = store.begin().await.unwrap();
    sqlx::query("SET LOCAL lock_timeout = '1ms'").execute(&mut *tx).await.unwrap();
    tx
}

#[tokio::test]
async fn rows_are_inserted_in_the_order_of_their_keys() {
    let store = databases::postgres(Clock::fixed(NOW)).await;
    for at in 0..fresh(A).len() {
        let [a, b, c] = [A, B, C].map(|key| {
            let fresh: Vec<Fresh> = fresh(key).into();
            fresh.into_iter().nth(at).expect("a kind")
        });
        let (mut holder, mut tx) = (store.begin().await.unwrap(), store.begin().await.unwrap());
        assert_eq!(b.write(&store, &mut holder).await, [true]);
        let pid = pid(&mut tx).await;
        let bundles = [c.bundle(), a.bundle(), b.bundle()];
        let write = store.write_each(&mut tx, &bundles);
        let look = async || {
            assert!(!is_untaken(&store, &a).await, "{:?}: the first", a.write);
            assert!(is_untaken(&store, &c).await, "{:?}: the last", c.write);
        };
        let done = while_it_waits(&store, pid, holder, write, look).await;
        assert_eq!(done, Ok(vec![true; 3]), "{:?}", a.write);
        store.rollback(tx).await.unwrap();
    }
}

#[tokio::test]
async fn entities_are_made_in_the_order_of_their_keys() {
    let store = databases::postgres(Clock::fixed(NOW)).await;
    let (mut holder, mut tx) = (store.begin().await.unwrap(), store.begin().await.unwrap());
    store.load(&mut holder, &entity(B)).await.unwrap();
    let pid = pid(&mut tx).await;
    let wanted = Keys { entities: vec![C, A, B], ..Keys::default() };
    let load = async { store.load(&mut tx, &wanted).await.map(drop) };
    let look = async || {
        assert!(!is_unmade(&store, A).await, "the first");
        assert!(is_unmade(&store, C).await, "the last");
    };
    while_it_waits(&store, pid, holder, load, look).await.unwrap();
}

#[tokio::test]
async fn what_is_looked_through_passes_by_what_another_holds() {
    let store = store().await;
    fall_asleep(&store).await;
    for table in ["outbox_events", "hookproof_deliveries"] {
        let wake = sqlx::AssertSqlSafe(format!("UPDATE {table} SET wake = $1"));
        sqlx::query(wake).bind((NOW + 1).0 as i64).execute(store.pool()).await.unwrap();
    }
    let mut holder = store.begin().await.unwrap();
    for keys in keys(&[B]) {
        store.load(&mut holder, &keys).await.unwrap();
    }
    let mut tx = impatient(&store).await;
    let due = store.due_receipts(&mut tx, 9, NOW + 1).await.unwrap();
    let due: BTreeSet<u128> = due.iter().map(|receipt| receipt.id.0).collect();
    assert_eq!(due, [A.0, C.0].into());
    for astray in [Astray::Events, Astray::Deliveries, Astray::Receipts] {
        assert_eq!(store.pull_in(&mut tx, astray, NOW, 9).await, Ok(2), "{astray:?}");
    }
}

/// Whoever decides on the sleeper waits for the entity that its waker holds: a wake that waited too would be
/// a deadlock.
#[tokio::test]
async fn a_wake_passes_by_what_is_being_decided() {
    let store = store().await;
    fall_asleep(&store).await;
    let receipts = |ids: &[Id]| Keys { receipts: ids.to_vec(), ..Keys::default() };
    let mut holder = store.begin().await.unwrap();
    store.load(&mut holder, &receipts(&[B])).await.unwrap();
    let mut tx = impatient(&store).await;
    let wake = Bundle { writes: &[Write::Wake { entity: A }], content: Content::None };
    assert_eq!(store.write_each(&mut tx, &[wake]).await, Ok(vec![true]));
    store.commit(tx).await.unwrap();
    store.rollback(holder).await.unwrap();
    let mut tx = store.begin().await.unwrap();
    let rows = store.load(&mut tx, &receipts(&[A, B, C])).await.unwrap();
    let wakes: Vec<_> = rows.receipts.iter().map(Receipt::wake).collect();
    assert_eq!(wakes, [Some(NOW), Some(NOW + 1), Some(NOW)]);
}

/// Every receipt waits for the first entity.
async fn fall_asleep(store: &PgStore) {
    let asleep = "UPDATE webhook_inbox SET status = 'DEFERRED', wake = $1, entity = $2";
    let asleep = sqlx::query(asleep).bind((NOW + 1).0 as i64).bind(uuid::Uuid::from_u128(A.0));
    asleep.execute(store.pool()).await.unwrap();
}

/// A guard that was waited for shows what was committed meanwhile, whatever the server's default is.
#[tokio::test]
async fn a_transaction_reads_what_is_committed_whatever_the_default() {
    let serializable = |options: PgConnectOptions| {
        options.options([("default_transaction_isolation", "serializable")])
    };
    let store = databases::postgres_with(serializable, Clock::fixed(NOW)).await;
    let mut tx = store.begin().await.unwrap();
    let level: String =
        sqlx::query_scalar("SHOW transaction_isolation").fetch_one(&mut *tx).await.unwrap();
    assert_eq!(level, "read committed");
}
