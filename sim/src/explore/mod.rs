//! Every interleaving of a small world, with a shortest counterexample.
//!
//! The explorer drives the very same [`crate::world::World`] as the random walks do, on the same core, and judges
//! each transition with the same oracle. What differs is who chooses: here everything that can happen
//! next is tried. Each state is a key ([`crate::world::pack`], with what the oracle remembers and
//! what is left of the budgets), kept whole, so that no two states are ever taken for one. Once a
//! breach was found, or where one is expected, the search is breadth-first, so that its breach is a
//! shortest one; it comes with its history.
//!
//! # What can happen
//!
//! Any task in flight is taken, in any order, plainly or with a fault that the budget still pays for;
//! a process dies; a process looks at a due row; a person does what the world offers; or time moves to
//! the next wake or deadline. A request that waits for its answer gives up at its deadline and not
//! before; everything else may happen at any time, or much later: that a task is still there when time
//! moves is a stall, and stalls have a budget. Time takes only instants at which something becomes due.
//!
//! # What is not tried, because the outcome is the same
//!
//! These reductions (`reduce`) take certain steps at once instead of in any order. Each is cross-checked
//! by a test that explores a smaller world with and without them, and finds the same ends.
//!
//! - *A relay or a worker that died is up again at once.* One that is down does nothing, and one that
//!   is up need not do anything.
//! - *An alert that was committed is sent at once.* It touches its own row alone, nobody else reads
//!   that, and the row says until then that it was not sent.
//! - *A request that arrived looks for its receipt at once.* Both steps change no row. Whatever
//!   comes between them could as well come before the first, since what it finds later is what it
//!   would find after a conflict; a crash between them leaves what a crash after them leaves.
//! - *An answer for which nobody waits is lost at once*: nobody will ever wait for it again.
//! - *A transaction whose guard is already broken conflicts at once.* Revisions only grow, so it will
//!   conflict whenever it runs; until it loads its rows again it changes nothing. With a wrong line
//!   switched on this is not so sure, and it is not done.
//! - *A worker that lost its claim finds that out at once*, for the same reason: fences only grow.
//! - *How often a conflict was met is forgotten.* It is counted so that a process gives up in the end;
//!   within a small budget of faults there are never that many.
//! - *Once no process can die any more, it does not matter whose a task is* (with no wrong line on).

mod action;
mod reduce;
mod search;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod worlds;

use std::collections::BTreeSet;

use hookproof_core::profile::{InboxPolicy, Profile};

pub use action::{Action, Row};
use search::Order;
pub use worlds::{deep_worlds, default_worlds};

use crate::{
    dice::{Chance, Dice},
    handler::OneEffect,
    history::Line,
    oracle::{Danger, Oracle, Terms},
    promise::Promise,
    rogue::Rogue,
    setup::{Deed, Setup},
    world::Ctx,
};

/// A small world: what it is made of, and how much may go wrong.
#[derive(Clone, Debug)]
pub struct Small {
    /// What it is called.
    pub name: &'static str,
    /// What it is made of. Its deeds, odds and lags are not looked at.
    pub setup: Setup,
    /// How often each fault may happen.
    pub budget: Budget,
    /// What people may do, once each, at any time or never. At most eight.
    pub deeds: Vec<Deed>,
    /// How many processes may be about to claim one row at once.
    pub racers: u8,
    /// Whether steps that commute are left in every order too.
    pub unreduced: bool,
}

/// How often each fault may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// A process dies, at any boundary.
    pub crashes: u8,
    /// A request or a response is lost.
    pub drops: u8,
    /// A request arrives twice.
    pub duplicates: u8,
    /// A commit is in, and its answer is lost.
    pub lost_answers: u8,
    /// A commit is rolled back by the database.
    pub failed_commits: u8,
    /// A handler fails.
    pub handler_failures: u8,
    /// Time moves on while something is under way.
    pub stalls: u8,
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// At most this many states.
    pub states: u64,
    /// At most about this many bytes of keys, and of the states of one level.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: STATES_MAX, bytes: BYTES_MAX }
    }
}

/// What an exploration found.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The states.
    pub states: u64,
    /// The transitions between them, all judged.
    pub transitions: u64,
    /// The states in which nothing more happens by itself, each judged as an end.
    pub ends: u64,
    /// How many bytes the keys of the states take.
    pub bytes: u64,
    /// Whether every reachable state was visited. If not, a limit was hit.
    pub exhausted: bool,
    /// The first breach.
    pub breach: Option<Counterexample>,
    /// How often each promise was in danger, over all transitions. Of two ways to one state the first
    /// alone is followed, and which that is may depend on the number of threads.
    pub danger: Dangers,
    /// How the rows can stand in the end, each way once.
    pub outcomes: BTreeSet<Vec<u8>>,
}

/// A shortest history that breaks a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The promise.
    pub promise: Promise,
    /// What happened, in one sentence.
    pub what: String,
    /// The history, in the published form, up to the line that breaks it.
    pub lines: Vec<Line>,
    /// What was chosen, one a transition.
    pub actions: Vec<Action>,
}

