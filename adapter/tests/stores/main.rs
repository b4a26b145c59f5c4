//! The store suite: the model's store, SQLite and PostgreSQL do the same to the same rows.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are tests: what fails there fails the suite"
)]

mod crowd;
mod databases;
mod drive;
mod model;
mod ops;
mod owner;
mod race;
mod random;
#[cfg(feature = "rogues")]
mod rogues;
mod samples;
mod sql;
