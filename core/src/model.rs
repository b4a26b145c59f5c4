//! Entity types: their transitions as data, and where an event stands to the state it finds (R8).
//!
//! The verdict follows from reachability, or from a declared order where reachability cannot decide.
//! A table whose outcome would depend on the order of arrival is refused when it is declared (R20).

use alloc::vec::Vec;

use crate::Id;

/// A state of an entity: an index into the type's states, below [`STATES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State(pub u8);

/// A type of event, as the application numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventType(pub u16);

/// What the business asks for, within an entity; several event types may ask for the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transition(pub u16);

/// How to tell two operations of one transition apart (R6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Occurrence {
    /// The transition can happen once in an entity's life.
    Once,
    /// The event names the occurrence: a period, a version, a sequence.
    FromEvent,
}

/// The key of an operation: what is done once, whoever asks for it and however often (R7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operation {
    /// The entity (account and resource) that it belongs to.
    pub entity: Id,
    /// What is asked for.
    pub transition: Transition,
    /// Which time; 0 where there is only one.
    pub occurrence: u64,
}

/// One event type of an entity type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The event type.
    pub event: EventType,
    /// The states that it may be applied in.
    pub from: States,
    /// The state that it leads to.
    pub to: State,
    /// The operation that it asks for, if it has an effect.
    pub books: Option<(Transition, Occurrence)>,
    /// Whether the effect is outside: a delivery to the effect target, keyed by the operation (R14).
    pub external: bool,
}

/// What is kept of an entity (R15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Every event, in the declared order.
    Ledger,
    /// The newest state.
    Latest,
}

/// What makes one event newer than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The graph of the transitions.
    Graph,
    /// A version in the event, with gaps.
    Version,
    /// A sequence in the event, without gaps: the next is the current plus one.
    Sequence,
    /// An instant in the event, of one source; two equal ones need a refetch.
    Instant,
}

/// What an event that comes too early does besides waiting (R9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Early {
    /// It waits.
    Wait,
    /// It waits, and the intended state is shown as projected.
    Project,
    /// The state is asked of the authoritative API instead of waiting.
    Refetch,
}

/// An entity's row. It is created in its initial state before it is first locked, so that its
/// absence never has to be guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entity {
    /// The row's key.
    pub id: Id,
    /// The row's revision.
    pub rev: u32,
    /// The state that the events so far have led to.
    pub state: State,
    /// The version, sequence or instant of the newest event applied; 0 before the first.
    pub version: u64,
    /// The state that an early event intends, shown as projected.
    pub projected: Option<State>,
}

/// What an event proposes to an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Proposal {
    /// The entity.
    pub entity: Id,
    /// What happened.
    pub event: EventType,
    /// Which occurrence of it; ignored where the rule says [`Occurrence::Once`].
    pub occurrence: u64,
    /// The version, sequence or instant; ignored where the order is the graph's.
    pub version: u64,
}

/// Where a proposal stands to the entity that it finds (R19: each pair has one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Its turn: the entity moves to this state.
    Due(State),
    /// Its turn in a ledger that has already seen a newer one: kept, the state stays.
    Late,
    /// Its prerequisite has not arrived.
    Early,
    /// Newer state is already there.
    Overtaken,
    /// As new as the state that is there: only the authoritative API can tell.
    Equal,
    /// It can never be applied from here.
    Impossible,
    /// The entity type does not know the event type.
    Unknown,
}

/// A set of states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct States(u64);

impl States {
    /// Every state.
    pub const ALL: Self = Self(u64::MAX);

    /// Just these states.
    pub const fn of(states: &[State]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < states.len() {
            bits |= 1 << states[i].0;
            i += 1;
        }
        Self(bits)
    }

    /// Whether `state` is among them.
    pub const fn has(self, state: State) -> bool {
        self.0 & (1 << state.0) != 0
    }

    const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// An entity type: its rules, and all that follows from them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Model {
    kind: Kind,
    order: Order,
    early: Early,
    rules: Vec<Rule>,
    /// For each state, the states reachable from it, itself included.
    reach: Vec<States>,
}

