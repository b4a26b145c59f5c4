//! A scenario as it went, for a drawing: which place wrote each step, what went from place to place, and
//! every version of every row of both databases.
//!
//! A history says what committed and what arrived; what was lost on its way, and what a row was before,
//! only the world knows. So the world is looked at after each step, and what differs is kept.

mod mark;
mod rows;

pub use mark::Mark;
pub use rows::{Row, TABLES, Table};

use std::collections::BTreeMap;

use hookproof_core::outbox::{Delivery, Subject};

use crate::{
    history::{Fact, Line, Node, OperationKey, Side},
    rogue::Rogue,
    scenario::{Played, Scenario},
    world::{Answer, NOBODY, Parcel, ProcessNo, Step, World},
};

/// A scenario as it went.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What came of it.
    pub played: Played,
    /// What was sent, in the order of the steps in which it was.
    pub messages: Vec<Message>,
    /// The rows, in the order in which they changed.
    pub versions: Vec<Version>,
}

/// Something that was sent from place to place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What.
    pub what: Sent,
    /// The delivery that it is about.
    pub delivery: u32,
    /// The attempt of the delivery.
    pub attempt: u32,
    /// Where it came from, and in which step.
    pub from: (Node, usize),
    /// What became of it.
    pub end: Way,
}

/// What was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A request.
    Request,
    /// A second one of a request: a duplicate, or what an attacker made of it.
    Copy,
    /// An answer.
    Response,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It arrived here, in this step.
    Arrived(Node, usize),
    /// It was gone at this step: lost, or nobody waited for it any more.
    Lost(usize),
    /// It was on its way when the history ended.
    UnderWay,
}

/// A row from the step in which it became so to the one in which it became another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The row; without cells where it is gone.
    pub row: Row,
    /// Which cells differ from the version before.
    pub changed: Vec<bool>,
    /// The step in which it became so.
    pub from: usize,
    /// The step in which it became another; `None`: it stayed so.
    pub until: Option<usize>,
}

impl Picture {
    /// Runs a scenario, and looks at the world after each step.
    pub fn of(scenario: &Scenario, rogue: Option<Rogue>) -> Self {
        let mut eye = Eye::new(scenario);
        let mut watch = |world: &World, lines: &[Line]| eye.looks(world, lines);
        let played = scenario.play_watched(rogue, &mut watch);
        Self { played, messages: eye.messages, versions: eye.versions }
    }
}

/// What was sent in a history of which nothing but the lines is known: from each request to its arrival, and
/// from each answer to whoever learned of it. What has no other end is shown as on its way.
pub fn messages_of(steps: &[&[Line]]) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for (step, line) in
        steps.iter().enumerate().flat_map(|(at, of)| of.iter().map(move |l| (at, l)))
    {
        let (what, delivery, attempt, leaves) = match line.fact {
            Fact::Requested { delivery, attempt, .. } => (Sent::Request, delivery, attempt, true),
            Fact::Arrived { delivery, attempt, .. } => (Sent::Request, delivery, attempt, false),
            Fact::Answered { delivery, attempt, .. } => (Sent::Response, delivery, attempt, true),
            Fact::Responded { delivery, attempt, .. } => (Sent::Response, delivery, attempt, false),
            _ => continue,
        };
        let delivery = delivery.0;
        if leaves {
            let from = (line.by, step);
            messages.push(Message { what, delivery, attempt, from, end: Way::UnderWay });
            continue;
        }
        let its =
            |of: &&mut Message| (of.what, of.delivery, of.attempt) == (what, delivery, attempt);
        let mut sent = messages.iter_mut().rev().filter(its);
        if let Some(message) = sent.find(|of| of.end == Way::UnderWay) {
            message.end = Way::Arrived(line.by, step);
        }
    }
    messages
}

/// What was seen so far.
struct Eye<'a> {
    scenario: &'a Scenario,
    step: usize,
    /// How many lines there were before this step.
    lines: usize,
    /// What is on its way, and the message that it is.
    under_way: Vec<(Flight, usize)>,
    messages: Vec<Message>,
    /// The newest version of each row.
    newest: BTreeMap<(Table, String), usize>,
    versions: Vec<Version>,
}

/// Something on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flight {
    Request(Parcel),
    Response(Answer),
}

