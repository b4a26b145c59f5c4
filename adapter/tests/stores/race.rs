//! Two sessions, stepped through every interleaving of lock, write, and commit or rollback of two plans that
//! were decided on the same rows. Whatever the order, it ends as one after the other would have.

use hookproof::{Bundle, Clock, Content, Keys, Letter, PgStore, Rows, Store};
use hookproof_core::{Millis, endpoint::Life, outbox::Ended, plan::Write};
use hookproof_sim::models::ORDER;
use sqlx::PgPool;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{
    databases::{self, Effect, Probe},
    drive::Driver,
    model::ModelStore,
    ops::{Op, Step},
};

#[test]
pub(crate) fn two_settles_of_one_delivery_are_one() {
    race("S5", &sent(), &settle(Ended::Acknowledged), &settle(Ended::Unknown));
}

#[test]
fn two_claims_of_one_delivery_are_one() {
    race("S5", &fanned_out(), &claim(), &claim());
}

#[test]
fn a_claim_never_sends_to_an_endpoint_that_was_just_paused() {
    race("S2", &fanned_out(), &claim(), &Op::Turn { endpoint: 0, life: Life::Paused });
}

#[test]
fn a_claim_that_cancels_holds_the_endpoint_that_it_only_read() {
    let gone = Step::Do(Op::Turn { endpoint: 0, life: Life::Unsubscribed });
    let setup = [fanned_out(), vec![gone]].concat();
    race("S2", &setup, &claim(), &Op::Turn { endpoint: 0, life: Life::Active });
}

#[test]
fn an_event_is_fanned_out_once() {
    race("S12", &published(), &Op::FanOut, &Op::FanOut);
}

#[test]
fn a_resend_and_a_cancel_do_not_both_happen() {
    race("S11", &fanned_out(), &Op::Resend { delivery: 0 }, &Op::Cancel { delivery: 0 });
}

#[test]
fn two_copies_of_a_delivery_make_one_receipt() {
    race("R4", &[], &receive(0), &Op::Receive { delivery: 0, other_body: true });
}

#[test]
fn two_workers_on_one_receipt_apply_it_once() {
    let setup = received(&[PAID]);
    race("R7", &setup, &work(0), &work(0));
}

#[test]
pub(crate) fn what_is_deferred_on_an_entity_that_just_moves_is_decided_again() {
    race("R9", &received(&[PAID, SHIPPED]), &work(0), &work(1));
}

#[test]
fn a_booking_by_hand_and_the_work_book_once() {
    race("R7", &received(&[PAID]), &work(0), &Op::Book { entity: 0, shipment: false });
}

#[test]
fn a_replay_and_a_purge_do_not_both_happen() {
    let finished = [Step::Do(work(0)), Step::Do(Op::Pass { ms: 2 })];
    let setup = [received(&[PAID]), finished.to_vec()].concat();
    race("R12", &setup, &Op::Replay { receipt: PAID }, &Op::Purge { receipt: PAID });
}

fn published() -> Vec<Step> {
    vec![Step::Do(Op::Publish { event: 0, other_body: false })]
}

fn fanned_out() -> Vec<Step> {
    [published(), vec![Step::Do(Op::FanOut)]].concat()
}

fn sent() -> Vec<Step> {
    [fanned_out(), vec![Step::Do(claim())]].concat()
}

fn received(deliveries: &[u128]) -> Vec<Step> {
    let mut steps: Vec<Step> = deliveries.iter().map(|d| Step::Do(receive(*d))).collect();
    steps.push(Step::Do(Op::Take { most: 9 }));
    steps
}

fn claim() -> Op {
    Op::Claim { most: 1, roll: 0 }
}

fn settle(ended: Ended) -> Op {
    Op::Settle { which: 0, ended, roll: 0 }
}

fn receive(delivery: u128) -> Op {
    Op::Receive { delivery, other_body: false }
}

fn work(which: usize) -> Op {
    Op::Work { which, effect: Effect::Made, roll: 0 }
}

/// Two deliveries about the first entity, of which the second waits for the first.
const PAID: u128 = 2;
const SHIPPED: u128 = 4;

/// When a session loaded what it decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    /// In its transaction, which has the rows locked since.
    Locks,
    /// Before it: only the guards stand between it and whoever came first.
    WasBefore,
}

