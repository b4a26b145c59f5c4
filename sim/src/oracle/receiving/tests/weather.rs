//! Who is late, and what excuses it (R5, R9, R10, R12); clocks.

use super::*;
use crate::history::Family;

const PATIENCE: u64 = 30 * SECOND + 2 * SECOND + SECOND + 5 * SECOND;

/// One event fails and waits, another is due behind it.
fn blocked() -> Story {
    timely().delivered(PAID).failed(PAID, 1, 1, MINUTE).delivered(OLD)
}

#[test]
fn r10_a_failing_event_that_holds_up_another_is_caught() {
    blocked().after(PATIENCE + 1).claims(OLD, 1, 1).breaks(Promise::R10);
    blocked().after(PATIENCE).claims(OLD, 1, 1).holds();
}

#[test]
fn r10_nobody_is_late_while_workers_are_away_or_busy() {
    blocked().work(Fact::Crashed).after(HOUR).claims(OLD, 1, 1).holds();
    let stalled = Fact::Fault { family: Family::Stall };
    blocked().work(stalled).after(HOUR).say(DOOR, Fact::Quiet).holds();
    let down = |up| Fact::DatabaseUp { side: Side::Receiver, up };
    let outage = blocked().say(STORE, down(false)).after(HOUR).say(STORE, down(true));
    outage.after(PATIENCE).claims(OLD, 1, 1).holds();
    let busy = blocked().delivered(NEW).after(PATIENCE).applied(NEW, 0, 2);
    busy.after(PATIENCE).claims(OLD, 1, 1).holds();
}

#[test]
fn r10_a_retry_that_nobody_takes_up_is_caught() {
    let waits = || timely().delivered(PAID).failed(PAID, 1, 1, MINUTE).after(MINUTE + PATIENCE);
    waits().claims(PAID, 2, 2).holds();
    waits().after(1).claims(PAID, 2, 2).breaks(Promise::R10);
}

#[test]
fn r9_a_deferral_whose_timer_nobody_heeds_is_caught() {
    let waits = || timely().delivered(SHIPPED).deferred(SHIPPED, 1).after(5 * MINUTE + PATIENCE);
    waits().claims(SHIPPED, 2, 1).holds();
    waits().after(1).delivered(PAID).breaks_first(Promise::R9);
}

#[test]
fn r12_a_replay_that_nobody_takes_up_is_caught() {
    let done = timely().delivered(OLD).applied(OLD, 0, 1).replayed(OLD, Replayed::Accepted);
    done.after(PATIENCE + 1).commits(PAID).breaks(Promise::R12);
}

#[test]
fn where_nothing_fails_lateness_is_for_the_end_to_judge() {
    let late = timely().delivered(OLD).applied(OLD, 0, 1).delivered(NEW).after(HOUR);
    late.applied(NEW, 1, 2).ends().holds();
}

#[test]
fn waits_are_measured_on_the_databases_clock() {
    let jumped = |by_ms| Fact::ClockJumped { by_ms };
    let failed = || story().delivered(PAID).failed(PAID, 1, 1, MINUTE);
    failed().say(STORE, jumped(60_000)).claims(PAID, 2, 2).holds();
    failed().say(Node::Ingress(0), jumped(60_000)).claims(PAID, 2, 2).breaks(Promise::R10);
    // A sweep pulls in what sleeps too long after the clock was set back.
    failed().say(STORE, jumped(-60_000)).after(MINUTE).claims(PAID, 2, 2).holds();
    let waits = || story().delivered(SHIPPED).deferred(SHIPPED, 1).delivered(PAID);
    let ahead = waits().say(STORE, jumped(300_000)).applied(PAID, 0, 2);
    ahead.commits(CONFIRMED).holds();
    let back = waits().say(STORE, jumped(-300_000)).applied(PAID, 0, 2).commits(CONFIRMED);
    back.holds();
}

#[test]
fn a_clock_set_back_moves_no_cap() {
    let jumped = Fact::ClockJumped { by_ms: -3_600_000 };
    let waits =
        story().delivered(SHIPPED).deferred(SHIPPED, 1).after(5 * MINUTE).say(STORE, jumped);
    let waits = waits.claims(SHIPPED, 2, 1).defers(SHIPPED, 2, 25 * HOUR - 5 * MINUTE);
    waits.after(25 * HOUR).claims(SHIPPED, 3, 1).defers(SHIPPED, 3, 0).breaks(Promise::R9);
}

#[test]
fn a_cap_may_count_from_after_the_clock_was_set_back() {
    let jumped = Fact::ClockJumped { by_ms: -3_600_000 };
    let waits = story().delivered(SHIPPED).say(STORE, jumped).deferred(SHIPPED, 1).after(24 * HOUR);
    let capped = waits.claims(SHIPPED, 2, 1).sets_aside(SHIPPED, 2, Reason::DeferralCap);
    capped.alert_sent(SHIPPED).ends().holds();
}

impl Story {
    /// The first of the last four lines breaks the promise.
    #[track_caller]
    fn breaks_first(mut self, promise: Promise) {
        self.lines.truncate(self.lines.len() - 3);
        self.breaks(promise);
    }
}