/// A table that is refused when it is declared (R6, R20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadModel {
    /// No state, or more than [`STATES_MAX`].
    StateCount(usize),
    /// A rule names a state that the type does not have.
    NoSuchState(EventType),
    /// Two rules for one event type.
    TwoRules(EventType),
    /// The graph has a cycle through this event, so arrival would decide; declare an order.
    Cycle(EventType),
    /// From one state these two lead to different ends, so arrival would decide; declare an order.
    Branches(EventType, EventType),
    /// Newer state may overtake this event, so whether its effect happens would depend on arrival.
    EffectOvertaken(EventType),
    /// The event can happen again, but its operation is declared to happen once (R6).
    RecursWithoutOccurrence(EventType),
    /// An order by instants needs a refetch for two equal ones (R15).
    InstantWithoutRefetch,
    /// An effect outside needs an operation to take its key from (R14).
    ExternalWithoutOperation(EventType),
}

impl core::fmt::Display for BadModel {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::StateCount(n) => {
                write!(f, "an entity type has 1 to {STATES_MAX} states, this one has {n}")
            }
            Self::NoSuchState(e) => {
                write!(f, "event type {} names a state that does not exist", e.0)
            }
            Self::TwoRules(e) => write!(f, "event type {} has two rules; give it one", e.0),
            Self::Cycle(e) => write!(
                f,
                "event type {} lies on a cycle, so the order of arrival would decide; declare a \
                 version, a sequence or an instant",
                e.0
            ),
            Self::Branches(a, b) => write!(
                f,
                "event types {} and {} lead from one state to different ends, so the order of \
                 arrival would decide; declare a version, a sequence or an instant",
                a.0, b.0
            ),
            Self::EffectOvertaken(e) => write!(
                f,
                "event type {} can be overtaken, so its effect would depend on the order of \
                 arrival; move the effect, or keep a ledger",
                e.0
            ),
            Self::RecursWithoutOccurrence(e) => write!(
                f,
                "event type {} can happen again; take the occurrence of its operation from the \
                 event",
                e.0
            ),
            Self::InstantWithoutRefetch => {
                write!(f, "two equal instants cannot be ordered; declare a refetch beside them")
            }
            Self::ExternalWithoutOperation(e) => write!(
                f,
                "event type {} has an effect outside but no operation to key it by; declare one",
                e.0
            ),
        }
    }
}

impl core::error::Error for BadModel {}

impl Model {
    /// Declares an entity type of `states` states; an entity starts in state 0.
    pub fn declare(
        states: usize,
        kind: Kind,
        order: Order,
        early: Early,
        rules: Vec<Rule>,
    ) -> Result<Self, BadModel> {
        if states == 0 || states > STATES_MAX {
            return Err(BadModel::StateCount(states));
        }
        let all = States(u64::MAX >> (STATES_MAX - states));
        let rules: Vec<Rule> = rules
            .into_iter()
            .map(|rule| match rule.from {
                States::ALL => Rule { from: all, ..rule },
                States(_) => rule,
            })
            .collect();
        let reach = closure(states, &rules, |_| true);
        let model = Self { kind, order, early, rules, reach };
        model.check(all)?;
        Ok(model)
    }

