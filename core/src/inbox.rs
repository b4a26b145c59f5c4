//! The receiver's door: one receipt for each delivery id, and what people may do with it later.

use alloc::vec;

use crate::{
    Digest, Id, Millis, Reason,
    model::Proposal,
    plan::{About, Audit, Plan, Put, Write},
    profile::InboxPolicy,
};

/// The durable row for one delivery. Unique on (source, account, delivery id), none of them NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Receipt {
    /// The row's key.
    pub id: Id,
    /// The row's revision.
    pub rev: u32,
    /// The digest of the bytes that arrived first.
    pub digest: Digest,
    /// What they propose; `None`: nothing that this receiver can work on.
    pub proposal: Option<Proposal>,
    /// Where it stands.
    pub stand: Stand,
    /// Tries of this climb of the inbox ladder.
    pub strikes: u16,
    /// Moves on with each claim, outcome and replay: whoever holds an older one holds nothing.
    pub fence: u32,
    /// Whether the work on it was ever applied: a replay cannot take that back.
    pub applied: bool,
    /// Until when it may be deferred in all (R9); counted from its first claim, so that time in which
    /// nobody worked does not use it up.
    pub cap: Millis,
    /// When it arrived.
    pub received: Millis,
}

/// Where a receipt stands (R13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stand {
    /// Received, not yet worked; or at work, whatever it waited for.
    Queued {
        /// When a worker must look at it.
        wake: Millis,
    },
    /// Waiting for its prerequisite.
    Deferred {
        /// When a worker must look at it.
        wake: Millis,
    },
    /// Failed, and due again.
    Retrying {
        /// When a worker must look at it.
        wake: Millis,
    },
    /// Worked.
    Done(End),
    /// Of a type that this receiver does not know.
    Ignored,
    /// Set aside until a person replays it.
    InReview(Reason),
}

/// How the work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// It was applied.
    Applied,
    /// Its operation had been booked by somebody else.
    AlreadyBooked,
    /// Newer state was there.
    Overtaken,
}

/// A verified request, read as far as this receiver can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arrival {
    /// The key that a new receipt would get.
    pub receipt: Id,
    /// The digest of the received bytes.
    pub digest: Digest,
    /// What they say.
    pub reading: Reading,
}

/// What the bytes of a verified request say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// A proposal to an entity.
    Proposal(Proposal),
    /// Something of a type that this receiver does not know (R19).
    UnknownType,
    /// Nothing that can be read (R19).
    Unreadable,
}

/// The answer that an acknowledgement stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// A new receipt.
    Accepted,
    /// A known one.
    Duplicate,
    /// A known one, and these bytes differ from the first.
    OtherBytes,
}

/// What must hold for a replay (R12), looked up at the moment it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Warrant {
    /// The person who asks.
    pub by: Id,
    /// The person may replay for this account.
    pub person_allowed: bool,
    /// Source and account are still authorised.
    pub source_authorised: bool,
    /// The secret that verified it was not revoked.
    pub secret_unrevoked: bool,
}

/// Why a receipt is not replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotReplayed {
    /// The person may not.
    PersonNotAllowed,
    /// Source or account is no longer authorised.
    SourceNotAuthorised,
    /// The secret that verified it was revoked: it may be forged.
    SecretRevoked,
    /// It is waiting for work already.
    Waiting,
    /// There is nothing in it to work on; have a corrected copy received.
    NothingToWork,
}

impl core::fmt::Display for NotReplayed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::PersonNotAllowed => "this person may not replay for this account",
            Self::SourceNotAuthorised => "the source or its account is no longer authorised",
            Self::SecretRevoked => "the secret that verified this delivery was revoked",
            Self::Waiting => "the receipt is waiting for work already",
            Self::NothingToWork => {
                "the payload cannot be worked on; have a corrected copy received instead"
            }
        })
    }
}

impl core::error::Error for NotReplayed {}

