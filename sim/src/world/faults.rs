//! Which fault can hit which step, and what family it belongs to.

use hookproof_core::{
    Id,
    outbox::{Delivery, Subject},
};

use super::{Ctx, NOBODY, Step, Task, Twist, World, address, work::model_of};
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
pub const CALLS: [Twist; 5] =
    [Twist::Drop, Twist::Duplicate, Twist::Reset, Twist::Refuse(500), Twist::ActsSilently];

/// A kind of step, by its number in [`address`]: what it and its row are called, what its second number
/// counts, and what can go wrong with it.
#[derive(Debug)]
pub struct Kind {
    /// What it is called.
    pub name: &'static str,
    /// What its row is called.
    pub row: &'static str,
    /// What its second number is called; empty: it has none.
    pub which: &'static str,
    /// What can go wrong with it, each named once.
    pub twists: &'static [Twist],
}

const fn kind(
    name: &'static str,
    row: &'static str,
    which: &'static str,
    twists: &'static [Twist],
) -> Kind {
    Kind { name, row, which, twists }
}

/// The kinds of steps, by number.
pub static KINDS: [Kind; 32] = [
    kind("publish", "event", "call", &[]),
    kind("fan-out", "event", "revision", &FAN_OUTS),
    kind("sweep", "event", "", &[]),
    kind("claim", "delivery", "revision", &WRITES),
    kind("start", "delivery", "claim", &[]),
    kind("await", "delivery", "claim", &[]),
    kind("settle", "delivery", "claim", &[]),
    kind("settle-commit", "delivery", "claim", &WRITES),
    kind("release", "delivery", "claim", &[]),
    kind("release-commit", "delivery", "claim", &WRITES),
    kind("request", "delivery", COPIES, &REQUESTS),
    kind("response", "delivery", "claim", &[Twist::Drop, Twist::Reset]),
    kind("receive", "delivery", COPIES, &[]),
    kind("receive-commit", "delivery", COPIES, &RECEIPTS),
    kind("reply", "delivery", COPIES, &[Twist::Die, Twist::Slow]),
    kind("work-claim", "receipt", "revision", &WRITES),
    kind("work", "receipt", "claim", &[]),
    kind("work-commit", "receipt", "claim", &WORKS),
    kind("fetch", "receipt", "claim", &[Twist::Stale, Twist::Mute, Twist::Nonsense]),
    kind("fetch-commit", "receipt", "claim", &COMMITS),
    kind("fail", "receipt", "claim", &[]),
    kind("fail-commit", "receipt", "claim", &WRITES),
    kind("alert", "alert", "side", &[Twist::Die, Twist::CommitFails]),
    kind("restart", "process", "", &[]),
    kind("purge-commit", "receipt", "revision", &[]),
    kind("publish-commit", "event", "call", &SAID),
    kind("secret", "endpoint", "turn", &[]),
    kind("resend-commit", "delivery", "revision", &[]),
    kind("replay-commit", "receipt", "revision", &[]),
    kind("cancel-commit", "delivery", "revision", &[]),
    kind("turn-commit", "endpoint", "revision", &[]),
    kind("sweep-commit", "event", "revision", &SAID),
];

/// What the second number of a request counts: claims, and copies of the request within one.
pub const COPIES: &str = "claim and copy";
/// What can go wrong with a transaction whose process is not looked at.
const WRITES: [Twist; 3] = [Twist::Serialization, Twist::CommitFails, Twist::AnswerLost];
/// What can go wrong with a transaction that no other can hinder.
const SAID: [Twist; 2] = [Twist::CommitFails, Twist::AnswerLost];
const RECEIPTS: [Twist; 5] =
    [Twist::Serialization, Twist::CommitFails, Twist::AnswerLost, Twist::Die, Twist::Hang];
const FAN_OUTS: [Twist; 5] =
    [Twist::Serialization, Twist::CommitFails, Twist::AnswerLost, Twist::Die, Twist::TakenId];
const WORKS: [Twist; 7] = [
    Twist::Serialization,
    Twist::CommitFails,
    Twist::AnswerLost,
    Twist::Die,
    Twist::HandlerFails,
    Twist::HandlerInfrastructure,
    Twist::TakenId,
];

impl Twist {
    /// What can go wrong with a step, each named once.
    pub fn of(step: &Step, setup: &crate::setup::Setup) -> &'static [Self] {
        match step {
            // In a small world it looks and commits in one.
            Step::Sweep { .. } if !setup.terms.timely => &SAID,
            Step::Request(parcel) if is_call(parcel.from, setup) => &CALLS,
            step => KINDS[usize::from(address(step).0)].twists,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Serialization => "serialization",
            Self::CommitFails => "commit-fails",
            Self::AnswerLost => "answer-lost",
            Self::Drop => "drop",
            Self::Duplicate => "duplicate",
            Self::Delay => "delay",
            Self::Reset => "reset",
            Self::ForeignAck => "foreign-ack",
            Self::EarlyAck => "early-ack",
            Self::Hang => "hang",
            Self::Slow => "slow",
            Self::Refuse(_) => "refuse",
            Self::OtherBytes => "other-bytes",
            Self::HandlerFails => "handler-fails",
            Self::HandlerInfrastructure => "handler-infrastructure",
            Self::Die => "die",
            Self::Stale => "stale",
            Self::Mute => "mute",
            Self::Nonsense => "nonsense",
            Self::ActsSilently => "acts-silently",
            Self::Redirect => "redirect",
            Self::Forge => "forge",
            Self::Tamper => "tamper",
            Self::Replay => "replay",
            Self::ReplayLate => "replay-late",
            Self::Truncate => "truncate",
            Self::Relabel => "relabel",
            Self::TakenId => "taken-id",
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
        others.nth(ctx.chance.below(site, many.max(1)) as usize).map(|other| other.id)
    }
}

/// The family of a process's crash.
pub fn crash(process: super::ProcessNo, setup: &crate::setup::Setup) -> Family {
    match World::side(process, setup) {
        Side::Sender => Family::CrashSender,
        Side::Receiver => Family::CrashReceiver,
    }
}

pub(super) fn is_call(from: super::ProcessNo, setup: &crate::setup::Setup) -> bool {
    from != NOBODY && World::side(from, setup) == Side::Receiver
}

const TAKEN: u8 = 0x8c;
