//! What only the end can decide (R3, R9, R10, R11, R12, R13, R14, R20).

use hookproof_core::model::{Entity, Order, Standing, State};

use super::{
    super::{Breach, Terms, breach},
    Now, Receiving,
    receipt::{Mark, Receipt, Stand},
    rows::{Booked, model, operation},
};
use crate::{
    history::{EntityNo, Reading, ReceiptNo, ReceiptStand},
    promise::Promise,
};

impl Receiving {
    /// Takes in `ReceiptStands`.
    pub(super) fn receipt_stands(
        &mut self,
        number: ReceiptNo,
        stand: ReceiptStand,
    ) -> Result<(), Breach> {
        self.stands = true;
        let (no, receipt) = (number.0, *self.rows.receipt(number));
        if agrees(&receipt, stand) {
            self.rows.receipt_mut(number).mark(Mark::Seen);
            return Ok(());
        }
        let unreadable = receipt.is_present() && receipt.reading == Reading::Unreadable;
        let (promise, why) = if receipt.is(Mark::Shaken) && waits(stand) {
            (Promise::R3, "and it was lost with the machine")
        } else if receipt.is(Mark::Replayed) {
            (Promise::R12, "and its replay never ran")
        } else if unreadable && stand == ReceiptStand::InReview {
            (Promise::R11, "and no dead letter says so")
        } else {
            (Promise::R13, "and so it does not stand")
        };
        let was = receipt.stand;
        Err(breach(promise, format_args!("receipt {no} should be {was:?}, {why}: {stand}")))
    }

    /// Takes in `EntityStands`.
    pub(super) fn entity_stands(
        &mut self,
        now: Now<'_>,
        entity: EntityNo,
        state: State,
        version: u64,
    ) -> Result<(), Breach> {
        let row = self.rows.entity(entity);
        let ordered = model(now.terms, entity).is_some_and(|model| model.order() != Order::Graph);
        if row.state == state && (!ordered || row.version == version) {
            return Ok(());
        }
        let promise = if row.shaken { Promise::R3 } else { Promise::R8 };
        let what = format_args!(
            "entity {} is in state {} (version {version}), and no line moved it there from {} ({})",
            entity.0, state.0, row.state.0, row.version
        );
        Err(breach(promise, what))
    }

    /// Judges what is owed when nothing more will happen.
    pub(super) fn ended(&self, terms: &Terms) -> Result<(), Breach> {
        for (number, receipt) in (0..).map(ReceiptNo).zip(&self.rows.receipts) {
            self.receipt_ended(number, receipt)?;
        }
        if let Some(delivery) = self.alerting.first() {
            let what = format_args!("the alert of delivery {} was never sent", delivery.0);
            return Err(breach(Promise::R11, what));
        }
        for entity in (0..self.rows.entities.len() as u32).map(EntityNo) {
            self.converged(terms, entity)?;
            self.sent_outside(terms, entity)?;
        }
        Ok(())
    }

    fn receipt_ended(&self, number: ReceiptNo, receipt: &Receipt) -> Result<(), Breach> {
        if !receipt.is_present() {
            return Ok(());
        }
        let no = number.0;
        if self.stands && !receipt.is(Mark::Seen) {
            hold!(
                !(receipt.is(Mark::Shaken) && receipt.is(Mark::Acknowledged)),
                R3,
                "receipt {no} was acknowledged and lost with the machine"
            );
            hold!(receipt.is(Mark::Shaken), R13, "receipt {no} is gone, and nobody purged it");
        }
        hold!(!receipt.is(Mark::Alerting), R11, "the alert of receipt {no} was never sent");
        hold!(!receipt.is(Mark::Replayed), R12, "receipt {no} was replayed and never worked");
        hold!(receipt.stand != Stand::Deferred, R9, "receipt {no} is deferred in the end");
        hold!(
            receipt.stand != Stand::Retrying,
            R10,
            "receipt {no} is to be tried again in the end"
        );
        Ok(())
    }

