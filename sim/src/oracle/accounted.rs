//! E1: when faults have stopped, every event is accounted for.

use super::{Breach, Danger, Terms, sending::Sending};
use crate::{history::Line, promise::Promise};

/// What is known of the ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Accounted {}

impl Accounted {
    pub(super) fn reset(&mut self) {}

    pub(super) fn observe(&mut self, _terms: &Terms, _line: &Line) -> Result<(), Breach> {
        Ok(())
    }

    pub(super) fn end(&mut self, _sending: &Sending, _danger: &mut Danger) -> Result<(), Breach> {
        Ok(())
    }

    pub(super) fn owes_at_end(promise: Promise) -> bool {
        promise == Promise::E1
    }

    pub(super) fn decides(&self, _promise: Promise) -> bool {
        true
    }

    pub(super) fn pack(&self, _key: &mut Vec<u8>) {}
}
