//! Histories by hand: bad ones that their promise catches at their last line, and hostile good ones.

mod door;
mod effects;
mod ends;
mod hostile;
mod keys;
mod letters;
mod verdict;
mod weather;
mod work;

use hookproof_core::{
    Millis,
    model::{Early, EventType, Kind, Model, Occurrence, Order, Rule, State, States, Transition},
    profile::{InboxPolicy, Profile},
    time::{HOUR, MINUTE, SECOND},
};

use super::{
    super::{Danger, Scheme},
    Receiving, Terms,
};
use crate::{
    history::{
        About, Authentic, Body, Cause, DeliveryId, DeliveryNo, EntityNo, EventNo, Fact,
        HandlerOutcome, Line, Node, OperationKey, Person, Reading, Reason, ReceiptNo, ReceiptStand,
        Replayed, Side, Verdict, WorkFault,
    },
    promise::Promise,
};

/// An event: what it is about. Its number is also that of its delivery, id, body and receipt.
#[derive(Clone, Copy)]
struct Event {
    no: u32,
    entity: u32,
    kind: u16,
    occurrence: u64,
    version: u64,
}

const ORDER: u32 = 0;
const SUBSCRIPTION: u32 = 1;
const SNAPSHOT: u32 = 2;
const ACCOUNT: u32 = 3;
const CLOCKED: u32 = 4;
const FETCHED: u32 = 5;

const fn event(no: u32, entity: u32, kind: u16, version: u64) -> Event {
    Event { no, entity, kind, occurrence: version, version }
}

/// An order: confirmed (1), paid (2) by two types of event, shipped (3).
const CONFIRMED: Event = event(0, ORDER, 0, 0);
const PAID: Event = event(1, ORDER, 1, 0);
/// The same payment at a second endpoint.
const PAID_AGAIN: Event = event(2, ORDER, 1, 0);
const COMPLETED: Event = event(3, ORDER, 2, 0);
const SHIPPED: Event = event(4, ORDER, 3, 0);
/// A subscription: renewals numbered without gaps.
const FIRST: Event = event(5, SUBSCRIPTION, 10, 1);
const SECOND_RENEWAL: Event = event(6, SUBSCRIPTION, 10, 2);
/// A snapshot by version: states 1 and 2.
const OLD: Event = event(7, SNAPSHOT, 20, 1);
const NEW: Event = event(8, SNAPSHOT, 21, 2);
/// A ledger by version: each entry books.
const ENTRY_1: Event = event(9, ACCOUNT, 30, 1);
const ENTRY_2: Event = event(10, ACCOUNT, 31, 2);
/// A profile by instants.
const NOON: Event = event(11, CLOCKED, 40, 12);
const ALSO_NOON: Event = event(12, CLOCKED, 41, 12);
/// A process whose early events ask.
const STEP_1: Event = event(13, FETCHED, 50, 0);
const STEP_2: Event = event(14, FETCHED, 51, 0);

fn rule(event: u16, from: States, to: u8, books: Option<(u16, Occurrence)>) -> Rule {
    let books = books.map(|(what, occurrence)| (Transition(what), occurrence));
    Rule { event: EventType(event), from, to: State(to), books, external: false }
}

