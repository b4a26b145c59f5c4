//! A receipt, as far as the history tells.

use hookproof_core::{
    Millis,
    model::{Proposal, State},
    profile::InboxPolicy,
};

use super::{super::pack::NEVER, rows::key};
use crate::history::{Body, DeliveryId, EntityNo, Reading, ReceiptNo};

/// A receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Receipt {
    pub(super) stand: Stand,
    pub(super) id: DeliveryId,
    pub(super) body: Body,
    pub(super) reading: Reading,
    pub(super) claim: Option<Claim>,
    /// Tries of this climb that count.
    pub(super) strikes: u16,
    /// On the database's clock: a retry is not due before, a deferral sleeps no longer than until.
    pub(super) wake: Millis,
    pub(super) cap: Cap,
    /// On the database's clock: it must not be purged before.
    pub(super) keep: Millis,
    /// On the database's clock: it is due then at the latest. Kept only where lateness counts.
    pub(super) due: Millis,
    /// What the authoritative API said within this claim.
    pub(super) fetched: Option<(State, u64)>,
    pub(super) marks: u16,
    /// The next receipt about the same entity.
    pub(super) next: Option<ReceiptNo>,
}

/// Where a receipt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    Absent,
    Queued,
    Deferred,
    Retrying,
    Applied,
    AlreadyBooked,
    Overtaken,
    Ignored,
    InReview,
}

/// A claim that has not been concluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) fence: u32,
    /// On the database's clock. Whatever the worker decides was decided no earlier.
    pub(super) at: Millis,
    /// The outcomes of the handler since, as a set.
    pub(super) ran: u8,
    /// The database's clock was put back since, or jumped just before, so that nothing is known of when
    /// it decided.
    pub(super) jumped: bool,
}

/// Until when a deferral may last, on the database's clock. A decision comes after its claim and before
/// its line, so the deadline is known only between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cap {
    pub(super) earliest: Millis,
    pub(super) latest: Millis,
}

/// What is remembered of a receipt besides where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A copy of it was acknowledged.
    Acknowledged = 1,
    /// The machine was lost since its last commit: only a durable row is still there.
    Shaken = 1 << 1,
    /// It was applied once, which a replay cannot take back.
    Applied = 1 << 2,
    /// It is among the events that made its entity what it is.
    Counted = 1 << 3,
    /// An alert about it was committed and not yet sent.
    Alerting = 1 << 4,
    /// A person had it replayed, and it has not been worked since.
    Replayed = 1 << 5,
    /// Its prerequisite was applied in the commit being read, which owes it a wake.
    Owed = 1 << 6,
    /// The end has said where it stands.
    Seen = 1 << 7,
    /// The database's clock was put back while it was open, so its deadlines may seem further away.
    Adrift = 1 << 8,
    /// It is no more, but it was: whoever still works on it learns so from the commit.
    Gone = 1 << 9,
    /// It is in the list of those that may be late; nothing is decided by it.
    Listed = 1 << 10,
}

impl Stand {
    /// Whether work is still to be done.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Deferred | Self::Retrying)
    }
}

impl Cap {
    /// Nothing is known: it may end at once, or never.
    pub(super) const UNKNOWN: Self = Self { earliest: Millis(0), latest: NEVER };

    /// It counts from here at the earliest.
    pub(super) fn from(db: Millis, policy: &InboxPolicy) -> Self {
        Self { earliest: db + policy.defer_cap_ms, ..Self::UNKNOWN }
    }
}

impl Receipt {
    pub(super) const ABSENT: Self = Self {
        stand: Stand::Absent,
        id: DeliveryId(0),
        body: Body(0),
        reading: Reading::UnknownType,
        claim: None,
        strikes: 0,
        wake: Millis(0),
        cap: Cap::UNKNOWN,
        keep: NEVER,
        due: NEVER,
        fetched: None,
        marks: 0,
        next: None,
    };

    pub(super) fn is(&self, mark: Mark) -> bool {
        self.marks & mark as u16 != 0
    }

    pub(super) fn mark(&mut self, mark: Mark) {
        self.marks |= mark as u16;
    }

    pub(super) fn unmark(&mut self, mark: Mark) {
        self.marks &= !(mark as u16);
    }

    /// The marks that verdicts depend on.
    pub(super) fn weighty_marks(&self) -> u16 {
        self.marks & !(Mark::Listed as u16)
    }

    pub(super) fn is_present(&self) -> bool {
        self.stand != Stand::Absent
    }

    pub(super) fn entity(&self) -> Option<EntityNo> {
        match self.reading {
            Reading::Event { entity, .. } => Some(entity),
            Reading::UnknownType | Reading::Unreadable => None,
        }
    }

    pub(super) fn proposal(&self) -> Option<Proposal> {
        match self.reading {
            Reading::Event { entity, kind, occurrence, version } => {
                Some(Proposal { entity: key(entity), event: kind, occurrence, version })
            }
            Reading::UnknownType | Reading::Unreadable => None,
        }
    }

    /// The work is over for now: what only the work needed is forgotten.
    pub(super) fn conclude(&mut self, stand: Stand) {
        let due = if stand.is_open() { self.due } else { NEVER };
        let strikes = if stand.is_open() { self.strikes } else { 0 };
        let cap = if stand.is_open() { self.cap } else { Cap::UNKNOWN };
        *self =
            Self { stand, claim: None, wake: Millis(0), fetched: None, due, strikes, cap, ..*self };
        self.unmark(Mark::Shaken);
        self.unmark(Mark::Replayed);
        if !stand.is_open() {
            self.unmark(Mark::Adrift);
        }
    }
}

impl Default for Receipt {
    fn default() -> Self {
        Self::ABSENT
    }
}
