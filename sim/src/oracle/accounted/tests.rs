//! Histories that end well, and ends that do not add up.

use hookproof_core::{
    Millis,
    model::{Early, EventType, Kind, Model, Occurrence, Order, Rule, State, States, Transition},
};

use super::*;
use crate::{
    history::{
        Body, DeliveryId, DeliveryNo, EndpointLife, EndpointNo, Family, Node, OperationKey, Person,
    },
    oracle::sending::tests::{Tale, tale},
};

const BOOKS: EventType = EventType(0);
const BOOKS_NOTHING: EventType = EventType(1);
const ACKNOWLEDGED: DeliveryStand = DeliveryStand::Acknowledged;

/// One delivery, acknowledged by its receiver.
fn told() -> Tale {
    let mut tale = tale();
    let rule = |event, from, to, books| Rule {
        event,
        from: States::of(&[State(from)]),
        to: State(to),
        books,
        external: false,
    };
    let once = Some((Transition(0), Occurrence::Once));
    let rules = vec![rule(BOOKS, 0, 1, once), rule(BOOKS_NOTHING, 1, 2, None)];
    let model = Model::declare(3, Kind::Latest, Order::Graph, Early::Wait, rules);
    tale.terms.models = vec![model.expect("a good model")];
    tale.terms.model_of = vec![0];
    tale.committed(0).fanned(0, 0, 0).fan_out_done(0, 1).acknowledged(0)
}

fn received_by(tale: Tale, delivery: u32, id: u32, reading: Reading) -> Tale {
    let fact = Fact::Received {
        receipt: ReceiptNo(0),
        delivery: DeliveryNo(delivery),
        id: DeliveryId(id),
        body: Body(0),
        reading,
    };
    tale.line(Node::Ingress(0), fact)
}

fn reading(kind: EventType) -> Reading {
    Reading::Event { entity: EntityNo(0), kind, occurrence: 0, version: 0 }
}

fn received(kind: EventType) -> Tale {
    received_by(told(), 0, 100, reading(kind))
}

fn effect(tale: Tale) -> Tale {
    let operation = OperationKey { entity: EntityNo(0), transition: Transition(0), occurrence: 0 };
    tale.line(Node::Worker(0), Fact::Effect { operation, by: Cause::Receipt(ReceiptNo(0)) })
}

fn delivery_stands(tale: Tale, stand: DeliveryStand) -> Tale {
    let fact = Fact::DeliveryStands { delivery: DeliveryNo(0), stand, due: false };
    tale.line(Node::World, fact)
}

fn receipt_stands(tale: Tale, stand: ReceiptStand) -> Tale {
    tale.line(Node::World, Fact::ReceiptStands { receipt: ReceiptNo(0), stand, due: false })
}

/// The rows stand so, and that is the end.
fn ends(tale: Tale, stand: ReceiptStand) -> Tale {
    receipt_stands(delivery_stands(tale, ACKNOWLEDGED), stand).ended()
}

fn replayed(tale: Tale) -> Tale {
    let (receipt, by) = (ReceiptNo(0), Person(0));
    let answer = Replayed::Accepted;
    tale.line(Node::Operator, Fact::Replayed { receipt, by, allowed: true, answer })
}

fn restored(tale: Tale, side: Side) -> Tale {
    tale.line(Node::Database(side), Fact::Restored { side, taken: Millis(0) })
}

/// What both halves of the sender's oracle say, the ends last.
fn judged(tale: &Tale) -> Result<(), Breach> {
    let (mut sending, mut accounted) = (Sending::default(), Accounted::default());
    let mut danger = Danger::default();
    for line in &tale.lines {
        accounted.observe(&tale.terms, line);
        sending.observe(&tale.terms, line, &mut danger)?;
    }
    accounted.end(&sending, &mut danger)
}

#[track_caller]
fn passes(tale: &Tale) {
    assert_eq!(judged(tale), Ok(()));
}

#[track_caller]
fn breaks(tale: &Tale) {
    let breach = judged(tale).expect_err("an end that does not add up");
    assert_eq!(breach.promise, Promise::E1, "{}", breach.what);
}

#[test]
fn an_event_that_was_applied_has_one_effect_if_it_asks_for_one() {
    passes(&ends(effect(received(BOOKS)), ReceiptStand::Applied));
    breaks(&ends(received(BOOKS), ReceiptStand::Applied));
    breaks(&ends(effect(effect(received(BOOKS))), ReceiptStand::Applied));
    passes(&ends(received(BOOKS_NOTHING), ReceiptStand::Applied));
    breaks(&ends(effect(received(BOOKS_NOTHING)), ReceiptStand::Applied));
}

#[test]
fn an_event_that_changed_nothing_has_no_effect() {
    for stand in [ReceiptStand::AlreadyBooked, ReceiptStand::Overtaken, ReceiptStand::Ignored] {
        passes(&ends(received(BOOKS), stand));
        breaks(&ends(effect(received(BOOKS)), stand));
    }
    passes(&ends(replayed(effect(received(BOOKS))), ReceiptStand::AlreadyBooked));
    breaks(&ends(replayed(effect(effect(received(BOOKS)))), ReceiptStand::AlreadyBooked));
}

#[test]
fn an_event_that_was_set_aside_has_at_most_one_effect() {
    passes(&ends(received(BOOKS), ReceiptStand::InReview));
    passes(&ends(effect(received(BOOKS)), ReceiptStand::InReview));
    breaks(&ends(effect(effect(received(BOOKS))), ReceiptStand::InReview));
}

