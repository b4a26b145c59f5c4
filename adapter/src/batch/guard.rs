//! What a write asks of a row, and where that row is in the lock order.

use hookproof_core::{
    Id,
    model::Operation,
    plan::{Put, Write},
};

use crate::rogue::{self, Rogue};

/// The kinds of rows, in the order in which they are locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Endpoint,
    Entity,
    Operation,
    Receipt,
    Event,
    Delivery,
}

impl Kind {
    pub(super) const ALL: [Self; 6] =
        [Self::Endpoint, Self::Entity, Self::Operation, Self::Receipt, Self::Event, Self::Delivery];
}

/// A place for a row, in the lock order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spot {
    Endpoint(Id),
    Entity(Id),
    Operation(Operation),
    Receipt(Id),
    Event(Id),
    Delivery(Id),
}

impl Spot {
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Endpoint(_) => Kind::Endpoint,
            Self::Entity(_) => Kind::Entity,
            Self::Operation(_) => Kind::Operation,
            Self::Receipt(_) => Kind::Receipt,
            Self::Event(_) => Kind::Event,
            Self::Delivery(_) => Kind::Delivery,
        }
    }

    pub(super) fn row(self) -> Option<Id> {
        match self {
            Self::Endpoint(id)
            | Self::Entity(id)
            | Self::Receipt(id)
            | Self::Event(id)
            | Self::Delivery(id) => Some(id),
            Self::Operation(_) => None,
        }
    }
}

/// What must hold at a place, and what does afterwards: a revision, or that nothing is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    pub(super) spot: Spot,
    pub(super) was: Option<u32>,
    pub(super) then: Option<u32>,
}

impl Guard {
    /// Whether this is what must be there.
    pub(super) fn holds(&self, found: Option<u32>) -> bool {
        let settles = self.spot.kind() == Kind::Delivery && self.was.is_some();
        found == self.was || settles && rogue::is(Rogue::UnconditionalSettle)
    }

    pub(super) fn of(write: &Write) -> Option<Self> {
        let held = |spot, rev| Self { spot, was: Some(rev), then: Some(rev) };
        let (spot, was, rev) = match write {
            Write::Endpoint(Put { was, row }) => (Spot::Endpoint(row.id), *was, row.rev),
            Write::Entity(Put { was, row }) => (Spot::Entity(row.id), *was, row.rev),
            Write::Receipt(Put { was, row }) => (Spot::Receipt(row.id), *was, row.rev),
            Write::Event(Put { was, row }) => (Spot::Event(row.id), *was, row.rev),
            Write::Delivery(Put { was, row }) => (Spot::Delivery(row.id), *was, row.rev),
            Write::Operation(operation) => (Spot::Operation(*operation), None, 0),
            Write::HoldEndpoint { id, rev } => return Some(held(Spot::Endpoint(*id), *rev)),
            Write::HoldEntity { id, rev } => return Some(held(Spot::Entity(*id), *rev)),
            Write::Purge { id, rev } => {
                return Some(Self { spot: Spot::Receipt(*id), was: Some(*rev), then: None });
            }
            Write::Alert { .. } | Write::Audit(_) | Write::Wake { .. } | Write::Handle { .. } => {
                return None;
            }
        };
        Some(Self { spot, was, then: Some(rev) })
    }
}
