//! R11, R12 and R16: dead letters, replays, purges.

use super::*;
use crate::history::DeliveryStand;

fn failing() -> Story {
    let climb = story().delivered(PAID).failed(PAID, 1, 1, MINUTE);
    let climb = climb.after(MINUTE).failed(PAID, 2, 2, 5 * MINUTE).after(5 * MINUTE);
    let climb = climb.failed(PAID, 3, 3, 15 * MINUTE).after(15 * MINUTE);
    climb.claims(PAID, 4, 4).runs(PAID, HandlerOutcome::Failed)
}

fn aside() -> Story {
    failing().sets_aside(PAID, 4, Reason::Failing)
}

#[test]
fn r11_a_dead_letter_without_letter_reason_or_alert_is_caught() {
    failing().worked(PAID, 4, Verdict::SetAside(Reason::Failing)).breaks(Promise::R11);
    let about = About::Receipt(ReceiptNo(PAID.no));
    let none = Fact::DeadLettered { about, reason: Reason::None };
    failing().work(none).breaks(Promise::R11);
    let letter = |reason| Fact::DeadLettered { about, reason };
    let silent = failing().work(letter(Reason::Failing));
    silent.worked(PAID, 4, Verdict::SetAside(Reason::Failing)).breaks(Promise::R11);
    let other = failing().work(letter(Reason::Impossible)).work(Fact::Alerted { about });
    other.worked(PAID, 4, Verdict::SetAside(Reason::Failing)).breaks(Promise::R11);
    let late = failing().work(letter(Reason::Failing)).after(1).work(Fact::Alerted { about });
    late.breaks(Promise::R11);
    let gone = failing().work(letter(Reason::Exhausted)).work(Fact::Alerted { about });
    gone.worked(PAID, 4, Verdict::SetAside(Reason::Exhausted)).breaks(Promise::R11);
}

#[test]
fn r11_an_alert_about_nothing_is_caught() {
    let about = About::Receipt(ReceiptNo(PAID.no));
    failing().work(Fact::Alerted { about }).breaks(Promise::R11);
    let other = About::Receipt(ReceiptNo(SHIPPED.no));
    let letter = Fact::DeadLettered { about, reason: Reason::Failing };
    failing().work(letter).work(Fact::Alerted { about: other }).breaks(Promise::R11);
    let (relay, about) = (Node::Relay(0), About::Delivery(DeliveryNo(1)));
    let letter = Fact::DeadLettered { about, reason: Reason::Exhausted };
    let stand = DeliveryStand::Waiting { wait_ms: MINUTE };
    let waits = Fact::Settled { delivery: DeliveryNo(1), attempt: 1, fence: 1, stand };
    story().say(relay, letter).say(relay, waits).breaks(Promise::R11);
}

#[test]
fn r11_an_alert_that_is_never_sent_is_caught_in_the_end() {
    aside().ends().breaks(Promise::R11);
    aside().alert_sent(PAID).ends().holds();
    aside().alert_sent(PAID).alert_sent(PAID).ends().holds();
}

#[test]
fn r11_a_failed_delivery_raises_its_alert_in_the_same_commit() {
    let relay = Node::Relay(0);
    let stand = DeliveryStand::Failed { known: true };
    let settled = Fact::Settled { delivery: DeliveryNo(1), attempt: 11, fence: 11, stand };
    let about = About::Delivery(DeliveryNo(1));
    let letter = Fact::DeadLettered { about, reason: Reason::Exhausted };
    let alert = Fact::Alerted { about };
    let before = story().say(relay, letter).say(relay, alert).say(relay, settled);
    let sent = Fact::AlertSent { about };
    assert_eq!(before.danger(Promise::R11), 1);
    before.clone().say(relay, sent).ends().holds();
    before.ends().breaks(Promise::R11);
    let after = story().say(relay, settled).say(relay, letter).say(relay, alert);
    after.say(relay, sent).ends().holds();
    story().say(relay, settled).after(1).say(relay, letter).breaks(Promise::R11);
    story().say(relay, settled).commits(PAID).breaks(Promise::R11);
    story().say(relay, letter).say(relay, settled).commits(PAID).breaks(Promise::R11);
}

