//! A claim that was taken over is nobody's any more (S5).

use hookproof::Clock;
use hookproof_core::{Millis, handler::Handler, outbox::Ended};
use hookproof_sim::models::ORDER;

use crate::{
    databases::{self, Effect, Probe},
    drive::Driver,
    ops::{Op, Step},
    race::play,
};

async fn a_worker_whose_claim_was_taken_over_settles_nothing<S: Probe>(store: S, clock: Clock)
where
    Effect: Handler<S::Tx>,
{
    let mut driver = Driver::new(store, ORDER);
    let claim = || Step::Do(Op::Claim { most: 1, roll: 0 });
    let publish = Step::Do(Op::Publish { event: 1, other_body: false });
    let lease_runs_out = Step::Do(Op::Pass { ms: 300_000 });
    play(&mut driver, &clock, &[publish, Step::Do(Op::FanOut), claim(), lease_runs_out, claim()])
        .await;
    let settle = |which| {
        Step::Do(Op::Settle { which, ended: Ended::Refused { retry_after_ms: None }, roll: 0 })
    };
    let late = driver.step(&settle(1)).await;
    assert_eq!(late, "nothing to decide", "S5: the first claim is over");
    let own = driver.step(&settle(0)).await;
    assert!(own.starts_with("Ok("), "S5: the second is its worker's: {own}");
}

#[tokio::test]
pub(crate) async fn a_worker_whose_claim_was_taken_over_settles_nothing_in_postgresql() {
    let clock = Clock::fixed(START);
    let store = databases::postgres(clock.clone()).await;
    a_worker_whose_claim_was_taken_over_settles_nothing(store, clock).await;
}

#[tokio::test]
pub(crate) async fn a_worker_whose_claim_was_taken_over_settles_nothing_in_sqlite() {
    let clock = Clock::fixed(START);
    let (store, _folder) = databases::sqlite(clock.clone()).await;
    a_worker_whose_claim_was_taken_over_settles_nothing(store, clock).await;
}

const START: Millis = Millis(1_700_000_000_000);
