//! What guards cost: claim and settle of a hundred rows, and the same statements without a lock, and
//! without those that do nothing but lock.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use hookproof::PgStore;
use sqlx::{FromRow, PgConnection};
use uuid::Uuid;

use crate::{
    bed::{self, LIVE},
    median, per_cent,
};

pub(crate) async fn run() -> Result<()> {
    let store = bed::store("bench_guards").await?;
    println!("\n== claim and settle of {BATCH} rows");
    // Plans that are made while a table is empty last until its first `ANALYZE`.
    bed::acknowledged(&store, LIVE, 50_000).await?;
    bed::run(&mut *store.pool().acquire().await?, "VACUUM ANALYZE").await?;
    // The first round prepares the statements that the other way borrows.
    guarded(&store).await?;
    let bare = Bare::of(&store).await?;
    let mut times: [Vec<Duration>; 2] = Default::default();
    for round in 0..ROUNDS + WARM_UP {
        let pair = [guarded(&store).await?, bare.claim_and_settle(&store).await?];
        if round >= WARM_UP {
            times[0].push(pair[0]);
            times[1].push(pair[1]);
        }
    }
    let (guarded, bare) = (median(&times[0]), median(&times[1]));
    println!(
        "with guards {guarded:.1?}, without {bare:.1?}: {} % of the speed (at least 70 wanted)",
        per_cent(bare, guarded)
    );
    Ok(())
}

async fn guarded(store: &PgStore) -> Result<Duration> {
    bed::deliveries(store, LIVE, i64::from(BATCH), 0).await?;
    let start = Instant::now();
    let attempts = bed::claim(store, BATCH).await?;
    let settled = bed::settle(store, attempts).await?;
    ensure!(settled == usize::from(BATCH), "expected {BATCH} settles, got {settled}");
    Ok(start.elapsed())
}

/// The store's own statements.
struct Bare {
    lanes: String,
    in_flight: String,
    clock: String,
    endpoints: String,
    due: String,
    load: String,
    update: String,
}

#[derive(FromRow)]
struct Row {
    id: Uuid,
    rev: i64,
    wake: Option<i64>,
    attempt: i64,
    rung: i64,
    cycle: i64,
    fence: i64,
}

impl Bare {
    async fn of(store: &PgStore) -> Result<Self> {
        let unlocked = |(_, text): (String, String)| {
            let clause = text.find("FOR NO KEY UPDATE").unwrap_or(text.len());
            let rest = text[clause..].find(')').map_or("", |end| &text[clause + end..]);
            format!("{}{rest}", &text[..clause])
        };
        Ok(Self {
            lanes: unlocked(
                bed::prepared(store, "AND EXISTS ( SELECT FROM hookproof_deliveries").await?,
            ),
            in_flight: bed::prepared(store, "AND d.lease > $2").await?.1,
            clock: bed::prepared(store, "SELECT coalesce($1, hookproof_now())").await?.1,
            endpoints: bed::prepared(store, "UPDATE hookproof_endpoints AS row").await?.1,
            due: unlocked(bed::prepared(store, "CROSS JOIN LATERAL").await?),
            load: unlocked(
                bed::prepared(store, "SELECT d.* FROM hookproof_deliveries AS d WHERE").await?,
            ),
            update: bed::prepared(store, "UPDATE hookproof_deliveries AS row").await?.1,
        })
    }

    async fn claim_and_settle(&self, store: &PgStore) -> Result<Duration> {
        bed::deliveries(store, LIVE, i64::from(BATCH), 0).await?;
        let start = Instant::now();
        let mut tx = store.pool().begin().await?;
        let now = self.now(&mut tx).await?;
        let lanes: Vec<(Uuid, i64)> = sqlx::query_as(sqlx::AssertSqlSafe(self.lanes.as_str()))
            .bind(None::<Uuid>)
            .bind(now)
            .bind(10_i64)
            .fetch_all(&mut *tx)
            .await?;
        sqlx::query(sqlx::AssertSqlSafe(self.in_flight.as_str()))
            .bind(lanes.iter().map(|(id, _)| *id).collect::<Vec<_>>())
            .bind(now)
            .fetch_all(&mut *tx)
            .await?;
        self.now(&mut tx).await?;
        let due: Vec<Row> = sqlx::query_as(sqlx::AssertSqlSafe(self.due.as_str()))
            .bind(vec![Uuid::from_u128(LIVE.0)])
            .bind(vec![i64::from(BATCH)])
            .bind(i64::MAX / 2)
            .fetch_all(&mut *tx)
            .await?;
        ensure!(due.len() == usize::from(BATCH), "expected {BATCH} due, got {}", due.len());
        self.now(&mut tx).await?;
        sqlx::query(sqlx::AssertSqlSafe(self.endpoints.as_str()))
            .bind(lanes.iter().map(|(id, _)| *id).collect::<Vec<_>>())
            .bind(lanes.iter().map(|(_, rev)| rev + 1).collect::<Vec<_>>())
            .bind(vec!["active"; lanes.len()])
            .bind(vec![None::<i64>; lanes.len()])
            .bind(vec![0_i64; lanes.len()])
            .execute(&mut *tx)
            .await?;
        self.write(&mut tx, &due, "claimed").await?;
        tx.commit().await?;
        let mut tx = store.pool().begin().await?;
        self.now(&mut tx).await?;
        let rows: Vec<Row> = sqlx::query_as(sqlx::AssertSqlSafe(self.load.as_str()))
            .bind(due.iter().map(|row| row.id).collect::<Vec<_>>())
            .fetch_all(&mut *tx)
            .await?;
        self.now(&mut tx).await?;
        self.write(&mut tx, &rows, "acknowledged").await?;
        tx.commit().await?;
        Ok(start.elapsed())
    }

    async fn now(&self, connection: &mut PgConnection) -> Result<i64> {
        let now = sqlx::query_scalar(sqlx::AssertSqlSafe(self.clock.as_str())).bind(None::<i64>);
        Ok(now.fetch_one(connection).await?)
    }

    async fn write(&self, connection: &mut PgConnection, rows: &[Row], stand: &str) -> Result<()> {
        let claimed = stand == "claimed";
        let wake = |row: &Row| row.wake.filter(|_| claimed).map(|wake| wake + 60_000);
        let column = |of: fn(&Row) -> i64| rows.iter().map(of).collect::<Vec<i64>>();
        let written = sqlx::query(sqlx::AssertSqlSafe(self.update.as_str()))
            .bind(rows.iter().map(|row| row.id).collect::<Vec<_>>())
            .bind(column(|row| row.rev + 1))
            .bind(vec![stand; rows.len()])
            .bind(vec![None::<String>; rows.len()])
            .bind(rows.iter().map(wake).collect::<Vec<_>>())
            .bind(rows.iter().map(wake).collect::<Vec<_>>())
            .bind(vec![false; rows.len()])
            .bind(column(|row| row.attempt + 1))
            .bind(column(|row| row.rung))
            .bind(column(|row| row.cycle))
            .bind(column(|row| row.fence + 1))
            .execute(connection)
            .await?;
        ensure!(written.rows_affected() == u64::from(BATCH), "expected {BATCH} rows to change");
        Ok(())
    }
}

const BATCH: u16 = 100;
const WARM_UP: usize = 20;
const ROUNDS: usize = 200;
