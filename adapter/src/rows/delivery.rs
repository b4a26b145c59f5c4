//! A delivery's columns.

use hookproof_core::{
    Reason,
    model::{Operation, Transition},
    outbox::{Delivery, Stand, Subject},
};
use sqlx::FromRow;

use super::{instant, millis};
use crate::{
    error::Error,
    ident::Key,
    words::{self, REASONS, unreadable},
};

/// A delivery's columns.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct DeliveryRow {
    pub(crate) id: Key,
    pub(crate) rev: i64,
    pub(crate) subject_kind: String,
    pub(crate) subject: Key,
    pub(crate) transition: i64,
    pub(crate) occurrence: i64,
    pub(crate) endpoint: Key,
    pub(crate) stand: String,
    pub(crate) reason: Option<String>,
    pub(crate) wake: Option<i64>,
    pub(crate) lease: Option<i64>,
    pub(crate) hurried: bool,
    pub(crate) attempt: i64,
    pub(crate) rung: i64,
    pub(crate) cycle: i64,
    pub(crate) fence: i64,
    pub(crate) created: i64,
}

impl From<&Delivery> for DeliveryRow {
    fn from(row: &Delivery) -> Self {
        let (kind, subject, transition, occurrence) = match row.subject {
            Subject::Event(event) => (EVENT, event, 0, 0),
            Subject::Effect(of) => {
                (EFFECT, of.entity, of.transition.0.into(), of.occurrence as i64)
            }
        };
        let (stand, reason) = match row.stand {
            Stand::Pending { .. } => (PENDING, None),
            Stand::Claimed { .. } => (CLAIMED, None),
            Stand::Acknowledged => (ACKNOWLEDGED, None),
            Stand::Failed(reason) => (FAILED, Some(reason)),
            Stand::Cancelled(reason) => (CANCELLED, Some(reason)),
        };
        let (lease, hurried) = match row.stand {
            Stand::Claimed { lease, hurried, .. } => (Some(instant(lease)), hurried),
            Stand::Pending { .. }
            | Stand::Acknowledged
            | Stand::Failed(_)
            | Stand::Cancelled(_) => (None, false),
        };
        Self {
            id: Key(row.id),
            rev: row.rev.into(),
            subject_kind: kind.to_owned(),
            subject: Key(subject),
            transition,
            occurrence,
            endpoint: Key(row.endpoint),
            stand: stand.to_owned(),
            reason: reason.map(|reason| words::word(&REASONS, reason).to_owned()),
            wake: row.wake().map(instant),
            lease,
            hurried,
            attempt: row.attempt.into(),
            rung: row.rung.into(),
            cycle: row.cycle.into(),
            fence: row.fence.into(),
            created: instant(row.created),
        }
    }
}

impl TryFrom<DeliveryRow> for Delivery {
    type Error = Error;

    fn try_from(row: DeliveryRow) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.0,
            rev: row.rev as u32,
            subject: row.subject()?,
            endpoint: row.endpoint.0,
            stand: row.stand()?,
            attempt: row.attempt as u32,
            rung: row.rung as u16,
            cycle: row.cycle as u16,
            fence: row.fence as u32,
            created: millis(row.created),
        })
    }
}

impl DeliveryRow {
    fn subject(&self) -> Result<Subject, Error> {
        match self.subject_kind.as_str() {
            EVENT => Ok(Subject::Event(self.subject.0)),
            EFFECT => Ok(Subject::Effect(Operation {
                entity: self.subject.0,
                transition: Transition(self.transition as u16),
                occurrence: self.occurrence as u64,
            })),
            other => Err(unreadable("a delivery of an event or an effect", other)),
        }
    }

    fn stand(&self) -> Result<Stand, Error> {
        match (self.stand.as_str(), self.wake, self.lease) {
            (PENDING, Some(wake), None) => Ok(Stand::Pending { wake: millis(wake) }),
            (CLAIMED, Some(wake), Some(lease)) => Ok(Stand::Claimed {
                wake: millis(wake),
                lease: millis(lease),
                hurried: self.hurried,
            }),
            (ACKNOWLEDGED, None, None) => Ok(Stand::Acknowledged),
            (FAILED, None, None) => Ok(Stand::Failed(self.reason()?)),
            (CANCELLED, None, None) => Ok(Stand::Cancelled(self.reason()?)),
            (other, _, _) => Err(unreadable("a delivery's stand that fits its wake", other)),
        }
    }

    fn reason(&self) -> Result<Reason, Error> {
        words::value(&REASONS, self.reason.as_deref().unwrap_or_default())
    }
}

const EVENT: &str = "event";
const EFFECT: &str = "effect";
const PENDING: &str = "pending";
const CLAIMED: &str = "claimed";
const ACKNOWLEDGED: &str = "acknowledged";
const FAILED: &str = "failed";
const CANCELLED: &str = "cancelled";

#[cfg(test)]
mod tests {
    use hookproof_core::{Id, Millis};

    use super::*;

    fn delivery(stand: Stand) -> Delivery {
        let effect = Operation { entity: Id(9), transition: Transition(3), occurrence: u64::MAX };
        let made = Delivery::made(Id(1), Subject::Effect(effect), Id(2), Millis(5));
        Delivery { stand, rev: u32::MAX, attempt: 3, rung: 2, fence: u32::MAX, ..made }
    }

    #[test]
    fn every_stand_comes_back_as_it_was() {
        let (wake, lease) = (Millis(8), Millis(7));
        for stand in [
            Stand::Pending { wake },
            Stand::Claimed { wake, lease, hurried: true },
            Stand::Claimed { wake, lease, hurried: false },
            Stand::Acknowledged,
            Stand::Failed(Reason::Exhausted),
            Stand::Cancelled(Reason::Operator),
        ] {
            let row = delivery(stand);
            assert_eq!(Delivery::try_from(DeliveryRow::from(&row)), Ok(row));
        }
    }

    #[test]
    fn a_stand_that_contradicts_its_wake_is_refused() {
        let row =
            DeliveryRow { wake: None, ..(&delivery(Stand::Pending { wake: Millis(1) })).into() };
        assert!(Delivery::try_from(row).is_err());
    }
}
