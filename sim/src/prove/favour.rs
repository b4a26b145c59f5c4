//! Which faults bring a rogue to light. Not one that it needs: a hunt only draws them more often.

#[allow(
    clippy::enum_glob_use,
    reason = "a table of families alone; not found in builds for tests"
)]
use crate::history::Family::{self, *};
use crate::rogue::Rogue;

/// The families of faults that the hunt for a rogue favours; with none it draws runs like any other.
#[rustfmt::skip]
#[expect(clippy::match_same_arms, reason = "a table, in the order of the rogues")]
pub fn favours(rogue: Rogue) -> &'static [Family] {
    match rogue {
        // The sender.
        Rogue::SendsWithoutOutbox | Rogue::SendsThenCommits | Rogue::MarksSentBeforeSending
        | Rogue::NewIdEachAttempt | Rogue::AcceptsBeforeCommit => &[CrashSender],
        Rogue::MarksSentOn500 | Rogue::RefusalIsFinal | Rogue::ObeysAnyRetryAfter
        | Rogue::RetryAfterStallsWorker => &[Refusal],
        Rogue::PollsByCursor => &[CommitFailed, CrashSender],
        Rogue::FanOutHalf => &[CrashSender, TwoEndpoints],
        Rogue::FanOutRetriedForAll => &[TwoEndpoints, Refusal],
        Rogue::NewIdOnResend | Rogue::ResendSwallowed | Rogue::ResendBesideOpen => &[OperatorResend],
        Rogue::ZombieSettles | Rogue::ZombieReleases => &[Stall, CrashSender],
        Rogue::NoFenceOnFailure => &[Stall, Refusal],
        Rogue::ClaimsMoreThanItCanDial | Rogue::SendsBeforeClaim => &[Stall, CommitFailed],
        Rogue::LadderOffByOne | Rogue::NoCap | Rogue::DisablesOnFailure => &[EndpointDown, Refusal],
        Rogue::RetriesAtOnce | Rogue::RetryResetsCounter => &[DropRequest, Refusal],
        Rogue::DeadAttemptUncounted | Rogue::LostClaimAtOnce => &[CrashSender],
        Rogue::NoTotalDeadline | Rogue::UnknownIsRefused => &[Hang, SlowReader],
        Rogue::FailureBlocksQueue => &[EndpointDown, TwoEndpoints],
        Rogue::NoLimitAfterOutage | Rogue::UnguardedEndpoint => &[DatabaseDown, TwoEndpoints],
        Rogue::DuplicateNeverQueued | Rogue::UnguardedEvent => &[Republish, CommitAnswerLost],
        Rogue::ReserialisesPayload | Rogue::FirstSignatureReused => &[DropRequest, Refusal],
        Rogue::SignsWithNewSecretAlone | Rogue::OldSecretForEver => &[SecretRotated, DropRequest],
        Rogue::FollowsRedirects => &[Redirect],
        Rogue::VetsOnlyAtRegistration | Rogue::LooksAtFirstAddressOnly
            => &[TargetPrivate, DropRequest],

        // The receiver's door.
        Rogue::ReadsV1AsSingleValue => &[SecretRotated, DropRequest],
        Rogue::MalformedCandidateBlocksGood => &[],
        Rogue::VerifiesReserialisedJson => &[Tampered],
        Rogue::StoresThenVerifies | Rogue::VerifierThrows500 => &[Forged, Tampered, Stale],
        Rogue::AnswersBeforeBodyEnds | Rogue::StoresWhatWasCutShort => &[Truncated],
        Rogue::IdFromUnsignedHeader => &[UnsignedId],
        Rogue::AnyAccountsSecretOnAnyPath => &[Forged, TwoEndpoints],
        Rogue::OkWhereHandshakeIsWanted | Rogue::Answers202WhereOnly200Counts => &[],
        Rogue::Keeps10sWhere3s => &[Hang],
        Rogue::AcksThenStores | Rogue::WorksBeforeAnswering | Rogue::ProcessedAtAck => &[CrashReceiver],
        Rogue::QueuesInMemory => &[DatabaseDown, CrashReceiver],
        Rogue::RelaxedDurability => &[PowerLoss],
        Rogue::CheckThenInsert | Rogue::NullInKey | Rogue::DuplicateIs409
        | Rogue::AcksOpenDuplicate => &[Duplicate, Delay, DropResponse],
        Rogue::AccountLeftOut => &[TwoEndpoints],
        Rogue::AnyErrorIsDuplicate => &[CommitFailed, DatabaseReadOnly],
        Rogue::DedupesByResource => &[OutOfOrder],
        Rogue::UnknownTypeIs400 => &[UnknownType],
        Rogue::BadRowFailsGroup => &[Unreadable],
        Rogue::LastBytesWin => &[OtherBytes, Duplicate],

        // The receiver's work.
        Rogue::OperationByDelivery => &[TwoEndpoints],
        Rogue::OperationByEventType | Rogue::NoOccurrence | Rogue::BooksWithoutLock
        | Rogue::UnguardedOperation => &[ManualBooking, TwoEndpoints],
        Rogue::MarkThenEffect | Rogue::EffectInAnotherTransaction | Rogue::NoHandler
            => &[CrashReceiver, CommitFailed],
        Rogue::ReplaySkipsGuard | Rogue::ReplayDeduplicated => &[OperatorReplay, Poison],
        Rogue::ReplayWithoutAuthorisation => &[OperatorReplay, Poison, Unreadable],
        Rogue::SwallowsHandlerError | Rogue::RetriesForEver | Rogue::PoisonBlocksQueue
        | Rogue::DropsAfterLastRetry | Rogue::NoAlert | Rogue::NoReason => &[Poison],
        Rogue::BookedLeavesStateBehind => &[ManualBooking],
        Rogue::AppliesInArrivalOrder | Rogue::LastWriteWins | Rogue::DropsTooEarly
        | Rogue::EarlyIsDeadLetter | Rogue::DeferralIsFailure | Rogue::LedgerByArrival
        | Rogue::UnguardedEntity | Rogue::UnguardedEntityRead | Rogue::NoWake
            => &[OutOfOrder, Delay, DropRequest],
        Rogue::DefersForEver => &[OutOfOrder, EndpointDown],
        Rogue::OutageBurnsLadder => &[HandlerInfrastructure, DatabaseDown],
        Rogue::ZombieWorks | Rogue::UnguardedReceipt => &[Stall, CrashReceiver],
        Rogue::ExternalWithoutKey | Rogue::KeyEachAttempt => &[ExternalTimeout],
        Rogue::RefetchOverwrites => &[StaleApi, OutOfOrder, Delay],
        Rogue::ForgetsKeysEarly | Rogue::UnguardedPurge => &[Purge, Duplicate, DropResponse],
        Rogue::PurgesDeferred => &[Purge, OutOfOrder, Delay],
        Rogue::UnguardedEndpointRead => &[EndpointLife, OperatorResend],
        Rogue::UnguardedDelivery => &[Stall, OperatorResend],
    }
}