impl<'a> Eye<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        Self {
            scenario,
            step: 0,
            lines: 0,
            under_way: Vec::new(),
            messages: Vec::new(),
            newest: BTreeMap::new(),
            versions: Vec::new(),
        }
    }

    fn looks(&mut self, world: &World, lines: &[Line]) {
        self.follows(world, &lines[self.lines..]);
        self.compares(world);
        self.lines = lines.len();
        self.step += 1;
    }

    /// What is no longer on its way has arrived or is lost; what is new was sent in this step.
    fn follows(&mut self, world: &World, lines: &[Line]) {
        let flights = world.tasks.iter().filter_map(|task| match task.step {
            Step::Request(parcel) => Some(Flight::Request(parcel)),
            Step::Response(answer) => Some(Flight::Response(answer)),
            _ => None,
        });
        let mut flights: Vec<Flight> = flights.collect();
        let mut still = Vec::new();
        for (flight, message) in std::mem::take(&mut self.under_way) {
            if let Some(at) = flights.iter().position(|other| *other == flight) {
                flights.swap_remove(at);
                still.push((flight, message));
            } else {
                let by = lines.iter().find(|line| flight.arrives(&line.fact)).map(|line| line.by);
                let by = by.or_else(|| flight.is_for_nobody().then_some(Node::Network));
                self.messages[message].end =
                    by.map_or(Way::Lost(self.step), |by| Way::Arrived(by, self.step));
            }
        }
        self.under_way = still;
        self.calls(world, lines);
        for flight in flights {
            self.under_way.push((flight, self.messages.len()));
            self.messages.push(self.sent(&flight, lines));
        }
    }

    /// The relay of effects writes no line of its requests: one that left since the step before is known
    /// by its arrival alone.
    fn calls(&mut self, world: &World, lines: &[Line]) {
        for line in lines.iter().filter(|line| line.by == Node::External) {
            let Fact::ExternalCall { operation, .. } = line.fact else { continue };
            let arrived = |of: &Message| of.end == Way::Arrived(line.by, self.step);
            let calls = |row: &&Delivery| match row.subject {
                Subject::Effect(of) => OperationKey::from(of) == operation,
                Subject::Event(_) => false,
            };
            let mut rows = world.db(Side::Receiver).deliveries.iter().flatten();
            if let Some(row) = rows.find(calls).filter(|_| !self.messages.iter().any(arrived)) {
                self.messages.push(Message {
                    what: Sent::Request,
                    delivery: row.id.0 as u32,
                    attempt: row.attempt,
                    from: (Node::EffectRelay(0), self.step),
                    end: Way::Arrived(line.by, self.step),
                });
            }
        }
    }

    fn sent(&self, flight: &Flight, lines: &[Line]) -> Message {
        let by = lines.iter().find(|line| flight.leaves(&line.fact)).map(|line| line.by);
        let (what, ticket, from) = match flight {
            Flight::Request(parcel) => {
                let relay = self.node(parcel.from).filter(|_| parcel.copy == 0);
                let relay = relay.filter(|node| matches!(node, Node::EffectRelay(_)));
                let from = by.or(relay);
                (from.map_or(Sent::Copy, |_| Sent::Request), parcel.ticket, from)
            }
            Flight::Response(answer) => (Sent::Response, answer.ticket, by),
        };
        let delivery = ticket.delivery.0 as u32;
        let from = (from.unwrap_or(Node::Network), self.step);
        Message { what, delivery, attempt: ticket.attempt, from, end: Way::UnderWay }
    }

    fn node(&self, process: ProcessNo) -> Option<Node> {
        let setup = &self.scenario.setup;
        let first = setup.relays + setup.ingresses + setup.workers;
        (process != NOBODY && process >= first).then(|| Node::EffectRelay(process - first))
    }

    fn compares(&mut self, world: &World) {
        let now = [Side::Sender, Side::Receiver].map(|side| rows::of(world.db(side), side));
        let now: Vec<Row> = now.into_iter().flatten().collect();
        let gone = self.newest.iter().filter(|(key, at)| {
            let there = |row: &Row| (row.table, &row.key) == (key.0, &key.1);
            !self.versions[**at].row.cells.is_empty() && !now.iter().any(there)
        });
        let gone: Vec<Row> = gone.map(|((table, key), _)| Row::gone(*table, key.clone())).collect();
        for row in now.into_iter().chain(gone) {
            self.takes(row);
        }
    }

    fn takes(&mut self, row: Row) {
        let key = (row.table, row.key.clone());
        let before = self.newest.get(&key).copied();
        let cells = before.map_or(&[][..], |at| &self.versions[at].row.cells);
        if before.is_some() && cells == row.cells {
            return;
        }
        let differs = |(at, cell): (usize, &String)| cells.get(at) != Some(cell);
        let changed = row.cells.iter().enumerate().map(differs).collect();
        if let Some(at) = before {
            self.versions[at].until = Some(self.step);
        }
        self.newest.insert(key, self.versions.len());
        self.versions.push(Version { row, changed, from: self.step, until: None });
    }
}

