//! Histories in files, of anybody's system: `hookproof-history/1`, a line of JSON for each fact.
//!
//! A header says what the history is held against and which facts it *holds*: of those every one that
//! happened is in it. The oracle judges each promise by the facts that it needs, and says of the others
//! that they cannot be decided. The format is written down for people in `vectors/HISTORY.md`.

mod header;
mod held;
mod judge;
mod names;
mod needs;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use header::profiles;
pub use held::{Held, Holds};
pub use judge::{Decision, Judged, Place, Why};
pub use names::Names;
pub use read::BadRecord;
pub use write::write;

use crate::{history::Line, oracle::Terms};

/// The format that is written, and the only one that is read.
pub const FORMAT: &str = "hookproof-history/1";

/// A history from a file.
#[derive(Clone, Debug)]
pub struct Record {
    /// What it is held against.
    pub terms: Terms,
    /// What it holds.
    pub holds: Holds,
    /// Its facts, with the numbers that the oracle calls rows.
    pub lines: Vec<Line>,
    /// The line of the file of each of them, counted from 1.
    pub places: Vec<usize>,
    /// What the file calls the rows.
    pub names: Names,
}
