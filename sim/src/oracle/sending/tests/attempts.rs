use super::*;

const WAITING: DeliveryStand = DeliveryStand::Waiting { wait_ms: WAITS[0] };
const USED_UP: DeliveryStand = DeliveryStand::Failed { known: true };
const LOST: DeliveryStand = DeliveryStand::Failed { known: false };

// S2

#[test]
fn nothing_is_acknowledged_but_what_was_acknowledged() {
    let stand = DeliveryStand::Acknowledged;
    due().claimed(0, 1, 1).settled(0, 1, stand).breaks(Promise::S2);
    due().attempt(0, 1, 1, REFUSED).settled(0, 1, stand).breaks(Promise::S2);
    due().attempt(0, 1, 1, Outcome::Unknown).settled(0, 1, stand).breaks(Promise::S2);
}

#[test]
fn what_was_acknowledged_is_acknowledged() {
    let told = due().attempt(0, 1, 1, Outcome::Acknowledged);
    told.clone().settled(0, 1, WAITING).breaks(Promise::S2);
    told.settled(0, 1, LOST).breaks(Promise::S2);
    due().acknowledged(0).pass(MINUTE).claimed(0, 2, 2).breaks(Promise::S2);
}

#[test]
fn nothing_is_settled_before_it_has_ended() {
    let sent = due().claimed(0, 1, 1).requested(0, 1);
    sent.clone().settled(0, 1, WAITING).breaks(Promise::S7);
    sent.clone().settled(0, 1, LOST).breaks(Promise::S7);
    sent.responded(0, 1, Outcome::Unknown).settled(0, 1, WAITING).passes();
}

#[test]
fn a_delivery_ends_for_a_reason() {
    let cancelled = DeliveryStand::Cancelled { reason: Reason::EndpointGone };
    due().closed(0, cancelled).breaks(Promise::S2);
    due().claimed(0, 1, 1).settled(0, 1, cancelled).breaks(Promise::S2);
    due().closed(0, LOST).breaks(Promise::S2);
    due().claimed(0, 1, 1).settled(0, 1, DeliveryStand::Claimed).breaks(Promise::S2);
    let deleted = due().claimed(0, 1, 1).life(0, EndpointLife::Deleted);
    deleted.clone().closed(0, cancelled).ended().passes();
    deleted.clone().closed(0, cancelled).closed(0, cancelled).breaks(Promise::S2);
    deleted.closed(0, cancelled).claimed(0, 2, 2).breaks(Promise::S2);
    let by_hand = |reason| {
        let stand = DeliveryStand::Cancelled { reason };
        due().line(Node::Operator, Fact::Closed { delivery: DeliveryNo(0), stand })
    };
    by_hand(Reason::Operator).ended().passes();
    by_hand(Reason::EndpointGone).breaks(Promise::S2);
    by_hand(Reason::Exhausted).breaks(Promise::S2);
    let asked = DeliveryStand::Cancelled { reason: Reason::Operator };
    due().life(0, EndpointLife::Deleted).closed(0, asked).breaks(Promise::S2);
}

#[test]
fn a_delivery_that_stops_half_way_up_is_lost() {
    due().refused(0, 1, 1).ended().breaks(Promise::S2);
    due().claimed(0, 1, 1).crashed(0).ended().breaks(Promise::S2);
    due().life(0, EndpointLife::Paused).ended().passes();
    due().life(0, EndpointLife::Deleted).ended().breaks(Promise::S2);
}

// S5

#[test]
fn a_claim_has_one_owner_until_its_lease_is_over() {
    let held = due().claimed(0, 1, 1).by(1);
    held.clone().pass(LEASE - 2_000).claim_lost(0, 1).breaks(Promise::S5);
    held.clone().pass(1).claimed(0, 2, 2).breaks(Promise::S5);
    held.pass(MINUTE).claim_lost(0, 7).breaks(Promise::S5);
}

#[test]
fn two_claims_have_two_numbers() {
    due().refused(0, 1, 1).pass(MINUTE).claimed_as(0, 2, 2, 1, 1).breaks(Promise::S5);
}

