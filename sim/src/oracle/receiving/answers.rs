//! Answers, and whether anything stands behind them (R3, R4, R6, R8, R19).

use super::{
    super::{Breach, Danger, breach},
    Now, Receiving,
    door::{Request, Sign},
    receipt::Mark,
};
use crate::{
    history::{EntityNo, Fact, Node},
    promise::Promise,
};

impl Receiving {
    /// Takes in `Answered`.
    pub(super) fn answered(
        &mut self,
        now: Now<'_>,
        fact: &Fact,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let (Node::Ingress(ingress), Fact::Answered { delivery, attempt, id, status }) =
            (now.by, *fact)
        else {
            return Ok(());
        };
        let alike = |request: &Request| {
            (request.ingress, request.delivery, request.attempt, request.id)
                == (ingress, delivery, attempt, id)
        };
        let acknowledges = (200..300).contains(&status);
        let Self { rows, door, .. } = self;
        let right = |request: &Request| {
            let vouched = request.is(Sign::Authentic);
            if acknowledges {
                vouched && request.is(Sign::Covered) && rows.takes(request.id, request.body)
            } else {
                !vouched || request.is(Sign::Excused) || !request.is(Sign::Known)
            }
        };
        // Whoever is held up is answered last, and perhaps with an excuse.
        let likely = |request: &Request| request.is(Sign::Excused) != acknowledges;
        match door.take(alike, right, likely) {
            Some(request) if !request.is(Sign::Authentic) => Ok(()),
            Some(request) if acknowledges => self.acknowledged(&request, danger),
            Some(request) if request.is(Sign::Excused) => Ok(()),
            Some(request) => self.refused(&request, status),
            None => Ok(()),
        }
    }

    fn acknowledged(&mut self, request: &Request, danger: &mut Danger) -> Result<(), Breach> {
        if request.is(Sign::Errored) || request.is(Sign::Excused) {
            danger.count(Promise::R3);
        }
        if !request.is(Sign::Covered) {
            return self.unfounded(request);
        }
        let Some(number) = self.rows.known(request.id).receipt else { return Ok(()) };
        self.rows.receipt_mut(number).mark(Mark::Acknowledged);
        hold!(
            request.is(Sign::Twin) || self.rows.takes(request.id, request.body),
            R19,
            "a copy of receipt {} with other bytes was acknowledged, and the difference not recorded",
            number.0
        );
        Ok(())
    }

    /// An acknowledgement without a receipt: by what it was led, as far as it can be told.
    fn unfounded(&self, request: &Request) -> Result<(), Breach> {
        let id = request.id.0;
        hold!(
            !request.is(Sign::Errored),
            R4,
            "delivery id {id} was acknowledged as a duplicate because of another error"
        );
        // Where the database was away there was no other commit to hope for, and no other receipt.
        let away = request.is(Sign::Excused);
        hold!(
            away || !request.is(Sign::Overlapped),
            R4,
            "delivery id {id} was acknowledged on the hope that another copy's commit succeeds"
        );
        hold!(
            away || !self.is_folded(request),
            R6,
            "delivery id {id} was folded into a receipt about the same entity"
        );
        Err(breach(
            Promise::R3,
            format_args!("delivery id {id} was acknowledged before any receipt of it was durable"),
        ))
    }

    fn is_folded(&self, request: &Request) -> bool {
        let about: Option<EntityNo> = self.about.get(request.body.index()).copied().flatten();
        about.is_some_and(|entity| self.rows.of_entity(entity).next().is_some())
    }

    /// An answer that is no acknowledgement, with nothing around that would excuse it.
    fn refused(&self, request: &Request, status: u16) -> Result<(), Breach> {
        let id = request.id.0;
        let retryable = status == 409 || status >= 500;
        let vouched = [401, 403, 404, 408, 410, 425, 429].contains(&status);
        if request.is(Sign::Known) {
            let still = self.rows.known(request.id).receipt.is_some();
            hold!(
                !(still && (retryable || !vouched)),
                R4,
                "a duplicate of delivery id {id}, whose receipt is committed, was answered {status}"
            );
            return Ok(());
        }
        if request.is(Sign::Overlapped) {
            return Ok(());
        }
        hold!(
            !request.is(Sign::Covered) || request.is(Sign::Errored),
            R19,
            "delivery id {id} was received, nothing failed, and it was answered {status}"
        );
        hold!(
            status != 409,
            R8,
            "delivery id {id} was answered 409, though nothing is wrong with it"
        );
        hold!(
            vouched,
            R19,
            "delivery id {id} is authentic, nothing failed, and it was answered {status}"
        );
        Ok(())
    }
}
