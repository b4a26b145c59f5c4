//! Events and their fan-out: S1, S12, S15, and S8 for an event behind a poisoned one.

use super::{
    super::{Breach, Danger, Terms, row},
    Sending, patience_ms,
    rows::{Claim, Delivery, Due, Row},
};
use crate::{
    history::{DeliveryId, DeliveryNo, EndpointNo, EventNo, Fact, Line, Published},
    promise::Promise,
};

impl Sending {
    pub(super) fn publishing(
        &mut self,
        terms: &Terms,
        line: &Line,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        match line.fact {
            Fact::Committed { event, .. } => self.committed(terms, line, event),
            Fact::RolledBack { event } => {
                danger.count(Promise::S1);
                row(&mut self.events, event.index());
                Ok(())
            }
            Fact::Published { event, other_body, answer } => {
                self.published(event, other_body, answer, danger)
            }
            Fact::FannedOut { event, endpoint, delivery, id } => {
                self.fanned_out(terms, line, (event, endpoint), delivery, id)
            }
            Fact::FanOutDone { event, deliveries, closed } => {
                self.fan_out_done(terms, line, event, (deliveries, closed), danger)
            }
            Fact::Swept { event } => self.swept(event),
            _ => Ok(()),
        }
    }

    fn committed(&mut self, terms: &Terms, line: &Line, no: EventNo) -> Result<(), Breach> {
        let (owed, fan_outs) = (self.owed, self.fan_outs);
        let may = self.may & !self.gone(terms, line.at);
        let due = self.clock.now(line.at);
        let event = row(&mut self.events, no.index());
        hold!(
            !event.committed || event.adrift,
            S15,
            "event {} was committed twice under one idempotency key",
            no.0
        );
        (event.committed, event.fanned, event.adrift) = (true, false, false);
        event.closed = false;
        event.got = 0;
        (event.owed, event.may) = (owed, may);
        (event.due, event.fan_outs) = (due, fan_outs);
        Ok(())
    }

    /// `Failed` says nothing of the event, which may have committed.
    fn published(
        &mut self,
        no: EventNo,
        other_body: bool,
        answer: Published,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let event = *row(&mut self.events, no.index());
        let durable = event.committed || event.adrift;
        hold!(
            !other_body || !matches!(answer, Published::Accepted | Published::Duplicate),
            S15,
            "event {} is said to be published, with another body than was asked for",
            no.0
        );
        hold!(
            other_body || answer != Published::KeyReused,
            S15,
            "event {} is refused as another under its key, and it is the same",
            no.0
        );
        match answer {
            Published::Accepted => {
                hold!(durable, S15, "event {} was accepted, and never committed", no.0);
            }
            Published::Duplicate => {
                danger.count(Promise::S15);
                hold!(durable, S15, "event {} is called a duplicate of nothing durable", no.0);
            }
            Published::KeyReused | Published::Failed => danger.count(Promise::S15),
        }
        Ok(())
    }

    /// A second delivery of one event for one endpoint is a breach even under another number, and
    /// so is one after the fan-out.
    fn fanned_out(
        &mut self,
        terms: &Terms,
        line: &Line,
        (no, to): (EventNo, EndpointNo),
        delivery: DeliveryNo,
        id: DeliveryId,
    ) -> Result<(), Breach> {
        let event = row(&mut self.events, no.index());
        let bit = endpoint_bit(to);
        hold!(
            event.committed,
            S1,
            "event {} has delivery {}, and its transaction did not commit",
            no.0,
            delivery.0
        );
        hold!(
            event.adrift || (!event.fanned && event.got & bit == 0),
            S12,
            "event {} has another delivery {} for endpoint {}",
            no.0,
            delivery.0,
            to.0
        );
        hold!(
            event.adrift || (event.owed | event.may) & bit != 0,
            S12,
            "event {} has a delivery for endpoint {}, which was not subscribed",
            no.0,
            to.0
        );
        event.got |= bit;
        let made = self.deliveries.get(delivery.index()).filter(|made| made.row.exists());
        hold!(
            made.is_none_or(|made| made.adrift),
            S3,
            "event {} has delivery {}, whose id another delivery has",
            no.0,
            delivery.0
        );
        self.made(terms, line, (no, to), delivery, id);
        Ok(())
    }

