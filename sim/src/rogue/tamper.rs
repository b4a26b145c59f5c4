//! What a wrong decision would have written instead: the plan of the correct one, changed.

use hookproof_core::{
    Millis, Reason,
    endpoint::{Endpoint, Life},
    inbox::{self, Receipt},
    model::{Entity, Kind, Order},
    outbox::{self, Delivery},
    plan::{Put, Write},
};

use super::Rogue;
use crate::world::{
    Ctx,
    db::{Db, index},
};

impl Rogue {
    /// What a wrong decision would have written instead; `None`: the same.
    pub fn tampers(
        self,
        writes: &[Write],
        db: &Db,
        now: Millis,
        ctx: &Ctx<'_>,
    ) -> Option<Vec<Write>> {
        let mut wrong: Vec<Write> = writes.to_vec();
        for write in &mut wrong {
            match write {
                Write::Delivery(put) => {
                    let was = db.delivery(put.row.id).copied();
                    put.row = self.wrong_delivery(put.row, was, now, ctx);
                }
                Write::Receipt(put) => {
                    let was = db.receipt(put.row.id).copied();
                    put.row = self.wrong_receipt(put.row, was, now, ctx);
                }
                _ => {}
            }
        }
        match self {
            Self::FanOutRetriedForAll => retry_for_all(&mut wrong, db),
            Self::DisablesOnFailure => disable(&mut wrong, db),
            Self::OperationByDelivery | Self::OperationByEventType | Self::NoOccurrence => {
                self.misbook(&mut wrong);
            }
            Self::LedgerByArrival => forget_late(&mut wrong),
            Self::BookedLeavesStateBehind => stand_still(&mut wrong),
            Self::NoAlert => wrong.retain(|write| !matches!(write, Write::Alert { .. })),
            Self::AppliesInArrivalOrder | Self::LastWriteWins | Self::RefetchOverwrites => {
                self.overwrite(&mut wrong, db, ctx);
            }
            _ => {}
        }
        (wrong != writes).then_some(wrong)
    }

    fn wrong_delivery(
        self,
        row: Delivery,
        was: Option<Delivery>,
        now: Millis,
        ctx: &Ctx<'_>,
    ) -> Delivery {
        use outbox::Stand;
        let Some(was) = was else { return row };
        let profile = &ctx.setup.terms.profile;
        let last = profile.ladder.attempts();
        match (self, was.stand, row.stand) {
            (Self::MarksSentBeforeSending, _, Stand::Claimed { .. }) => {
                Delivery { stand: Stand::Acknowledged, ..row }
            }
            (Self::LadderOffByOne, Stand::Claimed { .. }, Stand::Pending { .. })
                if row.rung + 1 == last && row.attempt == was.attempt =>
            {
                Delivery { stand: Stand::Failed(Reason::Exhausted), ..row }
            }
            (Self::NoCap, Stand::Claimed { .. }, Stand::Failed(_)) => {
                Delivery { stand: Stand::Pending { wake: now + 60_000 }, rung: last - 1, ..row }
            }
            (Self::RetriesAtOnce, Stand::Claimed { .. }, Stand::Pending { .. }) => {
                Delivery { stand: Stand::Pending { wake: now }, ..row }
            }
            (Self::RetryResetsCounter, Stand::Claimed { .. }, Stand::Pending { .. }) => {
                Delivery { rung: 0, ..row }
            }
            (Self::DeadAttemptUncounted, Stand::Claimed { .. }, Stand::Claimed { .. }) => {
                Delivery { rung: was.rung, attempt: was.attempt, ..row }
            }
            (Self::LostClaimAtOnce, _, Stand::Claimed { lease, hurried, .. }) => {
                Delivery { stand: Stand::Claimed { wake: lease, lease, hurried }, ..row }
            }
            (Self::ResendBesideOpen, Stand::Pending { .. }, Stand::Pending { wake })
                if row.attempt == was.attempt =>
            {
                Delivery { stand: Stand::Pending { wake }, rung: 0, cycle: row.cycle + 1, ..row }
            }
            (
                Self::ResendSwallowed,
                Stand::Acknowledged | Stand::Failed(_),
                Stand::Pending { .. },
            ) => Delivery { rev: row.rev, ..was },
            _ => row,
        }
    }

    fn wrong_receipt(
        self,
        row: Receipt,
        was: Option<Receipt>,
        now: Millis,
        ctx: &Ctx<'_>,
    ) -> Receipt {
        use inbox::{End, Stand};
        let policy = &ctx.setup.terms.inbox;
        let done = Stand::Done(End::Overtaken);
        match (self, row.stand) {
            (Self::ProcessedAtAck, Stand::Queued { .. }) if was.is_none() => {
                Receipt { stand: Stand::Done(End::Applied), ..row }
            }
            (Self::DropsTooEarly, Stand::Deferred { .. })
            | (Self::DropsAfterLastRetry, Stand::InReview(Reason::Failing)) => {
                Receipt { stand: done, ..row }
            }
            (Self::DefersForEver, Stand::InReview(Reason::DeferralCap)) => {
                Receipt { stand: Stand::Deferred { wake: now + policy.defer_timer_ms }, ..row }
            }
            (Self::EarlyIsDeadLetter, Stand::Deferred { .. }) => {
                Receipt { stand: Stand::InReview(Reason::DeferralCap), ..row }
            }
            (Self::DeferralIsFailure, Stand::Deferred { .. }) => {
                let strikes = was.map_or(row.strikes, |was| was.strikes);
                Receipt { strikes, ..row }
            }
            (Self::RetriesForEver, Stand::InReview(Reason::Failing)) => {
                Receipt { stand: Stand::Retrying { wake: now + 60_000 }, strikes: 1, ..row }
            }
            (Self::ReplayDeduplicated, Stand::Queued { .. }) => match was {
                Some(was) if was.wake().is_none() => Receipt { rev: row.rev, ..was },
                _ => row,
            },
            _ => row,
        }
    }

