//! R8, R9, R13, R15 and R19 in what the work says.

use super::*;

#[test]
fn r8_an_event_applied_before_its_prerequisite_is_caught() {
    let early =
        story().delivered(SHIPPED).claims(SHIPPED, 1, 1).runs(SHIPPED, HandlerOutcome::Done);
    early.clone().moves(SHIPPED, 0, 3).breaks(Promise::R8);
    early.effect(SHIPPED).worked(SHIPPED, 1, Verdict::Applied).breaks(Promise::R8);
}

#[test]
fn r8_a_move_from_a_state_that_was_not_there_is_caught() {
    story().delivered(PAID).claims(PAID, 1, 1).moves(PAID, 1, 2).breaks(Promise::R8);
}

#[test]
fn r8_a_move_that_no_event_asks_for_is_caught() {
    story().delivered(CONFIRMED).claims(CONFIRMED, 1, 1).moves(CONFIRMED, 0, 2).breaks(Promise::R8);
    story().moves(CONFIRMED, 0, 1).breaks(Promise::R8);
}

#[test]
fn r8_overwriting_newer_state_is_caught() {
    let newer = || story().delivered(NEW).delivered(OLD).applied(NEW, 0, 2);
    newer().claims(OLD, 1, 1).moves(OLD, 2, 1).breaks(Promise::R8);
    newer().claims(OLD, 1, 1).worked(OLD, 1, Verdict::Applied).breaks(Promise::R8);
    let passed = newer().claims(OLD, 1, 1).worked(OLD, 1, Verdict::Overtaken).holds();
    assert_eq!(passed.danger(Promise::R8), 1);
    assert_eq!(passed.danger(Promise::R20), 1);
}

#[test]
fn r8_dropping_an_event_that_is_early_or_due_is_caught() {
    let early = story().delivered(SHIPPED).claims(SHIPPED, 1, 1);
    early.worked(SHIPPED, 1, Verdict::Overtaken).breaks(Promise::R8);
    let due = story().delivered(CONFIRMED).claims(CONFIRMED, 1, 1);
    due.worked(CONFIRMED, 1, Verdict::Overtaken).breaks(Promise::R8);
    let booked = story().delivered(SHIPPED).booked(SHIPPED).claims(SHIPPED, 1, 1);
    booked.worked(SHIPPED, 1, Verdict::AlreadyBooked).breaks(Promise::R8);
}

#[test]
fn r8_calling_what_is_possible_impossible_is_caught() {
    let due = story().delivered(PAID).claims(PAID, 1, 1);
    due.sets_aside(PAID, 1, Reason::Impossible).breaks(Promise::R8);
    let early = story().delivered(SHIPPED).claims(SHIPPED, 1, 1);
    early.sets_aside(SHIPPED, 1, Reason::Impossible).breaks(Promise::R8);
}

#[test]
fn r8_a_deferral_or_an_overtaken_event_with_an_effect_is_caught() {
    let early = story().delivered(SHIPPED).claims(SHIPPED, 1, 1).effect(SHIPPED);
    early.defers(SHIPPED, 1, 24 * HOUR).breaks(Promise::R8);
    let passed = story().delivered(PAID).delivered(SHIPPED).applied(PAID, 0, 2);
    let passed = passed.applied(SHIPPED, 2, 3).delivered(COMPLETED).claims(COMPLETED, 1, 1);
    passed.clone().worked(COMPLETED, 1, Verdict::Overtaken).breaks(Promise::R13);
    passed.worked(COMPLETED, 1, Verdict::AlreadyBooked).holds();
}

#[test]
fn r9_a_deferral_is_woken_in_the_commit_that_brings_its_prerequisite() {
    let waits = || {
        let both = story().delivered(SHIPPED).deferred(SHIPPED, 1).delivered(PAID);
        both.after(MINUTE).applied(PAID, 0, 2)
    };
    waits().woken(SHIPPED).claims(SHIPPED, 2, 1).applies(SHIPPED, 2, 2, 3).holds();
    waits().delivered(CONFIRMED).breaks_earlier(Promise::R9, 4);
    waits().after(1).woken(SHIPPED).breaks(Promise::R9);
    waits().worker(1).woken(SHIPPED).breaks(Promise::R9);
}

