//! What a person may have sent again.

use hookproof_core::{
    outbox::{Ended, NotResent, Resent},
    plan::Audit,
};

use super::*;

const WINDOW_MS: u64 = 30 * 86_400_000;
const NOW: Millis = Millis(MADE.0 + 100_000);
const PERSON: Id = Id(11);

fn resend(delivery: &Delivery) -> Result<Plan<Resent>, NotResent> {
    delivery.resend(&endpoint(), PERSON, NOW, &profile())
}

fn audit() -> Write {
    Write::Audit(Audit::Resent { delivery: Id(7), by: PERSON })
}

#[test]
fn what_has_ended_begins_a_new_cycle_under_the_same_id() {
    for stand in [Stand::Acknowledged, Stand::Failed(Reason::Exhausted)] {
        let plan = resend(&standing(stand)).expect("may be resent");
        let row = Delivery {
            rev: 5,
            rung: 0,
            cycle: 4,
            stand: Stand::Pending { wake: NOW },
            ..standing(stand)
        };
        assert_eq!(plan.writes(), [held(endpoint()), put(4, row), audit()]);
        assert_eq!(committed(plan), Resent::Opened { cycle: 4 });
    }
}

#[test]
fn of_two_people_at_once_the_second_pulls_forward_what_the_first_opened() {
    let opened = row(&resend(&standing(Stand::Acknowledged)).expect("may be resent"));
    let again = resend(&opened).expect("may be resent");
    assert_eq!(row(&again), Delivery { rev: 6, ..opened });
    assert_eq!(committed(again), Resent::PulledForward);
}

#[test]
fn an_open_cycle_has_its_next_attempt_pulled_forward() {
    let waiting = standing(Stand::Pending { wake: NOW + 5 });
    let plan = resend(&waiting).expect("may be resent");
    let row = Delivery { rev: 5, stand: Stand::Pending { wake: NOW }, ..waiting };
    assert_eq!(plan.writes(), [held(endpoint()), put(4, row), audit()]);
    assert_eq!(committed(plan), Resent::PulledForward);
}

#[test]
fn what_is_overdue_stays_overdue() {
    let overdue = standing(Stand::Pending { wake: MADE });
    assert_eq!(row(&resend(&overdue).expect("may be resent")).wake(), Some(MADE));
}

#[test]
fn a_claimed_delivery_is_hurried_and_stays_claimed() {
    let lease = NOW + 7;
    let stand = Stand::Claimed { wake: NOW + 60_000, lease, hurried: false };
    let plan = resend(&standing(stand)).expect("may be resent");
    let hurried = Stand::Claimed { wake: lease, lease, hurried: true };
    let row = Delivery { rev: 5, ..standing(hurried) };
    assert_eq!(plan.writes(), [held(endpoint()), put(4, row), audit()]);
    assert_eq!(committed(plan), Resent::PulledForward);
}

#[test]
fn the_attempt_after_a_hurried_one_is_due_when_that_is_settled() {
    let (claimed, request) = requested(&made(), MADE);
    let hurried = row(&resend(&claimed).expect("may be resent"));
    let ended = Ended::Refused { retry_after_ms: Some(9_999) };
    let plan = request.settle(&hurried, &endpoint(), ended, NOW, 0, &profile());
    assert_eq!(committed(plan.expect("still held")), Stand::Pending { wake: NOW });
}

#[test]
fn a_hurried_attempt_that_is_acknowledged_is_all() {
    let (claimed, request) = requested(&made(), MADE);
    let hurried = row(&resend(&claimed).expect("may be resent"));
    let plan = request.settle(&hurried, &endpoint(), Ended::Acknowledged, NOW, 0, &profile());
    assert_eq!(committed(plan.expect("still held")), Stand::Acknowledged);
}

#[test]
fn whoever_takes_a_hurried_claim_over_is_the_next_attempt() {
    let stand = Stand::Claimed { wake: MADE, lease: MADE, hurried: true };
    let (next, _) = claimed(&Delivery { rung: 1, ..standing(stand) }, MADE);
    assert!(matches!(next.stand, Stand::Claimed { hurried: false, .. }), "{next:?}");
}

#[test]
fn a_resend_of_the_last_attempt_is_refused_and_not_swallowed() {
    let claimed = Stand::Claimed { wake: NOW, lease: NOW, hurried: false };
    for stand in [claimed, Stand::Pending { wake: NOW }] {
        let last = Delivery { rung: 3, ..standing(stand) };
        assert_eq!(resend(&last), Err(NotResent::LastUnderWay));
        assert!(resend(&Delivery { rung: 2, ..last }).is_ok(), "one is left to pull forward");
    }
    let ended = Delivery { rung: 3, ..standing(Stand::Failed(Reason::Exhausted)) };
    assert!(resend(&ended).is_ok());
}

#[test]
fn nothing_is_resent_once_the_window_is_over() {
    let ended = standing(Stand::Acknowledged);
    let at = |now| ended.resend(&endpoint(), PERSON, now, &profile());
    assert!(at(MADE + WINDOW_MS).is_ok(), "on its last millisecond");
    assert_eq!(at(MADE + WINDOW_MS + 1), Err(NotResent::TooOld));
}

#[test]
fn nothing_is_resent_to_an_endpoint_that_takes_nothing() {
    for life in [Life::Paused, Life::Disabled, Life::Unsubscribed, Life::Deleted] {
        let ended = standing(Stand::Acknowledged);
        let refused = ended.resend(&turned(life), PERSON, NOW, &profile());
        assert_eq!(refused, Err(NotResent::EndpointShut), "{life:?}");
    }
}

#[test]
fn what_was_cancelled_stays_cancelled() {
    let cancelled = standing(Stand::Cancelled(Reason::EndpointGone));
    assert_eq!(resend(&cancelled), Err(NotResent::Cancelled));
    assert_eq!(resend(&Delivery { rung: 3, ..cancelled }), Err(NotResent::Cancelled));
}

#[test]
fn whoever_resends_for_ever_overflows_nothing() {
    let often = Delivery { cycle: u16::MAX, ..standing(Stand::Acknowledged) };
    assert_eq!(
        committed(resend(&often).expect("may be resent")),
        Resent::Opened { cycle: u16::MAX }
    );
}

#[test]
fn a_refusal_says_what_to_do() {
    let refusals =
        [NotResent::TooOld, NotResent::Cancelled, NotResent::EndpointShut, NotResent::LastUnderWay];
    let words = ["window", "publish the event again", "enable it", "resend once"];
    for (refusal, word) in refusals.into_iter().zip(words) {
        assert!(refusal.to_string().contains(word), "{refusal}");
    }
}

#[test]
#[should_panic(expected = "a delivery is resent to its own endpoint")]
fn no_delivery_is_resent_to_a_strange_endpoint() {
    let strange = Endpoint::registered(Id(4));
    let _ = standing(Stand::Acknowledged).resend(&strange, PERSON, NOW, &profile());
}
