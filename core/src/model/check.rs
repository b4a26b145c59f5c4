//! Which tables are refused when they are declared, and why.
//!
//! In the order of the graph the accepted tables are the chains. From each reachable state all that
//! can happen next is ordered: of two events that apply there, one still applies where the other
//! leads, or both lead to the same place. So all reachable states stand in one line, an event is
//! early before its states, due in them and past after them, for good, and it does not matter who
//! comes first. Effects are the exception: of two events the one that leaps spares the state the
//! other, but not the business its operation. Hence the second rule: no state beyond an event is
//! reachable without its operation.
//!
//! A declared order decides the state by itself. What remains is whether each operation is asked for
//! in every order of arrival.

use alloc::vec::Vec;

use super::{Early, EventType, Kind, Model, Occurrence, Order, Rule, STATES_MAX, State, States};

/// A table that is refused when it is declared (R6, R20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadModel {
    /// No state, or more than [`STATES_MAX`].
    StateCount(usize),
    /// A rule names a state that the type does not have, or none to start from.
    NoSuchState(EventType),
    /// Two rules for one event type.
    TwoRules(EventType),
    /// No state that this event starts from is ever reached, so it would only ever be set aside.
    NeverApplies(EventType),
    /// The graph has a cycle through this event, so arrival would decide; declare an order.
    Cycle(EventType),
    /// Both apply in one state and neither where the other leads, so arrival would decide; declare an
    /// order.
    Branches(EventType, EventType),
    /// Newer state may overtake this event, so whether its effect happens would depend on arrival.
    EffectOvertaken(EventType),
    /// Newer state may pass this event in a ledger, so whether it is kept would depend on arrival.
    EntryOvertaken(EventType),
    /// The event can happen again, but its operation is declared to happen once (R6).
    RecursWithoutOccurrence(EventType),
    /// The graph lets the event happen once, but its operation takes the occurrence from it, so of two
    /// occurrences the first to arrive would be booked.
    OccurrenceWithoutRecurring(EventType),
    /// An order by instants needs a refetch for two equal ones (R15).
    InstantWithoutRefetch,
    /// A refetch may pass over this event, which else would be applied or impossible as it arrives.
    RefetchPassesOver(EventType),
    /// An effect outside needs an operation to take its key from (R14).
    ExternalWithoutOperation(EventType),
    /// Both ask for one operation, one outside and one not, so arrival would decide where.
    InsideAndOutside(EventType, EventType),
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
            Self::NeverApplies(e) => write!(
                f,
                "event type {} starts from states that are never reached; declare what leads there",
                e.0
            ),
            Self::Cycle(e) => write!(
                f,
                "event type {} lies on a cycle, so the order of arrival would decide; declare a \
                 version, a sequence or an instant",
                e.0
            ),
            Self::Branches(a, b) => write!(
                f,
                "event types {} and {} lead from one state to different ends, so the order of \
                 arrival would decide; let one apply where the other leads, or declare a version, \
                 a sequence or an instant",
                a.0, b.0
            ),
            Self::EffectOvertaken(e) => write!(
                f,
                "event type {} can be overtaken, so its effect would depend on the order of \
                 arrival; move the effect, or keep a ledger by version",
                e.0
            ),
            Self::EntryOvertaken(e) => write!(
                f,
                "event type {} can be overtaken, so whether the ledger keeps it would depend on the \
                 order of arrival; let the others wait for it, or keep the ledger by version",
                e.0
            ),
            Self::RecursWithoutOccurrence(e) => write!(
                f,
                "event type {} can happen again; take the occurrence of its operation from the \
                 event",
                e.0
            ),
            Self::OccurrenceWithoutRecurring(e) => write!(
                f,
                "event type {} can happen once, but the occurrence of its operation comes from the \
                 event; let it happen once, or declare a sequence or a version",
                e.0
            ),
            Self::InstantWithoutRefetch => {
                write!(f, "two equal instants cannot be ordered; declare a refetch beside them")
            }
            Self::RefetchPassesOver(e) => write!(
                f,
                "a refetch may pass over event type {}, which in another order of arrival is \
                 impossible; let it apply in every state, or wait instead",
                e.0
            ),
            Self::ExternalWithoutOperation(e) => write!(
                f,
                "event type {} has an effect outside but no operation to key it by; declare one",
                e.0
            ),
            Self::InsideAndOutside(a, b) => write!(
                f,
                "event types {} and {} ask for one operation, one of them outside; whichever comes \
                 first would decide where it happens",
                a.0, b.0
            ),
        }
    }
}

