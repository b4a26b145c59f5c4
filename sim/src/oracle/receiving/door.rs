//! The door: requests in, receipts, answers out (R3, R4, R5, R6, R19).

use hookproof_core::Millis;

use super::{
    super::{Breach, Danger, pack::NEVER},
    Now, Receiving,
    receipt::{Cap, Mark, Receipt, Stand},
};
use crate::{
    history::{Authentic, Body, DeliveryId, DeliveryNo, Fact, Node, Reading, Reason, ReceiptNo},
    promise::Promise,
};
use hookproof_core::profile::{Profile, retention_min_ms};

/// The requests that have arrived and were not answered yet, in order.
#[derive(Debug, Default)]
pub(super) struct Door {
    pub(super) requests: Vec<Request>,
    /// In true time: no answer is late before.
    next_late: Option<Millis>,
}

clone_reusing!(Door { requests, next_late });

/// A request that arrived whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Request {
    pub(super) ingress: u8,
    pub(super) delivery: DeliveryNo,
    pub(super) attempt: u32,
    pub(super) id: DeliveryId,
    pub(super) body: Body,
    pub(super) signs: u8,
    /// On the database's clock: a receipt made of it must not be purged before.
    pub(super) keep: Millis,
    /// In true time: an answer later than this waited for something. Kept only where it counts.
    pub(super) late: Millis,
}

/// What is remembered of a request.
#[derive(Clone, Copy)]
pub(super) enum Sign {
    /// Sent by the sender, whole, unchanged and fresh.
    Authentic = 1,
    /// Its receipt was committed when it arrived.
    Known = 1 << 1,
    /// Its receipt was committed when it arrived, or has been since.
    Covered = 1 << 2,
    /// Another copy was being taken in at the same time.
    Overlapped = 1 << 3,
    /// Something went wrong around it, which may excuse its answer.
    Excused = 1 << 4,
    /// A transaction of its ingress failed meanwhile, with an error that is no duplicate.
    Errored = 1 << 5,
    /// Another copy of the same attempt was here beside it: an answer does not say which it is for.
    Twin = 1 << 6,
}

impl Request {
    pub(super) fn is(&self, sign: Sign) -> bool {
        self.signs & sign as u8 != 0
    }

    pub(super) fn sign(&mut self, sign: Sign) {
        self.signs |= sign as u8;
    }

    /// Whether an answer to one of the two could be one to the other.
    fn is_alike(&self, other: &Self) -> bool {
        (self.ingress, self.delivery, self.attempt)
            == (other.ingress, other.delivery, other.attempt)
    }
}

impl Door {
    pub(super) fn clear(&mut self) {
        self.requests.clear();
        self.next_late = None;
    }

    /// The requests of one ingress.
    pub(super) fn of(&mut self, ingress: u8) -> impl Iterator<Item = &mut Request> {
        self.requests.iter_mut().filter(move |request| request.ingress == ingress)
    }

    fn of_id(&mut self, id: DeliveryId) -> impl Iterator<Item = &mut Request> {
        self.requests.iter_mut().filter(move |request| request.id == id)
    }

    /// A request finds other copies of its delivery.
    fn meet(&mut self, request: &mut Request) {
        for other in self.of_id(request.id) {
            let alike = other.is_alike(request);
            for copy in [&mut *other, &mut *request] {
                copy.sign(Sign::Overlapped);
                if alike {
                    copy.sign(Sign::Twin);
                }
            }
        }
    }

    fn insert(&mut self, request: Request) {
        let place = self.requests.partition_point(|other| *other < request);
        self.requests.insert(place, request);
        if request.late != NEVER {
            let next = self.next_late.map_or(request.late, |next| next.min(request.late));
            self.next_late = Some(next);
        }
    }

    /// Takes out the request that an answer is for. Copies of one attempt at one ingress look alike:
    /// of those, the one for which the answer is right, and to which it is likely to be given.
    pub(super) fn take(
        &mut self,
        alike: impl Fn(&Request) -> bool,
        right: impl Fn(&Request) -> bool,
        likely: impl Fn(&Request) -> bool,
    ) -> Option<Request> {
        let of_it = (0..).zip(&self.requests).filter(|(_, request)| alike(request));
        let (place, _) = of_it.max_by_key(|(place, request)| {
            (right(request), likely(request), core::cmp::Reverse(*place))
        })?;
        Some(self.requests.remove(place))
    }

