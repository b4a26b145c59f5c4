//! Asking the authoritative API, outside any transaction.

use hookproof_core::work::Fetched;

use super::*;

/// Claims the receipt, and decides on what was fetched while the entity became this.
fn learn(
    receipt: &Receipt,
    now: &Entity,
    model: &Model,
    fetched: Option<Fetched>,
) -> (Receipt, Plan<Worked>) {
    let (row, job) = claimed(receipt, NOW);
    let plan = job.fetched(&row, &ground(now, model), fetched, NOW, &policy());
    (row, plan.expect("still held"))
}

#[expect(clippy::unnecessary_wraps, reason = "an API may also say nothing")]
fn says(state: State, version: u64) -> Option<Fetched> {
    Some(Fetched { state, version })
}

fn graph() -> Model {
    chain(Kind::Latest, Early::Refetch)
}

fn instants() -> Model {
    numbered(Kind::Latest, Order::Instant, Early::Refetch)
}

fn sequence() -> Model {
    numbered(Kind::Latest, Order::Sequence, Early::Refetch)
}

#[test]
fn an_early_event_asks_instead_of_waiting_and_writes_nothing_yet() {
    let (_, plan) = work(&queued(SHIPPED, 0), &ground(&entity(NEW), &graph()));
    assert_eq!(plan.writes(), []);
    assert_eq!(committed(plan), Worked::Refetch);
}

#[test]
fn of_two_equal_instants_the_api_must_tell_the_newer() {
    let (_, plan) = work(&queued(PAID, 5), &ground(&entity(CONFIRMING), &instants()));
    assert_eq!(plan.writes(), []);
    assert_eq!(committed(plan), Worked::Refetch);
}

#[test]
fn the_answer_moves_the_entity_forward_and_wakes_who_waits() {
    let before = entity(NEW);
    let (claimed, plan) = learn(&queued(PAID, 0), &before, &graph(), says(SHIPPED, 9));
    let after = Entity { state: SHIPPED, ..before };
    assert_eq!(plan.writes(), [changed(before, after), done(claimed, End::Applied), WAKE]);
    assert_eq!(committed(plan), Worked::Done(End::Applied));
}

#[test]
fn an_answer_brings_its_number_with_it() {
    let before = entity(NEW);
    let (_, plan) = learn(&queued(PAID, 7), &before, &sequence(), says(SHIPPED, 9));
    assert_eq!(plan.writes()[0], changed(before, Entity { state: SHIPPED, version: 9, ..before }));
    let (_, plan) = learn(&queued(PAID, 5), &before, &instants(), says(PAID, 5));
    assert_eq!(plan.writes()[0], changed(before, Entity { state: PAID, ..before }));
}

#[test]
fn an_answer_older_than_the_event_defers_it() {
    let wake = NOW + 5 * MINUTE;
    for (model, receipt, fetched) in [
        (graph(), queued(PAID, 0), says(CONFIRMING, 99)),
        (sequence(), queued(PAID, 7), says(PAID, 6)),
        (instants(), queued(PAID, 5), says(PAID, 4)),
    ] {
        let before = entity(NEW);
        let (_, plan) = learn(&receipt, &before, &model, fetched);
        assert_eq!(plan.writes()[0], held(before));
        assert_eq!(committed(plan), Worked::Deferred { wake });
    }
}

#[test]
fn an_answer_as_old_as_the_event_contains_it() {
    for (model, receipt, fetched) in [
        (graph(), queued(PAID, 0), says(PAID, 0)),
        (sequence(), queued(PAID, 7), says(PAID, 7)),
        (instants(), queued(PAID, 5), says(PAID, 5)),
    ] {
        let (_, plan) = learn(&receipt, &entity(NEW), &model, fetched);
        assert_eq!(committed(plan), Worked::Done(End::Applied));
    }
}

#[test]
fn an_api_that_does_not_answer_defers_the_event_until_its_cap() {
    let (claimed, plan) = learn(&queued(PAID, 0), &entity(NEW), &graph(), None);
    assert_eq!(plan.writes()[0], held(entity(NEW)));
    assert_eq!(row(&plan).strikes, claimed.strikes - 1);
    assert_eq!(committed(plan), Worked::Deferred { wake: NOW + 5 * MINUTE });
    let capped = Receipt { fence: 1, cap: NOW, ..queued(PAID, 0) };
    let (_, plan) = learn(&capped, &entity(NEW), &graph(), None);
    assert_eq!(committed(plan), Worked::SetAside(Reason::DeferralCap));
}

#[test]
fn an_answer_that_says_what_is_there_overtakes_the_event() {
    let there = entity(CONFIRMING);
    let (claimed, plan) = learn(&queued(PAID, 5), &there, &instants(), says(CONFIRMING, 5));
    assert_eq!(plan.writes(), [held(there), done(claimed, End::Overtaken)]);
    assert_eq!(committed(plan), Worked::Done(End::Overtaken));
}

#[test]
fn an_answer_of_the_same_state_but_newer_leaves_its_number() {
    let there = entity(CONFIRMING);
    for (model, event) in [(instants(), 5), (sequence(), 7)] {
        let (_, plan) = learn(&queued(PAID, event), &there, &model, says(CONFIRMING, 9));
        assert_eq!(plan.writes()[0], changed(there, Entity { version: 9, ..there }));
    }
}

#[test]
fn an_entity_that_moved_while_the_api_was_asked_decides_by_itself() {
    let due = entity(CONFIRMING);
    for fetched in [None, says(NEW, 0), says(SHIPPED, 0)] {
        let (claimed, plan) = learn(&queued(PAID, 0), &due, &graph(), fetched);
        let after = Entity { state: PAID, ..due };
        assert_eq!(
            plan.writes(),
            [changed(due, after), done(claimed, End::Applied), WAKE],
            "its turn has come, so it neither sleeps nor leaps: {fetched:?}"
        );
    }
    let past = entity(SHIPPED);
    let (claimed, plan) = learn(&queued(PAID, 0), &past, &graph(), None);
    assert_eq!(plan.writes(), [held(past), done(claimed, End::Overtaken)]);
}

#[test]
fn what_is_late_unknown_or_impossible_by_now_is_decided_by_the_entity() {
    let ledger = numbered(Kind::Ledger, Order::Version, Early::Wait);
    let (_, plan) = learn(&queued(PAID, 3), &entity(SHIPPED), &ledger, None);
    assert_eq!(committed(plan), Worked::Done(End::Applied));
    let (_, plan) = learn(&queued(State(63), 0), &entity(NEW), &graph(), None);
    assert_eq!(committed(plan), Worked::SetAside(Reason::Impossible));
    let chain = chain(Kind::Ledger, Early::Wait);
    let (_, plan) = learn(&queued(PAID, 0), &entity(SHIPPED), &chain, None);
    assert_eq!(committed(plan), Worked::SetAside(Reason::Impossible));
}

#[test]
fn a_state_that_the_type_does_not_have_is_no_answer() {
    let none = State(63);
    let (_, plan) = learn(&queued(SHIPPED, 0), &entity(NEW), &graph(), says(none, 0));
    assert!(matches!(committed(plan), Worked::Deferred { .. }), "of a graph");
    let (_, plan) = learn(&queued(SHIPPED, 7), &entity(NEW), &sequence(), says(none, 9));
    assert!(
        !plan
            .writes()
            .iter()
            .any(|write| matches!(write, Write::Entity(put) if put.row.state == none))
    );
}
