//! R3, R4, R5, R6 and R19 at the door.

use super::*;

#[test]
fn r3_an_acknowledgement_before_the_receipt_is_caught_as_it_leaves() {
    story().commits(PAID).arrives(PAID, 1).answers(PAID, 1, 200).breaks(Promise::R3);
}

#[test]
fn r3_an_acknowledgement_from_memory_while_the_database_is_away_is_caught() {
    let down = Fact::DatabaseUp { side: Side::Receiver, up: false };
    let first = story().delivered(CONFIRMED).say(STORE, down).commits(PAID).arrives(PAID, 1);
    first.answers(PAID, 1, 200).breaks(Promise::R3);
}

#[test]
fn r3_a_receipt_lost_with_the_machine_shows_when_a_copy_makes_another() {
    let lost = story().delivered(PAID).say(STORE, Fact::PowerLost { side: Side::Receiver });
    lost.clone().arrives(PAID, 2).receives(PAID).breaks(Promise::R3);
    assert_eq!(lost.danger(Promise::R3), 1);
}

#[test]
fn r3_a_receipt_that_nobody_acknowledged_may_be_lost_with_the_machine() {
    let lost = story().commits(PAID).arrives(PAID, 1).receives(PAID);
    let lost = lost.say(STORE, Fact::PowerLost { side: Side::Receiver }).say(DOOR, Fact::Crashed);
    lost.arrives(PAID, 2).receives(PAID).answers(PAID, 2, 200).holds();
}

#[test]
fn r3_a_receipt_that_was_purged_or_restored_away_did_exist() {
    let seen = story().delivered(PAID).applied(PAID, 0, 2).arrives(PAID, 2);
    seen.clone().after(91 * 24 * HOUR).purged(PAID).answers(PAID, 2, 200).holds();
    let restored = Fact::Restored { side: Side::Receiver, taken: Millis(0) };
    seen.say(STORE, restored).answers(PAID, 2, 200).holds();
}

#[test]
fn r4_a_second_receipt_for_one_id_is_caught() {
    let two = story().commits(PAID).arrives(PAID, 1).arrives(PAID, 1).receives(PAID);
    two.receives_as(90, PAID, reading(PAID)).breaks(Promise::R4);
}

#[test]
fn r4_a_duplicate_answered_409_or_5xx_is_caught() {
    for status in [409, 500, 503] {
        story().delivered(PAID).arrives(PAID, 2).answers(PAID, 2, status).breaks(Promise::R4);
    }
}

#[test]
fn r4_a_duplicate_may_be_turned_away_while_something_fails() {
    let known = || story().delivered(PAID).arrives(PAID, 2);
    known().say(DOOR, Fact::RolledBackByDatabase).answers(PAID, 2, 503).holds();
    known().say(DOOR, Fact::CommitUnknown).answers(PAID, 2, 503).holds();
    let down = Fact::DatabaseUp { side: Side::Receiver, up: false };
    known().say(STORE, down).answers(PAID, 2, 503).holds();
    let up = Fact::DatabaseUp { side: Side::Receiver, up: true };
    let again = known().say(STORE, down).say(STORE, up).answers(PAID, 2, 503);
    again.arrives(PAID, 3).answers(PAID, 3, 503).breaks(Promise::R4);
}

#[test]
fn r4_a_copy_beside_an_open_commit_waits_or_is_retryable_but_never_hopes() {
    let beside = || {
        let first = story().commits(PAID).arrives(PAID, 1);
        first.arrives_as(Node::Ingress(1), PAID, 2, PAID.no, Authentic::Yes)
    };
    assert_eq!(beside().danger(Promise::R4), 1);
    let other = Node::Ingress(1);
    beside().answers_from(other, PAID, 2, 409).receives(PAID).answers(PAID, 1, 200).holds();
    beside().receives(PAID).answers_from(other, PAID, 2, 200).answers(PAID, 1, 200).holds();
    beside().answers_from(other, PAID, 2, 200).breaks(Promise::R4);
}

#[test]
fn r4_another_error_taken_for_a_duplicate_is_caught() {
    let failed = story().commits(PAID).arrives(PAID, 1).say(DOOR, Fact::RolledBackByDatabase);
    failed.answers(PAID, 1, 200).breaks(Promise::R4);
}

#[test]
fn r4_requests_that_a_crash_took_away_are_owed_nothing() {
    let crashed = story().commits(PAID).arrives(PAID, 1).say(DOOR, Fact::Crashed);
    assert_eq!(crashed.danger(Promise::R3), 1);
    crashed.arrives(PAID, 2).answers(PAID, 2, 200).breaks(Promise::R3);
}

#[test]
fn r5_work_at_the_door_is_caught_before_the_answer() {
    let received = || story().commits(PAID).arrives(PAID, 1).receives(PAID);
    let ran = Fact::HandlerRan { receipt: ReceiptNo(PAID.no), outcome: HandlerOutcome::Done };
    received().say(DOOR, ran).breaks(Promise::R5);
    received().answers(PAID, 1, 200).say(DOOR, ran).holds();
    let claimed = Fact::WorkClaimed { receipt: ReceiptNo(PAID.no), fence: 1, strike: 1 };
    received().say(DOOR, claimed).breaks(Promise::R5);
}

#[test]
fn r5_an_effect_or_a_handler_before_the_receipt_is_caught() {
    story().commits(PAID).arrives(PAID, 1).effect(PAID).breaks(Promise::R5);
    story().runs(PAID, HandlerOutcome::Done).breaks(Promise::R5);
    story().claims(PAID, 1, 1).breaks(Promise::R5);
}

