//! What the receiver's database holds, as far as the history tells.

use hookproof_core::{
    Id,
    model::{Entity, Model, Operation, Standing, State},
};

use super::{
    super::{Terms, row},
    receipt::{Mark, Receipt, Stand},
};
use crate::history::{Body, DeliveryId, EntityNo, OperationKey, ReceiptNo};

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
    /// What it shows as projected.
    pub(super) projected: Option<State>,
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

impl core::fmt::Display for Booked {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::No => f.write_str("nobody"),
            Self::By(receipt) => write!(f, "receipt {}", receipt.0),
            Self::ByHand => f.write_str("hand"),
        }
    }
}

impl Default for EntityRow {
    fn default() -> Self {
        Self {
            state: State(0),
            version: 0,
            projected: None,
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

pub(super) fn key(entity: EntityNo) -> Id {
    Id(u128::from(entity.0))
}
