//! Batches with a bad member, rows that somebody else holds, and connections that are lost.

use std::cell::Cell;

use hookproof::{
    Bundle, Callback, Clock, Content, EVERY_TYPE, Error, Keys, Letter, Message, Store, commit,
    commit_each, ident,
};
use hookproof_core::{
    Id, Millis,
    endpoint::{self, Endpoint},
    inbox::{self, Arrival, Reading, Reply},
    outbox::Event,
    payload::Payload,
    plan::{Outcome, Plan},
    profile::InboxPolicy,
};
use sqlx::postgres::PgConnectOptions;

use crate::{databases, race::waits_for_a_lock};

pub(super) const NOW: Millis = Millis(1_700_000_000_000);

pub(super) fn letter(delivery: &str) -> Letter {
    Letter {
        source: "partner".to_owned(),
        account: String::new(),
        delivery: delivery.to_owned(),
        event_type: "order.paid".to_owned(),
        resource: "order_1".to_owned(),
        verified_by: String::new(),
        payload: Payload::of(b"{}".to_vec()),
    }
}

pub(super) fn received(receipt: u128) -> Plan<Reply> {
    let digest = ident::digest(b"{}");
    let arrival = Arrival { receipt: Id(receipt), digest, reading: Reading::UnknownType };
    inbox::receive(None, &arrival, NOW, &InboxPolicy::hookproof())
}

async fn receive<S: Store>(store: &S, receipts: &[(u128, &str)]) -> Vec<Result<Reply, Error>> {
    let letters: Vec<Letter> = receipts.iter().map(|(_, delivery)| letter(delivery)).collect();
    let content: Vec<Content<'_>> = letters.iter().map(Content::Letter).collect();
    let plans = receipts.iter().map(|(receipt, _)| received(*receipt)).collect();
    commit_each(store, store.begin().await.unwrap(), plans, &content).await
}

async fn only_the_second_of_two_copies_in_a_batch_conflicts<S: Store>(store: S) {
    let replies = receive(&store, &[(1, "a"), (2, "b"), (3, "a")]).await;
    assert_eq!(replies, [Ok(Reply::Accepted), Ok(Reply::Accepted), Err(Error::Conflict)]);
    let replies = receive(&store, &[(4, "b"), (5, "c")]).await;
    assert_eq!(replies, [Err(Error::Conflict), Ok(Reply::Accepted)]);
}

#[tokio::test]
async fn copies_in_a_batch_fold_in_postgresql() {
    let store = databases::postgres(Clock::fixed(NOW)).await;
    only_the_second_of_two_copies_in_a_batch_conflicts(store).await;
}

#[tokio::test]
async fn copies_in_a_batch_fold_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::fixed(NOW)).await;
    only_the_second_of_two_copies_in_a_batch_conflicts(store).await;
}

async fn an_endpoint_that_is_registered_again_is_a_conflict<S: Store>(store: S) {
    let callback = Callback {
        account: "thief".to_owned(),
        url: "https://example.net/hook".to_owned(),
        event_types: vec![EVERY_TYPE.to_owned()],
    };
    let tx = store.begin().await.unwrap();
    let plan = endpoint::register(Id(0));
    let again = commit(&store, tx, plan, Content::Callback(&callback)).await;
    assert_eq!(again, Err(Error::Conflict));
    published(&store, &[1]).await;
    let mut tx = store.begin().await.unwrap();
    assert_eq!(store.subscribers(&mut tx, Id(1)).await.unwrap().len(), 2, "it is the shop's still");
}

#[tokio::test]
async fn an_endpoint_is_registered_once_in_postgresql() {
    let store = databases::postgres(Clock::fixed(NOW)).await;
    an_endpoint_that_is_registered_again_is_a_conflict(store).await;
}

#[tokio::test]
async fn an_endpoint_is_registered_once_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::fixed(NOW)).await;
    an_endpoint_that_is_registered_again_is_a_conflict(store).await;
}

/// R4: only the violation of the delivery's own constraint is a duplicate.
async fn another_violation_is_an_error_and_no_duplicate<S: Store>(store: S) {
    assert_eq!(receive(&store, &[(1, "a")]).await, [Ok(Reply::Accepted)]);
    let replies = receive(&store, &[(1, "b"), (2, "c")]).await;
    assert!(matches!(replies[0], Err(Error::Database(_))), "R4: {replies:?}");
    assert_eq!(replies[1], Ok(Reply::Accepted), "a stranger gets through");
}

#[tokio::test]
pub(crate) async fn a_taken_key_is_no_duplicate_in_postgresql() {
    let store = databases::postgres(Clock::fixed(NOW)).await;
    another_violation_is_an_error_and_no_duplicate(store).await;
}

#[tokio::test]
pub(crate) async fn a_taken_key_is_no_duplicate_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::fixed(NOW)).await;
    another_violation_is_an_error_and_no_duplicate(store).await;
}

