//! The verbs that look at single requests and at cases, as people and scripts meet them.

mod cases;
mod database;
mod judge;
mod pages;
mod readme;
mod replay;
mod reports;
mod support;
mod verify;
