//! Recording how a request ended.

use hookproof_core::{
    outbox::Ended,
    profile::{OnExhausted, OnGone},
};

use super::*;

/// When the request ended, three seconds after its claim.
const ENDED: Millis = Millis(MADE.0 + 3_000);
const NO: Ended = Ended::Refused { retry_after_ms: None };

/// A delivery at this rung, claimed, and its request.
fn at_rung(rung: u16) -> (Delivery, Request) {
    requested(&Delivery { rung: rung - 1, ..standing(Stand::Pending { wake: MADE }) }, MADE)
}

fn settle(rung: u16, ended: Ended, profile: &Profile) -> (Delivery, Plan<Stand>) {
    let (row, request) = at_rung(rung);
    (row, request.settle(&row, &endpoint(), ended, ENDED, 0, profile).expect("still held"))
}

#[test]
fn an_acknowledgement_ends_the_delivery() {
    let (held, plan) = settle(3, Ended::Acknowledged, &profile());
    let row = Delivery { rev: 6, stand: Stand::Acknowledged, ..held };
    assert_eq!(plan.writes(), [put(5, row)], "with no alert, even on the last rung");
    assert_eq!(committed(plan), Stand::Acknowledged);
}

#[test]
fn every_other_outcome_climbs_the_ladder_from_where_it_was_settled() {
    for ended in [NO, Ended::Unknown, Ended::Gone] {
        for (rung, wait) in [(1, 60_000), (2, 3_600_000)] {
            let (held, plan) = settle(rung, ended, &profile());
            let stand = Stand::Pending { wake: ENDED + wait };
            assert_eq!(plan.writes(), [put(5, Delivery { rev: 6, stand, ..held })], "{ended:?}");
            assert_eq!(committed(plan), stand);
        }
    }
}

#[test]
fn jitter_lengthens_the_wait_that_a_settle_writes() {
    let (row, request) = at_rung(1);
    let plan = request.settle(&row, &endpoint(), NO, ENDED, 3_000, &profile()).expect("held");
    assert_eq!(committed(plan), Stand::Pending { wake: ENDED + 63_000 });
}

#[test]
fn retry_after_lengthens_a_wait_and_never_shortens_it() {
    for (asked, wait) in [(0, 60_000), (59_999, 60_000), (60_001, 60_001)] {
        let ended = Ended::Refused { retry_after_ms: Some(asked) };
        let (_, plan) = settle(1, ended, &profile());
        assert_eq!(committed(plan), Stand::Pending { wake: ENDED + wait });
    }
}

#[test]
fn a_retry_after_of_ten_years_is_clamped() {
    let day = 86_400_000;
    for asked in [day, day + 1, 315_360_000_000, u64::MAX] {
        let ended = Ended::Refused { retry_after_ms: Some(asked) };
        let (_, plan) = settle(1, ended, &profile());
        assert_eq!(committed(plan), Stand::Pending { wake: ENDED + day });
    }
}

#[test]
fn the_last_refusal_fails_the_delivery_and_leaves_the_endpoint_alone() {
    let (held, plan) = settle(3, NO, &profile());
    let failed = Delivery { rev: 6, stand: Stand::Failed(Reason::Exhausted), ..held };
    assert_eq!(plan.writes(), [put(5, failed), alert(Reason::Exhausted)]);
    assert_eq!(committed(plan), failed.stand);
}

#[test]
fn a_last_attempt_without_an_answer_is_told_from_a_refused_one() {
    let (held, plan) = settle(3, Ended::Unknown, &profile());
    let failed = Delivery { rev: 6, stand: Stand::Failed(Reason::Unanswered), ..held };
    assert_eq!(plan.writes(), [put(5, failed), alert(Reason::Unanswered)]);
    let (_, gone) = settle(3, Ended::Gone, &profile());
    assert_eq!(committed(gone), Stand::Failed(Reason::Exhausted));
}

#[test]
fn a_retry_after_opens_no_attempt_beyond_the_last() {
    let (_, plan) = settle(3, Ended::Refused { retry_after_ms: Some(1) }, &profile());
    assert_eq!(committed(plan), Stand::Failed(Reason::Exhausted));
}

