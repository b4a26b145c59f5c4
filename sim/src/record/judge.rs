//! The oracle over a history that may hold less than everything.

use hookproof_core::model::EventType;

use super::{
    Record,
    held::{Held, Holds},
    needs::{View, views},
};
use crate::{
    history::{
        Address, Body, DeliveryId, DeliveryNo, EndpointLife, EndpointNo, EntityNo, EventNo, Fact,
        Line, Node, Side,
    },
    oracle::{Alone, Terms, Verdict, judge, judge_alone},
    promise::Promise,
};

/// What is to be said of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Every promise that the oracle decides, in the order of the contract.
    pub decisions: Vec<Decision>,
}

/// What is to be said of a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The promise.
    pub promise: Promise,
    /// How it fared.
    pub verdict: Verdict,
    /// How often it was in danger.
    pub danger: u32,
    /// Why it fared so; `None` for one that is kept.
    pub why: Option<Why>,
}

/// Why a promise is broken, or cannot be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was broken here.
    Broken(Place),
    /// It looks broken here. These facts, which are not held, might excuse it.
    Unexcused(Place, Holds),
    /// The reading ended here, since another promise was broken.
    Ended(Place),
    /// These facts are not held.
    Missing(Holds),
    /// The history does not go on to its end, or does not show what is needed.
    Untold,
}

/// A line and what it broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line of the file, counted from 1.
    pub line: usize,
    /// The promise that broke there.
    pub promise: Promise,
    /// What happened, with the ids of the file.
    pub what: String,
}

impl Judged {
    /// How it came out as a whole: broken if one promise was, kept if one was and none was broken.
    pub fn verdict(&self) -> Verdict {
        let is = |verdict| self.decisions.iter().any(|decision| decision.verdict == verdict);
        if is(Verdict::Fail) {
            Verdict::Fail
        } else if is(Verdict::Pass) {
            Verdict::Pass
        } else {
            Verdict::Inconclusive
        }
    }
}

impl Record {
    /// Judges each promise by the facts that are held.
    pub fn judge(&self) -> Judged {
        let decisions =
            if self.holds == Holds::ALL { self.judge_whole() } else { self.judge_views() };
        Judged { decisions }
    }

    /// Each promise by its own views.
    pub(super) fn judge_views(&self) -> Vec<Decision> {
        Promise::CHECKED.into_iter().map(|promise| self.decide(promise)).collect()
    }

    /// Nothing is missing: what the oracle says is what it is.
    fn judge_whole(&self) -> Vec<Decision> {
        let report = judge(&self.terms, &self.lines);
        let place = |no: usize, promise: Promise, what: &str| Place {
            line: self.places[no],
            promise,
            what: self.names.say(what),
        };
        let each = report.rows.iter().map(|row| {
            let own = report.broken.iter().find(|broken| broken.breach.promise == row.promise);
            let broken = own.or(report.breach());
            let found = broken.map(|b| place(b.line, b.breach.promise, &b.breach.what));
            let why = match (row.verdict, found) {
                (Verdict::Pass, _) => None,
                (Verdict::Fail, Some(place)) => Some(Why::Broken(place)),
                (Verdict::Inconclusive, Some(place)) => Some(Why::Ended(place)),
                (Verdict::Fail | Verdict::Inconclusive, None) => Some(Why::Untold),
            };
            Decision { promise: row.promise, verdict: row.verdict, danger: row.danger, why }
        });
        each.collect()
    }

    /// The verdict of its views: one that breaks the promise counts, else one that shows all of it, else
    /// the one that came closest.
    fn decide(&self, promise: Promise) -> Decision {
        let each = views(promise).map(|view| self.look(&view));
        let rank = |decision: &Decision| match (decision.verdict, &decision.why) {
            (Verdict::Fail, _) => 0,
            (Verdict::Pass, _) => 1,
            (_, Some(Why::Unexcused(..))) => 2,
            (_, Some(Why::Ended(_))) => 3,
            (_, Some(Why::Untold)) => 4,
            (_, _) => 5,
        };
        let best = each.min_by_key(|decision| {
            let missing = match &decision.why {
                Some(Why::Missing(missing)) => missing.each().count(),
                _ => 0,
            };
            (rank(decision), missing)
        });
        best.unwrap_or(Decision {
            promise,
            verdict: Verdict::Inconclusive,
            danger: 0,
            why: Some(Why::Untold),
        })
    }

    fn look(&self, view: &View) -> Decision {
        let open = |danger, why| Decision {
            promise: view.promise,
            verdict: Verdict::Inconclusive,
            danger,
            why: Some(why),
        };
        let missing = view.needs.without(self.holds);
        if !missing.is_empty() {
            return open(0, Why::Missing(missing));
        }
        let seen = self.seen(view);
        let terms = Terms { timely: view.timely, ..self.terms.clone() };
        let Alone { broken, told, danger } = judge_alone(&terms, &seen.lines, view.promise);
        let Some(broken) = broken else {
            let shown = view.unless.is_none_or(|fact| !self.has(fact));
            return match (view.whole, told && shown) {
                (true, true) => {
                    Decision { verdict: Verdict::Pass, why: None, ..open(danger, Why::Untold) }
                }
                (true, false) => open(danger, Why::Untold),
                (false, _) => open(danger, Why::Missing(self.wanting(view.promise))),
            };
        };
        let place = Place {
            line: self.places[seen.origins[broken.line]],
            promise: broken.breach.promise,
            what: self.names.say(&broken.breach.what),
        };
        let excuses = view.excuses.without(self.holds);
        if place.promise != view.promise {
            open(danger, Why::Ended(place))
        } else if excuses.is_empty() {
            Decision { verdict: Verdict::Fail, ..open(danger, Why::Broken(place)) }
        } else {
            open(danger, Why::Unexcused(place, excuses))
        }
    }