fn models() -> Vec<Model> {
    use Occurrence::{FromEvent, Once};
    let of = |states: &[u8]| States::of(&states.iter().map(|&s| State(s)).collect::<Vec<_>>());
    let order = vec![
        rule(0, of(&[0]), 1, None),
        rule(1, of(&[0, 1]), 2, Some((0, Once))),
        rule(2, of(&[0, 1]), 2, Some((0, Once))),
        Rule { external: true, ..rule(3, of(&[2]), 3, Some((1, Once))) },
    ];
    let renewed = vec![rule(10, States::ALL, 1, Some((0, FromEvent)))];
    let states = |a, b| vec![rule(a, States::ALL, 1, None), rule(b, States::ALL, 2, None)];
    let entries = vec![
        rule(30, States::ALL, 1, Some((0, FromEvent))),
        rule(31, States::ALL, 2, Some((0, FromEvent))),
    ];
    let steps = vec![rule(50, of(&[0]), 1, None), rule(51, of(&[1]), 2, None)];
    [
        Model::declare(4, Kind::Latest, Order::Graph, Early::Wait, order),
        Model::declare(2, Kind::Latest, Order::Sequence, Early::Wait, renewed),
        Model::declare(3, Kind::Latest, Order::Version, Early::Wait, states(20, 21)),
        Model::declare(3, Kind::Ledger, Order::Version, Early::Wait, entries),
        Model::declare(3, Kind::Latest, Order::Instant, Early::Refetch, states(40, 41)),
        Model::declare(3, Kind::Latest, Order::Graph, Early::Refetch, steps),
    ]
    .into_iter()
    .map(|model| model.expect("a sound table"))
    .collect()
}

/// A history being told.
#[derive(Clone)]
struct Story {
    terms: Terms,
    at: Millis,
    worker: Node,
    lines: Vec<Line>,
}

/// A history in which lateness does not count.
fn story() -> Story {
    let terms = Terms {
        profile: Profile::hookproof(),
        inbox: InboxPolicy { retention_ms: Some(90 * 24 * HOUR), ..InboxPolicy::hookproof() },
        scheme: Scheme::hookproof(),
        models: models(),
        model_of: (0..6).collect(),
        poll_ms: SECOND,
        skew_ms: MINUTE,
        timely: false,
    };
    Story { terms, at: Millis(HOUR), worker: Node::Worker(0), lines: Vec::new() }
}

/// A history in which lateness counts.
fn timely() -> Story {
    let mut story = story();
    story.terms.timely = true;
    story
}

const DOOR: Node = Node::Ingress(0);
const STORE: Node = Node::Database(Side::Receiver);

impl Story {
    fn say(mut self, by: Node, fact: Fact) -> Self {
        self.lines.push(Line { at: self.at, by, fact });
        self
    }

    fn after(mut self, ms: u64) -> Self {
        self.at = self.at + ms;
        self
    }

    fn worker(mut self, worker: u8) -> Self {
        self.worker = Node::Worker(worker);
        self
    }

    fn work(self, fact: Fact) -> Self {
        let worker = self.worker;
        self.say(worker, fact)
    }

    // The sender.
    fn commits(self, e: Event) -> Self {
        let Event { no, entity, kind, occurrence, version } = e;
        let (event, body, entity, kind) =
            (EventNo(no), Body(no), EntityNo(entity), EventType(kind));
        self.say(Node::App, Fact::Committed { event, entity, kind, occurrence, version, body })
    }

    // The door.
    fn arrives(self, e: Event, attempt: u32) -> Self {
        self.arrives_as(DOOR, e, attempt, e.no, Authentic::Yes)
    }

    fn arrives_as(self, at: Node, e: Event, attempt: u32, body: u32, authentic: Authentic) -> Self {
        let (delivery, id, body) = (DeliveryNo(e.no), DeliveryId(e.no), Body(body));
        self.say(at, Fact::Arrived { delivery, attempt, id, body, authentic })
    }

    fn receives(self, e: Event) -> Self {
        self.receives_as(e.no, e, reading(e))
    }

    fn receives_as(self, receipt: u32, e: Event, reading: Reading) -> Self {
        let (delivery, id, body) = (DeliveryNo(e.no), DeliveryId(e.no), Body(e.no));
        self.say(DOOR, Fact::Received { receipt: ReceiptNo(receipt), delivery, id, body, reading })
    }

    fn answers(self, e: Event, attempt: u32, status: u16) -> Self {
        self.answers_from(DOOR, e, attempt, status)
    }

    fn answers_from(self, by: Node, e: Event, attempt: u32, status: u16) -> Self {
        let (delivery, id) = (DeliveryNo(e.no), DeliveryId(e.no));
        self.say(by, Fact::Answered { delivery, attempt, id, status })
    }

