//! Which rows a line is about, for the columns of a trace.

use crate::history::{About, Cause, Fact};

/// The rows that a line is about. A receipt has the number of its delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The event.
    pub event: Option<u32>,
    /// The delivery.
    pub delivery: Option<u32>,
    /// The attempt of the delivery.
    pub attempt: Option<u32>,
}

impl Rows {
    /// The rows of a line; for a delivery the event is the one that `event_of` names.
    pub fn of(fact: &Fact, event_of: impl Fn(u32) -> u32) -> Self {
        let of_event = |event: u32| Self { event: Some(event), ..Self::default() };
        let of_delivery = |delivery: u32, attempt: Option<u32>| Self {
            event: Some(event_of(delivery)),
            delivery: Some(delivery),
            attempt,
        };
        match *fact {
            Fact::Committed { event, .. }
            | Fact::RolledBack { event }
            | Fact::Published { event, .. }
            | Fact::FanOutDone { event, .. }
            | Fact::Swept { event } => of_event(event.0),
            Fact::Claimed { delivery, attempt, .. }
            | Fact::Dialled { delivery, attempt, .. }
            | Fact::Requested { delivery, attempt, .. }
            | Fact::Responded { delivery, attempt, .. }
            | Fact::Settled { delivery, attempt, .. }
            | Fact::Arrived { delivery, attempt, .. }
            | Fact::Answered { delivery, attempt, .. } => of_delivery(delivery.0, Some(attempt)),
            Fact::FannedOut { delivery, .. }
            | Fact::ClaimLost { delivery, .. }
            | Fact::Released { delivery, .. }
            | Fact::Fenced { delivery, .. }
            | Fact::Closed { delivery, .. }
            | Fact::Resent { delivery, .. }
            | Fact::Received { delivery, .. }
            | Fact::DeliveryStands { delivery, .. } => of_delivery(delivery.0, None),
            Fact::Differed { receipt, .. }
            | Fact::WorkClaimed { receipt, .. }
            | Fact::HandlerRan { receipt, .. }
            | Fact::Worked { receipt, .. }
            | Fact::Effect { by: Cause::Receipt(receipt), .. }
            | Fact::WorkFailed { receipt, .. }
            | Fact::Woken { receipt, .. }
            | Fact::Replayed { receipt, .. }
            | Fact::Purged { receipt }
            | Fact::Fetched { receipt, .. }
            | Fact::ReceiptStands { receipt, .. } => of_delivery(receipt.0, None),
            Fact::Audited { about, .. }
            | Fact::DeadLettered { about, .. }
            | Fact::Alerted { about }
            | Fact::AlertSent { about } => match about {
                About::Receipt(receipt) => of_delivery(receipt.0, None),
                About::Delivery(delivery) => of_delivery(delivery.0, None),
            },
            _ => Self::default(),
        }
    }

    /// These rows, and those of another line where nothing is said yet.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            event: self.event.or(other.event),
            delivery: self.delivery.or(other.delivery),
            attempt: self.attempt.or(other.attempt),
        }
    }
}