    /// A request whose answer is overdue at this true time.
    pub(super) fn overdue(&mut self, at: Millis) -> Option<Request> {
        if self.next_late.is_none_or(|next| at <= next) {
            return None;
        }
        let waits = |request: &&Request| {
            request.late != NEVER && !request.is(Sign::Excused) && !request.is(Sign::Twin)
        };
        let overdue = self.requests.iter().filter(waits).find(|request| request.late < at);
        self.next_late = self.requests.iter().filter(waits).map(|request| request.late).min();
        overdue.copied()
    }
}

impl Receiving {
    /// Takes in `Arrived`.
    pub(super) fn arrived(&mut self, now: Now<'_>, fact: &Fact, danger: &mut Danger) {
        let (Node::Ingress(ingress), Fact::Arrived { delivery, attempt, id, body, authentic }) =
            (now.by, *fact)
        else {
            return;
        };
        let profile = &now.terms.profile;
        let known = self.rows.known(id);
        let keeps = now.terms.inbox.retention_ms;
        let mut request = Request {
            ingress,
            delivery,
            attempt,
            id,
            body,
            signs: 0,
            keep: keeps
                .map_or(NEVER, |ms| now.db + ms.max(retention_min_ms(profile, now.terms.skew_ms))),
            late: if now.terms.timely { now.at + answer_limit_ms(profile) } else { NEVER },
        };
        let excused = self.weather.database_is_troubled();
        for (sign, holds) in [
            (Sign::Authentic, authentic == Authentic::Yes),
            (Sign::Known, known.receipt.is_some()),
            (Sign::Covered, known.receipt.is_some()),
            (Sign::Excused, excused),
        ] {
            if holds {
                request.sign(sign);
            }
        }
        self.door.meet(&mut request);
        self.count_arrival(&request, danger);
        self.door.insert(request);
    }

    fn count_arrival(&self, request: &Request, danger: &mut Danger) {
        let known = self.rows.known(request.id);
        if request.is(Sign::Known) || request.is(Sign::Overlapped) {
            danger.count(Promise::R4);
        }
        if known.purged {
            danger.count(Promise::R16);
        }
        let first = known.receipt.map(|receipt| self.rows.receipt(receipt).body);
        if first.is_some_and(|first| first != request.body) {
            danger.count(Promise::R19);
        }
    }

    /// Takes in `Received`.
    pub(super) fn received(
        &mut self,
        now: Now<'_>,
        fact: &Fact,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let Fact::Received { receipt: number, id, body, reading, .. } = *fact else {
            return Ok(());
        };
        self.weather.troubled = false;
        let about = self.about.get(body.index()).copied().flatten();
        if let (Some(about), Reading::Event { entity, .. }) = (about, reading) {
            hold!(
                about == entity,
                R17,
                "receipt {} is filed under entity {}, and its bytes are about entity {}",
                number.0,
                entity.0,
                about.0
            );
        }
        if let Some(first) = self.rows.known(id).receipt {
            self.replaced(first, id)?;
        }
        if self.rows.receipt(number).is_present() {
            self.replaced(number, id)?;
        }
        self.count_receipt(reading, danger);
        let stand = match reading {
            Reading::Event { .. } | Reading::Unreadable => Stand::Queued,
            Reading::UnknownType => Stand::Ignored,
        };
        let keep = self.keep(now, id, body);
        let cap = match stand {
            Stand::Queued => Cap::from(now.db, &now.terms.inbox),
            _ => Cap::UNKNOWN,
        };
        let receipt = Receipt { stand, id, body, reading, cap, keep, ..Receipt::ABSENT };
        self.rows.insert(number, receipt);
        for request in self.door.of_id(id) {
            request.sign(Sign::Covered);
        }
        match reading {
            Reading::Event { .. } => self.due(now, number, 0),
            Reading::Unreadable => self.unreadable(number)?,
            Reading::UnknownType => {}
        }
        let commit = self.commit.take_if(|commit| commit.letter.is_none());
        self.concluded(now, commit);
        Ok(())
    }