/// How a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Commit,
    RollBack,
}

/// Which plans were carried out, and what is there then.
type Ending = ([Vec<bool>; 2], Rows, Vec<String>);

/// What is wrong names the promise that is broken.
fn race(promise: &str, setup: &[Step], one: &Op, other: &Op) {
    // One thread: among several, whoever looks for a waiting session keeps that session from running.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let clock = Clock::fixed(START);
        let mut driver = Driver::new(databases::postgres(clock.clone()).await, ORDER);
        for ends in
            [[End::Commit, End::Commit], [End::Commit, End::RollBack], [End::RollBack, End::Commit]]
        {
            let serial = [
                serially(setup, [one, other], ends, [0, 1]).await,
                serially(setup, [one, other], ends, [1, 0]).await,
            ];
            let loads = interleavings(3).into_iter().map(|order| (Load::Locks, order));
            let stale = interleavings(2).into_iter().map(|order| (Load::WasBefore, order));
            for (load, order) in loads.chain(stale) {
                clock.set(START);
                databases::empty(&driver.store).await;
                driver = Driver::new(driver.store, ORDER);
                play(&mut driver, &clock, setup).await;
                let found = interleaved(&driver, [one, other], load, ends, &order).await;
                assert!(
                    serial.contains(&found),
                    "{promise}: {load:?} {order:?} {ends:?}: expected one of {serial:#?}, found \
                     {found:#?}"
                );
            }
        }
    });
}

pub(crate) async fn play<S: Probe>(driver: &mut Driver<S>, clock: &Clock, setup: &[Step])
where
    Effect: hookproof_core::handler::Handler<S::Tx>,
{
    for step in setup {
        if let Step::Do(Op::Pass { ms }) = step {
            clock.set(clock.shows().expect("it is fixed") + *ms);
            continue;
        }
        let answer = driver.step(step).await;
        assert!(!answer.contains("Err("), "{step:?}: {answer}");
    }
}

/// Every order of so many steps of one session and as many of another.
fn interleavings(steps: u32) -> Vec<Vec<usize>> {
    (0_u32..1 << (2 * steps))
        .filter(|bits| bits.count_ones() == steps)
        .map(|bits| (0..2 * steps).map(|at| (bits >> at & 1) as usize).collect())
        .collect()
}

/// What the model makes of one after the other, decided on the same rows.
async fn serially(setup: &[Step], ops: [&Op; 2], ends: [End; 2], order: [usize; 2]) -> Ending {
    let clock = Clock::fixed(START);
    let mut driver: Driver<ModelStore> = Driver::new(databases::model(clock.clone()), ORDER);
    play(&mut driver, &clock, setup).await;
    let plans = [plans(&driver, ops[0]).await, plans(&driver, ops[1]).await];
    let mut done = [Vec::new(), Vec::new()];
    for at in order {
        let mut tx = driver.store.begin().await.unwrap();
        done[at] = driver.store.write_each(&mut tx, &bundles(&plans[at])).await.unwrap();
        match ends[at] {
            End::Commit => driver.store.commit(tx).await.unwrap(),
            End::RollBack => driver.store.rollback(tx).await.unwrap(),
        }
    }
    (done, driver.rows().await, driver.store.lines().await)
}

type Plans = Vec<(Vec<Write>, Option<Letter>)>;

async fn plans<S: Probe>(driver: &Driver<S>, op: &Op) -> Plans
where
    Effect: hookproof_core::handler::Handler<S::Tx>,
{
    let plans = driver.decide_apart(op).await.writes();
    assert!(plans.iter().any(|(writes, _)| !writes.is_empty()), "{op:?} decides something");
    plans
}

fn bundles(plans: &Plans) -> Vec<Bundle<'_>> {
    let content = |letter| Option::map_or(letter, Content::None, Content::Letter);
    plans.iter().map(|(writes, l)| Bundle { writes, content: content(l.as_ref()) }).collect()
}