#[test]
fn r12_a_replay_runs_again_with_the_same_receipt_and_may_fail_again() {
    let replayed = || aside().alert_sent(PAID).replayed(PAID, Replayed::Accepted);
    assert_eq!(replayed().danger(Promise::R12), 1);
    replayed().claims(PAID, 5, 1).applies(PAID, 5, 0, 2).ends().holds();
    let again = replayed().failed(PAID, 5, 1, MINUTE).after(MINUTE).failed(PAID, 6, 2, 5 * MINUTE);
    let again = again.after(5 * MINUTE).failed(PAID, 7, 3, 15 * MINUTE).after(15 * MINUTE);
    let again = again.claims(PAID, 8, 4).runs(PAID, HandlerOutcome::Failed);
    let again = again.sets_aside(PAID, 8, Reason::Failing);
    again.clone().ends().breaks(Promise::R11);
    again.alert_sent(PAID).stands(PAID, ReceiptStand::InReview).ends().holds();
}

#[test]
fn r12_a_replay_that_never_runs_is_caught() {
    let replayed = || aside().alert_sent(PAID).replayed(PAID, Replayed::Accepted);
    replayed().ends().breaks(Promise::R12);
    replayed().stands(PAID, ReceiptStand::InReview).breaks(Promise::R12);
    let paused = replayed().claims(PAID, 5, 1).fails(PAID, 5, WorkFault::Infrastructure, 0, SECOND);
    paused.ends().breaks(Promise::R12);
}

#[test]
fn r12_a_replay_by_whoever_may_not_or_swallowed_or_of_nothing_is_caught() {
    let audited = Fact::Audited { about: About::Receipt(ReceiptNo(PAID.no)), by: Person(1) };
    let told = aside().say(Node::Operator, audited);
    told.asks_to_replay(PAID, false, Replayed::Accepted).breaks(Promise::R12);
    aside().asks_to_replay(PAID, true, Replayed::Refused).breaks(Promise::R12);
    aside().replayed(PAID, Replayed::Waiting).breaks(Promise::R12);
    aside().asks_to_replay(PAID, true, Replayed::Accepted).breaks(Promise::R12);
    story().replayed(PAID, Replayed::Accepted).breaks(Promise::R12);
    aside().replayed(PAID, Replayed::Refused).alert_sent(PAID).ends().holds();
    story().delivered(PAID).replayed(PAID, Replayed::Waiting).holds();
}

#[test]
fn r12_a_replay_that_makes_a_second_receipt_breaks_r4() {
    let replayed = aside().replayed(PAID, Replayed::Accepted);
    replayed.receives_as(90, PAID, reading(PAID)).breaks(Promise::R4);
}

#[test]
fn r16_only_what_is_done_and_old_enough_is_purged() {
    let done = || story().delivered(PAID).applied(PAID, 0, 2);
    done().after(91 * 24 * HOUR).purged(PAID).ends().holds();
    done().after(89 * 24 * HOUR).purged(PAID).breaks(Promise::R16);
    story()
        .delivered(SHIPPED)
        .deferred(SHIPPED, 1)
        .after(91 * 24 * HOUR)
        .purged(SHIPPED)
        .breaks(Promise::R16);
    aside().after(91 * 24 * HOUR).purged(PAID).breaks(Promise::R16);
    let mut for_ever = done().after(91 * 24 * HOUR).purged(PAID);
    for_ever.terms.inbox.retention_ms = None;
    for_ever.breaks(Promise::R16);
    let mut too_short = done().after(24 * HOUR).purged(PAID);
    too_short.terms.inbox.retention_ms = Some(HOUR);
    too_short.breaks(Promise::R16);
}

#[test]
fn r16_age_counts_from_the_arrival_which_the_receipt_follows() {
    let slow =
        story().commits(PAID).arrives(PAID, 1).after(SECOND).receives(PAID).answers(PAID, 1, 200);
    let slow = slow.applied(PAID, 0, 2).after(90 * 24 * HOUR - SECOND);
    slow.purged(PAID).ends().holds();
}
