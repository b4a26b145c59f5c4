//! The commit being read: the lines of one transaction stand together.
//!
//! `Moved`, `Effect`, `DeadLettered` and `Alerted` come first, in the order of the writes; `Worked`,
//! `Received`, `Settled` or `Closed` says what it was and concludes it; `Woken` may follow.

use hookproof_core::{
    Millis,
    model::{Standing, State},
};

use super::{
    super::{Breach, Terms, breach},
    Now, Receiving,
    receipt::{Mark, Stand},
    rows::standing,
};
use crate::{
    history::{About, DeliveryNo, EntityNo, Fact, Line, Node, OperationKey, Reason, ReceiptNo},
    promise::Promise,
};

/// What the lines of the commit being read have said so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) at: Millis,
    pub(super) by: Node,
    /// The entity that moved, as it was before.
    pub(super) before: Option<(EntityNo, State, u64)>,
    pub(super) effect: Option<OperationKey>,
    pub(super) letter: Option<(About, Reason)>,
    pub(super) alerted: bool,
    /// A delivery that failed without a letter so far.
    pub(super) failed: Option<DeliveryNo>,
    /// It is concluded, and owes this many receipts a wake.
    pub(super) owed: u32,
}

impl Commit {
    /// Whether the line can belong to it.
    pub(super) fn goes_on(&self, line: &Line) -> bool {
        let here = line.at == self.at && line.by == self.by;
        here && match line.fact {
            Fact::Woken { .. } => true,
            Fact::Moved { .. }
            | Fact::Projected { .. }
            | Fact::Effect { .. }
            | Fact::DeadLettered { .. }
            | Fact::Alerted { .. }
            | Fact::Worked { .. }
            | Fact::Received { .. }
            | Fact::ClaimLost { .. }
            | Fact::Endpoint { .. }
            | Fact::Settled { .. }
            | Fact::Closed { .. } => self.owed == 0,
            _ => false,
        }
    }

    /// Whether it set this receipt aside with its alert, and why.
    pub(super) fn letter_about(&self, receipt: ReceiptNo) -> Option<Reason> {
        self.letter.filter(|(about, _)| *about == About::Receipt(receipt)).map(|(_, reason)| reason)
    }
}

impl Receiving {
    /// The commit that the line belongs to.
    pub(super) fn within(&mut self, now: Now<'_>) -> &mut Commit {
        self.commit.get_or_insert(Commit {
            at: now.at,
            by: now.by,
            before: None,
            effect: None,
            letter: None,
            alerted: false,
            failed: None,
            owed: 0,
        })
    }

    /// Judges a commit whose lines are over.
    pub(super) fn close(&mut self, terms: &Terms) -> Result<(), Breach> {
        let Some(commit) = self.commit.take() else { return Ok(()) };
        let failed = commit.failed.map_or(0, |delivery| delivery.0);
        hold!(commit.failed.is_none(), R11, "delivery {failed} failed without a dead letter");
        if let Some((about, reason)) = commit.letter {
            hold!(commit.alerted, R11, "no alert committed with the dead letter of {about}");
            let Commit { at, by, .. } = commit;
            let now = Now { terms, at, by, db: self.weather.database(at) };
            self.set_aside_alone(now, &commit, about, reason)?;
        }
        let owing = match commit.before {
            Some((entity, _, _)) if commit.owed == 0 => {
                self.owe(terms, entity, self.weather.database(commit.at));
                Some(entity)
            }
            before => before.map(|(entity, _, _)| entity),
        };
        match owing.and_then(|entity| self.first_owed(entity)) {
            Some(number) => {
                let what = "is deferred, its prerequisite is applied, and it is not due";
                Err(breach(Promise::R9, format_args!("receipt {} {what}", number.0)))
            }
            None => Ok(()),
        }
    }

    /// Concludes the commit: what waits for the entity that it moved is owed a wake.
    pub(super) fn concluded(&mut self, now: Now<'_>, commit: Option<Commit>) {
        let Some(mut commit) = commit else { return };
        let Some((entity, _, _)) = commit.before else { return };
        commit.owed = self.owe(now.terms, entity, now.db);
        commit.letter = None;
        if commit.owed > 0 {
            self.commit = Some(commit);
        }
    }

    /// Marks what is deferred on the entity though its turn has come, and asleep; and counts it.
    fn owe(&mut self, terms: &Terms, entity: EntityNo, db: Millis) -> u32 {
        let mut owed = 0;
        let mut next = self.rows.entity(entity).first_receipt;
        while let Some(number) = next {
            let receipt = self.rows.receipt(number);
            next = receipt.next;
            let asleep =
                receipt.stand == Stand::Deferred && receipt.claim.is_none() && receipt.wake > db;
            if asleep
                && matches!(
                    standing(terms, &self.rows, receipt),
                    Some(Standing::Due(_) | Standing::Late)
                )
            {
                self.rows.receipt_mut(number).mark(Mark::Owed);
                owed += 1;
            }
        }
        owed
    }

    fn first_owed(&self, entity: EntityNo) -> Option<ReceiptNo> {
        let mut owed = self.rows.of_entity(entity).filter(|(_, receipt)| receipt.is(Mark::Owed));
        owed.next().map(|(number, _)| number)
    }
}
