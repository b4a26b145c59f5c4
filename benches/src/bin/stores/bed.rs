//! A schema with its store, and what is done to it.

use std::{env, str::FromStr as _};

use anyhow::{Context, Result};
use hookproof::{
    Bundle, Callback, Clock, Content, Durability, Keys, Letter, PgStore, Store, commit,
    commit_each, ident,
};
use hookproof_core::{
    Id, endpoint,
    inbox::{self, Arrival, Reading, Reply},
    outbox::{Attempt, Claim, Ended},
    payload::Payload,
    plan::Write,
    profile::{InboxPolicy, Profile},
    work,
};
use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};

/// The endpoint whose deliveries are claimed, and one that answers nobody.
pub(crate) const LIVE: Id = Id(1);
pub(crate) const DEAD: Id = Id(2);

/// A store of one connection in a schema of its own.
pub(crate) async fn store(schema: &str) -> Result<PgStore> {
    let url = env::var("HOOKPROOF_POSTGRES").context(
        "expected HOOKPROOF_POSTGRES to name a server: run this by `cargo xtask postgres`",
    )?;
    let options = PgConnectOptions::from_str(&url)?;
    let mut connection = PgConnection::connect_with(&options).await?;
    run(&mut connection, &format!("CREATE SCHEMA {schema}")).await?;
    let options = options.options([("search_path", schema)]);
    PgStore::migrate(options.clone()).await?;
    let store = PgStore::open(options, 1, Durability::Required, Clock::database()).await?;
    for id in [LIVE, DEAD] {
        let callback = Callback {
            account: String::new(),
            url: "https://example.com/hook".to_owned(),
            event_types: Vec::new(),
        };
        let tx = store.begin().await?;
        commit(&store, tx, endpoint::register(id), Content::Callback(&callback)).await?;
    }
    Ok(store)
}

pub(crate) async fn run(connection: &mut PgConnection, sql: &str) -> Result<()> {
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(connection).await?;
    Ok(())
}

/// So many deliveries to an endpoint, due this long from now.
pub(crate) async fn deliveries(store: &PgStore, to: Id, rows: i64, wait_ms: i64) -> Result<()> {
    insert(store, to, rows, &format!("'pending', hookproof_now() + {wait_ms}")).await
}

/// So many deliveries to an endpoint that are over.
pub(crate) async fn acknowledged(store: &PgStore, to: Id, rows: i64) -> Result<()> {
    insert(store, to, rows, "'acknowledged', NULL").await
}

async fn insert(store: &PgStore, to: Id, rows: i64, stand: &str) -> Result<()> {
    let to = uuid::Uuid::from_u128(to.0);
    let sql = format!(
        "INSERT INTO hookproof_deliveries
             (id, rev, subject_kind, subject, transition, occurrence, endpoint, stand, wake, hurried,
              attempt, rung, cycle, fence, created)
         SELECT gen_random_uuid(), 0, 'event', gen_random_uuid(), 0, 0, '{to}', {stand}, false, 0, 0,
             1, 0, hookproof_now() FROM generate_series(1, {rows})"
    );
    run(&mut *store.pool().acquire().await?, &sql).await
}

/// So many receipts, processed, or waiting this long.
pub(crate) async fn receipts(store: &PgStore, rows: i64, wait_ms: Option<i64>) -> Result<()> {
    let (status, wake) = match wait_ms {
        None => ("PROCESSED", "NULL".to_owned()),
        Some(ms) => ("QUEUED", format!("hookproof_now() + {ms}")),
    };
    let sql = format!(
        "INSERT INTO webhook_inbox
             (id, partner_name, partner_event_id, payload, event_type, resource, digest, rev, status,
              wake, strikes, fence, applied, cap, processed_at)
         SELECT gen_random_uuid(), 'partner', gen_random_uuid()::text, '{{}}', 'order.paid', 'order_1',
             decode(md5(n::text), 'hex'), 0, '{status}', {wake}, 0, 0, false, 0, now()
         FROM generate_series(1, {rows}) AS n"
    );
    run(&mut *store.pool().acquire().await?, &sql).await
}

pub(crate) fn profile() -> Profile {
    Profile { slots: u16::MAX, ..Profile::hookproof() }
}

/// Claims what is due on the first lane, at most so many.
pub(crate) async fn claim(store: &PgStore, most: u16) -> Result<Vec<Attempt>> {
    let mut tx = store.begin().await?;
    let lanes = store.lanes(&mut tx, None, 10).await?;
    let now = store.now(&mut tx).await?;
    let Some(mut lane) = lanes.into_iter().find(|lane| lane.endpoint.id == LIVE) else {
        return Ok(Vec::new());
    };
    let due = store.due_deliveries(&mut tx, &[(LIVE, most)], now).await?;
    let mut plans = Vec::with_capacity(due.len());
    for row in &due {
        let Some(plan) = row.claim(&lane, now, 0, &profile()) else { continue };
        for write in plan.writes() {
            if let Write::Endpoint(put) = write {
                lane.endpoint = put.row;
            }
        }
        lane.in_flight += 1;
        plans.push(plan);
    }
    let claims = commit_each(store, tx, plans, &[]).await;
    let attempts = claims.into_iter().filter_map(|claim| match claim {
        Ok(Claim::Send(attempt)) => Some(attempt),
        Ok(Claim::Failed | Claim::Cancelled) | Err(_) => None,
    });
    Ok(attempts.collect())
}

