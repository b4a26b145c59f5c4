//! The receiver's work, each decision held against the rows that it must write.

mod apply;
mod claim;
mod defer;
mod fail;
mod machine;
mod refetch;

use hookproof_core::{
    Digest, Id, Millis, Reason,
    inbox::{End, Receipt, Stand},
    model::{
        Early, Entity, EventType, Kind, Model, Occurrence, Operation, Order, Proposal, Rule, State,
        States, Transition,
    },
    plan::{About, Outcome, Plan, Put, Write},
    profile::InboxPolicy,
    work::{Claim, Ground, Job, Worked},
};

const NOW: Millis = Millis(1_000_000_000);
const MINUTE: u64 = 60_000;
const DAY: u64 = 86_400_000;

const NEW: State = State(0);
const CONFIRMING: State = State(1);
const PAID: State = State(2);
const SHIPPED: State = State(3);

/// The event types are numbered like the states that they lead to.
fn event(to: State) -> EventType {
    EventType(u16::from(to.0))
}

fn rule(from: &[State], to: State, books: bool) -> Rule {
    let books = books.then_some((Transition(u16::from(to.0)), Occurrence::Once));
    Rule { event: event(to), from: States::of(from), to, books, external: false }
}

/// An order of a shop: a payment may come before its confirmation, a shipment is an effect outside.
fn shop(early: Early) -> Model {
    let rules = vec![
        rule(&[NEW], CONFIRMING, false),
        rule(&[NEW, CONFIRMING], PAID, true),
        Rule { external: true, ..rule(&[PAID], SHIPPED, true) },
    ];
    Model::declare(4, Kind::Latest, Order::Graph, early, rules).expect("a chain")
}

/// A chain without effects or leaps.
fn chain(kind: Kind, early: Early) -> Model {
    let rules = vec![
        rule(&[NEW], CONFIRMING, false),
        rule(&[CONFIRMING], PAID, false),
        rule(&[PAID], SHIPPED, false),
    ];
    Model::declare(4, kind, Order::Graph, early, rules).expect("a chain")
}

/// Each state may follow each, as its numbers say.
fn numbered(kind: Kind, order: Order, early: Early) -> Model {
    let books = (kind == Kind::Ledger).then_some((Transition(9), Occurrence::FromEvent));
    let rules = [NEW, CONFIRMING, PAID, SHIPPED].map(|to| Rule {
        event: event(to),
        from: States::ALL,
        to,
        books,
        external: false,
    });
    Model::declare(4, kind, order, early, rules.to_vec()).expect("a numbered order")
}

fn entity(state: State) -> Entity {
    Entity { id: Id(2), rev: 8, state, version: 5, projected: None }
}

fn ground<'a>(entity: &'a Entity, model: &'a Model) -> Ground<'a> {
    Ground { entity, model, booked: false, outside: Some((Id(40), Id(41))) }
}

fn proposal(to: State, version: u64) -> Proposal {
    Proposal { entity: Id(2), event: event(to), occurrence: 77, version }
}

/// A receipt that waits for its first work.
fn queued(to: State, version: u64) -> Receipt {
    Receipt {
        id: Id(7),
        rev: 4,
        digest: Digest(5),
        proposal: Some(proposal(to, version)),
        stand: Stand::Queued { wake: NOW },
        strikes: 0,
        fence: 0,
        applied: false,
        cap: NOW,
        received: Millis(0),
    }
}

fn policy() -> InboxPolicy {
    InboxPolicy::hookproof()
}

fn committed<T>(plan: Plan<T>) -> T {
    plan.commit(|_| Outcome::Committed).unwrap_or_else(|_| unreachable!("it was committed"))
}

/// The receipt as a plan leaves it.
fn row<T>(plan: &Plan<T>) -> Receipt {
    let mut rows = plan.writes().iter().filter_map(|write| match write {
        Write::Receipt(put) => Some(put.row),
        _ => None,
    });
    rows.next().expect("a receipt is written")
}

/// Claims a due receipt.
fn claimed(receipt: &Receipt, now: Millis) -> (Receipt, Job) {
    let plan = receipt.claim(now, &policy()).expect("due");
    let row = row(&plan);
    match committed(plan) {
        Claim::Work(job) => (row, job),
        Claim::SetAside => panic!("expected the right to work"),
    }
}

/// Claims the receipt and decides on this ground.
fn work(receipt: &Receipt, ground: &Ground<'_>) -> (Receipt, Plan<Worked>) {
    let (row, job) = claimed(receipt, NOW);
    (row, job.work(&row, ground, NOW, &policy()).expect("still held"))
}

fn put(was: u32, row: Receipt) -> Write {
    Write::Receipt(Put { was: Some(was), row })
}

/// A receipt as its claim left it, done.
fn done(claimed: Receipt, end: End) -> Write {
    let applied = claimed.applied || end == End::Applied;
    put(5, Receipt { rev: 6, strikes: 0, applied, stand: Stand::Done(end), ..claimed })
}

fn changed(entity: Entity, row: Entity) -> Write {
    Write::Entity(Put { was: Some(entity.rev), row: Entity { rev: entity.rev + 1, ..row } })
}

fn held(entity: Entity) -> Write {
    Write::HoldEntity { id: entity.id, rev: entity.rev }
}

fn in_review(claimed: Receipt, reason: Reason) -> [Write; 2] {
    let alert = Write::Alert { about: About::Receipt(claimed.id), reason };
    let stand = Stand::InReview(reason);
    [put(claimed.rev, Receipt { rev: claimed.rev + 1, stand, ..claimed }), alert]
}

fn operation(to: State) -> Operation {
    Operation { entity: Id(2), transition: Transition(u16::from(to.0)), occurrence: 0 }
}

const WAKE: Write = Write::Wake { entity: Id(2) };
