//! What other people's SQL, other people's handlers and a failing database do to a store.

mod cut;
mod disk;
mod enqueue;
pub(crate) mod faults;
pub(crate) mod handlers;
mod keys;
mod killed;
mod locks;
mod open;
mod order;
mod schema;
