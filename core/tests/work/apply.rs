//! Events whose turn it is, or was.

use hookproof_core::{
    outbox::{Delivery, Subject},
    work::book,
};

use super::*;

#[test]
fn an_event_whose_turn_it_is_moves_the_entity_and_wakes_who_waits() {
    let (model, before) = (shop(Early::Wait), entity(NEW));
    let (claimed, plan) = work(&queued(CONFIRMING, 9), &ground(&before, &model));
    let after = Entity { state: CONFIRMING, ..before };
    assert_eq!(plan.writes(), [changed(before, after), done(claimed, End::Applied), WAKE]);
    assert_eq!(committed(plan), Worked::Done(End::Applied));
}

#[test]
fn an_effect_is_booked_in_the_commit_that_moves_the_entity_and_the_handler_comes_last() {
    let (model, before) = (shop(Early::Wait), entity(NEW));
    let (claimed, plan) = work(&queued(PAID, 0), &ground(&before, &model));
    assert_eq!(
        plan.writes(),
        [
            changed(before, Entity { state: PAID, ..before }),
            Write::Operation(operation(PAID)),
            done(claimed, End::Applied),
            WAKE,
            Write::Handle { receipt: Id(7), operation: operation(PAID) },
        ]
    );
    assert_eq!(committed(plan), Worked::Done(End::Applied));
}

#[test]
fn an_effect_outside_is_a_delivery_keyed_by_its_operation() {
    let (model, before) = (shop(Early::Wait), entity(PAID));
    let (claimed, plan) = work(&queued(SHIPPED, 0), &ground(&before, &model));
    let effect = Delivery::made(Id(41), Subject::Effect(operation(SHIPPED)), Id(40), NOW);
    assert_eq!(
        plan.writes(),
        [
            changed(before, Entity { state: SHIPPED, ..before }),
            Write::Operation(operation(SHIPPED)),
            done(claimed, End::Applied),
            Write::Delivery(Put { was: None, row: effect }),
            WAKE,
            Write::Handle { receipt: Id(7), operation: operation(SHIPPED) },
        ]
    );
}

#[test]
#[should_panic(expected = "booked beside its delivery or not at all")]
fn an_effect_outside_is_never_booked_without_its_delivery() {
    let (model, before) = (shop(Early::Wait), entity(PAID));
    let _ = work(&queued(SHIPPED, 0), &Ground { outside: None, ..ground(&before, &model) });
}

#[test]
fn an_effect_inside_needs_no_target() {
    let (model, before) = (shop(Early::Wait), entity(NEW));
    let inside = Ground { outside: None, ..ground(&before, &model) };
    let (_, plan) = work(&queued(PAID, 0), &inside);
    assert_eq!(committed(plan), Worked::Done(End::Applied));
}

#[test]
fn an_operation_that_somebody_booked_moves_the_entity_and_runs_no_handler() {
    let (model, before) = (shop(Early::Wait), entity(PAID));
    let booked = Ground { booked: true, ..ground(&before, &model) };
    let (claimed, plan) = work(&queued(SHIPPED, 0), &booked);
    let after = Entity { state: SHIPPED, ..before };
    assert_eq!(plan.writes(), [changed(before, after), done(claimed, End::AlreadyBooked), WAKE]);
    assert_eq!(committed(plan), Worked::Done(End::AlreadyBooked));
}

#[test]
fn an_event_without_an_operation_is_applied_whatever_is_booked() {
    let (model, before) = (shop(Early::Wait), entity(NEW));
    let booked = Ground { booked: true, ..ground(&before, &model) };
    let (_, plan) = work(&queued(CONFIRMING, 0), &booked);
    assert_eq!(committed(plan), Worked::Done(End::Applied));
}

#[test]
fn overtaken_events_leave_the_newer_state_and_hold_it() {
    let (model, newer) = (shop(Early::Wait), entity(SHIPPED));
    let (claimed, plan) = work(&queued(CONFIRMING, 0), &ground(&newer, &model));
    assert_eq!(plan.writes(), [held(newer), done(claimed, End::Overtaken)]);
    assert_eq!(committed(plan), Worked::Done(End::Overtaken));
}

#[test]
fn a_second_delivery_of_a_booked_event_says_so() {
    let (model, newer) = (shop(Early::Wait), entity(PAID));
    let booked = Ground { booked: true, ..ground(&newer, &model) };
    let (claimed, plan) = work(&queued(PAID, 0), &booked);
    assert_eq!(plan.writes(), [held(newer), done(claimed, End::AlreadyBooked)]);
    let ledger = chain(Kind::Ledger, Early::Wait);
    let booked = Ground { booked: true, ..ground(&newer, &ledger) };
    let (claimed, plan) = work(&queued(PAID, 0), &booked);
    assert_eq!(plan.writes(), [held(newer), done(claimed, End::AlreadyBooked)]);
}

