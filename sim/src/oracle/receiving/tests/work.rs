//! R10, and R13 where work goes on after its end.

use super::*;

#[test]
fn r10_a_failing_event_climbs_and_is_set_aside() {
    let climb = story().delivered(PAID).failed(PAID, 1, 1, MINUTE);
    let climb = climb.after(MINUTE).failed(PAID, 2, 2, 5 * MINUTE + 15 * SECOND);
    let climb = climb.after(6 * MINUTE).failed(PAID, 3, 3, 15 * MINUTE).after(15 * MINUTE);
    let last = climb.clone().claims(PAID, 4, 4).runs(PAID, HandlerOutcome::Failed);
    assert_eq!(climb.danger(Promise::R10), 3);
    last.clone().sets_aside(PAID, 4, Reason::Failing).alert_sent(PAID).ends().holds();
    last.fails(PAID, 4, WorkFault::Event, 4, 15 * MINUTE).breaks(Promise::R10);
}

#[test]
fn r10_a_retry_before_its_wait_is_over_is_caught() {
    let failed = story().delivered(PAID).failed(PAID, 1, 1, MINUTE).after(MINUTE - 1);
    failed.claims(PAID, 2, 2).breaks(Promise::R10);
}

#[test]
fn r10_a_wait_counts_from_the_decision_which_the_claim_precedes() {
    let slow = story().delivered(PAID).claims(PAID, 1, 1).runs(PAID, HandlerOutcome::Failed);
    let slow = slow.after(20 * SECOND).fails(PAID, 1, WorkFault::Event, 1, MINUTE);
    slow.after(40 * SECOND).claims(PAID, 2, 2).holds();
}

#[test]
fn r10_a_wait_that_is_not_the_ladders_is_caught() {
    for wait_ms in [0, MINUTE - 1, MINUTE + MINUTE / 20 + 1, 5 * MINUTE] {
        story().delivered(PAID).failed(PAID, 1, 1, wait_ms).breaks(Promise::R10);
    }
}

#[test]
fn r10_a_try_that_is_not_counted_or_counted_twice_is_caught() {
    let failed = || story().delivered(PAID).failed(PAID, 1, 1, MINUTE).after(MINUTE);
    failed().claims(PAID, 2, 1).breaks(Promise::R10);
    failed().claims(PAID, 2, 3).breaks(Promise::R10);
    let recorded = story().delivered(PAID).claims(PAID, 1, 1).runs(PAID, HandlerOutcome::Failed);
    recorded.fails(PAID, 1, WorkFault::Event, 2, 5 * MINUTE).breaks(Promise::R10);
}

#[test]
fn r10_workers_that_die_count_as_tries() {
    let mut dying = story().delivered(PAID);
    for (strike, fence) in (1..=4).zip(1..) {
        dying = dying.claims(PAID, fence, strike).work(Fact::Crashed).after(MINUTE);
    }
    dying.clone().sets_aside(PAID, 4, Reason::WorkerLost).alert_sent(PAID).ends().holds();
    dying.claims(PAID, 5, 5).breaks(Promise::R10);
}

#[test]
fn r10_an_outage_that_climbs_is_caught() {
    let claimed = || story().delivered(PAID).claims(PAID, 1, 1);
    let blamed = claimed().runs(PAID, HandlerOutcome::Infrastructure);
    blamed.fails(PAID, 1, WorkFault::Event, 1, MINUTE).breaks(Promise::R10);
    claimed().fails(PAID, 1, WorkFault::Event, 1, MINUTE).breaks(Promise::R10);
    let paused = || claimed().fails(PAID, 1, WorkFault::Infrastructure, 0, SECOND).after(SECOND);
    paused().claims(PAID, 2, 2).breaks(Promise::R10);
    paused().claims(PAID, 2, 1).holds();
    claimed().fails(PAID, 1, WorkFault::Infrastructure, 2, SECOND).breaks(Promise::R10);
}

