//! What happened, as lines: the form in which every level reports and which the oracle judges.
//!
//! A line is a fact that an observer of everything would write down: true time, where it happened,
//! what. A line says *committed* only of what did commit, whoever learned of it.

mod family;
pub(crate) mod form;

pub use family::Family;

use hookproof_core::{
    Millis,
    model::{EventType, Operation, State, Transition},
};
use serde::{Deserialize, Serialize};

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
        )]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    /// A committed business fact, numbered in the order of the workload.
    EventNo,
    /// One event for one endpoint.
    DeliveryNo,
    /// A registered callback of the sender.
    EndpointNo,
    /// The receiver's durable row for one delivery id.
    ReceiptNo,
    /// What events are about, at the receiver.
    EntityNo,
    /// The value that the receiver deduplicates by, interned.
    DeliveryId,
    /// Which bytes: the same number is the same body.
    Body,
    /// A person.
    Person,
}

/// One line of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// True time, which no process can read.
    pub at: Millis,
    /// Where it happened.
    pub by: Node,
    /// What happened.
    pub fact: Fact,
}

/// A place where things happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The sender's business service, which commits events.
    App,
    /// A relay of the sender, by number.
    Relay(u8),
    /// The network between them.
    Network,
    /// An ingress of the receiver, by number.
    Ingress(u8),
    /// A worker of the receiver, by number.
    Worker(u8),
    /// The relay of the receiver's own outbox, towards the external service.
    EffectRelay(u8),
    /// The external service that effects are sent to.
    External,
    /// The authoritative API.
    Api,
    /// The database of one side.
    Database(Side),
    /// An operator.
    Operator,
    /// The world itself: faults and phases.
    World,
}

/// One of the two systems.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The sender.
    Sender,
    /// The receiver.
    Receiver,
}

/// What happened.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "each fact says what its fields mean")]
pub enum Fact {
    // The sender's business.
    /// A business transaction committed together with its intent.
    Committed {
        event: EventNo,
        entity: EntityNo,
        #[serde(rename = "type", with = "form::event_type")]
        kind: EventType,
        occurrence: u64,
        version: u64,
        body: Body,
    },
    /// A business transaction was rolled back: the event never was.
    RolledBack { event: EventNo },
    /// A publisher was told how its call with this event's idempotency key ended.
    /// `other_body`: the call's body was another than the event's.
    Published { event: EventNo, other_body: bool, answer: Published },
    /// Fan-out gave the event its delivery for this endpoint. The id goes with every attempt.
    FannedOut { event: EventNo, endpoint: EndpointNo, delivery: DeliveryNo, id: DeliveryId },
    /// Fan-out of the event committed with this many deliveries. `closed`: it set `processed_at` too.
    FanOutDone { event: EventNo, deliveries: u32, closed: bool },
    /// The sweep set `processed_at`: every delivery of the event is acknowledged.
    Swept { event: EventNo },

    // The sender's attempts.
    /// A claim committed. `attempt` counts over all cycles, `rung` within this one; `fence` is new
    /// with every claim; `wait_ms` is how long the row waits should nobody settle it, counted from when
    /// its transaction read the time; `url` is how often the endpoint's URL or secret had been changed
    /// when its row was loaded.
    Claimed {
        delivery: DeliveryNo,
        endpoint: EndpointNo,
        attempt: u32,
        rung: u16,
        cycle: u16,
        fence: u32,
        wait_ms: u64,
        url: u32,
    },
    /// A later claim found that the claim with this fence died with its worker.
    ClaimLost { delivery: DeliveryNo, fence: u32 },
    /// The claim was given back unused; its attempt does not count.
    Released { delivery: DeliveryNo, fence: u32 },
    /// A connection was opened, to an address of this kind.
    Dialled { delivery: DeliveryNo, attempt: u32, address: Address },
    /// A request started.
    Requested {
        delivery: DeliveryNo,
        endpoint: EndpointNo,
        attempt: u32,
        fence: u32,
        id: DeliveryId,
        body: Body,
        signed: Signed,
    },
    /// The worker learned how its request ended.
    Responded { delivery: DeliveryNo, attempt: u32, fence: u32, outcome: Outcome },
    /// A settle committed: the delivery stands so now.
    Settled { delivery: DeliveryNo, attempt: u32, fence: u32, stand: DeliveryStand },
    /// A worker found its claim taken over: its write changed no row.
    Fenced { delivery: DeliveryNo, fence: u32 },
    /// A delivery was ended without an attempt: its endpoint is gone, or its last claim was lost.
    Closed { delivery: DeliveryNo, stand: DeliveryStand },
    /// The audit line of what a person does committed.
    Audited {
        about: About,
        #[serde(rename = "person")]
        by: Person,
    },
    /// A person asked for a resend; for bulk resends one line each.
    Resent {
        delivery: DeliveryNo,
        #[serde(rename = "person")]
        by: Person,
        answer: Resent,
    },