    fn misbook(self, writes: &mut [Write]) {
        let receipt = writes.iter().find_map(|write| match write {
            Write::Receipt(put) => Some(put.row),
            _ => None,
        });
        let Some(receipt) = receipt else { return };
        for write in writes {
            if let Write::Operation(operation) = write {
                *operation = self.misbooks(*operation, &receipt);
            }
        }
    }

    /// Wrong ways to move an entity.
    fn overwrite(self, writes: &mut Vec<Write>, db: &Db, ctx: &Ctx<'_>) {
        let Some((at, put)) = (0..).zip(writes.iter()).find_map(|(at, write)| match write {
            Write::Receipt(put) if put.was.is_some() => Some((at, *put)),
            _ => None,
        }) else {
            return;
        };
        let Some(proposal) = put.row.proposal else { return };
        let entity = db.entities[index(proposal.entity)];
        let terms = &ctx.setup.terms;
        let model = &terms.models[usize::from(terms.model_of[index(proposal.entity)])];
        let Some(rule) = model.rule(proposal.event) else { return };
        let early = matches!(put.row.stand, inbox::Stand::Deferred { .. });
        let late = matches!(put.row.stand, inbox::Stand::Done(inbox::End::Overtaken));
        let hits = match self {
            Self::AppliesInArrivalOrder => early && model.order() != Order::Instant,
            Self::LastWriteWins => {
                late && model.order() != Order::Graph && model.kind() == Kind::Latest
            }
            Self::RefetchOverwrites => late && model.order() == Order::Instant,
            _ => false,
        };
        let worked = writes.len() > 1;
        if !hits || !worked {
            return;
        }
        let stand = inbox::Stand::Done(inbox::End::Applied);
        writes[at] =
            Write::Receipt(Put { row: Receipt { stand, applied: true, ..put.row }, ..put });
        writes.retain(|write| !matches!(write, Write::HoldEntity { .. } | Write::Entity(_)));
        let row =
            Entity { rev: entity.rev + 1, state: rule.to, version: proposal.version, ..entity };
        writes.insert(0, Write::Entity(Put { was: Some(entity.rev), row }));
    }
}

/// One endpoint failed, so everything is sent again.
fn retry_for_all(writes: &mut Vec<Write>, db: &Db) {
    let failed = writes.iter().find_map(|write| match write {
        Write::Delivery(Put { row, was: Some(_) })
            if matches!(row.stand, outbox::Stand::Pending { .. }) =>
        {
            Some(*row)
        }
        _ => None,
    });
    let Some(failed) = failed else { return };
    let outbox::Stand::Pending { wake } = failed.stand else { return };
    let others = db.deliveries.iter().flatten().filter(|other| {
        other.subject == failed.subject
            && other.id != failed.id
            && other.stand == outbox::Stand::Acknowledged
    });
    writes.extend(others.map(|other| {
        let row = Delivery {
            rev: other.rev + 1,
            stand: outbox::Stand::Pending { wake },
            rung: failed.rung,
            ..*other
        };
        Write::Delivery(Put { was: Some(other.rev), row })
    }));
}

/// An entry that comes late to its ledger is taken for overtaken.
fn forget_late(writes: &mut Vec<Write>) {
    let late = matches!(writes[..], [Write::Operation(_), Write::Receipt(_), ..]);
    if !late {
        return;
    }
    writes.retain(|write| {
        !matches!(
            write,
            Write::Operation(_) | Write::Delivery(_) | Write::Handle { .. } | Write::Wake { .. }
        )
    });
    for write in writes {
        if let Write::Receipt(put) = write {
            put.row.stand = inbox::Stand::Done(inbox::End::Overtaken);
            put.row.applied = false;
        }
    }
}

/// The operation was booked by somebody else, so the event is done, and its state forgotten.
fn stand_still(writes: &mut [Write]) {
    let booked = writes.iter().any(|write| {
        matches!(write, Write::Receipt(put)
            if put.row.stand == inbox::Stand::Done(inbox::End::AlreadyBooked))
    });
    for write in writes.iter_mut().filter(|_| booked) {
        if let Write::Entity(Put { row, was: Some(rev) }) = write {
            *write = Write::HoldEntity { id: row.id, rev: *rev };
        }
    }
}

/// The delivery failed, so its endpoint is disabled.
fn disable(writes: &mut Vec<Write>, db: &Db) {
    let failed = writes.iter().find_map(|write| match write {
        Write::Delivery(put) if matches!(put.row.stand, outbox::Stand::Failed(_)) => Some(put.row),
        _ => None,
    });
    let Some(failed) = failed else { return };
    let row = db.endpoints[index(failed.endpoint)];
    let life = Life::Disabled;
    let disabled = Endpoint { rev: row.rev + 1, life, ..row };
    writes.push(Write::Endpoint(Put { was: Some(row.rev), row: disabled }));
}
