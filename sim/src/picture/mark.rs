//! What is drawn of a fact.

use crate::history::{About, Fact, Line, Node, Replayed, Resent, Side};

/// What a fact is, as a sign of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Something went wrong here.
    Fault,
    /// What ran here is gone.
    Crash,
    /// A transaction wrote nothing.
    Refused(Side),
    /// A transaction committed.
    Commit(Side),
    /// An effect became true.
    Effect,
    /// Something was sent, came, or was looked at.
    Point,
}

impl Mark {
    /// The sign of a line.
    pub fn of(line: &Line) -> Self {
        match &line.fact {
            Fact::Committed { .. }
            | Fact::FannedOut { .. }
            | Fact::FanOutDone { .. }
            | Fact::Swept { .. }
            | Fact::Claimed { .. }
            | Fact::ClaimLost { .. }
            | Fact::Released { .. }
            | Fact::Settled { .. }
            | Fact::Closed { .. }
            | Fact::Endpoint { .. }
            | Fact::Resent { answer: Resent::Opened { .. } | Resent::PulledForward, .. } => {
                Self::Commit(Side::Sender)
            }
            Fact::Received { .. }
            | Fact::Differed { .. }
            | Fact::WorkClaimed { .. }
            | Fact::Worked { .. }
            | Fact::Moved { .. }
            | Fact::Projected { .. }
            | Fact::WorkFailed { .. }
            | Fact::Woken { .. }
            | Fact::Replayed { answer: Replayed::Accepted, .. }
            | Fact::Purged { .. }
            | Fact::BookedByHand { .. } => Self::Commit(Side::Receiver),
            Fact::Audited { about, .. }
            | Fact::DeadLettered { about, .. }
            | Fact::Alerted { about } => Self::Commit(of_about(*about)),
            Fact::RolledBack { .. } | Fact::Fenced { .. } => Self::Refused(Side::Sender),
            Fact::Effect { .. } | Fact::ExternalCall { did: true, .. } => Self::Effect,
            Fact::Crashed | Fact::PowerLost { .. } | Fact::DatabaseUp { up: false, .. } => {
                Self::Crash
            }
            Fact::Conflicted | Fact::RolledBackByDatabase => {
                of_node(line.by).map_or(Self::Fault, Self::Refused)
            }
            Fact::Fault { .. }
            | Fact::CommitUnknown
            | Fact::ClockJumped { .. }
            | Fact::Restored { .. } => Self::Fault,
            Fact::Published { .. }
            | Fact::Dialled { .. }
            | Fact::Requested { .. }
            | Fact::Responded { .. }
            | Fact::Resent { answer: Resent::Refused, .. }
            | Fact::Arrived { .. }
            | Fact::Answered { .. }
            | Fact::HandlerRan { .. }
            | Fact::AlertSent { .. }
            | Fact::Replayed { answer: Replayed::Refused | Replayed::Waiting, .. }
            | Fact::ExternalCall { did: false, .. }
            | Fact::Fetched { .. }
            | Fact::Greeted { .. }
            | Fact::Secret { .. }
            | Fact::Restarted { .. }
            | Fact::DatabaseUp { up: true, .. }
            | Fact::BackedUp { .. }
            | Fact::Quiet
            | Fact::DeliveryStands { .. }
            | Fact::ReceiptStands { .. }
            | Fact::EntityStands { .. }
            | Fact::Ended => Self::Point,
        }
    }
}

fn of_about(about: About) -> Side {
    match about {
        About::Delivery(_) => Side::Sender,
        About::Receipt(_) => Side::Receiver,
    }
}

/// The side that a process works for; people work for both.
fn of_node(node: Node) -> Option<Side> {
    match node {
        Node::App | Node::Relay(_) => Some(Side::Sender),
        Node::Ingress(_) | Node::Worker(_) | Node::EffectRelay(_) => Some(Side::Receiver),
        Node::Database(side) => Some(side),
        Node::Network | Node::External | Node::Api | Node::Operator | Node::World => None,
    }
}
