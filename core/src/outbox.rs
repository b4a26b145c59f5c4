//! The sender: events, their fan-out, and deliveries that climb the ladder.

mod event;

use alloc::{vec, vec::Vec};

pub use self::event::{Event, Published, publish};
use crate::{
    Id, Millis, Reason,
    endpoint::{Admission, Endpoint, Lane, Life},
    model::Operation,
    plan::{About, Audit, Plan, Put, Write},
    profile::{OnExhausted, OnGone, Profile},
};

/// What a delivery carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// An event of the sender.
    Event(Id),
    /// An effect outside, keyed by its operation (R14).
    Effect(Operation),
}

/// One event for one endpoint: the row that climbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delivery {
    /// The row's key, from which the delivery id is made once and for ever (S3).
    pub id: Id,
    /// The row's revision.
    pub rev: u32,
    /// What it carries.
    pub subject: Subject,
    /// Where to.
    pub endpoint: Id,
    /// Where it stands.
    pub stand: Stand,
    /// Requests made or owed to a claim, over all cycles.
    pub attempt: u32,
    /// Attempts of this cycle: the place on the ladder.
    pub rung: u16,
    /// Climbs of the ladder so far; a resend opens the next.
    pub cycle: u16,
    /// Claims so far. A claim is lost once this has moved on (S5).
    pub fence: u32,
    /// When it was made; the resend window counts from here.
    pub created: Millis,
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stand {
    /// Its next attempt is due.
    Pending {
        /// When.
        wake: Millis,
    },
    /// A worker holds it.
    Claimed {
        /// When another takes over if nothing settles it: on the ladder already.
        wake: Millis,
        /// Until when a request may be under way.
        lease: Millis,
        /// Whether a person wants the next attempt at once.
        hurried: bool,
    },
    /// The receiver has it.
    Acknowledged,
    /// Its cycle ended without.
    Failed(Reason),
    /// It was ended from outside.
    Cancelled(Reason),
}

/// What a claim gives out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// The right to send once.
    Send(Attempt),
    /// No attempt of the cycle is left, the last one was lost with its worker: the delivery has failed.
    Failed,
    /// The endpoint is gone: the delivery is cancelled.
    Cancelled,
}

/// A claimed delivery, nothing sent yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attempt(Ticket);

/// A request under way: the right to settle once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request(Ticket);

/// Which claim a worker holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// The delivery.
    pub delivery: Id,
    /// Where to.
    pub endpoint: Id,
    /// The attempt's number, over all cycles.
    pub attempt: u32,
    /// The claim's number.
    pub fence: u32,
}

/// How a request ended, as far as its worker knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// A whole response said yes.
    Acknowledged,
    /// A whole response said no.
    Refused {
        /// How long it asks to wait.
        retry_after_ms: Option<u64>,
    },
    /// A whole response said 410.
    Gone,
    /// Nothing whole came in time: it may have arrived.
    Unknown,
}

/// What a resend did (S11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resent {
    /// A new cycle is open and due.
    Opened {
        /// Its number.
        cycle: u16,
    },
    /// A cycle was open; its next attempt is due at once.
    PulledForward,
}

/// Why a delivery cannot be resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotResent {
    /// The resend window is over.
    TooOld,
    /// It was cancelled.
    Cancelled,
    /// Its endpoint takes no deliveries; enable it first.
    EndpointShut,
    /// Its cycle is open and has no attempt left to pull forward.
    LastUnderWay,
}

impl core::fmt::Display for NotResent {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::TooOld => "the resend window of this delivery is over",
            Self::Cancelled => "this delivery was cancelled; publish the event again",
            Self::EndpointShut => "the endpoint takes no deliveries; enable it, then resend",
            Self::LastUnderWay => "its last attempt is under way; resend once that has ended",
        })
    }
}

impl core::error::Error for NotResent {}

impl Delivery {
    /// A new delivery, due at once.
    pub const fn made(id: Id, subject: Subject, endpoint: Id, now: Millis) -> Self {
        let stand = Stand::Pending { wake: now };
        Self {
            id,
            rev: 0,
            subject,
            endpoint,
            stand,
            attempt: 0,
            rung: 0,
            cycle: 1,
            fence: 0,
            created: now,
        }
    }

    /// When a relay must look at it again; `None` once it has ended.
    pub const fn wake(&self) -> Option<Millis> {
        match self.stand {
            Stand::Pending { wake } | Stand::Claimed { wake, .. } => Some(wake),
            Stand::Acknowledged | Stand::Failed(_) | Stand::Cancelled(_) => None,
        }
    }