    // The receiver's ingress.
    /// A whole request reached an ingress. `delivery` and `attempt` are the observer's knowledge.
    Arrived { delivery: DeliveryNo, attempt: u32, id: DeliveryId, body: Body, authentic: Authentic },
    /// A receipt committed. `reading` is what the receiver made of the bytes.
    Received {
        receipt: ReceiptNo,
        delivery: DeliveryNo,
        id: DeliveryId,
        body: Body,
        reading: Reading,
    },
    /// A copy of a known id came with other bytes; the difference was recorded.
    Differed { receipt: ReceiptNo, body: Body },
    /// An answer left the ingress for the request that arrived as this delivery and attempt.
    Answered { delivery: DeliveryNo, attempt: u32, id: DeliveryId, status: u16 },

    // The receiver's work.
    /// A worker claimed a receipt. `strike` counts the tries of this climb.
    WorkClaimed { receipt: ReceiptNo, fence: u32, strike: u16 },
    /// A handler began, inside the transaction that marks the receipt.
    HandlerRan { receipt: ReceiptNo, outcome: HandlerOutcome },
    /// The work's transaction committed with this verdict.
    Worked { receipt: ReceiptNo, fence: u32, verdict: Verdict },
    /// An entity changed in a commit.
    Moved {
        entity: EntityNo,
        #[serde(with = "form::state")]
        from: State,
        #[serde(with = "form::state")]
        to: State,
        version: u64,
    },
    /// A commit changed which state an entity shows as projected.
    Projected {
        entity: EntityNo,
        #[serde(with = "form::state_shown")]
        shown: Option<State>,
    },
    /// An operation was booked and its effect became true, in one commit.
    Effect {
        operation: OperationKey,
        #[serde(rename = "cause")]
        by: Cause,
    },
    /// A failure of the work was recorded: the receipt stands so now, and the next try is due after
    /// `wait_ms`.
    WorkFailed {
        receipt: ReceiptNo,
        fence: u32,
        fault: WorkFault,
        stand: ReceiptStand,
        strike: u16,
        wait_ms: u64,
    },
    /// A wake reached a deferred receipt: it is due now.
    Woken { receipt: ReceiptNo, entity: EntityNo },
    /// A dead letter committed, with what it is about and why.
    DeadLettered { about: About, reason: Reason },
    /// The alert of a dead letter committed.
    Alerted { about: About },
    /// The alert of a dead letter was sent to people.
    AlertSent { about: About },
    /// A person asked for a replay. `allowed`: nothing was wanting of what it stands on.
    Replayed {
        receipt: ReceiptNo,
        #[serde(rename = "person")]
        by: Person,
        allowed: bool,
        answer: Replayed,
    },
    /// A receipt was purged.
    Purged { receipt: ReceiptNo },
    /// A booking by hand, before or beside the events.
    BookedByHand {
        operation: OperationKey,
        #[serde(rename = "person")]
        by: Person,
    },
    /// A call reached the external service. `did` says whether the effect happened through it.
    /// `key` is [`NO_KEY`] where the call showed none.
    ExternalCall {
        operation: OperationKey,
        #[serde(with = "form::key")]
        key: u64,
        did: bool,
    },
    /// The authoritative API answered whoever holds this claim: the entity's state and version there.
    Fetched {
        receipt: ReceiptNo,
        fence: u32,
        entity: EntityNo,
        #[serde(with = "form::state")]
        state: State,
        version: u64,
    },

    // Secrets and endpoints.
    /// The ingress answered the handshake of an endpoint's source, which showed it `nonce`, with this.
    Greeted { endpoint: EndpointNo, nonce: u32, status: u16, echo: Option<u32> },
    /// A signing secret of an endpoint changed its life.
    Secret { endpoint: EndpointNo, secret: u16, life: SecretLife },
    /// An endpoint changed its life.
    Endpoint { endpoint: EndpointNo, life: EndpointLife },

