//! A driver without a decision of its own: it loads, asks the core, and commits.

use hookproof::{
    Content, Error, Keys, Letter, Message, Rows, commit, commit_each, commit_work, ident,
};
use hookproof_core::{
    Id, Millis, Reason,
    endpoint::Lane,
    handler::{Handler, HandlerError},
    inbox::{self, Arrival, Receipt, Reply, Warrant},
    ladder::Ladder,
    model::{Model, Operation},
    outbox::{self, Attempt, Delivery, Ended, Resent, Stand},
    plan::{Plan, Write},
    profile::{InboxPolicy, OnGone, Profile},
    work::{self, Ground, Job, Worked},
};
use hookproof_sim::models::{self, ModelNo};

use crate::{
    databases::{DELIVERIES, ENTITIES, EVENTS, Effect, OUTSIDE, Probe, RECEIPTS, SUBSCRIBERS},
    ops::{Op, Step},
    samples::{entity_of, letter, message, reading},
};

/// A relay, a receiver and a worker on one store, with what they hold in memory.
pub(crate) struct Driver<S: Probe> {
    pub(crate) store: S,
    profile: Profile,
    policy: InboxPolicy,
    model: Model,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) jobs: Vec<Job>,
}

/// What was decided, sealed.
pub(crate) enum Decided {
    /// There was nothing to decide, and why.
    Nothing(String),
    FannedOut(Vec<Plan<usize>>),
    Claimed(Vec<Plan<outbox::Claim>>),
    Settled(Plan<Stand>),
    Received(Plan<Reply>, Letter),
    Taken(Vec<Plan<work::Claim>>),
    Worked {
        job: Job,
        receipt: Receipt,
        plan: Plan<Worked>,
        effect: Effect,
        roll: u64,
    },
    Replayed(Plan<Receipt>),
    Resent(Plan<Resent>),
    Done(Plan<()>),
    Published(Message),
}

