//! Rogues: one wrong line each, of the kind that people really write. They check the checker.
//!
//! A rogue is a switch in a driver or in the store, or a change of what a decision wrote. None is a
//! second implementation. Guard rogues come from the write enum by an exhaustive match, so that a new
//! kind of write without its rogue does not compile.

mod tamper;

use hookproof_core::{
    Digest, Id,
    inbox::{self, Receipt, Reply},
    model::{Operation, Transition},
    outbox::{self, Delivery, Ended, Ticket},
    plan::{Put, Write},
    profile::{InboxPolicy, OnGone, Profile},
    work::{Fault, Job},
};

use crate::{
    history::{DeliveryId, Outcome},
    promise::Promise,
    setup::{Form, Setup},
    world::Parcel,
};

macro_rules! rogues {
    ($($(#[$doc:meta])* $name:ident: $slug:literal, [$($promise:ident),+];)+) => {
        /// A wrong line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rogue {
            $($(#[$doc])* $name,)+
        }

        impl Rogue {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its name on the command line and in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $slug,)+
                }
            }

            /// The promises that it breaks, the one that it is made for first.
            pub fn breaks(self) -> &'static [Promise] {
                match self {
                    $(Self::$name => &[$(Promise::$promise),+],)+
                }
            }
        }
    };
}

