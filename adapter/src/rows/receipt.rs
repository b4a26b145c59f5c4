//! A receipt's columns.

use hookproof_core::{
    inbox::{Receipt, Stand},
    model::{EventType, Proposal},
    payload::Payload,
};
use sqlx::FromRow;

use super::{digest_bytes, digest_of, instant, millis};
use crate::{
    error::Error,
    ident::Key,
    store::Letter,
    words::{self, ENDS, REASONS, unreadable},
};

/// A receipt's columns.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct ReceiptRow {
    pub(crate) id: Key,
    pub(crate) rev: i64,
    pub(crate) digest: Vec<u8>,
    pub(crate) entity: Option<Key>,
    pub(crate) event: Option<i64>,
    pub(crate) occurrence: Option<i64>,
    pub(crate) version: Option<i64>,
    pub(crate) status: String,
    pub(crate) verdict: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) wake: Option<i64>,
    pub(crate) strikes: i64,
    pub(crate) fence: i64,
    pub(crate) applied: bool,
    pub(crate) cap: i64,
    pub(crate) received: i64,
}

impl From<&Receipt> for ReceiptRow {
    fn from(row: &Receipt) -> Self {
        let (status, verdict, reason) = match row.stand {
            Stand::Queued { .. } => (PENDING, None, None),
            Stand::Deferred { .. } => (DEFERRED, None, None),
            Stand::Retrying { .. } => (RETRYING, None, None),
            Stand::Done(end) => (PROCESSED, Some(words::word(&ENDS, end)), None),
            Stand::Ignored => (IGNORED, None, None),
            Stand::InReview(why) => (QUARANTINED, None, Some(words::word(&REASONS, why))),
        };
        Self {
            id: Key(row.id),
            rev: row.rev.into(),
            digest: digest_bytes(row.digest),
            entity: row.proposal.map(|proposal| Key(proposal.entity)),
            event: row.proposal.map(|proposal| proposal.event.0.into()),
            occurrence: row.proposal.map(|proposal| proposal.occurrence as i64),
            version: row.proposal.map(|proposal| proposal.version as i64),
            status: status.to_owned(),
            verdict: verdict.map(str::to_owned),
            reason: reason.map(str::to_owned),
            wake: row.wake().map(instant),
            strikes: row.strikes.into(),
            fence: row.fence.into(),
            applied: row.applied,
            cap: instant(row.cap),
            received: instant(row.received),
        }
    }
}

impl TryFrom<ReceiptRow> for Receipt {
    type Error = Error;

    fn try_from(row: ReceiptRow) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.0,
            rev: row.rev as u32,
            digest: digest_of(&row.digest)?,
            proposal: row.proposal(),
            stand: row.stand()?,
            strikes: row.strikes as u16,
            fence: row.fence as u32,
            applied: row.applied,
            cap: millis(row.cap),
            received: millis(row.received),
        })
    }
}

impl ReceiptRow {
    /// Whether the work on it has ended: the contract's `processed_at` is that instant.
    pub(crate) fn is_processed(&self) -> bool {
        self.status == PROCESSED
    }

    fn proposal(&self) -> Option<Proposal> {
        Some(Proposal {
            entity: self.entity?.0,
            event: EventType(self.event? as u16),
            occurrence: self.occurrence? as u64,
            version: self.version? as u64,
        })
    }

    fn stand(&self) -> Result<Stand, Error> {
        let verdict = self.verdict.as_deref().unwrap_or_default();
        let reason = self.reason.as_deref().unwrap_or_default();
        match (self.status.as_str(), self.wake.map(millis)) {
            (PENDING, Some(wake)) => Ok(Stand::Queued { wake }),
            (DEFERRED, Some(wake)) => Ok(Stand::Deferred { wake }),
            (RETRYING, Some(wake)) => Ok(Stand::Retrying { wake }),
            (PROCESSED, None) => Ok(Stand::Done(words::value(&ENDS, verdict)?)),
            (IGNORED, None) => Ok(Stand::Ignored),
            (QUARANTINED, None) => Ok(Stand::InReview(words::value(&REASONS, reason)?)),
            (other, _) => Err(unreadable("a receipt's status that fits its wake", other)),
        }
    }
}

/// A receipt, and whether its bytes are still there.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct KeptReceipt {
    #[sqlx(flatten)]
    pub(crate) receipt: ReceiptRow,
    pub(crate) has_payload: bool,
}

/// What a receipt's row keeps besides.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct LetterRow {
    partner_name: String,
    account: String,
    partner_event_id: String,
    event_type: String,
    resource: String,
    verified_by: String,
    payload: Option<String>,
    payload_bytes: Option<Vec<u8>>,
}

impl From<LetterRow> for Letter {
    fn from(row: LetterRow) -> Self {
        let payload = match (row.payload, row.payload_bytes) {
            (Some(text), _) => Payload::Text(text),
            (None, bytes) => Payload::Bytes(bytes.unwrap_or_default()),
        };
        Self {
            source: row.partner_name,
            account: row.account,
            delivery: row.partner_event_id,
            event_type: row.event_type,
            resource: row.resource,
            verified_by: row.verified_by,
            payload,
        }
    }
}

const PENDING: &str = "PENDING";
const DEFERRED: &str = "DEFERRED";
const RETRYING: &str = "RETRYING";
const PROCESSED: &str = "PROCESSED";
const IGNORED: &str = "IGNORED";
const QUARANTINED: &str = "QUARANTINED";

#[cfg(test)]
mod tests {
    use hookproof_core::{Digest, Id, Millis, Reason, inbox::End};

    use super::*;

    fn receipt(stand: Stand) -> Receipt {
        let event = EventType(7);
        let proposal = Proposal { entity: Id(3), event, occurrence: 4, version: u64::MAX };
        Receipt {
            id: Id(1),
            rev: 2,
            digest: Digest(u128::MAX),
            proposal: Some(proposal),
            stand,
            strikes: 1,
            fence: 6,
            applied: true,
            cap: Millis(9),
            received: Millis(5),
        }
    }

    #[test]
    fn every_stand_comes_back_as_it_was() {
        let wake = Millis(8);
        for stand in [
            Stand::Queued { wake },
            Stand::Deferred { wake },
            Stand::Retrying { wake },
            Stand::Done(End::AlreadyBooked),
            Stand::Ignored,
            Stand::InReview(Reason::DeferralCap),
        ] {
            let row = receipt(stand);
            assert_eq!(Receipt::try_from(ReceiptRow::from(&row)), Ok(row));
        }
        let bare = Receipt { proposal: None, ..receipt(Stand::Ignored) };
        assert_eq!(Receipt::try_from(ReceiptRow::from(&bare)), Ok(bare));
    }
}