#[test]
fn an_impossible_event_is_set_aside_beside_its_alert_and_holds_the_state_that_says_so() {
    let (ledger, newer) = (chain(Kind::Ledger, Early::Wait), entity(SHIPPED));
    let (claimed, plan) = work(&queued(PAID, 0), &ground(&newer, &ledger));
    let [row, alert] = in_review(claimed, Reason::Impossible);
    assert_eq!(plan.writes(), [held(newer), row, alert]);
    assert_eq!(committed(plan), Worked::SetAside(Reason::Impossible));
}

#[test]
fn an_event_that_the_model_does_not_know_is_set_aside() {
    let (model, before) = (shop(Early::Wait), entity(NEW));
    let (claimed, plan) = work(&queued(State(63), 0), &ground(&before, &model));
    let [row, alert] = in_review(claimed, Reason::Impossible);
    assert_eq!(plan.writes(), [held(before), row, alert]);
}

#[test]
fn a_replay_that_finds_its_own_work_done_stays_applied() {
    let (ledger, newer) = (chain(Kind::Ledger, Early::Wait), entity(SHIPPED));
    let replayed = Receipt { applied: true, ..queued(PAID, 0) };
    let (claimed, plan) = work(&replayed, &ground(&newer, &ledger));
    assert_eq!(plan.writes(), [held(newer), done(claimed, End::Applied)]);
    assert_eq!(committed(plan), Worked::Done(End::Overtaken));
}

#[test]
fn what_was_applied_once_stays_so_in_the_row_whatever_a_replay_finds() {
    let (model, newer) = (shop(Early::Wait), entity(SHIPPED));
    let replayed = Receipt { applied: true, ..queued(CONFIRMING, 0) };
    let (claimed, plan) = work(&replayed, &ground(&newer, &model));
    assert_eq!(plan.writes(), [held(newer), done(claimed, End::Applied)]);
    assert_eq!(committed(plan), Worked::Done(End::Overtaken), "and the person is told");
}

#[test]
fn a_numbered_event_leaves_its_number() {
    for order in [Order::Version, Order::Sequence] {
        let (model, before) = (numbered(Kind::Latest, order, Early::Wait), entity(NEW));
        let (_, plan) = work(&queued(PAID, 6), &ground(&before, &model));
        let after = Entity { state: PAID, version: 6, ..before };
        assert_eq!(plan.writes()[0], changed(before, after), "{order:?}");
    }
}

#[test]
fn the_graph_keeps_no_number() {
    let (model, before) = (shop(Early::Wait), entity(NEW));
    let (_, plan) = work(&queued(PAID, 6), &ground(&before, &model));
    assert_eq!(plan.writes()[0], changed(before, Entity { state: PAID, ..before }));
}

#[test]
fn a_ledger_keeps_a_late_entry_and_its_newer_state() {
    let (ledger, newer) = (numbered(Kind::Ledger, Order::Version, Early::Wait), entity(SHIPPED));
    let (claimed, plan) = work(&queued(PAID, 3), &ground(&newer, &ledger));
    let booked = Operation { entity: Id(2), transition: Transition(9), occurrence: 77 };
    assert_eq!(
        plan.writes(),
        [
            Write::Operation(booked),
            done(claimed, End::Applied),
            WAKE,
            Write::Handle { receipt: Id(7), operation: booked },
        ]
    );
}

#[test]
fn what_is_applied_has_no_strikes_left() {
    let (model, before) = (shop(Early::Wait), entity(NEW));
    let tired = Receipt { strikes: 2, fence: 4, ..queued(CONFIRMING, 0) };
    let (claimed, plan) = work(&tired, &ground(&before, &model));
    assert_eq!((claimed.strikes, row(&plan).strikes), (3, 0));
}

#[test]
fn a_booking_by_hand_is_one_operation_and_a_line_for_the_archive() {
    let plan = book(operation(PAID), Id(11));
    let audit = hookproof_core::plan::Audit::Booked { operation: operation(PAID), by: Id(11) };
    assert_eq!(plan.writes(), [Write::Operation(operation(PAID)), Write::Audit(audit)]);
}

#[test]
#[should_panic(expected = "an event is held against its own entity")]
fn no_event_is_held_against_a_strange_entity() {
    let (model, strange) = (shop(Early::Wait), Entity { id: Id(3), ..entity(NEW) });
    let _ = work(&queued(PAID, 0), &ground(&strange, &model));
}
