//! The receiver's door: receipts, replays and purges, each held against the rows it must write.

use hookproof_core::{
    Digest, Id, Millis, Reason,
    inbox::{Arrival, End, NotReplayed, Reading, Receipt, Reply, Stand, Warrant, receive},
    model::{EventType, Proposal},
    plan::{About, Audit, Outcome, Plan, Put, Write},
    profile::InboxPolicy,
};

const NOW: Millis = Millis(1_000_000);
const HOUR: u64 = 3_600_000;
const BYTES: Digest = Digest(5);

fn policy() -> InboxPolicy {
    InboxPolicy { defer_cap_ms: 24 * HOUR, retention_ms: Some(HOUR), ..InboxPolicy::hookproof() }
}

fn proposal() -> Proposal {
    Proposal { entity: Id(2), event: EventType(1), occurrence: 0, version: 0 }
}

fn arrival(reading: Reading) -> Arrival {
    Arrival { receipt: Id(7), digest: BYTES, reading }
}

fn fresh() -> Receipt {
    Receipt {
        id: Id(7),
        rev: 0,
        digest: BYTES,
        proposal: Some(proposal()),
        stand: Stand::Queued { wake: NOW },
        strikes: 0,
        fence: 0,
        applied: false,
        cap: NOW + 24 * HOUR,
        received: NOW,
    }
}

fn standing(stand: Stand) -> Receipt {
    Receipt { rev: 4, strikes: 3, fence: 6, stand, ..fresh() }
}

fn warrant() -> Warrant {
    Warrant { by: Id(11), person_allowed: true, source_authorised: true, secret_unrevoked: true }
}

fn inserted(row: Receipt) -> Write {
    Write::Receipt(Put { was: None, row })
}

fn committed<T>(plan: Plan<T>) -> T {
    plan.commit(|_| Outcome::Committed).unwrap_or_else(|_| unreachable!("it was committed"))
}

const OPEN: [Stand; 3] =
    [Stand::Queued { wake: NOW }, Stand::Deferred { wake: NOW }, Stand::Retrying { wake: NOW }];
const CLOSED: [Stand; 5] = [
    Stand::Done(End::Applied),
    Stand::Done(End::AlreadyBooked),
    Stand::Done(End::Overtaken),
    Stand::Ignored,
    Stand::InReview(Reason::Failing),
];

#[test]
fn a_new_delivery_leaves_a_receipt_that_is_due_at_once() {
    let plan = receive(None, &arrival(Reading::Proposal(proposal())), NOW, &policy());
    assert_eq!(plan.writes(), [inserted(fresh())]);
    assert_eq!(committed(plan), Reply::Accepted);
}

#[test]
fn an_unknown_type_is_acknowledged_and_recorded_as_ignored() {
    let plan = receive(None, &arrival(Reading::UnknownType), NOW, &policy());
    let row = Receipt { proposal: None, stand: Stand::Ignored, ..fresh() };
    assert_eq!(plan.writes(), [inserted(row)]);
    assert_eq!(committed(plan), Reply::Accepted);
}

#[test]
fn what_cannot_be_read_is_acknowledged_and_set_aside_beside_its_alert() {
    let plan = receive(None, &arrival(Reading::Unreadable), NOW, &policy());
    let reason = Reason::Unreadable;
    let row = Receipt { proposal: None, stand: Stand::InReview(reason), ..fresh() };
    let alert = Write::Alert { about: About::Receipt(Id(7)), reason };
    assert_eq!(plan.writes(), [inserted(row), alert]);
    assert_eq!(committed(plan), Reply::Accepted);
}

#[test]
fn a_duplicate_writes_nothing_wherever_the_first_stands() {
    for stand in OPEN.into_iter().chain(CLOSED) {
        let again = Arrival { receipt: Id(8), ..arrival(Reading::Proposal(proposal())) };
        let plan = receive(Some(&standing(stand)), &again, NOW + 9, &policy());
        assert_eq!(plan.writes(), [], "{stand:?}");
        assert_eq!(committed(plan), Reply::Duplicate);
    }
}

#[test]
fn other_bytes_under_a_known_id_are_recorded_and_change_nothing() {
    let other = Arrival { receipt: Id(8), digest: Digest(6), reading: Reading::UnknownType };
    let plan = receive(Some(&fresh()), &other, NOW, &policy());
    let audit = Audit::OtherBytes { receipt: Id(7), digest: Digest(6) };
    assert_eq!(plan.writes(), [Write::Audit(audit)]);
    assert_eq!(committed(plan), Reply::OtherBytes);
}

#[test]
fn no_answer_leaves_before_the_receipt_is_in() {
    for outcome in [Outcome::Conflict, Outcome::RolledBack, Outcome::Unknown] {
        let plan = receive(None, &arrival(Reading::Proposal(proposal())), NOW, &policy());
        assert!(plan.commit(|_| outcome).is_err(), "{outcome:?}");
    }
}

#[test]
fn what_waits_has_a_wake_and_what_has_ended_has_none() {
    assert!(OPEN.into_iter().all(|stand| standing(stand).wake() == Some(NOW)));
    assert!(CLOSED.into_iter().all(|stand| standing(stand).wake().is_none()));
}

