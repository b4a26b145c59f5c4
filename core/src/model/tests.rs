use alloc::vec;

use super::*;

const PENDING: State = State(0);
const CONFIRMING: State = State(1);
const PAID: State = State(2);
const SHIPPED: State = State(3);

const CONFIRMS: EventType = EventType(11);
const PAYS: EventType = EventType(12);
const SHIPS: EventType = EventType(13);

#[test]
fn in_a_graph_an_event_is_early_then_due_then_overtaken() {
    let model = chain(Kind::Latest);
    assert_eq!(model.standing(&at(PENDING, 0), &event(SHIPS, 0)), Standing::Early);
    assert_eq!(model.standing(&at(PAID, 0), &event(SHIPS, 0)), Standing::Due(SHIPPED));
    assert_eq!(model.standing(&at(SHIPPED, 0), &event(SHIPS, 0)), Standing::Overtaken);
}

#[test]
fn in_a_graph_an_event_that_was_leapt_over_is_overtaken() {
    let model = chain(Kind::Latest);
    assert_eq!(model.standing(&at(PENDING, 0), &event(PAYS, 0)), Standing::Due(PAID));
    assert_eq!(model.standing(&at(CONFIRMING, 0), &event(PAYS, 0)), Standing::Due(PAID));
    assert_eq!(model.standing(&at(PAID, 0), &event(CONFIRMS, 0)), Standing::Overtaken);
}

#[test]
fn a_graph_looks_at_no_version() {
    let model = chain(Kind::Latest);
    assert_eq!(model.standing(&at(PAID, 9), &event(SHIPS, 1)), Standing::Due(SHIPPED));
    assert_eq!(model.standing(&at(PENDING, 0), &event(SHIPS, u64::MAX)), Standing::Early);
}

#[test]
fn in_a_ledger_by_graph_what_is_past_needs_a_person() {
    let rules = vec![rule(PAYS, States::of(&[PENDING]), PAID)];
    let model = declare(Kind::Ledger, Order::Graph, Early::Wait, rules);
    assert_eq!(model.standing(&at(PENDING, 0), &event(PAYS, 0)), Standing::Due(PAID));
    assert_eq!(model.standing(&at(PAID, 0), &event(PAYS, 0)), Standing::Impossible);
}

#[test]
fn from_a_state_that_no_path_joins_nothing_is_possible() {
    for kind in [Kind::Latest, Kind::Ledger] {
        let rules = vec![rule(PAYS, States::of(&[PENDING]), PAID)];
        let model = declare(kind, Order::Graph, Early::Wait, rules);
        assert_eq!(model.standing(&at(SHIPPED, 0), &event(PAYS, 0)), Standing::Impossible);
        assert_eq!(model.standing(&at(State(200), 0), &event(PAYS, 0)), Standing::Impossible);
    }
}

#[test]
fn a_newer_version_is_due_from_any_state() {
    for kind in [Kind::Latest, Kind::Ledger] {
        let model = snapshots(kind, Order::Version);
        assert_eq!(model.standing(&at(PENDING, 0), &event(SHIPS, 1)), Standing::Due(SHIPPED));
        assert_eq!(model.standing(&at(SHIPPED, 4), &event(PAYS, 6)), Standing::Due(PAID));
    }
}

#[test]
fn an_older_version_is_overtaken_or_late_in_a_ledger() {
    let stands = |kind| snapshots(kind, Order::Version).standing(&at(PAID, 4), &event(SHIPS, 3));
    assert_eq!(stands(Kind::Latest), Standing::Overtaken);
    assert_eq!(stands(Kind::Ledger), Standing::Late);
}

#[test]
fn of_equal_versions_the_higher_numbered_state_stays() {
    for (kind, kept) in [(Kind::Latest, Standing::Overtaken), (Kind::Ledger, Standing::Late)] {
        let model = snapshots(kind, Order::Version);
        assert_eq!(model.standing(&at(PAID, 4), &event(SHIPS, 4)), Standing::Due(SHIPPED));
        assert_eq!(model.standing(&at(PAID, 4), &event(PAYS, 4)), kept);
        assert_eq!(model.standing(&at(SHIPPED, 4), &event(PAYS, 4)), kept);
    }
}

#[test]
fn a_version_may_count_from_zero() {
    let model = snapshots(Kind::Latest, Order::Version);
    assert_eq!(model.standing(&at(PENDING, 0), &event(PAYS, 0)), Standing::Due(PAID));
}

#[test]
fn of_equal_instants_only_the_authority_can_tell() {
    let model = snapshots(Kind::Latest, Order::Instant);
    assert_eq!(model.standing(&at(PAID, 4), &event(SHIPS, 4)), Standing::Equal);
    assert_eq!(model.standing(&at(SHIPPED, 4), &event(PAYS, 4)), Standing::Equal);
    assert_eq!(model.standing(&at(PAID, 4), &event(PAYS, 4)), Standing::Overtaken);
    assert_eq!(model.standing(&at(PAID, 4), &event(SHIPS, 3)), Standing::Overtaken);
    assert_eq!(model.standing(&at(PAID, 4), &event(SHIPS, 5)), Standing::Due(SHIPPED));
}

#[test]
fn a_ledger_keeps_both_of_two_equal_instants_and_asks_nobody() {
    let model = snapshots(Kind::Ledger, Order::Instant);
    assert_eq!(model.standing(&at(PAID, 4), &event(SHIPS, 4)), Standing::Due(SHIPPED));
    assert_eq!(model.standing(&at(SHIPPED, 4), &event(PAYS, 4)), Standing::Late);
    assert_eq!(model.standing(&at(PAID, 4), &event(PAYS, 4)), Standing::Late);
    assert_eq!(model.standing(&at(PAID, 4), &event(SHIPS, 3)), Standing::Late);
}

