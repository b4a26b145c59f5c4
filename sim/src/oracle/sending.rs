//! The sending half.

use hookproof_core::Millis;

use super::{Breach, Danger, Terms};
use crate::{history::Line, promise::Promise};

/// What is known of this half.
#[derive(Clone, Debug, Default)]
pub(super) struct Sending {}

impl Sending {
    /// Forgets the history and keeps the memory.
    pub(super) fn reset(&mut self) {}

    /// Takes in the next line.
    pub(super) fn observe(
        &mut self,
        _terms: &Terms,
        _line: &Line,
        _danger: &mut Danger,
    ) -> Result<(), Breach> {
        Ok(())
    }

    /// Judges what is owed when nothing more will happen; runs after `observe` of `Ended`.
    pub(super) fn end(
        &mut self,
        _terms: &Terms,
        _now: Millis,
        _danger: &mut Danger,
    ) -> Result<(), Breach> {
        Ok(())
    }

    /// Whether a promise can be decided only by a history that has ended.
    pub(super) fn owes_at_end(_promise: Promise) -> bool {
        false
    }

    /// Whether this history, under these terms, shows what the promise needs (true for the
    /// promises of others).
    pub(super) fn decides(&self, _terms: &Terms, _promise: Promise) -> bool {
        true
    }

    /// Appends what later verdicts depend on.
    pub(super) fn pack(&self, _terms: &Terms, _now: Millis, _key: &mut Vec<u8>) {}
}
