//! Histories made by hand: what breaks a promise, at which line, and what is hostile and breaks none.

mod attempts;
mod packed;
mod people;
mod publishing;
mod requests;
mod unrest;

use hookproof_core::{
    Millis,
    ladder::Ladder,
    model::EventType,
    profile::{InboxPolicy, Profile},
};

use super::{Sending, Terms};
use crate::{
    history::{
        About, Body, DeliveryId, DeliveryNo, DeliveryStand, EndpointLife, EndpointNo, EntityNo,
        EventNo, Fact, Family, Line, Node, Outcome, Person, Reason, Resent, Side, Signed,
    },
    oracle::{Danger, Scheme},
    promise::Promise,
};

/// A history while it is written. Each verb adds one line, now, where it usually happens.
#[derive(Clone)]
pub(in crate::oracle) struct Tale {
    pub(in crate::oracle) terms: Terms,
    pub(in crate::oracle) lines: Vec<Line>,
    now: Millis,
    relay: u8,
    url: u32,
}

pub(in crate::oracle) const MINUTE: u64 = 60_000;
/// The start limit and the time limit together.
const LEASE: u64 = 15_000;
/// The two waits of the ladder, without jitter.
const WAITS: [u64; 2] = [MINUTE, 2 * MINUTE];

/// Three attempts, and one endpoint that is registered. A line comes every millisecond at least.
pub(in crate::oracle) fn tale() -> Tale {
    let ladder = Ladder::new(WAITS.to_vec()).expect("a short ladder");
    let terms = Terms {
        profile: Profile { ladder, ..Profile::hookproof() },
        inbox: InboxPolicy::hookproof(),
        scheme: Scheme::hookproof(),
        models: Vec::new(),
        model_of: Vec::new(),
        poll_ms: 1_000,
        skew_ms: 0,
        timely: true,
    };
    Tale { terms, lines: Vec::new(), now: Millis(1_000_000), relay: 0, url: 0 }.endpoint(0)
}

/// A delivery that is due: event 0 for endpoint 0, fanned out.
fn due() -> Tale {
    tale().committed(0).fanned(0, 0, 0).fan_out_done(0, 1)
}

impl Tale {
    fn with(mut self, change: impl FnOnce(&mut Profile)) -> Self {
        change(&mut self.terms.profile);
        self
    }

    fn untimely(mut self) -> Self {
        self.terms.timely = false;
        self
    }

    pub(in crate::oracle) fn line(mut self, by: Node, fact: Fact) -> Self {
        self.lines.push(Line { at: self.now, by, fact });
        self
    }

    pub(in crate::oracle) fn pass(mut self, ms: u64) -> Self {
        self.now = self.now + ms;
        self
    }

    /// What follows is done by this relay.
    fn by(mut self, relay: u8) -> Self {
        self.relay = relay;
        self
    }

    /// What follows was decided on what the endpoints were after so many changes.
    fn url(mut self, url: u32) -> Self {
        self.url = url;
        self
    }

    fn relay(self, fact: Fact) -> Self {
        let relay = self.relay;
        self.line(Node::Relay(relay), fact)
    }

    fn endpoint(self, endpoint: u32) -> Self {
        self.life(endpoint, EndpointLife::Registered)
    }

    fn life(self, endpoint: u32, life: EndpointLife) -> Self {
        self.line(Node::Operator, Fact::Endpoint { endpoint: EndpointNo(endpoint), life })
    }

    pub(in crate::oracle) fn committed(self, event: u32) -> Self {
        let fact = Fact::Committed {
            event: EventNo(event),
            entity: EntityNo(0),
            kind: EventType(0),
            occurrence: 0,
            version: 0,
            body: Body(event),
        };
        self.line(Node::App, fact)
    }

    /// The delivery's id is its number plus 100.
    pub(in crate::oracle) fn fanned(self, event: u32, endpoint: u32, delivery: u32) -> Self {
        let id = DeliveryId(delivery + 100);
        let (event, endpoint) = (EventNo(event), EndpointNo(endpoint));
        self.relay(Fact::FannedOut { event, endpoint, delivery: DeliveryNo(delivery), id })
    }

