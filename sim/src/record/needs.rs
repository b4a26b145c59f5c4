//! What each promise needs of a history, in one table.
//!
//! A promise is judged on a *view*: the facts that it needs, and no others, so that what else a history
//! holds changes nothing. Some facts can only *excuse*: without them a breach proves nothing, and to
//! find none says all the more. A view that looks at a part of a promise can break it and not keep it.
//! A view that is whole, of a history that holds everything, is the oracle's own.

use super::held::{
    Held::{self, *},
    Holds,
};
use crate::promise::Promise;

/// Facts on which a promise can be judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) promise: Promise,
    /// What has to be held.
    pub(super) needs: Holds,
    /// What has to be held for a breach to count.
    pub(super) excuses: Holds,
    /// Whether it shows all of the promise.
    pub(super) whole: bool,
    /// Whether it shows all that can make a deed late, or excuse it.
    pub(super) timely: bool,
    /// Whether every receipt counts as one of a delivery of its own: that there are two is the matter of
    /// another promise.
    pub(super) apart: bool,
    /// A fact with which it does not show all of it.
    pub(super) unless: Option<Held>,
}

/// The views of a promise.
pub(super) fn views(promise: Promise) -> impl Iterator<Item = View> {
    VIEWS.iter().copied().filter(move |view| view.promise == promise)
}

/// All that the monitors of a promise read.
const fn all(promise: Promise, needs: Holds) -> View {
    View { timely: true, ..whole(promise, needs, NONE) }
}

const fn whole(promise: Promise, needs: Holds, excuses: Holds) -> View {
    View { promise, needs, excuses, whole: true, timely: false, apart: false, unless: None }
}

const fn part(promise: Promise, needs: Holds, excuses: Holds) -> View {
    View { whole: false, ..whole(promise, needs, excuses) }
}

/// Receipts and effects, whatever came of their deliveries.
const fn effects(view: View) -> View {
    View { apart: true, excuses: GONE, ..view }
}

const NONE: Holds = Holds::of(&[]);
/// What a row may have gone with, without a trace.
const GONE: Holds = Holds::of(&[Purged, Restored, BackedUp]);
const RESTORED: Holds = Holds::of(&[Restored]);

/// Everything that the sender's monitor reads.
#[rustfmt::skip]
pub(super) const SENDING: Holds = Holds::of(&[
    Committed, RolledBack, Published, FannedOut, FanOutDone, Swept, Claimed, ClaimLost,
    Released, Dialled, Requested, Responded, Settled, Fenced, Closed, Audited, Resent,
    Arrived, Answered, Endpoint, Crashed, PowerLost, Restarted, DatabaseUp, Restored,
    Conflicted, RolledBackByDatabase, CommitUnknown, ClockJumped, Fault, DeadLettered,
    Alerted, AlertSent, DeliveryStands, Ended,
]);

/// Everything that the receiver's monitor reads.
#[rustfmt::skip]
pub(super) const RECEIVING: Holds = Holds::of(&[
    Committed, ClaimLost, Settled, Closed, Audited, Arrived, Received, Differed, Answered,
    WorkClaimed, HandlerRan, Worked, Moved, Projected, Effect, WorkFailed, Woken,
    DeadLettered, Alerted, AlertSent, Replayed, Purged, BookedByHand, ExternalCall, Fetched,
    Endpoint, Crashed, PowerLost, Restarted, DatabaseUp, BackedUp, Restored, Conflicted,
    RolledBackByDatabase, CommitUnknown, ClockJumped, Fault, Quiet, ReceiptStands,
    EntityStands, Ended, Bodies, Origins, Types,
]);

/// Everything that is read where signatures, targets and bytes count.
#[rustfmt::skip]
pub(super) const SECURING: Holds = Holds::of(&[
    Committed, FannedOut, Dialled, Requested, Responded, Arrived, Received, Differed,
    Answered, Greeted, Secret, Crashed, ClockJumped, Fault, Bodies, Signatures, Origins,
]);

/// Why a request may fail, or its answer be late, without anybody's mistake.
const WEATHER: Holds = Holds::of(&[
    Crashed,
    PowerLost,
    DatabaseUp,
    Conflicted,
    RolledBackByDatabase,
    CommitUnknown,
    Fault,
]);

/// An access log: each request with its answer.
const DOOR: Holds = Holds::of(&[Arrived, Origins, Answered]);

#[rustfmt::skip]
const VIEWS: &[View] = {
    use Promise::*;
    &[
        whole(S1, Holds::of(&[Committed, FannedOut, Requested]), RESTORED),
        all(S2, SENDING),
        whole(S3, Holds::of(&[FannedOut, Requested]), RESTORED),
        part(S3, Holds::of(&[Requested]), RESTORED),
        whole(S4, Holds::of(&[Committed, FannedOut, Requested, Bodies]), NONE),
        part(S4, Holds::of(&[Requested, Bodies]), NONE),
        all(S5, SENDING),
        all(S6, SENDING),
        all(S7, SENDING),
        all(S8, SENDING),
        all(S9, SECURING),
        all(S10, SENDING),
        part(S10, Holds::of(&[Dialled]), NONE),
        all(S11, SENDING),
        all(S12, SENDING),
        whole(S13, Holds::of(&[Requested, Signatures]), Holds::of(&[ClockJumped])),
        all(S14, SENDING),
        whole(S15, Holds::of(&[Committed, Published]), RESTORED),
        whole(R1, DOOR.and(Holds::of(&[Crashed])), Holds::of(&[Secret, ClockJumped])),
        whole(
            R2,
            DOOR.and(Holds::of(&[Received, Differed, Bodies, Crashed])),
            Holds::of(&[Secret, ClockJumped, Fault]),
        ),
        all(R3, RECEIVING),
        View { unless: Some(PowerLost), ..whole(R3, DOOR.and(Holds::of(&[Received, PowerLost])), GONE) },
        part(R3, DOOR.and(Holds::of(&[Received])), GONE),
        whole(R4, DOOR.and(Holds::of(&[Received, Differed, Bodies, Crashed])), GONE.and(WEATHER)),
        part(R4, Holds::of(&[Received]), GONE.and(Holds::of(&[PowerLost]))),
        all(R5, RECEIVING),
        effects(part(R5, Holds::of(&[Received, Effect]), NONE)),
        all(R6, RECEIVING),
        effects(part(R6, Holds::of(&[Received, Effect, Types]), NONE)),
        effects(whole(R7, Holds::of(&[Received, Effect, Types, BookedByHand, ExternalCall]), NONE)),
        effects(part(R7, Holds::of(&[Received, Effect, Types]), NONE)),
        all(R8, RECEIVING),
        all(R9, RECEIVING),
        all(R10, RECEIVING),
        all(R11, RECEIVING),
        all(R12, RECEIVING),
        all(R13, RECEIVING),
        all(R14, RECEIVING),
        part(R14, Holds::of(&[ExternalCall]), NONE),
        all(R15, RECEIVING),
        all(R16, RECEIVING),
        whole(
            R17,
            DOOR.and(Holds::of(&[Received, Bodies, Crashed])),
            Holds::of(&[Secret, ClockJumped, Fault]),
        ),
        all(R18, SECURING),
        part(R18, Holds::of(&[Greeted]), NONE),
        all(R19, RECEIVING),
        all(R20, RECEIVING),
        all(E1, SENDING.and(RECEIVING)),
    ]
};
