//! The rows of a database in a key.

use hookproof_core::{
    Id, Millis,
    endpoint::Endpoint,
    inbox::{self, End, Receipt},
    model::{Entity, Model, Operation, Proposal, Standing, State},
    outbox::{self, Delivery, Event, Subject},
    plan::About,
};

use super::super::db::{Db, index};
use crate::{
    oracle::pack::{not_before, number},
    setup::Setup,
};

/// Appends a database. `now` is true time.
pub(super) fn write(db: &Db, now: Millis, setup: &Setup, key: &mut Vec<u8>) {
    let now = db.now(now);
    for row in &db.events {
        match row {
            Some(row) => event(row, &db.endpoints, now, key),
            None => key.push(0),
        }
    }
    for row in &db.deliveries {
        match row {
            Some(row) => delivery(row, now, key),
            None => key.push(0),
        }
    }
    for row in &db.endpoints {
        endpoint(row, now, key);
    }
    for row in &db.receipts {
        match row {
            Some(row) => receipt(row, now, setup, key),
            None => key.push(0),
        }
    }
    for row in &db.entities {
        entity(row, key);
    }
    operations(&db.operations, key);
    for (about, _) in db.alerts.iter().filter(|(_, sent)| !sent) {
        let (what, id) = match about {
            About::Receipt(id) => (1, *id),
            About::Delivery(id) => (2, *id),
        };
        key.push(what);
        id_of(id, key);
    }
    key.push(0);
}

/// An event. Who gets it was settled when it was made; only endpoints that left can have missed it.
pub(super) fn event(row: &Event, endpoints: &[Endpoint], now: Millis, key: &mut Vec<u8>) {
    let Event { id: _, rev: _, digest: _, created: _, wake, processed } = *row;
    let waits = wake.is_some();
    key.push(1 | u8::from(waits) << 1 | u8::from(processed.is_some()) << 2);
    if let Some(wake) = wake {
        not_before(key, now, wake);
        let missed = |endpoint: &Endpoint| u64::from(!endpoint.subscribed_at(row.created));
        number(key, endpoints.iter().fold(0, |bits, endpoint| bits << 1 | missed(endpoint)));
    }
}

/// A delivery, without its revision and its fence.
pub(super) fn delivery(row: &Delivery, now: Millis, key: &mut Vec<u8>) {
    use outbox::Stand;
    let Delivery { id: _, rev: _, subject, endpoint: _, stand, attempt, rung, cycle, .. } = *row;
    match stand {
        Stand::Pending { wake } => {
            key.push(1);
            not_before(key, now, wake);
        }
        Stand::Claimed { wake, lease, hurried } => {
            key.push(2 + u8::from(hurried));
            not_before(key, now, wake);
            not_before(key, now, lease);
        }
        Stand::Acknowledged => key.push(4),
        Stand::Failed(reason) => key.extend([5, reason as u8]),
        Stand::Cancelled(reason) => key.extend([6, reason as u8]),
    }
    number(key, u64::from(attempt));
    number(key, u64::from(cycle));
    // A resend starts from the foot, so where an ended cycle stood does not matter.
    if row.wake().is_some() {
        number(key, u64::from(rung));
    }
    if let Subject::Effect(operation) = subject {
        operations(&[operation], key);
    }
}

/// An endpoint, without its revision.
pub(super) fn endpoint(row: &Endpoint, now: Millis, key: &mut Vec<u8>) {
    let Endpoint { id: _, rev: _, life, left, next } = *row;
    let left = match left {
        None => 0,
        // An event of this very millisecond still reaches it.
        Some(left) if left >= now => 1,
        Some(_) => 2,
    };
    key.push(life as u8 | left << 4);
    not_before(key, now, next);
}

/// A receipt, without its revision and its fence.
pub(super) fn receipt(row: &Receipt, now: Millis, setup: &Setup, key: &mut Vec<u8>) {
    use inbox::Stand;
    // What it proposes follows from its bytes.
    let Receipt { id: _, rev: _, digest, proposal, stand, strikes, fence, applied, cap, .. } = *row;
    let (tag, detail, wake) = match stand {
        Stand::Queued { wake } => (1, 0, Some(wake)),
        Stand::Deferred { wake } => (2, 0, Some(wake)),
        Stand::Retrying { wake } => (3, 0, Some(wake)),
        Stand::Done(End::Applied) => (4, 0, None),
        Stand::Done(End::AlreadyBooked) => (4, 1, None),
        Stand::Done(End::Overtaken) => (4, 2, None),
        Stand::Ignored => (5, 0, None),
        Stand::InReview(reason) => (6, reason as u8, None),
    };
    key.push(tag | u8::from(applied) << 3 | u8::from(fence > 0) << 4);
    number(key, digest.0 as u64);
    let Some(wake) = wake else { return key.push(detail) };
    not_before(key, now, wake);
    number(key, u64::from(strikes));
    // The first claim sets the cap anew, and only what can come too early is ever held against it.
    if fence > 0 && proposal.is_some_and(|proposal| can_be_early(&proposal, setup)) {
        not_before(key, now, cap);
    }
}

/// Whether some state of its entity makes an event early.
pub(super) fn can_be_early(proposal: &Proposal, setup: &Setup) -> bool {
    let terms = &setup.terms;
    let model: &Model = &terms.models[usize::from(terms.model_of[index(proposal.entity)])];
    let at = |state: u8| Entity {
        id: proposal.entity,
        rev: 0,
        state: State(state),
        version: 0,
        projected: None,
    };
    (0..model.states() as u8).any(|state| {
        matches!(model.standing(&at(state), proposal), Standing::Early | Standing::Equal)
    }) || model.order() != hookproof_core::model::Order::Graph
}

/// An entity, without its revision.
pub(super) fn entity(row: &Entity, key: &mut Vec<u8>) {
    let Entity { id: _, rev: _, state, version, projected } = *row;
    key.push(state.0);
    number(key, version);
    key.push(projected.map_or(0, |state| state.0 + 1));
}

/// Operations, in the order of their keys: nobody asks in which order they were booked.
fn operations(booked: &[Operation], key: &mut Vec<u8>) {
    number(key, booked.len() as u64);
    let mut last: Option<(usize, Operation)> = None;
    for _ in booked {
        let rest = (0..).zip(booked.iter().copied());
        let next = rest.map(|(at, operation)| (operation, at)).filter(|&(operation, at)| {
            last.is_none_or(|(last_at, last)| (operation, at) > (last, last_at))
        });
        let Some((operation, at)) = next.min() else { break };
        last = Some((at, operation));
        id_of(operation.entity, key);
        number(key, u64::from(operation.transition.0));
        number(key, operation.occurrence);
    }
}

fn id_of(id: Id, key: &mut Vec<u8>) {
    number(key, index(id) as u64);
}