impl core::error::Error for BadModel {}

impl Model {
    /// What is wrong with the table. `all`: every state of the type.
    pub(super) fn fault(&self, all: States) -> Option<BadModel> {
        self.first(|rule| self.misdeclared(rule, all))
            .or_else(|| self.first_pair(misbooked))
            .or_else(|| match self.order {
                Order::Graph => self.graph_fault(),
                Order::Sequence => self.sequence_fault(),
                Order::Version | Order::Instant => self.version_fault(),
            })
    }

    fn misdeclared(&self, rule: &Rule, all: States) -> Option<BadModel> {
        let named = rule.from != States::default() && all.covers(rule.from) && all.has(rule.to);
        if !named {
            Some(BadModel::NoSuchState(rule.event))
        } else if self.rules.iter().filter(|other| other.event == rule.event).count() > 1 {
            Some(BadModel::TwoRules(rule.event))
        } else if rule.external && rule.books.is_none() {
            Some(BadModel::ExternalWithoutOperation(rule.event))
        } else {
            None
        }
    }

    fn graph_fault(&self) -> Option<BadModel> {
        self.first(|rule| self.never_applies(rule))
            .or_else(|| self.first(|rule| self.on_cycle(rule)))
            .or_else(|| self.first_pair(|a, b| self.branches(a, b)))
            .or_else(|| self.first(|rule| self.recurs(rule)))
            .or_else(|| self.first(happens_once))
            .or_else(|| self.first(|rule| self.skipped(rule)))
    }

    /// A gapless order is a chain by itself. Only a refetch may leap, and what it passes over is past
    /// when it comes: that must change nothing.
    fn sequence_fault(&self) -> Option<BadModel> {
        self.first(|rule| self.never_applies(rule))
            .or_else(|| self.first(|rule| self.recurs(rule)))
            .or_else(|| match self.early {
                Early::Wait | Early::Project => None,
                Early::Refetch => self.first(|rule| self.passed_over(rule)),
            })
    }

    /// The newest version wins whatever came before it, so a latest state may never see an event, and
    /// a ledger sees each.
    fn version_fault(&self) -> Option<BadModel> {
        match self.kind {
            Kind::Ledger => self.first(|rule| self.recurs(rule)),
            Kind::Latest if self.order == Order::Instant && self.early != Early::Refetch => {
                Some(BadModel::InstantWithoutRefetch)
            }
            Kind::Latest => {
                self.first(|rule| rule.books.map(|_| BadModel::EffectOvertaken(rule.event)))
            }
        }
    }

    fn never_applies(&self, rule: &Rule) -> Option<BadModel> {
        (!self.ever().meets(rule.from)).then_some(BadModel::NeverApplies(rule.event))
    }

    /// A cycle counts deliveries: the same event twice leads elsewhere than once (a loop on one state
    /// leads nowhere else, and harms nothing without an effect).
    fn on_cycle(&self, rule: &Rule) -> Option<BadModel> {
        let cycle = self.reachable(rule.to).meets(rule.from.without(rule.to));
        cycle.then_some(BadModel::Cycle(rule.event))
    }

    /// It is not enough that a path leads from one target to the other: the events of that path may
    /// never come. The overtaken event itself must still apply where the other leads.
    fn branches(&self, a: &Rule, b: &Rule) -> Option<BadModel> {
        let meet = States(a.from.0 & b.from.0).meets(self.ever());
        let ordered = a.to == b.to || b.from.has(a.to) || a.from.has(b.to);
        (meet && !ordered).then_some(BadModel::Branches(a.event, b.event))
    }

    fn recurs(&self, rule: &Rule) -> Option<BadModel> {
        let once = matches!(rule.books, Some((_, Occurrence::Once)));
        let recurs = self.reachable(rule.to).meets(rule.from);
        (once && recurs).then_some(BadModel::RecursWithoutOccurrence(rule.event))
    }

