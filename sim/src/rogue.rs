//! Rogues: one wrong line each, of the kind that people really write. They check the checker.
//!
//! A rogue is a switch in a driver or in the store, or a change of what a decision wrote. None is a
//! second implementation. Guard rogues come from the write enum by an exhaustive match, so that a new
//! kind of write without its rogue does not compile.

mod list;
mod sealing;
mod tamper;

pub use list::Rogue;

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
    setup::{Form, Setup},
    world::Parcel,
};

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
            (Self::Answers202WhereOnly200Counts, _) => 202,
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
