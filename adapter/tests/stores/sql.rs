//! What other people's SQL, other people's handlers and a failing database do to a store.

mod enqueue;
mod faults;
mod handlers;
mod open;
