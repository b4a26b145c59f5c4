//! The decisions behind exactly-once webhook effects: rows in, guarded writes out.
//!
//! A network delivers at most once or at least once, never both, and a database commit and a network
//! call cannot be made atomic. So the sender writes its intent in the transaction that changes the
//! business ([`outbox`]) and a relay sends until somebody says yes; the receiver stores each delivery
//! once, answers, and works later ([`inbox`], [`work`]). Exactly-once *effects* are the product of
//! both ends, and each step of them may be interrupted, repeated and raced.
//!
//! The truth is in database rows, many workers act at once, and each may die at any time. Hence this
//! crate holds no state at all. It is a set of total, pure functions:
//!
//! ```text
//! row + input + now + roll  →  Plan { guarded writes that commit together } + a sealed follow-up
//! ```
//!
//! - A [`plan::Write`] carries the revision that it was decided on, and every row that a decision
//!   only read is guarded too. A guard that fails is a conflict: load again, decide again. Two
//!   workers, zombies, races and replays are all this one case.
//! - The follow-up (the right to send, the answer, the verdict) is sealed in its [`plan::Plan`] and
//!   comes out of [`plan::Plan::commit`] alone. A driver cannot skip a step, because it has no value
//!   to skip with.
//! - Each row has one `wake`: look at me again at. Due, claimed and deferred are that one number, so
//!   a store's only predicate is `wake <= now`.
//!
//! Nothing here reads a clock, draws a number or makes an id: they are arguments. Nothing panics on
//! what a peer sent: a peer's fault is a value.
#![no_std]

extern crate alloc;

pub mod address;
pub mod answer;
pub mod codec;
pub mod endpoint;
pub mod handler;
pub mod header;
pub mod identity;
pub mod inbox;
pub mod instant;
pub mod json;
pub mod ladder;
pub mod ladders;
pub mod model;
pub mod outbox;
pub mod payload;
pub mod plan;
pub mod profile;
#[cfg(feature = "schemes")]
pub mod scheme;
#[cfg(feature = "targets")]
pub mod target;
pub mod time;
pub mod work;

pub use time::Millis;

/// The key of a row: a UUID in production, a small number in the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u128);

/// The digest of a payload: the first 128 bits of its SHA-256. Compared, never shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Digest(pub u128);

/// Why something ended or was set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The ladder is used up, and the last answer was no.
    Exhausted,
    /// The ladder is used up, and nothing whole came to the last attempt: it may have arrived.
    Unanswered,
    /// The receiver said 410.
    Gone,
    /// The last claim of the cycle died with its worker.
    ClaimLost,
    /// The endpoint was deleted or unsubscribed.
    EndpointGone,
    /// A person cancelled it.
    Operator,
    /// Its handler failed as often as the inbox ladder has tries.
    Failing,
    /// Its workers died on it as often as the inbox ladder has tries.
    WorkerLost,
    /// Its prerequisite did not come before the cap.
    DeferralCap,
    /// No path of its entity leads to it.
    Impossible,
    /// Its bytes could not be read.
    Unreadable,
}
