//! Tables that people write: the contract's own, which are accepted and converge, and for each
//! refusal one that earns it.

mod arrival;

use arrival::{ENTITY, Fact, Table, diverges};
use hookproof_core::model::{
    BadModel, Early, EventType, Kind, Model, Occurrence, Operation, Order, Proposal, Rule,
    STATES_MAX, State, States, Transition,
};

const PENDING: u8 = 0;
const CONFIRMING: u8 = 1;
const PAID: u8 = 2;
const SHIPPED: u8 = 3;

/// Event types, and the transitions that they ask for.
const PAYS: u16 = 10;
const CHECKS_OUT: u16 = 11;
const CONFIRMS: u16 = 12;
const SHIPS: u16 = 13;
const RENEWS: u16 = 14;
const CANCELS: u16 = 15;

#[test]
fn an_order_is_paid_then_shipped() {
    let rules = vec![
        once(PAYS, moves(PAYS, &[PENDING], PAID)),
        once(SHIPS, moves(SHIPS, &[PAID], SHIPPED)),
    ];
    for kind in [Kind::Latest, Kind::Ledger] {
        converges(&graph(kind, rules.clone()), &[fact(PAYS, 0), fact(SHIPS, 0)]);
    }
}

#[test]
fn two_event_types_ask_for_one_payment() {
    let rules = vec![
        once(PAYS, moves(PAYS, &[PENDING], PAID)),
        once(PAYS, moves(CHECKS_OUT, &[PENDING], PAID)),
        once(SHIPS, moves(SHIPS, &[PAID], SHIPPED)),
    ];
    let facts = [fact(PAYS, 0), fact(CHECKS_OUT, 0), fact(SHIPS, 0)];
    for kind in [Kind::Latest, Kind::Ledger] {
        converges(&graph(kind, rules.clone()), &facts);
    }
}

#[test]
fn confirming_may_be_skipped_since_it_has_no_effect() {
    let rules = vec![
        moves(CONFIRMS, &[PENDING], CONFIRMING),
        once(PAYS, moves(PAYS, &[PENDING, CONFIRMING], PAID)),
        once(SHIPS, moves(SHIPS, &[PAID], SHIPPED)),
    ];
    let facts = [fact(CONFIRMS, 0), fact(PAYS, 0), fact(SHIPS, 0)];
    converges(&graph(Kind::Latest, rules.clone()), &facts);
    refuses(&graph(Kind::Ledger, rules), BadModel::EntryOvertaken(EventType(CONFIRMS)), &facts);
}

#[test]
fn a_reminder_leads_nowhere_and_harms_nothing() {
    let rules =
        vec![moves(CONFIRMS, &[PENDING], PENDING), once(PAYS, moves(PAYS, &[PENDING], PAID))];
    converges(&graph(Kind::Latest, rules), &[fact(CONFIRMS, 0), fact(PAYS, 0)]);
}

#[test]
fn a_subscription_renews_by_sequence_until_it_is_cancelled() {
    let rules = vec![
        once(PAYS, moves(PAYS, &[PENDING], PAID)),
        each(RENEWS, moves(RENEWS, &[PAID], PAID)),
        moves(CANCELS, &[PAID], SHIPPED),
    ];
    let facts = [fact(PAYS, 1), fact(RENEWS, 2), fact(RENEWS, 3), fact(CANCELS, 4)];
    for kind in [Kind::Latest, Kind::Ledger] {
        let table = Table::new(4, kind, Order::Sequence, Early::Wait, rules.clone());
        converges(&table, &facts);
    }
}

#[test]
fn a_subscription_renews_in_a_ledger_by_version_or_instant() {
    let rules = vec![each(RENEWS, moves(RENEWS, &[], PAID)), moves(CANCELS, &[], SHIPPED)];
    let facts = [fact(RENEWS, 5), fact(RENEWS, 7), fact(CANCELS, 7)];
    for order in [Order::Version, Order::Instant] {
        converges(&Table::new(4, Kind::Ledger, order, Early::Refetch, rules.clone()), &facts);
    }
}

#[test]
fn a_subscription_without_an_end_needs_no_order() {
    let rules =
        vec![once(PAYS, moves(PAYS, &[PENDING], PAID)), each(RENEWS, moves(RENEWS, &[PAID], PAID))];
    let facts = [fact(PAYS, 0), fact(RENEWS, 1), fact(RENEWS, 2)];
    converges(&graph(Kind::Ledger, rules), &facts);
}

