//! Nanoseconds a decision: rows in, a plan out, nothing else.
#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use hookproof_core::{
    Digest, Id, Millis,
    endpoint::{Endpoint, Lane},
    inbox::{Arrival, Reading, Receipt, receive},
    model::{Entity, Model, Proposal, State},
    outbox::{Attempt, Claim, Delivery, Ended, Request, Subject},
    plan::{Outcome, Plan, Write},
    profile::{InboxPolicy, Profile},
    work::{self, Ground, Job},
};
use hookproof_sim::models;

const NOW: Millis = Millis(1_000_000);

fn sending(criterion: &mut Criterion) {
    let profile = Profile::paymos();
    let lane = Lane { endpoint: Endpoint::registered(Id(7)), in_flight: 0 };
    let due = Delivery::made(Id(1), Subject::Event(Id(1)), Id(7), NOW);
    criterion.bench_function("claim", |bench| bench.iter(|| due.claim(&lane, NOW, 3, &profile)));

    let plan = due.claim(&lane, NOW, 3, &profile).expect("a due delivery");
    let claimed = written(&plan);
    let request = request(plan, &profile);
    criterion.bench_function("settle", |bench| {
        bench.iter(|| request.settle(&claimed, &lane.endpoint, Ended::Unknown, NOW, 3, &profile));
    });
}

fn receiving(criterion: &mut Criterion) {
    let policy = InboxPolicy::hookproof();
    let proposal = Proposal { entity: Id(9), event: models::PAID, occurrence: 0, version: 0 };
    let reading = Reading::Proposal(proposal);
    let arrival = Arrival { receipt: Id(4), digest: Digest(5), reading };
    criterion.bench_function("receive, new", |bench| {
        bench.iter(|| receive(None, &arrival, NOW, &policy));
    });
    let receipt = received(&receive(None, &arrival, NOW, &policy));
    criterion.bench_function("receive, duplicate", |bench| {
        bench.iter(|| receive(Some(&receipt), &arrival, NOW, &policy));
    });

    let (receipt, job) = job(&receipt, &policy);
    let models = models::all();
    let entity = Entity { id: Id(9), rev: 0, state: State(0), version: 0, projected: None };
    let outside = Some((Id(0), Id(4)));
    let ground = Ground { entity: &entity, model: order(&models), booked: false, outside };
    criterion.bench_function("work, applied", |bench| {
        bench.iter(|| job.work(&receipt, &ground, NOW, &policy));
    });
}

fn order(models: &[Model]) -> &Model {
    &models[usize::from(models::ORDER.0)]
}

fn request(plan: Plan<Claim>, profile: &Profile) -> Request {
    match plan.commit(|_| Outcome::Committed) {
        Ok(Claim::Send(attempt)) => started(attempt, profile),
        other => unreachable!("a due delivery on an open lane is sent, not {other:?}"),
    }
}

fn started(attempt: Attempt, profile: &Profile) -> Request {
    attempt.start(0, profile).expect("started at once")
}

fn written(plan: &Plan<Claim>) -> Delivery {
    let mut rows = plan.writes().iter().filter_map(|write| match write {
        Write::Delivery(put) => Some(put.row),
        _ => None,
    });
    rows.next().expect("a claim writes its delivery")
}

fn received<T>(plan: &Plan<T>) -> Receipt {
    let mut rows = plan.writes().iter().filter_map(|write| match write {
        Write::Receipt(put) => Some(put.row),
        _ => None,
    });
    rows.next().expect("a receipt is written")
}

fn job(receipt: &Receipt, policy: &InboxPolicy) -> (Receipt, Job) {
    let plan = receipt.claim(NOW, policy).expect("a due receipt");
    let claimed = received(&plan);
    match plan.commit(|_| Outcome::Committed) {
        Ok(work::Claim::Work(job)) => (claimed, job),
        other => unreachable!("a fresh receipt is worked, not {other:?}"),
    }
}

criterion_group!(decisions, sending, receiving);
criterion_main!(decisions);
