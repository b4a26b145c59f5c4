//! Dead letters, alerts, replays and purges (R11, R12, R16).

use super::{
    super::{Breach, Danger, row},
    Now, Receiving, lag_ms,
    receipt::{Cap, Mark, Stand},
};
use crate::{
    history::{About, DeliveryNo, DeliveryStand, Node, Reading, Reason, ReceiptNo, Replayed},
    promise::Promise,
};

impl Receiving {
    /// Takes in `DeadLettered`.
    pub(super) fn dead_lettered(
        &mut self,
        now: Now<'_>,
        about: About,
        reason: Reason,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        danger.count(Promise::R11);
        hold!(reason != Reason::None, R11, "the dead letter of {about} has no reason");
        if let (Node::EffectRelay(_), About::Delivery(_)) = (now.by, about) {
            self.outside_failed = true;
        }
        let commit = self.within(now);
        commit.letter = Some((about, reason));
        if commit.failed.map(About::Delivery) == Some(about) {
            commit.failed = None;
        }
        Ok(())
    }

    /// Takes in `Alerted`.
    pub(super) fn alerted(&mut self, now: Now<'_>, about: About) -> Result<(), Breach> {
        // The deliveries of effects outside have numbers of their own.
        if let (About::Delivery(delivery), Node::Relay(_) | Node::Database(_)) = (about, now.by)
            && let Err(place) = self.alerting.binary_search(&delivery)
        {
            self.alerting.insert(place, delivery);
        }
        let letter = self.commit.and_then(|commit| commit.letter);
        hold!(
            letter.is_some_and(|(letter, _)| letter == about),
            R11,
            "an alert about {about} committed, and no dead letter"
        );
        self.within(now).alerted = true;
        // At the door the receipt is stored first or last; then nothing more is to come.
        if let (About::Receipt(number), Node::Ingress(_)) = (about, now.by)
            && self.rows.receipt(number).reading == Reading::Unreadable
            && self.rows.receipt(number).is_present()
        {
            self.commit = None;
            let receipt = self.rows.receipt_mut(number);
            receipt.conclude(Stand::InReview);
            receipt.mark(Mark::Alerting);
        }
        Ok(())
    }

    /// Takes in `AlertSent`.
    pub(super) fn alert_sent(&mut self, about: About) {
        match about {
            About::Receipt(number) => self.rows.receipt_mut(number).unmark(Mark::Alerting),
            About::Delivery(delivery) => {
                if let Ok(place) = self.alerting.binary_search(&delivery) {
                    self.alerting.remove(place);
                }
            }
        }
    }

    /// Takes in `Settled` and `Closed`: a delivery that failed raises a dead letter in that commit.
    pub(super) fn settled(
        &mut self,
        now: Now<'_>,
        delivery: DeliveryNo,
        stand: DeliveryStand,
        attempted: bool,
    ) -> Result<(), Breach> {
        let letter = self.commit.and_then(|commit| commit.letter);
        let letter = letter.filter(|(about, _)| *about == About::Delivery(delivery));
        let written = letter.is_some();
        let failed = matches!(stand, DeliveryStand::Failed { .. });
        if let (DeliveryStand::Failed { known }, Some((_, reason))) = (stand, letter) {
            let true_to_it = match reason {
                Reason::Exhausted | Reason::Gone => known && attempted,
                Reason::Unanswered => !known && attempted,
                Reason::ClaimLost => !known && !attempted,
                _ => false,
            };
            let no = delivery.0;
            hold!(true_to_it, R11, "delivery {no} failed, and its dead letter says why wrongly");
        }
        hold!(
            failed || !written,
            R11,
            "delivery {} has a dead letter, and did not fail",
            delivery.0
        );
        if failed && !written {
            self.within(now).failed = Some(delivery);
        } else if written && self.commit.is_some_and(|commit| commit.alerted) {
            self.commit = None;
        }
        Ok(())
    }

    /// Takes in `Replayed`.
    pub(super) fn replayed(
        &mut self,
        now: Now<'_>,
        number: ReceiptNo,
        answer: Replayed,
        (allowed, audited): (bool, bool),
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        danger.count(Promise::R12);
        let (no, receipt) = (number.0, *self.rows.receipt(number));
        match answer {
            Replayed::Refused => {
                let nothing = !matches!(receipt.reading, Reading::Event { .. });
                hold!(
                    !allowed || nothing,
                    R12,
                    "a replay of receipt {no} was refused, and nothing it stands on was wanting"
                );
                Ok(())
            }
            Replayed::Waiting => {
                hold!(
                    receipt.stand != Stand::InReview,
                    R12,
                    "a replay of receipt {no} was swallowed as waiting, and it is in review"
                );
                Ok(())
            }
            Replayed::Accepted => {
                hold!(
                    allowed,
                    R12,
                    "a replay of receipt {no} was accepted, and what it needs was withdrawn"
                );
                hold!(audited, R12, "nobody can tell who had receipt {no} replayed");
                hold!(
                    receipt.is_present(),
                    R12,
                    "a replay of receipt {no} was accepted, which is gone"
                );
                hold!(
                    !receipt.stand.is_open() || receipt.is(Mark::Adrift),
                    R12,
                    "a replay of receipt {no} was accepted, which waits for work already"
                );
                let astray = now.terms.timely && now.at <= self.weather.astray_until;
                let row = self.rows.receipt_mut(number);
                row.conclude(Stand::Queued);
                row.strikes = 0;
                row.cap = if astray {
                    Cap::UNKNOWN
                } else {
                    Cap::from(now.db - lag_ms(now.terms), &now.terms.inbox)
                };
                row.mark(Mark::Replayed);
                self.due(now, number, 0);
                Ok(())
            }
        }
    }

    /// Takes in `Purged`.
    pub(super) fn purged(
        &mut self,
        now: Now<'_>,
        number: ReceiptNo,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        danger.count(Promise::R16);
        let (no, receipt) = (number.0, *self.rows.receipt(number));
        if !receipt.is_present() {
            return Ok(());
        }
        hold!(
            !receipt.stand.is_open() && receipt.stand != Stand::InReview,
            R16,
            "receipt {no} was purged, and it is not done"
        );
        hold!(
            now.db >= receipt.keep,
            R16,
            "receipt {no} was purged while a copy of it may still arrive"
        );
        if let Some(entity) = receipt.entity()
            && receipt.is(Mark::Counted)
        {
            row(&mut self.rows.entities, entity.index()).partial = true;
        }
        row(&mut self.rows.ids, receipt.id.index()).purged = true;
        self.rows.remove(number);
        Ok(())
    }
}