    // The world.
    /// A process died; everything it had in flight is gone.
    Crashed,
    /// A machine was lost with everything that was not durable.
    PowerLost { side: Side },
    /// A process is up again, at this version of the software.
    Restarted { version: u16 },
    /// A database stopped answering, or answers again.
    DatabaseUp { side: Side, up: bool },
    /// A backup of a database was taken: all that is committed here, and nothing later, is in it.
    BackedUp { side: Side },
    /// A database was restored from a backup taken at this time.
    Restored {
        side: Side,
        #[serde(rename = "taken_ms", with = "form::millis")]
        taken: Millis,
    },
    /// A transaction found its guard broken and changed nothing.
    Conflicted,
    /// A transaction was rolled back by the database.
    RolledBackByDatabase,
    /// The answer of a commit was lost; whether it committed is not known to the worker.
    CommitUnknown,
    /// A process's clock moved by this many milliseconds.
    ClockJumped { by_ms: i64 },
    /// A fault of this family happened here.
    Fault { family: Family },
    /// Faults stop here; timers run out from here on.
    Quiet,
    /// How a delivery stands when everything has run out.
    DeliveryStands { delivery: DeliveryNo, stand: DeliveryStand, due: bool },
    /// How a receipt stands when everything has run out.
    ReceiptStands { receipt: ReceiptNo, stand: ReceiptStand, due: bool },
    /// How an entity stands when everything has run out.
    EntityStands {
        entity: EntityNo,
        #[serde(with = "form::state")]
        state: State,
        version: u64,
    },
    /// Nothing more will happen.
    Ended,
}

/// The key of a call that showed none: no two such calls have it in common.
pub const NO_KEY: u64 = u64::MAX;

/// The key of an operation, in the numbers of a history.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OperationKey {
    /// The entity.
    pub entity: EntityNo,
    /// What is asked for.
    #[serde(with = "form::transition")]
    pub transition: Transition,
    /// Which time.
    pub occurrence: u64,
}

impl From<Operation> for OperationKey {
    fn from(operation: Operation) -> Self {
        Self {
            entity: EntityNo(operation.entity.0 as u32),
            transition: operation.transition,
            occurrence: operation.occurrence,
        }
    }
}

/// The answer to a publisher.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Published {
    /// The event is durable and due.
    Accepted,
    /// The key is known with the same body: one event.
    Duplicate,
    /// The key is known with another body: refused.
    KeyReused,
    /// Try again.
    Failed,
}

/// How a request was signed.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The signed time.
    #[serde(rename = "at_ms", with = "form::millis")]
    pub at: Millis,
    /// The secrets that signed, as a set of numbers below 16.
    #[serde(with = "form::secrets")]
    pub secrets: u16,
}

/// What a worker learned of its request.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "plain words")]
pub enum Outcome {
    /// Status line and headers of an acknowledgement came, whole.
    Acknowledged,
    /// Another status came, with its `Retry-After` if any.
    Refused { status: u16, retry_after_ms: Option<u64> },
    /// Nothing whole came within the limit.
    Unknown,
    /// The target was vetted and denied: nothing was dialled.
    Denied,
}

/// How a delivery stands.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "plain words")]
pub enum DeliveryStand {
    /// Its next attempt waits this long, counted from when the decision read the time.
    Waiting { wait_ms: u64 },
    /// A worker holds a claim on it.
    Claimed,
    /// The receiver acknowledged it.
    Acknowledged,
    /// Its cycle is used up, or the receiver said so for good.
    Failed { known: bool },
    /// It was ended from outside, for this reason.
    Cancelled { reason: Reason },
}

/// The answer to a resend.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "plain words")]
pub enum Resent {
    /// A new cycle is open.
    Opened { cycle: u16 },
    /// A cycle was open; its next attempt is due now.
    PulledForward,
    /// Not now: the window is over, the endpoint takes nothing, or the delivery was cancelled.
    Refused,
}

/// What the observer knows of a request's origin.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Authentic {
    /// Sent by the sender, whole and unchanged, and a secret that signed it is live.
    Yes,
    /// Not what the sender sent.
    Forged,
    /// Vouched for by a secret of another account than that of its path.
    Foreign,
    /// The sender's, but no secret that signed it is live any more.
    Outlived,
    /// The sender's, but further from the ingress's clock than the tolerance.
    Stale,
}

/// What a receiver made of the bytes of a request.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "plain words")]
pub enum Reading {
    /// A proposal to this entity.
    Event {
        entity: EntityNo,
        #[serde(rename = "type", with = "form::event_type")]
        kind: EventType,
        occurrence: u64,
        version: u64,
    },
    /// A type that the receiver does not know.
    UnknownType,
    /// Authentic, but not readable.
    Unreadable,
}

/// How a handler ended.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum HandlerOutcome {
    /// It did its work.
    Done,
    /// It failed on this event.
    Failed,
    /// The infrastructure under it failed.
    Infrastructure,
}

