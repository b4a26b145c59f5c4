//! E1: when faults have stopped and timers have run out, every event is, per delivery, in one end.
//!
//! The sender's half is known from its lines ([`Sending`]); the rows as they stand in the end are held
//! against it, and joined with the receiver's by delivery, or by delivery id where two deliveries of
//! one event fold into one receipt. Where a receipt exists, its end counts.
//!
//! What a person keeps from its end is not stuck: a delivery whose endpoint is paused or disabled.
//! What an intermediary acknowledged, or a restore took away, may be absent.

#[cfg(test)]
mod tests;

use super::{
    Breach, Danger, Terms,
    pack::number,
    row,
    sending::{Row, Sending, Sent},
};
use crate::{
    history::{
        Cause, DeliveryStand, EntityNo, Fact, Line, Reading, ReceiptNo, ReceiptStand, Replayed,
        Side,
    },
    promise::Promise,
};
use hookproof_core::model::EventType;

/// What is known of the ends.
#[derive(Debug, Default)]
pub(super) struct Accounted {
    deliveries: Vec<End>,
    receipts: Vec<Receipt>,
    /// Whether the history says how rows stand in the end.
    stood: bool,
    /// Whether the receiver's rows were put back to an earlier time.
    restored: bool,
    /// Whether anything went wrong. For dangers alone.
    troubled: bool,
}

clone_reusing!(Accounted { deliveries, receipts, stood, restored, troubled });

/// How a delivery's row stands in the end.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    stand: Option<DeliveryStand>,
    due: bool,
    /// Whether it became a receipt.
    received: bool,
}

/// A receipt.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, in any combination")]
struct Receipt {
    made: bool,
    purged: bool,
    /// Whether a restore may have changed it, with the effects in the same database.
    restored: bool,
    replayed: bool,
    /// Whether its event asks for an operation.
    books: bool,
    effects: u8,
    id: u32,
    stand: Option<ReceiptStand>,
    due: bool,
}

impl Accounted {
    /// Forgets the history and keeps the memory.
    pub(super) fn reset(&mut self) {
        self.deliveries.clear();
        self.receipts.clear();
        (self.stood, self.restored, self.troubled) = (false, false, false);
    }

    /// Takes in the next line.
    pub(super) fn observe(&mut self, terms: &Terms, line: &Line) {
        match line.fact {
            Fact::Received { receipt, delivery, id, reading, .. } => {
                let books = books(terms, reading);
                row(&mut self.deliveries, delivery.index()).received = true;
                let made = Receipt { made: true, books, id: id.0, ..Receipt::default() };
                *self.receipt(receipt) = made;
            }
            Fact::Effect { by: Cause::Receipt(receipt), .. } => {
                let receipt = self.receipt(receipt);
                receipt.effects = receipt.effects.saturating_add(1);
            }
            Fact::Replayed { receipt, answer, .. } => match answer {
                Replayed::Accepted => self.receipt(receipt).replayed = true,
                Replayed::Refused | Replayed::Waiting => {}
            },
            Fact::Purged { receipt } => self.receipt(receipt).purged = true,
            Fact::Restored { side: Side::Receiver, .. } => {
                self.restored = true;
                self.receipts.iter_mut().for_each(|receipt| receipt.restored = receipt.made);
            }
            Fact::DeliveryStands { delivery, stand, due } => {
                self.stood = true;
                let end = row(&mut self.deliveries, delivery.index());
                (end.stand, end.due) = (Some(stand), due);
            }
            Fact::ReceiptStands { receipt, stand, due } => {
                self.stood = true;
                let receipt = self.receipt(receipt);
                (receipt.stand, receipt.due) = (Some(stand), due);
            }
            Fact::Fault { .. } | Fact::Crashed | Fact::PowerLost { .. } => self.troubled = true,
            _ => {}
        }
    }

    fn receipt(&mut self, receipt: ReceiptNo) -> &mut Receipt {
        row(&mut self.receipts, receipt.index())
    }

    /// Judges the ends when nothing more will happen.
    pub(super) fn end(&mut self, sending: &Sending, danger: &mut Danger) -> Result<(), Breach> {
        if !self.stood {
            return Ok(());
        }
        for no in 0..sending.deliveries().max(self.deliveries.len()) {
            if self.troubled {
                danger.count(Promise::E1);
            }
            self.is_accounted(no, sending.sent(no))?;
        }
        for (no, receipt) in self.receipts.iter().enumerate().filter(|(_, receipt)| receipt.made) {
            receipt.is_accounted(no)?;
        }
        Ok(())
    }

    /// Without a word on how rows stand in the end, the join is open.
    pub(super) fn decides(&self, promise: Promise) -> bool {
        promise != Promise::E1 || self.stood
    }

    /// Whether a promise can be decided only by a history that has ended.
    pub(super) fn owes_at_end(promise: Promise) -> bool {
        promise == Promise::E1
    }

