//! The small worlds that are explored.
//!
//! Their times are multiples of one unit: a request is given up when its claim could be taken over, so
//! that both can happen in either order, and few instants differ.

use hookproof_core::{
    Id, Millis,
    ladder::Ladder,
    model::{
        Early, EventType, Kind, Model, Occurrence, Operation, Order, Rule, State, States,
        Transition,
    },
    profile::{InboxPolicy, Profile},
};

use super::{Budget, Small};
use crate::{
    oracle::{Scheme, Terms},
    setup::{Deed, Form, Lags, Odds, Planned, Setup},
};

/// The worlds of every run.
pub fn default_worlds() -> Vec<Small> {
    vec![one_delivery(), two_endpoints(), takeover()]
}

/// The worlds of a deep run.
pub fn deep_worlds() -> Vec<Small> {
    vec![out_of_order(), deferral(), takeovers(), booking()]
}

/// One delivery, with relays and workers that race for it and everything that goes wrong once.
pub(super) fn one_delivery() -> Small {
    Small {
        name: "one delivery, two racing workers; crash, drop, duplicate, lost commit answer",
        setup: setup(&[PAID], 1),
        budget: Budget {
            crashes: 1,
            drops: 1,
            duplicates: 1,
            lost_answers: 1,
            ..Budget::default()
        },
        deeds: vec![],
        racers: 2,
        unreduced: false,
    }
}

/// One event for two endpoints of one receiver, and a person who sends again.
pub(super) fn two_endpoints() -> Small {
    Small {
        name: "one event to two endpoints, an operator's resend",
        setup: setup(&[PAID], 2),
        budget: Budget { drops: 1, ..Budget::default() },
        deeds: vec![Deed::Resend { delivery: 0 }],
        racers: 1,
        unreduced: false,
    }
}

/// A worker that stands still and goes on as if nothing were.
fn takeover() -> Small {
    Small {
        name: "a takeover under a live worker; crash, lost commit answer",
        budget: Budget { stalls: 1, crashes: 1, lost_answers: 1, ..Budget::default() },
        ..one_delivery()
    }
}

fn out_of_order() -> Small {
    Small {
        name: "paid and shipped out of order; crash, duplicate",
        setup: setup(&[PAID, SHIPPED], 1),
        budget: Budget { crashes: 1, duplicates: 1, ..Budget::default() },
        deeds: vec![],
        racers: 1,
        unreduced: false,
    }
}

pub(super) fn deferral() -> Small {
    Small {
        name: "a deferral racing the apply that it waits for",
        setup: setup(&[PAID, SHIPPED], 1),
        budget: Budget {
            lost_answers: 1,
            failed_commits: 1,
            handler_failures: 1,
            ..Budget::default()
        },
        deeds: vec![],
        racers: 2,
        unreduced: false,
    }
}

fn takeovers() -> Small {
    let mut setup = setup(&[PAID], 1);
    setup.terms.profile.ladder = ladder(&[UNIT, UNIT]);
    Small {
        name: "three claims with two takeovers",
        setup,
        budget: Budget { stalls: 2, ..Budget::default() },
        deeds: vec![],
        racers: 2,
        unreduced: false,
    }
}

pub(super) fn booking() -> Small {
    let operation = Operation { entity: Id(0), transition: PAY, occurrence: 0 };
    Small {
        name: "a manual booking racing a worker",
        setup: setup(&[PAID], 1),
        budget: Budget {
            crashes: 1,
            lost_answers: 1,
            stalls: 1,
            handler_failures: 1,
            ..Budget::default()
        },
        deeds: vec![Deed::Book { operation }],
        racers: 2,
        unreduced: false,
    }
}

/// A world of these events about one order, in that order, for this many endpoints.
pub(super) fn setup(kinds: &[EventType], endpoints: u32) -> Setup {
    let planned = |kind: &EventType| Planned {
        at: Millis(0),
        takes_ms: 0,
        entity: 0,
        kind: *kind,
        occurrence: 0,
        version: 0,
        form: Form::Plain,
        poison: 0,
        rolls_back: false,
        calls: 1,
    };
    Setup {
        seed: 0,
        terms: terms(),
        events: kinds.iter().map(planned).collect(),
        endpoints,
        relays: 2,
        ingresses: 1,
        workers: 2,
        deeds: vec![],
        odds: Odds::NONE,
        quiet: Millis(u64::MAX),
        lags: Lags::NONE,
    }
}

fn terms() -> Terms {
    let profile = Profile {
        ladder: ladder(&[UNIT]),
        time_limit_ms: UNIT,
        start_limit_ms: 0,
        retry_after_max_ms: UNIT,
        resend_window_ms: u64::MAX,
        ..Profile::hookproof()
    };
    let inbox = InboxPolicy {
        ladder: ladder(&[UNIT]),
        work_limit_ms: UNIT,
        defer_timer_ms: UNIT,
        defer_cap_ms: 2 * UNIT,
        pause_ms: UNIT,
        retention_ms: None,
    };
    // No signature grows stale: a key does not say how old one is.
    let scheme = Scheme { tolerance_ms: u64::MAX, ..Scheme::hookproof() };
    Terms {
        profile,
        inbox,
        scheme,
        models: vec![order()],
        model_of: vec![0],
        poll_ms: 0,
        skew_ms: 0,
        timely: false,
    }
}

/// An order that is paid by one of two events, and shipped: its effects are in its own database.
fn order() -> Model {
    let rule = |event, from, to, books| Rule {
        event,
        from: States::of(&[State(from)]),
        to: State(to),
        books: Some((books, Occurrence::Once)),
        external: false,
    };
    let rules = vec![rule(PAID, 0, 1, PAY), rule(COMPLETED, 0, 1, PAY), rule(SHIPPED, 1, 2, SHIP)];
    Model::declare(3, Kind::Latest, Order::Graph, Early::Wait, rules).expect("this table converges")
}

fn ladder(waits_ms: &'static [u64]) -> Ladder {
    Ladder::new(waits_ms).expect("a short ladder")
}

/// All times are multiples of this, and waits so short have no jitter.
const UNIT: u64 = 10;
/// The order is paid.
pub(super) const PAID: EventType = EventType(1);
/// The checkout is complete: the same operation.
pub(super) const COMPLETED: EventType = EventType(2);
/// The order is shipped.
pub(super) const SHIPPED: EventType = EventType(3);
/// The operation of a payment.
pub(super) const PAY: Transition = Transition(1);
const SHIP: Transition = Transition(2);