/// R4: two copies of a delivery, each with a key of its own, whose transactions are open at once.
#[tokio::test]
pub(crate) async fn two_copies_at_once_are_one_receipt() {
    let store = databases::postgres(Clock::fixed(NOW)).await;
    let content = letter("a");
    let write = async |tx: &mut _, receipt| {
        let plan = received(receipt);
        let bundle = Bundle { writes: plan.writes(), content: Content::Letter(&content) };
        store.write_each(tx, &[bundle]).await.unwrap()
    };
    let (mut first, mut second) = (store.begin().await.unwrap(), store.begin().await.unwrap());
    let pid = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut *second).await.unwrap();
    assert_eq!(write(&mut first, 1).await, [true]);
    let has_ended = Cell::new(false);
    let copy = async {
        let written = write(&mut second, 2).await;
        has_ended.set(true);
        written
    };
    let (copy, ()) = tokio::join!(copy, async {
        while !has_ended.get() && !waits_for_a_lock(store.pool(), pid).await {}
        store.commit(first).await.unwrap();
    });
    assert_eq!(copy, [false], "R4: one receipt of two copies");
}

pub(super) async fn published<S: Store>(store: &S, ids: &[u128]) -> Vec<Event> {
    let mut tx = store.begin().await.unwrap();
    for id in ids {
        let message = Message {
            id: Id(*id),
            account: "shop".to_owned(),
            aggregate_type: "invoice".to_owned(),
            aggregate_id: "inv_1".to_owned(),
            event_type: "invoice.paid".to_owned(),
            payload: Payload::of(b"{}".to_vec()),
        };
        store.publish(&mut tx, &message).await.unwrap();
    }
    store.commit(tx).await.unwrap();
    let keys = Keys { events: ids.iter().copied().map(Id).collect(), ..Keys::default() };
    let mut tx = store.begin().await.unwrap();
    let rows = store.load(&mut tx, &keys).await.unwrap();
    store.rollback(tx).await.unwrap();
    rows.events
}

fn fan_out(event: &Event, keys: [u128; 2]) -> Plan<usize> {
    let to = |endpoint: u128| (Endpoint::registered(Id(endpoint)), Id(keys[endpoint as usize]));
    event.fan_out(&[to(0), to(1)], NOW).expect("it is due")
}

/// A plan that finds a place taken after it has inserted into another one.
async fn a_plan_that_fails_late_leaves_nothing_behind<S: Store>(store: S) {
    let events = published(&store, &[1, 2]).await;
    // Somebody has delivery 11 already, of the first event to the second endpoint.
    let only_second = [(Endpoint::registered(Id(1)), Id(11))];
    let stray = Event { id: Id(1), ..events[0] }.fan_out(&only_second, NOW).expect("due");
    let stray = Bundle { writes: &stray.writes()[1..], content: Content::None };
    let mut tx = store.begin().await.unwrap();
    assert_eq!(store.write_each(&mut tx, &[stray]).await, Ok(vec![true]));
    store.commit(tx).await.unwrap();

    let plans = vec![fan_out(&events[0], [20, 21]), fan_out(&events[1], [30, 31])];
    let made = commit_each(&store, store.begin().await.unwrap(), plans, &[]).await;
    assert_eq!(made, [Err(Error::Conflict), Ok(2)]);
    let mut tx = store.begin().await.unwrap();
    let keys = Keys {
        events: vec![Id(1), Id(2)],
        deliveries: [11, 20, 21, 30, 31].map(Id).to_vec(),
        ..Keys::default()
    };
    let rows = store.load(&mut tx, &keys).await.unwrap();
    let found: Vec<u128> = rows.deliveries.iter().map(|delivery| delivery.id.0).collect();
    assert_eq!(found, [11, 30, 31]);
    assert_eq!([rows.events[0].wake, rows.events[1].wake], [Some(NOW), None]);
}

#[tokio::test]
async fn half_a_fan_out_leaves_nothing_behind_in_postgresql() {
    let store = databases::postgres(Clock::fixed(NOW)).await;
    a_plan_that_fails_late_leaves_nothing_behind(store).await;
}

#[tokio::test]
async fn half_a_fan_out_leaves_nothing_behind_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::fixed(NOW)).await;
    a_plan_that_fails_late_leaves_nothing_behind(store).await;
}

/// Two events to the first endpoint and one to the second: deliveries 10, 20 and 11, 20 the oldest.
async fn fanned_out<S: Store>(store: &S, clock: &Clock) {
    let events = published(store, &[1, 2]).await;
    let second = event_to_first(&events[1], 20);
    commit(store, store.begin().await.unwrap(), second, Content::None).await.unwrap();
    clock.set(NOW + 1);
    let first = [(Endpoint::registered(Id(0)), Id(10)), (Endpoint::registered(Id(1)), Id(11))];
    let first = events[0].fan_out(&first, NOW + 1).expect("due");
    commit(store, store.begin().await.unwrap(), first, Content::None).await.unwrap();
}

pub(super) fn event_to_first(event: &Event, key: u128) -> Plan<usize> {
    event.fan_out(&[(Endpoint::registered(Id(0)), Id(key))], NOW).expect("due")
}

