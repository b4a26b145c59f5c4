//! The seal: what a plan gives out, and when. Its plans are made by decisions, as anybody's are.

use hookproof_core::{
    Digest, Id, Millis,
    outbox::{Published, publish},
    plan::{Outcome, Plan, Uncommitted, commit_each},
};

const REFUSALS: [(Outcome, Uncommitted); 3] = [
    (Outcome::Conflict, Uncommitted::Conflict),
    (Outcome::RolledBack, Uncommitted::RolledBack),
    (Outcome::Unknown, Uncommitted::Unknown),
];

fn plan(id: u128) -> Plan<Published> {
    publish(None, Id(id), Digest(5), Millis(1))
}

#[test]
fn a_transaction_gets_all_the_writes_of_its_plan() {
    let expected = plan(1).writes().to_vec();
    assert_eq!(expected.len(), 1);
    let committed = plan(1).commit(|writes| {
        assert_eq!(writes, expected);
        Outcome::Committed
    });
    assert_eq!(committed, Ok(Published::Accepted));
}

#[test]
fn nothing_but_a_commit_gives_anything_out() {
    for (outcome, uncommitted) in REFUSALS {
        assert_eq!(plan(1).commit(|_| outcome), Err(uncommitted));
    }
}

#[test]
fn of_a_batch_each_plan_has_its_own_outcome_in_order() {
    let plans = vec![plan(1), plan(2), plan(3), plan(4)];
    let released = commit_each(plans, |plans| {
        let ids: Vec<_> = plans.iter().map(|plan| plan.writes().to_vec()).collect();
        assert_eq!(ids, [1, 2, 3, 4].map(|id| plan(id).writes().to_vec()));
        vec![Outcome::Unknown, Outcome::Committed, Outcome::Conflict, Outcome::RolledBack]
    });
    assert_eq!(
        released,
        [
            Err(Uncommitted::Unknown),
            Ok(Published::Accepted),
            Err(Uncommitted::Conflict),
            Err(Uncommitted::RolledBack),
        ]
    );
}

#[test]
fn an_empty_batch_is_an_empty_answer() {
    assert_eq!(commit_each(Vec::<Plan<()>>::new(), |_| vec![]), []);
}

#[test]
#[should_panic(expected = "a store answers each plan once")]
fn a_store_that_leaves_a_plan_out_is_our_fault() {
    let _ = commit_each(vec![plan(1), plan(2)], |_| vec![Outcome::Committed]);
}
