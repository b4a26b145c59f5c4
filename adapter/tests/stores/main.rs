//! The store suite: the model's store, SQLite and PostgreSQL do the same to the same rows.

mod databases;
mod drive;
mod model;
mod ops;
mod race;
mod random;
mod sql;
