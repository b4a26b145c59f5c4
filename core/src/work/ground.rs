//! The ground that work is decided on, and what the work does to its entity.

use super::Fetched;
use crate::{
    Id,
    model::{Early, Entity, Model, Order, Proposal, Standing, State},
    plan::{Put, Write},
};

/// What the work needs besides the receipt, all loaded for it.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The entity, under its lock.
    pub entity: &'a Entity,
    /// The entity's type.
    pub model: &'a Model,
    /// Whether the operation that the event asks for was found booked. Booked is for ever; that it
    /// is not is guarded by the insert.
    pub booked: bool,
    /// Where effects outside go, and the key that a delivery to it would get.
    pub outside: Option<(Id, Id)>,
}

impl Ground<'_> {
    pub(super) fn standing(&self, proposal: &Proposal) -> Standing {
        assert_eq!(self.entity.id, proposal.entity, "an event is held against its own entity");
        self.model.standing(self.entity, proposal)
    }

    /// Whether what was fetched is as new as the event, so that the event is contained in it.
    pub(super) fn covers(&self, fetched: Fetched, proposal: &Proposal) -> bool {
        // A state that the type does not have is no answer (R8).
        if usize::from(fetched.state.0) >= self.model.states() {
            return false;
        }
        match self.model.order() {
            Order::Graph => {
                let rule = self.model.rule(proposal.event);
                rule.is_some_and(|rule| self.model.leads(rule.to, fetched.state))
            }
            Order::Version | Order::Sequence | Order::Instant => {
                fetched.version >= proposal.version
            }
        }
    }

    /// Whether an answer that covers the event says more than what is there. It is never older: it
    /// leads on from an early event, which lies ahead, or from one as new as the entity.
    pub(super) fn is_news(&self, fetched: Fetched) -> bool {
        fetched.state != self.entity.state || fetched.version > self.entity.version
    }

    pub(super) fn hold(&self) -> Write {
        Write::HoldEntity { id: self.entity.id, rev: self.entity.rev }
    }

    /// Moves the entity. A projection stays only while it lies ahead.
    pub(super) fn move_to(&self, state: State, version: u64) -> Write {
        let version = match self.model.order() {
            Order::Graph => self.entity.version,
            Order::Version | Order::Sequence | Order::Instant => version.max(self.entity.version),
        };
        let projected = self.entity.projected.filter(|shown| self.is_ahead(*shown, state));
        self.put(Entity { state, version, projected, ..*self.entity })
    }

    /// Shows what an early event intends, unless something further ahead is shown already.
    pub(super) fn project(&self, proposal: &Proposal) -> Write {
        let intended = self.model.rule(proposal.event).map(|rule| rule.to);
        let further = |to| self.entity.projected.is_none_or(|shown| self.is_ahead(to, shown));
        if self.model.early() == Early::Project && intended.is_some_and(further) {
            self.show(intended)
        } else {
            self.hold()
        }
    }

    /// Only reads the entity, but no longer shows what this event intended.
    pub(super) fn withdraw(&self, proposal: &Proposal) -> Write {
        let intended = self.model.rule(proposal.event).map(|rule| rule.to);
        if self.entity.projected.is_some() && self.entity.projected == intended {
            self.show(None)
        } else {
            self.hold()
        }
    }

    fn is_ahead(&self, state: State, of: State) -> bool {
        state != of && self.model.leads(of, state)
    }

    fn show(&self, projected: Option<State>) -> Write {
        self.put(Entity { projected, ..*self.entity })
    }

    fn put(&self, row: Entity) -> Write {
        let was = self.entity.rev;
        Write::Entity(Put { was: Some(was), row: Entity { rev: was + 1, ..row } })
    }
}
