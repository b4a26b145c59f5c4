//! Claiming and giving back.

use hookproof_core::profile::OnExhausted;

use super::*;

fn claim(delivery: &Delivery, lane: &Lane, now: Millis) -> Option<Plan<Claim>> {
    delivery.claim(lane, now, 0, &profile())
}

#[test]
fn a_new_delivery_is_due_at_once_and_has_made_no_attempt() {
    let delivery = Delivery {
        id: Id(7),
        rev: 0,
        subject: Subject::Event(Id(1)),
        endpoint: Id(3),
        stand: Stand::Pending { wake: MADE },
        attempt: 0,
        rung: 0,
        cycle: 1,
        fence: 0,
        created: MADE,
    };
    assert_eq!(made(), delivery);
}

#[test]
fn a_claim_takes_the_lane_and_schedules_the_retry_in_one_commit() {
    let now = MADE + 5;
    let plan = claim(&made(), &lane(endpoint()), now).expect("due");
    let row = Delivery {
        rev: 1,
        stand: Stand::Claimed { wake: now + 60_000, lease: now + LEASE_MS, hurried: false },
        attempt: 1,
        rung: 1,
        fence: 1,
        ..made()
    };
    let lane = Endpoint { rev: 9, next: now, ..endpoint() };
    assert_eq!(plan.writes(), [Write::Endpoint(Put { was: Some(8), row: lane }), put(0, row)]);
    let Claim::Send(attempt) = committed(plan) else { panic!("expected the right to send") };
    let ticket = attempt.ticket();
    assert_eq!((ticket.delivery, ticket.endpoint), (Id(7), Id(3)));
    assert_eq!((ticket.attempt, ticket.fence), (1, 1));
}

#[test]
fn a_claim_counts_on_from_where_the_row_stands() {
    let due = Delivery { rung: 1, ..standing(Stand::Pending { wake: MADE }) };
    let (row, attempt) = claimed(&due, MADE);
    let stand = Stand::Claimed { wake: MADE + 3_600_000, lease: MADE + LEASE_MS, hurried: false };
    assert_eq!(row, Delivery { rev: 5, attempt: 6, rung: 2, fence: 7, stand, ..due });
    assert_eq!((attempt.ticket().attempt, attempt.ticket().fence), (6, 7));
}

#[test]
fn jitter_lengthens_the_wait_that_a_claim_schedules() {
    let plan = made().claim(&lane(endpoint()), MADE, 3_000, &profile()).expect("due");
    assert_eq!(row(&plan).wake(), Some(MADE + 63_000));
}

#[test]
fn a_wait_shorter_than_the_lease_is_lengthened_to_it() {
    let ladder = Ladder::new(vec![1_000]).expect("a short ladder");
    let hasty = Profile { ladder, ..profile() };
    let first = row(&made().claim(&lane(endpoint()), MADE, 0, &hasty).expect("due"));
    assert_eq!(first.wake(), Some(MADE + LEASE_MS));
}

#[test]
fn the_last_claim_of_a_cycle_wakes_when_its_lease_is_over() {
    let due = standing(Stand::Pending { wake: MADE });
    let (last, _) = claimed(&due, MADE);
    assert_eq!((last.rung, last.wake()), (3, Some(MADE + LEASE_MS)));
}

#[test]
fn nothing_is_claimed_before_it_is_due() {
    let later = Delivery { stand: Stand::Pending { wake: MADE + 1 }, ..made() };
    assert_eq!(claim(&later, &lane(endpoint()), MADE), None);
    assert!(claim(&later, &lane(endpoint()), MADE + 1).is_some());
}

#[test]
fn what_has_ended_is_never_claimed() {
    for stand in [
        Stand::Acknowledged,
        Stand::Failed(Reason::Exhausted),
        Stand::Cancelled(Reason::EndpointGone),
    ] {
        assert_eq!(standing(stand).wake(), None);
        assert_eq!(claim(&standing(stand), &lane(endpoint()), MADE), None, "{stand:?}");
        assert_eq!(claim(&standing(stand), &lane(turned(Life::Deleted)), MADE), None);
    }
}

#[test]
fn a_claim_of_a_dead_worker_is_taken_over_on_the_ladder() {
    let (first, _) = claimed(&made(), MADE);
    assert_eq!(claim(&first, &lane(endpoint()), MADE + 59_999), None);
    let (second, _) = claimed(&first, MADE + 60_000);
    assert_eq!((second.attempt, second.rung, second.fence), (2, 2, 2));
}

#[test]
fn a_lane_without_a_free_slot_leaves_the_row_alone() {
    let full = Lane { in_flight: 1, ..lane(endpoint()) };
    assert_eq!(claim(&made(), &full, MADE), None);
    for life in [Life::Paused, Life::Disabled] {
        assert_eq!(claim(&made(), &lane(turned(life)), MADE), None, "{life:?}");
    }
}

#[test]
fn a_slot_is_taken_until_the_lease_is_over() {
    let (row, _) = claimed(&made(), MADE);
    assert!(row.in_flight(MADE + LEASE_MS - 1));
    assert!(!row.in_flight(MADE + LEASE_MS));
    assert!(!made().in_flight(MADE));
    assert!(!standing(Stand::Acknowledged).in_flight(MADE));
}