async fn interleaved(
    driver: &Driver<PgStore>,
    ops: [&Op; 2],
    load: Load,
    ends: [End; 2],
    order: &[usize],
) -> Ending {
    let mut sessions = Vec::new();
    for (op, end) in ops.into_iter().zip(ends) {
        let plans = plans(driver, op).await;
        sessions.push(Session::start(driver.store.clone(), plans, load, end).await);
    }
    let mut turns = order.to_vec();
    while !turns.is_empty() {
        let at = turns.remove(0);
        let session = &mut sessions[at];
        if session.is_blocked && !session.has_come_through() {
            // Whoever holds the lock goes on first.
            let others_are_done = turns.iter().all(|turn| *turn == at);
            if others_are_done {
                session.come_through().await;
            } else {
                turns.push(at);
                continue;
            }
        }
        session.step(driver.store.pool()).await;
    }
    let mut done = Vec::new();
    for session in sessions {
        done.push(session.done().await);
    }
    let done = [done.remove(0), done.remove(0)];
    (done, driver.rows().await, driver.store.lines().await)
}

/// A session that takes one step each time it is told to.
struct Session {
    pid: i32,
    go: UnboundedSender<()>,
    came: UnboundedReceiver<()>,
    is_blocked: bool,
    task: tokio::task::JoinHandle<Vec<bool>>,
}

impl Session {
    async fn start(store: PgStore, plans: Plans, load: Load, end: End) -> Self {
        let (go, mut gone) = unbounded_channel::<()>();
        let (come, came) = unbounded_channel::<()>();
        let mut tx = store.begin().await.unwrap();
        let pid = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut *tx).await.unwrap();
        let task = tokio::spawn(async move {
            if load == Load::Locks {
                gone.recv().await.expect("a first step");
                store.load(&mut tx, &guarded(&plans)).await.unwrap();
                come.send(()).expect("somebody listens");
            }
            gone.recv().await.expect("a step to write in");
            let done = store.write_each(&mut tx, &bundles(&plans)).await.unwrap();
            come.send(()).expect("somebody listens");
            gone.recv().await.expect("a last step");
            match end {
                End::Commit => store.commit(tx).await.unwrap(),
                End::RollBack => store.rollback(tx).await.unwrap(),
            }
            come.send(()).expect("somebody listens");
            done
        });
        Self { pid, go, came, is_blocked: false, task }
    }

    /// Takes the next step, until it is through or waits for a lock.
    async fn step(&mut self, pool: &PgPool) {
        self.go.send(()).expect("the session lives");
        loop {
            tokio::select! {
                biased;
                came = self.came.recv() => return came.expect("the session lives"),
                waits = waits_for_a_lock(pool, self.pid) => if waits {
                    self.is_blocked = true;
                    return;
                }
            }
        }
    }

    fn has_come_through(&mut self) -> bool {
        let came = self.came.try_recv().is_ok();
        self.is_blocked &= !came;
        came
    }

    async fn come_through(&mut self) {
        self.came.recv().await.expect("the session lives");
        self.is_blocked = false;
    }

    async fn done(self) -> Vec<bool> {
        self.task.await.expect("the session ends")
    }
}

/// Whoever looks into `pg_locks` locks the table of locks, and many who do so without a pause keep
/// everybody else out of it for seconds. A session's own entry is read without a lock.
pub(crate) async fn waits_for_a_lock(pool: &PgPool, pid: i32) -> bool {
    let waits =
        "SELECT EXISTS (SELECT FROM pg_stat_get_activity($1) WHERE wait_event_type = 'Lock')";
    sqlx::query_scalar(waits).bind(pid).fetch_one(pool).await.unwrap()
}

/// The rows that a decision locks when it loads them.
fn guarded(plans: &Plans) -> Keys {
    let mut keys = Keys::default();
    for write in plans.iter().flat_map(|(writes, _)| writes) {
        match write {
            Write::Endpoint(put) if put.was.is_some() => keys.endpoints.push(put.row.id),
            Write::HoldEndpoint { id, .. } => keys.endpoints.push(*id),
            Write::Entity(put) if put.was.is_some() => keys.entities.push(put.row.id),
            Write::HoldEntity { id, .. } => keys.entities.push(*id),
            Write::Receipt(put) if put.was.is_some() => keys.receipts.push(put.row.id),
            Write::Purge { id, .. } => keys.receipts.push(*id),
            Write::Event(put) if put.was.is_some() => keys.events.push(put.row.id),
            Write::Delivery(put) if put.was.is_some() => keys.deliveries.push(put.row.id),
            _ => {}
        }
    }
    keys
}

const START: Millis = Millis(1_700_000_000_000);