#[test]
fn the_newest_snapshot_wins_and_of_equal_versions_the_later_state() {
    let rules = vec![moves(PAYS, &[], PAID), moves(SHIPS, &[], SHIPPED)];
    let table = Table::new(4, Kind::Latest, Order::Version, Early::Wait, rules);
    converges(&table, &[fact(PAYS, 3), fact(SHIPS, 3), fact(PAYS, 1)]);
    converges(&table, &[fact(PAYS, 3), fact(SHIPS, 2), fact(SHIPS, 0)]);
}

#[test]
fn of_two_equal_instants_the_authority_tells() {
    let rules = vec![moves(PAYS, &[], PAID), moves(SHIPS, &[], SHIPPED)];
    let table = Table::new(4, Kind::Latest, Order::Instant, Early::Refetch, rules);
    converges(&table, &[fact(PAYS, 3), fact(SHIPS, 3), fact(PAYS, 1)]);
    converges(&table, &[fact(SHIPS, 3), fact(PAYS, 3), fact(PAYS, 4)]);
}

#[test]
fn a_gap_in_snapshots_is_refetched() {
    let rules = vec![moves(PAYS, &[], PAID), moves(SHIPS, &[], SHIPPED)];
    let table = Table::new(4, Kind::Latest, Order::Sequence, Early::Refetch, rules);
    converges(&table, &[fact(PAYS, 1), fact(SHIPS, 2), fact(PAYS, 4)]);
}

#[test]
fn a_booking_by_hand_holds_up_no_event_and_is_not_repeated() {
    let rules = vec![
        once(PAYS, moves(PAYS, &[PENDING], PAID)),
        once(SHIPS, moves(SHIPS, &[PAID], SHIPPED)),
    ];
    let shipping = Operation { entity: ENTITY, transition: Transition(SHIPS), occurrence: 0 };
    let facts = [fact(PAYS, 0), fact(SHIPS, 0), Fact::ByHand(shipping)];
    converges(&graph(Kind::Latest, rules), &facts);
}

#[test]
fn a_type_has_one_to_sixty_four_states() {
    for states in [0, STATES_MAX + 1] {
        let bad = Model::declare(states, Kind::Latest, Order::Graph, Early::Wait, vec![]);
        assert_eq!(bad, Err(BadModel::StateCount(states)));
    }
    let to_the_last = Rule { from: States::ALL, ..moves(PAYS, &[], 63) };
    let most = Model::declare(64, Kind::Latest, Order::Version, Early::Wait, vec![to_the_last]);
    assert_eq!(most.map(|model| model.states()), Ok(64));
}

#[test]
fn a_rule_names_states_that_exist() {
    let nowhere = Rule { from: States::default(), ..moves(PAYS, &[], PAID) };
    let beyond = Rule { from: States::of(&[State(0), State(200)]), ..nowhere };
    for rule in [nowhere, beyond, moves(PAYS, &[4], PAID), moves(PAYS, &[PENDING], 64)] {
        refuses(&graph(Kind::Latest, vec![rule]), BadModel::NoSuchState(EventType(PAYS)), &[]);
    }
}

#[test]
fn an_event_type_has_one_rule() {
    let rules = vec![moves(PAYS, &[PENDING], PAID), moves(PAYS, &[PAID], SHIPPED)];
    refuses(&graph(Kind::Latest, rules), BadModel::TwoRules(EventType(PAYS)), &[]);
}

#[test]
fn a_rule_that_nothing_leads_to_is_a_slip() {
    let rules = vec![moves(PAYS, &[PENDING], PAID), moves(SHIPS, &[CONFIRMING], SHIPPED)];
    for order in [Order::Graph, Order::Sequence] {
        let table = Table::new(4, Kind::Latest, order, Early::Wait, rules.clone());
        refuses(&table, BadModel::NeverApplies(EventType(SHIPS)), &[]);
    }
}

#[test]
fn a_cycle_counts_deliveries() {
    let rules = vec![moves(PAYS, &[PENDING], PAID), moves(CANCELS, &[PAID], PENDING)];
    let facts = [fact(PAYS, 0), fact(CANCELS, 0)];
    refuses(&graph(Kind::Latest, rules), BadModel::Cycle(EventType(PAYS)), &facts);
}