/// How the work on a receipt was decided.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "plain words")]
pub enum Verdict {
    /// The event was applied: the state moved, and the operation, if it asks for one, was booked.
    Applied,
    /// Its operation had been booked by somebody else; the state moved, the handler did not run.
    AlreadyBooked,
    /// Newer state was there.
    Overtaken,
    /// It waits for its prerequisite, at most until its cap.
    Deferred { timer_ms: u64, cap_ms: u64 },
    /// It was set aside with a reason.
    SetAside(Reason),
}

/// Who caused an effect.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Cause {
    /// The work on a receipt.
    Receipt(ReceiptNo),
    /// A person.
    Person(Person),
}

/// Whose fault a failure of work was.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkFault {
    /// The event's: it climbs.
    Event,
    /// The infrastructure's: it climbs nothing.
    Infrastructure,
}

/// What a dead letter is about.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum About {
    /// A receipt in review.
    Receipt(ReceiptNo),
    /// A failed delivery.
    Delivery(DeliveryNo),
}

/// Why something was set aside.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reason {
    /// No reason was given, which is a fault.
    None,
    /// Its cycle is used up, and the last answer was no.
    Exhausted,
    /// Its cycle is used up, and nothing whole came to its last attempt.
    Unanswered,
    /// The receiver said 410.
    Gone,
    /// Its last claim died with its worker.
    ClaimLost,
    /// The inbox ladder is used up.
    Failing,
    /// Its workers died on it as often as the inbox ladder has tries.
    WorkerLost,
    /// Its prerequisite did not come before the cap.
    DeferralCap,
    /// No state of its entity leads to it.
    Impossible,
    /// Its bytes could not be read.
    Unreadable,
    /// Its endpoint is gone.
    EndpointGone,
    /// A person ended it.
    Operator,
}

impl From<hookproof_core::Reason> for Reason {
    fn from(reason: hookproof_core::Reason) -> Self {
        use hookproof_core::Reason as Core;
        match reason {
            Core::Exhausted => Self::Exhausted,
            Core::Unanswered => Self::Unanswered,
            Core::Gone => Self::Gone,
            Core::ClaimLost => Self::ClaimLost,
            Core::EndpointGone => Self::EndpointGone,
            Core::Operator => Self::Operator,
            Core::Failing => Self::Failing,
            Core::WorkerLost => Self::WorkerLost,
            Core::DeferralCap => Self::DeferralCap,
            Core::Impossible => Self::Impossible,
            Core::Unreadable => Self::Unreadable,
        }
    }
}

/// The answer to a replay.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Replayed {
    /// The receipt is due at work.
    Accepted,
    /// The person, source, account or secret does not allow it, or there is nothing to work on.
    Refused,
    /// It is already waiting for work.
    Waiting,
}

/// The life of a secret.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SecretLife {
    /// It is known to both sides: it signs and verifies, or, where a header has one value, verifies
    /// from here on and signs from when the secret before it is retired.
    Made,
    /// Its overlap begins: it still verifies, and signs where a header has a list.
    Retired,
    /// It does neither any more.
    Gone,
    /// It was revoked at once.
    Revoked,
}

/// The life of an endpoint.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EndpointLife {
    /// It is active and subscribed.
    Registered,
    /// Its URL or secret changed.
    Changed,
    /// It takes nothing for a while.
    Paused,
    /// It takes deliveries again.
    Resumed,
    /// It takes nothing until a person enables it.
    Disabled,
    /// It gets no new deliveries.
    Unsubscribed,
    /// It is gone; its open deliveries are cancelled.
    Deleted,
}

/// What kind of address was dialled.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Address {
    /// The one that was vetted.
    Vetted,
    /// Another one.
    Other,
}

/// How a receipt stands.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the words of R13")]
pub enum ReceiptStand {
    Queued,
    Deferred,
    Retrying,
    Applied,
    AlreadyBooked,
    Overtaken,
    Ignored,
    InReview,
}

impl From<hookproof_core::inbox::Stand> for ReceiptStand {
    fn from(stand: hookproof_core::inbox::Stand) -> Self {
        use hookproof_core::inbox::{End, Stand};
        match stand {
            Stand::Queued { .. } => Self::Queued,
            Stand::Deferred { .. } => Self::Deferred,
            Stand::Retrying { .. } => Self::Retrying,
            Stand::Done(End::Applied) => Self::Applied,
            Stand::Done(End::AlreadyBooked) => Self::AlreadyBooked,
            Stand::Done(End::Overtaken) => Self::Overtaken,
            Stand::Ignored => Self::Ignored,
            Stand::InReview(_) => Self::InReview,
        }
    }
}
