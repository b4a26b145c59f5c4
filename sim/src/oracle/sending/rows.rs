//! What is known of the sender's rows, and how it is packed.

use hookproof_core::Millis;

use super::clock::Clock;

/// An event, as far as its fan-out goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, in any combination")]
pub(super) struct Event {
    /// Whether its transaction committed.
    pub(super) committed: bool,
    /// Whether its fan-out committed.
    pub(super) fanned: bool,
    /// Whether it is marked as processed: everybody has it, or nobody wants it.
    pub(super) closed: bool,
    /// Whether a restore left open if it exists and was fanned out.
    pub(super) adrift: bool,
    /// The endpoints that must get it, until its fan-out.
    pub(super) owed: u64,
    /// The endpoints that may get it, until its fan-out.
    pub(super) may: u64,
    /// The endpoints that got it, until its fan-out.
    pub(super) got: u64,
    /// When it was due on the sender's clock, where lateness counts.
    pub(super) due: Millis,
    /// How many fan-outs had been made by then.
    pub(super) fan_outs: u32,
    /// Its last delivery, counted from 1, from which the others hang.
    pub(super) last: u32,
}

/// Where a delivery's row stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) enum Row {
    /// There is none.
    #[default]
    Unborn,
    /// It waits for its next attempt.
    Open,
    /// A worker holds it.
    Claimed,
    /// The receiver has it.
    Acknowledged,
    /// Its cycle ended without.
    Failed,
    /// It was ended from outside.
    Cancelled,
}

impl Row {
    /// Whether a row was ever committed.
    pub(super) fn exists(self) -> bool {
        self != Self::Unborn
    }

    /// Whether it is on its ladder.
    pub(in super::super) fn is_open(self) -> bool {
        match self {
            Self::Open | Self::Claimed => true,
            Self::Unborn | Self::Acknowledged | Self::Failed | Self::Cancelled => false,
        }
    }
}

/// A delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, in any combination")]
pub(super) struct Delivery {
    pub(super) row: Row,
    pub(super) event: u32,
    pub(super) endpoint: u32,
    pub(super) id: u32,
    /// Whether a restore left open where it stands.
    pub(super) adrift: bool,
    /// Whether a person asked for its next attempt at once, before it was due.
    pub(super) pulled: bool,
    /// Whether the database's clock jumped since its last write, and perhaps since a decision.
    pub(super) jumped: bool,
    /// Whether something else than its receiver acknowledged it.
    pub(super) foreign: bool,
    /// Whether its row was there when everything had run out.
    pub(super) stood: bool,
    pub(super) cycle: u16,
    pub(super) rung: u16,
    pub(super) attempt: u32,
    /// Requests of this cycle.
    pub(super) requests: u16,
    /// Claims of this cycle that died with their worker.
    pub(super) lost: u16,
    /// How often a worker had stalled at its last write.
    pub(super) stalls: u32,
    /// When the row wakes: no claim before.
    pub(super) wake: Millis,
    /// The last instant at which it can be resent.
    pub(super) window: Millis,
    pub(super) claim: Claim,
    /// When it was due, where lateness counts.
    pub(super) due: Due,
    /// When it would have been due, had nobody asked for it.
    pub(super) former: Due,
    /// When its cycle began, where lateness counts.
    pub(super) began: Due,
    /// The delivery of the same event before it, counted from 1.
    pub(super) before: u32,
}

impl Delivery {
    /// Whether a resend opened a cycle of which nothing was seen.
    pub(super) fn is_swallowed(&self) -> bool {
        self.row == Row::Open && self.cycle > 1 && self.rung == 0
    }
}

/// An instant on the clock of an endpoint, with how many attempts it had started by then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) at: Millis,
    pub(super) starts: u32,
}