    /// The rule for an event type.
    pub fn rule(&self, event: EventType) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.event == event)
    }

    /// All rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What is kept of an entity.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What makes one event newer than another.
    pub fn order(&self) -> Order {
        self.order
    }

    /// What an event that comes too early does.
    pub fn early(&self) -> Early {
        self.early
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.reach.len()
    }

    /// The operation that a proposal asks for.
    pub fn operation(&self, proposal: &Proposal) -> Option<Operation> {
        let (transition, occurrence) = self.rule(proposal.event)?.books?;
        let occurrence = match occurrence {
            Occurrence::Once => 0,
            Occurrence::FromEvent => proposal.occurrence,
        };
        Some(Operation { entity: proposal.entity, transition, occurrence })
    }

    /// Where `proposal` stands to `entity`.
    pub fn standing(&self, entity: &Entity, proposal: &Proposal) -> Standing {
        let Some(rule) = self.rule(proposal.event) else { return Standing::Unknown };
        match self.order {
            Order::Graph => self.by_graph(entity.state, rule),
            Order::Version => self.by_version(entity, proposal.version, rule.to),
            Order::Instant if proposal.version == entity.version => Standing::Equal,
            Order::Instant => self.by_version(entity, proposal.version, rule.to),
            Order::Sequence => self.by_sequence(entity, proposal.version, rule),
        }
    }

    fn by_graph(&self, current: State, rule: &Rule) -> Standing {
        if rule.from.has(current) {
            Standing::Due(rule.to)
        } else if self.reachable(current).meets(rule.from) {
            Standing::Early
        } else if self.reachable(rule.to).has(current) {
            self.past()
        } else {
            Standing::Impossible
        }
    }

    fn by_version(&self, entity: &Entity, version: u64, to: State) -> Standing {
        match (version > entity.version, self.kind) {
            (true, Kind::Ledger | Kind::Latest) => Standing::Due(to),
            (false, Kind::Ledger) => Standing::Late,
            (false, Kind::Latest) => Standing::Overtaken,
        }
    }

    fn by_sequence(&self, entity: &Entity, version: u64, rule: &Rule) -> Standing {
        let next = entity.version.saturating_add(1);
        if version > next {
            Standing::Early
        } else if version < next {
            self.past()
        } else if rule.from.has(entity.state) {
            Standing::Due(rule.to)
        } else {
            Standing::Impossible
        }
    }

    /// A ledger has room for each event once: one that its order has passed needs a person.
    fn past(&self) -> Standing {
        match self.kind {
            Kind::Ledger => Standing::Impossible,
            Kind::Latest => Standing::Overtaken,
        }
    }

    fn reachable(&self, from: State) -> States {
        self.reach.get(usize::from(from.0)).copied().unwrap_or_default()
    }

    fn check(&self, all: States) -> Result<(), BadModel> {
        for (i, rule) in self.rules.iter().enumerate() {
            if !all.has(rule.to) || rule.from.0 & !all.0 != 0 || rule.from == States::default() {
                return Err(BadModel::NoSuchState(rule.event));
            }
            if self.rules[..i].iter().any(|other| other.event == rule.event) {
                return Err(BadModel::TwoRules(rule.event));
            }
            if rule.external && rule.books.is_none() {
                return Err(BadModel::ExternalWithoutOperation(rule.event));
            }
        }
        if self.order == Order::Instant && self.early != Early::Refetch {
            return Err(BadModel::InstantWithoutRefetch);
        }
        match self.order {
            Order::Graph => self.check_graph(),
            Order::Version | Order::Sequence | Order::Instant => self.check_ordered(),
        }
    }

    /// With a declared order events recur, and only a gapless order or a ledger keeps each of them.
    fn check_ordered(&self) -> Result<(), BadModel> {
        let keeps_all = self.kind == Kind::Ledger || self.order == Order::Sequence;
        for rule in &self.rules {
            match rule.books {
                Some(_) if !keeps_all => return Err(BadModel::EffectOvertaken(rule.event)),
                Some((_, Occurrence::Once)) if self.reachable(rule.to).meets(rule.from) => {
                    return Err(BadModel::RecursWithoutOccurrence(rule.event));
                }
                Some((_, Occurrence::Once | Occurrence::FromEvent)) | None => {}
            }
        }
        Ok(())
    }

    fn check_graph(&self) -> Result<(), BadModel> {
        if let Some(rule) = self.rules.iter().find(|r| self.reachable(r.to).meets(r.from)) {
            return Err(BadModel::Cycle(rule.event));
        }
        for (i, a) in self.rules.iter().enumerate() {
            for b in &self.rules[..i] {
                let joins = self.reachable(a.to).has(b.to) || self.reachable(b.to).has(a.to);
                if a.from.meets(b.from) && !joins {
                    return Err(BadModel::Branches(b.event, a.event));
                }
            }
        }
        match self.rules.iter().find(|rule| self.can_be_skipped(rule)) {
            Some(rule) => Err(BadModel::EffectOvertaken(rule.event)),
            None => Ok(()),
        }
    }

    /// Whether a state can be reached, without the operation of `rule`, in which it is overtaken.
    fn can_be_skipped(&self, rule: &Rule) -> bool {
        let Some(books) = rule.books else { return false };
        let without = closure(self.states(), &self.rules, |other| other.books != Some(books));
        (0..self.states() as u8).map(State).any(|state| {
            without[0].has(state)
                && !self.reachable(state).meets(rule.from)
                && self.reachable(rule.to).has(state)
        })
    }
}

/// For each state, the states reachable from it by the rules that `counts`, itself included.
fn closure(states: usize, rules: &[Rule], counts: impl Fn(&Rule) -> bool) -> Vec<States> {
    let mut reach: Vec<States> = (0..states).map(|state| States(1 << state)).collect();
    loop {
        let mut grown = false;
        for rule in rules.iter().filter(|rule| counts(rule)) {
            let Some(&onward) = reach.get(usize::from(rule.to.0)) else { continue };
            for from in reach.iter_mut().filter(|from| from.meets(rule.from)) {
                grown |= from.0 | onward.0 != from.0;
                from.0 |= onward.0;
            }
        }
        if !grown {
            return reach;
        }
    }
}

/// The most states an entity type can have: a set of them is one word.
pub const STATES_MAX: usize = 64;