impl<S: Probe> Driver<S>
where
    Effect: Handler<S::Tx>,
{
    pub(crate) fn new(store: S, model: ModelNo) -> Self {
        let profile = Profile {
            ladder: Ladder::new(vec![1_000, 60_000]).expect("short"),
            slots: 2,
            interval_ms: 1_000,
            burst: 2,
            on_gone: OnGone::Disable,
            ..Profile::hookproof()
        };
        let policy = InboxPolicy {
            ladder: Ladder::new(vec![60_000]).expect("short"),
            retention_ms: Some(1),
            ..InboxPolicy::hookproof()
        };
        let model = models::all().swap_remove(model.0.into());
        Self { store, profile, policy, model, attempts: Vec::new(), jobs: Vec::new() }
    }

    /// Takes a step, and says what came of it in words that every store must share.
    pub(crate) async fn step(&mut self, step: &Step) -> String {
        match step {
            Step::Do(op) => {
                let mut tx = self.store.begin().await.unwrap();
                let decided = self.decide(&mut tx, op).await;
                self.finish(tx, decided).await
            }
            Step::Race(one, other) => {
                let (one, other) = (self.decide_apart(one).await, self.decide_apart(other).await);
                let first = self.finish_apart(one).await;
                let second = self.finish_apart(other).await;
                format!("{first} | {second}")
            }
        }
    }

    /// Decides in a transaction that ends without a write.
    pub(crate) async fn decide_apart(&self, op: &Op) -> Decided {
        let mut tx = self.store.begin().await.unwrap();
        let decided = self.decide(&mut tx, op).await;
        self.store.rollback(tx).await.unwrap();
        decided
    }

    pub(crate) async fn finish_apart(&mut self, decided: Decided) -> String {
        let tx = self.store.begin().await.unwrap();
        self.finish(tx, decided).await
    }

    /// Every row.
    pub(crate) async fn rows(&self) -> Rows {
        let mut tx = self.store.begin().await.unwrap();
        let ids = |n: u128| (0..n).map(Id).collect();
        let keys = Keys {
            endpoints: ids(SUBSCRIBERS + 1),
            entities: ids(ENTITIES),
            receipts: ids(RECEIPTS),
            events: ids(EVENTS),
            deliveries: ids(DELIVERIES),
        };
        let rows = self.store.load(&mut tx, &keys).await.unwrap();
        self.store.rollback(tx).await.unwrap();
        rows
    }

    async fn decide(&self, tx: &mut S::Tx, op: &Op) -> Decided {
        let decided = match *op {
            Op::Publish { event, other_body } => {
                Some(Decided::Published(message(event, other_body)))
            }
            Op::FanOut => Some(self.fan_out(tx).await),
            Op::Claim { most, roll } => Some(self.claim(tx, most, roll).await),
            Op::Settle { which, ended, roll } => self.settle(tx, which, ended, roll).await,
            Op::Release { which } => self.release(tx, which).await,
            Op::Receive { delivery, other_body } => {
                Some(self.receive(tx, delivery, other_body).await)
            }
            Op::Take { most } => Some(self.take(tx, most).await),
            Op::Work { which, effect, roll } => self.work(tx, which, effect, roll).await,
            Op::Replay { receipt } => self.replay(tx, Id(receipt)).await,
            Op::Purge { receipt } => {
                let (row, now) = self.receipt(tx, Id(receipt)).await;
                row.and_then(|row| row.purge(now, &self.policy)).map(Decided::Done)
            }
            Op::Resend { delivery } => self.resend(tx, Id(delivery)).await,
            Op::Cancel { delivery } => {
                let (row, _) = self.delivery(tx, Id(delivery)).await;
                row.and_then(|row| row.cancel(Reason::Operator)).map(Decided::Done)
            }
            Op::Turn { endpoint, life } => {
                let rows = self.load(tx, Keys { endpoints: vec![Id(endpoint)], ..none() }).await;
                let now = self.store.now(tx).await.unwrap();
                rows.endpoints[0].turn(life, now).map(Decided::Done)
            }
            Op::Change { endpoint } => {
                let rows = self.load(tx, Keys { endpoints: vec![Id(endpoint)], ..none() }).await;
                rows.endpoints[0].change().map(Decided::Done)
            }
            Op::Book { entity, shipment } => {
                let transition = if shipment { models::SHIP } else { models::PAY };
                let operation = Operation { entity: Id(entity), transition, occurrence: 0 };
                Some(Decided::Done(work::book(operation, PERSON)))
            }
            Op::Pass { .. } => None,
        };
        decided.unwrap_or_else(|| Decided::Nothing("nothing to decide".to_owned()))
    }

    async fn fan_out(&self, tx: &mut S::Tx) -> Decided {
        let now = self.store.now(tx).await.unwrap();
        let mut events = self.store.due_events(tx, 100, now).await.unwrap();
        events.sort_by_key(|event| event.id);
        let mut plans = Vec::new();
        for event in events {
            let subscribers = self.store.subscribers(tx, event.id).await.unwrap();
            let key = |endpoint: Id| Id(event.id.0 * SUBSCRIBERS + endpoint.0);
            let with_keys: Vec<_> = subscribers.iter().map(|e| (*e, key(e.id))).collect();
            plans.extend(event.fan_out(&with_keys, now));
        }
        Decided::FannedOut(plans)
    }

    async fn claim(&self, tx: &mut S::Tx, most: u16, roll: u64) -> Decided {
        let lanes = self.store.lanes(tx, None, 100).await.unwrap();
        let now = self.store.now(tx).await.unwrap();
        let mut plans = Vec::new();
        for mut lane in lanes {
            let id = lane.endpoint.id;
            let mut due = self.store.due_deliveries(tx, &[(id, 100)], now).await.unwrap();
            due.sort_by_key(|delivery| delivery.id);
            for row in due.iter().take(most.into()) {
                let Some(plan) = row.claim(&lane, now, roll, &self.profile) else { continue };
                lane = after(lane, &plan);
                plans.push(plan);
            }
        }
        Decided::Claimed(plans)
    }

    async fn settle(
        &self,
        tx: &mut S::Tx,
        which: usize,
        ended: Ended,
        roll: u64,
    ) -> Option<Decided> {
        let attempt = picked(&self.attempts, which)?;
        let endpoint = self.store.endpoint(tx, attempt.ticket().endpoint).await.unwrap()?;
        let (row, now) = self.delivery(tx, attempt.ticket().delivery).await;
        let request = attempt.start(0, &self.profile).expect("at once");
        request.settle(&row?, &endpoint, ended, now, roll, &self.profile).map(Decided::Settled)
    }

    async fn release(&self, tx: &mut S::Tx, which: usize) -> Option<Decided> {
        let attempt = picked(&self.attempts, which)?;
        let (row, now) = self.delivery(tx, attempt.ticket().delivery).await;
        attempt.release(&row?, now).map(Decided::Done)
    }

    async fn receive(&self, tx: &mut S::Tx, delivery: u128, other_body: bool) -> Decided {
        let letter = letter(delivery, other_body);
        let found =
            self.store.receipt_of(tx, &letter.source, &letter.account, &letter.delivery).await;
        let digest = ident::digest(letter.payload.as_bytes());
        let arrival = Arrival { receipt: Id(delivery), digest, reading: reading(delivery) };
        let now = self.store.now(tx).await.unwrap();
        let plan = inbox::receive(found.unwrap().as_ref(), &arrival, now, &self.policy);
        Decided::Received(plan, letter)
    }

    async fn take(&self, tx: &mut S::Tx, most: u16) -> Decided {
        let now = self.store.now(tx).await.unwrap();
        let mut due = self.store.due_receipts(tx, 100, now).await.unwrap();
        due.sort_by_key(|receipt| receipt.id);
        let due = due.iter().take(most.into());
        Decided::Taken(due.filter_map(|receipt| receipt.claim(now, &self.policy)).collect())
    }

    async fn work(
        &self,
        tx: &mut S::Tx,
        which: usize,
        effect: Effect,
        roll: u64,
    ) -> Option<Decided> {
        let job = picked(&self.jobs, which)?;
        let entity = entity_of(job.receipt().0);
        let keys = Keys { entities: vec![entity], receipts: vec![job.receipt()], ..none() };
        let rows = self.load(tx, keys).await;
        let receipt = *rows.receipts.first()?;
        let booked = match receipt.proposal.and_then(|it| self.model.operation(&it)) {
            Some(operation) => self.store.is_booked(tx, operation).await.unwrap(),
            None => false,
        };
        let outside = Some((OUTSIDE, Id(EVENTS * SUBSCRIBERS + entity.0)));
        let ground = Ground { entity: &rows.entities[0], model: &self.model, booked, outside };
        let now = self.store.now(tx).await.unwrap();
        let plan = job.work(&receipt, &ground, now, &self.policy)?;
        Some(Decided::Worked { job, receipt, plan, effect, roll })
    }

    async fn replay(&self, tx: &mut S::Tx, receipt: Id) -> Option<Decided> {
        let (row, now) = self.receipt(tx, receipt).await;
        let warrant = Warrant {
            by: PERSON,
            person_allowed: true,
            source_authorised: true,
            secret_unrevoked: true,
        };
        Some(match row?.replay(&warrant, now, &self.policy) {
            Ok(plan) => Decided::Replayed(plan),
            Err(refused) => Decided::Nothing(refused.to_string()),
        })
    }

    async fn resend(&self, tx: &mut S::Tx, delivery: Id) -> Option<Decided> {
        let endpoint = match delivery.0.checked_sub(EVENTS * SUBSCRIBERS) {
            Some(_) => OUTSIDE,
            None => Id(delivery.0 % SUBSCRIBERS),
        };
        let keys = Keys { endpoints: vec![endpoint], deliveries: vec![delivery], ..none() };
        let rows = self.load(tx, keys).await;
        let now = self.store.now(tx).await.unwrap();
        let row = rows.deliveries.first()?;
        Some(match row.resend(&rows.endpoints[0], PERSON, now, &self.profile) {
            Ok(plan) => Decided::Resent(plan),
            Err(refused) => Decided::Nothing(refused.to_string()),
        })
    }

    async fn load(&self, tx: &mut S::Tx, keys: Keys) -> Rows {
        self.store.load(tx, &keys).await.unwrap()
    }

    async fn delivery(&self, tx: &mut S::Tx, id: Id) -> (Option<Delivery>, Millis) {
        let rows = self.load(tx, Keys { deliveries: vec![id], ..none() }).await;
        (rows.deliveries.first().copied(), self.store.now(tx).await.unwrap())
    }

    async fn receipt(&self, tx: &mut S::Tx, id: Id) -> (Option<Receipt>, Millis) {
        let rows = self.load(tx, Keys { receipts: vec![id], ..none() }).await;
        (rows.receipts.first().copied(), self.store.now(tx).await.unwrap())
    }

    async fn finish(&mut self, tx: S::Tx, decided: Decided) -> String {
        let store = &self.store;
        match decided {
            Decided::Nothing(why) => why,
            Decided::FannedOut(plans) => show(&commit_each(store, tx, plans, &[]).await),
            Decided::Claimed(plans) => {
                let claims = commit_each(store, tx, plans, &[]).await;
                let sends = claims.iter().flatten().filter_map(|claim| match claim {
                    outbox::Claim::Send(attempt) => Some(*attempt),
                    outbox::Claim::Failed | outbox::Claim::Cancelled => None,
                });
                self.attempts.extend(sends);
                show(&claims)
            }
            Decided::Settled(plan) => show(&commit(store, tx, plan, Content::None).await),
            Decided::Received(plan, letter) => {
                show(&commit(store, tx, plan, Content::Letter(&letter)).await)
            }
            Decided::Taken(plans) => {
                let claims = commit_each(store, tx, plans, &[]).await;
                let jobs = claims.iter().flatten().filter_map(|claim| match claim {
                    work::Claim::Work(job) => Some(*job),
                    work::Claim::SetAside => None,
                });
                self.jobs.extend(jobs);
                show(&claims)
            }
            Decided::Worked { job, receipt, plan, effect, roll } => {
                match commit_work(store, tx, plan, &receipt, &effect).await {
                    Err(Error::Handler(error)) => self.fail(job, &error, roll).await,
                    worked => show(&worked),
                }
            }
            Decided::Replayed(plan) => show(&commit(store, tx, plan, Content::None).await),
            Decided::Resent(plan) => show(&commit(store, tx, plan, Content::None).await),
            Decided::Done(plan) => show(&commit(store, tx, plan, Content::None).await),
            Decided::Published(message) => {
                let mut tx = tx;
                let published = store.publish(&mut tx, &message).await;
                store.commit(tx).await.unwrap();
                show(&published)
            }
        }
    }

    async fn fail(&self, job: Job, error: &HandlerError, roll: u64) -> String {
        let mut tx = self.store.begin().await.unwrap();
        let (row, now) = self.receipt(&mut tx, job.receipt()).await;
        let plan = row.and_then(|row| job.fail(&row, error.fault(), now, roll, &self.policy));
        let plan = plan.expect("nobody took it over meanwhile");
        show(&commit(&self.store, tx, plan, Content::None).await)
    }
}

