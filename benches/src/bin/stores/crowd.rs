//! A million rows in each table, a tenth of them waiting and a tenth due for a dead endpoint: claims look at
//! neither, so that they go as quickly as in empty tables.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use hookproof::PgStore;

use crate::{
    bed::{self, DEAD, LIVE},
    median, per_cent,
};

pub(crate) async fn run(rows: i64) -> Result<()> {
    let (empty, full) = (bed::store("bench_empty").await?, bed::store("bench_full").await?);
    fill(&full, rows).await?;
    println!("\n== claims and takes of {BATCH} rows, beside {rows} rows in each table");
    let mut sent: [Vec<Duration>; 2] = Default::default();
    let mut taken: [Vec<Duration>; 2] = Default::default();
    for round in 0..ROUNDS + WARM_UP {
        for (at, store) in [&empty, &full].into_iter().enumerate() {
            if round == WARM_UP {
                // Plans that are made while a table is empty last until then.
                bed::run(&mut *store.pool().acquire().await?, "ANALYZE").await?;
            }
            let times = (send(store).await?, take(store).await?);
            if round >= WARM_UP {
                sent[at].push(times.0);
                taken[at].push(times.1);
            }
        }
    }
    report("claim and settle deliveries", &sent);
    report("receive and take", &taken);
    plans(&full).await
}

async fn fill(store: &PgStore, rows: i64) -> Result<()> {
    let start = Instant::now();
    let (hour, tenth) = (3_600_000, rows / 10);
    bed::acknowledged(store, LIVE, rows - 2 * tenth).await?;
    bed::deliveries(store, LIVE, tenth, hour).await?;
    bed::deliveries(store, DEAD, tenth, -hour).await?;
    bed::receipts(store, rows - tenth, None).await?;
    bed::receipts(store, tenth, Some(hour)).await?;
    bed::run(&mut *store.pool().acquire().await?, "VACUUM ANALYZE").await?;
    println!("filled in {} s", start.elapsed().as_secs());
    Ok(())
}

async fn send(store: &PgStore) -> Result<Duration> {
    bed::deliveries(store, LIVE, i64::from(BATCH), 0).await?;
    let start = Instant::now();
    let attempts = bed::claim(store, BATCH).await?;
    ensure!(
        attempts.len() == usize::from(BATCH),
        "expected {BATCH} claims, got {}",
        attempts.len()
    );
    let settled = bed::settle(store, attempts).await?;
    ensure!(settled == usize::from(BATCH), "expected {BATCH} settles, got {settled}");
    Ok(start.elapsed())
}

async fn take(store: &PgStore) -> Result<Duration> {
    let start = Instant::now();
    let taken = bed::receive_and_take(store, BATCH).await?;
    ensure!(taken == usize::from(BATCH), "expected {BATCH} to take, got {taken}");
    Ok(start.elapsed())
}

fn report(what: &str, [empty, full]: &[Vec<Duration>; 2]) {
    let (empty, full) = (median(empty), median(full));
    println!(
        "{what}: empty {empty:.1?}, full {full:.1?} a batch: {} % of the speed (at least 80 wanted)",
        per_cent(empty, full)
    );
}

/// How the claims are carried out, with one more batch due.
async fn plans(store: &PgStore) -> Result<()> {
    bed::deliveries(store, LIVE, i64::from(BATCH), 0).await?;
    println!("\n== plans with full tables");
    bed::explain(
        store,
        "AND EXISTS ( SELECT FROM hookproof_deliveries",
        "NULL, hookproof_now(), 10",
    )
    .await?;
    let lanes = format!("ARRAY['{}', '{}']::uuid[]", uuid(LIVE), uuid(DEAD));
    bed::explain(store, "AND d.lease > $2", &format!("{lanes}, hookproof_now()")).await?;
    let due = format!("ARRAY['{}']::uuid[], ARRAY[{BATCH}]::bigint[], hookproof_now()", uuid(LIVE));
    bed::explain(store, "CROSS JOIN LATERAL", &due).await?;
    bed::explain(
        store,
        "webhook_inbox AS r WHERE r.wake <= $1",
        &format!("hookproof_now(), {BATCH}"),
    )
    .await
}

fn uuid(id: hookproof_core::Id) -> uuid::Uuid {
    uuid::Uuid::from_u128(id.0)
}

const BATCH: u16 = 100;
const WARM_UP: usize = 10;
const ROUNDS: usize = 60;