#[test]
fn r5_an_answer_that_waits_is_caught_at_the_first_line_after() {
    let waits = || timely().commits(PAID).arrives(PAID, 1).receives(PAID).after(5 * SECOND);
    waits().answers(PAID, 1, 200).holds();
    waits().after(1).commits(CONFIRMED).breaks(Promise::R5);
    let stalled = Fact::Fault { family: crate::history::Family::Stall };
    waits().say(DOOR, stalled).after(MINUTE).answers(PAID, 1, 200).holds();
}

#[test]
fn a_difference_of_a_commit_that_outlived_its_answer_folds_nothing() {
    let hung = Fact::Fault { family: crate::history::Family::Hang };
    let differed = Fact::Differed { receipt: ReceiptNo(CONFIRMED.no), body: Body(PAID.no) };
    let late = story().delivered(CONFIRMED).arrives_as(DOOR, CONFIRMED, 2, PAID.no, Authentic::Yes);
    let late = late.say(DOOR, hung).answers(CONFIRMED, 2, 503);
    late.arrives(PAID, 1).say(DOOR, differed).holds();
}

#[test]
fn r6_a_delivery_folded_into_a_receipt_of_its_resource_is_caught() {
    let second = || story().delivered(CONFIRMED).commits(PAID).arrives(PAID, 1);
    assert_eq!(second().receives(PAID).danger(Promise::R6), 1);
    second().answers(PAID, 1, 200).breaks(Promise::R6);
    let differed = Fact::Differed { receipt: ReceiptNo(CONFIRMED.no), body: Body(PAID.no) };
    second().say(DOOR, differed).breaks(Promise::R6);
}

#[test]
fn r19_an_unknown_type_and_unreadable_bytes_are_received_and_acknowledged() {
    let odd = || story().commits(PAID).arrives(PAID, 1);
    let unknown = odd().receives_as(PAID.no, PAID, Reading::UnknownType).answers(PAID, 1, 200);
    assert_eq!(unknown.danger(Promise::R19), 1);
    unknown.stands(PAID, ReceiptStand::Ignored).ends().holds();
    let about = About::Receipt(ReceiptNo(PAID.no));
    let letter = Fact::DeadLettered { about, reason: Reason::Unreadable };
    let before = odd().say(DOOR, letter).say(DOOR, Fact::Alerted { about });
    let before = before.receives_as(PAID.no, PAID, Reading::Unreadable).answers(PAID, 1, 200);
    before.alert_sent(PAID).stands(PAID, ReceiptStand::InReview).ends().holds();
    let after = odd().receives_as(PAID.no, PAID, Reading::Unreadable).say(DOOR, letter);
    let after = after.say(DOOR, Fact::Alerted { about }).answers(PAID, 1, 200);
    after.alert_sent(PAID).stands(PAID, ReceiptStand::InReview).ends().holds();
}

#[test]
fn r19_an_authentic_request_turned_away_for_nothing_is_caught() {
    for status in [400, 422, 500] {
        story().commits(PAID).arrives(PAID, 1).answers(PAID, 1, status).breaks(Promise::R19);
    }
    for authentic in [Authentic::Forged, Authentic::Stale] {
        let foreign = story().arrives_as(DOOR, PAID, 1, PAID.no, authentic);
        foreign.answers(PAID, 1, 400).holds();
    }
    let revoked = story().commits(PAID).arrives(PAID, 1).answers(PAID, 1, 401);
    revoked.holds();
}

#[test]
fn r8_an_early_event_answered_409_is_caught() {
    story().commits(SHIPPED).arrives(SHIPPED, 1).answers(SHIPPED, 1, 409).breaks(Promise::R8);
}

#[test]
fn r19_a_receipt_that_is_stored_and_turned_away_is_caught() {
    let stored = || story().commits(PAID).arrives(PAID, 1).receives(PAID);
    for status in [400, 404, 503] {
        stored().answers(PAID, 1, status).breaks(Promise::R19);
    }
    stored().say(DOOR, Fact::CommitUnknown).answers(PAID, 1, 503).holds();
    let again = || stored().answers(PAID, 1, 200).arrives(PAID, 2);
    again().answers(PAID, 2, 400).breaks(Promise::R4);
    again().answers(PAID, 2, 429).holds();
}

#[test]
fn r17_a_reading_that_names_another_entity_is_caught() {
    let arrived = || story().commits(PAID).arrives(PAID, 1);
    let other = reading(Event { entity: SUBSCRIPTION, ..PAID });
    arrived().receives_as(PAID.no, PAID, other).breaks(Promise::R17);
    arrived().receives(PAID).answers(PAID, 1, 200).holds();
}

#[test]
fn r19_other_bytes_under_a_known_id_are_recorded_or_caught() {
    let other = || story().delivered(PAID).arrives_as(DOOR, PAID, 2, 77, Authentic::Yes);
    assert_eq!(other().danger(Promise::R19), 1);
    let differed = |body| Fact::Differed { receipt: ReceiptNo(PAID.no), body: Body(body) };
    let recorded = other().say(DOOR, differed(77)).answers(PAID, 2, 200).holds();
    recorded.arrives_as(DOOR, PAID, 3, 77, Authentic::Yes).answers(PAID, 3, 200).holds();
    other().answers(PAID, 2, 200).breaks(Promise::R19);
    other().say(DOOR, differed(PAID.no)).breaks(Promise::R19);
}

#[test]
fn an_outage_of_which_no_line_tells_the_end_is_over_when_the_door_stores_again() {
    let exhausted = Fact::Fault { family: crate::history::Family::PoolExhausted };
    let away = || story().delivered(PAID).say(Node::World, exhausted);
    away().arrives(PAID, 2).answers(PAID, 2, 503).holds();
    let back = away().delivered(CONFIRMED).arrives(PAID, 2).answers(PAID, 2, 503);
    back.breaks(Promise::R4);
}
