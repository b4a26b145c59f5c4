//! What will happen next, what is on its way, and what can go wrong with it.

use hookproof_core::{
    Id, Millis,
    endpoint::{Endpoint, Lane, Life},
    inbox::Receipt,
    model::Entity,
    outbox::{Attempt, Delivery, Ended, Event, Request, Ticket},
    work::{Fault, Fetched, Job},
};

use super::{
    Ctx, ProcessNo,
    faults::is_call,
    seal::{Seal, Turn},
};
use crate::{
    dice::Site,
    history::{Body, DeliveryId, Side},
    setup::Setup,
};

/// One thing that will happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// When, where time is the point.
    pub at: Millis,
    /// Whose it is: a crash of that process forgets it.
    pub owner: ProcessNo,
    /// How often it was tried before.
    pub tries: u8,
    /// What.
    pub step: Step,
}

/// What a task does. A step that ends in `Commit` carries the rows that it was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each step is named after the core's verb that it calls")]
pub enum Step {
    Publish {
        event: u32,
        call: u8,
    },
    PublishCommit {
        event: u32,
        call: u8,
        found: Option<Event>,
        now: Millis,
    },
    FanOut {
        event: Event,
    },
    Sweep {
        event: Id,
    },
    SweepCommit {
        row: Event,
    },
    Claim {
        row: Delivery,
        lane: Lane,
        url: u32,
        now: Millis,
        loaded: Millis,
    },
    Start {
        attempt: Attempt,
        claimed: Millis,
    },
    Await {
        request: Request,
    },
    Settle {
        request: Request,
        ended: Ended,
    },
    SettleCommit {
        request: Request,
        ended: Ended,
        row: Delivery,
        endpoint: Endpoint,
        now: Millis,
    },
    Release {
        attempt: Attempt,
    },
    ReleaseCommit {
        attempt: Attempt,
        row: Delivery,
        now: Millis,
    },
    Request(Parcel),
    Response(Answer),
    Receive {
        parcel: Parcel,
    },
    ReceiveCommit {
        parcel: Parcel,
        found: Option<Receipt>,
        now: Millis,
    },
    Reply {
        parcel: Parcel,
        status: u16,
    },
    WorkClaim {
        row: Receipt,
        now: Millis,
    },
    Work {
        job: Job,
    },
    WorkCommit {
        job: Job,
        row: Receipt,
        entity: Entity,
        booked: bool,
        now: Millis,
    },
    Fetch {
        job: Job,
    },
    FetchCommit {
        job: Job,
        row: Receipt,
        entity: Entity,
        booked: bool,
        now: Millis,
        fetched: Option<Fetched>,
    },
    Fail {
        job: Job,
        fault: Fault,
    },
    FailCommit {
        job: Job,
        fault: Fault,
        row: Receipt,
        now: Millis,
    },
    SendAlert {
        alert: u32,
        side: Side,
    },
    PurgeCommit {
        row: Receipt,
        now: Millis,
    },
    ResendCommit {
        row: Delivery,
        endpoint: Endpoint,
        now: Millis,
    },
    ReplayCommit {
        row: Receipt,
        allowed: bool,
        now: Millis,
    },
    CancelCommit {
        row: Delivery,
    },
    /// `None`: its URL or its secret changes.
    TurnCommit {
        row: Endpoint,
        life: Option<Life>,
        now: Millis,
    },
    Restart {
        process: ProcessNo,
    },
    Secret {
        endpoint: u32,
        turn: Turn,
    },
}

/// A request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// The claim that it was sent under.
    pub ticket: Ticket,
    /// The relay that waits for the answer.
    pub from: ProcessNo,
    /// The delivery id that it shows.
    pub id: DeliveryId,
    /// The bytes that it carries.
    pub body: Body,
    /// Which copy of the request this is: 0 is the first.
    pub copy: u8,
    /// What vouches for it.
    pub seal: Seal,
}

/// An answer on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The claim that it answers.
    pub ticket: Ticket,
    /// The relay that waits for it.
    pub to: ProcessNo,
    /// The status.
    pub status: u16,
    /// Its `Retry-After`, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// What goes wrong with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Twist {
    /// The database gives the transaction up for another one.
    Serialization,
    /// The database rolls the transaction back.
    CommitFails,
    /// The commit is in, but its answer is lost.
    AnswerLost,
    /// The message is lost.
    Drop,
    /// The message arrives, and arrives again.
    Duplicate,
    /// The message arrives much later.
    Delay,
    /// The connection breaks half-way through the message.
    Reset,
    /// Somebody between the two answers 2xx, and passes nothing on.
    ForeignAck,
    /// The receiver answers 2xx before it has the whole request, and gets no more of it.
    EarlyAck,
    /// The receiver takes so long that the sender has given up.
    Hang,
    /// The answer comes byte by byte.
    Slow,
    /// The receiver refuses, with this status, whatever it is asked.
    Refuse(u16),
    /// The bytes are not those of the first attempt.
    OtherBytes,
    /// The handler fails on its own account.
    HandlerFails,
    /// The infrastructure under the handler fails.
    HandlerInfrastructure,
    /// The process dies inside the step, before its commit.
    Die,
    /// The API answers with what it knew before.
    Stale,
    /// The API does not answer.
    Mute,
    /// The API answers with a state that the entity's type does not have.
    Nonsense,
    /// The service acts, and its answer never comes.
    ActsSilently,
    /// The receiver's host sends the request elsewhere.
    Redirect,
    /// An attacker sends a request of its own beside it.
    Forge,
    /// An attacker changes the bytes.
    Tamper,
    /// An attacker sends it again, soon.
    Replay,
    /// An attacker sends it again once its time is past the tolerance.
    ReplayLate,
    /// Less of the request arrives than it says.
    Truncate,
    /// Somebody swaps the id in its header.
    Relabel,
    /// The host draws an id for a new delivery that another one has, as a clone of a machine may.
    TakenId,
}

