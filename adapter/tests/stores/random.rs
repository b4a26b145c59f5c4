//! Random histories: the same answers and the same rows from every store.

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeSet,
};

use hookproof::Clock;
use hookproof_core::{Millis, handler::Handler};
use hookproof_sim::models::PROJECTED;
use proptest::{
    prelude::*,
    test_runner::{Config, TestRng, TestRunner},
};
use tokio::runtime::{Builder, Runtime};

use crate::{
    databases::{self, Effect, Probe},
    drive::Driver,
    ops::{Op, Step, history},
};

/// Histories a run. A failing one is shrunk and printed.
const CASES: u32 = 48;
/// `PROPTEST_MAX_SHRINK_ITERS` may ask for fewer.
const SHRINKS_MAX: u32 = 300;

#[test]
fn sqlite_does_what_the_model_does() {
    compare(|runtime, clock, steps, seen| {
        let (store, _folder) = runtime.block_on(databases::sqlite(clock.clone()));
        runtime.block_on(in_lockstep(databases::model(clock.clone()), store, clock, steps, seen))
    });
}

#[test]
fn postgresql_does_what_the_model_does() {
    let made = OnceCell::new();
    compare(|runtime, clock, steps, seen| {
        let store = made.get_or_init(|| runtime.block_on(databases::postgres(clock.clone())));
        runtime.block_on(databases::empty(store));
        let model = databases::model(clock.clone());
        runtime.block_on(in_lockstep(model, store.clone(), clock, steps, seen))
    });
}

/// Runs the same histories every time, and asserts that they have reached what they are there for.
fn compare(case: impl Fn(&Runtime, &Clock, &[Step], &Seen) -> Result<(), TestCaseError>) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let clock = Clock::fixed(Millis(START_MS));
    let seen = Seen::default();
    let config = Config {
        cases: CASES,
        max_shrink_iters: Config::default().max_shrink_iters.min(SHRINKS_MAX),
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let outcome = TestRunner::new_with_rng(config, rng).run(&history(), |steps| {
        clock.set(Millis(START_MS));
        case(&runtime, &clock, &steps, &seen)
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let seen = seen.into_inner();
    let missed: Vec<_> = REACHED.iter().filter(|word| !seen.contains(**word)).collect();
    assert!(missed.is_empty(), "expected histories that reach {missed:?}: draw more of them");
}

/// The words of [`REACHED`] that an answer had.
type Seen = RefCell<BTreeSet<&'static str>>;

async fn in_lockstep<M: Probe, S: Probe>(
    model: M,
    store: S,
    clock: &Clock,
    steps: &[Step],
    seen: &Seen,
) -> Result<(), TestCaseError>
where
    Effect: Handler<M::Tx> + Handler<S::Tx>,
{
    let (mut model, mut database) = (Driver::new(model, PROJECTED), Driver::new(store, PROJECTED));
    for step in steps {
        if let Step::Do(Op::Pass { ms }) = step {
            clock.set(clock.shows().expect("it is fixed") + *ms);
            continue;
        }
        let (expected, found) = (model.step(step).await, database.step(step).await);
        seen.borrow_mut().extend(REACHED.iter().filter(|word| found.contains(**word)));
        prop_assert_eq!(expected, found, "the answer to {:?}", step);
        prop_assert_eq!(model.rows().await, database.rows().await, "the rows after {:?}", step);
        let (expected, found) = (model.store.lines().await, database.store.lines().await);
        prop_assert_eq!(expected, found, "the lines after {:?}", step);
    }
    Ok(())
}

/// What a run must have come across to say anything.
const REACHED: [&str; 25] = [
    "Err(Conflict)",
    "Accepted",
    "Duplicate",
    "KeyReused",
    "OtherBytes",
    "Ok(2)",
    "Send(",
    "Ok(Failed)",
    "Ok(Cancelled)",
    "Ok(Acknowledged)",
    "Ok(Pending",
    "Ok(Failed(Gone))",
    "Opened",
    "PulledForward",
    "Ok(Work(",
    "Ok(SetAside)",
    "Done(Applied)",
    "Done(AlreadyBooked)",
    "Done(Overtaken)",
    "Deferred",
    "SetAside(DeferralCap)",
    "SetAside(Failing)",
    "Retrying",
    "Ok(Receipt",
    "waiting for work already",
];

/// Any instant will do.
const START_MS: u64 = 1_700_000_000_000;
