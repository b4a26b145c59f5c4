//! The oracle: one pure function over a history, a fold of [`Oracle::observe`] over its lines.
//!
//! It knows the contract and the declared numbers, and nothing of how a world is run. What it stores
//! between lines is a value that can be compared and packed, so that the explorer can carry it.

mod receiving;
mod sending;

use hookproof_core::{Millis, model::Model, profile::{InboxPolicy, Profile}};

use crate::{history::Line, promise::Promise};

/// The declared numbers that a history is held against.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The sender's choices.
    pub profile: Profile,
    /// The receiver's choices.
    pub inbox: InboxPolicy,
    /// The entity type of each entity, by its number.
    pub models: Vec<Model>,
    /// Which model an entity has, by the entity's number.
    pub model_of: Vec<u8>,
    /// How often relays and workers look for due rows, in milliseconds.
    pub poll_ms: u64,
    /// How far two clocks may be apart, in milliseconds.
    pub skew_ms: u64,
    /// Whether lateness counts: not in worlds whose steps may take any time (the explorer).
    pub timely: bool,
}

/// A promise broken, at the line that broke it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The promise.
    pub promise: Promise,
    /// What happened, in one sentence that names the rows.
    pub what: String,
}

/// How often each promise was in danger: its precondition held while a fault that could have
/// broken it was active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Danger([u32; Promise::ALL.len()]);