/// Counts of danger over many histories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dangers([u64; Promise::ALL.len()]);

impl Default for Dangers {
    fn default() -> Self {
        Self([0; Promise::ALL.len()])
    }
}

impl Dangers {
    /// How often this promise was in danger.
    pub fn of(&self, promise: Promise) -> u64 {
        self.0[promise as usize]
    }

    /// Takes in what an oracle has counted since it was last asked.
    fn count(&mut self, oracle: &mut Oracle<'_>) {
        let danger = oracle.take_danger();
        if danger == Danger::default() {
            return;
        }
        for promise in Promise::CHECKED {
            self.0[promise as usize] += u64::from(danger.of(promise));
        }
    }

    fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

/// Explores a small world with this wrong line or none, on `jobs` threads. `progress` is told now and
/// then how many states there are so far.
///
/// What is found does not depend on the number of threads, unless a limit was hit.
pub fn explore(
    small: &Small,
    rogue: Option<Rogue>,
    limits: Limits,
    jobs: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Explored {
    let run = Run::new(small, rogue);
    if rogue.is_none() {
        let explored = search::search(&run, limits, Order::Depth, jobs, progress);
        if explored.breach.is_none() {
            return explored;
        }
    }
    search::search(&run, limits, Order::Breadth, 1, progress)
}

/// An exploration's constants.
struct Run<'a> {
    small: &'a Small,
    rogue: Option<Rogue>,
    /// The sender's choices as it runs them.
    profile: Profile,
    /// The receiver's.
    inbox: InboxPolicy,
}

impl<'a> Run<'a> {
    fn new(small: &'a Small, rogue: Option<Rogue>) -> Self {
        let Setup { terms, relays, ingresses, .. } = &small.setup;
        for ladder in [&terms.profile.ladder, &terms.inbox.ladder] {
            let plain = ladder.waits_ms().iter().sum::<u64>();
            assert!(
                ladder.longest() == plain,
                "waits are so short here that nothing is rolled for"
            );
        }
        assert!(*ingresses == 1, "which ingress gets a request is rolled for elsewhere");
        assert!(terms.profile.resend_window_ms == u64::MAX, "a resend window never ends here");
        assert!(terms.inbox.retention_ms.is_none(), "keys are kept for ever here");
        assert!(terms.scheme.tolerance_ms == u64::MAX, "no signature grows stale here");
        assert!(!terms.timely, "steps take any time here");
        assert!(*relays <= 2, "the names of more than two relays that look alike are not tried");
        assert!(small.deeds.len() <= 8, "deeds are a set of bits");
        assert!(small.deeds.iter().all(is_explored), "a key says nothing of backups and clocks");
        let wrong = rogue.and_then(|rogue| rogue.misconfigures(&terms.profile));
        let wrong_inbox = rogue.and_then(|rogue| rogue.misconfigures_inbox(&terms.inbox));
        Self {
            small,
            rogue,
            profile: wrong.unwrap_or_else(|| terms.profile.clone()),
            inbox: wrong_inbox.unwrap_or_else(|| terms.inbox.clone()),
        }
    }

    fn setup(&self) -> &'a Setup {
        &self.small.setup
    }

    fn terms(&self) -> &'a Terms {
        &self.small.setup.terms
    }

    fn with<T>(&self, lines: &mut Vec<Line>, then: impl FnOnce(&mut Ctx<'_>) -> T) -> T {
        then(&mut Ctx {
            setup: self.setup(),
            profile: &self.profile,
            inbox: &self.inbox,
            rogue: self.rogue,
            chance: Chance::Seed(Dice::new(0)),
            lines,
            handler: &mut OneEffect,
        })
    }
}

/// Whether a deed changes nothing but what keys tell of.
fn is_explored(deed: &Deed) -> bool {
    match deed {
        Deed::Resend { .. }
        | Deed::Cancel { .. }
        | Deed::ResendAll
        | Deed::Replay { .. }
        | Deed::ReplayAll
        | Deed::Repair
        | Deed::Book { .. }
        | Deed::Endpoint { .. }
        | Deed::ChangeEndpoint { .. }
        | Deed::RegisterAgain { .. }
        | Deed::Crash { .. }
        | Deed::Upgrade { .. }
        | Deed::PowerLoss { .. }
        | Deed::Database { .. }
        | Deed::Writable { .. }
        | Deed::Pool { .. }
        | Deed::Cut { .. }
        | Deed::Heal
        | Deed::EndpointDown { .. }
        | Deed::Target { .. } => true,
        Deed::Clock { .. }
        | Deed::Skew { .. }
        | Deed::Backup { .. }
        | Deed::Restore { .. }
        | Deed::Purge
        | Deed::Rotate { .. }
        | Deed::Revoke { .. } => false,
    }
}

/// The most states of one exploration, unless set.
const STATES_MAX: u64 = 60_000_000;
/// The most bytes of one exploration, unless set.
const BYTES_MAX: u64 = 12 << 30;