#[test]
fn in_a_sequence_only_the_next_is_due() {
    for (kind, past) in [(Kind::Latest, Standing::Overtaken), (Kind::Ledger, Standing::Impossible)]
    {
        let model = snapshots(kind, Order::Sequence);
        assert_eq!(model.standing(&at(PENDING, 0), &event(PAYS, 1)), Standing::Due(PAID));
        assert_eq!(model.standing(&at(PAID, 4), &event(SHIPS, 5)), Standing::Due(SHIPPED));
        assert_eq!(model.standing(&at(PAID, 4), &event(SHIPS, 6)), Standing::Early);
        assert_eq!(model.standing(&at(PAID, 4), &event(SHIPS, 4)), past);
        assert_eq!(model.standing(&at(PAID, 4), &event(SHIPS, 0)), past);
    }
}

#[test]
fn the_next_of_a_sequence_is_impossible_where_it_does_not_start() {
    let rules =
        vec![rule(PAYS, States::of(&[PENDING]), PAID), rule(SHIPS, States::of(&[PAID]), SHIPPED)];
    for kind in [Kind::Latest, Kind::Ledger] {
        let model = declare(kind, Order::Sequence, Early::Wait, rules.clone());
        assert_eq!(model.standing(&at(PENDING, 0), &event(SHIPS, 1)), Standing::Impossible);
        assert_eq!(model.standing(&at(PENDING, 0), &event(SHIPS, 2)), Standing::Early);
    }
}

#[test]
fn the_last_number_of_a_sequence_is_due_once() {
    let model = snapshots(Kind::Latest, Order::Sequence);
    let last = event(PAYS, u64::MAX);
    assert_eq!(model.standing(&at(PAID, u64::MAX - 1), &last), Standing::Due(PAID));
    assert_eq!(model.standing(&at(PAID, u64::MAX), &last), Standing::Overtaken);
}

#[test]
fn an_event_type_without_a_rule_is_unknown_in_every_order() {
    let stranger = event(EventType(99), 1);
    for order in [Order::Version, Order::Sequence, Order::Instant] {
        let model = snapshots(Kind::Latest, order);
        assert_eq!(model.standing(&at(PENDING, 0), &stranger), Standing::Unknown);
        assert_eq!(model.operation(&stranger), None);
    }
    assert_eq!(chain(Kind::Latest).standing(&at(PENDING, 0), &stranger), Standing::Unknown);
}

#[test]
fn what_happens_once_has_one_operation_and_a_period_has_its_own() {
    let (sale, term) = (Transition(1), Transition(2));
    let rules = vec![
        Rule { books: Some((sale, Occurrence::Once)), ..rule(PAYS, States::of(&[PENDING]), PAID) },
        Rule { books: Some((term, Occurrence::FromEvent)), ..rule(SHIPS, States::ALL, SHIPPED) },
        rule(CONFIRMS, States::ALL, CONFIRMING),
    ];
    let model = declare(Kind::Ledger, Order::Version, Early::Wait, rules);
    let booked = |transition, occurrence| Some(Operation { entity: Id(7), transition, occurrence });
    assert_eq!(model.operation(&event(PAYS, 5)), booked(sale, 0));
    assert_eq!(model.operation(&event(PAYS, 6)), booked(sale, 0));
    assert_eq!(model.operation(&event(SHIPS, 5)), booked(term, 105));
    assert_eq!(model.operation(&event(SHIPS, 6)), booked(term, 106));
    assert_eq!(model.operation(&event(CONFIRMS, 5)), None);
}

#[test]
fn a_set_that_names_an_impossible_state_is_empty() {
    assert_eq!(States::of(&[PAID, State(64)]), States::default());
    assert!(States::of(&[State(63)]).has(State(63)));
    assert!(!States::ALL.has(State(64)));
}

#[test]
fn every_state_is_every_state_of_the_type() {
    let model = snapshots(Kind::Latest, Order::Version);
    assert_eq!(model.rule(PAYS).map(|rule| rule.from), Some(States(0b1111)));
    assert_eq!((model.states(), model.rules().len()), (4, 2));
    assert!(model.leads(PENDING, SHIPPED) && model.leads(SHIPPED, PAID));
    assert!(!model.leads(PENDING, CONFIRMING), "nothing leads there");
}

/// Pending, perhaps confirming, paid, shipped.
fn chain(kind: Kind) -> Model {
    let rules = vec![
        rule(CONFIRMS, States::of(&[PENDING]), CONFIRMING),
        rule(PAYS, States::of(&[PENDING, CONFIRMING]), PAID),
        rule(SHIPS, States::of(&[PAID]), SHIPPED),
    ];
    declare(kind, Order::Graph, Early::Wait, rules)
}

fn snapshots(kind: Kind, order: Order) -> Model {
    let early = if order == Order::Instant { Early::Refetch } else { Early::Wait };
    let rules = vec![rule(PAYS, States::ALL, PAID), rule(SHIPS, States::ALL, SHIPPED)];
    declare(kind, order, early, rules)
}

fn declare(kind: Kind, order: Order, early: Early, rules: Vec<Rule>) -> Model {
    let model = Model::declare(4, kind, order, early, rules).expect("a sound table");
    assert_eq!((model.kind(), model.order(), model.early()), (kind, order, early));
    model
}

fn rule(event: EventType, from: States, to: State) -> Rule {
    Rule { event, from, to, books: None, external: false }
}

fn at(state: State, version: u64) -> Entity {
    Entity { id: Id(7), rev: 3, state, version, projected: None }
}

/// Its occurrence is its version and a hundred.
fn event(event: EventType, version: u64) -> Proposal {
    Proposal { entity: Id(7), event, occurrence: version.saturating_add(100), version }
}