    fn delivered(self, e: Event) -> Self {
        self.commits(e).arrives(e, 1).receives(e).answers(e, 1, 200)
    }

    fn duplicated(self, e: Event, attempt: u32) -> Self {
        self.arrives(e, attempt).answers(e, attempt, 200)
    }

    // The work.
    fn claims(self, e: Event, fence: u32, strike: u16) -> Self {
        self.work(Fact::WorkClaimed { receipt: ReceiptNo(e.no), fence, strike })
    }

    fn runs(self, e: Event, outcome: HandlerOutcome) -> Self {
        self.work(Fact::HandlerRan { receipt: ReceiptNo(e.no), outcome })
    }

    fn moves(self, e: Event, from: u8, to: u8) -> Self {
        let entity = EntityNo(e.entity);
        let (from, to, version) = (State(from), State(to), e.version);
        self.work(Fact::Moved { entity, from, to, version })
    }

    fn effect(self, e: Event) -> Self {
        let operation = operation(e);
        self.work(Fact::Effect { operation, by: Cause::Receipt(ReceiptNo(e.no)) })
    }

    fn worked(self, e: Event, fence: u32, verdict: Verdict) -> Self {
        self.work(Fact::Worked { receipt: ReceiptNo(e.no), fence, verdict })
    }

    /// Claimed for the first time and applied.
    fn applied(self, e: Event, from: u8, to: u8) -> Self {
        self.claims(e, 1, 1).applies(e, 1, from, to)
    }

    /// Applied under the claim that is held.
    fn applies(self, e: Event, fence: u32, from: u8, to: u8) -> Self {
        let books =
            models()[e.entity as usize].rule(EventType(e.kind)).is_some_and(|r| r.books.is_some());
        let story = if books { self.runs(e, HandlerOutcome::Done) } else { self };
        let story = if from == to && e.version == 0 { story } else { story.moves(e, from, to) };
        let story = if books { story.effect(e) } else { story };
        story.worked(e, fence, Verdict::Applied)
    }

    fn deferred(self, e: Event, fence: u32) -> Self {
        self.claims(e, fence, 1).defers(e, fence, 24 * HOUR)
    }

    fn defers(self, e: Event, fence: u32, cap_ms: u64) -> Self {
        self.worked(e, fence, Verdict::Deferred { timer_ms: 5 * MINUTE, cap_ms })
    }

    fn woken(self, e: Event) -> Self {
        self.work(Fact::Woken { receipt: ReceiptNo(e.no), entity: EntityNo(e.entity) })
    }

    /// Claimed, run and failed, with the wait of the ladder.
    fn failed(self, e: Event, fence: u32, strike: u16, wait_ms: u64) -> Self {
        self.claims(e, fence, strike).runs(e, HandlerOutcome::Failed).fails(
            e,
            fence,
            WorkFault::Event,
            strike,
            wait_ms,
        )
    }

    fn fails(self, e: Event, fence: u32, fault: WorkFault, strike: u16, wait_ms: u64) -> Self {
        let stand = match fault {
            WorkFault::Event => ReceiptStand::Retrying,
            WorkFault::Infrastructure => ReceiptStand::Queued,
        };
        self.fails_to(e, fence, fault, stand, strike, wait_ms)
    }

    fn fails_to(
        self,
        e: Event,
        fence: u32,
        fault: WorkFault,
        stand: ReceiptStand,
        strike: u16,
        wait_ms: u64,
    ) -> Self {
        let receipt = ReceiptNo(e.no);
        self.work(Fact::WorkFailed { receipt, fence, fault, stand, strike, wait_ms })
    }

    fn sets_aside(self, e: Event, fence: u32, reason: Reason) -> Self {
        let about = About::Receipt(ReceiptNo(e.no));
        self.work(Fact::DeadLettered { about, reason }).work(Fact::Alerted { about }).worked(
            e,
            fence,
            Verdict::SetAside(reason),
        )
    }

    fn alert_sent(self, e: Event) -> Self {
        self.work(Fact::AlertSent { about: About::Receipt(ReceiptNo(e.no)) })
    }

