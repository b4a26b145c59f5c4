//! The entity types that drawn runs are about: one for each way of ordering and keeping.

use hookproof_core::model::{
    Early, EventType, Kind, Model, Occurrence, Order, Rule, State, States, Transition,
};

/// One of [`all`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelNo(pub u8);

/// How many there are.
pub const COUNT: u64 = 8;

/// An order: confirming may be skipped, paid comes by two events, shipped and delivered follow.
pub const ORDER: ModelNo = ModelNo(0);
/// An order whose intended state is shown while it waits.
pub const PROJECTED: ModelNo = ModelNo(1);
/// A subscription whose renewals are numbered without gaps.
pub const SUBSCRIPTION: ModelNo = ModelNo(2);
/// An account whose entries are all kept, by version.
pub const ACCOUNT: ModelNo = ModelNo(3);
/// A profile of which the newest version counts.
pub const SNAPSHOT: ModelNo = ModelNo(4);
/// A profile with instants only, refetched when they are equal.
pub const CLOCKED: ModelNo = ModelNo(5);
/// A process whose early events ask the authoritative API.
pub const FETCHED: ModelNo = ModelNo(6);
/// A journal without effects, numbered without gaps, of which every entry is kept.
pub const JOURNAL: ModelNo = ModelNo(7);

/// Payment is being confirmed.
pub const CONFIRMING: EventType = EventType(0);
/// The invoice is paid.
pub const PAID: EventType = EventType(1);
/// The checkout is complete: the same operation as [`PAID`].
pub const COMPLETED: EventType = EventType(2);
/// The order is shipped.
pub const SHIPPED: EventType = EventType(3);
/// The order is delivered.
pub const DELIVERED: EventType = EventType(4);
/// One more period, or one more entry.
pub const RENEWED: EventType = EventType(5);
/// The state is now this.
pub const SET: [EventType; 3] = [EventType(6), EventType(7), EventType(8)];

/// The operation of a payment.
pub const PAY: Transition = Transition(1);
/// The operation of a shipment.
pub const SHIP: Transition = Transition(2);
/// The operation of a renewal.
pub const RENEW: Transition = Transition(3);

/// What the entity types are called, by number.
pub const NAMES: [&str; COUNT as usize] = [
    "order",
    "projected-order",
    "subscription",
    "account",
    "snapshot",
    "clocked",
    "fetched",
    "journal",
];

/// What the types of events are called, by number.
pub const EVENTS: [&str; 9] = [
    "confirming",
    "paid",
    "completed",
    "shipped",
    "delivered",
    "renewed",
    "set-1",
    "set-2",
    "set-3",
];

/// All entity types, by number.
pub fn all() -> Vec<Model> {
    let declared = [
        Model::declare(5, Kind::Latest, Order::Graph, Early::Wait, order()),
        Model::declare(5, Kind::Latest, Order::Graph, Early::Project, order()),
        Model::declare(2, Kind::Latest, Order::Sequence, Early::Wait, renewals()),
        Model::declare(2, Kind::Ledger, Order::Version, Early::Wait, renewals()),
        Model::declare(4, Kind::Latest, Order::Version, Early::Wait, settings()),
        Model::declare(4, Kind::Latest, Order::Instant, Early::Refetch, settings()),
        Model::declare(4, Kind::Latest, Order::Graph, Early::Refetch, steps()),
        Model::declare(2, Kind::Ledger, Order::Sequence, Early::Wait, entries()),
    ];
    declared.into_iter().map(|model| model.expect("these tables converge")).collect()
}

/// What can happen to an entity of a type, in the order in which it happens.
pub fn stories(model: ModelNo) -> &'static [&'static [EventType]] {
    match model {
        ORDER | PROJECTED => &[
            &[PAID, SHIPPED, DELIVERED],
            &[CONFIRMING, PAID, COMPLETED, SHIPPED],
            &[CONFIRMING, COMPLETED, SHIPPED, DELIVERED],
            &[PAID, COMPLETED],
        ],
        SUBSCRIPTION | ACCOUNT | JOURNAL => &[
            &[RENEWED, RENEWED],
            &[RENEWED, RENEWED, RENEWED],
            &[RENEWED, RENEWED, RENEWED, RENEWED],
        ],
        SNAPSHOT | CLOCKED => {
            &[&[SET[0], SET[1], SET[2]], &[SET[2], SET[0]], &[SET[1], SET[0], SET[2], SET[1]]]
        }
        _ => &[&[SET[0], SET[1], SET[2]], &[SET[0], SET[1]]],
    }
}

const fn rule(event: EventType, from: &[State], to: u8, books: Option<Transition>) -> Rule {
    let books = match books {
        Some(transition) => Some((transition, Occurrence::Once)),
        None => None,
    };
    Rule { event, from: States::of(from), to: State(to), books, external: false }
}

fn order() -> Vec<Rule> {
    let before = [State(0), State(1)];
    vec![
        rule(CONFIRMING, &[State(0)], 1, None),
        Rule { external: true, ..rule(PAID, &before, 2, Some(PAY)) },
        Rule { external: true, ..rule(COMPLETED, &before, 2, Some(PAY)) },
        rule(SHIPPED, &[State(2)], 3, Some(SHIP)),
        rule(DELIVERED, &[State(3)], 4, None),
    ]
}

fn renewals() -> Vec<Rule> {
    let books = Some((RENEW, Occurrence::FromEvent));
    vec![Rule { event: RENEWED, from: States::ALL, to: State(1), books, external: true }]
}

fn entries() -> Vec<Rule> {
    vec![Rule { from: States::ALL, ..rule(RENEWED, &[], 1, None) }]
}

fn settings() -> Vec<Rule> {
    let set = |(to, event)| Rule { from: States::ALL, ..rule(event, &[], to, None) };
    (1..).zip(SET).map(set).collect()
}

fn steps() -> Vec<Rule> {
    let step = |(to, event): (u8, EventType)| rule(event, &[State(to - 1)], to, None);
    (1..).zip(SET).map(step).collect()
}