#[test]
fn r9_a_deferral_whose_timer_is_over_needs_no_wake() {
    let waits = story().delivered(SHIPPED).deferred(SHIPPED, 1).delivered(PAID);
    waits.clone().after(5 * MINUTE).applied(PAID, 0, 2).delivered(CONFIRMED).holds();
    let early = waits.after(5 * MINUTE - 1).applied(PAID, 0, 2);
    early.commits(CONFIRMED).breaks(Promise::R9);
}

#[test]
fn r9_a_deferral_at_work_or_still_early_needs_no_wake() {
    let waits = || story().delivered(SHIPPED).deferred(SHIPPED, 1);
    let at_work = waits().delivered(PAID).worker(1).claims(SHIPPED, 2, 1).worker(0);
    at_work.applied(PAID, 0, 2).delivered(CONFIRMED).holds();
    let early = waits().delivered(CONFIRMED).applied(CONFIRMED, 0, 1);
    early.delivered(PAID).holds();
}

#[test]
fn r9_deferring_what_is_due_is_caught() {
    let due = story().delivered(PAID).applied(PAID, 0, 2).delivered(SHIPPED);
    due.deferred(SHIPPED, 1).breaks(Promise::R9);
}

#[test]
fn r9_a_deferral_past_its_cap_is_caught() {
    let first = || story().delivered(SHIPPED).claims(SHIPPED, 1, 1);
    first().defers(SHIPPED, 1, 24 * HOUR + 1).breaks(Promise::R9);
    first().defers(SHIPPED, 1, 0).breaks(Promise::R9);
    let longer = Verdict::Deferred { timer_ms: HOUR, cap_ms: 24 * HOUR };
    first().worked(SHIPPED, 1, longer).breaks(Promise::R9);
    let again = first().defers(SHIPPED, 1, 24 * HOUR).after(5 * MINUTE).claims(SHIPPED, 2, 1);
    again.clone().defers(SHIPPED, 2, 24 * HOUR - 5 * MINUTE).holds();
    again.defers(SHIPPED, 2, 24 * HOUR).breaks(Promise::R9);
}

#[test]
fn r9_a_dead_letter_before_the_cap_is_caught_and_at_the_cap_is_not() {
    let early = || story().delivered(SHIPPED).deferred(SHIPPED, 1);
    assert_eq!(early().danger(Promise::R9), 1);
    let before = early().after(24 * HOUR - 1).claims(SHIPPED, 2, 1);
    before.sets_aside(SHIPPED, 2, Reason::DeferralCap).breaks(Promise::R9);
    let at = early().after(24 * HOUR).claims(SHIPPED, 2, 1);
    at.sets_aside(SHIPPED, 2, Reason::DeferralCap).alert_sent(SHIPPED).ends().holds();
    let never = story().delivered(SHIPPED).claims(SHIPPED, 1, 1);
    never.sets_aside(SHIPPED, 1, Reason::DeferralCap).breaks(Promise::R9);
}

#[test]
fn r9_a_dead_letter_at_the_cap_though_the_prerequisite_is_there_is_caught() {
    let came = story().delivered(SHIPPED).deferred(SHIPPED, 1).after(24 * HOUR).delivered(PAID);
    let came = came.applied(PAID, 0, 2).claims(SHIPPED, 2, 1);
    came.sets_aside(SHIPPED, 2, Reason::DeferralCap).breaks(Promise::R9);
}

#[test]
fn r13_already_booked_says_who_booked() {
    let twice = || story().delivered(PAID).delivered(PAID_AGAIN).applied(PAID, 0, 2);
    let booked = twice().claims(PAID_AGAIN, 1, 1).worked(PAID_AGAIN, 1, Verdict::AlreadyBooked);
    assert_eq!(booked.danger(Promise::R7), 2);
    booked.ends().holds();
    let nobody = story().delivered(PAID).claims(PAID, 1, 1).moves(PAID, 0, 2);
    nobody.worked(PAID, 1, Verdict::AlreadyBooked).breaks(Promise::R13);
    let by_hand = || story().delivered(PAID).booked(PAID).claims(PAID, 1, 1).moves(PAID, 0, 2);
    by_hand().worked(PAID, 1, Verdict::AlreadyBooked).ends().holds();
    by_hand().worked(PAID, 1, Verdict::Applied).breaks(Promise::R13);
}