async fn a_lane_gives_its_oldest_and_no_more_than_asked<S: Store>(store: S, clock: Clock) {
    fanned_out(&store, &clock).await;
    let mut tx = store.begin().await.unwrap();
    let lanes = [(Id(0), 1), (Id(1), 1)];
    let due = store.due_deliveries(&mut tx, &lanes, NOW + 1).await.unwrap();
    let ids: Vec<u128> = due.iter().map(|delivery| delivery.id.0).collect();
    assert_eq!(ids, [20, 11]);
    let early = store.due_deliveries(&mut tx, &[(Id(0), 9), (Id(1), 9)], NOW).await.unwrap();
    assert_eq!(early.len(), 1, "what is made later is due later");
    let lanes = async |tx: &mut S::Tx, after, most| {
        let lanes = store.lanes(tx, after, most).await.unwrap();
        lanes.iter().map(|lane| lane.endpoint.id.0).collect::<Vec<_>>()
    };
    assert_eq!(lanes(&mut tx, None, 9).await, [0, 1]);
    clock.set(NOW);
    assert_eq!(lanes(&mut tx, None, 9).await, [0], "what is made later makes no lane yet");
    clock.set(NOW + 1);
    assert_eq!(lanes(&mut tx, None, 1).await, [0]);
    assert_eq!(lanes(&mut tx, Some(Id(0)), 9).await, [1]);
}

#[tokio::test]
async fn lanes_are_lanes_in_postgresql() {
    let clock = Clock::fixed(NOW);
    let store = databases::postgres(clock.clone()).await;
    a_lane_gives_its_oldest_and_no_more_than_asked(store, clock).await;
}

#[tokio::test]
async fn lanes_are_lanes_in_sqlite() {
    let clock = Clock::fixed(NOW);
    let (store, _folder) = databases::sqlite(clock.clone()).await;
    a_lane_gives_its_oldest_and_no_more_than_asked(store, clock).await;
}

#[tokio::test]
async fn what_another_session_holds_is_skipped_and_not_waited_for() {
    let clock = Clock::fixed(NOW);
    let store = databases::postgres(clock.clone()).await;
    fanned_out(&store, &clock).await;
    published(&store, &[3]).await;
    receive(&store, &[(1, "a")]).await;
    let mut holder = store.begin().await.unwrap();
    assert_eq!(store.lanes(&mut holder, None, 1).await.unwrap().len(), 1);
    let lanes = [(Id(0), 1)];
    assert_eq!(store.due_deliveries(&mut holder, &lanes, NOW + 1).await.unwrap().len(), 1);
    assert_eq!(store.due_events(&mut holder, 9, NOW + 1).await.unwrap().len(), 1);
    let mut other = store.begin().await.unwrap();
    let left = store.lanes(&mut other, None, 9).await.unwrap();
    assert_eq!(left.iter().map(|lane| lane.endpoint.id.0).collect::<Vec<_>>(), [1]);
    let left = store.due_deliveries(&mut other, &[(Id(0), 9)], NOW + 1).await.unwrap();
    assert_eq!(left.iter().map(|row| row.id.0).collect::<Vec<_>>(), [10]);
    assert_eq!(store.due_events(&mut other, 9, NOW + 1).await.unwrap(), []);
}

#[tokio::test]
async fn a_commit_whose_connection_is_lost_is_unknown() {
    let store = databases::postgres(Clock::fixed(NOW)).await;
    let mut tx = store.begin().await.unwrap();
    let plan = received(1);
    let content = letter("a");
    let bundle = Bundle { writes: plan.writes(), content: Content::Letter(&content) };
    store.write_each(&mut tx, &[bundle]).await.unwrap();
    let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut *tx).await.unwrap();
    let end = sqlx::query("SELECT pg_terminate_backend($1, 60000)").bind(pid);
    end.execute(store.pool()).await.unwrap();
    let error = store.commit(tx).await.expect_err("nobody answers");
    assert_eq!(error.outcome(), Outcome::Unknown, "{error}");
}

#[tokio::test]
async fn a_deadlock_is_a_conflict() {
    let quick = |options: PgConnectOptions| options.options([("deadlock_timeout", "1ms")]);
    let store = databases::postgres_with(quick, Clock::fixed(NOW)).await;
    published(&store, &[1, 2]).await;
    let keys = |id| Keys { events: vec![Id(id)], ..Keys::default() };
    let (mut one, mut other) = (store.begin().await.unwrap(), store.begin().await.unwrap());
    store.load(&mut one, &keys(1)).await.unwrap();
    store.load(&mut other, &keys(2)).await.unwrap();
    let cross = async |mut tx, id| {
        let found = store.load(&mut tx, &keys(id)).await.map(drop);
        store.rollback(tx).await.unwrap();
        found
    };
    let (one, other) = tokio::join!(cross(one, 2), cross(other, 1));
    assert!([&one, &other].contains(&&Err(Error::Conflict)), "{one:?} {other:?}");
}