    fn has(&self, fact: Held) -> bool {
        self.lines.iter().any(|line| Held::of(&line.fact) == fact)
    }

    /// What a whole view of the promise misses.
    fn wanting(&self, promise: Promise) -> Holds {
        let missing = views(promise).filter(|view| view.whole);
        let missing = missing.map(|view| view.needs.without(self.holds));
        missing.min_by_key(|missing| missing.each().count()).unwrap_or_default()
    }

    /// What a view shows of the history.
    fn seen(&self, view: &View) -> Seen {
        let shown = view.needs.and(view.excuses.meet(self.holds));
        let mut seen = Seen::default();
        if !shown.has(Held::Endpoint) {
            seen.register(&self.lines);
        }
        let rows =
            Rows { events: !shown.has(Held::Committed), deliveries: !shown.has(Held::FannedOut) };
        for (origin, line) in self.lines.iter().enumerate() {
            if !shown.has(Held::of(&line.fact)) {
                // That time has passed is told by every line.
                if view.timely {
                    seen.push(origin, Line { by: Node::World, fact: NOTHING, ..*line });
                }
                continue;
            }
            let fact = if shown.has(Held::Bodies) { line.fact } else { without_body(line.fact) };
            let fact = if view.apart { with_own_id(fact) } else { fact };
            let line = Line { fact, ..*line };
            seen.fill_in(rows, origin, &line);
            seen.push(origin, line);
        }
        seen
    }
}

/// The lines of a view, each with the one that it is from.
#[derive(Default)]
struct Seen {
    lines: Vec<Line>,
    origins: Vec<usize>,
    events: Vec<bool>,
    deliveries: Vec<bool>,
}

/// The rows that are made where they are first heard of, since no line of a view tells of their making.
#[derive(Clone, Copy)]
struct Rows {
    events: bool,
    deliveries: bool,
}

impl Seen {
    fn push(&mut self, origin: usize, line: Line) {
        self.lines.push(line);
        self.origins.push(origin);
    }

    /// Every endpoint is there from the beginning.
    fn register(&mut self, lines: &[Line]) {
        let Some(first) = lines.first() else { return };
        let endpoints = lines.iter().filter_map(|line| match line.fact {
            Fact::FannedOut { endpoint, .. }
            | Fact::Claimed { endpoint, .. }
            | Fact::Requested { endpoint, .. } => Some(endpoint.0),
            _ => None,
        });
        let Some(last) = endpoints.max() else { return };
        for endpoint in (0..=last).map(EndpointNo) {
            let fact = Fact::Endpoint { endpoint, life: EndpointLife::Registered };
            self.push(0, Line { at: first.at, by: Node::Operator, fact });
        }
    }

    /// The rows that this line takes for granted.
    fn fill_in(&mut self, rows: Rows, origin: usize, line: &Line) {
        match line.fact {
            Fact::FannedOut { event, .. } if rows.events => {
                self.event(origin, line, event, Body(0));
            }
            Fact::Requested { delivery, endpoint, id, body, .. }
                if rows.deliveries && is_first(&mut self.deliveries, delivery.index()) =>
            {
                let event = EventNo(delivery.0);
                self.event(origin, line, event, body);
                let fact = Fact::FannedOut { event, endpoint, delivery, id };
                self.push(origin, Line { by: Node::Relay(0), fact, ..*line });
            }
            // What is there after a restore is not told, and made anew.
            Fact::Restored { side: Side::Sender, .. } => {
                self.events.clear();
                self.deliveries.clear();
            }
            _ => {}
        }
    }

    fn event(&mut self, origin: usize, line: &Line, event: EventNo, body: Body) {
        if is_first(&mut self.events, event.index()) {
            let (entity, kind) = (EntityNo(0), EventType(0));
            let fact = Fact::Committed { event, entity, kind, occurrence: 0, version: 0, body };
            self.push(origin, Line { by: Node::App, fact, ..*line });
        }
    }
}

/// A fact of which no promise makes anything.
const NOTHING: Fact =
    Fact::Dialled { delivery: DeliveryNo(0), attempt: 0, address: Address::Vetted };

fn is_first(seen: &mut Vec<bool>, number: usize) -> bool {
    if number >= seen.len() {
        seen.resize(number + 1, false);
    }
    !core::mem::replace(&mut seen[number], true)
}

/// The receipt of a delivery of its own.
fn with_own_id(mut fact: Fact) -> Fact {
    if let Fact::Received { receipt, id, .. } = &mut fact {
        *id = DeliveryId(receipt.0);
    }
    fact
}

/// Where not every body is told, all are taken for the same.
fn without_body(mut fact: Fact) -> Fact {
    match &mut fact {
        Fact::Committed { body, .. }
        | Fact::Requested { body, .. }
        | Fact::Arrived { body, .. }
        | Fact::Received { body, .. }
        | Fact::Differed { body, .. } => *body = Body(0),
        _ => {}
    }
    fact
}