#[test]
fn a_delivery_whose_endpoint_is_gone_is_cancelled_with_the_reason() {
    for life in [Life::Unsubscribed, Life::Deleted] {
        let due = standing(Stand::Pending { wake: MADE });
        let plan = claim(&due, &lane(turned(life)), MADE).expect("due");
        let stand = Stand::Cancelled(Reason::EndpointGone);
        assert_eq!(plan.writes(), [held(turned(life)), put(4, Delivery { rev: 5, stand, ..due })]);
        assert_eq!(committed(plan), Claim::Cancelled);
    }
}

#[test]
fn a_cycle_whose_last_claim_died_has_failed_and_alerts() {
    let stand = Stand::Claimed { wake: MADE, lease: MADE, hurried: false };
    let lost = Delivery { rung: 3, ..standing(stand) };
    let plan = claim(&lost, &lane(endpoint()), MADE).expect("due");
    let failed = Delivery { rev: 5, stand: Stand::Failed(Reason::ClaimLost), ..lost };
    assert_eq!(
        plan.writes(),
        [held(endpoint()), put(4, failed), alert(Reason::ClaimLost)],
        "it is the endpoint's life that makes it failed and not cancelled, so that is held"
    );
    assert_eq!(committed(plan), Claim::Failed);
}

#[test]
fn a_used_up_cycle_fails_even_where_nothing_may_be_sent() {
    let stand = Stand::Claimed { wake: MADE, lease: MADE, hurried: false };
    let lost = Delivery { rung: 3, ..standing(stand) };
    for shut in [lane(turned(Life::Paused)), Lane { in_flight: 1, ..lane(endpoint()) }] {
        let plan = claim(&lost, &shut, MADE).expect("due");
        assert_eq!(committed(plan), Claim::Failed);
    }
    let gone = claim(&lost, &lane(turned(Life::Deleted)), MADE).expect("due");
    assert_eq!(committed(gone), Claim::Cancelled);
}

#[test]
fn a_ladder_made_shorter_exhausts_who_waits_beyond_it() {
    let waiting = Delivery { rung: 3, ..standing(Stand::Pending { wake: MADE }) };
    let plan = claim(&waiting, &lane(endpoint()), MADE).expect("due");
    assert_eq!(row(&plan).stand, Stand::Failed(Reason::Exhausted));
    assert_eq!(plan.writes()[2], alert(Reason::Exhausted));
    let beyond = Delivery { rung: 9, ..waiting };
    assert_eq!(row(&claim(&beyond, &lane(endpoint()), MADE).expect("due")).rung, 9);
}

#[test]
fn a_lost_last_claim_disables_the_endpoint_where_the_profile_says_so() {
    let strict = Profile { on_exhausted: OnExhausted::Disable, ..profile() };
    let stand = Stand::Claimed { wake: MADE, lease: MADE, hurried: false };
    let lost = Delivery { rung: 3, ..standing(stand) };
    let plan = |life| lost.claim(&lane(turned(life)), MADE, 0, &strict).expect("due");
    assert_eq!(plan(Life::Active).writes()[0], disabled(endpoint()));
    assert_eq!(plan(Life::Paused).writes()[0], disabled(turned(Life::Paused)));
    assert_eq!(plan(Life::Disabled).writes()[0], held(turned(Life::Disabled)));
    assert_eq!(plan(Life::Active).writes().len(), 3);
}

#[test]
#[should_panic(expected = "a delivery is claimed on its own lane")]
fn no_delivery_is_claimed_on_a_strange_lane() {
    let _ = claim(&made(), &lane(Endpoint::registered(Id(4))), MADE);
}

#[test]
fn a_request_starts_within_the_start_limit_or_never() {
    let (_, attempt) = claimed(&made(), MADE);
    let request = attempt.start(5_000, &profile()).expect("just in time");
    assert_eq!(request.ticket(), attempt.ticket());
    assert_eq!(attempt.start(5_001, &profile()), Err(attempt));
}

#[test]
fn a_claim_given_back_counts_no_attempt_and_is_due_at_once() {
    let due = Delivery { rung: 1, ..standing(Stand::Pending { wake: MADE }) };
    let (row, attempt) = claimed(&due, MADE);
    let plan = attempt.release(&row, MADE + 9).expect("still held");
    let back = Delivery { rev: 6, fence: 7, stand: Stand::Pending { wake: MADE + 9 }, ..due };
    assert_eq!(plan.writes(), [put(5, back)], "the fence alone stays where it is");
}

#[test]
fn whoever_lost_the_claim_gives_nothing_back() {
    let (first, zombie) = claimed(&made(), MADE);
    let (second, _) = claimed(&first, MADE + 60_000);
    assert_eq!(zombie.release(&second, MADE + 60_000), None, "taken over");
    let back = row(&zombie.release(&first, MADE).expect("still held"));
    assert_eq!(zombie.release(&back, MADE), None, "given back already");
    let other = Delivery { id: Id(8), ..first };
    assert_eq!(zombie.release(&other, MADE), None, "another row");
}

#[test]
fn only_what_is_open_can_be_cancelled() {
    let open =
        [Stand::Pending { wake: MADE }, Stand::Claimed { wake: MADE, lease: MADE, hurried: true }];
    for stand in open {
        let plan = standing(stand).cancel(Reason::Operator).expect("open");
        let cancelled = Stand::Cancelled(Reason::Operator);
        assert_eq!(plan.writes(), [put(4, Delivery { rev: 5, ..standing(cancelled) })]);
    }
    for stand in
        [Stand::Acknowledged, Stand::Failed(Reason::Gone), Stand::Cancelled(Reason::EndpointGone)]
    {
        assert_eq!(standing(stand).cancel(Reason::Operator), None, "{stand:?}");
    }
}
