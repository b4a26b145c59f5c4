//! Each fact in one short sentence.

use core::fmt::{Display, Formatter, Result};

use super::{Clock, Span};
use crate::history::{Fact, NO_KEY};

impl Display for Fact {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Committed { .. }
            | Self::RolledBack { .. }
            | Self::Published { .. }
            | Self::FannedOut { .. }
            | Self::FanOutDone { .. }
            | Self::Swept { .. } => business(self, f),
            Self::Claimed { .. }
            | Self::ClaimLost { .. }
            | Self::Released { .. }
            | Self::Dialled { .. }
            | Self::Requested { .. }
            | Self::Responded { .. }
            | Self::Settled { .. }
            | Self::Fenced { .. }
            | Self::Closed { .. }
            | Self::Audited { .. }
            | Self::Resent { .. } => attempt(self, f),
            Self::Arrived { .. }
            | Self::Received { .. }
            | Self::Differed { .. }
            | Self::Answered { .. } => ingress(self, f),
            Self::WorkClaimed { .. }
            | Self::HandlerRan { .. }
            | Self::Worked { .. }
            | Self::Moved { .. }
            | Self::Projected { .. }
            | Self::Effect { .. }
            | Self::WorkFailed { .. }
            | Self::Woken { .. }
            | Self::DeadLettered { .. }
            | Self::Alerted { .. }
            | Self::AlertSent { .. }
            | Self::Replayed { .. }
            | Self::Purged { .. }
            | Self::BookedByHand { .. }
            | Self::ExternalCall { .. }
            | Self::Fetched { .. } => work(self, f),
            Self::Greeted { .. }
            | Self::Secret { .. }
            | Self::Endpoint { .. }
            | Self::Crashed
            | Self::PowerLost { .. }
            | Self::Restarted { .. }
            | Self::DatabaseUp { .. }
            | Self::BackedUp { .. }
            | Self::Restored { .. }
            | Self::Conflicted
            | Self::RolledBackByDatabase
            | Self::CommitUnknown
            | Self::ClockJumped { .. }
            | Self::Fault { .. }
            | Self::Quiet
            | Self::DeliveryStands { .. }
            | Self::ReceiptStands { .. }
            | Self::EntityStands { .. }
            | Self::Ended => world(self, f),
        }
    }
}

const ELSEWHERE: &str = "Display sorts every fact to its kind";

fn business(fact: &Fact, f: &mut Formatter<'_>) -> Result {
    match *fact {
        Fact::Committed { event, entity, kind, occurrence, version, body } => write!(
            f,
            "event {} committed: type {} of entity {} (occurrence {occurrence}, version {version}, \
             body {})",
            event.0, kind.0, entity.0, body.0
        ),
        Fact::RolledBack { event } => write!(f, "event {} rolled back: it never was", event.0),
        Fact::Published { event, other_body, answer } => {
            let body = if other_body { " with another body" } else { "" };
            write!(f, "publish of event {}{body}: {answer}", event.0)
        }
        Fact::FannedOut { event, endpoint, delivery, id } => write!(
            f,
            "event {} has delivery {} for endpoint {} (id {})",
            event.0, delivery.0, endpoint.0, id.0
        ),
        Fact::FanOutDone { event, deliveries, closed } => {
            let noun = if deliveries == 1 { "delivery" } else { "deliveries" };
            let end = if closed { ": processed" } else { "" };
            write!(f, "fan-out of event {} committed, with {deliveries} {noun}{end}", event.0)
        }
        Fact::Swept { event } => write!(f, "event {} processed: all acknowledged", event.0),
        _ => unreachable!("{ELSEWHERE}"),
    }
}