    /// Whether a request of it may be under way, and so takes one of its endpoint's slots.
    pub fn in_flight(&self, now: Millis) -> bool {
        match self.stand {
            Stand::Claimed { lease, .. } => lease > now,
            Stand::Pending { .. }
            | Stand::Acknowledged
            | Stand::Failed(_)
            | Stand::Cancelled(_) => false,
        }
    }

    /// Whether its cycle has no attempt left. Such a row needs no open lane: its claim ends it.
    pub fn is_used_up(&self, profile: &Profile) -> bool {
        self.rung >= profile.ladder.attempts()
    }

    /// Takes a due delivery, and schedules the retry in the same write: whoever dies with the claim
    /// leaves a row that is on the ladder already. `None`: not due, or its lane is shut.
    pub fn claim(
        &self,
        lane: &Lane,
        now: Millis,
        roll: u64,
        profile: &Profile,
    ) -> Option<Plan<Claim>> {
        assert_eq!(lane.endpoint.id, self.endpoint, "a delivery is claimed on its own lane");
        if self.wake().is_none_or(|wake| wake > now) {
            return None;
        }
        match lane.admit(now, profile) {
            Admission::Gone => {
                let row = self.next(Stand::Cancelled(Reason::EndpointGone));
                Some(Plan::new(vec![lane.endpoint.hold(), self.put(row)], Claim::Cancelled))
            }
            _ if self.is_used_up(profile) => {
                let lost = matches!(self.stand, Stand::Claimed { .. });
                let reason = if lost { Reason::ClaimLost } else { Reason::Exhausted };
                let endpoint = used_up(&lane.endpoint, profile).unwrap_or(lane.endpoint.hold());
                Some(Plan::new(self.failed(reason, Some(endpoint)), Claim::Failed))
            }
            Admission::Shut => None,
            Admission::Open(endpoint) => {
                let row = self.claimed(now, roll, profile);
                let writes = vec![lane.endpoint.put(endpoint), self.put(row)];
                Some(Plan::new(writes, Claim::Send(Attempt(row.ticket()))))
            }
        }
    }

    /// Has it sent again (S11): a new cycle if none is open, else the open one's next attempt now.
    pub fn resend(
        &self,
        endpoint: &Endpoint,
        by: Id,
        now: Millis,
        profile: &Profile,
    ) -> Result<Plan<Resent>, NotResent> {
        assert_eq!(endpoint.id, self.endpoint, "a delivery is resent to its own endpoint");
        if now.since(self.created) > profile.resend_window_ms {
            return Err(NotResent::TooOld);
        }
        if endpoint.life != Life::Active {
            return Err(NotResent::EndpointShut);
        }
        if self.wake().is_some() && self.is_used_up(profile) {
            return Err(NotResent::LastUnderWay);
        }
        let (row, resent) = match self.stand {
            Stand::Acknowledged | Stand::Failed(_) => {
                let cycle = self.cycle.saturating_add(1);
                let row = self.next(Stand::Pending { wake: now });
                (Self { cycle, rung: 0, ..row }, Resent::Opened { cycle })
            }
            Stand::Pending { wake } => {
                (self.next(Stand::Pending { wake: wake.min(now) }), Resent::PulledForward)
            }
            Stand::Claimed { wake, lease, .. } => {
                let stand = Stand::Claimed { wake: wake.min(lease), lease, hurried: true };
                (self.next(stand), Resent::PulledForward)
            }
            Stand::Cancelled(_) => return Err(NotResent::Cancelled),
        };
        let audit = Write::Audit(Audit::Resent { delivery: self.id, by });
        Ok(Plan::new(vec![endpoint.hold(), self.put(row), audit], resent))
    }

    /// Ends an open delivery from outside.
    pub fn cancel(&self, reason: Reason) -> Option<Plan<()>> {
        self.wake()?;
        Some(Plan::new(vec![self.put(self.next(Stand::Cancelled(reason)))], ()))
    }

    fn claimed(&self, now: Millis, roll: u64, profile: &Profile) -> Self {
        let lease = now + profile.lease_ms();
        let rung = self.rung.saturating_add(1);
        let wake = now + profile.ladder.wait(rung, roll).unwrap_or(0);
        let stand = Stand::Claimed { wake: wake.max(lease), lease, hurried: false };
        let row = self.next(stand);
        let attempt = self.attempt.saturating_add(1);
        Self { attempt, rung, fence: self.fence.wrapping_add(1), ..row }
    }