    /// After a restore the same row is made anew: its number may be the same, its id another.
    fn made(
        &mut self,
        terms: &Terms,
        line: &Line,
        (event, endpoint): (EventNo, EndpointNo),
        no: DeliveryNo,
        id: DeliveryId,
    ) {
        if self.delivery(no).row.exists() {
            self.retire(no, line.at);
        }
        let stalls = self.stalls;
        let at = row(&mut self.endpoints, endpoint.index());
        let due = Due { at: at.clock.now(line.at), starts: at.starts };
        let last = &mut self.events[event.index()].last;
        let delivery = row(&mut self.deliveries, no.index());
        if delivery.row == Row::Unborn {
            delivery.before = core::mem::replace(last, no.0 + 1);
        }
        (delivery.event, delivery.endpoint, delivery.id) = (event.0, endpoint.0, id.0);
        (delivery.cycle, delivery.rung, delivery.attempt) = (1, 0, 0);
        (delivery.requests, delivery.lost) = (0, 0);
        delivery.adrift = false;
        delivery.claim = Claim::default();
        delivery.wake = line.at;
        (delivery.jumped, delivery.stalls) = (false, stalls);
        delivery.window = line.at + terms.profile.resend_window_ms;
        (delivery.due, delivery.began) = (due, due);
        self.turn(no, Row::Open);
    }

    fn fan_out_done(
        &mut self,
        terms: &Terms,
        line: &Line,
        no: EventNo,
        (deliveries, closed): (u32, bool),
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let now = self.clock.now(line.at);
        let (fan_outs, set_back_ms) = (self.fan_outs, self.set_back_ms);
        let event = row(&mut self.events, no.index());
        if event.got.count_ones() > 1 {
            danger.count(Promise::S12);
        }
        hold!(event.committed, S1, "event {} was fanned out, and never committed", no.0);
        hold!(event.adrift || !event.fanned, S12, "event {} was fanned out twice", no.0);
        let left_out = event.owed & !event.got;
        hold!(
            event.adrift || left_out == 0,
            S12,
            "event {} has no delivery for endpoint {}",
            no.0,
            left_out.trailing_zeros()
        );
        hold!(
            event.adrift || event.got.count_ones() == deliveries,
            S12,
            "event {} was closed with {deliveries} deliveries and has {}",
            no.0,
            event.got.count_ones()
        );
        let no_one = deliveries == 0;
        hold!(!no_one || closed, S12, "nobody gets event {}, and it was not closed", no.0);
        hold!(no_one || !closed, S12, "event {} was closed, and not acknowledged yet", no.0);
        let others = u64::from(fan_outs - event.fan_outs) + 1;
        let late_ms =
            now.since(event.due + patience_ms(terms).saturating_mul(others) + set_back_ms);
        hold!(
            !terms.timely || event.adrift || late_ms == 0,
            S8,
            "event {} was fanned out {late_ms} ms too late",
            no.0
        );
        (event.fanned, event.closed, event.adrift) = (true, closed, false);
        (event.owed, event.may, event.got) = (0, 0, 0);
        self.fan_outs += 1;
        Ok(())
    }

    /// `processed_at` says that every delivery is acknowledged; one that was cancelled does not
    /// count, one that failed does. It says so once: when that was counts.
    fn swept(&mut self, no: EventNo) -> Result<(), Breach> {
        let event = *row(&mut self.events, no.index());
        hold!(
            event.fanned || event.adrift,
            S2,
            "event {} is marked as processed before its fan-out",
            no.0
        );
        hold!(
            !event.closed || event.adrift,
            S12,
            "event {} is marked as processed, and was before",
            no.0
        );
        let mut next = event.last;
        while next != 0 {
            let delivery = &self.deliveries[next as usize - 1];
            is_told(no, next - 1, delivery)?;
            next = delivery.before;
        }
        self.events[no.index()].closed = true;
        Ok(())
    }
}

/// A sweep that counts a delivery as acknowledged which is not: its resend was swallowed, or there is
/// no row of it, or the sweep is wrong.
fn is_told(event: EventNo, no: u32, delivery: &Delivery) -> Result<(), Breach> {
    let told = matches!(delivery.row, Row::Acknowledged | Row::Cancelled);
    if told || delivery.adrift {
        return Ok(());
    }
    hold!(!delivery.is_swallowed(), S11, "delivery {no} was resent, and is still as it was");
    hold!(
        delivery.attempt > 0,
        S12,
        "event {} is marked as processed, and delivery {no} was never attempted",
        event.0
    );
    breaks!(S2, "event {} is marked as processed, and delivery {no} is not acknowledged", event.0)
}

/// An endpoint as a member of a set.
pub(super) fn endpoint_bit(endpoint: EndpointNo) -> u64 {
    assert!(endpoint.0 < ENDPOINTS_MAX, "a history has at most {ENDPOINTS_MAX} endpoints");
    1 << endpoint.0
}

/// The most endpoints of one history: a set of them is one word.
const ENDPOINTS_MAX: u32 = 64;
