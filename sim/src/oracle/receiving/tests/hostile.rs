//! Long hostile histories that are correct.

use super::*;

#[test]
fn a_takeover_races_a_zombie_and_one_of_them_conflicts() {
    let race = story().delivered(PAID).claims(PAID, 1, 1).runs(PAID, HandlerOutcome::Done);
    let race = race.after(MINUTE).worker(1).claims(PAID, 2, 2).applies(PAID, 2, 0, 2);
    let race = race.worker(0).work(Fact::Conflicted).stands(PAID, ReceiptStand::Applied).ends();
    assert!(race.danger(Promise::R7) >= 2);
    race.holds();
}

#[test]
fn a_lost_commit_answer_is_found_by_whoever_looks_again() {
    let lost = story().commits(PAID).arrives(PAID, 1).receives(PAID).say(DOOR, Fact::CommitUnknown);
    let lost = lost.answers(PAID, 1, 503).duplicated(PAID, 2).claims(PAID, 1, 1);
    let lost = lost.work(Fact::CommitUnknown).after(MINUTE).claims(PAID, 2, 2);
    let lost = lost.applies(PAID, 2, 0, 2).work(Fact::CommitUnknown).after(MINUTE);
    lost.stands(PAID, ReceiptStand::Applied).ends().holds();
}

#[test]
fn two_concurrent_copies_make_one_receipt() {
    let other = Node::Ingress(1);
    let two = story().commits(PAID).arrives(PAID, 1);
    let two = two.arrives_as(other, PAID, 1, PAID.no, Authentic::Yes).receives(PAID);
    let two = two.say(other, Fact::Conflicted).answers_from(other, PAID, 1, 200);
    two.answers(PAID, 1, 200).applied(PAID, 0, 2).duplicated(PAID, 3).ends().holds();
}

#[test]
fn everything_at_once_and_all_of_it_right() {
    let told = story().delivered(SHIPPED).deferred(SHIPPED, 1);
    let told = told.after(MINUTE).delivered(COMPLETED).claims(COMPLETED, 1, 1);
    let told = told.runs(COMPLETED, HandlerOutcome::Infrastructure);
    let told = told.fails(COMPLETED, 1, WorkFault::Infrastructure, 0, SECOND).after(SECOND);
    let told = told.failed(COMPLETED, 2, 1, MINUTE).after(MINUTE).claims(COMPLETED, 3, 2);
    let told = told.work(Fact::Conflicted).booked(PAID).moves(COMPLETED, 0, 2);
    let told = told.worked(COMPLETED, 3, Verdict::AlreadyBooked).woken(SHIPPED);
    let told = told.claims(SHIPPED, 2, 1).applies(SHIPPED, 2, 2, 3).called(SHIPPED, 5, true);
    let told = told.called(SHIPPED, 5, false).delivered(PAID).claims(PAID, 1, 1);
    let told = told.worked(PAID, 1, Verdict::AlreadyBooked).replayed(PAID, Replayed::Accepted);
    let told = told.claims(PAID, 2, 1).worked(PAID, 2, Verdict::AlreadyBooked);
    let told =
        told.stands(SHIPPED, ReceiptStand::Applied).stands(COMPLETED, ReceiptStand::AlreadyBooked);
    told.stands(PAID, ReceiptStand::AlreadyBooked).ends().holds();
}

#[test]
fn a_restore_returns_every_row_and_what_came_after_comes_again() {
    let backup = story().delivered(SHIPPED).deferred(SHIPPED, 1).delivered(PAID);
    let backup = backup.say(STORE, Fact::BackedUp { side: Side::Receiver });
    let restored = Fact::Restored { side: Side::Receiver, taken: backup.at };
    let lost = backup.after(SECOND).applied(PAID, 0, 2).woken(SHIPPED).delivered(CONFIRMED);
    let lost = lost.claims(SHIPPED, 2, 1).applies(SHIPPED, 2, 2, 3).called(SHIPPED, 5, true);
    let back = lost.after(SECOND).say(STORE, restored);
    let back = back.applied(PAID, 0, 2).woken(SHIPPED).claims(SHIPPED, 2, 1);
    let back = back.applies(SHIPPED, 2, 2, 3).called(SHIPPED, 5, false);
    let back = back.stands(SHIPPED, ReceiptStand::Applied).stands(PAID, ReceiptStand::Applied);
    back.ends().holds();
}

#[test]
fn a_restore_without_a_backup_leaves_nothing() {
    let restored = Fact::Restored { side: Side::Receiver, taken: Millis(0) };
    let gone = story().delivered(PAID).applied(PAID, 0, 2).say(STORE, restored);
    gone.arrives(PAID, 2).receives(PAID).answers(PAID, 2, 200).applied(PAID, 0, 2).ends().holds();
}

#[test]
fn a_power_loss_takes_nothing_that_was_durable() {
    let lost = story().delivered(SHIPPED).deferred(SHIPPED, 1).delivered(PAID).applied(PAID, 0, 2);
    let lost = lost.woken(SHIPPED).say(STORE, Fact::PowerLost { side: Side::Receiver });
    let lost = lost.say(DOOR, Fact::Crashed).work(Fact::Crashed).after(MINUTE);
    assert_eq!(lost.danger(Promise::R13), 3);
    let lost = lost.duplicated(PAID, 2).claims(SHIPPED, 2, 1).applies(SHIPPED, 2, 2, 3);
    let lost = lost.called(SHIPPED, 1, true).stands(PAID, ReceiptStand::Applied);
    lost.stands(SHIPPED, ReceiptStand::Applied).ends().holds();
}

#[test]
fn a_purge_races_a_late_duplicate() {
    let old = story().delivered(PAID).applied(PAID, 0, 2).after(91 * 24 * HOUR).arrives(PAID, 9);
    let old = old.purged(PAID).receives(PAID).answers(PAID, 9, 200).claims(PAID, 1, 1);
    let old = old.worked(PAID, 1, Verdict::AlreadyBooked).duplicated(PAID, 10);
    old.stands(PAID, ReceiptStand::AlreadyBooked).ends().holds();
}

#[test]
fn a_worker_that_wakes_up_after_the_purge_runs_its_handler_for_nothing() {
    let taken = story().delivered(PAID).claims(PAID, 1, 1).worker(1).claims(PAID, 2, 2);
    let gone = taken.applies(PAID, 2, 0, 2).after(91 * 24 * HOUR).purged(PAID).worker(0);
    gone.runs(PAID, HandlerOutcome::Done).work(Fact::Conflicted).ends().holds();
}

#[test]
fn two_copies_of_one_attempt_with_different_bytes_are_answered_in_any_order() {
    let twins = story().commits(PAID).arrives(PAID, 1);
    let twins = twins.arrives_as(DOOR, PAID, 1, 77, Authentic::Yes).receives(PAID);
    let failed = twins.clone().say(DOOR, Fact::RolledBackByDatabase);
    failed.answers(PAID, 1, 503).answers(PAID, 1, 200).holds();
    let differed = Fact::Differed { receipt: ReceiptNo(PAID.no), body: Body(77) };
    twins.answers(PAID, 1, 200).say(DOOR, differed).answers(PAID, 1, 200).holds();
}