/// The claim that a worker holds, or held last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, in any combination")]
pub(super) struct Claim {
    pub(super) fence: Option<u32>,
    pub(super) relay: u8,
    pub(super) phase: Phase,
    pub(super) attempt: u32,
    /// Whether its worker died. What it had decided may still commit; it starts and learns nothing.
    pub(super) dead: bool,
    /// Whether the database's clock may have jumped between its decision and its commit, so that
    /// neither its slot nor its turn is known.
    pub(super) astray: bool,
    /// Whether a person asked for the next attempt at once.
    pub(super) hurried: bool,
    /// Whether it takes one of its endpoint's slots.
    pub(super) counted: bool,
    /// Whether its receiver answered 2xx, and whether it answered anything else.
    pub(super) said: Said,
    /// How often something had answered in a receiver's place when the request started.
    pub(super) stand_ins: u32,
    /// How often a worker had stalled when the request started.
    pub(super) stalls: u32,
    /// The last instant at which its worker may start the request.
    pub(super) start_by: Millis,
    /// The last instant at which the request may end.
    pub(super) end_by: Millis,
    /// The same on the database's clock, by which slots are counted.
    pub(super) slot_until: Millis,
    /// Before this nobody else may own the delivery.
    pub(super) lease: Millis,
    /// When the wait that follows is over at the earliest: it counts from the end of the request,
    /// before which nothing was decided.
    pub(super) next: Millis,
    /// What the receiver asked to wait, clamped.
    pub(super) retry_after_ms: u64,
    /// What the delivery was due as when it was claimed.
    pub(super) was: Due,
}

impl Claim {
    /// Whether it has this number and is not over.
    pub(super) fn is(&self, fence: u32) -> bool {
        self.phase != Phase::Over && self.fence == Some(fence)
    }

    /// A claim whose number alone matters: the next one has another.
    pub(super) fn over(self) -> Self {
        Self { fence: self.fence, ..Self::default() }
    }
}

/// How far a claim has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is over: settled, released or lost.
    #[default]
    Over,
    /// Nothing was sent.
    Idle,
    /// The request is under way.
    InFlight,
    /// The worker knows that it was acknowledged.
    Acknowledged,
    /// The worker knows that it was refused.
    Refused,
    /// The worker knows that the receiver said 410.
    Gone,
    /// The worker knows nothing, and waits no longer.
    Unknown,
}

/// What a receiver answered to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) yes: bool,
    pub(super) no: bool,
}

/// A claim that was taken over, whose worker may still be at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zombie {
    pub(super) delivery: u32,
    pub(super) claim: Claim,
}

impl Zombie {
    /// Whether it can still do anything that is not a breach in itself.
    pub(super) fn matters(&self, now: Millis) -> bool {
        match self.claim.phase {
            Phase::InFlight => !self.claim.dead,
            Phase::Idle => !self.claim.dead && self.claim.start_by >= now,
            Phase::Over | Phase::Acknowledged | Phase::Refused | Phase::Gone | Phase::Unknown => {
                false
            }
        }
    }
}

/// An endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, in any combination")]
pub(super) struct Endpoint {
    pub(super) life: Life,
    /// Whether its life ever changed, so that a restore may change it back.
    pub(super) turned: bool,
    /// Whether a restore left its life open.
    pub(super) adrift: bool,
    /// How often its URL or secret was changed, and whether a restore left that open.
    pub(super) url: u32,
    pub(super) moved: bool,
    /// Whether its receiver's lines are in the history.
    pub(super) observed: bool,
    /// Whether the profile lets the sender disable it, after a 410 or a used-up cycle.
    pub(super) may_disable: bool,
    /// How many of its slots are taken.
    pub(super) in_flight: u16,
    /// How many attempts were started.
    pub(super) starts: u32,
    /// The theoretical arrival time of the next attempt.
    pub(super) next: Millis,
    /// The same by claims, at the earliest; where lateness counts.
    pub(super) paced: Millis,
    pub(super) clock: Clock,
    /// When its life changed last, and by how much the sender's clock had gone back until then.
    pub(super) left: (Millis, u64),
}

/// Whether an endpoint takes deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Life {
    /// It was never registered.
    #[default]
    Unborn,
    Active,
    Paused,
    Disabled,
    Unsubscribed,
    Deleted,
}

impl Life {
    /// Whether what is due there waits for a person.
    pub(super) fn waits(self) -> bool {
        match self {
            Self::Paused | Self::Disabled => true,
            Self::Unborn | Self::Active | Self::Unsubscribed | Self::Deleted => false,
        }
    }

    /// Whether its open deliveries are cancelled.
    pub(super) fn has_left(self) -> bool {
        match self {
            Self::Unsubscribed | Self::Deleted => true,
            Self::Unborn | Self::Active | Self::Paused | Self::Disabled => false,
        }
    }
}