impl Decided {
    /// The writes of each of its plans, and the letter that is stored beside one.
    pub(crate) fn writes(&self) -> Vec<(Vec<Write>, Option<Letter>)> {
        fn each<T>(plans: &[Plan<T>]) -> Vec<(Vec<Write>, Option<Letter>)> {
            plans.iter().map(|plan| (plan.writes().to_vec(), None)).collect()
        }
        match self {
            Self::Nothing(_) | Self::Published(_) => Vec::new(),
            Self::FannedOut(plans) => each(plans),
            Self::Claimed(plans) => each(plans),
            Self::Settled(plan) => each(std::slice::from_ref(plan)),
            Self::Received(plan, letter) => vec![(plan.writes().to_vec(), Some(letter.clone()))],
            Self::Taken(plans) => each(plans),
            Self::Worked { plan, .. } => each(std::slice::from_ref(plan)),
            Self::Replayed(plan) => each(std::slice::from_ref(plan)),
            Self::Resent(plan) => each(std::slice::from_ref(plan)),
            Self::Done(plan) => each(std::slice::from_ref(plan)),
        }
    }
}

/// The lane as a claim leaves it, for the next one of the batch.
fn after(lane: Lane, plan: &Plan<outbox::Claim>) -> Lane {
    let moved = plan.writes().iter().find_map(|write| match write {
        Write::Endpoint(put) => Some(put.row),
        _ => None,
    });
    let starts = plan.writes().iter().any(|write| {
        matches!(write, Write::Delivery(put) if matches!(put.row.stand, Stand::Claimed { .. }))
    });
    Lane { endpoint: moved.unwrap_or(lane.endpoint), in_flight: lane.in_flight + u16::from(starts) }
}

fn picked<T: Copy>(held: &[T], which: usize) -> Option<T> {
    held.len().checked_sub(1 + which % held.len().max(1)).map(|at| held[at])
}

fn show(result: &impl std::fmt::Debug) -> String {
    format!("{result:?}")
}

fn none() -> Keys {
    Keys::default()
}

/// Who does things by hand.
const PERSON: Id = Id(77);