fn attempt(fact: &Fact, f: &mut Formatter<'_>) -> Result {
    match *fact {
        Fact::Claimed { delivery, attempt, rung, cycle, fence, wait_ms, .. } => write!(
            f,
            "delivery {} claimed: attempt {attempt} (rung {rung}, cycle {cycle}, fence {fence}), \
             looked at again in {}",
            delivery.0,
            Span(wait_ms)
        ),
        Fact::ClaimLost { delivery, fence } => {
            write!(f, "claim of delivery {} was lost (fence {fence})", delivery.0)
        }
        Fact::Released { delivery, fence } => {
            write!(f, "delivery {} given back unused (fence {fence})", delivery.0)
        }
        Fact::Dialled { delivery, attempt, address } => {
            write!(f, "dial for delivery {}, attempt {attempt}, {address}", delivery.0)
        }
        Fact::Requested { delivery, endpoint, attempt, fence, id, body, .. } => write!(
            f,
            "request of delivery {}, attempt {attempt}, to endpoint {} (fence {fence}, id {}, body {})",
            delivery.0, endpoint.0, id.0, body.0
        ),
        Fact::Responded { delivery, attempt, fence, outcome } => write!(
            f,
            "delivery {}, attempt {attempt}, learned: {outcome} (fence {fence})",
            delivery.0
        ),
        Fact::Settled { delivery, attempt, fence, stand } => write!(
            f,
            "delivery {} settled after attempt {attempt}: {stand} (fence {fence})",
            delivery.0
        ),
        Fact::Fenced { delivery, fence } => {
            write!(f, "delivery {} was taken over: nothing changed (fence {fence})", delivery.0)
        }
        Fact::Closed { delivery, stand } => {
            write!(f, "delivery {} ended without an attempt: {stand}", delivery.0)
        }
        Fact::Audited { about, by } => {
            write!(f, "audit line committed: person {} on {about}", by.0)
        }
        Fact::Resent { delivery, by, answer } => {
            write!(f, "person {} asks to resend delivery {}: {answer}", by.0, delivery.0)
        }
        _ => unreachable!("{ELSEWHERE}"),
    }
}

fn ingress(fact: &Fact, f: &mut Formatter<'_>) -> Result {
    match *fact {
        Fact::Arrived { delivery, attempt, id, body, authentic } => write!(
            f,
            "arrived: delivery {}, attempt {attempt}{authentic} (id {}, body {})",
            delivery.0, id.0, body.0
        ),
        Fact::Received { receipt, delivery, id, body, reading } => write!(
            f,
            "receipt {} committed for delivery {}: {reading} (id {}, body {})",
            receipt.0, delivery.0, id.0, body.0
        ),
        Fact::Differed { receipt, body } => {
            write!(f, "receipt {} came again with other bytes (body {})", receipt.0, body.0)
        }
        Fact::Answered { delivery, attempt, status, .. } => {
            write!(f, "answered {status} to delivery {}, attempt {attempt}", delivery.0)
        }
        _ => unreachable!("{ELSEWHERE}"),
    }
}

