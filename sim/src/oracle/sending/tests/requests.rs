use super::*;

fn sent() -> Tale {
    due().claimed(0, 1, 1).requested(0, 1)
}

// S3

#[test]
fn an_id_never_changes() {
    let refused = due().refused(0, 1, 1).pass(MINUTE).claimed(0, 2, 2);
    refused.clone().requested_as(0, 2, 2, 999).breaks(Promise::S3);
    refused.requested(0, 2).endangers(Promise::S3);
    let resent = due().acknowledged(0).resent(0, Resent::Opened { cycle: 2 });
    resent.claimed_as(0, 2, 1, 2, 2).requested_as(0, 2, 2, 999).breaks(Promise::S3);
}

// S7

#[test]
fn one_deadline_bounds_an_attempt() {
    for outcome in [Outcome::Acknowledged, REFUSED, Outcome::Unknown] {
        sent().pass(10_000).responded(0, 1, outcome).passes();
        sent().pass(10_001).responded(0, 1, outcome).breaks(Promise::S7);
    }
    sent().untimely().pass(99_000).responded(0, 1, Outcome::Unknown).endangers(Promise::S7);
    let zombie = sent().pass(MINUTE).by(1).claim_lost(0, 1).claimed(0, 2, 2).by(0);
    zombie.responded(0, 1, Outcome::Acknowledged).breaks(Promise::S7);
}

#[test]
fn a_worker_that_stalled_may_notice_late() {
    let stalled = sent().fault(Node::Relay(0), Family::Stall).pass(MINUTE);
    stalled.clone().responded(0, 1, Outcome::Unknown).passes();
    stalled.responded(0, 1, Outcome::Acknowledged).passes();
    let before = due().fault(Node::Relay(0), Family::Stall).claimed(0, 1, 1).requested(0, 1);
    before.pass(MINUTE).responded(0, 1, Outcome::Unknown).breaks(Promise::S7);
}

#[test]
fn what_is_known_was_said_by_somebody() {
    let observed = sent().answered(0, 1, 503).responded(0, 1, REFUSED);
    let observed = observed.settled(0, 1, DeliveryStand::Waiting { wait_ms: WAITS[0] });
    let again = observed.pass(MINUTE).claimed(0, 2, 2).requested(0, 2).pass(1_000);
    again.clone().responded(0, 2, REFUSED).breaks(Promise::S7);
    again.clone().responded(0, 2, Outcome::Acknowledged).breaks(Promise::S7);
    again.clone().answered(0, 1, 503).responded(0, 2, REFUSED).breaks(Promise::S7);
    again.clone().answered(0, 2, 200).responded(0, 2, REFUSED).breaks(Promise::S7);
    again.clone().answered(0, 2, 200).responded(0, 2, Outcome::Acknowledged).passes();
    again.clone().answered(0, 2, 410).responded(0, 2, GONE).passes();
    let acked = again.clone().fault(Node::Network, Family::ForeignAck);
    acked.responded(0, 2, Outcome::Acknowledged).passes();
    let down = again.line(Node::Ingress(0), Fact::Crashed);
    down.responded(0, 2, REFUSED).passes();
}

#[test]
fn nothing_is_known_of_what_was_not_sent() {
    let claimed = due().claimed(0, 1, 1);
    claimed.clone().responded(0, 1, REFUSED).breaks(Promise::S7);
    claimed.responded(0, 1, Outcome::Unknown).passes();
}

#[test]
fn running_out_is_not_a_refusal() {
    let tale = due().with(|profile| profile.ladder = Ladder::new(vec![]).expect("one attempt"));
    let tale = tale.claimed_for(LEASE, 0, 1, 1, 1, 1).requested(0, 1).pass(10_000);
    let unknown = tale.responded(0, 1, Outcome::Unknown);
    unknown.clone().settled(0, 1, DeliveryStand::Failed { known: true }).breaks(Promise::S7);
    unknown.settled(0, 1, DeliveryStand::Failed { known: false }).ended().passes();
}

// S14

/// This many deliveries that are due at endpoint 0.
fn many(deliveries: u32) -> Tale {
    (0..deliveries).fold(tale(), |tale, n| tale.committed(n).fanned(n, 0, n).fan_out_done(n, 1))
}

#[test]
fn an_endpoint_has_so_many_slots() {
    let two = many(3).with(|profile| profile.slots = 2).claimed(0, 1, 1).requested(0, 1);
    let two = two.claimed(1, 1, 1).requested(1, 1).claimed(2, 1, 1);
    two.endangers(Promise::S14);
    two.clone().requested(2, 1).breaks(Promise::S14);
    two.clone().responded(0, 1, REFUSED).requested(2, 1).passes();
    two.crashed(0).by(1).pass(MINUTE).claim_lost(2, 1).claimed(2, 2, 2).requested(2, 2).passes();
}

#[test]
fn a_request_whose_time_is_up_takes_no_slot() {
    let stalled = many(2).with(|profile| profile.slots = 1).claimed(0, 1, 1).requested(0, 1);
    let stalled = stalled.fault(Node::Relay(0), Family::Stall).by(1).pass(LEASE);
    let next = stalled.clone().claimed(1, 1, 1).requested(1, 1);
    next.clone().passes();
    next.by(0).responded(0, 1, Outcome::Unknown).passes();
    let early = many(2).with(|profile| profile.slots = 1).claimed(0, 1, 1).requested(0, 1);
    early.pass(9_999).by(1).claimed(1, 1, 1).requested(1, 1).breaks(Promise::S14);
}

#[test]
fn a_slot_whose_lease_a_jump_has_ended_is_free() {
    let held = many(2).with(|profile| profile.slots = 1).claimed(0, 1, 1).clock(60_000);
    held.requested(0, 1).by(1).claimed(1, 1, 1).requested(1, 1).passes();
    let decided = many(2).with(|profile| profile.slots = 1).clock(60_000).claimed(0, 1, 1);
    decided.requested(0, 1).by(1).claimed(1, 1, 1).requested(1, 1).passes();
}

#[test]
fn an_endpoint_has_a_rate() {
    let rate = |starts: u64, every: u64| {
        let tale = many(starts as u32).with(|profile| {
            (profile.interval_ms, profile.burst, profile.slots) = (10_000, 2, 99);
        });
        (0..starts as u32).fold(tale, |tale, n| tale.claimed(n, 1, 1).requested(n, 1).pass(every))
    };
    rate(5, 10_000).passes();
    rate(3, 5_000).passes();
    let (verdict, at, _) = rate(3, 0).judged();
    assert_eq!((verdict, rate(3, 0).lines.len() - 2), (Err(Promise::S14), at));
}
