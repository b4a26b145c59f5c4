//! R9, R10, R13, R20 and R3 in the end.

use super::*;

#[test]
fn r13_a_row_that_says_something_else_than_its_history_is_caught() {
    story().delivered(PAID).stands(PAID, ReceiptStand::Applied).breaks(Promise::R13);
    let done = || story().delivered(CONFIRMED).applied(CONFIRMED, 0, 1);
    done().stands(CONFIRMED, ReceiptStand::Queued).breaks(Promise::R13);
    done().stands(CONFIRMED, ReceiptStand::AlreadyBooked).breaks(Promise::R13);
    done()
        .stands(CONFIRMED, ReceiptStand::Applied)
        .stands(PAID, ReceiptStand::Applied)
        .breaks(Promise::R13);
    done().delivered(PAID).stands(CONFIRMED, ReceiptStand::Applied).ends().breaks(Promise::R13);
}

#[test]
fn r3_what_is_gone_in_the_end_was_lost_with_the_machine() {
    let lost = story().delivered(CONFIRMED).delivered(PAID).applied(PAID, 0, 2);
    let lost = lost.say(STORE, Fact::PowerLost { side: Side::Receiver });
    lost.clone().stands(PAID, ReceiptStand::Applied).ends().breaks(Promise::R3);
    lost.clone().stands(PAID, ReceiptStand::Queued).breaks(Promise::R3);
    lost.claims(PAID, 2, 1).breaks(Promise::R3);
}

#[test]
fn r11_unreadable_bytes_in_review_without_a_letter_are_caught() {
    let silent =
        story().commits(PAID).arrives(PAID, 1).receives_as(PAID.no, PAID, Reading::Unreadable);
    silent.answers(PAID, 1, 200).stands(PAID, ReceiptStand::InReview).breaks(Promise::R11);
}

#[test]
fn r9_and_r10_nothing_waits_in_the_end() {
    story().delivered(SHIPPED).deferred(SHIPPED, 1).ends().breaks(Promise::R9);
    story().delivered(PAID).failed(PAID, 1, 1, MINUTE).ends().breaks(Promise::R10);
}

#[test]
fn r20_a_booked_event_that_leaves_the_state_behind_is_caught() {
    let behind = story().delivered(PAID).booked(PAID).claims(PAID, 1, 1);
    behind.worked(PAID, 1, Verdict::AlreadyBooked).ends().breaks(Promise::R20);
}

#[test]
fn r20_an_applied_event_whose_move_was_lost_is_caught() {
    let lost = story().delivered(NEW).claims(NEW, 1, 1).worked(NEW, 1, Verdict::Applied);
    lost.ends().breaks(Promise::R20);
}

#[test]
fn r20_any_order_and_multiplicity_ends_in_the_same() {
    let leap = story().delivered(PAID).delivered(CONFIRMED).applied(PAID, 0, 2);
    let leap = leap.claims(CONFIRMED, 1, 1).worked(CONFIRMED, 1, Verdict::Overtaken);
    leap.duplicated(PAID, 2).ends().holds();
    let backwards = story().delivered(SECOND_RENEWAL).deferred(SECOND_RENEWAL, 1).delivered(FIRST);
    let backwards = backwards.applied(FIRST, 0, 1).woken(SECOND_RENEWAL);
    backwards.claims(SECOND_RENEWAL, 2, 1).applies(SECOND_RENEWAL, 2, 1, 1).ends().holds();
}

#[test]
fn r8_an_entity_that_stands_where_no_line_moved_it_is_caught() {
    let stands = |state, version| {
        let entity = EntityNo(SNAPSHOT);
        Fact::EntityStands { entity, state: State(state), version }
    };
    let new = || story().delivered(NEW).applied(NEW, 0, 2);
    new().say(STORE, stands(2, 2)).ends().holds();
    new().say(STORE, stands(1, 2)).breaks(Promise::R8);
    new().say(STORE, stands(2, 1)).breaks(Promise::R8);
    let shaken = new().say(STORE, Fact::PowerLost { side: Side::Receiver });
    shaken.say(STORE, stands(0, 0)).breaks(Promise::R3);
}

#[test]
fn r20_what_was_purged_is_not_missed() {
    let purged = story().delivered(OLD).delivered(NEW).applied(OLD, 0, 1).applied(NEW, 1, 2);
    purged.after(91 * 24 * HOUR).purged(NEW).ends().holds();
}
