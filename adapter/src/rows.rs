//! The core's rows as columns, the same for both databases.

mod delivery;
mod receipt;

use hookproof_core::{
    Digest, Id, Millis,
    endpoint::Endpoint,
    model::{Entity, State},
    outbox::Event,
    payload::Payload,
};
use sqlx::FromRow;

pub(crate) use self::{
    delivery::DeliveryRow,
    receipt::{KeptReceipt, LetterRow, ReceiptRow},
};
use crate::{
    error::Error,
    ident::{self, Key},
    words::{self, LIVES, unreadable},
};

/// An endpoint's columns.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct EndpointRow {
    pub(crate) id: Key,
    pub(crate) rev: i64,
    pub(crate) life: String,
    pub(crate) left_ms: Option<i64>,
    pub(crate) next_ms: i64,
}

impl From<&Endpoint> for EndpointRow {
    fn from(row: &Endpoint) -> Self {
        Self {
            id: Key(row.id),
            rev: row.rev.into(),
            life: words::word(&LIVES, row.life).to_owned(),
            left_ms: row.left.map(instant),
            next_ms: instant(row.next),
        }
    }
}

impl TryFrom<EndpointRow> for Endpoint {
    type Error = Error;

    fn try_from(row: EndpointRow) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.0,
            rev: row.rev as u32,
            life: words::value(&LIVES, &row.life)?,
            left: row.left_ms.map(millis),
            next: millis(row.next_ms),
        })
    }
}

/// An entity's columns.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct EntityRow {
    pub(crate) id: Key,
    pub(crate) rev: i64,
    pub(crate) state: i64,
    pub(crate) version: i64,
    pub(crate) projected: Option<i64>,
}

impl From<&Entity> for EntityRow {
    fn from(row: &Entity) -> Self {
        Self {
            id: Key(row.id),
            rev: row.rev.into(),
            state: row.state.0.into(),
            version: row.version as i64,
            projected: row.projected.map(|state| state.0.into()),
        }
    }
}

impl From<EntityRow> for Entity {
    fn from(row: EntityRow) -> Self {
        Self {
            id: row.id.0,
            rev: row.rev as u32,
            state: State(row.state as u8),
            version: row.version as u64,
            projected: row.projected.map(|state| State(state as u8)),
        }
    }
}

/// An event's columns. A row that somebody else's SQL inserted has no digest: its payload comes along.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct EventRow {
    pub(crate) id: Key,
    pub(crate) rev: i64,
    pub(crate) digest: Option<Vec<u8>>,
    pub(crate) payload: Option<String>,
    pub(crate) payload_bytes: Option<Vec<u8>>,
    pub(crate) created: i64,
    pub(crate) wake: Option<i64>,
    pub(crate) processed: Option<i64>,
}

impl From<&Event> for EventRow {
    fn from(row: &Event) -> Self {
        Self {
            id: Key(row.id),
            rev: row.rev.into(),
            digest: Some(digest_bytes(row.digest)),
            payload: None,
            payload_bytes: None,
            created: instant(row.created),
            wake: row.wake.map(instant),
            processed: row.processed.map(instant),
        }
    }
}

impl TryFrom<EventRow> for Event {
    type Error = Error;

    fn try_from(row: EventRow) -> Result<Self, Error> {
        let digest = match (row.digest, row.payload, row.payload_bytes) {
            (Some(digest), _, _) => digest_of(&digest)?,
            (None, Some(text), _) => ident::digest(text.as_bytes()),
            (None, None, Some(bytes)) => ident::digest(&bytes),
            (None, None, None) => return Err(unreadable("an event with a payload", "none")),
        };
        Ok(Self {
            id: row.id.0,
            rev: row.rev as u32,
            digest,
            created: millis(row.created),
            wake: row.wake.map(millis),
            processed: row.processed.map(millis),
        })
    }
}

/// Rows as the core knows them.
pub(crate) fn all<R, T: TryFrom<R, Error = Error>>(rows: Vec<R>) -> Result<Vec<T>, Error> {
    rows.into_iter().map(T::try_from).collect()
}

/// An instant as a column keeps it.
pub(crate) fn instant(at: Millis) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}

/// A column's instant; what lies before the epoch is the epoch.
pub(crate) fn millis(ms: i64) -> Millis {
    Millis(u64::try_from(ms).unwrap_or(0))
}

/// A digest as a column keeps it.
pub(crate) fn digest_bytes(digest: Digest) -> Vec<u8> {
    digest.0.to_be_bytes().to_vec()
}

fn digest_of(bytes: &[u8]) -> Result<Digest, Error> {
    match bytes.try_into() {
        Ok(bytes) => Ok(Digest(u128::from_be_bytes(bytes))),
        Err(_) => Err(unreadable("a digest of 16 bytes", &format!("{} bytes", bytes.len()))),
    }
}

/// A payload as its two columns, of which exactly one is set.
pub(crate) fn columns(payload: &Payload) -> (Option<&str>, Option<&[u8]>) {
    match payload {
        Payload::Text(text) => (Some(text), None),
        Payload::Bytes(bytes) => (None, Some(bytes)),
    }
}

/// Ids as a column's values.
pub(crate) fn keys(ids: &[Id]) -> Vec<Key> {
    ids.iter().copied().map(Key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_without_end_stays_the_furthest_that_a_column_holds() {
        assert_eq!(instant(Millis(u64::MAX)), i64::MAX);
        assert_eq!((millis(instant(Millis(7))), millis(-1)), (Millis(7), Millis(0)));
    }

    #[test]
    fn an_event_of_somebody_elses_sql_gets_the_digest_of_its_payload() {
        let row = EventRow {
            id: Key(Id(1)),
            rev: 0,
            digest: None,
            payload: Some("{}".to_owned()),
            payload_bytes: None,
            created: 1,
            wake: Some(1),
            processed: None,
        };
        assert_eq!(Event::try_from(row).expect("a row").digest, ident::digest(b"{}"));
    }
}