#[test]
fn a_zombie_changes_nothing() {
    let taken =
        due().attempt(0, 1, 1, REFUSED).pass(MINUTE).by(1).claim_lost(0, 1).claimed(0, 2, 2);
    taken.clone().by(0).settled(0, 1, WAITING).breaks(Promise::S5);
    taken.clone().by(0).released(0, 1).breaks(Promise::S5);
    let fenced = Fact::Fenced { delivery: DeliveryNo(0), fence: 1 };
    let taken = taken.by(0).relay(fenced).by(1).requested(0, 2).responded(0, 2, REFUSED);
    let stand = DeliveryStand::Waiting { wait_ms: WAITS[1] };
    taken.settled(0, 2, stand).endangers(Promise::S5);
}

#[test]
fn settling_twice_changes_no_row() {
    let told = due().attempt(0, 1, 1, REFUSED).settled(0, 1, WAITING).relay(Fact::CommitUnknown);
    told.settled(0, 1, WAITING).breaks(Promise::S5);
}

#[test]
fn no_request_starts_past_the_deadline_of_its_claim() {
    let claimed = due().claimed(0, 1, 1);
    claimed.clone().pass(5_000).requested(0, 1).passes();
    claimed.clone().pass(5_001).requested(0, 1).breaks(Promise::S5);
    claimed.clone().pass(100).released(0, 1).requested(0, 1).breaks(Promise::S5);
    claimed.crashed(0).requested(0, 1).breaks(Promise::S5);
    due().requested(0, 1).breaks(Promise::S5);
    due().claimed(0, 1, 1).by(1).requested(0, 1).breaks(Promise::S5);
    let taken = due().claimed(0, 1, 1).pass(MINUTE).by(1).claim_lost(0, 1).claimed(0, 2, 2);
    taken.by(0).requested(0, 1).breaks(Promise::S5);
}

#[test]
fn a_claim_outlasts_its_request() {
    due().claimed_for(LEASE - 1, 0, 1, 1, 1, 1).breaks(Promise::S5);
}

// S6

#[test]
fn a_wait_is_not_cut() {
    let refused = due().refused(0, 1, 1);
    refused.clone().pass(WAITS[0] - 1).claimed(0, 2, 2).breaks(Promise::S6);
    refused.pass(WAITS[0]).claimed(0, 2, 2).passes();
}

#[test]
fn a_dead_workers_wait_is_not_cut() {
    let dead = due().claimed(0, 1, 1).crashed(0).by(1);
    dead.clone().pass(LEASE + 2_000).claim_lost(0, 1).breaks(Promise::S6);
    dead.clone().pass(MINUTE).claim_lost(0, 1).claimed(0, 2, 2).endangers(Promise::S6);
    dead.pass(MINUTE).claimed(0, 2, 2).breaks(Promise::S6);
}

#[test]
fn a_row_says_how_long_its_rung_waits() {
    let refused = due().attempt(0, 1, 1, REFUSED);
    let wait = |tale: Tale, wait_ms| tale.settled(0, 1, DeliveryStand::Waiting { wait_ms });
    wait(refused.clone(), 0).breaks(Promise::S6);
    wait(refused.clone(), WAITS[0] - 1).breaks(Promise::S6);
    wait(refused.clone(), WAITS[0] + 3_000).passes();
    wait(refused, WAITS[0] + 3_001).breaks(Promise::S6);
    due().claimed_for(LEASE, 0, 1, 1, 1, 1).breaks(Promise::S6);
    due().claimed_for(WAITS[0] + 3_001, 0, 1, 1, 1, 1).breaks(Promise::S6);
}

#[test]
fn a_retry_after_lengthens_a_wait_within_its_clamp() {
    let asks = |ms| Outcome::Refused { status: 429, retry_after_ms: Some(ms) };
    let wait = |ms, wait_ms| {
        let tale = due().with(|profile| profile.retry_after_max_ms = 10 * MINUTE);
        tale.attempt(0, 1, 1, asks(ms)).settled(0, 1, DeliveryStand::Waiting { wait_ms })
    };
    wait(5 * MINUTE, 5 * MINUTE).passes();
    wait(5 * MINUTE, 5 * MINUTE + 1).breaks(Promise::S6);
    wait(10 * 525_600 * MINUTE, 10 * MINUTE).passes();
    wait(10 * 525_600 * MINUTE, 10 * MINUTE + 1).breaks(Promise::S6);
    wait(1, WAITS[0]).passes();
    wait(1, 1).breaks(Promise::S6);
}