/// Writes down that each was acknowledged.
pub(crate) async fn settle(store: &PgStore, attempts: Vec<Attempt>) -> Result<usize> {
    let mut tx = store.begin().await?;
    let ids = attempts.iter().map(|attempt| attempt.ticket().delivery).collect();
    let rows = store.load(&mut tx, &Keys { deliveries: ids, ..Keys::default() }).await?;
    let endpoint = store.endpoint(&mut tx, LIVE).await?.context("an endpoint")?;
    let now = store.now(&mut tx).await?;
    let plans = attempts.into_iter().filter_map(|attempt| {
        let row = rows.deliveries.iter().find(|row| row.id == attempt.ticket().delivery)?;
        let request = attempt.start(0, &profile()).ok()?;
        request.settle(row, &endpoint, Ended::Acknowledged, now, 0, &profile())
    });
    let settled = commit_each(store, tx, plans.collect(), &[]).await;
    Ok(settled.iter().filter(|stand| stand.is_ok()).count())
}

/// Receives so many new deliveries, and claims as many for work.
pub(crate) async fn receive_and_take(store: &PgStore, most: u16) -> Result<usize> {
    let policy = InboxPolicy::hookproof();
    let letters: Vec<Letter> = (0..most).map(|_| letter(&ident::fresh().0.to_string())).collect();
    let content: Vec<Content<'_>> = letters.iter().map(Content::Letter).collect();
    let mut tx = store.begin().await?;
    let now = store.now(&mut tx).await?;
    let proposal = hookproof_core::model::Proposal {
        entity: Id(1),
        event: hookproof_core::model::EventType(0),
        occurrence: 0,
        version: 0,
    };
    let plans = letters.iter().map(|letter| {
        let arrival = Arrival {
            receipt: ident::fresh(),
            digest: ident::digest(letter.payload.as_bytes()),
            reading: Reading::Proposal(proposal),
        };
        inbox::receive(None, &arrival, now, &policy)
    });
    let plans = plans.collect();
    commit_each(store, tx, plans, &content).await;
    let mut tx = store.begin().await?;
    let now = store.now(&mut tx).await?;
    let due = store.due_receipts(&mut tx, most, now).await?;
    let plans = due.iter().filter_map(|receipt| receipt.claim(now, &policy)).collect();
    let taken = commit_each(store, tx, plans, &[]).await;
    Ok(taken.iter().filter(|claim| matches!(claim, Ok(work::Claim::Work(_)))).count())
}

pub(crate) fn letter(delivery: &str) -> Letter {
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

/// Receives a delivery as a receiver does: it looks for it, and inserts it where it is new.
pub(crate) async fn receive(store: &PgStore, letter: &Letter) -> Result<Reply> {
    let mut tx = store.begin().await?;
    let found =
        store.receipt_of(&mut tx, &letter.source, &letter.account, &letter.delivery).await?;
    let now = store.now(&mut tx).await?;
    let digest = ident::digest(letter.payload.as_bytes());
    let arrival = Arrival { receipt: ident::fresh(), digest, reading: Reading::UnknownType };
    let plan = inbox::receive(found.as_ref(), &arrival, now, &InboxPolicy::hookproof());
    Ok(commit(store, tx, plan, Content::Letter(letter)).await?)
}

/// Inserts a delivery that another transaction has received since anybody looked. Whether it was new.
pub(crate) async fn receive_blindly(store: &PgStore, letter: &Letter) -> Result<bool> {
    let mut tx = store.begin().await?;
    let now = store.now(&mut tx).await?;
    let digest = ident::digest(letter.payload.as_bytes());
    let arrival = Arrival { receipt: ident::fresh(), digest, reading: Reading::UnknownType };
    let plan = inbox::receive(None, &arrival, now, &InboxPolicy::hookproof());
    let bundle = Bundle { writes: plan.writes(), content: Content::Letter(letter) };
    let written = store.write_each(&mut tx, &[bundle]).await?;
    store.commit(tx).await?;
    Ok(written == [true])
}

/// The name and the text of the store's own statement that begins so, as its connection has prepared it.
pub(crate) async fn prepared(store: &PgStore, has: &str) -> Result<(String, String)> {
    let sql = "SELECT name, statement FROM pg_prepared_statements
         WHERE position($1 IN regexp_replace(statement, '\\s+', ' ', 'g')) > 0
             AND statement NOT LIKE '%pg_prepared_statements%' LIMIT 1";
    let found = sqlx::query_as(sql).bind(has).fetch_optional(store.pool()).await?;
    found.with_context(|| format!("expected a prepared statement with {has}"))
}

/// Prints how the server carries a prepared statement out.
pub(crate) async fn explain(store: &PgStore, has: &str, arguments: &str) -> Result<()> {
    let (name, _) = prepared(store, has).await?;
    let mut tx = store.pool().begin().await?;
    let sql =
        format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF) EXECUTE {name}({arguments})");
    let lines: Vec<String> =
        sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(&mut *tx).await?;
    tx.rollback().await?;
    println!("\n{has} …");
    for line in lines {
        println!("    {line}");
    }
    Ok(())
}
