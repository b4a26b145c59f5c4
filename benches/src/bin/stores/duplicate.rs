//! What a duplicate receipt leaves behind: nothing, for one probe of an index.

use anyhow::{Result, ensure};
use hookproof::PgStore;
use hookproof_core::inbox::Reply;

use crate::bed;

pub(crate) async fn run() -> Result<()> {
    let store = bed::store("bench_duplicate").await?;
    println!("\n== {TIMES} duplicates of one receipt");
    bed::receipts(&store, 10_000, None).await?;
    for settles in ["VACUUM ANALYZE webhook_inbox", "CHECKPOINT"] {
        bed::run(&mut *store.pool().acquire().await?, settles).await?;
    }
    let letter = bed::letter("evt_1");
    ensure!(bed::receive(&store, &letter).await? == Reply::Accepted, "expected a new receipt");
    let before = state(&store).await?;
    for _ in 0..TIMES {
        let reply = bed::receive(&store, &letter).await?;
        ensure!(reply == Reply::Duplicate, "expected a duplicate, got {reply:?}");
    }
    report("that are looked for", before, state(&store).await?);
    let before = state(&store).await?;
    for _ in 0..TIMES {
        ensure!(!bed::receive_blindly(&store, &letter).await?, "expected a duplicate");
    }
    report("whose insert finds them taken", before, state(&store).await?);
    bed::explain(&store, "r.partner_name = $1", "'partner', '', 'evt_1'").await
}

/// How far the log is, and how many versions of rows were ever written.
async fn state(store: &PgStore) -> Result<(i64, i64)> {
    let sql = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint,
         (SELECT count(*) FROM webhook_inbox)";
    Ok(sqlx::query_as(sql).fetch_one(store.pool()).await?)
}

fn report(which: &str, before: (i64, i64), after: (i64, i64)) {
    println!(
        "{which}: {} bytes of WAL, {} rows written (0 and 0 wanted)",
        after.0 - before.0,
        after.1 - before.1
    );
}

const TIMES: usize = 1_000;
