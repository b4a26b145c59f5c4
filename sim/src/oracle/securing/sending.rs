//! What a worker signs and dials: S4, S9, S10, S13.

use super::{
    super::{Breach, Danger, Terms},
    Securing, clock,
};
use crate::{
    history::{Address, DeliveryNo, Fact, Line},
    promise::Promise,
};

impl Securing {
    /// Takes in `Requested`.
    pub(super) fn requested(
        &mut self,
        terms: &Terms,
        line: &Line,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let Fact::Requested { delivery: no, endpoint, attempt, body, signed, .. } = line.fact
        else {
            return Ok(());
        };
        let keys = self.keys(endpoint.0);
        if attempt > 1 {
            danger.count(Promise::S4);
            danger.count(Promise::S13);
        }
        if keys.overlap() || keys.over != 0 {
            danger.count(Promise::S9);
        }
        let stored = self.deliveries.get(no.index()).and_then(|delivery| delivery.body);
        hold!(
            stored.is_none_or(|stored| stored == body),
            S4,
            "attempt {attempt} of delivery {} carries body {} and not the one that was stored",
            no.0,
            body.0
        );
        let now = clock(line.at, self.ahead_ms);
        let off_ms = now.since(signed.at).max(signed.at.since(now));
        hold!(
            off_ms <= ROUNDING_MS,
            S13,
            "attempt {attempt} of delivery {} is signed for another time, {off_ms} ms away",
            no.0
        );
        if keys.made == 0 {
            return Ok(());
        }
        let over = signed.secrets & !keys.live();
        hold!(
            over == 0,
            S9,
            "attempt {attempt} of delivery {} is signed with secret {}, which is over",
            no.0,
            over.trailing_zeros()
        );
        let owed = keys.sign(terms.scheme.lists);
        let missing = owed & !signed.secrets;
        hold!(
            missing == 0,
            S9,
            "attempt {attempt} of delivery {} is not signed with secret {}, which is live",
            no.0,
            missing.trailing_zeros()
        );
        hold!(
            signed.secrets == owed,
            S9,
            "attempt {attempt} of delivery {} is signed with secret {}, which does not sign now",
            no.0,
            (signed.secrets & !owed).trailing_zeros()
        );
        Ok(())
    }
}

/// Judges a connection.
pub(super) fn dialled(no: DeliveryNo, address: Address) -> Result<(), Breach> {
    hold!(
        address == Address::Vetted,
        S10,
        "the worker of delivery {} dialled an address that was not vetted",
        no.0
    );
    Ok(())
}

/// Signed times are often whole seconds.
const ROUNDING_MS: u64 = 1_000;