    fn failed(&self, reason: Reason, endpoint: Option<Write>) -> Vec<Write> {
        let alert = Write::Alert { about: About::Delivery(self.id), reason };
        let mut writes: Vec<Write> = endpoint.into_iter().collect();
        writes.extend([self.put(self.next(Stand::Failed(reason))), alert]);
        writes
    }

    fn next(&self, stand: Stand) -> Self {
        Self { rev: self.rev.wrapping_add(1), stand, ..*self }
    }

    fn put(&self, row: Self) -> Write {
        Write::Delivery(Put { was: Some(self.rev), row })
    }

    fn ticket(&self) -> Ticket {
        let Self { id: delivery, endpoint, attempt, fence, .. } = *self;
        Ticket { delivery, endpoint, attempt, fence }
    }

    fn is_held_by(&self, ticket: Ticket) -> bool {
        matches!(self.stand, Stand::Claimed { .. })
            && (self.id, self.fence) == (ticket.delivery, ticket.fence)
    }
}

fn used_up(endpoint: &Endpoint, profile: &Profile) -> Option<Write> {
    match profile.on_exhausted {
        OnExhausted::Keep => None,
        OnExhausted::Disable => Some(endpoint.disable()),
    }
}

impl Attempt {
    /// The claim that it is.
    pub const fn ticket(&self) -> Ticket {
        self.0
    }

    /// Starts the request, `elapsed_ms` of the worker's own monotonic time after it asked for the
    /// claim (before the claim's transaction began: its lease counts from within). Past the start limit
    /// the right is gone, and only [`Attempt::release`] is left (S5).
    pub fn start(self, elapsed_ms: u64, profile: &Profile) -> Result<Request, Self> {
        if elapsed_ms > profile.start_limit_ms { Err(self) } else { Ok(Request(self.0)) }
    }

    /// Gives the claim back unused, due at once: the only write that lowers the count. `row` is the
    /// delivery as it stands; `None`: the claim was taken over.
    pub fn release(&self, row: &Delivery, now: Millis) -> Option<Plan<()>> {
        if !row.is_held_by(self.0) {
            return None;
        }
        let next = row.next(Stand::Pending { wake: now });
        let next = Delivery { attempt: row.attempt - 1, rung: row.rung - 1, ..next };
        Some(Plan::new(vec![row.put(next)], ()))
    }
}

impl Request {
    /// The claim that it is.
    pub const fn ticket(&self) -> Ticket {
        self.0
    }

    /// Records how the request ended. `row` is the delivery as it stands; `None`: the claim was taken
    /// over, and whoever took it decides (S5). Gives out where the delivery stands now.
    pub fn settle(
        &self,
        row: &Delivery,
        endpoint: &Endpoint,
        ended: Ended,
        now: Millis,
        roll: u64,
        profile: &Profile,
    ) -> Option<Plan<Stand>> {
        assert_eq!(endpoint.id, row.endpoint, "a request is settled with its own endpoint");
        if !row.is_held_by(self.0) {
            return None;
        }
        let retry_after_ms = match (ended, profile.on_gone) {
            (Ended::Acknowledged, _) => return Some(row.settled(Stand::Acknowledged)),
            (Ended::Gone, OnGone::Fail) => return Some(row.ended(Reason::Gone, None)),
            (Ended::Gone, OnGone::Disable) => {
                return Some(row.ended(Reason::Gone, Some(endpoint.disable())));
            }
            (Ended::Refused { retry_after_ms }, _) => retry_after_ms.unwrap_or(0),
            (Ended::Gone, OnGone::Climb) | (Ended::Unknown, _) => 0,
        };
        let Some(wait) = profile.ladder.wait(row.rung, roll) else {
            let unknown = ended == Ended::Unknown;
            let reason = if unknown { Reason::Unanswered } else { Reason::Exhausted };
            return Some(row.ended(reason, used_up(endpoint, profile)));
        };
        let wait = wait.max(retry_after_ms.min(profile.retry_after_max_ms));
        let hurried = matches!(row.stand, Stand::Claimed { hurried: true, .. });
        let wake = if hurried { now } else { now + wait };
        Some(row.settled(Stand::Pending { wake }))
    }
}

impl Delivery {
    fn settled(&self, stand: Stand) -> Plan<Stand> {
        Plan::new(vec![self.put(self.next(stand))], stand)
    }

    fn ended(&self, reason: Reason, endpoint: Option<Write>) -> Plan<Stand> {
        Plan::new(self.failed(reason, endpoint), Stand::Failed(reason))
    }
}