    pub(in crate::oracle) fn fan_out_done(self, event: u32, deliveries: u32) -> Self {
        self.fan_out_closed(event, deliveries, deliveries == 0)
    }

    fn fan_out_closed(self, event: u32, deliveries: u32, closed: bool) -> Self {
        self.relay(Fact::FanOutDone { event: EventNo(event), deliveries, closed })
    }

    /// The claim's number is that of its attempt.
    fn claimed(self, delivery: u32, attempt: u32, rung: u16) -> Self {
        self.claimed_as(delivery, attempt, rung, 1, attempt)
    }

    fn claimed_as(self, delivery: u32, attempt: u32, rung: u16, cycle: u16, fence: u32) -> Self {
        let wait_ms = WAITS.get(usize::from(rung) - 1).copied().unwrap_or(LEASE);
        self.claimed_for(wait_ms, delivery, attempt, rung, cycle, fence)
    }

    fn claimed_for(
        self,
        wait_ms: u64,
        delivery: u32,
        attempt: u32,
        rung: u16,
        cycle: u16,
        fence: u32,
    ) -> Self {
        let (delivery, url) = (DeliveryNo(delivery), self.url);
        let made = self.lines.iter().find_map(|line| match line.fact {
            Fact::FannedOut { endpoint, delivery: of, .. } if of == delivery => Some(endpoint),
            _ => None,
        });
        let endpoint = made.unwrap_or_default();
        self.relay(Fact::Claimed { delivery, endpoint, attempt, rung, cycle, fence, wait_ms, url })
    }

    fn requested(self, delivery: u32, attempt: u32) -> Self {
        self.requested_as(delivery, attempt, attempt, delivery + 100)
    }

    fn requested_as(self, delivery: u32, attempt: u32, fence: u32, id: u32) -> Self {
        let fact = Fact::Requested {
            delivery: DeliveryNo(delivery),
            endpoint: EndpointNo(0),
            attempt,
            fence,
            id: DeliveryId(id),
            body: Body(0),
            signed: Signed { at: self.now, secrets: 1 },
        };
        self.relay(fact)
    }

    fn responded(self, delivery: u32, attempt: u32, outcome: Outcome) -> Self {
        let delivery = DeliveryNo(delivery);
        self.relay(Fact::Responded { delivery, attempt, fence: attempt, outcome })
    }

    fn settled(self, delivery: u32, attempt: u32, stand: DeliveryStand) -> Self {
        let delivery = DeliveryNo(delivery);
        self.relay(Fact::Settled { delivery, attempt, fence: attempt, stand })
    }

    fn claim_lost(self, delivery: u32, fence: u32) -> Self {
        self.relay(Fact::ClaimLost { delivery: DeliveryNo(delivery), fence })
    }

    fn released(self, delivery: u32, fence: u32) -> Self {
        self.relay(Fact::Released { delivery: DeliveryNo(delivery), fence })
    }

    fn closed(self, delivery: u32, stand: DeliveryStand) -> Self {
        self.relay(Fact::Closed { delivery: DeliveryNo(delivery), stand })
    }

    fn answered(self, delivery: u32, attempt: u32, status: u16) -> Self {
        let id = DeliveryId(delivery + 100);
        let fact = Fact::Answered { delivery: DeliveryNo(delivery), attempt, id, status };
        self.line(Node::Ingress(0), fact)
    }

    /// A person's resend, with the audit line of its commit.
    fn resent(self, delivery: u32, answer: Resent) -> Self {
        match answer {
            Resent::Refused => self,
            Resent::Opened { .. } | Resent::PulledForward => {
                let about = About::Delivery(DeliveryNo(delivery));
                self.line(Node::Operator, Fact::Audited { about, by: Person(0) })
            }
        }
        .resent_unaudited(delivery, answer)
    }

    fn resent_unaudited(self, delivery: u32, answer: Resent) -> Self {
        let delivery = DeliveryNo(delivery);
        self.line(Node::Operator, Fact::Resent { delivery, by: Person(0), answer })
    }

    fn crashed(self, relay: u8) -> Self {
        self.line(Node::Relay(relay), Fact::Crashed)
    }