rogues! {
    // The sender.
    /// Commits, then sends from memory, with no outbox row.
    SendsWithoutOutbox: "sends-without-outbox", [S1, S2, S12, E1];
    /// Sends, then commits.
    SendsThenCommits: "sends-then-commits", [S1];
    /// Marks the delivery sent when it claims it.
    MarksSentBeforeSending: "marks-sent-before-sending", [S2, S5, E1];
    /// Takes any answer for a yes.
    MarksSentOn500: "marks-sent-on-500", [S2, E1];
    /// Remembers the highest id that it has seen, so what commits late is skipped.
    PollsByCursor: "polls-by-cursor", [S2, S12, E1];
    /// Fans out in two transactions, and can die between them.
    FanOutHalf: "fan-out-half", [S12, E1];
    /// Sends an event to all its endpoints again when one of them failed.
    FanOutRetriedForAll: "fan-out-retried-for-all", [S12, S6, S2, S11];
    /// Makes a new delivery id for each attempt.
    NewIdEachAttempt: "new-id-each-attempt", [S3];
    /// Makes a new delivery id for each resend.
    NewIdOnResend: "new-id-on-resend", [S3];
    /// A worker that lost its claim settles all the same.
    ZombieSettles: "zombie-settles", [S5];
    /// The fence is checked for successes only.
    NoFenceOnFailure: "no-fence-on-failure", [S5];
    /// A worker that lost its claim gives it back all the same.
    ZombieReleases: "zombie-releases", [S5];
    /// Starts requests long after it claimed them.
    ClaimsMoreThanItCanDial: "claims-more-than-it-can-dial", [S5];
    /// Sends while the claim's transaction is still open.
    SendsBeforeClaim: "sends-before-claim", [S5, S1, S6];
    /// One attempt too few.
    LadderOffByOne: "ladder-off-by-one", [S6, S2];
    /// Never gives up.
    NoCap: "no-cap", [S6, S11];
    /// Retries at once.
    RetriesAtOnce: "retries-at-once", [S6];
    /// A retry starts the ladder from its foot.
    RetryResetsCounter: "retry-resets-counter", [S6];
    /// The attempt of a worker that died does not count.
    DeadAttemptUncounted: "dead-attempt-uncounted", [S6];
    /// A 4xx ends the delivery.
    RefusalIsFinal: "refusal-is-final", [S6, S2];
    /// Waits as long as any `Retry-After` asks.
    ObeysAnyRetryAfter: "obeys-any-retry-after", [S6];
    /// Waits less than the ladder says after a claim was lost.
    LostClaimAtOnce: "lost-claim-at-once", [S6, S5];
    /// Disables the endpoint when a delivery fails.
    DisablesOnFailure: "disables-on-failure", [S6];
    /// A limit for each read and none for the whole.
    NoTotalDeadline: "no-total-deadline", [S7];
    /// Takes a time-out for a refusal.
    UnknownIsRefused: "unknown-is-refused", [S7];
    /// Works on the oldest delivery until it is through.
    FailureBlocksQueue: "failure-blocks-queue", [S8, S2, S11, E1];
    /// Sleeps for one endpoint's `Retry-After`.
    RetryAfterStallsWorker: "retry-after-stalls-worker", [S8, S6];
    /// Says that it resends, and does not.
    ResendSwallowed: "resend-swallowed", [S11];
    /// Opens a second cycle beside an open one.
    ResendBesideOpen: "resend-beside-open", [S11, S6];
    /// Everything that waited for an endpoint goes to it at once.
    NoLimitAfterOutage: "no-limit-after-outage", [S14, E1];
    /// Answers "duplicate" for what was never queued.
    DuplicateNeverQueued: "duplicate-never-queued", [S15];
    /// Tells the publisher yes before the commit.
    AcceptsBeforeCommit: "accepts-before-commit", [S15, S1];

    // The receiver's door.
    /// Acknowledges, then stores.
    AcksThenStores: "acks-then-stores", [R3, R4, E1, R6];
    /// Acknowledges from memory while the database is away.
    QueuesInMemory: "queues-in-memory", [R3, E1];
    /// Commits before the disk has it.
    RelaxedDurability: "relaxed-durability", [R3, R4, R7, R8, R13, E1, R9, R10];
    /// Looks, then inserts, with no constraint.
    CheckThenInsert: "check-then-insert", [R4, R7];
    /// A NULL in the key, which is never equal to another.
    NullInKey: "null-in-key", [R4, R3];
    /// Leaves source and account out of the key.
    AccountLeftOut: "account-left-out", [R4, R3, R6, E1];
    /// Takes any error of the insert for a duplicate.
    AnyErrorIsDuplicate: "any-error-is-duplicate", [R4, R3, E1];
    /// Answers 409 to every duplicate, for ever.
    DuplicateIs409: "duplicate-is-409", [R4];
    /// Acknowledges a copy whose first has not committed.
    AcksOpenDuplicate: "acks-open-duplicate", [R4, R3];
    /// Works before it answers.
    WorksBeforeAnswering: "works-before-answering", [R5];
    /// Deduplicates by resource.
    DedupesByResource: "dedupes-by-resource", [R6, R4, R3, E1];
    /// Answers 4xx to an unknown type.
    UnknownTypeIs400: "unknown-type-is-400", [R19];
    /// One bad row fails the whole commit group.
    BadRowFailsGroup: "bad-row-fails-group", [R19];
    /// The last bytes win.
    LastBytesWin: "last-bytes-win", [R19, R4, R3];
    /// Writes PROCESSED at the acknowledgement.
    ProcessedAtAck: "processed-at-ack", [R13, E1, R9, R10, R16];

    // The receiver's work.
    /// Keys operations by delivery id.
    OperationByDelivery: "operation-by-delivery", [R6, R7];
    /// Keys operations by event type.
    OperationByEventType: "operation-by-event-type", [R6, R7];
    /// Leaves the occurrence out of the key.
    NoOccurrence: "no-occurrence", [R6, R7, R13, E1];
    /// Marks the receipt in one transaction and has the effect in a later one.
    MarkThenEffect: "mark-then-effect", [E1, R13, R7];
    /// Has the effect in a transaction of its own, before the receipt's.
    EffectInAnotherTransaction: "effect-in-another-transaction", [R7];
    /// Reads the guard, and books without a lock.
    BooksWithoutLock: "books-without-lock", [R7, R8, R10, R13, R15];
    /// A replay does not look whether it was done.
    ReplaySkipsGuard: "replay-skips-guard", [R7, R12, E1];
    /// Swallows the handler's error and marks the receipt done.
    SwallowsHandlerError: "swallows-handler-error", [R10, E1, R13, R7, R8];
    /// Applies whatever arrives, in the order of arrival.
    AppliesInArrivalOrder: "applies-in-arrival-order", [R8, R20, R9, R13, E1];
    /// The last to write wins.
    LastWriteWins: "last-write-wins", [R8, R20, R15, R13];
    /// What is already booked leaves the entity's state behind.
    BookedLeavesStateBehind: "booked-leaves-state-behind", [R20, R9, E1];
    /// Drops what comes too early.
    DropsTooEarly: "drops-too-early", [R9, R8, E1];
    /// Defers for ever.
    DefersForEver: "defers-for-ever", [R9, E1];
    /// Dead-letters an early event at once.
    EarlyIsDeadLetter: "early-is-dead-letter", [R9];
    /// A climb of the inbox ladder for each deferral.
    DeferralIsFailure: "deferral-is-failure", [R9, R10];
    /// Retries a failing event for ever.
    RetriesForEver: "retries-for-ever", [R10, E1];
    /// Works on the oldest receipt until it is through.
    PoisonBlocksQueue: "poison-blocks-queue", [R10, R9];
    /// Takes an outage for the event's fault.
    OutageBurnsLadder: "outage-burns-ladder", [R10];
    /// A worker that lost its claim records its outcome all the same.
    ZombieWorks: "zombie-works", [R10, R13, R7, R9];
    /// Forgets the event after its last retry.
    DropsAfterLastRetry: "drops-after-last-retry", [R11, R10, E1, R13, R16];
    /// Sets aside without a word to anybody.
    NoAlert: "no-alert", [R11, R14];
    /// Sets aside without a reason.
    NoReason: "no-reason", [R11];
    /// Takes a replay for a duplicate.
    ReplayDeduplicated: "replay-deduplicated", [R12, R16];
    /// Lets anybody replay.
    ReplayWithoutAuthorisation: "replay-without-authorisation", [R12];
    /// Calls the external service without a key.
    ExternalWithoutKey: "external-without-key", [R14];
    /// Makes a new key for each call.
    KeyEachAttempt: "key-each-attempt", [R14];
    /// A refetch overwrites newer state.
    RefetchOverwrites: "refetch-overwrites", [R15, R8, R13];
    /// A ledger takes only what is newer than what it has.
    LedgerByArrival: "ledger-by-arrival", [R15, R8, R20, E1];
    /// Forgets keys while deliveries are still on their ladder.
    ForgetsKeysEarly: "forgets-keys-early", [R16];
    /// Forgets what is still deferred.
    PurgesDeferred: "purges-deferred", [R16, E1];

    // Guards that are not there, one for each kind of guarded write.
    /// No guard on an endpoint that changes.
    UnguardedEndpoint: "unguarded-endpoint", [S14, S6];
    /// No guard on an endpoint that was read.
    UnguardedEndpointRead: "unguarded-endpoint-read", [S2, S11];
    /// No guard on an entity that changes.
    UnguardedEntity: "unguarded-entity", [R8, R20, R9, R15];
    /// No guard on an entity that was read.
    UnguardedEntityRead: "unguarded-entity-read", [R9, R8];
    /// No unique constraint on operations.
    UnguardedOperation: "unguarded-operation", [R7];
    /// No guard on a receipt.
    UnguardedReceipt: "unguarded-receipt", [R4, R7, R10, R13, R9, R8];
    /// No guard on a receipt that is purged.
    UnguardedPurge: "unguarded-purge", [R16];
    /// No guard on an event.
    UnguardedEvent: "unguarded-event", [S15, S12];
    /// No guard on a delivery.
    UnguardedDelivery: "unguarded-delivery", [S5, S6, S2, S11];

    // Writes that are not there.
    /// Whoever waits is not woken.
    NoWake: "no-wake", [R9];
    /// The operation is booked, the handler forgotten.
    NoHandler: "no-handler", [E1, R13, R7];
}