/// Marks the tries of a task that has stood still once.
pub const STALLED: u8 = 0x40;
/// Marks the tries of a commit that hung until its request was answered without it.
pub(super) const HUNG: u8 = 0x20;

/// Where the dice are asked how long a step takes.
pub(super) fn site(step: &Step, owner: ProcessNo, tries: u8, ctx: &Ctx<'_>) -> Site {
    let (purpose, a, b) = place(step, owner, ctx.setup);
    Site::new(LAG | purpose, a, b, u32::from(tries))
}

/// [`address`], with effects outside told from the sender's deliveries by [`EFFECT`].
pub fn place(step: &Step, owner: ProcessNo, setup: &Setup) -> (u8, u32, u32) {
    let (no, a, b) = address(step);
    let relay = match step {
        Step::Request(parcel) => parcel.from,
        Step::Response(answer) => answer.to,
        _ => owner,
    };
    let effect = (CLAIM..=RESPONSE).contains(&no) && is_call(relay, setup);
    (no, if effect { a | EFFECT } else { a }, b)
}

/// A step by what it hits: its kind, its row, and which attempt or claim of it.
pub fn address(step: &Step) -> (u8, u32, u32) {
    let of = |id: Id| id.0 as u32;
    match step {
        Step::Publish { event, call } => (0, *event, u32::from(*call)),
        Step::FanOut { event } => (1, of(event.id), event.rev),
        Step::Sweep { event } => (2, of(*event), 0),
        Step::Claim { row, .. } => (3, of(row.id), row.rev),
        Step::Start { attempt, .. } => (4, of(attempt.ticket().delivery), attempt.ticket().fence),
        Step::Await { request } => (5, of(request.ticket().delivery), request.ticket().fence),
        Step::Settle { request, .. } => (6, of(request.ticket().delivery), request.ticket().fence),
        Step::SettleCommit { request, .. } => {
            (7, of(request.ticket().delivery), request.ticket().fence)
        }
        Step::Release { attempt } => (8, of(attempt.ticket().delivery), attempt.ticket().fence),
        Step::ReleaseCommit { attempt, .. } => {
            (9, of(attempt.ticket().delivery), attempt.ticket().fence)
        }
        Step::Request(parcel) => (10, of(parcel.ticket.delivery), copy(parcel)),
        Step::Response(answer) => (11, of(answer.ticket.delivery), answer.ticket.fence),
        Step::Receive { parcel } => (12, of(parcel.ticket.delivery), copy(parcel)),
        Step::ReceiveCommit { parcel, .. } => (13, of(parcel.ticket.delivery), copy(parcel)),
        Step::Reply { parcel, .. } => (14, of(parcel.ticket.delivery), copy(parcel)),
        Step::WorkClaim { row, .. } => (15, of(row.id), row.rev),
        Step::Work { job } => (16, of(job.receipt()), job.fence()),
        Step::WorkCommit { job, .. } => (17, of(job.receipt()), job.fence()),
        Step::Fetch { job } => (18, of(job.receipt()), job.fence()),
        Step::FetchCommit { job, .. } => (19, of(job.receipt()), job.fence()),
        Step::Fail { job, .. } => (20, of(job.receipt()), job.fence()),
        Step::FailCommit { job, .. } => (21, of(job.receipt()), job.fence()),
        Step::SendAlert { alert, side } => (22, *alert, *side as u32),
        Step::Restart { process } => (23, u32::from(*process), 0),
        Step::PurgeCommit { row, .. } => (24, of(row.id), row.rev),
        Step::PublishCommit { event, call, .. } => (25, *event, u32::from(*call)),
        Step::ResendCommit { row, .. } => (27, of(row.id), row.rev),
        Step::ReplayCommit { row, .. } => (28, of(row.id), row.rev),
        Step::CancelCommit { row } => (29, of(row.id), row.rev),
        Step::TurnCommit { row, .. } => (30, of(row.id), row.rev),
        Step::SweepCommit { row } => (31, of(row.id), row.rev),
        Step::Secret { endpoint, turn } => {
            let (kind, secret) = match turn {
                Turn::Install(secret) => (0, secret),
                Turn::Switch(secret) => (1, secret),
                Turn::Forget(secret) => (2, secret),
            };
            (26, *endpoint, kind << 8 | u32::from(*secret))
        }
    }
}

fn copy(parcel: &Parcel) -> u32 {
    parcel.ticket.fence * 8 + u32::from(parcel.copy)
}

/// The purpose bit of rolls about time; the rest of the purpose is the step's.
pub const LAG: u8 = 0x40;
/// Set in the number of an effect outside, where it is asked for by address.
pub const EFFECT: u32 = 1 << 18;
/// The first and the last step of a delivery's attempt, by number.
const CLAIM: u8 = 3;
const RESPONSE: u8 = 11;
