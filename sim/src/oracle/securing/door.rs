//! What an ingress makes of what arrives: R1, R2, R17, R18, and S9 where secrets verify.

use hookproof_core::Millis;

use super::{
    super::{Breach, Danger, Terms, breach},
    Securing,
};
use crate::{
    history::{Authentic, Body, DeliveryId, DeliveryNo, EndpointNo, Fact, Line, Node},
    promise::Promise,
};

/// A request that arrived whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, in any combination")]
pub(super) struct Request {
    pub(super) ingress: u8,
    pub(super) delivery: DeliveryNo,
    pub(super) attempt: u32,
    /// The id that its signature covers.
    pub(super) id: DeliveryId,
    pub(super) body: Body,
    pub(super) authentic: Authentic,
    /// Whether what it was when it arrived may not be what it was when it was verified.
    pub(super) shaken: bool,
    /// Whether its ingress stood still.
    pub(super) stalled: bool,
    /// Whether something of it was stored.
    pub(super) stored: bool,
    /// Whether a commit hung at its ingress, which may outlive its answer.
    pub(super) hung: bool,
    /// Whether it was answered while its commit goes on.
    pub(super) left: bool,
    /// In true time: an answer after this is none to its source. Kept only where lateness counts.
    pub(super) late: Millis,
}

impl Request {
    /// Whether a receiver must accept it.
    pub(super) fn vouched(&self) -> bool {
        self.authentic == Authentic::Yes
    }

    /// Whether it may have verified: what is signed for later is stale until then.
    fn may_be_good(&self) -> bool {
        let waited = self.stalled && self.authentic == Authentic::Stale;
        self.vouched() || self.shaken || waited
    }

    /// Judges what it was answered.
    fn answered(&self, terms: &Terms, at: Millis, status: u16) -> Result<(), Breach> {
        let Self { delivery: DeliveryNo(no), attempt, shaken, stalled, .. } = *self;
        let accepts = (200..300).contains(&status);
        if !self.vouched() {
            return if self.may_be_good() { Ok(()) } else { self.turned_away(status) };
        }
        hold!(
            status != UNAUTHORISED || shaken || stalled,
            R1,
            "delivery {no}, attempt {attempt}, is authentic and was answered {status}"
        );
        hold!(
            !accepts || terms.scheme.acknowledges(status),
            R18,
            "delivery {no}, attempt {attempt}, was answered {status}, and its source counts only 200"
        );
        let late_ms = at.since(self.late);
        hold!(
            late_ms == 0 || stalled,
            R18,
            "delivery {no}, attempt {attempt}, was answered {late_ms} ms after its source gave up"
        );
        Ok(())
    }

    /// It does not verify: so it is not accepted, leaves no trace, and is the peer's fault.
    fn turned_away(&self, status: u16) -> Result<(), Breach> {
        let Self { delivery: DeliveryNo(no), attempt, authentic, stored, .. } = *self;
        if (200..300).contains(&status) {
            let (promise, why) = match authentic {
                Authentic::Foreign => (Promise::R17, "signed by another account"),
                Authentic::Outlived => (Promise::S9, "signed by no live secret"),
                Authentic::Stale => (Promise::R1, "past its tolerance"),
                Authentic::Forged | Authentic::Yes => (Promise::R1, "not what its sender signed"),
            };
            let what = format_args!("delivery {no}, attempt {attempt}, is {why}, and was accepted");
            return Err(breach(promise, what));
        }
        hold!(
            !stored,
            R2,
            "delivery {no}, attempt {attempt}, does not verify, and something of it was stored"
        );
        hold!(
            status < 500,
            R2,
            "delivery {no}, attempt {attempt}, does not verify, and was answered {status}"
        );
        Ok(())
    }

    /// Whether nothing but the fact that it waits is worth a word.
    pub(super) fn is_plain(&self) -> bool {
        self.vouched() && !self.shaken && !self.stalled && !self.stored && !self.hung
    }
}

impl Securing {
    /// Takes in `Arrived`.
    pub(super) fn arrived(&mut self, terms: &Terms, line: &Line, danger: &mut Danger) {
        let (Node::Ingress(ingress), Fact::Arrived { delivery, attempt, id, body, authentic }) =
            (line.by, line.fact)
        else {
            return;
        };
        let to = self.deliveries.get(delivery.index()).map_or(0, |of| of.endpoint);
        match authentic {
            Authentic::Yes if self.keys(to).overlap() || terms.scheme.strangers => {
                danger.count(Promise::R1);
            }
            Authentic::Yes => {}
            Authentic::Forged | Authentic::Stale | Authentic::Outlived | Authentic::Foreign => {
                danger.count(Promise::R1);
                danger.count(Promise::R2);
            }
        }
        match authentic {
            Authentic::Foreign => danger.count(Promise::R17),
            Authentic::Outlived => danger.count(Promise::S9),
            Authentic::Yes | Authentic::Forged | Authentic::Stale => {}
        }
        let late =
            if terms.timely { line.at + terms.profile.time_limit_ms } else { Millis(u64::MAX) };
        self.requests.push(Request {
            ingress,
            delivery,
            attempt,
            id,
            body,
            authentic,
            shaken: false,
            stalled: false,
            stored: false,
            hung: false,
            left: false,
            late,
        });
    }

