//! What the random driver may do, and how it is drawn.

use hookproof_core::{endpoint::Life, outbox::Ended};
use proptest::prelude::*;

use crate::databases::{DELIVERIES, ENTITIES, EVENTS, Effect, RECEIPTS, SUBSCRIBERS};

/// One thing that somebody does to a store.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Publish { event: u128, other_body: bool },
    FanOut,
    Claim { most: u16, roll: u64 },
    Settle { which: usize, ended: Ended, roll: u64 },
    Release { which: usize },
    Receive { delivery: u128, other_body: bool },
    Take { most: u16 },
    Work { which: usize, effect: Effect, roll: u64 },
    Replay { receipt: u128 },
    Purge { receipt: u128 },
    Resend { delivery: u128 },
    Cancel { delivery: u128 },
    Turn { endpoint: u128, life: Life },
    Change { endpoint: u128 },
    Book { entity: u128, shipment: bool },
    Pass { ms: u64 },
}

/// A step of a history.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Decided and committed in one transaction.
    Do(Op),
    /// Both decided on the same rows, then committed one after the other.
    Race(Op, Op),
}

/// A history.
pub(crate) fn history() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 40..120)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => op().prop_map(Step::Do),
        1 => (op(), op()).prop_map(|(a, b)| Step::Race(a, b)),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let roll = || 0..10_000_u64;
    let which = || 0..4_usize;
    prop_oneof![
        3 => (0..EVENTS, prop::bool::weighted(0.2))
            .prop_map(|(event, other_body)| Op::Publish { event, other_body }),
        3 => Just(Op::FanOut),
        4 => (1..4_u16, roll()).prop_map(|(most, roll)| Op::Claim { most, roll }),
        4 => (which(), ended(), roll())
            .prop_map(|(which, ended, roll)| Op::Settle { which, ended, roll }),
        1 => which().prop_map(|which| Op::Release { which }),
        6 => (0..RECEIPTS, prop::bool::weighted(0.1))
            .prop_map(|(delivery, other_body)| Op::Receive { delivery, other_body }),
        4 => (1..4_u16).prop_map(|most| Op::Take { most }),
        8 => (which(), effect(), roll())
            .prop_map(|(which, effect, roll)| Op::Work { which, effect, roll }),
        1 => (0..RECEIPTS).prop_map(|receipt| Op::Replay { receipt }),
        1 => (0..RECEIPTS).prop_map(|receipt| Op::Purge { receipt }),
        1 => (0..DELIVERIES).prop_map(|delivery| Op::Resend { delivery }),
        1 => (0..DELIVERIES).prop_map(|delivery| Op::Cancel { delivery }),
        1 => (0..=SUBSCRIBERS, life()).prop_map(|(endpoint, life)| Op::Turn { endpoint, life }),
        1 => (0..=SUBSCRIBERS).prop_map(|endpoint| Op::Change { endpoint }),
        1 => (0..ENTITIES, any::<bool>())
            .prop_map(|(entity, shipment)| Op::Book { entity, shipment }),
        4 => prop_oneof![Just(1), Just(1_000), Just(20_000), Just(60_000), Just(300_000),
            Just(90_000_000)].prop_map(|ms| Op::Pass { ms }),
    ]
}

fn ended() -> impl Strategy<Value = Ended> {
    prop_oneof![
        2 => Just(Ended::Acknowledged),
        2 => Just(Ended::Refused { retry_after_ms: None }),
        1 => Just(Ended::Refused { retry_after_ms: Some(90_000) }),
        1 => Just(Ended::Gone),
        2 => Just(Ended::Unknown),
    ]
}

fn effect() -> impl Strategy<Value = Effect> {
    prop_oneof![4 => Just(Effect::Made), 2 => Just(Effect::Fails), 1 => Just(Effect::Unfounded)]
}

fn life() -> impl Strategy<Value = Life> {
    prop_oneof![
        4 => Just(Life::Active),
        1 => Just(Life::Paused),
        1 => Just(Life::Disabled),
        1 => Just(Life::Unsubscribed),
    ]
}