#[test]
fn every_failure_climbs() {
    due().attempt(0, 1, 1, REFUSED).settled(0, 1, USED_UP).breaks(Promise::S6);
    due().attempt(0, 1, 1, Outcome::Unknown).settled(0, 1, LOST).breaks(Promise::S6);
    due().attempt(0, 1, 1, GONE).settled(0, 1, USED_UP).breaks(Promise::S6);
    due().attempt(0, 1, 1, GONE).settled(0, 1, WAITING).passes();
}

#[test]
fn a_410_ends_a_delivery_where_the_profile_says_so() {
    use hookproof_core::profile::OnGone;
    let gone = due().with(|profile| profile.on_gone = OnGone::Fail).attempt(0, 1, 1, GONE);
    gone.clone().settled(0, 1, USED_UP).ended().passes();
    gone.settled(0, 1, WAITING).breaks(Promise::S6);
}

#[test]
fn attempts_and_rungs_count_up_by_one() {
    let refused = due().refused(0, 1, 1).pass(MINUTE);
    refused.clone().claimed_as(0, 1, 2, 1, 2).breaks(Promise::S6);
    refused.clone().claimed_as(0, 2, 1, 1, 2).breaks(Promise::S6);
    refused.clone().claimed_as(0, 3, 2, 1, 2).breaks(Promise::S6);
    refused.claimed(0, 2, 2).requested_as(0, 3, 2, 100).breaks(Promise::S6);
    let dead = due().claimed(0, 1, 1).crashed(0).pass(MINUTE).by(1).claim_lost(0, 1);
    dead.claimed_as(0, 1, 1, 1, 2).breaks(Promise::S6);
}

#[test]
fn a_cycle_has_no_attempt_beyond_its_ladder() {
    let last = due().refused(0, 1, 1).pass(MINUTE).refused(0, 2, 2).pass(2 * MINUTE);
    let last = last.attempt(0, 3, 3, REFUSED);
    last.clone().settled(0, 3, WAITING).breaks(Promise::S6);
    last.settled(0, 3, USED_UP).pass(60 * MINUTE).claimed(0, 4, 4).breaks(Promise::S6);
}

#[test]
fn one_claim_is_one_request() {
    let refused = due().attempt(0, 1, 1, REFUSED);
    refused.requested(0, 1).breaks(Promise::S6);
    due().claimed(0, 1, 1).requested(0, 1).released(0, 1).breaks(Promise::S6);
}

#[test]
fn a_used_up_cycle_made_all_its_requests() {
    let short = due().refused(0, 1, 1).pass(MINUTE).claimed(0, 2, 2).settled(
        0,
        2,
        DeliveryStand::Waiting { wait_ms: WAITS[1] },
    );
    let short = short.pass(2 * MINUTE).attempt(0, 3, 3, REFUSED);
    short.settled(0, 3, USED_UP).breaks(Promise::S6);
}

#[test]
fn a_dial_that_failed_is_an_attempt() {
    let dialled = |tale: Tale, attempt: u32, stand| {
        let tale = tale.claimed(0, attempt, attempt as u16);
        tale.responded(0, attempt, Outcome::Unknown).settled(0, attempt, stand)
    };
    let wait = |rung: usize| DeliveryStand::Waiting { wait_ms: WAITS[rung] };
    let tale = dialled(dialled(due(), 1, wait(0)).pass(MINUTE), 2, wait(1)).pass(2 * MINUTE);
    dialled(tale, 3, LOST).ended().passes();
}

#[test]
fn claims_that_died_with_their_worker_stand_for_requests() {
    let dead = due().claimed(0, 1, 1).crashed(0).by(1).pass(MINUTE).claim_lost(0, 1);
    let dead = dead.claimed(0, 2, 2).crashed(1).by(2).pass(2 * MINUTE).claim_lost(0, 2);
    let dead = dead.claimed(0, 3, 3).requested(0, 3).crashed(2).by(3).pass(LEASE).claim_lost(0, 3);
    dead.clone().closed(0, USED_UP).breaks(Promise::S7);
    dead.clone().claimed(0, 4, 4).breaks(Promise::S6);
    dead.closed(0, LOST).ended().passes();
}