    /// Judges the entity by the set of the events that made it, whatever their order was.
    fn converged(&self, terms: &Terms, entity: EntityNo) -> Result<(), Breach> {
        let row = self.rows.entity(entity);
        let Some(model) = model(terms, entity) else { return Ok(()) };
        let Some(end) = self.canonical(terms, entity)? else { return Ok(()) };
        let ordered = model.order() != Order::Graph;
        let reached = if row.refetched || row.partial {
            // What the API said, or what was purged, may have led further.
            !ordered || row.version >= end.version
        } else {
            row.state == end.state && (!ordered || row.version == end.version)
        };
        hold!(
            reached,
            R20,
            "entity {} ended in state {} (version {}), where its events lead to {} ({})",
            entity.0,
            row.state.0,
            row.version,
            end.state.0,
            end.version
        );
        for (number, receipt) in self.rows.of_entity(entity) {
            let asked = operation(terms, receipt).filter(|_| receipt.stand == Stand::Overtaken);
            let missed = asked.is_some_and(|asked| self.rows.booked(asked) == Booked::No);
            hold!(!missed, R20, "receipt {} was overtaken, and its effect is missing", number.0);
        }
        Ok(())
    }

    /// Where the events that count lead, taken in an order in which none comes too early. `None`
    /// where only the authoritative API can tell.
    fn canonical(&self, terms: &Terms, entity: EntityNo) -> Result<Option<Entity>, Breach> {
        let Some(model) = model(terms, entity) else { return Ok(None) };
        let mut end = super::rows::EntityRow::default().as_row(entity);
        // Each round applies one of them at least, and none twice.
        for _ in 0..=self.rows.of_entity(entity).count() {
            let mut moved = false;
            for (_, receipt) in self.rows.of_entity(entity) {
                let Some(proposal) = receipt.proposal().filter(|_| receipt.is(Mark::Counted))
                else {
                    continue;
                };
                match model.standing(&end, &proposal) {
                    Standing::Due(to) => {
                        let version = match model.order() {
                            Order::Graph => end.version,
                            Order::Version | Order::Sequence | Order::Instant => proposal.version,
                        };
                        moved |= (end.state, end.version) != (to, version);
                        (end.state, end.version) = (to, version);
                    }
                    Standing::Equal => return Ok(None),
                    Standing::Late
                    | Standing::Early
                    | Standing::Overtaken
                    | Standing::Impossible
                    | Standing::Unknown => {}
                }
            }
            if !moved {
                return Ok(Some(end));
            }
        }
        breaks!(R20, "the events of entity {} move it in circles", entity.0)
    }

    fn sent_outside(&self, terms: &Terms, entity: EntityNo) -> Result<(), Breach> {
        let Some(model) = model(terms, entity) else { return Ok(()) };
        if self.outside_failed {
            return Ok(());
        }
        for booked in self.rows.operations_of(entity) {
            let outside = model.rules().iter().any(|rule| {
                rule.external && rule.books.is_some_and(|(what, _)| what == booked.key.transition)
            });
            hold!(
                !(outside && matches!(booked.booked, Booked::By(_)) && !booked.did),
                R14,
                "{} was booked, and never happened outside",
                booked.key
            );
        }
        Ok(())
    }
}

/// Whether a row that stands so is what the history says.
fn agrees(receipt: &Receipt, stand: ReceiptStand) -> bool {
    match receipt.stand {
        Stand::Absent => false,
        // How a receipt at work is called is not told.
        Stand::Queued | Stand::Deferred | Stand::Retrying if receipt.claim.is_some() => {
            waits(stand)
        }
        Stand::Queued if receipt.strikes > 0 => waits(stand),
        Stand::Queued => stand == ReceiptStand::Queued,
        Stand::Deferred => stand == ReceiptStand::Deferred,
        Stand::Retrying => stand == ReceiptStand::Retrying,
        Stand::Applied => stand == ReceiptStand::Applied,
        // A replay cannot take back that it was applied once.
        Stand::AlreadyBooked | Stand::Overtaken if receipt.is(Mark::Applied) => {
            stand == ReceiptStand::Applied
        }
        Stand::AlreadyBooked => stand == ReceiptStand::AlreadyBooked,
        Stand::Overtaken => stand == ReceiptStand::Overtaken,
        Stand::Ignored => stand == ReceiptStand::Ignored,
        Stand::InReview => stand == ReceiptStand::InReview,
    }
}

/// Whether work is still to be done on a row that stands so.
fn waits(stand: ReceiptStand) -> bool {
    matches!(stand, ReceiptStand::Queued | ReceiptStand::Deferred | ReceiptStand::Retrying)
}