#[test]
fn branches_need_an_order() {
    let rules = vec![moves(PAYS, &[PENDING], PAID), moves(CANCELS, &[PENDING], SHIPPED)];
    let branches = BadModel::Branches(EventType(PAYS), EventType(CANCELS));
    refuses(&graph(Kind::Latest, rules), branches, &[fact(PAYS, 0), fact(CANCELS, 0)]);
}

#[test]
fn a_path_from_one_branch_to_the_other_does_not_join_them() {
    // Paid leads to shipped, but by an event that may never come; confirmed, then paid is impossible.
    let mut rules = vec![
        moves(CONFIRMS, &[PENDING], CONFIRMING),
        moves(PAYS, &[PENDING], PAID),
        moves(CHECKS_OUT, &[CONFIRMING], PAID),
    ];
    let branches = BadModel::Branches(EventType(CONFIRMS), EventType(PAYS));
    let facts = [fact(CONFIRMS, 0), fact(PAYS, 0)];
    refuses(&graph(Kind::Latest, rules.clone()), branches, &facts);
    rules[1] = moves(PAYS, &[PENDING, CONFIRMING], PAID);
    converges(&graph(Kind::Latest, rules), &facts);
}

#[test]
fn an_effect_that_can_be_skipped_depends_on_arrival() {
    let rules = vec![
        once(CONFIRMS, moves(CONFIRMS, &[PENDING], CONFIRMING)),
        moves(PAYS, &[PENDING, CONFIRMING], PAID),
    ];
    let overtaken = BadModel::EffectOvertaken(EventType(CONFIRMS));
    let facts = [fact(CONFIRMS, 0), fact(PAYS, 0)];
    refuses(&graph(Kind::Latest, rules.clone()), overtaken, &facts);
    for order in [Order::Version, Order::Instant] {
        let table = Table::new(4, Kind::Latest, order, Early::Refetch, rules.clone());
        refuses(&table, overtaken, &[]);
    }
}

#[test]
fn a_refetch_leaps_over_effects() {
    let rules = vec![once(PAYS, moves(PAYS, &[PENDING], PAID)), moves(SHIPS, &[PAID], SHIPPED)];
    for order in [Order::Graph, Order::Sequence] {
        let table = Table::new(4, Kind::Latest, order, Early::Refetch, rules.clone());
        refuses(&table, BadModel::EffectOvertaken(EventType(PAYS)), &[]);
    }
}

#[test]
fn a_refetch_is_instead_of_the_early_event_and_its_effect() {
    let rules = vec![moves(PAYS, &[PENDING], PAID), once(SHIPS, moves(SHIPS, &[PAID], SHIPPED))];
    let table = Table::new(4, Kind::Latest, Order::Graph, Early::Refetch, rules);
    refuses(&table, BadModel::EffectOvertaken(EventType(SHIPS)), &[]);
}

#[test]
fn where_nothing_is_early_no_refetch_leaps() {
    let rules = vec![
        once(PAYS, moves(PAYS, &[PENDING], PAID)),
        once(PAYS, moves(CHECKS_OUT, &[PENDING], PAID)),
    ];
    for kind in [Kind::Latest, Kind::Ledger] {
        let table = Table::new(4, kind, Order::Graph, Early::Refetch, rules.clone());
        converges(&table, &[fact(PAYS, 0), fact(CHECKS_OUT, 0)]);
    }
}

#[test]
fn a_refetch_by_sequence_has_no_entries_for_a_ledger() {
    let table =
        Table::new(4, Kind::Ledger, Order::Sequence, Early::Refetch, vec![moves(PAYS, &[], PAID)]);
    refuses(&table, BadModel::EntryOvertaken(EventType(PAYS)), &[]);
}

#[test]
fn a_refetch_by_sequence_passes_over_what_else_is_impossible() {
    let rules = vec![moves(PAYS, &[], PAID), moves(SHIPS, &[PENDING], SHIPPED)];
    let table = Table::new(4, Kind::Latest, Order::Sequence, Early::Refetch, rules);
    refuses(&table, BadModel::RefetchPassesOver(EventType(SHIPS)), &[]);
}

#[test]
fn a_recurring_transition_needs_an_occurrence() {
    let rules = vec![once(RENEWS, moves(RENEWS, &[PENDING, PAID], PAID))];
    for order in [Order::Graph, Order::Sequence, Order::Version, Order::Instant] {
        let table = Table::new(4, Kind::Ledger, order, Early::Wait, rules.clone());
        refuses(&table, BadModel::RecursWithoutOccurrence(EventType(RENEWS)), &[]);
    }
}