#[test]
fn a_release_gives_its_attempt_back() {
    let released = due().claimed(0, 1, 1).pass(100).released(0, 1).pass(900);
    released.claimed_as(0, 1, 1, 1, 2).requested_as(0, 1, 2, 100).passes();
}

#[test]
fn a_delivery_that_fails_disables_no_endpoint() {
    use hookproof_core::profile::OnExhausted;
    let disabled = |tale: Tale| {
        let life = EndpointLife::Disabled;
        tale.relay(Fact::Endpoint { endpoint: EndpointNo(0), life })
    };
    disabled(due().used_up(0)).breaks(Promise::S6);
    let strict = due().with(|profile| profile.on_exhausted = OnExhausted::Disable);
    disabled(strict.clone().refused(0, 1, 1)).breaks(Promise::S6);
    strict.clone().used_up(0).breaks(Promise::S6);
    let mut told = disabled(strict.used_up(0));
    let last = told.lines.len() - 1;
    told.lines.swap(last - 1, last);
    told.passes();
}

#[test]
fn no_attempt_starts_after_the_horizon() {
    let tale = due().with(|profile| profile.retry_after_max_ms = 0).refused(0, 1, 1);
    let late = tale.clone().pass(60 * MINUTE);
    late.claimed(0, 2, 2).breaks(Promise::S6);
    let down = tale.clone().pass(1_000).crashed(0).pass(60 * MINUTE).restarted(0);
    down.pass(1_000).claimed(0, 2, 2).passes();
    let paused = tale.life(0, EndpointLife::Paused).pass(60 * MINUTE);
    paused.life(0, EndpointLife::Resumed).pass(1_000).claimed(0, 2, 2).passes();
}

// S8

/// Two deliveries that are due, each at an endpoint of its own, 0 and 1.
fn neighbours() -> Tale {
    tale().endpoint(1).committed(0).fanned(0, 0, 0).fanned(0, 1, 1).fan_out_done(0, 2)
}

#[test]
fn a_worker_that_sleeps_on_a_neighbours_retry_after_is_late() {
    let asleep = neighbours().refused(0, 1, 1).pass(10 * MINUTE);
    asleep.clone().claimed(1, 1, 1).breaks(Promise::S8);
    asleep.untimely().claimed(1, 1, 1).passes();
    neighbours().refused(0, 1, 1).pass(10_000).acknowledged(1).endangers(Promise::S8);
}

#[test]
fn a_failing_delivery_that_blocks_the_queue_is_late_for_its_own_endpoint_too() {
    let two = due().committed(1).fanned(1, 0, 1).fan_out_done(1, 1);
    let blocked = two.clone().used_up(0).pass(1_000);
    blocked.claimed(1, 1, 1).breaks(Promise::S8);
    two.refused(0, 1, 1).pass(20_000).claimed(1, 1, 1).passes();
}

#[test]
fn what_holds_the_sender_back_is_not_a_neighbours_doing() {
    let hour = 60 * MINUTE;
    let side = Side::Sender;
    let up = |tale: Tale, up| tale.line(Node::Database(side), Fact::DatabaseUp { side, up });
    neighbours().crashed(0).pass(hour).restarted(0).pass(900).claimed(1, 1, 1).passes();
    let outage = up(up(neighbours(), false).pass(hour), true).pass(900);
    outage.claimed(1, 1, 1).passes();
    neighbours().relay(Fact::Conflicted).pass(hour).claimed(1, 1, 1).passes();
    let paused = neighbours().life(1, EndpointLife::Paused).pass(hour);
    paused.life(1, EndpointLife::Resumed).pass(900).claimed(1, 1, 1).passes();
    let other = neighbours().by(1).committed(1).fanned(1, 0, 2).fanned(1, 1, 3);
    let other = other.fan_out_done(1, 2).crashed(0).pass(hour);
    other.claimed(1, 1, 1).breaks(Promise::S8);
}
