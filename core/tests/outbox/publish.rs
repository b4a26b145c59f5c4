//! Publishing an event, fanning it out, and marking it told.

use hookproof_core::{
    Digest,
    outbox::{Event, Published, publish},
};

use super::*;

const BODY: Digest = Digest(5);

fn event() -> Event {
    Event { id: Id(1), rev: 0, digest: BODY, created: MADE, wake: Some(MADE), processed: None }
}

fn fanned_out() -> Event {
    Event { rev: 1, wake: None, ..event() }
}

fn stored(was: u32, row: Event) -> Write {
    Write::Event(Put { was: Some(was), row })
}

fn delivery(id: u128, endpoint: u128, now: Millis) -> Write {
    let row = Delivery::made(Id(id), Subject::Event(Id(1)), Id(endpoint), now);
    Write::Delivery(Put { was: None, row })
}

#[test]
fn a_new_event_is_inserted_and_due_at_once() {
    let plan = publish(None, Id(1), BODY, MADE);
    assert_eq!(plan.writes(), [Write::Event(Put { was: None, row: event() })]);
    assert_eq!(committed(plan), Published::Accepted);
}

#[test]
fn publishing_the_same_again_is_one_event() {
    for found in [event(), fanned_out()] {
        let plan = publish(Some(&found), Id(2), BODY, MADE + 9);
        assert_eq!(plan.writes(), []);
        assert_eq!(committed(plan), Published::Duplicate);
    }
}

#[test]
fn another_body_under_a_known_key_is_told_so() {
    let plan = publish(Some(&event()), Id(1), Digest(6), MADE);
    assert_eq!(plan.writes(), []);
    assert_eq!(committed(plan), Published::KeyReused);
}

#[test]
fn duplicate_is_answered_only_when_the_first_is_in() {
    let lost = publish(None, Id(1), BODY, MADE).commit(|_| Outcome::Unknown);
    assert!(lost.is_err());
}

#[test]
fn each_subscribed_endpoint_gets_one_delivery_in_the_commit_that_closes_the_event() {
    let now = MADE + 9;
    let left = |at| Endpoint { left: Some(at), life: Life::Unsubscribed, ..endpoint() };
    let endpoints = [
        (Endpoint { id: Id(3), ..endpoint() }, Id(30)),
        (Endpoint { id: Id(4), ..turned(Life::Paused) }, Id(40)),
        (Endpoint { id: Id(5), ..left(MADE - 1) }, Id(50)),
        (Endpoint { id: Id(6), ..left(MADE) }, Id(60)),
    ];
    let plan = event().fan_out(&endpoints, now).expect("due");
    assert_eq!(
        plan.writes(),
        [stored(0, fanned_out()), delivery(30, 3, now), delivery(40, 4, now), delivery(60, 6, now),],
        "who left later in the same millisecond was still there"
    );
    assert_eq!(committed(plan), 3);
}

#[test]
fn an_event_that_nobody_subscribed_to_is_closed_as_such() {
    let plan = event().fan_out(&[], MADE + 9).expect("due");
    let closed = Event { processed: Some(MADE + 9), ..fanned_out() };
    assert_eq!(plan.writes(), [stored(0, closed)]);
    assert_eq!(committed(plan), 0);
}

#[test]
fn an_event_is_fanned_out_once_and_not_before_it_is_due() {
    let endpoints = [(endpoint(), Id(30))];
    assert_eq!(fanned_out().fan_out(&endpoints, MADE), None);
    assert_eq!(event().fan_out(&endpoints, MADE - 1), None);
    assert!(event().fan_out(&endpoints, MADE).is_some());
}

#[test]
fn an_event_is_marked_once_everybody_has_it() {
    let acknowledged = standing(Stand::Acknowledged);
    let plan = fanned_out().sweep(&[acknowledged, acknowledged], MADE + 9).expect("told");
    let processed = Event { rev: 2, processed: Some(MADE + 9), ..fanned_out() };
    assert_eq!(plan.writes(), [stored(1, processed)]);
    assert_eq!(processed.sweep(&[acknowledged], MADE + 10), None, "once");
}

#[test]
fn an_event_is_not_marked_while_somebody_lacks_it() {
    let acknowledged = standing(Stand::Acknowledged);
    for stand in [
        Stand::Pending { wake: MADE },
        Stand::Claimed { wake: MADE, lease: MADE, hurried: false },
        Stand::Failed(Reason::Exhausted),
        Stand::Cancelled(Reason::EndpointGone),
    ] {
        let deliveries = [acknowledged, standing(stand)];
        assert_eq!(fanned_out().sweep(&deliveries, MADE), None, "{stand:?}");
    }
    assert_eq!(fanned_out().sweep(&[], MADE), None, "nobody is not everybody");
    assert_eq!(event().sweep(&[acknowledged], MADE), None, "not before its fan-out");
}

#[test]
fn bytes_stay_while_anybody_can_be_sent_them() {
    let window = 1_000;
    let late = MADE + window + 1;
    let ended = |created| {
        let made = Delivery::made(Id(2), Subject::Event(Id(1)), Id(3), created);
        Delivery { stand: Stand::Acknowledged, ..made }
    };
    let open = Delivery::made(Id(4), Subject::Event(Id(1)), Id(5), MADE);
    let gone = |event: Event, rows: &[Delivery], now| event.may_lose_payload(rows, now, window);
    assert!(gone(fanned_out(), &[ended(MADE)], late));
    assert!(gone(fanned_out(), &[], late), "nobody wanted it");
    assert!(!gone(fanned_out(), &[], MADE + window), "young");
    assert!(!gone(event(), &[], late), "not fanned out");
    assert!(!gone(fanned_out(), &[ended(MADE), open], late), "one is open");
    assert!(!gone(fanned_out(), &[ended(MADE + 1)], late), "one can be resent");
}