#[test]
fn a_transition_recurs_for_all_that_ask_for_it() {
    let rules = vec![
        each(RENEWS, moves(RENEWS, &[], PAID)),
        once(RENEWS, moves(PAYS, &[PENDING], CONFIRMING)),
    ];
    let recurs = BadModel::RecursWithoutOccurrence(EventType(PAYS));
    for rules in [rules.clone(), rules.into_iter().rev().collect()] {
        let table = Table::new(4, Kind::Ledger, Order::Version, Early::Wait, rules);
        refuses(&table, recurs, &[]);
    }
}

#[test]
fn what_happens_once_in_a_graph_has_one_occurrence() {
    let rules = vec![each(PAYS, moves(PAYS, &[PENDING], PAID))];
    let bad = BadModel::OccurrenceWithoutRecurring(EventType(PAYS));
    refuses(&graph(Kind::Latest, rules), bad, &[fact(PAYS, 1), fact(PAYS, 2)]);
}

#[test]
fn instants_need_a_refetch_for_two_equal_ones() {
    let table =
        |kind| Table::new(4, kind, Order::Instant, Early::Wait, vec![moves(PAYS, &[], PAID)]);
    refuses(&table(Kind::Latest), BadModel::InstantWithoutRefetch, &[]);
    converges(&table(Kind::Ledger), &[fact(PAYS, 3)]);
}

#[test]
fn an_effect_outside_is_keyed_by_an_operation() {
    let rules = vec![Rule { external: true, ..moves(PAYS, &[PENDING], PAID) }];
    let bad = BadModel::ExternalWithoutOperation(EventType(PAYS));
    refuses(&graph(Kind::Latest, rules), bad, &[]);
}

#[test]
fn an_operation_is_outside_for_all_that_ask_for_it() {
    let rules = vec![
        Rule { external: true, ..once(PAYS, moves(PAYS, &[PENDING], PAID)) },
        once(PAYS, moves(CHECKS_OUT, &[PENDING], PAID)),
    ];
    let bad = BadModel::InsideAndOutside(EventType(PAYS), EventType(CHECKS_OUT));
    refuses(&graph(Kind::Latest, rules), bad, &[]);
}

#[test]
fn a_refusal_says_what_to_do() {
    let text = format!("{}", BadModel::Cycle(EventType(7)));
    assert!(text.starts_with("event type 7 lies on a cycle"), "{text}");
    assert!(text.ends_with("declare a version, a sequence or an instant"), "{text}");
}

/// None of `from`: from every state.
fn moves(event: u16, from: &[u8], to: u8) -> Rule {
    let from: Vec<State> = from.iter().copied().map(State).collect();
    let from = if from.is_empty() { States::ALL } else { States::of(&from) };
    Rule { event: EventType(event), from, to: State(to), books: None, external: false }
}

fn once(transition: u16, rule: Rule) -> Rule {
    Rule { books: Some((Transition(transition), Occurrence::Once)), ..rule }
}

fn each(transition: u16, rule: Rule) -> Rule {
    Rule { books: Some((Transition(transition), Occurrence::FromEvent)), ..rule }
}

fn graph(kind: Kind, rules: Vec<Rule>) -> Table {
    Table::new(4, kind, Order::Graph, Early::Wait, rules)
}

/// `number` is version and occurrence at once.
fn fact(event: u16, number: u64) -> Fact {
    let event = EventType(event);
    Fact::Event(Proposal { entity: ENTITY, event, occurrence: number, version: number })
}

/// Each fact never, once or twice.
fn histories(facts: &[Fact]) -> impl Iterator<Item = Vec<u8>> {
    let n = facts.len() as u32;
    (1..3_u32.pow(n)).map(move |h| (0..n).map(|i| (h / 3_u32.pow(i) % 3) as u8).collect())
}

fn converges(table: &Table, facts: &[Fact]) {
    assert_eq!(table.model.as_ref().err(), None);
    for copies in histories(facts) {
        assert_eq!(diverges(table, facts, &copies), None, "{copies:?}");
    }
}

/// And if `facts` are given, some history of them shows why.
fn refuses(table: &Table, why: BadModel, facts: &[Fact]) {
    assert_eq!(table.model.as_ref().err(), Some(&why));
    let shown = histories(facts).any(|copies| diverges(table, facts, &copies).is_some());
    assert!(shown || facts.is_empty(), "{why}, but no history of these shows it");
}
