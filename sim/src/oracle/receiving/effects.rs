//! Operations and their effects (R6, R7, R14, R16).

use super::{
    super::{Breach, Danger, breach},
    Now, Receiving,
    rows::{Booked, operation},
};
use crate::{
    history::{Cause, NO_KEY, OperationKey, ReceiptNo},
    promise::Promise,
};

impl Receiving {
    /// Takes in `Effect`.
    pub(super) fn effect(
        &mut self,
        now: Now<'_>,
        key: OperationKey,
        by: Cause,
    ) -> Result<(), Breach> {
        let booked = match by {
            Cause::Receipt(number) => {
                self.not_at_the_door(now.by, number)?;
                self.asked_for(now, key, number)?;
                Booked::By(number)
            }
            Cause::Person(_) => Booked::ByHand,
        };
        self.book(key, booked)?;
        self.within(now).effect = Some(key);
        Ok(())
    }

    /// Judges whether a receipt asks for this operation.
    fn asked_for(&self, now: Now<'_>, key: OperationKey, number: ReceiptNo) -> Result<(), Breach> {
        let (no, receipt) = (number.0, self.rows.receipt(number));
        hold!(receipt.is_present(), R5, "receipt {no} had its effect before it was received");
        let asked = operation(now.terms, receipt);
        let Some(asked) = asked else {
            breaks!(R6, "receipt {no} asks for no operation, and {key} was booked")
        };
        hold!(asked == key, R6, "receipt {no} asks for {asked}, and {key} was booked");
        Ok(())
    }

    /// Whether some receipt asks for this operation, or one may have that a restore took away.
    fn is_asked_for(&self, now: Now<'_>, key: OperationKey) -> bool {
        let mut receipts = self.rows.of_entity(key.entity);
        self.backup.is_some()
            || receipts.any(|(_, receipt)| operation(now.terms, receipt) == Some(key))
    }

    /// Takes in `BookedByHand`: a person had the effect, and the operation is booked.
    pub(super) fn booked_by_hand(
        &mut self,
        key: OperationKey,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        danger.count(Promise::R7);
        self.book(key, Booked::ByHand)
    }

    fn book(&mut self, key: OperationKey, by: Booked) -> Result<(), Breach> {
        let forgotten = match by {
            Booked::By(number) => self.rows.known(self.rows.receipt(number).id).purged,
            Booked::ByHand | Booked::No => false,
        };
        let operation = self.rows.operation_mut(key);
        if operation.booked == Booked::No {
            operation.booked = by;
            return Ok(());
        }
        let first = operation.booked;
        let promise = if forgotten { Promise::R16 } else { Promise::R7 };
        Err(breach(promise, format_args!("{key} has two effects, by {first} and by {by}")))
    }

    /// Takes in `ExternalCall`.
    pub(super) fn external_call(
        &mut self,
        now: Now<'_>,
        key: OperationKey,
        shown: u64,
        did: bool,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let shared = |other: &&super::rows::OperationRow| {
            shown != NO_KEY && other.outside == Some(shown) && other.key != key
        };
        let other = self.rows.operations.iter().find(shared).map(|other| other.key);
        let asked = self.is_asked_for(now, key);
        let operation = self.rows.operation_mut(key);
        hold!(
            asked || operation.booked != Booked::No,
            R5,
            "{key} was sent outside, and no receipt asks for it"
        );
        match operation.outside {
            None => {
                if let Some(other) = other {
                    breaks!(R14, "{key} and {other} were sent outside under one key");
                }
                operation.outside = Some(shown);
            }
            Some(first) => {
                danger.count(Promise::R14);
                hold!(first == shown, R14, "{key} was sent outside under two keys");
            }
        }
        hold!(
            !(did && operation.booked == Booked::ByHand),
            R7,
            "{key} was booked by hand, and happened outside as well"
        );
        hold!(!(did && operation.did), R14, "{key} happened outside twice");
        operation.did |= did;
        Ok(())
    }
}
