//! What the statements of the PostgreSQL store cost, each beside what it is compared with:
//!
//!     cargo xtask postgres cargo run --release -p hookproof-benches --bin stores [ROWS]
//!
//! Plans and throughput of claims with a million rows in each table, guards beside none, and what a
//! duplicate receipt leaves behind.
#![expect(clippy::print_stdout, reason = "a measurement speaks to whoever runs it")]

mod bed;
mod crowd;
mod duplicate;
mod guards;

use std::{env, time::Duration};

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let rows = env::args().nth(1).map_or(Ok(ROWS), |text| text.parse());
    let rows: i64 = rows.context("expected a number of rows")?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        crowd::run(rows).await?;
        guards::run().await?;
        duplicate::run().await
    })
}

/// Rows of each of the two busy tables.
const ROWS: i64 = 1_000_000;

/// The time in the middle.
fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

fn per_cent(part: Duration, whole: Duration) -> u128 {
    part.as_micros() * 100 / whole.as_micros().max(1)
}
