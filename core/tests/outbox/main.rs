//! The sender's decisions, each held against the rows that it must write.

mod claim;
mod machine;
mod publish;
mod resend;
mod settle;

use hookproof_core::{
    Id, Millis, Reason,
    endpoint::{Endpoint, Lane, Life},
    ladder::Ladder,
    outbox::{Attempt, Claim, Delivery, Request, Stand, Subject},
    plan::{About, Outcome, Plan, Put, Write},
    profile::Profile,
};

/// When the delivery was made.
const MADE: Millis = Millis(1_000_000);
/// How long a claim keeps its slot: five seconds to start, ten to end.
const LEASE_MS: u64 = 15_000;

/// Three attempts, one minute and one hour apart.
fn profile() -> Profile {
    let ladder = Ladder::new(vec![60_000, 3_600_000]).expect("a short ladder");
    Profile { ladder, slots: 1, ..Profile::hookproof() }
}

fn made() -> Delivery {
    Delivery::made(Id(7), Subject::Event(Id(1)), Id(3), MADE)
}

fn standing(stand: Stand) -> Delivery {
    Delivery { rev: 4, attempt: 5, rung: 2, cycle: 3, fence: 6, stand, ..made() }
}

fn endpoint() -> Endpoint {
    Endpoint { rev: 8, ..Endpoint::registered(Id(3)) }
}

fn turned(life: Life) -> Endpoint {
    Endpoint { life, ..endpoint() }
}

fn lane(endpoint: Endpoint) -> Lane {
    Lane { endpoint, in_flight: 0 }
}

/// What a plan gives out once it is in.
fn committed<T>(plan: Plan<T>) -> T {
    plan.commit(|_| Outcome::Committed).unwrap_or_else(|_| unreachable!("it was committed"))
}

/// The delivery as a plan leaves it.
fn row<T>(plan: &Plan<T>) -> Delivery {
    let mut rows = plan.writes().iter().filter_map(|write| match write {
        Write::Delivery(put) => Some(put.row),
        _ => None,
    });
    rows.next().expect("a delivery is written")
}

/// Claims a due delivery on an idle lane.
fn claimed(delivery: &Delivery, now: Millis) -> (Delivery, Attempt) {
    let plan = delivery.claim(&lane(endpoint()), now, 0, &profile()).expect("due, and a free slot");
    let row = row(&plan);
    match committed(plan) {
        Claim::Send(attempt) => (row, attempt),
        other => panic!("expected the right to send, got {other:?}"),
    }
}

/// Claims it and starts its request at once.
fn requested(delivery: &Delivery, now: Millis) -> (Delivery, Request) {
    let (row, attempt) = claimed(delivery, now);
    (row, attempt.start(0, &profile()).expect("in time"))
}

fn put(was: u32, row: Delivery) -> Write {
    Write::Delivery(Put { was: Some(was), row })
}

fn held(endpoint: Endpoint) -> Write {
    Write::HoldEndpoint { id: endpoint.id, rev: endpoint.rev }
}

fn disabled(endpoint: Endpoint) -> Write {
    let row = Endpoint { rev: endpoint.rev + 1, life: Life::Disabled, ..endpoint };
    Write::Endpoint(Put { was: Some(endpoint.rev), row })
}

fn alert(reason: Reason) -> Write {
    Write::Alert { about: About::Delivery(Id(7)), reason }
}
