//! What the receiver's database holds, as far as the history tells.

use hookproof_core::{
    Id, Millis,
    model::{Entity, Model, Operation, Proposal, Standing, State},
    profile::InboxPolicy,
};

use super::super::{Terms, pack::NEVER, row};
use crate::history::{Body, DeliveryId, EntityNo, OperationKey, Reading, ReceiptNo};

/// The rows, as one value: a backup of the database is a copy of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) receipts: Vec<Receipt>,
    pub(super) ids: Vec<Known>,
    pub(super) entities: Vec<EntityRow>,
    pub(super) operations: Vec<OperationRow>,
    /// Which other bytes were recorded for which receipt, in order.
    pub(super) differences: Vec<(ReceiptNo, Body)>,
}

clone_reusing!(Rows { receipts, ids, entities, operations, differences });

/// A receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Receipt {
    pub(super) stand: Stand,
    pub(super) id: DeliveryId,
    pub(super) body: Body,
    pub(super) reading: Reading,
    pub(super) claim: Option<Claim>,
    /// Tries of this climb that count.
    pub(super) strikes: u16,
    /// On the database's clock: a retry is not due before, a deferral sleeps no longer than until.
    pub(super) wake: Millis,
    pub(super) cap: Cap,
    /// On the database's clock: it must not be purged before.
    pub(super) keep: Millis,
    /// On the database's clock: it is due then at the latest. Kept only where lateness counts.
    pub(super) due: Millis,
    /// What the authoritative API said within this claim.
    pub(super) fetched: Option<(State, u64)>,
    pub(super) marks: u16,
    /// The next receipt about the same entity.
    pub(super) next: Option<ReceiptNo>,
}

/// Where a receipt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    Absent,
    Queued,
    Deferred,
    Retrying,
    Applied,
    AlreadyBooked,
    Overtaken,
    Ignored,
    InReview,
}

/// A claim that has not been concluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) fence: u32,
    /// On the database's clock. Whatever the worker decides was decided no earlier.
    pub(super) at: Millis,
    /// The outcomes of the handler since, as a set.
    pub(super) ran: u8,
    /// The database's clock was put back since, so that nothing is known of when it decided.
    pub(super) jumped: bool,
}

/// Until when a deferral may last, on the database's clock. A decision comes after its claim and before
/// its line, so the deadline is known only between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cap {
    pub(super) earliest: Millis,
    pub(super) latest: Millis,
}

/// What is remembered of a receipt besides where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A copy of it was acknowledged.
    Acknowledged = 1,
    /// The machine was lost since its last commit: only a durable row is still there.
    Shaken = 1 << 1,
    /// It was applied once, which a replay cannot take back.
    Applied = 1 << 2,
    /// It is among the events that made its entity what it is.
    Counted = 1 << 3,
    /// An alert about it was committed and not yet sent.
    Alerting = 1 << 4,
    /// A person had it replayed, and it has not been worked since.
    Replayed = 1 << 5,
    /// Its prerequisite was applied in the commit being read, which owes it a wake.
    Owed = 1 << 6,
    /// The end has said where it stands.
    Seen = 1 << 7,
    /// The database's clock was put back while it was open, so its deadlines may seem further away.
    Adrift = 1 << 8,
    /// It is no more, but it was: whoever still works on it learns so from the commit.
    Gone = 1 << 9,
    /// It is in the list of those that may be late; nothing is decided by it.
    Listed = 1 << 10,
}

/// A delivery id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) receipt: Option<ReceiptNo>,
    /// A receipt of it was purged.
    pub(super) purged: bool,
}

/// An entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntityRow {
    pub(super) state: State,
    pub(super) version: u64,
    /// It was moved to what the authoritative API said.
    pub(super) refetched: bool,
    /// A receipt that made it what it is was purged.
    pub(super) partial: bool,
    pub(super) shaken: bool,
    pub(super) first_receipt: Option<ReceiptNo>,
    pub(super) first_operation: Option<u32>,
}

/// An operation that was booked or carried outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OperationRow {
    pub(super) key: OperationKey,
    pub(super) booked: Booked,
    /// The key that the external service was shown.
    pub(super) outside: Option<u64>,
    /// It happened outside.
    pub(super) did: bool,
    /// The entity's next operation, in the order of their keys.
    pub(super) next: Option<u32>,
}

/// Who booked an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Booked {
    /// Nobody.
    No,
    /// The work on a receipt.
    By(ReceiptNo),
    /// A person.
    ByHand,
}

impl Stand {
    /// Whether work is still to be done.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Deferred | Self::Retrying)
    }
}

impl Cap {
    /// Nothing is known: it may end at once, or never.
    pub(super) const UNKNOWN: Self = Self { earliest: Millis(0), latest: NEVER };

    /// It counts from here at the earliest.
    pub(super) fn from(db: Millis, policy: &InboxPolicy) -> Self {
        Self { earliest: db + policy.defer_cap_ms, ..Self::UNKNOWN }
    }
}