fn work(fact: &Fact, f: &mut Formatter<'_>) -> Result {
    match *fact {
        Fact::WorkClaimed { receipt, fence, strike } => {
            write!(f, "receipt {} claimed: strike {strike} (fence {fence})", receipt.0)
        }
        Fact::HandlerRan { receipt, outcome } => {
            write!(f, "handler of receipt {} {outcome}", receipt.0)
        }
        Fact::Worked { receipt, fence, verdict } => {
            write!(f, "receipt {} worked: {verdict} (fence {fence})", receipt.0)
        }
        Fact::Projected { entity, shown: Some(state) } => {
            write!(f, "entity {} shows state {} as projected", entity.0, state.0)
        }
        Fact::Projected { entity, shown: None } => {
            write!(f, "entity {} shows nothing as projected", entity.0)
        }
        Fact::Moved { entity, from, to, version } => write!(
            f,
            "entity {} moved from state {} to {} (version {version})",
            entity.0, from.0, to.0
        ),
        Fact::Effect { operation, by } => write!(f, "effect of {operation}, by {by}"),
        Fact::WorkFailed { receipt, fence, fault, stand, strike, wait_ms } => write!(
            f,
            "receipt {} failed, {fault}: {stand}, strike {strike}, again in {} (fence {fence})",
            receipt.0,
            Span(wait_ms)
        ),
        Fact::Woken { receipt, entity } => {
            write!(f, "receipt {} woken: entity {} moved", receipt.0, entity.0)
        }
        Fact::DeadLettered { about, reason } => write!(f, "{about} set aside: {reason}"),
        Fact::Alerted { about } => write!(f, "alert about {about} committed"),
        Fact::AlertSent { about } => write!(f, "alert about {about} sent"),
        Fact::Replayed { receipt, by, allowed, answer } => {
            let wanting = if allowed { "" } else { ", what it stands on is wanting" };
            write!(f, "person {} asks to replay receipt {}: {answer}{wanting}", by.0, receipt.0)
        }
        Fact::Purged { receipt } => write!(f, "receipt {} purged", receipt.0),
        Fact::BookedByHand { operation, by } => {
            write!(f, "person {} booked {operation} by hand", by.0)
        }
        Fact::ExternalCall { operation, key, did } => {
            let done = if did { "the effect happened" } else { "nothing happened again" };
            match key {
                NO_KEY => write!(f, "call for {operation} without a key: {done}"),
                _ => write!(f, "call for {operation} with key {key:x}: {done}"),
            }
        }
        Fact::Fetched { receipt, entity, state, version, .. } => write!(
            f,
            "fetched entity {} for receipt {}: state {} (version {version})",
            entity.0, receipt.0, state.0
        ),
        _ => unreachable!("{ELSEWHERE}"),
    }
}

fn world(fact: &Fact, f: &mut Formatter<'_>) -> Result {
    match *fact {
        Fact::Greeted { endpoint, nonce, status, echo } => {
            let said = if echo == Some(nonce) { "its value" } else { "not its value" };
            write!(f, "handshake of endpoint {} answered {status} with {said}", endpoint.0)
        }
        Fact::Secret { endpoint, secret, life } => {
            write!(f, "secret {secret} of endpoint {} {life}", endpoint.0)
        }
        Fact::Endpoint { endpoint, life } => write!(f, "endpoint {} {life}", endpoint.0),
        Fact::Crashed => write!(f, "process died with all it had in flight"),
        Fact::PowerLost { side } => {
            write!(f, "machine of the {side} lost, with all that was not durable")
        }
        Fact::Restarted { version } => write!(f, "process up again (version {version})"),
        Fact::DatabaseUp { side, up: true } => write!(f, "database of the {side} answers again"),
        Fact::DatabaseUp { side, up: false } => write!(f, "database of the {side} stops answering"),
        Fact::BackedUp { side } => write!(f, "backup of the {side} taken"),
        Fact::Restored { side, taken } => {
            write!(f, "{side} restored from its backup of {}", Clock(taken))
        }
        Fact::Conflicted => write!(f, "lost a race: its rows had changed, nothing written"),
        Fact::RolledBackByDatabase => write!(f, "transaction rolled back by the database"),
        Fact::CommitUnknown => write!(f, "committed, but the answer of the commit was lost"),
        Fact::ClockJumped { by_ms } if by_ms < 0 => {
            write!(f, "clock went back by {}", Span(by_ms.unsigned_abs()))
        }
        Fact::ClockJumped { by_ms } => {
            write!(f, "clock went forward by {}", Span(by_ms.unsigned_abs()))
        }
        Fact::Fault { family } => write!(f, "fault: {}", family.name()),
        Fact::Quiet => write!(f, "quiet: faults stop here"),
        Fact::DeliveryStands { delivery, stand, due } => {
            write!(f, "delivery {} stands: {stand}{}", delivery.0, still(due))
        }
        Fact::ReceiptStands { receipt, stand, due } => {
            write!(f, "receipt {} stands: {stand}{}", receipt.0, still(due))
        }
        Fact::EntityStands { entity, state, version } => {
            write!(f, "entity {} stands in state {} (version {version})", entity.0, state.0)
        }
        Fact::Ended => write!(f, "end: nothing more will happen"),
        _ => unreachable!("{ELSEWHERE}"),
    }
}

fn still(due: bool) -> &'static str {
    if due { ", and is due" } else { "" }
}
