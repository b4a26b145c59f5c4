//! Every order of arrival, by brute force: what a receiver does with each standing, on one entity.

use std::collections::BTreeSet;

use hookproof_core::{
    Id,
    model::{
        BadModel, Early, Entity, EventType, Kind, Model, Occurrence, Operation, Order, Proposal,
        Rule, Standing, State,
    },
};

/// A table, refused or not, so that what a refused one would do can be seen.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) kind: Kind,
    pub(crate) order: Order,
    pub(crate) early: Early,
    pub(crate) rules: Vec<Rule>,
    pub(crate) model: Result<Model, BadModel>,
}

impl Table {
    pub(crate) fn new(
        states: u8,
        kind: Kind,
        order: Order,
        early: Early,
        rules: Vec<Rule>,
    ) -> Self {
        let model = Model::declare(usize::from(states), kind, order, early, rules.clone());
        Self { kind, order, early, rules, model }
    }

    pub(crate) fn rule(&self, event: EventType) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.event == event)
    }

    fn operation(&self, proposal: &Proposal) -> Option<Operation> {
        let (transition, occurrence) = self.rule(proposal.event)?.books?;
        let numbered = occurrence == Occurrence::FromEvent;
        let occurrence = if numbered { proposal.occurrence } else { 0 };
        Some(Operation { entity: proposal.entity, transition, occurrence })
    }

    /// As the model says; of a refused table, as the graph says, read once more from the contract.
    fn standing(&self, world: &World, proposal: &Proposal) -> Standing {
        let (state, version) = (world.state, world.version);
        if let Ok(model) = &self.model {
            let entity = Entity { id: ENTITY, rev: 0, state, version, projected: None };
            return model.standing(&entity, proposal);
        }
        assert_eq!(self.order, Order::Graph, "only refused graphs are played");
        let Some(rule) = self.rule(proposal.event) else { return Standing::Unknown };
        if rule.from.has(state) {
            Standing::Due(rule.to)
        } else if self.reachable(state).iter().any(|&later| rule.from.has(later)) {
            Standing::Early
        } else if self.leads(rule.to, state) && self.kind == Kind::Latest {
            Standing::Overtaken
        } else {
            Standing::Impossible
        }
    }

    fn leads(&self, from: State, to: State) -> bool {
        self.reachable(from).contains(&to)
    }

    fn reachable(&self, from: State) -> Vec<State> {
        let mut seen = vec![from];
        let mut at = 0;
        while let Some(&state) = seen.get(at) {
            let onward = self.rules.iter().filter(|rule| rule.from.has(state)).map(|rule| rule.to);
            let new: Vec<State> = onward.filter(|to| !seen.contains(to)).collect();
            seen.extend(new);
            at += 1;
        }
        seen
    }
}

/// What arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// A delivery of an event.
    Event(Proposal),
    /// A person books this operation by hand.
    ByHand(Operation),
}

/// A point of a history. The vectors count deliveries of each fact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) version: u64,
    pub(crate) booked: BTreeSet<Operation>,
    /// On their way.
    pub(crate) coming: Vec<u8>,
    /// Too early so far.
    pub(crate) waiting: Vec<u8>,
    /// While the authoritative API is asked; anything may happen before it answers.
    pub(crate) asking: Vec<u8>,
    /// In quarantine.
    pub(crate) aside: Vec<u8>,
}

/// Where all arrival orders of `copies[i]` deliveries of `facts[i]` end.
pub(crate) fn ends(table: &Table, facts: &[Fact], copies: &[u8]) -> BTreeSet<World> {
    let none = vec![0; facts.len()];
    let start = World {
        state: State(0),
        version: 0,
        booked: BTreeSet::new(),
        coming: copies.to_vec(),
        waiting: none.clone(),
        asking: none.clone(),
        aside: none,
    };
    let answer = authority(table, facts, copies);
    let (mut seen, mut open, mut ends) = (BTreeSet::new(), vec![start], BTreeSet::new());
    while let Some(world) = open.pop() {
        if !seen.insert(world.clone()) {
            continue;
        }
        let next = world.successors(table, facts, answer);
        if next.is_empty() {
            ends.insert(world);
        }
        open.extend(next);
    }
    ends
}