#[test]
fn r13_an_outage_that_shows_as_a_retry_and_a_failure_that_does_not_are_caught() {
    let claimed = || story().delivered(PAID).claims(PAID, 1, 1);
    let (outage, own) = (WorkFault::Infrastructure, WorkFault::Event);
    claimed().fails_to(PAID, 1, outage, ReceiptStand::Queued, 0, SECOND).holds();
    claimed().fails_to(PAID, 1, outage, ReceiptStand::Retrying, 0, SECOND).breaks(Promise::R13);
    let ran = || claimed().runs(PAID, HandlerOutcome::Failed);
    ran().fails_to(PAID, 1, own, ReceiptStand::Retrying, 1, MINUTE).holds();
    ran().fails_to(PAID, 1, own, ReceiptStand::Queued, 1, MINUTE).breaks(Promise::R13);
    let again = || ran().fails(PAID, 1, own, 1, MINUTE).after(MINUTE).claims(PAID, 2, 2);
    again().fails_to(PAID, 2, outage, ReceiptStand::Retrying, 1, SECOND).holds();
    again().fails_to(PAID, 2, outage, ReceiptStand::Queued, 1, SECOND).breaks(Promise::R13);
}

#[test]
fn r10_a_deferral_that_climbs_is_caught() {
    let waits = story().delivered(SHIPPED).deferred(SHIPPED, 1).after(5 * MINUTE);
    waits.clone().claims(SHIPPED, 2, 1).holds();
    waits.claims(SHIPPED, 2, 2).breaks(Promise::R10);
}

#[test]
fn r10_setting_aside_before_the_ladder_is_used_up_is_caught() {
    let once = story().delivered(PAID).claims(PAID, 1, 1).runs(PAID, HandlerOutcome::Failed);
    once.sets_aside(PAID, 1, Reason::Failing).breaks(Promise::R10);
}

#[test]
fn r10_a_swallowed_error_is_caught() {
    let failed = story().delivered(PAID).claims(PAID, 1, 1).runs(PAID, HandlerOutcome::Failed);
    let swallowed = failed.moves(PAID, 0, 2).effect(PAID);
    swallowed.worked(PAID, 1, Verdict::Applied).breaks(Promise::R10);
}

#[test]
fn r10_a_failure_recorded_by_a_lost_claim_is_caught() {
    let taken = story().delivered(PAID).claims(PAID, 1, 1).runs(PAID, HandlerOutcome::Failed);
    let taken = taken.worker(1).claims(PAID, 2, 2).worker(0);
    taken.fails(PAID, 1, WorkFault::Event, 1, MINUTE).breaks(Promise::R10);
    let twice = story().delivered(PAID).failed(PAID, 1, 1, MINUTE);
    twice.fails(PAID, 1, WorkFault::Event, 1, MINUTE).breaks(Promise::R10);
}

#[test]
fn r10_trying_again_what_was_set_aside_is_caught() {
    let unreadable = story().commits(PAID).arrives(PAID, 1);
    let unreadable = unreadable.receives_as(PAID.no, PAID, Reading::Unreadable).claims(PAID, 1, 1);
    let aside = unreadable.sets_aside(PAID, 1, Reason::Unreadable).holds();
    aside.claims(PAID, 2, 2).breaks(Promise::R10);
}

#[test]
fn r13_work_after_the_end_is_caught() {
    let done = || story().delivered(CONFIRMED).applied(CONFIRMED, 0, 1);
    done().claims(CONFIRMED, 2, 1).breaks(Promise::R13);
    done().worked(CONFIRMED, 1, Verdict::Applied).breaks(Promise::R13);
    done().fails(CONFIRMED, 1, WorkFault::Event, 1, MINUTE).breaks(Promise::R13);
}

#[test]
fn r13_an_outcome_recorded_by_a_lost_claim_is_caught() {
    let taken = story().delivered(CONFIRMED).claims(CONFIRMED, 1, 1);
    let taken = taken.worker(1).claims(CONFIRMED, 2, 2).worker(0);
    assert_eq!(taken.danger(Promise::R7), 0, "it has no effect");
    taken.moves(CONFIRMED, 0, 1).worked(CONFIRMED, 1, Verdict::Applied).breaks(Promise::R13);
}
