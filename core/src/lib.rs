#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
pub mod ladder;
pub mod model;
pub mod profile;
pub mod time;
pub use time::Millis;
/// The key of a row. In production a UUID; in the model a small number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u128);