impl World {
    fn successors(&self, table: &Table, facts: &[Fact], answer: (State, u64)) -> Vec<Self> {
        let mut next = Vec::new();
        for (i, fact) in facts.iter().enumerate() {
            if self.coming[i] > 0 {
                let mut world = self.clone();
                world.coming[i] -= 1;
                world.work(table, i, fact);
                next.push(world);
            }
            let Fact::Event(proposal) = fact else { continue };
            if self.waiting[i] > 0 && table.standing(self, proposal) != Standing::Early {
                let mut world = self.clone();
                world.waiting[i] -= 1;
                world.work(table, i, fact);
                next.push(world);
            }
            if self.asking[i] > 0 {
                let mut world = self.clone();
                world.asking[i] -= 1;
                // A receiver may find that the event need not have asked by now, and work it.
                if !matches!(table.standing(&world, proposal), Standing::Early | Standing::Equal) {
                    let mut worked = world.clone();
                    worked.work(table, i, fact);
                    next.push(worked);
                }
                world.learn(table, i, proposal, answer);
                next.push(world);
            }
        }
        next
    }

    fn work(&mut self, table: &Table, i: usize, fact: &Fact) {
        let proposal = match fact {
            Fact::Event(proposal) => proposal,
            Fact::ByHand(operation) => {
                self.booked.insert(*operation);
                return;
            }
        };
        let operation = table.operation(proposal);
        match table.standing(self, proposal) {
            Standing::Due(to) => {
                self.state = to;
                self.version = self.version.max(proposal.version);
                self.booked.extend(operation);
            }
            Standing::Late => self.booked.extend(operation),
            Standing::Early if table.early == Early::Refetch => self.asking[i] += 1,
            Standing::Early => self.waiting[i] += 1,
            Standing::Equal => self.asking[i] += 1,
            Standing::Impossible if !operation.is_some_and(|o| self.booked.contains(&o)) => {
                self.aside[i] += 1;
            }
            Standing::Impossible | Standing::Overtaken | Standing::Unknown => {}
        }
    }

    /// The API has answered: what it says moves the entity forward or not at all, and the event that
    /// asked is done, unless the answer is older than it.
    fn learn(&mut self, table: &Table, i: usize, proposal: &Proposal, answer: (State, u64)) {
        let (state, version) = answer;
        let rule = table.rule(proposal.event).expect("an unknown event asks nothing");
        let (covers, newer) = match table.order {
            Order::Graph => {
                (table.leads(rule.to, state), state != self.state && table.leads(self.state, state))
            }
            Order::Version | Order::Sequence => {
                (version >= proposal.version, version > self.version)
            }
            Order::Instant => (version >= proposal.version, version >= self.version),
        };
        if !covers {
            self.waiting[i] += 1;
        } else if newer {
            (self.state, self.version) = answer;
        }
    }

    /// What must not depend on how often a fact was delivered.
    pub(crate) fn essence(&self) -> (State, u64, &BTreeSet<Operation>, Vec<bool>) {
        let waits = self.waiting.iter().map(|&n| n > 0).collect();
        (self.state, self.version, &self.booked, waits)
    }
}

/// What the authoritative API says: the newest of what was ever sent. Of equally new ones it says the
/// first, as a real one has one opinion.
fn authority(table: &Table, facts: &[Fact], copies: &[u8]) -> (State, u64) {
    let mut newest = (State(0), 0);
    let mut first = true;
    for (fact, _) in facts.iter().zip(copies).filter(|(_, copies)| **copies > 0) {
        let Fact::Event(proposal) = fact else { continue };
        let Some(rule) = table.rule(proposal.event) else { continue };
        let newer = match table.order {
            Order::Graph => table.leads(newest.0, rule.to),
            Order::Version | Order::Sequence | Order::Instant => {
                first || proposal.version > newest.1
            }
        };
        if newer {
            newest = (rule.to, proposal.version);
        }
        first = false;
    }
    newest
}

/// How the ends of these facts differ, if they do: by order of arrival, or by multiplicity.
pub(crate) fn diverges(table: &Table, facts: &[Fact], copies: &[u8]) -> Option<String> {
    let mut found = ends(table, facts, copies);
    if facts.iter().any(|fact| matches!(fact, Fact::ByHand(_))) {
        // A booking by hand may come before or after an event that can never be applied.
        found = found.into_iter().map(|end| World { aside: vec![], ..end }).collect();
    }
    if found.len() != 1 {
        return Some(format!("the order of arrival decides: {found:?}"));
    }
    let once: Vec<u8> = copies.iter().map(|&n| n.min(1)).collect();
    let single = ends(table, facts, &once);
    let (a, b) = (found.first()?, single.first()?);
    (a.essence() != b.essence()).then(|| format!("the multiplicity decides: {a:?} or {b:?}"))
}

pub(crate) const ENTITY: Id = Id(7);