impl Flight {
    /// Whether a line says that it left.
    fn leaves(&self, fact: &Fact) -> bool {
        match (self, fact) {
            (Self::Request(parcel), Fact::Requested { delivery, fence, .. }) => {
                parcel.ticket.delivery.0 == u128::from(delivery.0) && parcel.ticket.fence == *fence
            }
            (Self::Response(answer), Fact::Answered { delivery, attempt, status, .. }) => {
                answer.ticket.delivery.0 == u128::from(delivery.0)
                    && (answer.ticket.attempt, answer.status) == (*attempt, *status)
            }
            (Self::Response(_), Fact::ExternalCall { .. }) => true,
            _ => false,
        }
    }

    /// Whether a line says that it arrived.
    fn arrives(&self, fact: &Fact) -> bool {
        match (self, fact) {
            (Self::Request(parcel), Fact::Arrived { delivery, attempt, .. }) => {
                parcel.ticket.delivery.0 == u128::from(delivery.0)
                    && parcel.ticket.attempt == *attempt
            }
            (Self::Request(_), Fact::ExternalCall { .. }) => true,
            (Self::Response(answer), Fact::Responded { delivery, fence, .. }) => {
                answer.ticket.delivery.0 == u128::from(delivery.0) && answer.ticket.fence == *fence
            }
            _ => false,
        }
    }

    /// Whether whoever sent the request that it answers is none of the processes.
    fn is_for_nobody(&self) -> bool {
        matches!(self, Self::Response(answer) if answer.to == NOBODY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{promise::Promise, swarm::draw_for};

    fn pictures() -> impl Iterator<Item = (Scenario, Picture)> {
        (0..30).map(|seed| {
            let scenario = Scenario::of(&draw_for(seed, &[]), Promise::S2, None);
            let picture = Picture::of(&scenario, None);
            (scenario, picture)
        })
    }

    #[test]
    fn whoever_is_watched_does_the_same() {
        for (scenario, picture) in pictures() {
            assert!(picture.played.lines == scenario.play(None).lines);
            let steps = picture.played.steps();
            assert_eq!(steps.last().map(|last| last.end), Some(picture.played.lines.len()));
        }
    }

    #[test]
    fn what_arrives_was_sent_and_what_is_lost_is_known() {
        let mut lost = 0;
        for (_, Picture { played, messages, .. }) in pictures() {
            for (step, range) in played.steps().into_iter().enumerate() {
                for line in &played.lines[range] {
                    let arrives = matches!(line.fact, Fact::Arrived { .. });
                    let here = Way::Arrived(line.by, step);
                    assert!(!arrives || messages.iter().any(|of| of.end == here), "{line}");
                }
            }
            for message in &messages {
                let (Way::Arrived(_, end) | Way::Lost(end)) = message.end else { continue };
                assert!(message.from.1 <= end, "{message:?}");
            }
            lost += messages.iter().filter(|of| matches!(of.end, Way::Lost(_))).count();
        }
        assert!(lost > 30, "{lost}");
    }

    #[test]
    fn a_row_has_one_version_at_a_time() {
        for (_, Picture { versions, .. }) in pictures() {
            let mut newest: BTreeMap<(Table, &str), &Version> = BTreeMap::new();
            for version in &versions {
                let before = newest.insert((version.row.table, &version.row.key), version);
                assert_eq!(before.and_then(|of| of.until), before.map(|_| version.from));
                assert!(version.row.cells.is_empty() || version.changed.contains(&true));
                let cells = version.row.table.columns().len() - 1;
                assert!(version.row.cells.is_empty() || version.row.cells.len() == cells);
            }
            assert!(newest.values().all(|of| of.until.is_none()));
        }
    }
}
