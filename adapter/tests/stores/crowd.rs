//! Eight at once on one PostgreSQL, each with histories of its own on the same rows: whatever the order was,
//! nothing is claimed, accepted or booked twice.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use hookproof::{Clock, PgStore};
use hookproof_core::Millis;
use hookproof_sim::models::ORDER;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, TestRng, TestRunner},
};

use crate::{
    databases::{self, Effect, Probe},
    drive::Driver,
    ops::{Op, Step, history},
};

#[test]
fn eight_at_once_claim_accept_and_book_nothing_twice_in_postgresql() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut runner = TestRunner::new_with_rng(
        Config { failure_persistence: None, ..Config::default() },
        TestRng::deterministic_rng(Config::default().rng_algorithm),
    );
    let clock = Clock::fixed(START);
    let store = runtime.block_on(databases::postgres(clock.clone()));
    for _ in 0..ROUNDS {
        let histories: Vec<Vec<Op>> = (0..SESSIONS).map(|_| ops(&mut runner)).collect();
        runtime.block_on(databases::empty(&store));
        let sessions = histories.iter().map(|ops| session(&store, ops));
        let sessions = runtime.block_on(join_all(sessions));
        runtime.block_on(check(&store, &sessions));
    }
}

/// The operations of a history that need no time to pass, and no effect that is taken back.
fn ops(runner: &mut TestRunner) -> Vec<Op> {
    let steps = history().new_tree(runner).expect("a history").current();
    let each = steps.into_iter().flat_map(|step| match step {
        Step::Do(op) => vec![op],
        Step::Race(one, other) => vec![one, other],
    });
    each.filter_map(|op| match op {
        Op::Pass { .. } => None,
        Op::Work { which, roll, .. } => Some(Op::Work { which, effect: Effect::Made, roll }),
        op => Some(op),
    })
    .collect()
}

/// What somebody did, and what came of it.
struct Session {
    driver: Driver<PgStore>,
    answers: Vec<(Op, String)>,
}

/// Decides in a transaction of its own each time, so that every guard has somebody to fail for.
async fn session(store: &PgStore, ops: &[Op]) -> Session {
    let mut driver = Driver::new(store.clone(), ORDER);
    let mut answers = Vec::new();
    for op in ops {
        let decided = driver.decide_apart(op).await;
        answers.push((op.clone(), driver.finish_apart(decided).await));
    }
    Session { driver, answers }
}

async fn check(store: &PgStore, sessions: &[Session]) {
    let answers = || sessions.iter().flat_map(|session| &session.answers);
    let attempts = sessions.iter().flat_map(|session| &session.driver.attempts);
    once("S5: a claim is one worker's", attempts.map(|attempt| format!("{attempt:?}")));
    let jobs = sessions.iter().flat_map(|session| &session.driver.jobs);
    once("R7: a receipt is one worker's", jobs.map(|job| format!("{job:?}")));
    once(
        "S15: an event is published once",
        answers().filter_map(|(op, answer)| match op {
            Op::Publish { event, .. } if answer == "Ok(Accepted)" => Some(event.to_string()),
            _ => None,
        }),
    );
    let lines = store.lines().await;
    let effects = lines.iter().filter_map(|line| line.strip_prefix("effect "));
    let keys = effects.map(|line| line.split(" of ").next().unwrap_or_default().to_owned());
    once("R7: an operation has one effect", keys);
    let booked: Vec<i64> = sqlx::query_scalar("SELECT count(*) FROM hookproof_operations")
        .fetch_all(store.pool())
        .await
        .unwrap();
    let by_hand = lines.iter().filter(|line| line.starts_with("audit booked")).count();
    let effects = lines.iter().filter(|line| line.starts_with("effect ")).count();
    assert_eq!(
        booked,
        [(by_hand + effects) as i64],
        "R7: what is booked was made or booked by hand"
    );
    // In the suite copies of a delivery share their row's key, which is a conflict of the suite's making.
    let is_fault =
        |answer: &str| answer.contains("Err(Database") && !answer.contains("webhook_inbox_pkey");
    let faults: Vec<_> = answers().filter(|(_, answer)| is_fault(answer)).collect();
    assert!(faults.is_empty(), "nothing but conflicts comes of many at once: {faults:?}");
    let conflicts = answers().filter(|(_, answer)| answer.contains("Err(Conflict)")).count();
    assert!(conflicts > 0, "expected sessions that meet: give them fewer rows");
}

fn once(promise: &str, keys: impl Iterator<Item = String>) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for key in keys {
        *seen.entry(key).or_default() += 1;
    }
    let twice: BTreeSet<_> = seen.into_iter().filter(|(_, times)| *times > 1).collect();
    assert!(twice.is_empty(), "{promise}: {twice:?}");
}

const SESSIONS: usize = 8;
const ROUNDS: usize = 4;
const START: Millis = Millis(1_700_000_000_000);