    fn restarted(self, relay: u8) -> Self {
        self.line(Node::Relay(relay), Fact::Restarted { version: 1 })
    }

    fn fault(self, by: Node, family: Family) -> Self {
        self.line(by, Fact::Fault { family })
    }

    fn clock(self, by_ms: i64) -> Self {
        self.line(Node::Database(Side::Sender), Fact::ClockJumped { by_ms })
    }

    fn restored(self, taken: Millis) -> Self {
        let side = Side::Sender;
        self.line(Node::Database(side), Fact::Restored { side, taken })
    }

    pub(in crate::oracle) fn ended(self) -> Self {
        self.line(Node::World, Fact::Ended)
    }

    /// An attempt that ends like this, one second after its claim.
    fn attempt(self, delivery: u32, attempt: u32, rung: u16, outcome: Outcome) -> Self {
        self.claimed(delivery, attempt, rung)
            .requested(delivery, attempt)
            .pass(1_000)
            .responded(delivery, attempt, outcome)
    }

    /// A delivery from its claim to its acknowledgement.
    pub(in crate::oracle) fn acknowledged(self, delivery: u32) -> Self {
        self.attempt(delivery, 1, 1, Outcome::Acknowledged).settled(
            delivery,
            1,
            DeliveryStand::Acknowledged,
        )
    }

    /// A refused attempt that is settled as its ladder says.
    fn refused(self, delivery: u32, attempt: u32, rung: u16) -> Self {
        let stand = match WAITS.get(usize::from(rung) - 1) {
            Some(&wait_ms) => DeliveryStand::Waiting { wait_ms },
            None => DeliveryStand::Failed { known: true },
        };
        self.attempt(delivery, attempt, rung, REFUSED).settled(delivery, attempt, stand)
    }

    /// A whole cycle in which every attempt is refused.
    fn used_up(self, delivery: u32) -> Self {
        self.refused(delivery, 1, 1)
            .pass(WAITS[0])
            .refused(delivery, 2, 2)
            .pass(WAITS[1])
            .refused(delivery, 3, 3)
    }

    /// What the sending half says, and at which line it stopped.
    fn judged(&self) -> (Result<(), Promise>, usize, Danger) {
        let (mut sending, mut danger) = (Sending::default(), Danger::default());
        for (at, line) in self.lines.iter().enumerate() {
            let mut verdict = sending.observe(&self.terms, line, &mut danger);
            if line.fact == Fact::Ended && verdict.is_ok() {
                verdict = sending.end();
            }
            if let Err(breach) = verdict {
                return (Err(breach.promise), at, danger);
            }
        }
        (Ok(()), self.lines.len(), danger)
    }

    #[track_caller]
    fn passes(&self) {
        let (verdict, at, _) = self.judged();
        assert_eq!(verdict, Ok(()), "at {:?}", self.lines.get(at));
    }

    /// The last line, and no line before it, breaks this promise.
    #[track_caller]
    fn breaks(&self, promise: Promise) {
        let (verdict, at, _) = self.judged();
        assert_eq!(verdict, Err(promise), "at {:?}", self.lines.get(at));
        assert_eq!(at + 1, self.lines.len(), "broken early, at {:?}", self.lines[at]);
    }

    /// It passes, with this promise in danger.
    #[track_caller]
    fn endangers(&self, promise: Promise) {
        self.passes();
        let (_, _, danger) = self.judged();
        assert!(danger.of(promise) > 0, "{promise} was never in danger");
    }
}

const REFUSED: Outcome = Outcome::Refused { status: 500, retry_after_ms: None };
const GONE: Outcome = Outcome::Refused { status: 410, retry_after_ms: None };

#[test]
fn a_delivery_that_is_acknowledged_at_once_passes() {
    let tale = due().acknowledged(0).pass(5_000);
    tale.relay(Fact::Swept { event: EventNo(0) }).ended().passes();
}

#[test]
fn a_delivery_that_is_never_acknowledged_climbs_to_the_end() {
    let tale = due().used_up(0).ended();
    tale.endangers(Promise::S2);
    tale.endangers(Promise::S6);
    tale.endangers(Promise::S3);
}