impl Receipt {
    pub(super) const ABSENT: Self = Self {
        stand: Stand::Absent,
        id: DeliveryId(0),
        body: Body(0),
        reading: Reading::UnknownType,
        claim: None,
        strikes: 0,
        wake: Millis(0),
        cap: Cap::UNKNOWN,
        keep: NEVER,
        due: NEVER,
        fetched: None,
        marks: 0,
        next: None,
    };

    pub(super) fn is(&self, mark: Mark) -> bool {
        self.marks & mark as u16 != 0
    }

    pub(super) fn mark(&mut self, mark: Mark) {
        self.marks |= mark as u16;
    }

    pub(super) fn unmark(&mut self, mark: Mark) {
        self.marks &= !(mark as u16);
    }

    /// The marks that verdicts depend on.
    pub(super) fn weighty_marks(&self) -> u16 {
        self.marks & !(Mark::Listed as u16)
    }

    pub(super) fn is_present(&self) -> bool {
        self.stand != Stand::Absent
    }

    pub(super) fn entity(&self) -> Option<EntityNo> {
        match self.reading {
            Reading::Event { entity, .. } => Some(entity),
            Reading::UnknownType | Reading::Unreadable => None,
        }
    }

    pub(super) fn proposal(&self) -> Option<Proposal> {
        match self.reading {
            Reading::Event { entity, kind, occurrence, version } => {
                Some(Proposal { entity: key(entity), event: kind, occurrence, version })
            }
            Reading::UnknownType | Reading::Unreadable => None,
        }
    }

    /// The work is over for now: what only the work needed is forgotten.
    pub(super) fn conclude(&mut self, stand: Stand) {
        let due = if stand.is_open() { self.due } else { NEVER };
        let strikes = if stand.is_open() { self.strikes } else { 0 };
        let cap = if stand.is_open() { self.cap } else { Cap::UNKNOWN };
        *self =
            Self { stand, claim: None, wake: Millis(0), fetched: None, due, strikes, cap, ..*self };
        self.unmark(Mark::Shaken);
        self.unmark(Mark::Replayed);
        if !stand.is_open() {
            self.unmark(Mark::Adrift);
        }
    }
}

impl Default for Receipt {
    fn default() -> Self {
        Self::ABSENT
    }
}

impl Default for EntityRow {
    fn default() -> Self {
        Self {
            state: State(0),
            version: 0,
            refetched: false,
            partial: false,
            shaken: false,
            first_receipt: None,
            first_operation: None,
        }
    }
}

impl EntityRow {
    /// The row as the core knows it.
    pub(super) fn as_row(&self, entity: EntityNo) -> Entity {
        let Self { state, version, .. } = *self;
        Entity { id: key(entity), rev: 0, state, version, projected: None }
    }
}

impl Rows {
    pub(super) fn clear(&mut self) {
        self.receipts.clear();
        self.ids.clear();
        self.entities.clear();
        self.operations.clear();
        self.differences.clear();
    }

    pub(super) fn receipt(&self, receipt: ReceiptNo) -> &Receipt {
        self.receipts.get(receipt.index()).unwrap_or(&Receipt::ABSENT)
    }

    pub(super) fn receipt_mut(&mut self, receipt: ReceiptNo) -> &mut Receipt {
        row(&mut self.receipts, receipt.index())
    }

    pub(super) fn known(&self, id: DeliveryId) -> Known {
        self.ids.get(id.index()).copied().unwrap_or_default()
    }

    pub(super) fn entity(&self, entity: EntityNo) -> EntityRow {
        self.entities.get(entity.index()).copied().unwrap_or_default()
    }

    /// Whether a copy with this body is the receipt's, or its difference was recorded.
    pub(super) fn takes(&self, id: DeliveryId, body: Body) -> bool {
        self.known(id).receipt.is_none_or(|number| {
            self.receipt(number).body == body
                || self.differences.binary_search(&(number, body)).is_ok()
        })
    }

    /// Stores a receipt; its number and its id are free.
    pub(super) fn insert(&mut self, number: ReceiptNo, mut receipt: Receipt) {
        row(&mut self.ids, receipt.id.index()).receipt = Some(number);
        if let Some(entity) = receipt.entity() {
            receipt.next = row(&mut self.entities, entity.index()).first_receipt.replace(number);
        }
        *self.receipt_mut(number) = receipt;
    }

    /// Takes a receipt away.
    pub(super) fn remove(&mut self, number: ReceiptNo) {
        let gone = *self.receipt(number);
        row(&mut self.ids, gone.id.index()).receipt = None;
        if let Some(entity) = gone.entity() {
            self.unlink(entity, number, gone.next);
        }
        self.differences.retain(|(receipt, _)| *receipt != number);
        let marks = Mark::Gone as u16 | gone.marks & Mark::Listed as u16;
        *self.receipt_mut(number) = Receipt { marks, ..Receipt::ABSENT };
    }