    fn told(self, e: Event, state: u8, version: u64) -> Self {
        let (receipt, entity, state) = (ReceiptNo(e.no), EntityNo(e.entity), State(state));
        let claims = self.lines.iter().rev().find_map(|line| match line.fact {
            Fact::WorkClaimed { receipt: of, fence, .. } if of == receipt => Some(fence),
            _ => None,
        });
        let fence = claims.unwrap_or(0);
        self.say(Node::Api, Fact::Fetched { receipt, fence, entity, state, version })
    }

    // People and the world.
    fn replayed(self, e: Event, answer: Replayed) -> Self {
        let about = About::Receipt(ReceiptNo(e.no));
        match answer {
            Replayed::Refused | Replayed::Waiting => self,
            Replayed::Accepted => self.say(Node::Operator, Fact::Audited { about, by: Person(1) }),
        }
        .asks_to_replay(e, answer != Replayed::Refused, answer)
    }

    fn asks_to_replay(self, e: Event, allowed: bool, answer: Replayed) -> Self {
        let receipt = ReceiptNo(e.no);
        self.say(Node::Operator, Fact::Replayed { receipt, by: Person(1), allowed, answer })
    }

    fn booked(self, e: Event) -> Self {
        let operation = operation(e);
        self.say(Node::Operator, Fact::BookedByHand { operation, by: Person(1) })
    }

    fn purged(self, e: Event) -> Self {
        self.say(Node::Operator, Fact::Purged { receipt: ReceiptNo(e.no) })
    }

    fn called(self, e: Event, key: u64, did: bool) -> Self {
        self.say(Node::External, Fact::ExternalCall { operation: operation(e), key, did })
    }

    fn stands(self, e: Event, stand: ReceiptStand) -> Self {
        self.say(STORE, Fact::ReceiptStands { receipt: ReceiptNo(e.no), stand, due: false })
    }

    fn ends(self) -> Self {
        self.say(Node::World, Fact::Ended)
    }

    // Verdicts.
    fn judge(&self) -> (Result<(), (usize, Promise, String)>, Danger) {
        let mut monitor = Receiving::default();
        let mut danger = Danger::default();
        for (number, line) in self.lines.iter().enumerate() {
            let mut found = monitor.observe(&self.terms, line, &mut danger);
            if found.is_ok() && line.fact == Fact::Ended {
                found = monitor.end(&self.terms, line.at, &mut danger);
            }
            if let Err(breach) = found {
                return (Err((number, breach.promise, breach.what)), danger);
            }
        }
        (Ok(()), danger)
    }

    /// Nothing in the story breaks a promise.
    #[track_caller]
    fn holds(self) -> Self {
        if let (Err((number, promise, what)), _) = self.judge() {
            panic!("line {number} ({:?}) breaks {promise}: {what}", self.lines[number].fact);
        }
        self
    }

    /// The last line breaks this promise, and no line before it breaks any.
    #[track_caller]
    fn breaks(self, promise: Promise) {
        let last = self.lines.len() - 1;
        match self.judge().0 {
            Ok(()) => panic!("expected a breach of {promise}, and nothing is broken"),
            Err((number, found, what)) => {
                assert_eq!((number, found), (last, promise), "{what}");
            }
        }
    }

    /// How often this promise was in danger.
    fn danger(&self, promise: Promise) -> u32 {
        self.judge().1.of(promise)
    }
}

fn reading(e: Event) -> Reading {
    let Event { entity, kind, occurrence, version, .. } = e;
    Reading::Event { entity: EntityNo(entity), kind: EventType(kind), occurrence, version }
}

/// The operation that an event asks for: shipping is one of its own.
fn operation(e: Event) -> OperationKey {
    let transition = Transition(u16::from(e.kind == SHIPPED.kind));
    let occurrence = if e.entity == ORDER { 0 } else { e.occurrence };
    OperationKey { entity: EntityNo(e.entity), transition, occurrence }
}
