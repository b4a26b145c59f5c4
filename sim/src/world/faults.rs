//! Which fault can hit which step, and what family it belongs to.

use hookproof_core::{
    Id,
    outbox::{Delivery, Subject},
};

use super::{Ctx, NOBODY, Step, Task, Twist, World, work::model_of};
use crate::{
    dice::Site,
    history::{Family, Side},
};

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
            Step::FanOut { .. } => &[
                Self::Serialization,
                Self::CommitFails,
                Self::AnswerLost,
                Self::Die,
                Self::TakenId,
            ],
            Step::FetchCommit { .. } => &COMMITS,
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
                Self::TakenId,
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
            Self::TakenId => Family::IdDrawnTwice,
        }
    }
}

impl World {
    /// The id of another delivery, for a host that draws it again; `None` where the step makes no delivery,
    /// or there is no other.
    pub fn taken_id(&self, step: &Step, ctx: &Ctx<'_>) -> Option<Id> {
        let (side, at) = match step {
            Step::FanOut { event } => (Side::Sender, event.id),
            Step::WorkCommit { row, entity, booked: false, .. } => {
                let rule = model_of(entity, ctx).rule(row.proposal?.event)?;
                (Side::Receiver, rule.external.then_some(row.id)?)
            }
            _ => return None,
        };
        let own = |other: &&Delivery| match other.subject {
            Subject::Event(event) => event == at,
            Subject::Effect(_) => other.id == at,
        };
        let mut others = self.db(side).deliveries.iter().flatten().filter(|other| !own(other));
        let many = others.clone().count() as u64;
        let site = Site::new(TAKEN, at.0 as u32, self.now.0 as u32, 0);
        others.nth(ctx.dice.below(site, many.max(1)) as usize).map(|other| other.id)
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

const TAKEN: u8 = 0x8c;