    fn unlink(&mut self, entity: EntityNo, number: ReceiptNo, next: Option<ReceiptNo>) {
        let before = self.of_entity(entity).find(|(_, receipt)| receipt.next == Some(number));
        match before.map(|(before, _)| before) {
            Some(before) => self.receipt_mut(before).next = next,
            None => row(&mut self.entities, entity.index()).first_receipt = next,
        }
    }

    /// The receipts about an entity.
    pub(super) fn of_entity(
        &self,
        entity: EntityNo,
    ) -> impl Iterator<Item = (ReceiptNo, &Receipt)> {
        let first = self.entities.get(entity.index()).and_then(|row| row.first_receipt);
        core::iter::successors(
            first.map(|number| (number, self.receipt(number))),
            |(_, receipt)| receipt.next.map(|number| (number, self.receipt(number))),
        )
    }

    /// The operations of an entity, in the order of their keys.
    pub(super) fn operations_of(&self, entity: EntityNo) -> impl Iterator<Item = &OperationRow> {
        let first = self.entities.get(entity.index()).and_then(|row| row.first_operation);
        let at = |number: u32| &self.operations[number as usize];
        core::iter::successors(first.map(at), move |operation| operation.next.map(at))
    }

    /// Who booked an operation.
    pub(super) fn booked(&self, key: OperationKey) -> Booked {
        let found = self.operations_of(key.entity).find(|operation| operation.key == key);
        found.map_or(Booked::No, |operation| operation.booked)
    }

    pub(super) fn operation_mut(&mut self, key: OperationKey) -> &mut OperationRow {
        let mut before = None;
        let mut here = row(&mut self.entities, key.entity.index()).first_operation;
        while let Some(number) = here {
            let operation = &self.operations[number as usize];
            if operation.key >= key {
                break;
            }
            before = Some(number);
            here = operation.next;
        }
        let found = here.filter(|&number| self.operations[number as usize].key == key);
        let number = found.unwrap_or_else(|| self.insert_operation(key, before, here));
        &mut self.operations[number as usize]
    }

    fn insert_operation(
        &mut self,
        key: OperationKey,
        before: Option<u32>,
        next: Option<u32>,
    ) -> u32 {
        let number = self.operations.len() as u32;
        let booked = Booked::No;
        self.operations.push(OperationRow { key, booked, outside: None, did: false, next });
        match before {
            Some(before) => self.operations[before as usize].next = Some(number),
            None => row(&mut self.entities, key.entity.index()).first_operation = Some(number),
        }
        number
    }

    /// The machine was lost: only what was durable is still there.
    pub(super) fn shake(&mut self) {
        for receipt in self.receipts.iter_mut().filter(|receipt| receipt.is_present()) {
            receipt.mark(Mark::Shaken);
        }
        for entity in &mut self.entities {
            entity.shaken = true;
        }
    }

    /// Goes back to a backup. What the external service was shown and has done is not in a backup.
    pub(super) fn restore(&mut self, backup: &Self) {
        for (number, receipt) in self.receipts.iter_mut().enumerate() {
            let was = backup.receipts.get(number).copied().unwrap_or_default();
            let marks = match (was.stand, receipt.stand) {
                (Stand::Absent, Stand::Absent) => receipt.marks & Mark::Gone as u16,
                (Stand::Absent, _) => Mark::Gone as u16,
                (_, _) => was.marks & !(Mark::Listed as u16),
            };
            *receipt = Receipt { marks, ..was };
        }
        self.ids.clone_from(&backup.ids);
        self.differences.clone_from(&backup.differences);
        let rows = self.entities.len();
        for number in 0..rows {
            let was = backup.entities.get(number).copied().unwrap_or_default();
            let first_operation = self.entities[number].first_operation;
            self.entities[number] = EntityRow { first_operation, ..was };
        }
        for (number, operation) in self.operations.iter_mut().enumerate() {
            let was = backup.operations.get(number);
            operation.booked = was.map_or(Booked::No, |was| was.booked);
        }
    }
}

/// The entity type of an entity.
pub(super) fn model(terms: &Terms, entity: EntityNo) -> Option<&Model> {
    terms.models.get(usize::from(*terms.model_of.get(entity.index())?))
}

/// The operation that a receipt's event asks for.
pub(super) fn operation(terms: &Terms, receipt: &Receipt) -> Option<OperationKey> {
    let operation: Operation = model(terms, receipt.entity()?)?.operation(&receipt.proposal()?)?;
    Some(operation.into())
}

/// Where a receipt's event stands to its entity.
pub(super) fn standing(terms: &Terms, rows: &Rows, receipt: &Receipt) -> Option<Standing> {
    let entity = receipt.entity()?;
    let row = rows.entity(entity).as_row(entity);
    Some(model(terms, entity)?.standing(&row, &receipt.proposal()?))
}

fn key(entity: EntityNo) -> Id {
    Id(u128::from(entity.0))
}
