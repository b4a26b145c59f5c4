//! Plans: guarded writes that commit together, and a follow-up sealed until they have.

use alloc::vec::Vec;

use crate::{
    Digest, Id, Reason,
    endpoint::Endpoint,
    inbox::Receipt,
    model::{Entity, Operation},
    outbox::{Delivery, Event},
};

/// A row to store, guarded by the revision that the decision was made on. Revisions are compared for
/// equality alone, so they may wrap.
///
/// `was: None` is an insert, and the row's unique constraint decides: absence is never guarded by
/// reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Put<R> {
    /// The revision that the row must still have; `None`: it must not exist.
    pub was: Option<u32>,
    /// The row as it will be.
    pub row: R,
}

/// One change to the database, or one condition on it.
///
/// A store locks in this order everywhere: endpoint, entity, operation, receipt, event, delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant says what its fields are")]
pub enum Write {
    /// An endpoint changed.
    Endpoint(Put<Endpoint>),
    /// The endpoint was only read: it must still be at this revision.
    HoldEndpoint { id: Id, rev: u32 },
    /// An entity changed.
    Entity(Put<Entity>),
    /// The entity was only read: it must still be at this revision.
    HoldEntity { id: Id, rev: u32 },
    /// The operation is booked; it must not have been.
    Operation(Operation),
    /// A receipt arrived or changed.
    Receipt(Put<Receipt>),
    /// A finished receipt is forgotten.
    Purge { id: Id, rev: u32 },
    /// An event was published or changed.
    Event(Put<Event>),
    /// A delivery was made or changed. Unique on (subject, endpoint).
    Delivery(Put<Delivery>),
    /// People must hear of this. Stored beside what it is about, sent at least once.
    Alert { about: About, reason: Reason },
    /// Who did what by hand, or which bytes came with a known id.
    Audit(Audit),
    /// Whatever is deferred on the entity is due now, oldest first: a set write, the only unguarded
    /// one. It may only lower `wake`, and skips rows that are locked: such a row is being decided
    /// under the entity's guard, will conflict and decide again.
    Wake { entity: Id },
    /// The application's handler runs here, inside this transaction, after all guards hold. Its
    /// failure rolls everything back.
    Handle { receipt: Id, operation: Operation },
}

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum About {
    /// A receipt in review.
    Receipt(Id),
    /// A failed delivery.
    Delivery(Id),
}

/// A line for the archive, with nothing that depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant says what its fields are")]
pub enum Audit {
    /// A person had a delivery sent again.
    Resent { delivery: Id, by: Id },
    /// A person had a receipt worked again.
    Replayed { receipt: Id, by: Id },
    /// A person booked an operation.
    Booked { operation: Operation, by: Id },
    /// A copy of a receipt came with other bytes; the first ones count.
    OtherBytes { receipt: Id, digest: Digest },
}

/// Writes that commit together or not at all, and what only their commit gives out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use = "a plan changes nothing until its writes commit"]
pub struct Plan<T> {
    writes: Vec<Write>,
    then: T,
}

/// How a transaction ended, as the store saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Every guard held, and every write is durable.
    Committed,
    /// A guard failed, or the database gave up for the sake of another transaction.
    Conflict,
    /// It was rolled back for another reason.
    RolledBack,
    /// The answer of the commit was lost.
    Unknown,
}

/// Why a plan gave nothing out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Uncommitted {
    /// Load again, decide again.
    Conflict,
    /// Nothing was written.
    RolledBack,
    /// It may have been written. Whoever looks at the rows again will know.
    Unknown,
}

impl<T> Plan<T> {
    pub(crate) fn new(writes: Vec<Write>, then: T) -> Self {
        Self { writes, then }
    }

    /// The writes, in the order in which a store locks and runs them.
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// Runs the writes in one transaction and gives the follow-up out if, and only if, they are in.
    ///
    /// `transaction` is the store's whole part: it must not answer [`Outcome::Committed`] before the
    /// writes would survive the loss of the machine (R3).
    pub fn commit(self, transaction: impl FnOnce(&[Write]) -> Outcome) -> Result<T, Uncommitted> {
        release(transaction(&self.writes), self.then)
    }
}

/// Runs many plans in one transaction, each with an outcome of its own: a plan whose guard fails is
/// left out, and the others commit. `transaction` answers in the order of the plans.
pub fn commit_each<T>(
    plans: Vec<Plan<T>>,
    transaction: impl FnOnce(&[Plan<T>]) -> Vec<Outcome>,
) -> Vec<Result<T, Uncommitted>> {
    let outcomes = transaction(&plans);
    assert_eq!(outcomes.len(), plans.len(), "a store answers each plan once");
    outcomes.into_iter().zip(plans).map(|(outcome, plan)| release(outcome, plan.then)).collect()
}

/// The only place that breaks a seal.
fn release<T>(outcome: Outcome, then: T) -> Result<T, Uncommitted> {
    match outcome {
        Outcome::Committed => Ok(then),
        Outcome::Conflict => Err(Uncommitted::Conflict),
        Outcome::RolledBack => Err(Uncommitted::RolledBack),
        Outcome::Unknown => Err(Uncommitted::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn only_a_commit_breaks_the_seal() {
        let plan = || Plan::new(vec![], "the right to send");
        assert_eq!(plan().commit(|_| Outcome::Committed), Ok("the right to send"));
        assert_eq!(plan().commit(|_| Outcome::Conflict), Err(Uncommitted::Conflict));
        assert_eq!(plan().commit(|_| Outcome::RolledBack), Err(Uncommitted::RolledBack));
        assert_eq!(plan().commit(|_| Outcome::Unknown), Err(Uncommitted::Unknown));
    }

    #[test]
    fn one_broken_guard_does_not_take_the_batch_with_it() {
        let plans = vec![Plan::new(vec![], 1), Plan::new(vec![], 2), Plan::new(vec![], 3)];
        let outcomes = vec![Outcome::Committed, Outcome::Conflict, Outcome::Committed];
        let released = commit_each(plans, |_| outcomes);
        assert_eq!(released, [Ok(1), Err(Uncommitted::Conflict), Ok(3)]);
    }
}
