//! The wrong lines by name, and which promises each of them breaks.

use crate::promise::Promise;

macro_rules! rogues {
    ($($(#[doc = $sentence:literal])+ $name:ident: $slug:literal, [$($promise:ident),+];)+) => {
        /// A wrong line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rogue {
            $($(#[doc = $sentence])+ $name,)+
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

            /// What it does wrong, in a sentence.
            pub fn sentence(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($sentence),+).trim_ascii(),)+
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
    /// Re-serialises the payload for each attempt.
    ReserialisesPayload: "reserialises-payload", [S4];
    /// Signs with the new secret alone from the start of a rotation.
    SignsWithNewSecretAlone: "signs-with-new-secret-alone", [S9];
    /// Signs with the old secret for ever.
    OldSecretForEver: "old-secret-for-ever", [S9];
    /// Follows redirects.
    FollowsRedirects: "follows-redirects", [S10];
    /// Vets a target when it is registered, and never again.
    VetsOnlyAtRegistration: "vets-only-at-registration", [S10];
    /// Vets the first address of a target, and dials any.
    LooksAtFirstAddressOnly: "looks-at-first-address-only", [S10];
    /// Signs once, for all attempts.
    FirstSignatureReused: "first-signature-reused", [S13];

    // The receiver's door.
    /// Reads a list of signatures as one value.
    ReadsV1AsSingleValue: "reads-v1-as-single-value", [R1];
    /// One candidate that it cannot read makes it refuse them all.
    MalformedCandidateBlocksGood: "malformed-candidate-blocks-good", [R1];
    /// Verifies what its parser and its printer made of the bytes.
    VerifiesReserialisedJson: "verifies-reserialised-json", [R1];
    /// Stores, then verifies.
    StoresThenVerifies: "stores-then-verifies", [R2];
    /// Its verifier throws, and it answers 500.
    VerifierThrows500: "verifier-throws-500", [R2];
    /// Answers yes before it has read the request to its end.
    AnswersBeforeBodyEnds: "answers-before-body-ends", [R2];
    /// Stores what it has read of a request that was cut short.
    StoresWhatWasCutShort: "stores-what-was-cut-short", [R2];
    /// Takes the delivery id from a header that nobody signed.
    IdFromUnsignedHeader: "id-from-unsigned-header", [R17];
    /// Accepts the secret of any account on any path.
    AnyAccountsSecretOnAnyPath: "any-accounts-secret-on-any-path", [R17];
    /// Answers 200 where the source wants a value back.
    OkWhereHandshakeIsWanted: "ok-where-handshake-is-wanted", [R18];
    /// Answers 202 where the source counts only 200.
    Answers202WhereOnly200Counts: "answers-202-where-only-200-counts", [R18];
    /// Takes 10 s for an answer that a source wants within 3 s.
    Keeps10sWhere3s: "keeps-10s-where-3s", [R18];
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
    UnguardedDelivery: "unguarded-delivery", [S5, S6, S2, S11, S3, R14];

    // Writes that are not there.
    /// Whoever waits is not woken.
    NoWake: "no-wake", [R9];
    /// The operation is booked, the handler forgotten.
    NoHandler: "no-handler", [E1, R13, R7];
}
