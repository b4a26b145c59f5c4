//! Histories by hand: what breaks a promise at its last line, and what only nearly does.

use hookproof_core::{
    Millis,
    model::EventType,
    profile::{InboxPolicy, Profile},
    time::{DAY, SECOND},
};

use super::{Securing, Terms};
use crate::{
    history::{
        Address, Authentic, Body, DeliveryId, DeliveryNo, EndpointNo, EntityNo, EventNo, Fact,
        Family, Line, Node, Outcome, Reading, ReceiptNo, SecretLife, Side, Signed,
    },
    oracle::{Danger, Scheme},
    promise::Promise,
};

/// Delivery 0 of event 0 for endpoint 0, whose secret 0 was made.
#[derive(Clone)]
struct Tale {
    terms: Terms,
    at: Millis,
    lines: Vec<Line>,
}

const RELAY: Node = Node::Relay(0);
const DOOR: Node = Node::Ingress(0);
const DELIVERY: DeliveryNo = DeliveryNo(0);
const ENDPOINT: EndpointNo = EndpointNo(0);
const ID: DeliveryId = DeliveryId(0);
const BODY: Body = Body(4);

fn tale() -> Tale {
    let terms = Terms {
        profile: Profile::hookproof(),
        inbox: InboxPolicy::hookproof(),
        scheme: Scheme::hookproof(),
        models: Vec::new(),
        model_of: Vec::new(),
        poll_ms: SECOND,
        skew_ms: 0,
        timely: true,
    };
    let (event, entity, kind) = (EventNo(0), EntityNo(0), EventType(0));
    let committed = Fact::Committed { event, entity, kind, occurrence: 0, version: 0, body: BODY };
    let fanned = Fact::FannedOut { event, endpoint: ENDPOINT, delivery: DELIVERY, id: ID };
    let tale = Tale { terms, at: Millis(DAY), lines: Vec::new() };
    tale.secret(0, SecretLife::Made).say(Node::App, committed).say(RELAY, fanned)
}

/// Where a header carries one signature.
fn single() -> Tale {
    tale().with(|scheme| scheme.lists = false)
}

impl Tale {
    fn with(mut self, change: impl FnOnce(&mut Scheme)) -> Self {
        change(&mut self.terms.scheme);
        self
    }

    fn say(mut self, by: Node, fact: Fact) -> Self {
        self.lines.push(Line { at: self.at, by, fact });
        self
    }

    fn pass(mut self, ms: u64) -> Self {
        self.at = self.at + ms;
        self
    }

    fn secret(self, secret: u16, life: SecretLife) -> Self {
        self.say(Node::Operator, Fact::Secret { endpoint: ENDPOINT, secret, life })
    }

    /// Secret 1 is made, and secret 0 retired.
    fn rotated(self) -> Self {
        self.secret(1, SecretLife::Made).secret(0, SecretLife::Retired)
    }

    fn requests(self, attempt: u32, secrets: u16) -> Self {
        let at = self.at;
        self.requests_as(attempt, BODY, Signed { at, secrets })
    }

    fn requests_as(self, attempt: u32, body: Body, signed: Signed) -> Self {
        let (delivery, endpoint, id) = (DELIVERY, ENDPOINT, ID);
        let fence = attempt;
        self.say(RELAY, Fact::Requested { delivery, endpoint, attempt, fence, id, body, signed })
    }

    fn dials(self, address: Address) -> Self {
        self.say(RELAY, Fact::Dialled { delivery: DELIVERY, attempt: 1, address })
    }

    fn learns(self, outcome: Outcome) -> Self {
        self.say(RELAY, Fact::Responded { delivery: DELIVERY, attempt: 1, fence: 1, outcome })
    }

    fn arrives(self, authentic: Authentic) -> Self {
        self.arrives_with(BODY, authentic)
    }