#[test]
fn r15_a_ledger_that_drops_or_reorders_an_entry_is_caught() {
    let second = || story().delivered(ENTRY_2).delivered(ENTRY_1).applied(ENTRY_2, 0, 2);
    let late = || second().claims(ENTRY_1, 1, 1).runs(ENTRY_1, HandlerOutcome::Done);
    assert_eq!(late().danger(Promise::R15), 1);
    late().effect(ENTRY_1).worked(ENTRY_1, 1, Verdict::Applied).ends().holds();
    late().worked(ENTRY_1, 1, Verdict::Overtaken).breaks(Promise::R15);
    late().moves(ENTRY_1, 2, 1).breaks(Promise::R15);
}

#[test]
fn r15_two_equal_instants_are_decided_by_the_api_alone() {
    let equal = || story().delivered(NOON).applied(NOON, 0, 1).delivered(ALSO_NOON);
    let claimed = || equal().claims(ALSO_NOON, 1, 1);
    claimed().worked(ALSO_NOON, 1, Verdict::Overtaken).breaks(Promise::R15);
    claimed().worked(ALSO_NOON, 1, Verdict::Applied).breaks(Promise::R15);
    claimed().told(ALSO_NOON, 1, 12).worked(ALSO_NOON, 1, Verdict::Overtaken).ends().holds();
    let moved = claimed().told(ALSO_NOON, 2, 12).moves(ALSO_NOON, 1, 2);
    moved.worked(ALSO_NOON, 1, Verdict::Applied).ends().holds();
    claimed().defers(ALSO_NOON, 1, 24 * HOUR).holds();
}

#[test]
fn r15_a_refetch_that_overwrites_newer_state_is_caught() {
    let asked = || story().delivered(STEP_2).claims(STEP_2, 1, 1);
    asked()
        .told(STEP_2, 2, 0)
        .moves(STEP_2, 0, 2)
        .worked(STEP_2, 1, Verdict::Applied)
        .ends()
        .holds();
    let ahead = asked().told(STEP_2, 1, 0).worker(1).delivered(STEP_1).applied(STEP_1, 0, 1);
    let ahead = ahead.worker(2).delivered(event(20, FETCHED, 51, 0));
    let ahead = ahead.applied(event(20, FETCHED, 51, 0), 1, 2).worker(0);
    ahead.moves(STEP_2, 2, 1).breaks(Promise::R15);
}

#[test]
fn r8_a_stale_answer_of_the_api_does_not_settle_an_early_event() {
    let stale = story().delivered(STEP_2).claims(STEP_2, 1, 1).told(STEP_2, 1, 0);
    stale.clone().defers(STEP_2, 1, 24 * HOUR).holds();
    stale.clone().worked(STEP_2, 1, Verdict::Overtaken).breaks(Promise::R8);
    stale.moves(STEP_2, 0, 1).worked(STEP_2, 1, Verdict::Applied).breaks(Promise::R8);
}

#[test]
fn r8_an_answer_with_a_state_that_the_type_does_not_have_is_none() {
    let odd = || story().delivered(STEP_2).claims(STEP_2, 1, 1).told(STEP_2, 63, 0);
    odd().defers(STEP_2, 1, 24 * HOUR).holds();
    odd().moves(STEP_2, 0, 63).breaks(Promise::R8);
    odd().worked(STEP_2, 1, Verdict::Overtaken).breaks(Promise::R8);
}

#[test]
fn r19_what_cannot_be_read_is_set_aside_and_what_was_read_is_not() {
    let odd = || story().commits(PAID).arrives(PAID, 1);
    let unreadable = odd().receives_as(PAID.no, PAID, Reading::Unreadable).claims(PAID, 1, 1);
    unreadable.worked(PAID, 1, Verdict::Overtaken).breaks(Promise::R19);
    let read = story().delivered(PAID).claims(PAID, 1, 1);
    read.sets_aside(PAID, 1, Reason::Unreadable).breaks(Promise::R19);
}

#[test]
fn a_replay_finds_its_own_work_done() {
    let done = story().delivered(PAID).applied(PAID, 0, 2).replayed(PAID, Replayed::Accepted);
    let again = done.claims(PAID, 2, 1).worked(PAID, 2, Verdict::AlreadyBooked);
    again.stands(PAID, ReceiptStand::Applied).ends().holds();
}

impl Story {
    /// A line this many before the last breaks the promise.
    #[track_caller]
    fn breaks_earlier(mut self, promise: Promise, lines: usize) {
        self.lines.truncate(self.lines.len() + 1 - lines);
        self.breaks(promise);
    }
}
