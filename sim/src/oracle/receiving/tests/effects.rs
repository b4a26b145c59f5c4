//! R6, R7, R14 and R16: operations and their effects.

use super::*;

#[test]
fn r6_an_effect_that_its_event_does_not_ask_for_is_caught() {
    let claimed = || story().delivered(PAID).claims(PAID, 1, 1).moves(PAID, 0, 2);
    let by = Cause::Receipt(ReceiptNo(PAID.no));
    let asked = operation(PAID);
    for operation in [
        OperationKey { occurrence: 7, ..asked },
        OperationKey { transition: Transition(9), ..asked },
        OperationKey { entity: EntityNo(1), ..asked },
    ] {
        claimed().work(Fact::Effect { operation, by }).breaks(Promise::R6);
    }
    let none = story().delivered(CONFIRMED).claims(CONFIRMED, 1, 1).moves(CONFIRMED, 0, 1);
    none.effect(CONFIRMED).breaks(Promise::R6);
}

#[test]
fn r6_the_second_renewal_is_a_second_operation() {
    let both = story().delivered(FIRST).delivered(SECOND_RENEWAL);
    both.applied(FIRST, 0, 1).applied(SECOND_RENEWAL, 1, 1).ends().holds();
}

#[test]
fn r7_two_effects_are_caught_whoever_caused_them() {
    let once =
        || story().delivered(PAID).delivered(PAID_AGAIN).delivered(COMPLETED).applied(PAID, 0, 2);
    once().claims(PAID_AGAIN, 1, 1).effect(PAID_AGAIN).breaks(Promise::R7);
    once().claims(COMPLETED, 1, 1).effect(COMPLETED).breaks(Promise::R7);
    once().booked(PAID).breaks(Promise::R7);
    let replayed = once().replayed(PAID, Replayed::Accepted).claims(PAID, 2, 1);
    replayed.effect(PAID).breaks(Promise::R7);
}

#[test]
fn r7_a_manual_booking_is_the_one_effect() {
    let booked = story().delivered(PAID).booked(PAID).claims(PAID, 1, 1);
    assert_eq!(booked.danger(Promise::R7), 2);
    booked.clone().moves(PAID, 0, 2).effect(PAID).breaks(Promise::R7);
    booked.booked(PAID).breaks(Promise::R7);
    story().booked(SHIPPED).called(SHIPPED, 7, true).breaks(Promise::R7);
}

#[test]
fn r7_an_effect_in_a_transaction_of_its_own_is_caught_when_it_comes_again() {
    let apart = story().delivered(PAID).claims(PAID, 1, 1).runs(PAID, HandlerOutcome::Done);
    let apart = apart.effect(PAID).work(Fact::Crashed).after(MINUTE).claims(PAID, 2, 2).holds();
    apart.runs(PAID, HandlerOutcome::Done).breaks(Promise::R7);
}

#[test]
fn r7_a_restore_takes_its_effects_with_it() {
    let backup = story().delivered(PAID).say(STORE, Fact::BackedUp { side: Side::Receiver });
    let taken = backup.at;
    let restored = Fact::Restored { side: Side::Receiver, taken };
    let again = backup.after(MINUTE).applied(PAID, 0, 2).after(MINUTE).say(STORE, restored);
    let again = again.claims(PAID, 1, 1).applies(PAID, 1, 0, 2).ends().holds();
    again.booked(PAID).breaks(Promise::R7);
}

#[test]
fn r7_a_restore_keeps_the_effects_that_were_in_the_backup() {
    let backup = story().delivered(PAID).delivered(PAID_AGAIN).applied(PAID, 0, 2);
    let backup = backup.say(STORE, Fact::BackedUp { side: Side::Receiver });
    let restored = Fact::Restored { side: Side::Receiver, taken: backup.at };
    let again = backup.after(1).say(STORE, restored).claims(PAID_AGAIN, 1, 1);
    again.effect(PAID_AGAIN).breaks(Promise::R7);
}

#[test]
fn r14_one_operation_has_one_key_and_is_done_once() {
    let shipped =
        || story().delivered(PAID).delivered(SHIPPED).applied(PAID, 0, 2).applied(SHIPPED, 2, 3);
    let called = || shipped().called(SHIPPED, 7, true);
    let again = called().called(SHIPPED, 7, false);
    assert_eq!(again.danger(Promise::R14), 1);
    again.ends().holds();
    called().called(SHIPPED, 8, false).breaks(Promise::R14);
    called().called(SHIPPED, 7, true).breaks(Promise::R14);
    called().called(PAID, 7, false).breaks(Promise::R14);
    called().called(PAID, 8, true).holds();
}

#[test]
fn r5_a_call_outside_before_its_receipt_is_caught() {
    story().delivered(PAID).called(SHIPPED, 7, true).breaks(Promise::R5);
    story().delivered(SHIPPED).called(SHIPPED, 7, true).holds();
    let restored = Fact::Restored { side: Side::Receiver, taken: Millis(HOUR) };
    let backup = story().say(STORE, Fact::BackedUp { side: Side::Receiver }).delivered(SHIPPED);
    backup.after(1).say(STORE, restored).called(SHIPPED, 7, true).holds();
}

#[test]
fn r14_what_was_booked_and_never_happened_outside_is_caught_in_the_end() {
    let shipped = story().delivered(PAID).delivered(SHIPPED).applied(PAID, 0, 2);
    shipped.applied(SHIPPED, 2, 3).ends().breaks(Promise::R14);
}

#[test]
fn r14_a_restore_does_not_make_the_service_forget() {
    let backup = story().delivered(PAID).applied(PAID, 0, 2).delivered(SHIPPED);
    let backup = backup.say(STORE, Fact::BackedUp { side: Side::Receiver });
    let restored = Fact::Restored { side: Side::Receiver, taken: backup.at };
    let again =
        backup.applied(SHIPPED, 2, 3).called(SHIPPED, 7, true).after(1).say(STORE, restored);
    let again = again.applied(SHIPPED, 2, 3);
    again.clone().called(SHIPPED, 7, false).ends().holds();
    again.called(SHIPPED, 7, true).breaks(Promise::R14);
}

#[test]
fn r16_an_operation_forgotten_with_its_receipt_is_caught() {
    let purged = story().delivered(PAID).applied(PAID, 0, 2).after(91 * 24 * HOUR).purged(PAID);
    let late = purged.arrives(PAID, 9).receives(PAID).answers(PAID, 9, 200);
    assert_eq!(late.danger(Promise::R16), 2);
    let claimed = || late.clone().claims(PAID, 1, 1);
    claimed().worked(PAID, 1, Verdict::AlreadyBooked).ends().holds();
    claimed().effect(PAID).breaks(Promise::R16);
}
