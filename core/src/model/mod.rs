//! Entity types: their transitions as data, and where an event stands to the state it finds (R8).
//!
//! The verdict follows from reachability, or from a declared order where reachability cannot decide.
//! A table whose outcome would depend on the order of arrival is refused when it is declared (R20).

mod check;
#[cfg(test)]
mod tests;

use alloc::{format, string::String, vec::Vec};
use core::cmp::Ordering;

use crate::Id;
pub use check::BadModel;
use check::closure;

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

impl Operation {
    /// The idempotency key of its effect for a service outside (R14), the same in every try.
    pub fn key(&self) -> String {
        let Self { entity, transition, occurrence } = self;
        format!("{:x}-{}-{occurrence}", entity.0, transition.0)
    }
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
    /// A version in the event, with gaps. It alone decides, so `from` only tells what may recur. Of
    /// two events with one version the higher-numbered state stays: number states in order of life.
    Version,
    /// A sequence in the event, without gaps: the first is 1, the next is the current plus one, and
    /// the source gives no number to two facts.
    Sequence,
    /// An instant in the event, of one source. Two equal ones need a refetch; a ledger keeps both,
    /// and its state is the one that two equal versions would leave.
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
    ///
    /// The answer may pass over events on their way, so a table in which one of them has an effect is
    /// refused.
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
    /// As new as the state that is there, which is another: only the authoritative API can tell.
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

    /// Just these states. A state that no type can have makes it the empty set, which
    /// [`Model::declare`] refuses.
    pub const fn of(states: &[State]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < states.len() {
            match 1_u64.checked_shl(states[i].0 as u32) {
                Some(bit) => bits |= bit,
                None => return Self(0),
            }
            i += 1;
        }
        Self(bits)
    }

    /// Whether `state` is among them.
    pub const fn has(self, state: State) -> bool {
        match 1_u64.checked_shl(state.0 as u32) {
            Some(bit) => self.0 & bit != 0,
            None => false,
        }
    }

    const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether each state of `other` is among them.
    const fn covers(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn without(self, state: State) -> Self {
        Self(self.0 & !Self::of(&[state]).0)
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

impl Model {
    /// Declares an entity type of `states` states; an entity starts in state 0.
    ///
    /// What is accepted converges (R20): every order of arrival and every multiplicity of the same
    /// events end in the same state and the same operations, with the same events left waiting.
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
        match model.fault(all) {
            Some(bad) => Err(bad),
            None => Ok(model),
        }
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

    /// Whether `to` can be reached from `from`, or is it.
    pub fn leads(&self, from: State, to: State) -> bool {
        self.reachable(from).has(to)
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
            Order::Version | Order::Instant => self.by_version(entity, proposal.version, rule.to),
            Order::Sequence => self.by_sequence(entity, proposal.version, rule),
        }
    }

    fn by_graph(&self, current: State, rule: &Rule) -> Standing {
        if rule.from.has(current) {
            Standing::Due(rule.to)
        } else if self.reachable(current).meets(rule.from) {
            Standing::Early
        } else if self.leads(rule.to, current) {
            self.past()
        } else {
            Standing::Impossible
        }
    }

    fn by_version(&self, entity: &Entity, version: u64, to: State) -> Standing {
        match version.cmp(&entity.version) {
            Ordering::Greater => Standing::Due(to),
            Ordering::Equal if to != entity.state && self.asks_about_equals() => Standing::Equal,
            Ordering::Equal if to > entity.state => Standing::Due(to),
            Ordering::Equal | Ordering::Less => match self.kind {
                Kind::Ledger => Standing::Late,
                Kind::Latest => Standing::Overtaken,
            },
        }
    }

    /// Two equal instants are two moments of which one is newer; two equal versions are one moment.
    /// A ledger has room for both and no operation may wait for an answer, so it does not ask.
    fn asks_about_equals(&self) -> bool {
        self.order == Order::Instant && self.kind == Kind::Latest
    }

    fn by_sequence(&self, entity: &Entity, version: u64, rule: &Rule) -> Standing {
        match version.saturating_sub(entity.version) {
            0 => self.past(),
            1 if rule.from.has(entity.state) => Standing::Due(rule.to),
            1 => Standing::Impossible,
            2.. => Standing::Early,
        }
    }

    /// A ledger has room for each event once: one that its order has passed needs a person. A table
    /// in which a first delivery could be passed is refused, so this is a second one, or the state
    /// was moved by other hands.
    fn past(&self) -> Standing {
        match self.kind {
            Kind::Ledger => Standing::Impossible,
            Kind::Latest => Standing::Overtaken,
        }
    }

    fn reachable(&self, from: State) -> States {
        self.reach.get(usize::from(from.0)).copied().unwrap_or_default()
    }
}

/// The most states an entity type can have: a set of them is one word.
pub const STATES_MAX: usize = 64;
