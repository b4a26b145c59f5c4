//! The secrets of an endpoint: which of them sign, and for how long (S9).

use hookproof_core::Millis;

use super::{super::Breach, Securing, Terms, row};
use crate::history::{EndpointNo, SecretLife};

/// The secrets of one endpoint, as sets of numbers below 16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Keys {
    /// Those that were made.
    pub(super) made: u16,
    /// Those whose overlap has begun.
    pub(super) retired: u16,
    /// Those that are gone or revoked.
    pub(super) over: u16,
    /// When the last one was retired.
    pub(super) since: Millis,
}

impl Keys {
    /// Those that verify.
    pub(super) fn live(&self) -> u16 {
        self.made & !self.over
    }

    /// Whether two of them do.
    pub(super) fn overlap(&self) -> bool {
        self.live().count_ones() > 1
    }

    /// Those that an attempt is signed with now: all in a list, else the oldest that is not retired.
    pub(super) fn sign(&self, lists: bool) -> u16 {
        let current = self.live() & !self.retired;
        if lists { self.live() } else { current & current.wrapping_neg() }
    }
}

impl Securing {
    /// Takes in `Secret`.
    pub(super) fn secret(
        &mut self,
        terms: &Terms,
        at: Millis,
        (endpoint, secret): (EndpointNo, u16),
        life: SecretLife,
    ) -> Result<(), Breach> {
        let keys = row(&mut self.keys, endpoint.index());
        let bit = 1_u16.checked_shl(u32::from(secret)).unwrap_or(0);
        match life {
            SecretLife::Made => keys.made |= bit,
            SecretLife::Retired => {
                keys.retired |= bit;
                keys.since = at;
            }
            SecretLife::Revoked => keys.over |= bit,
            SecretLife::Gone => {
                keys.over |= bit;
                let early_ms = (keys.since + terms.scheme.overlap_ms).since(at);
                hold!(
                    early_ms == 0 || !terms.timely,
                    S9,
                    "secret {secret} of endpoint {} is gone {early_ms} ms before its overlap ends",
                    endpoint.0
                );
            }
        }
        if matches!(life, SecretLife::Gone | SecretLife::Revoked) {
            self.requests.iter_mut().for_each(|request| request.shaken = true);
        }
        Ok(())
    }
}
