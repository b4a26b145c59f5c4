//! Situations: which fault met which step, and how far the work was that it is about.
//!
//! A count of faults says little: a lost response to the first request is another thing than one to the
//! last. So every situation that can come about is declared here, and a run counts how often each did. One
//! that never did is a gap in what the run has shown; one that is not declared is a fault in the table.

use core::fmt;

use hookproof_core::{inbox::Stand, outbox::Ended, work::Fault};

use crate::{
    setup::Setup,
    world::{CALLS, EFFECT, KINDS, Step, Task, Twist, place},
};

/// A fault, the step that it met, and the state of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Situation {
    step: u8,
    met: u8,
    state: u8,
}

/// A fault as a step meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// Its process dies before it.
    Crash,
    /// Its process stands still before it.
    Stall,
    /// Something goes wrong with it.
    Twist(Twist),
}

impl Situation {
    /// How many numbers there are for [`Situation::number`].
    pub const COUNT: usize = 1 << 13;

    /// The situation in which a task meets a fault.
    pub fn of(task: &Task, met: Met, setup: &Setup) -> Self {
        let (step, row, _) = place(&task.step, task.owner, setup);
        let outside = row & EFFECT > 0;
        let twists = Twist::of(&task.step, setup);
        let same = |known: &Twist| core::mem::discriminant(known);
        let met = match met {
            Met::Crash => 0,
            Met::Stall => 1,
            Met::Twist(twist) => {
                let at = twists.iter().position(|known| same(known) == same(&twist));
                2 + at.unwrap_or(0) as u8
            }
        };
        let state = if outside { OUTSIDE } else { state(&task.step, setup) };
        Self { step, met, state }
    }

    /// A small number of its own.
    pub fn number(self) -> usize {
        usize::from(self.step) << 8 | usize::from(self.met) << 3 | usize::from(self.state)
    }

    /// Every situation that can come about in a walk.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (step, kind) in (0..).zip(&KINDS) {
            let Some(Told { states, process, outside }) = told(step) else { continue };
            let states =
                (0..).zip(states).map(|(state, _)| state).chain(outside.then_some(OUTSIDE));
            for state in states {
                let twists = if state == OUTSIDE && kind.name == "request" {
                    CALLS.len()
                } else {
                    kind.twists.len()
                };
                let met = (0..2 + twists as u8).filter(|met| process || *met >= 2);
                all.extend(met.map(|met| Self { step, met, state }));
            }
        }
        all
    }
}

impl fmt::Display for Situation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = &KINDS[usize::from(self.step)];
        let outside = self.state == OUTSIDE;
        let twists = if outside && kind.name == "request" { &CALLS[..] } else { kind.twists };
        let met = match self.met {
            0 => "crash",
            1 => "stall",
            met => twists.get(usize::from(met) - 2).map_or("?", |twist| twist.name()),
        };
        let states = told(self.step).map_or(&[""][..], |told| told.states);
        let state = if outside {
            "outside"
        } else {
            states.get(usize::from(self.state)).map_or("?", |state| state)
        };
        write!(f, "{met} at {}{}{state}", kind.name, if state.is_empty() { "" } else { ", " })
    }
}

/// What is told of a kind of step.
struct Told {
    /// The states of its work.
    states: &'static [&'static str],
    /// Whether a process takes it, which can die and stand still.
    process: bool,
    /// Whether the relay of effects outside takes it too.
    outside: bool,
}

/// What is told of the steps; `None` for those of people and of time, which nothing goes wrong with.
fn told(step: u8) -> Option<Told> {
    let (states, process, outside): (&[&str], bool, bool) = match KINDS[usize::from(step)].name {
        "publish-commit" => (&["first call", "again"], false, false),
        "fan-out" | "sweep" | "sweep-commit" => (&[""], true, false),
        "claim" => (&["first", "again", "used up"], true, true),
        "settle-commit" => (&["acknowledged", "refused", "gone", "unknown"], true, true),
        "start" | "await" | "settle" | "release" | "release-commit" => {
            (&["first claim", "later claim"], true, true)
        }
        "request" | "response" => (&["first claim", "later claim"], false, true),
        "receive-commit" => (&["new", "known"], true, false),
        "work-claim" => (&["queued", "deferred", "retrying"], true, false),
        "receive" | "reply" | "work" | "work-commit" | "fetch" | "fetch-commit" => {
            (&["first claim", "later claim"], true, false)
        }
        "fail" | "fail-commit" => (&["the event's fault", "the infrastructure's"], true, false),
        "alert" => (&["sender", "receiver"], true, false),
        _ => return None,
    };
    Some(Told { states, process, outside })
}

fn state(step: &Step, setup: &Setup) -> u8 {
    let later = |fence: u32| u8::from(fence > 1);
    match step {
        Step::PublishCommit { call, .. } => u8::from(*call > 0),
        Step::Claim { row, .. } if row.attempt == 0 => 0,
        Step::Claim { row, .. } => 1 + u8::from(row.is_used_up(&setup.terms.profile)),
        Step::SettleCommit { ended, .. } => match ended {
            Ended::Acknowledged => 0,
            Ended::Refused { .. } => 1,
            Ended::Gone => 2,
            Ended::Unknown => 3,
        },
        Step::Start { attempt, .. }
        | Step::Release { attempt }
        | Step::ReleaseCommit { attempt, .. } => later(attempt.ticket().fence),
        Step::Await { request } | Step::Settle { request, .. } => later(request.ticket().fence),
        Step::Request(parcel) | Step::Receive { parcel } | Step::Reply { parcel, .. } => {
            later(parcel.ticket.fence)
        }
        Step::Response(answer) => later(answer.ticket.fence),
        Step::ReceiveCommit { found, .. } => u8::from(found.is_some()),
        Step::WorkClaim { row, .. } => match row.stand {
            Stand::Deferred { .. } => 1,
            Stand::Retrying { .. } => 2,
            Stand::Queued { .. } | Stand::Done(_) | Stand::Ignored | Stand::InReview(_) => 0,
        },
        Step::Work { job }
        | Step::WorkCommit { job, .. }
        | Step::Fetch { job }
        | Step::FetchCommit { job, .. } => later(job.fence()),
        Step::Fail { fault, .. } | Step::FailCommit { fault, .. } => {
            u8::from(matches!(fault, Fault::Infrastructure))
        }
        Step::SendAlert { side, .. } => *side as u8,
        Step::Publish { .. }
        | Step::FanOut { .. }
        | Step::Sweep { .. }
        | Step::SweepCommit { .. }
        | Step::Restart { .. }
        | Step::Secret { .. }
        | Step::PurgeCommit { .. }
        | Step::ResendCommit { .. }
        | Step::ReplayCommit { .. }
        | Step::CancelCommit { .. }
        | Step::TurnCommit { .. } => 0,
    }
}

/// The state of what goes to the external service.
const OUTSIDE: u8 = 7;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::prove::{Unwatched, walk_seeds};

    #[test]
    fn no_situation_comes_about_that_is_not_declared() {
        let all = Situation::all();
        let names: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
        let numbers: BTreeSet<usize> = all.iter().map(|situation| situation.number()).collect();
        assert_eq!((names.len(), numbers.len()), (all.len(), all.len()));
        assert!(numbers.last().is_some_and(|last| *last < Situation::COUNT));
        let walks = walk_seeds(0..3_000, &[], None, None, 1, &Unwatched);
        assert_eq!(walks.tally.undeclared(), 0);
        let met = all.iter().filter(|situation| walks.tally.met(**situation) > 0);
        assert!(met.count() > all.len() / 2);
    }
}