    fn is_accounted(&self, no: usize, sent: Option<Sent>) -> Result<(), Breach> {
        let end = self.deliveries.get(no).copied().unwrap_or_default();
        let Some(sent) = sent else {
            hold!(end.stand.is_none(), E1, "a row of delivery {no} is there, and nobody made it");
            return Ok(());
        };
        let Some(stand) = end.stand else {
            hold!(sent.adrift, E1, "delivery {no} has vanished");
            return Ok(());
        };
        has_ended(no, stand, end.due, sent)?;
        let absent = stand == DeliveryStand::Acknowledged && !self.is_received(&end, sent.id);
        hold!(
            !absent || sent.foreign || self.restored,
            E1,
            "delivery {no} is acknowledged, and no receipt of it exists"
        );
        Ok(())
    }

    fn is_received(&self, end: &End, id: u32) -> bool {
        end.received || self.receipts.iter().any(|receipt| receipt.made && receipt.id == id)
    }

    /// Appends what later verdicts depend on.
    pub(super) fn pack(&self, key: &mut Vec<u8>) {
        let Self { deliveries, receipts, stood, restored, troubled: _ } = self;
        key.push(u8::from(*stood) | u8::from(*restored) << 1);
        number(key, deliveries.len() as u64);
        for End { stand, due, received } in deliveries {
            key.push(u8::from(*received) | u8::from(*due) << 1);
            number(key, stand.map_or(0, number_of));
        }
        number(key, receipts.len() as u64);
        for receipt in receipts {
            receipt.pack(key);
        }
    }
}

/// A delivery's row is at an end, and it is the one that its lines tell of.
fn has_ended(no: usize, stand: DeliveryStand, due: bool, sent: Sent) -> Result<(), Breach> {
    hold!(!due || sent.waits, E1, "delivery {no} is stuck: it is due");
    let row = match stand {
        DeliveryStand::Waiting { .. } => Row::Open,
        DeliveryStand::Claimed => Row::Claimed,
        DeliveryStand::Acknowledged => Row::Acknowledged,
        DeliveryStand::Failed { .. } => Row::Failed,
        DeliveryStand::Cancelled { .. } => Row::Cancelled,
    };
    hold!(!row.is_open() || sent.waits, E1, "delivery {no} is stuck: {stand}");
    hold!(
        row == sent.row || sent.adrift,
        E1,
        "delivery {no} stands as {stand}, and its lines end with {:?}",
        sent.row
    );
    Ok(())
}

impl Receipt {
    fn is_accounted(&self, no: usize) -> Result<(), Breach> {
        let Some(stand) = self.stand else {
            hold!(self.purged || self.restored, E1, "receipt {no} has vanished");
            return Ok(());
        };
        hold!(!self.due, E1, "receipt {no} is stuck: it is due");
        let effects = self.effects;
        let (least, most) = match stand {
            ReceiptStand::Queued | ReceiptStand::Deferred | ReceiptStand::Retrying => {
                breaks!(E1, "receipt {no} is stuck: {stand}")
            }
            ReceiptStand::Applied => (u8::from(self.books), u8::from(self.books)),
            ReceiptStand::AlreadyBooked | ReceiptStand::Overtaken => (0, u8::from(self.replayed)),
            ReceiptStand::Ignored => (0, 0),
            ReceiptStand::InReview => (0, 1),
        };
        hold!(
            (least..=most).contains(&effects) || self.restored,
            E1,
            "receipt {no} stands as {stand}, and has {effects} effects"
        );
        Ok(())
    }

    fn pack(&self, key: &mut Vec<u8>) {
        let Self { made, purged, restored, replayed, books, effects, id, stand, due } = *self;
        let flags = [made, purged, restored, replayed, books, due];
        key.push(flags.into_iter().fold(0, |byte, flag| byte << 1 | u8::from(flag)));
        key.push(effects);
        number(key, u64::from(id));
        key.push(stand.map_or(0, |stand| stand as u8 + 1));
    }
}

/// Whether an event of this reading asks for an operation.
fn books(terms: &Terms, reading: Reading) -> bool {
    let rule = |entity: EntityNo, kind: EventType| {
        let model = *terms.model_of.get(entity.index())?;
        terms.models.get(usize::from(model))?.rule(kind)
    };
    match reading {
        Reading::Event { entity, kind, .. } => {
            rule(entity, kind).is_some_and(|rule| rule.books.is_some())
        }
        Reading::UnknownType | Reading::Unreadable => false,
    }
}

/// A stand as a number. How long a row waits is not part of it: waiting is no end.
fn number_of(stand: DeliveryStand) -> u64 {
    match stand {
        DeliveryStand::Waiting { .. } => 1,
        DeliveryStand::Claimed => 2,
        DeliveryStand::Acknowledged => 3,
        DeliveryStand::Failed { .. } => 4,
        DeliveryStand::Cancelled { .. } => 5,
    }
}