#[test]
fn a_receipt_that_waits_is_stuck() {
    for stand in [ReceiptStand::Queued, ReceiptStand::Deferred, ReceiptStand::Retrying] {
        breaks(&ends(received(BOOKS), stand));
    }
    let due =
        Fact::ReceiptStands { receipt: ReceiptNo(0), stand: ReceiptStand::InReview, due: true };
    breaks(&delivery_stands(received(BOOKS), ACKNOWLEDGED).line(Node::World, due).ended());
}

#[test]
fn a_delivery_that_waits_or_is_held_is_stuck() {
    let due = || tale().committed(0).fanned(0, 0, 0).fan_out_done(0, 1);
    let waits = DeliveryStand::Waiting { wait_ms: 1 };
    breaks(&delivery_stands(due(), waits).ended());
    breaks(&delivery_stands(due(), DeliveryStand::Claimed).ended());
    let life = EndpointLife::Paused;
    let paused = due().line(Node::Operator, Fact::Endpoint { endpoint: EndpointNo(0), life });
    passes(&delivery_stands(paused, waits).ended());
}

#[test]
fn a_row_that_its_lines_do_not_tell_of_is_not_accounted_for() {
    breaks(&delivery_stands(told(), DeliveryStand::Failed { known: true }).ended());
    breaks(&delivery_stands(tale(), ACKNOWLEDGED).ended());
    breaks(&receipt_stands(received(BOOKS), ReceiptStand::InReview).ended());
    breaks(&delivery_stands(received(BOOKS), ACKNOWLEDGED).ended());
}

#[test]
fn what_its_receiver_acknowledged_is_there() {
    let answered = |tale: Tale| {
        let (delivery, attempt) = (DeliveryNo(0), 1);
        let claimed = Fact::Claimed {
            delivery,
            endpoint: EndpointNo(0),
            attempt,
            rung: 1,
            cycle: 1,
            fence: 1,
            wait_ms: 60_000,
            url: 0,
        };
        let fact = Fact::Answered { delivery, attempt, id: DeliveryId(100), status: 200 };
        let mut tale = tale.committed(0).fanned(0, 0, 0).fan_out_done(0, 1).acknowledged(0);
        let at = tale.lines.iter().position(|line| line.fact == claimed).expect("a claim") + 2;
        let line = Line { by: Node::Ingress(0), fact, ..tale.lines[at] };
        tale.lines.insert(at, line);
        tale
    };
    breaks(&delivery_stands(answered(tale()), ACKNOWLEDGED).ended());
    let lost = restored(answered(tale()), Side::Receiver);
    passes(&delivery_stands(lost, ACKNOWLEDGED).ended());
    let there = received_by(answered(tale()), 0, 100, Reading::UnknownType);
    passes(&ends(there, ReceiptStand::Ignored));
    let folded = received_by(answered(tale()), 7, 100, Reading::UnknownType);
    passes(&ends(folded, ReceiptStand::Ignored));
}

#[test]
fn what_somebody_else_acknowledged_may_be_absent() {
    passes(&delivery_stands(told(), ACKNOWLEDGED).ended());
}

#[test]
fn what_a_restore_took_away_is_not_owed() {
    let gone = restored(effect(received(BOOKS)), Side::Receiver);
    passes(&delivery_stands(gone.clone(), ACKNOWLEDGED).ended());
    passes(&ends(effect(gone.clone()), ReceiptStand::Applied));
    breaks(&ends(gone.clone(), ReceiptStand::Queued));
    let again = received_by(gone, 0, 100, reading(BOOKS));
    passes(&ends(effect(again.clone()), ReceiptStand::Applied));
    breaks(&ends(again, ReceiptStand::Applied));
    let sender = restored(received(BOOKS), Side::Sender);
    passes(&receipt_stands(sender, ReceiptStand::InReview).ended());
}

#[test]
fn a_purged_receipt_has_had_its_end() {
    let purged =
        effect(received(BOOKS)).line(Node::Worker(0), Fact::Purged { receipt: ReceiptNo(0) });
    passes(&delivery_stands(purged, ACKNOWLEDGED).ended());
}

#[test]
fn every_delivery_is_in_danger_once_something_went_wrong() {
    let count = |tale: &Tale| {
        let mut danger = Danger::default();
        let (mut sending, mut accounted) = (Sending::default(), Accounted::default());
        for line in &tale.lines {
            accounted.observe(&tale.terms, line);
            sending.observe(&tale.terms, line, &mut danger).expect("a good history");
        }
        accounted.end(&sending, &mut danger).expect("a good end");
        danger.of(Promise::E1)
    };
    let calm = ends(received(BOOKS_NOTHING), ReceiptStand::Applied);
    assert_eq!(count(&calm), 0);
    let drop = Fact::Fault { family: Family::DropResponse };
    let rough = received(BOOKS_NOTHING).line(Node::Network, drop);
    assert_eq!(count(&ends(rough, ReceiptStand::Applied)), 1);
}

#[test]
fn without_a_word_on_the_rows_the_ends_are_open() {
    let mut accounted = Accounted::default();
    assert!(!accounted.decides(Promise::E1));
    for line in &ends(received(BOOKS_NOTHING), ReceiptStand::Applied).lines {
        accounted.observe(&told().terms, line);
    }
    assert!(accounted.decides(Promise::E1));
}
