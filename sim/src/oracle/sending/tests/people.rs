use super::*;

const DAY: u64 = 24 * 60 * MINUTE;

fn opened(tale: Tale, cycle: u16) -> Tale {
    tale.resent(0, Resent::Opened { cycle })
}

#[test]
fn a_resend_opens_one_cycle_where_none_is_open() {
    opened(due(), 2).breaks(Promise::S11);
    opened(due().claimed(0, 1, 1), 2).breaks(Promise::S11);
    opened(due().acknowledged(0), 3).breaks(Promise::S11);
    opened(tale(), 2).breaks(Promise::S11);
    let again = opened(due().used_up(0), 2).claimed_as(0, 4, 1, 2, 4).requested(0, 4);
    again.endangers(Promise::S11);
    opened(opened(due().acknowledged(0), 2), 3).breaks(Promise::S11);
    opened(due().acknowledged(0), 2).resent(0, Resent::PulledForward).passes();
}

#[test]
fn a_cancelled_delivery_is_not_resent() {
    let cancelled = DeliveryStand::Cancelled { reason: Reason::EndpointGone };
    let gone = due().life(0, EndpointLife::Deleted).closed(0, cancelled);
    gone.clone().resent(0, Resent::Refused).passes();
    opened(gone, 2).breaks(Promise::S11);
}

#[test]
fn a_resend_leaves_an_audit_line_of_who_asked_and_of_what() {
    let told = due().acknowledged(0);
    let opens = Resent::Opened { cycle: 2 };
    told.clone().resent_unaudited(0, opens).breaks(Promise::S11);
    for (delivery, by) in [(1, Person(0)), (0, Person(1))] {
        let about = About::Delivery(DeliveryNo(delivery));
        let other = told.clone().line(Node::Operator, Fact::Audited { about, by });
        other.resent_unaudited(0, opens).breaks(Promise::S11);
    }
    told.resent(0, opens).passes();
}

#[test]
fn a_cycle_that_no_resend_opened_breaks_s11() {
    due().refused(0, 1, 1).pass(MINUTE).claimed_as(0, 2, 1, 2, 2).breaks(Promise::S11);
}

#[test]
fn a_resend_is_not_swallowed() {
    opened(due().acknowledged(0), 2).ended().breaks(Promise::S11);
    let swept = opened(due().acknowledged(0), 2).relay(Fact::Swept { event: EventNo(0) });
    swept.breaks(Promise::S11);
    due().acknowledged(0).resent(0, Resent::PulledForward).breaks(Promise::S11);
    due().resent(0, Resent::Refused).breaks(Promise::S11);
    due().acknowledged(0).resent(0, Resent::Refused).breaks(Promise::S11);
    due().life(0, EndpointLife::Paused).resent(0, Resent::Refused).passes();
    let last = due().refused(0, 1, 1).pass(MINUTE).refused(0, 2, 2).pass(2 * MINUTE);
    last.claimed(0, 3, 3).resent(0, Resent::Refused).passes();
}

#[test]
fn a_resend_has_its_window() {
    let told = |days: u64| due().acknowledged(0).pass(days * DAY);
    opened(told(29), 2).passes();
    told(29).resent(0, Resent::Refused).breaks(Promise::S11);
    told(31).resent(0, Resent::Refused).passes();
    opened(told(31), 2).breaks(Promise::S11);
    opened(told(31).clock(-259_200_000), 2).passes();
}

#[test]
fn an_open_delivery_that_is_resent_is_due_now() {
    let waits = due().refused(0, 1, 1).pass(1_000).resent(0, Resent::PulledForward);
    waits.clone().claimed(0, 2, 2).requested(0, 2).endangers(Promise::S11);
    waits.clone().pass(MINUTE).claimed(0, 2, 2).breaks(Promise::S11);
    waits.pass(9 * MINUTE).claimed(0, 2, 2).breaks(Promise::S8);
    let due = due().refused(0, 1, 1).pass(MINUTE).resent(0, Resent::PulledForward);
    due.pass(5 * MINUTE).claimed(0, 2, 2).breaks(Promise::S8);
}

#[test]
fn a_claimed_delivery_that_is_resent_is_due_when_it_is_settled() {
    let hurried = due().claimed(0, 1, 1).requested(0, 1).resent(0, Resent::PulledForward);
    let refused = hurried.clone().responded(0, 1, REFUSED);
    let wait = |wait_ms| refused.clone().settled(0, 1, DeliveryStand::Waiting { wait_ms });
    wait(0).claimed(0, 2, 2).passes();
    wait(MINUTE).breaks(Promise::S11);
    wait(1_001).breaks(Promise::S11);
    let told = hurried.clone().responded(0, 1, Outcome::Acknowledged);
    told.settled(0, 1, DeliveryStand::Acknowledged).ended().passes();
    let dead = hurried.crashed(0).by(1);
    dead.clone().pass(LEASE).claim_lost(0, 1).claimed(0, 2, 2).passes();
    dead.pass(LEASE - 2_000).claim_lost(0, 1).breaks(Promise::S5);
}

#[test]
fn nothing_is_claimed_for_an_endpoint_that_takes_nothing() {
    for life in [EndpointLife::Paused, EndpointLife::Disabled, EndpointLife::Deleted] {
        let shut = due().life(0, life);
        shut.clone().claimed(0, 1, 1).breaks(Promise::S14);
        if life != EndpointLife::Deleted {
            shut.life(0, EndpointLife::Resumed).claimed(0, 1, 1).passes();
        }
    }
}

#[test]
fn a_claim_is_for_its_own_endpoint() {
    let two = tale().endpoint(1).committed(0).fanned(0, 1, 0).fanned(0, 0, 1).fan_out_done(0, 2);
    two.clone().claimed(1, 1, 1).passes();
    let (delivery, endpoint) = (DeliveryNo(0), EndpointNo(0));
    let (attempt, fence, wait_ms) = (1, 1, MINUTE);
    let other =
        Fact::Claimed { delivery, endpoint, attempt, rung: 1, cycle: 1, fence, wait_ms, url: 0 };
    two.relay(other).breaks(Promise::S12);
}

#[test]
fn a_change_of_an_endpoint_counts_from_the_next_claim() {
    let changed = due().life(0, EndpointLife::Changed);
    changed.clone().claimed(0, 1, 1).breaks(Promise::S10);
    changed.clone().url(1).claimed(0, 1, 1).passes();
    let restored = changed.clone().restored(Millis(0));
    restored.clone().claimed(0, 1, 1).passes();
    let known = restored.life(0, EndpointLife::Changed).claimed(0, 1, 1);
    known
        .life(0, EndpointLife::Changed)
        .pass(MINUTE)
        .claim_lost(0, 1)
        .claimed(0, 2, 2)
        .breaks(Promise::S10);
}