    fn arrives_with(self, body: Body, authentic: Authentic) -> Self {
        self.say(DOOR, Fact::Arrived { delivery: DELIVERY, attempt: 1, id: ID, body, authentic })
    }

    fn receives(self, id: u32, body: Body) -> Self {
        let (receipt, delivery, id) = (ReceiptNo(0), DELIVERY, DeliveryId(id));
        let reading = Reading::UnknownType;
        self.say(DOOR, Fact::Received { receipt, delivery, id, body, reading })
    }

    fn answers(self, status: u16) -> Self {
        self.say(DOOR, Fact::Answered { delivery: DELIVERY, attempt: 1, id: ID, status })
    }

    fn greeted(self, status: u16, echo: Option<u32>) -> Self {
        self.say(DOOR, Fact::Greeted { endpoint: ENDPOINT, nonce: 7, status, echo })
    }

    fn fault(self, by: Node, family: Family) -> Self {
        self.say(by, Fact::Fault { family })
    }

    /// What is said of it, at which line that was, and the dangers on the way.
    fn judged(&self) -> (Result<(), Promise>, usize, Danger) {
        let (mut securing, mut danger) = (Securing::default(), Danger::default());
        for (at, line) in self.lines.iter().enumerate() {
            if let Err(breach) = securing.observe(&self.terms, line, &mut danger) {
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

    #[track_caller]
    fn endangers(&self, promise: Promise) {
        self.passes();
        assert!(self.judged().2.of(promise) > 0, "{promise} was never in danger");
    }
}

// S4

#[test]
fn every_attempt_carries_the_bytes_that_were_stored() {
    let again = tale().requests(1, 1).pass(SECOND);
    let signed = Signed { at: again.at, secrets: 1 };
    again.clone().requests_as(2, Body(7), signed).breaks(Promise::S4);
    again.requests(2, 1).endangers(Promise::S4);
}

// S9

#[test]
fn a_list_carries_every_live_secret() {
    tale().rotated().requests(1, 0b11).endangers(Promise::S9);
    tale().rotated().requests(1, 0b10).breaks(Promise::S9);
    tale().rotated().requests(1, 0b01).breaks(Promise::S9);
}

#[test]
fn after_its_overlap_a_secret_signs_nothing() {
    let over = tale().rotated().pass(DAY).secret(0, SecretLife::Gone);
    over.clone().requests(1, 0b10).endangers(Promise::S9);
    over.requests(1, 0b11).breaks(Promise::S9);
    tale().rotated().pass(DAY - 1).secret(0, SecretLife::Gone).breaks(Promise::S9);
}

#[test]
fn one_value_is_of_one_secret_until_the_switch_and_of_the_next_from_there() {
    let known = single().secret(1, SecretLife::Made);
    known.clone().requests(1, 0b01).passes();
    known.clone().requests(1, 0b10).breaks(Promise::S9);
    let switched = known.secret(0, SecretLife::Retired);
    switched.clone().requests(1, 0b10).passes();
    switched.requests(1, 0b01).breaks(Promise::S9);
}

#[test]
fn a_revoked_secret_has_no_overlap() {
    let revoked = tale().secret(1, SecretLife::Made).secret(0, SecretLife::Revoked);
    revoked.clone().requests(1, 0b10).passes();
    revoked.clone().requests(1, 0b11).breaks(Promise::S9);
    revoked.clone().arrives(Authentic::Outlived).answers(200).breaks(Promise::S9);
    revoked.arrives(Authentic::Outlived).answers(401).endangers(Promise::S9);
}

#[test]
fn an_endpoint_of_whose_secrets_no_line_tells_is_not_judged_by_them() {
    let mut silent = tale();
    silent.lines.remove(0);
    silent.requests(1, 0b100).passes();
}

// S10

#[test]
fn only_vetted_addresses_are_dialled() {
    tale().dials(Address::Vetted).passes();
    tale().dials(Address::Other).breaks(Promise::S10);
    tale().learns(Outcome::Denied).endangers(Promise::S10);
    let redirected = Outcome::Refused { status: 307, retry_after_ms: None };
    tale().dials(Address::Vetted).learns(redirected).endangers(Promise::S10);
}

// S13

#[test]
fn an_attempt_is_signed_when_it_is_sent() {
    let first = Signed { at: Millis(DAY), secrets: 1 };
    let again = tale().requests(1, 1).pass(5 * SECOND);
    again.clone().requests_as(2, BODY, first).breaks(Promise::S13);
    again.requests(2, 1).endangers(Promise::S13);
}

#[test]
fn the_worker_signs_by_the_clock_of_its_database() {
    let jumped = tale().say(Node::Database(Side::Sender), Fact::ClockJumped { by_ms: 60_000 });
    jumped.clone().requests(1, 1).breaks(Promise::S13);
    let signed = Signed { at: jumped.at + 60_000, secrets: 1 };
    jumped.requests_as(1, BODY, signed).passes();
}

// R1

#[test]
fn what_is_authentic_is_not_turned_away() {
    tale().arrives(Authentic::Yes).answers(401).breaks(Promise::R1);
    tale().arrives(Authentic::Yes).answers(503).passes();
    tale().rotated().arrives(Authentic::Yes).answers(200).endangers(Promise::R1);
    tale().rotated().arrives(Authentic::Yes).answers(401).breaks(Promise::R1);
}

#[test]
fn what_does_not_verify_is_not_accepted() {
    for authentic in [Authentic::Forged, Authentic::Stale] {
        tale().arrives(authentic).answers(200).breaks(Promise::R1);
        tale().arrives(authentic).answers(401).endangers(Promise::R1);
    }
}

#[test]
fn what_changes_between_the_arrival_and_the_answer_excuses_either() {
    let revoked = tale().arrives(Authentic::Yes).secret(0, SecretLife::Revoked);
    revoked.clone().answers(401).passes();
    revoked.answers(200).passes();
    let stalled = tale().arrives(Authentic::Yes).fault(DOOR, Family::Stall).pass(DAY);
    stalled.answers(401).passes();
    let early = tale().arrives(Authentic::Stale).fault(DOOR, Family::Stall).pass(DAY);
    early.answers(200).passes();
    let forged = tale().arrives(Authentic::Forged).fault(DOOR, Family::Stall).pass(DAY);
    forged.answers(200).breaks(Promise::R1);
}

#[test]
fn of_copies_that_look_alike_each_gets_the_answer_that_is_right() {
    let both = tale().arrives(Authentic::Yes).arrives_with(Body(6), Authentic::Forged);
    both.clone().answers(401).answers(200).passes();
    both.clone().answers(200).answers(401).passes();
    both.clone().answers(200).answers(200).breaks(Promise::R1);
    both.answers(401).answers(401).breaks(Promise::R1);
    // Signed for later than it arrived: by the time of the answer it may have verified.
    let early = tale().arrives(Authentic::Stale).arrives_with(Body(6), Authentic::Forged);
    early.fault(DOOR, Family::Stall).pass(DAY).answers(401).answers(200).passes();
}

// R2

#[test]
fn a_forgery_leaves_no_trace() {
    let forged = tale().arrives_with(Body(6), Authentic::Forged);
    forged.clone().answers(401).endangers(Promise::R2);
    forged.clone().receives(0, Body(6)).answers(401).breaks(Promise::R2);
    let differed = Fact::Differed { receipt: ReceiptNo(0), body: Body(6) };
    forged.say(DOOR, differed).answers(401).breaks(Promise::R2);
}

#[test]
fn a_forgery_is_the_peers_fault() {
    tale().arrives(Authentic::Forged).answers(500).breaks(Promise::R2);
    tale().arrives(Authentic::Foreign).answers(403).passes();
}

#[test]
fn what_was_cut_short_is_neither_receipt_nor_acknowledgement() {
    let cut = tale().fault(Node::Network, Family::Truncated);
    cut.endangers(Promise::R2);
    cut.clone().answers(400).passes();
    cut.clone().answers(200).breaks(Promise::R2);
    cut.receives(0, BODY).breaks(Promise::R2);
}

#[test]
fn a_commit_that_outlives_its_answer_is_of_the_request_that_it_was_made_for() {
    let hung = tale().arrives(Authentic::Yes).fault(DOOR, Family::Hang).answers(503);
    let copied = hung.arrives(Authentic::Stale).receives(0, BODY);
    copied.clone().answers(401).passes();
    let twice = copied.receives(0, BODY);
    twice.answers(401).breaks(Promise::R2);
}

// R17

#[test]
fn a_receipt_is_known_by_the_id_that_is_signed() {
    tale().arrives(Authentic::Yes).receives(0, BODY).answers(200).passes();
    tale().arrives(Authentic::Yes).receives(9, BODY).breaks(Promise::R17);
    tale().fault(Node::Network, Family::UnsignedId).endangers(Promise::R17);
}

#[test]
fn a_secret_vouches_for_its_own_account_alone() {
    tale().arrives(Authentic::Foreign).answers(200).breaks(Promise::R17);
    tale().arrives(Authentic::Foreign).answers(401).endangers(Promise::R17);
}

// R18

#[test]
fn the_status_is_the_sources() {
    tale().arrives(Authentic::Yes).answers(202).passes();
    let strict = tale().with(|scheme| scheme.wants_200 = true).arrives(Authentic::Yes);
    strict.clone().answers(200).passes();
    strict.answers(202).breaks(Promise::R18);
}

#[test]
fn the_deadline_is_the_sources() {
    let mut tale = tale();
    tale.terms.profile.time_limit_ms = 3 * SECOND;
    let hung = tale.arrives(Authentic::Yes).fault(DOOR, Family::Hang);
    hung.clone().pass(3 * SECOND).answers(503).endangers(Promise::R18);
    hung.clone().pass(3 * SECOND + 1).answers(503).breaks(Promise::R18);
    hung.fault(DOOR, Family::Stall).pass(9 * SECOND).answers(503).passes();
}

#[test]
fn a_handshake_is_answered_with_the_value_that_it_shows() {
    let greets = || tale().with(|scheme| scheme.greets = true);
    greets().greeted(200, Some(7)).endangers(Promise::R18);
    greets().greeted(200, None).breaks(Promise::R18);
    greets().greeted(200, Some(8)).breaks(Promise::R18);
    greets().greeted(500, Some(7)).breaks(Promise::R18);
}

// Packing

#[test]
fn a_key_tells_apart_what_later_lines_are_judged_by() {
    let key = |tale: &Tale| {
        let (mut securing, mut key) = (Securing::default(), Vec::new());
        for line in &tale.lines {
            securing.observe(&tale.terms, line, &mut Danger::default()).expect("no breach");
        }
        securing.pack(&tale.terms, tale.at, &mut key);
        key
    };
    let tales = [
        tale(),
        tale().rotated(),
        tale().secret(1, SecretLife::Made),
        tale().rotated().pass(1),
        tale().arrives(Authentic::Yes),
        tale().arrives(Authentic::Forged),
        tale().arrives(Authentic::Forged).receives(0, BODY),
        tale().arrives(Authentic::Yes).fault(DOOR, Family::Hang).answers(503),
        tale().say(Node::Database(Side::Sender), Fact::ClockJumped { by_ms: 5 }),
    ];
    for (at, one) in tales.iter().enumerate() {
        assert!(tales[..at].iter().all(|other| key(one) != key(other)), "{at}");
    }
    assert_eq!(key(&tale()), key(&tale().requests(1, 1).pass(9)), "what is past is not kept");
}