#[test]
fn a_replay_enters_at_work_with_a_fresh_ladder_and_a_fresh_cap() {
    let closed = [
        Stand::Done(End::Applied),
        Stand::Done(End::Overtaken),
        Stand::InReview(Reason::DeferralCap),
    ];
    for stand in closed {
        let old = Receipt { applied: true, ..standing(stand) };
        let now = NOW + HOUR;
        let plan = old.replay(&warrant(), now, &policy()).expect("may be replayed");
        let row = Receipt {
            rev: 5,
            stand: Stand::Queued { wake: now },
            strikes: 0,
            fence: 7,
            cap: now + 24 * HOUR,
            ..old
        };
        let audit = Write::Audit(Audit::Replayed { receipt: Id(7), by: Id(11) });
        assert_eq!(plan.writes(), [Write::Receipt(Put { was: Some(4), row }), audit]);
        assert_eq!(committed(plan), row);
    }
}

#[test]
fn of_two_people_at_once_the_second_finds_it_waiting() {
    let plan = standing(CLOSED[0]).replay(&warrant(), NOW, &policy()).expect("may be replayed");
    let replayed = committed(plan);
    assert_eq!(replayed.replay(&warrant(), NOW, &policy()), Err(NotReplayed::Waiting));
    for stand in OPEN {
        let refused = standing(stand).replay(&warrant(), NOW, &policy());
        assert_eq!(refused, Err(NotReplayed::Waiting), "{stand:?}");
    }
}

#[test]
fn a_replay_needs_the_person_the_source_and_the_secret() {
    let refusal = |warrant| {
        let refused = standing(CLOSED[0]).replay(&warrant, NOW, &policy());
        refused.expect_err("not warranted")
    };
    let person = Warrant { person_allowed: false, ..warrant() };
    let source = Warrant { source_authorised: false, ..warrant() };
    let secret = Warrant { secret_unrevoked: false, ..warrant() };
    assert_eq!(refusal(person), NotReplayed::PersonNotAllowed);
    assert_eq!(refusal(source), NotReplayed::SourceNotAuthorised);
    assert_eq!(refusal(secret), NotReplayed::SecretRevoked);
    let nobody = Warrant { secret_unrevoked: false, source_authorised: false, ..person };
    assert_eq!(refusal(nobody), NotReplayed::PersonNotAllowed, "who asks is looked at first");
}

#[test]
fn what_holds_nothing_to_work_on_is_not_replayed() {
    for stand in [Stand::Ignored, Stand::InReview(Reason::Unreadable)] {
        let empty = Receipt { proposal: None, ..standing(stand) };
        let refused = empty.replay(&warrant(), NOW, &policy());
        assert_eq!(refused, Err(NotReplayed::NothingToWork));
    }
}

#[test]
fn a_refusal_to_replay_says_why() {
    let refusals = [
        (NotReplayed::PersonNotAllowed, "this person may not"),
        (NotReplayed::SourceNotAuthorised, "no longer authorised"),
        (NotReplayed::SecretRevoked, "was revoked"),
        (NotReplayed::Waiting, "waiting for work already"),
        (NotReplayed::NothingToWork, "corrected copy"),
    ];
    for (refusal, words) in refusals {
        assert!(refusal.to_string().contains(words), "{refusal}");
    }
}

#[test]
fn a_finished_receipt_is_forgotten_only_after_the_retention() {
    for stand in [Stand::Done(End::Applied), Stand::Done(End::Overtaken), Stand::Ignored] {
        let finished = standing(stand);
        assert_eq!(finished.purge(NOW + HOUR, &policy()), None, "kept for as long as asked");
        let plan = finished.purge(NOW + HOUR + 1, &policy()).expect("old enough");
        assert_eq!(plan.writes(), [Write::Purge { id: Id(7), rev: 4 }]);
    }
}

#[test]
fn what_is_not_done_is_never_forgotten() {
    let review = Stand::InReview(Reason::DeferralCap);
    for stand in OPEN.into_iter().chain([review]) {
        assert_eq!(standing(stand).purge(NOW + 9_999 * HOUR, &policy()), None, "{stand:?}");
    }
}

#[test]
fn with_no_retention_keys_are_kept_for_ever() {
    let for_ever = InboxPolicy { retention_ms: None, ..policy() };
    assert_eq!(standing(CLOSED[0]).purge(Millis(u64::MAX), &for_ever), None);
}

#[test]
fn bytes_go_as_keys_do_and_no_sooner() {
    for stand in CLOSED {
        let row = standing(stand);
        let finished = !matches!(stand, Stand::InReview(_));
        assert!(!row.may_lose_payload(NOW + HOUR, HOUR), "{stand:?}");
        assert_eq!(row.may_lose_payload(NOW + HOUR + 1, HOUR), finished, "{stand:?}");
    }
    for stand in OPEN {
        assert!(!standing(stand).may_lose_payload(NOW + 9_999 * HOUR, 0), "{stand:?}");
    }
}