    /// A second receipt for an id, or a second one under a number: the first must be gone, and only a
    /// loss of what was never acknowledged may have taken it.
    fn replaced(&mut self, first: ReceiptNo, id: DeliveryId) -> Result<(), Breach> {
        let receipt = self.rows.receipt(first);
        hold!(
            receipt.is(Mark::Shaken),
            R4,
            "delivery id {} has a second receipt beside receipt {}",
            id.0,
            first.0
        );
        hold!(
            !receipt.is(Mark::Acknowledged),
            R3,
            "receipt {} was acknowledged and lost with the machine",
            first.0
        );
        self.rows.remove(first);
        Ok(())
    }

    /// Unreadable bytes are set aside in the commit that receives them, or by the work.
    fn unreadable(&mut self, number: ReceiptNo) -> Result<(), Breach> {
        if let Some(commit) = self.commit
            && let Some(reason) = commit.letter_about(number)
        {
            hold!(
                reason == Reason::Unreadable,
                R11,
                "receipt {} cannot be read, and its dead letter says: {reason}",
                number.0
            );
            hold!(
                commit.alerted,
                R11,
                "no alert committed with the dead letter of receipt {}",
                number.0
            );
            self.commit = None;
            let receipt = self.rows.receipt_mut(number);
            receipt.conclude(Stand::InReview);
            receipt.mark(Mark::Alerting);
        }
        Ok(())
    }

    fn count_receipt(&self, reading: Reading, danger: &mut Danger) {
        match reading {
            Reading::Event { entity, .. } => {
                if self.rows.of_entity(entity).next().is_some() {
                    danger.count(Promise::R6);
                }
            }
            Reading::UnknownType | Reading::Unreadable => danger.count(Promise::R19),
        }
        if self.weather.workers_are_troubled() {
            danger.count(Promise::R5);
        }
    }

    fn keep(&mut self, now: Now<'_>, id: DeliveryId, body: Body) -> Millis {
        // Copies look alike, and the clock may have gone back between them.
        let alike = self
            .door
            .of_id(id)
            .filter(|request| request.body == body && now.by == Node::Ingress(request.ingress));
        let keep = alike.map(|request| request.keep).min();
        let profile = &now.terms.profile;
        match (keep, now.terms.inbox.retention_ms) {
            (Some(keep), _) => keep,
            (None, None) => NEVER,
            // What hung may be of a request that is not at the door any more, and older than its commit.
            (None, Some(_)) if self.weather.hung => Millis(0),
            (None, Some(ms)) => now.db + ms.max(retention_min_ms(profile, now.terms.skew_ms)),
        }
    }

    /// Takes in `Differed`.
    pub(super) fn differed(
        &mut self,
        now: Now<'_>,
        number: ReceiptNo,
        body: Body,
    ) -> Result<(), Breach> {
        let receipt = *self.rows.receipt(number);
        if !receipt.is_present() {
            return Ok(());
        }
        hold!(
            body != receipt.body,
            R19,
            "a difference was recorded for receipt {} that is none",
            number.0
        );
        // What hung may be of a request that is not at the door any more.
        if let Node::Ingress(ingress) = now.by
            && !self.weather.hung
        {
            let mut copies = self.door.of(ingress).filter(|request| request.body == body);
            if let Some(other) = copies.next() {
                let folded = other.id != receipt.id && copies.all(|copy| copy.id != receipt.id);
                hold!(
                    !folded,
                    R6,
                    "delivery id {} was folded into receipt {}, which has another id",
                    other.id.0,
                    number.0
                );
            }
        }
        let difference = (number, body);
        if let Err(place) = self.rows.differences.binary_search(&difference) {
            self.rows.differences.insert(place, difference);
        }
        Ok(())
    }

    /// Judges work that an ingress does for a request which it has not answered.
    pub(super) fn not_at_the_door(&mut self, by: Node, number: ReceiptNo) -> Result<(), Breach> {
        let Node::Ingress(ingress) = by else { return Ok(()) };
        let id = self.rows.receipt(number).id;
        let waits = self.door.of(ingress).any(|request| request.id == id);
        hold!(!waits, R5, "receipt {} was worked before its request was answered", number.0);
        Ok(())
    }
}

/// How long an answer may take that waits for nothing but its receipt: half of what the sender
/// grants, the rest being the network's.
fn answer_limit_ms(profile: &Profile) -> u64 {
    profile.time_limit_ms / 2
}