/// Takes a verified request in. `found` is the committed receipt with the same delivery id.
///
/// The insert's unique constraint decides between two at once: the loser's plan is a conflict, and
/// loading again finds the winner.
pub fn receive(
    found: Option<&Receipt>,
    arrival: &Arrival,
    now: Millis,
    policy: &InboxPolicy,
) -> Plan<Reply> {
    match found {
        None => accept(arrival, now, policy),
        Some(receipt) if receipt.digest == arrival.digest => Plan::new(vec![], Reply::Duplicate),
        Some(receipt) => {
            let audit = Audit::OtherBytes { receipt: receipt.id, digest: arrival.digest };
            Plan::new(vec![Write::Audit(audit)], Reply::OtherBytes)
        }
    }
}

fn accept(arrival: &Arrival, now: Millis, policy: &InboxPolicy) -> Plan<Reply> {
    let (proposal, stand) = match arrival.reading {
        Reading::Proposal(proposal) => (Some(proposal), Stand::Queued { wake: now }),
        Reading::UnknownType => (None, Stand::Ignored),
        Reading::Unreadable => (None, Stand::InReview(Reason::Unreadable)),
    };
    let row = Receipt {
        id: arrival.receipt,
        rev: 0,
        digest: arrival.digest,
        proposal,
        stand,
        strikes: 0,
        fence: 0,
        applied: false,
        cap: now + policy.defer_cap_ms,
        received: now,
    };
    let mut writes = vec![Write::Receipt(Put { was: None, row })];
    if let Stand::InReview(reason) = stand {
        writes.push(Write::Alert { about: About::Receipt(row.id), reason });
    }
    Plan::new(writes, Reply::Accepted)
}

impl Receipt {
    /// When a worker must look at it again; `None` while nothing is to be done.
    pub const fn wake(&self) -> Option<Millis> {
        match self.stand {
            Stand::Queued { wake } | Stand::Deferred { wake } | Stand::Retrying { wake } => {
                Some(wake)
            }
            Stand::Done(_) | Stand::Ignored | Stand::InReview(_) => None,
        }
    }

    /// Has it worked again (R12): it enters at work, with the same bytes, not verified again, and
    /// passes the same guards. Gives the receipt back as it stands then.
    pub fn replay(
        &self,
        warrant: &Warrant,
        now: Millis,
        policy: &InboxPolicy,
    ) -> Result<Plan<Self>, NotReplayed> {
        if !warrant.person_allowed {
            return Err(NotReplayed::PersonNotAllowed);
        }
        if !warrant.source_authorised {
            return Err(NotReplayed::SourceNotAuthorised);
        }
        if !warrant.secret_unrevoked {
            return Err(NotReplayed::SecretRevoked);
        }
        if self.proposal.is_none() {
            return Err(NotReplayed::NothingToWork);
        }
        if self.wake().is_some() {
            return Err(NotReplayed::Waiting);
        }
        let cap = now + policy.defer_cap_ms;
        let fence = self.fence.wrapping_add(1);
        let row = Self { strikes: 0, fence, cap, ..self.next(Stand::Queued { wake: now }) };
        let audit = Write::Audit(Audit::Replayed { receipt: self.id, by: warrant.by });
        Ok(Plan::new(vec![self.put(row), audit], row))
    }

    /// Whether its bytes may go, while its key stays (R16): it is finished, and older than this. What is
    /// not finished keeps them, for the work and for a person.
    pub fn may_lose_payload(&self, now: Millis, keep_ms: u64) -> bool {
        let finished = matches!(self.stand, Stand::Done(_) | Stand::Ignored);
        finished && now.since(self.received) > keep_ms
    }

    /// Forgets a receipt that is finished and older than the retention (R16). Operation keys stay.
    pub fn purge(&self, now: Millis, policy: &InboxPolicy) -> Option<Plan<()>> {
        let finished = matches!(self.stand, Stand::Done(_) | Stand::Ignored);
        let old = policy.retention_ms.is_some_and(|keep| now.since(self.received) > keep);
        (finished && old).then(|| Plan::new(vec![Write::Purge { id: self.id, rev: self.rev }], ()))
    }

    pub(crate) fn next(&self, stand: Stand) -> Self {
        Self { rev: self.rev.wrapping_add(1), stand, ..*self }
    }

    pub(crate) fn put(&self, row: Self) -> Write {
        Write::Receipt(Put { was: Some(self.rev), row })
    }
}
