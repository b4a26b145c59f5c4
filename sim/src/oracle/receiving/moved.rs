//! How entities move, and what the authoritative API says of them (R8, R15).

use hookproof_core::model::{Entity, Kind, Model, Order, Standing, State};

use super::{
    super::{Breach, Danger, breach},
    Now, Receiving,
    rows::{EntityRow, model},
};
use crate::{
    history::{EntityNo, Fact, ReceiptNo},
    promise::Promise,
};

impl Receiving {
    /// Takes in `Moved`.
    pub(super) fn moved(&mut self, now: Now<'_>, fact: &Fact) -> Result<(), Breach> {
        let Fact::Moved { entity, from, to, version } = *fact else { return Ok(()) };
        let was = self.rows.entity(entity);
        if from != was.state {
            let promise = if was.shaken { Promise::R3 } else { Promise::R8 };
            let what = format_args!(
                "entity {} moved from state {}, where it was in state {}",
                entity.0, from.0, was.state.0
            );
            return Err(breach(promise, what));
        }
        let refetched = match model(now.terms, entity) {
            Some(model) => self.cause(model, entity, &was, to, version)?,
            None => false,
        };
        let row = super::super::row(&mut self.rows.entities, entity.index());
        (row.state, row.version, row.shaken) = (to, version, false);
        row.refetched |= refetched;
        self.within(now).before.get_or_insert((entity, was.state, was.version));
        Ok(())
    }

    /// Judges a move by what can have caused it: an event whose turn it is, or what the authoritative
    /// API said. Whether it was the latter.
    fn cause(
        &self,
        model: &Model,
        entity: EntityNo,
        was: &EntityRow,
        to: State,
        version: u64,
    ) -> Result<bool, Breach> {
        let (row, no) = (was.as_row(entity), entity.0);
        hold!(
            is_one_of(model, to),
            R8,
            "entity {no} moved to state {}, which it does not have",
            to.0
        );
        let open = || self.rows.of_entity(entity).filter(|(_, receipt)| receipt.stand.is_open());
        let by_event = open().any(|(_, receipt)| {
            receipt.proposal().is_some_and(|proposal| {
                model.standing(&row, &proposal) == Standing::Due(to)
                    && (model.order() == Order::Graph
                        || version == proposal.version.max(was.version))
            })
        });
        if by_event {
            return Ok(false);
        }
        let mut told =
            open().filter_map(|(_, receipt)| receipt.fetched).filter(|told| told.0 == to);
        if let Some((_, said)) = told.next() {
            let newest = told.fold(said, |newest, (_, said)| newest.max(said));
            hold!(
                is_behind(model, &row, to, newest),
                R15,
                "entity {no} was overwritten by what the API had said, which is not newer"
            );
            return Ok(true);
        }
        let promise = match model.kind() {
            Kind::Ledger => Promise::R15,
            Kind::Latest => Promise::R8,
        };
        Err(breach(
            promise,
            format_args!(
                "entity {no} moved from state {} (version {}) to {} ({version}), and no event's turn \
                 it was",
                was.state.0, was.version, to.0
            ),
        ))
    }

    /// Takes in `Projected`.
    pub(super) fn projected(&mut self, now: Now<'_>, entity: EntityNo, shown: Option<State>) {
        self.within(now);
        super::super::row(&mut self.rows.entities, entity.index()).projected = shown;
    }

    /// Takes in `Fetched`.
    pub(super) fn fetched(
        &mut self,
        now: Now<'_>,
        number: ReceiptNo,
        fence: u32,
        (entity, said): (EntityNo, (State, u64)),
        danger: &mut Danger,
    ) {
        danger.count(Promise::R15);
        let answers = model(now.terms, entity).is_some_and(|model| is_one_of(model, said.0));
        let receipt = self.rows.receipt_mut(number);
        if answers && receipt.claim.is_some_and(|claim| claim.fence == fence) {
            receipt.fetched = Some(said);
        }
    }
}

/// Whether an entity of this type can be in this state. One that it cannot be in is no answer.
fn is_one_of(model: &Model, state: State) -> bool {
    usize::from(state.0) < model.states()
}

/// Whether the entity is behind this state and version. Two equal instants may differ in state: there
/// the API's word counts.
fn is_behind(model: &Model, entity: &Entity, state: State, version: u64) -> bool {
    match model.order() {
        Order::Graph => state != entity.state && model.leads(entity.state, state),
        Order::Instant if version == entity.version => state != entity.state,
        Order::Version | Order::Sequence | Order::Instant => version > entity.version,
    }
}
