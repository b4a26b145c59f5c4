//! Which fault can hit which step, and what family it belongs to.

use super::{Ctx, NOBODY, Step, Task, Twist, World};
use crate::history::{Family, Side};

/// What can go wrong with a transaction that is about to commit.
const COMMITS: [Twist; 4] =
    [Twist::Serialization, Twist::CommitFails, Twist::AnswerLost, Twist::Die];
/// What can go wrong with a request on its way.
const REQUESTS: [Twist; 16] = [
    Twist::Drop,
    Twist::Duplicate,
    Twist::Delay,
    Twist::Reset,
    Twist::ForeignAck,
    Twist::EarlyAck,
    Twist::Hang,
    Twist::Refuse(500),
    Twist::OtherBytes,
    Twist::Redirect,
    Twist::Forge,
    Twist::Tamper,
    Twist::Replay,
    Twist::ReplayLate,
    Twist::Truncate,
    Twist::Relabel,
];
/// What can go wrong with a request to the external service.
const CALLS: [Twist; 5] =
    [Twist::Drop, Twist::Duplicate, Twist::Reset, Twist::Refuse(500), Twist::ActsSilently];

impl Twist {
    /// What can go wrong with a step, each named once.
    pub fn of(step: &Step, setup: &crate::setup::Setup) -> &'static [Self] {
        match step {
            Step::FanOut { .. } | Step::FetchCommit { .. } => &COMMITS,
            Step::ReceiveCommit { .. } => {
                &[Self::Serialization, Self::CommitFails, Self::AnswerLost, Self::Die, Self::Hang]
            }
            Step::Claim { .. }
            | Step::SettleCommit { .. }
            | Step::ReleaseCommit { .. }
            | Step::WorkClaim { .. }
            | Step::FailCommit { .. } => {
                &[Self::Serialization, Self::CommitFails, Self::AnswerLost]
            }
            Step::WorkCommit { .. } => &[
                Self::Serialization,
                Self::CommitFails,
                Self::AnswerLost,
                Self::Die,
                Self::HandlerFails,
                Self::HandlerInfrastructure,
            ],
            // A walk looks first, and commits in a step of its own.
            Step::Sweep { .. } if setup.terms.timely => &[],
            Step::PublishCommit { .. } | Step::Sweep { .. } | Step::SweepCommit { .. } => {
                &[Self::CommitFails, Self::AnswerLost]
            }
            Step::Request(parcel) if is_call(parcel.from, setup) => &CALLS,
            Step::Request(_) => &REQUESTS,
            Step::Response(_) => &[Self::Drop, Self::Reset],
            Step::Reply { .. } => &[Self::Die, Self::Slow],
            Step::SendAlert { .. } => &[Self::Die, Self::CommitFails],
            Step::Fetch { .. } => &[Self::Stale, Self::Mute, Self::Nonsense],
            Step::Publish { .. }
            | Step::PurgeCommit { .. }
            | Step::ResendCommit { .. }
            | Step::ReplayCommit { .. }
            | Step::CancelCommit { .. }
            | Step::TurnCommit { .. }
            | Step::Start { .. }
            | Step::Await { .. }
            | Step::Settle { .. }
            | Step::Release { .. }
            | Step::Receive { .. }
            | Step::Work { .. }
            | Step::Fail { .. }
            | Step::Restart { .. }
            | Step::Secret { .. } => &[],
        }
    }

    /// The family of faults that it belongs to where it hits this task.
    pub fn family(self, task: &Task, ctx: &Ctx<'_>) -> Family {
        self.family_at(task, ctx.setup)
    }

    /// [`Twist::family`] without the rest of a context.
    pub fn family_at(self, task: &Task, setup: &crate::setup::Setup) -> Family {
        match self {
            Self::Serialization => Family::Serialization,
            Self::CommitFails => Family::CommitFailed,
            Self::AnswerLost => Family::CommitAnswerLost,
            Self::Drop if matches!(task.step, Step::Response(_)) => Family::DropResponse,
            Self::Drop => Family::DropRequest,
            Self::Duplicate => Family::Duplicate,
            Self::Delay => Family::Delay,
            Self::Reset if matches!(task.step, Step::Response(_)) => Family::ResetResponse,
            Self::Reset => Family::ResetRequest,
            Self::ForeignAck => Family::ForeignAck,
            Self::EarlyAck => Family::EarlyAck,
            Self::Hang => Family::Hang,
            Self::Slow => Family::SlowReader,
            Self::Refuse(_) => Family::Refusal,
            Self::OtherBytes => Family::OtherBytes,
            Self::HandlerFails => Family::Poison,
            Self::HandlerInfrastructure => Family::HandlerInfrastructure,
            Self::Die => crash(task.owner, setup),
            Self::Stale => Family::StaleApi,
            Self::Mute | Self::Nonsense => Family::FailingApi,
            Self::ActsSilently => Family::ExternalTimeout,
            Self::Redirect => Family::Redirect,
            Self::Forge => Family::Forged,
            Self::Tamper => Family::Tampered,
            Self::Replay => Family::Replayed,
            Self::ReplayLate => Family::Stale,
            Self::Truncate => Family::Truncated,
            Self::Relabel => Family::UnsignedId,
        }
    }
}

/// The family of a process's crash.
pub fn crash(process: super::ProcessNo, setup: &crate::setup::Setup) -> Family {
    match World::side(process, setup) {
        Side::Sender => Family::CrashSender,
        Side::Receiver => Family::CrashReceiver,
    }
}

fn is_call(from: super::ProcessNo, setup: &crate::setup::Setup) -> bool {
    from != NOBODY && World::side(from, setup) == Side::Receiver
}
