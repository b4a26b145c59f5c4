//! The application's part of the work, as production and the simulator both call it.
//!
//! A [`Handler`] is what turns an operation into its effect: it books the order, makes the licence
//! key. It runs where a plan says [`crate::plan::Write::Handle`]: inside the transaction that marks
//! the receipt, after all guards hold, once the event's turn has come and its operation is not booked.
//! So its effect and the receipt's end commit together or not at all, and it need not look whether it
//! was here before. Whatever it does elsewhere (a call, a commit of its own) happens once for each try.

use alloc::{format, string::String};
use core::{fmt, future::Future};

use crate::{
    Id,
    model::{EventType, Operation},
    work::Fault,
};

/// The application's handler, generic over the transaction: a connection of sqlx in production, the
/// simulator's `SimTx` in a test. The very same type implements both, or is generic over a trait of
/// the application's own that both transactions satisfy.
///
/// An implementation writes `async fn apply(…)`. The trait spells the future out for the sake of
/// `Send`: a worker runs handlers on any thread, and a plain `async fn` here would promise that to
/// nobody, so that no adapter could spawn one. It is not boxed: the simulator polls it in place, and an
/// adapter that keeps handlers by event type boxes them behind a trait of its own.
///
/// The transaction is borrowed, never given away: a handler can neither commit it nor keep it.
pub trait Handler<Tx> {
    /// Makes the effect of `event.operation` true within `tx`, or says whose fault it is that it
    /// cannot. An error rolls everything back.
    fn apply(
        &self,
        tx: &mut Tx,
        event: &Incoming<'_>,
    ) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

/// An event whose turn has come, as its handler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming<'a> {
    /// What is asked for: book by this, once, whoever asks.
    pub operation: Operation,
    /// The type of the event, as the entity type numbers it.
    pub event_type: EventType,
    /// The type of the event, as the source calls it.
    pub name: &'a str,
    /// What the event is about, as the source calls it.
    pub resource: &'a str,
    /// The entity's row.
    pub entity: Id,
    /// Which occurrence the event names.
    pub occurrence: u64,
    /// The version, sequence or instant that the event names.
    pub version: u64,
    /// The delivery id: another one for each endpoint, so nothing to book by.
    pub delivery: &'a str,
    /// The receipt's row.
    pub receipt: Id,
    /// The bytes, as they were received.
    pub payload: &'a [u8],
}

impl Incoming<'_> {
    /// The idempotency key for a service outside (R14): made from the operation alone, so it is the
    /// same in every try, in a replay, and for another event that asks for the same.
    pub fn key(&self) -> String {
        self.operation.key()
    }
}

/// Why a handler could not do its work, with a line for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerError {
    /// The event's own fault, or the handler's: trying again may not help. It climbs the inbox ladder
    /// and ends in review.
    Event(String),
    /// What the handler stands on failed: a connection, a pool, a service. It climbs nothing (R10).
    Infrastructure(String),
}

impl HandlerError {
    /// The event cannot be applied, for this reason.
    pub fn event(why: impl fmt::Display) -> Self {
        Self::Event(format!("{why}"))
    }

    /// Something under the handler failed, in this way.
    pub fn infrastructure(why: impl fmt::Display) -> Self {
        Self::Infrastructure(format!("{why}"))
    }

    /// Whose fault it is, as [`crate::work::Job::fail`] takes it.
    pub const fn fault(&self) -> Fault {
        match self {
            Self::Event(_) => Fault::Event,
            Self::Infrastructure(_) => Fault::Infrastructure,
        }
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(why) => write!(f, "the event cannot be applied: {why}"),
            Self::Infrastructure(why) => write!(f, "the infrastructure failed: {why}"),
        }
    }
}

impl core::error::Error for HandlerError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Transition;

    #[test]
    fn a_key_depends_on_the_operation_alone() {
        let operation = Operation { entity: Id(255), transition: Transition(2), occurrence: 7 };
        let paid = Incoming {
            operation,
            event_type: EventType(1),
            name: "invoice.paid",
            resource: "inv_1",
            entity: Id(255),
            occurrence: 7,
            version: 3,
            delivery: "evt_1",
            receipt: Id(1),
            payload: b"{}",
        };
        let completed = Incoming { delivery: "evt_2", receipt: Id(2), version: 4, ..paid };
        assert_eq!(paid.key(), "ff-2-7");
        assert_eq!(paid.key(), completed.key());
    }

    #[test]
    fn an_error_says_whose_fault_it_is() {
        assert_eq!(HandlerError::event("no such plan").fault(), Fault::Event);
        assert_eq!(HandlerError::infrastructure("pool timed out").fault(), Fault::Infrastructure);
    }
}
