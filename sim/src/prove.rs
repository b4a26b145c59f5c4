//! The proof: many histories walked and judged, and the rogues that check the judge.
//!
//! Nothing here prints or reads a clock: whoever runs a proof lends it a [`Watch`], which sees how far
//! it is and says whether there is time to go on. Work is divided among threads by number and taken in
//! order, so that the same seeds give the same counts and the same first breach for any number of jobs.

mod detection;
mod favour;
mod hunt;
mod share;
mod tally;
mod walks;

pub use detection::{Detection, detect};
pub use favour::favours;
pub use hunt::{Catch, Effort, Hunt, Origin, hunt, hunt_all};
pub use tally::Tally;
pub use walks::{Found, Walks, walk_one, walk_seeds};

/// What a proof asks of whoever runs it.
pub trait Watch: Sync {
    /// This many histories with this many lines were walked since the last call.
    fn walked(&self, histories: u64, steps: u64);

    /// One more rogue was hunted to its end.
    fn hunted(&self);

    /// Whether there is time for more.
    fn goes_on(&self) -> bool;
}

/// Nobody looks, and there is time for everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn walked(&self, _: u64, _: u64) {}

    fn hunted(&self) {}

    fn goes_on(&self) -> bool {
        true
    }
}
