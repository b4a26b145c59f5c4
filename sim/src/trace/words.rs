//! The parts of facts in words.

use core::fmt::{Display, Formatter, Result};

use super::Span;
use crate::history::{
    About, Address, Authentic, Cause, DeliveryStand, EndpointLife, HandlerOutcome, Node,
    OperationKey, Outcome, Published, Reading, Reason, ReceiptStand, Replayed, Resent, SecretLife,
    Side, Verdict, WorkFault,
};

/// `Display` of a type by its words.
macro_rules! words {
    ($($type:ident { $($case:ident => $words:literal),+ $(,)? })+) => {$(
        impl Display for $type {
            fn fmt(&self, f: &mut Formatter<'_>) -> Result {
                f.pad(match self {
                    $(Self::$case => $words,)+
                })
            }
        }
    )+};
}

words! {
    Side { Sender => "sender", Receiver => "receiver" }
    Published {
        Accepted => "accepted",
        Duplicate => "duplicate, one event",
        KeyReused => "refused, the key is known with another body",
        Failed => "failed, try again",
    }
    Address { Vetted => "to the vetted address", Other => "to another address than the vetted one" }
    Authentic {
        Yes => "",
        Forged => ", forged",
        Foreign => ", signed by another account",
        Outlived => ", signed by no live secret",
        Stale => ", stale",
    }
    HandlerOutcome {
        Done => "done",
        Failed => "failed on this event",
        Infrastructure => "stopped: its infrastructure failed",
    }
    WorkFault { Event => "the event's fault", Infrastructure => "the infrastructure's fault" }
    Replayed {
        Accepted => "due at work",
        Refused => "refused",
        Waiting => "already waiting for work",
    }
    SecretLife {
        Made => "made",
        Retired => "retired, still good for the overlap",
        Gone => "gone",
        Revoked => "revoked at once",
    }
    EndpointLife {
        Registered => "registered",
        Changed => "changed",
        Paused => "paused",
        Resumed => "resumed",
        Disabled => "disabled",
        Unsubscribed => "unsubscribed",
        Deleted => "deleted",
    }
    ReceiptStand {
        Queued => "queued",
        Deferred => "deferred",
        Retrying => "retrying",
        Applied => "applied",
        AlreadyBooked => "already booked",
        Overtaken => "overtaken",
        Ignored => "ignored by policy",
        InReview => "in review",
    }
    Reason {
        None => "without a reason",
        Exhausted => "its cycle is used up, refused",
        Unanswered => "its cycle is used up, unknown",
        Gone => "the receiver said 410",
        ClaimLost => "its last claim died with its worker",
        Failing => "its ladder is used up",
        WorkerLost => "its workers died on it",
        DeferralCap => "its prerequisite did not come before the cap",
        Impossible => "no state leads to it",
        Unreadable => "its bytes cannot be read",
        EndpointGone => "its endpoint is gone",
        Operator => "a person ended it",
    }
}

impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.pad(&match self {
            Self::App => "app".to_owned(),
            Self::Relay(number) => format!("relay {number}"),
            Self::Network => "network".to_owned(),
            Self::Ingress(number) => format!("ingress {number}"),
            Self::Worker(number) => format!("worker {number}"),
            Self::EffectRelay(number) => format!("effect relay {number}"),
            Self::External => "external".to_owned(),
            Self::Api => "api".to_owned(),
            Self::Database(side) => format!("{side} db"),
            Self::Operator => "operator".to_owned(),
            Self::World => "world".to_owned(),
        })
    }
}

impl Display for OperationKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(
            f,
            "operation {} of entity {} (occurrence {})",
            self.transition.0, self.entity.0, self.occurrence
        )
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Acknowledged => write!(f, "acknowledged"),
            Self::Refused { status, retry_after_ms: None } => write!(f, "refused with {status}"),
            Self::Refused { status, retry_after_ms: Some(wait) } => {
                write!(f, "refused with {status}, Retry-After {}", Span(*wait))
            }
            Self::Unknown => write!(f, "unknown"),
            Self::Denied => write!(f, "denied: its target is none to dial"),
        }
    }
}

impl Display for DeliveryStand {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Waiting { wait_ms } => write!(f, "next attempt in {}", Span(*wait_ms)),
            Self::Claimed => write!(f, "claimed"),
            Self::Acknowledged => write!(f, "acknowledged"),
            Self::Failed { known: true } => write!(f, "failed, refused"),
            Self::Failed { known: false } => write!(f, "failed, unknown"),
            Self::Cancelled { reason } => write!(f, "cancelled: {reason}"),
        }
    }
}

impl Display for Resent {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Opened { cycle } => write!(f, "cycle {cycle} is open"),
            Self::PulledForward => write!(f, "its next attempt is due now"),
            Self::Refused => write!(f, "refused"),
        }
    }
}

impl Display for Reading {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Event { entity, kind, occurrence, version } => write!(
                f,
                "type {} of entity {} (occurrence {occurrence}, version {version})",
                kind.0, entity.0
            ),
            Self::UnknownType => write!(f, "unknown type"),
            Self::Unreadable => write!(f, "unreadable"),
        }
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Applied => write!(f, "applied"),
            Self::AlreadyBooked => write!(f, "already booked"),
            Self::Overtaken => write!(f, "overtaken"),
            Self::Deferred { timer_ms, cap_ms } => {
                write!(f, "deferred, again in {}, at most for {}", Span(*timer_ms), Span(*cap_ms))
            }
            Self::SetAside(reason) => write!(f, "set aside, {reason}"),
        }
    }
}

impl Display for Cause {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Receipt(receipt) => write!(f, "receipt {}", receipt.0),
            Self::Person(person) => write!(f, "person {}", person.0),
        }
    }
}

impl Display for About {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Receipt(receipt) => write!(f, "receipt {}", receipt.0),
            Self::Delivery(delivery) => write!(f, "delivery {}", delivery.0),
        }
    }
}