/// The canary: a rogue that every run must catch, or the prover is blind.
pub const CANARY: Rogue = Rogue::OperationByDelivery;

impl Rogue {
    /// The rogue with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rogue| rogue.name() == name)
    }

    /// The rogue that leaves this kind of guard out; `None` where a write has no guard.
    fn without_guard_of(write: &Write) -> Option<Self> {
        match write {
            Write::Endpoint(_) => Some(Self::UnguardedEndpoint),
            Write::HoldEndpoint { .. } => Some(Self::UnguardedEndpointRead),
            Write::Entity(_) => Some(Self::UnguardedEntity),
            Write::HoldEntity { .. } => Some(Self::UnguardedEntityRead),
            Write::Operation(_) => Some(Self::UnguardedOperation),
            Write::Receipt(_) => Some(Self::UnguardedReceipt),
            Write::Purge { .. } => Some(Self::UnguardedPurge),
            Write::Event(_) => Some(Self::UnguardedEvent),
            Write::Delivery(_) => Some(Self::UnguardedDelivery),
            Write::Alert { .. } | Write::Audit(_) | Write::Wake { .. } | Write::Handle { .. } => {
                None
            }
        }
    }

    /// Whether the store skips the guard of a write.
    pub fn unguards(self, write: &Write) -> bool {
        let inserts_receipt = matches!(write, Write::Receipt(put) if put.was.is_none());
        match self {
            Self::CheckThenInsert | Self::NullInKey | Self::LastBytesWin => inserts_receipt,
            Self::BooksWithoutLock => matches!(
                write,
                Write::Operation(_) | Write::Entity(_) | Write::Receipt(Put { was: Some(_), .. })
            ),
            Self::ReplaySkipsGuard => matches!(write, Write::Operation(_)),
            _ => Self::without_guard_of(write) == Some(self),
        }
    }

    /// Whether the store forgets a write.
    pub fn drops(self, write: &Write) -> bool {
        matches!(
            (self, write),
            (Self::NoWake, Write::Wake { .. })
                | (Self::NoHandler, Write::Handle { .. })
                | (Self::ReplayDeduplicated, Write::Audit(_))
        )
    }

    /// The choices that a wrong sender runs instead of those that it declares.
    pub fn misconfigures(self, declared: &Profile) -> Option<Profile> {
        let wrong = declared.clone();
        match self {
            Self::RefusalIsFinal => Some(Profile { on_gone: OnGone::Fail, ..wrong }),
            Self::ObeysAnyRetryAfter => Some(Profile { retry_after_max_ms: u64::MAX / 4, ..wrong }),
            _ => None,
        }
    }

    /// The choices that a wrong receiver runs instead of those that it declares.
    pub fn misconfigures_inbox(self, declared: &InboxPolicy) -> Option<InboxPolicy> {
        let keep = |ms| Some(InboxPolicy { retention_ms: Some(ms), ..declared.clone() });
        match self {
            Self::ForgetsKeysEarly => keep(60_000),
            Self::PurgesDeferred => keep(0),
            _ => None,
        }
    }

    /// The operation's key as a wrong declaration makes it.
    pub fn misbooks(self, operation: Operation, row: &Receipt) -> Operation {
        match self {
            Self::OperationByDelivery => {
                Operation { occurrence: 1_000 + row.id.0 as u64, ..operation }
            }
            Self::OperationByEventType => {
                let kind = row.proposal.map_or(0, |proposal| proposal.event.0);
                Operation { transition: Transition(100 + kind), ..operation }
            }
            Self::NoOccurrence => Operation { occurrence: 0, ..operation },
            // A wrong replay does not ask at all.
            Self::ReplaySkipsGuard if row.applied => {
                Operation { occurrence: u64::MAX, ..operation }
            }
            _ => operation,
        }
    }

    /// A request with a delivery id of its own.
    pub fn relabels(self, parcel: Parcel, cycle: u16) -> Parcel {
        let new = DeliveryId(parcel.id.0 + 1_000 * parcel.ticket.attempt);
        match self {
            Self::NewIdEachAttempt if parcel.ticket.attempt > 1 => Parcel { id: new, ..parcel },
            Self::NewIdOnResend if cycle > 1 => Parcel { id: new, ..parcel },
            _ => parcel,
        }
    }

    /// A wrong reading of how a request ended.
    pub fn misreads(self, ended: Ended, outcome: Outcome) -> Ended {
        match (self, outcome) {
            (Self::MarksSentOn500, Outcome::Refused { .. }) => Ended::Acknowledged,
            (Self::RefusalIsFinal, Outcome::Refused { status: 400..=499, .. }) => Ended::Gone,
            _ => ended,
        }
    }

    /// The row as a settle without a fence takes it.
    pub fn refences(self, row: Delivery, ticket: Ticket, ended: Ended) -> Delivery {
        let held = matches!(row.stand, outbox::Stand::Claimed { .. });
        match self {
            Self::ZombieSettles if held => Delivery { fence: ticket.fence, ..row },
            Self::NoFenceOnFailure if held && ended != Ended::Acknowledged => {
                Delivery { fence: ticket.fence, ..row }
            }
            _ => row,
        }
    }

    /// The row as a release without a fence takes it.
    pub fn refences_release(self, row: Delivery, ticket: Ticket) -> Delivery {
        match (self, row.stand) {
            (Self::ZombieReleases, outbox::Stand::Claimed { .. }) => {
                Delivery { fence: ticket.fence, ..row }
            }
            _ => row,
        }
    }

    /// The row as work without a fence takes it.
    pub fn refences_job(self, row: Receipt, job: Job) -> Receipt {
        match self {
            Self::ZombieWorks => Receipt { fence: job.fence(), ..row },
            _ => row,
        }
    }

    /// The key under which a wrong receiver files a receipt.
    pub fn misfiles(self, own: Id, delivery: Id, setup: &Setup) -> Id {
        let event = setup.event_of(delivery.0 as u32);
        match self {
            Self::AccountLeftOut => Id(u128::from(setup.delivery(event, 0))),
            Self::DedupesByResource => {
                let entity = setup.events[event as usize].entity;
                let first = (0..).zip(&setup.events).find(|(_, planned)| planned.entity == entity);
                first.map_or(own, |(event, _)| Id(u128::from(setup.delivery(event, 0))))
            }
            _ => own,
        }
    }

    /// The status with which a wrong receiver turns a request away, receipt or not.
    pub fn turns_away(self, form: Form, known: bool) -> Option<u16> {
        match (self, form) {
            (Self::UnknownTypeIs400, Form::UnknownType) => Some(400),
            (Self::BadRowFailsGroup, Form::Unreadable) if !known => Some(500),
            _ => None,
        }
    }

    /// The status with which a wrong receiver answers.
    pub fn answers(self, reply: Reply) -> u16 {
        match (self, reply) {
            (Self::DuplicateIs409, Reply::Duplicate | Reply::OtherBytes) => 409,
            _ => 200,
        }
    }

    /// The key that a wrong caller shows the external service.
    pub fn rekeys(self, key: u64, attempt: u32) -> u64 {
        match self {
            Self::KeyEachAttempt => key + (u64::from(attempt) << 48),
            _ => key,
        }
    }

    /// Whom a wrong worker blames.
    pub fn blames(self, fault: Fault) -> Fault {
        match self {
            Self::OutageBurnsLadder => Fault::Event,
            _ => fault,
        }
    }

    /// The receipt as a wrong purge sees it.
    pub fn ages(self, row: Receipt) -> Receipt {
        match (self, row.stand) {
            (Self::PurgesDeferred, inbox::Stand::Deferred { .. }) => {
                Receipt { stand: inbox::Stand::Ignored, ..row }
            }
            _ => row,
        }
    }

    /// Whether its relays work on the oldest delivery until it is through.
    pub fn takes_the_oldest(self) -> bool {
        self == Self::FailureBlocksQueue
    }

    /// The receipt that a wrong receiver finds for a request.
    pub fn finds(self, found: Option<Receipt>, digest: Digest) -> Option<Receipt> {
        match self {
            Self::NullInKey => None,
            Self::LastBytesWin => found.filter(|receipt| receipt.digest == digest),
            _ => found,
        }
    }
}