    /// Takes in `Received`.
    pub(super) fn received(&mut self, line: &Line) -> Result<(), Breach> {
        let Fact::Received { receipt, delivery, id, body, .. } = line.fact else { return Ok(()) };
        let Node::Ingress(ingress) = line.by else { return Ok(()) };
        let mut of_it = self
            .requests
            .iter()
            .filter(|of| of.ingress == ingress && of.delivery == delivery && of.body == body);
        let Some(first) = of_it.next() else {
            let what = format_args!("receipt {} was stored, and nothing whole arrived", receipt.0);
            return Err(breach(Promise::R2, what));
        };
        let covered = first.id == id || of_it.any(|of| of.id == id);
        hold!(
            covered,
            R17,
            "receipt {} is known by id {}, and what is signed says id {}",
            receipt.0,
            id.0,
            first.id.0
        );
        let like = |of: &Request| of.delivery == delivery && of.body == body;
        self.left_a_trace(line.by, like);
        let over = |of: &Request| of.ingress == ingress && like(of) && of.left && of.may_be_good();
        if let Some(place) = self.requests.iter().position(over) {
            self.requests.remove(place);
        }
        Ok(())
    }

    /// Something was stored of a request like this. Of several that look alike, a good one.
    pub(super) fn left_a_trace(&mut self, by: Node, like: impl Fn(&Request) -> bool) {
        let Node::Ingress(ingress) = by else { return };
        let alike = |of: &&mut Request| of.ingress == ingress && like(of);
        let mut good = self.requests.iter().filter(|of| of.ingress == ingress && like(of));
        if good.any(Request::may_be_good) {
            return;
        }
        if let Some(bad) = self.requests.iter_mut().find(alike) {
            bad.stored = true;
        }
    }

    /// Takes in `Answered`. Copies of one attempt look alike: of those, the one for which the answer is
    /// right.
    pub(super) fn answered(&mut self, terms: &Terms, line: &Line) -> Result<(), Breach> {
        let (Node::Ingress(ingress), Fact::Answered { delivery, attempt, id, status }) =
            (line.by, line.fact)
        else {
            return Ok(());
        };
        let alike = |of: &Request| {
            (of.ingress, of.delivery, of.attempt, of.id) == (ingress, delivery, attempt, id)
                && !of.left
        };
        let refuses = (400..500).contains(&status);
        let mut best: Option<([bool; 4], usize)> = None;
        let mut verdict = Ok(());
        for (place, request) in (0..).zip(&self.requests).filter(|(_, request)| alike(request)) {
            let judged = request.answered(terms, line.at, status);
            let unlikely = [request.vouched(), request.may_be_good()].map(|good| good == refuses);
            let rank =
                [judged.is_err(), unlikely[0], unlikely[1], request.shaken || request.stalled];
            if best.is_none_or(|(least, _)| rank < least) {
                (best, verdict) = (Some((rank, place)), judged);
            }
        }
        let Some((_, place)) = best else {
            hold!(
                !(200..300).contains(&status),
                R2,
                "delivery {}, attempt {attempt}, was acknowledged, and nothing whole arrived",
                delivery.0
            );
            return Ok(());
        };
        let request = &mut self.requests[place];
        if request.hung && request.may_be_good() && status >= 500 {
            request.left = true;
        } else if self.requests.remove(place).hung {
            // Whichever of the copies it was: the commit of another may be the one that hangs.
            self.requests.iter_mut().filter(|of| alike(of)).for_each(|of| of.hung = true);
        }
        verdict
    }

    /// Takes in `Crashed`.
    pub(super) fn crashed(&mut self, by: Node) {
        if let Node::Ingress(ingress) = by {
            self.requests.retain(|request| request.ingress != ingress);
        }
    }

    /// A commit hangs at an ingress.
    pub(super) fn hangs(&mut self, by: Node) {
        let Node::Ingress(ingress) = by else { return };
        self.requests.iter_mut().filter(|of| of.ingress == ingress).for_each(|of| of.hung = true);
    }

    /// An ingress stood still: it verifies and answers late.
    pub(super) fn stalled(&mut self, terms: &Terms, by: Node) {
        let Node::Ingress(ingress) = by else { return };
        if !terms.timely {
            return;
        }
        for request in self.requests.iter_mut().filter(|of| of.ingress == ingress) {
            request.stalled = true;
        }
    }
}

/// Judges the answer to a handshake.
pub(super) fn greeted(
    terms: &Terms,
    endpoint: EndpointNo,
    (nonce, status): (u32, u16),
    echo: Option<u32>,
) -> Result<(), Breach> {
    hold!(
        !terms.scheme.greets || (terms.scheme.acknowledges(status) && echo == Some(nonce)),
        R18,
        "the source of endpoint {} wanted its value back, and was answered {status} without it",
        endpoint.0
    );
    Ok(())
}

/// The status that says of a request that nobody vouches for it.
const UNAUTHORISED: u16 = 401;
