//! What must hold for any bytes from a stranger, as functions that panic where it does not.
//!
//! Each target is one function over bytes. cargo-fuzz drives it with inputs of its own (`targets/`),
//! and `tests/corpus.rs` with those under `corpus/`, on the pinned compiler, in every run of the tests.
//! The inputs are texts where that is possible, so that a person can read and write them.
//!
//! None of them asks only for the absence of a panic: other people's readers have to agree with ours,
//! what is written has to read back, and what says nothing new must change nothing.

pub mod answers;
pub mod encodings;
pub mod fields;
pub mod given;
pub mod handshakes;
pub mod json;
pub mod requests;
pub mod signing;
pub mod targets;
pub mod times;

/// A target: its name, which is that of its folder under `corpus/`, and what it runs.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 9] = [
    ("answers", answers::run),
    ("encodings", encodings::run),
    ("fields", fields::run),
    ("handshakes", handshakes::run),
    ("json", json::run),
    ("requests", requests::run),
    ("signing", signing::run),
    ("targets", targets::run),
    ("times", times::run),
];