#[test]
fn gone_ends_the_delivery_where_the_profile_says_so() {
    let careful = Profile { on_gone: OnGone::Fail, ..profile() };
    let (held, plan) = settle(1, Ended::Gone, &careful);
    let failed = Delivery { rev: 6, stand: Stand::Failed(Reason::Gone), ..held };
    assert_eq!(plan.writes(), [put(5, failed), alert(Reason::Gone)]);
    assert_eq!(committed(plan), failed.stand);
}

#[test]
fn gone_disables_the_endpoint_first_where_the_profile_says_so() {
    let strict = Profile { on_gone: OnGone::Disable, ..profile() };
    let (held, plan) = settle(1, Ended::Gone, &strict);
    let failed = Delivery { rev: 6, stand: Stand::Failed(Reason::Gone), ..held };
    assert_eq!(plan.writes(), [disabled(endpoint()), put(5, failed), alert(Reason::Gone)]);
    let (_, refused) = settle(1, NO, &strict);
    assert_eq!(refused.writes().len(), 1, "only 410 does");
}

#[test]
fn an_endpoint_that_takes_nothing_anyway_is_held_and_not_written() {
    let strict = Profile { on_gone: OnGone::Disable, ..profile() };
    let (row, request) = at_rung(1);
    for life in [Life::Disabled, Life::Unsubscribed, Life::Deleted] {
        let plan = request.settle(&row, &turned(life), Ended::Gone, ENDED, 0, &strict);
        assert_eq!(plan.expect("held").writes()[0], held(turned(life)), "{life:?}");
    }
    let paused = request.settle(&row, &turned(Life::Paused), Ended::Gone, ENDED, 0, &strict);
    assert_eq!(paused.expect("held").writes()[0], disabled(turned(Life::Paused)));
}

#[test]
fn a_used_up_cycle_disables_the_endpoint_where_the_profile_says_so() {
    let strict = Profile { on_exhausted: OnExhausted::Disable, ..profile() };
    let (held, plan) = settle(3, NO, &strict);
    let failed = Delivery { rev: 6, stand: Stand::Failed(Reason::Exhausted), ..held };
    assert_eq!(plan.writes(), [disabled(endpoint()), put(5, failed), alert(Reason::Exhausted)]);
    let (_, early) = settle(2, NO, &strict);
    assert_eq!(early.writes().len(), 1, "not before it is used up");
}

#[test]
fn a_zombie_settles_nothing_whatever_it_has_seen() {
    let (first, zombie) = requested(&made(), MADE);
    let (second, _) = requested(&first, MADE + 60_000);
    let settle = |row: &Delivery, ended| {
        zombie.settle(row, &endpoint(), ended, MADE + 60_001, 0, &profile())
    };
    for ended in [Ended::Acknowledged, NO, Ended::Gone, Ended::Unknown] {
        assert_eq!(settle(&second, ended), None, "taken over: {ended:?}");
        assert_eq!(settle(&Delivery { id: Id(8), ..first }, ended), None, "another row");
        assert!(settle(&first, ended).is_some(), "late, but still its own");
    }
}

#[test]
fn a_request_is_settled_once() {
    let (row, request) = at_rung(1);
    for stand in [
        Stand::Pending { wake: ENDED },
        Stand::Acknowledged,
        Stand::Failed(Reason::Exhausted),
        Stand::Cancelled(Reason::Operator),
    ] {
        let settled = Delivery { stand, ..row };
        let again = request.settle(&settled, &endpoint(), NO, ENDED, 0, &profile());
        assert_eq!(again, None, "{stand:?}");
    }
}

#[test]
#[should_panic(expected = "a request is settled with its own endpoint")]
fn no_request_is_settled_with_a_strange_endpoint() {
    let (row, request) = at_rung(1);
    let strange = Endpoint::registered(Id(4));
    let _ = request.settle(&row, &strange, NO, ENDED, 0, &profile());
}