    /// Whether a state in which `rule` is past can be reached without what it stands for.
    fn skipped(&self, rule: &Rule) -> Option<BadModel> {
        let bad = match (rule.books, self.kind) {
            (Some(_), Kind::Ledger | Kind::Latest) => BadModel::EffectOvertaken(rule.event),
            (None, Kind::Ledger) => BadModel::EntryOvertaken(rule.event),
            (None, Kind::Latest) => return None,
        };
        let without = closure(self.states(), &self.rules, |other| match rule.books {
            Some((_, Occurrence::Once)) => other.books != rule.books,
            Some((_, Occurrence::FromEvent)) => true,
            None => other.event != rule.event || rule.from.has(rule.to),
        });
        let begun = without.first().copied().unwrap_or_default();
        let reached = begun.and(self.leapt_to(begun));
        let lost = |state| self.is_past(state, rule) || self.asks(state, rule);
        self.members(reached).any(lost).then_some(bad)
    }

    /// A refetch leads an early event's entity to any later state, without the operations of the
    /// events between, nor its own: the answer contains the event, so the event is done.
    fn leapt_to(&self, from: States) -> States {
        let asking = |state: &State| self.rules.iter().any(|rule| self.asks(*state, rule));
        self.members(from)
            .filter(asking)
            .fold(States::default(), |all, state| all.and(self.reachable(state)))
    }

    fn asks(&self, state: State, rule: &Rule) -> bool {
        self.early == Early::Refetch
            && !rule.from.has(state)
            && self.reachable(state).meets(rule.from)
    }

    fn is_past(&self, state: State, rule: &Rule) -> bool {
        !self.reachable(state).meets(rule.from) && self.leads(rule.to, state)
    }

    fn passed_over(&self, rule: &Rule) -> Option<BadModel> {
        match (rule.books, self.kind) {
            (Some(_), Kind::Ledger | Kind::Latest) => Some(BadModel::EffectOvertaken(rule.event)),
            (None, Kind::Ledger) => Some(BadModel::EntryOvertaken(rule.event)),
            (None, Kind::Latest) => {
                (!rule.from.covers(self.ever())).then_some(BadModel::RefetchPassesOver(rule.event))
            }
        }
    }

    /// The states that an entity can come to at all.
    fn ever(&self) -> States {
        self.reachable(State(0))
    }

    fn members(&self, states: States) -> impl Iterator<Item = State> {
        (0..self.states() as u8).map(State).filter(move |state| states.has(*state))
    }

    fn first(&self, fault: impl Fn(&Rule) -> Option<BadModel>) -> Option<BadModel> {
        self.rules.iter().find_map(fault)
    }

    fn first_pair(&self, fault: impl Fn(&Rule, &Rule) -> Option<BadModel>) -> Option<BadModel> {
        let mut pairs = (1..self.rules.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        pairs.find_map(|(a, b)| fault(self.rules.get(a)?, self.rules.get(b)?))
    }
}

/// Two rules for one transition must agree on what it is: who comes first must not decide.
fn misbooked(a: &Rule, b: &Rule) -> Option<BadModel> {
    let (a_books, b_books) = (a.books?, b.books?);
    if a_books.0 != b_books.0 {
        return None;
    }
    match (a_books.1, b_books.1) {
        (Occurrence::Once, Occurrence::FromEvent) => {
            Some(BadModel::RecursWithoutOccurrence(a.event))
        }
        (Occurrence::FromEvent, Occurrence::Once) => {
            Some(BadModel::RecursWithoutOccurrence(b.event))
        }
        (Occurrence::Once, Occurrence::Once) | (Occurrence::FromEvent, Occurrence::FromEvent) => {
            (a.external != b.external).then_some(BadModel::InsideAndOutside(a.event, b.event))
        }
    }
}

/// Two occurrences need an event that can happen twice.
fn happens_once(rule: &Rule) -> Option<BadModel> {
    let numbered = matches!(rule.books, Some((_, Occurrence::FromEvent)));
    (numbered && !rule.from.has(rule.to))
        .then_some(BadModel::OccurrenceWithoutRecurring(rule.event))
}

/// For each state, the states reachable from it by the rules that `counts`, itself included.
///
/// One pass is enough: a rule joins whatever reaches its source to all that its target reaches, so after
/// each rule the sets are those of the rules so far.
pub(super) fn closure(
    states: usize,
    rules: &[Rule],
    counts: impl Fn(&Rule) -> bool,
) -> Vec<States> {
    let mut reach: Vec<States> = (0..states).map(|state| States(1 << state)).collect();
    for rule in rules.iter().filter(|rule| counts(rule)) {
        let Some(&onward) = reach.get(usize::from(rule.to.0)) else { continue };
        for from in reach.iter_mut().filter(|from| from.meets(rule.from)) {
            from.0 |= onward.0;
        }
    }
    reach
}
