//! Your own receiver in the simulator: the same faults, the same oracle, in a `#[test]` of ten lines.
//!
//! A receiver is a [`Handler`]: the trait that production runs. Here it gets a transaction of the
//! simulator ([`SimTx`]) and lives through crashes, conflicts, lost commits, restores, poisoned events,
//! two endpoints and whatever else a seed draws.
//!
//! ```
//! use hookproof_core::handler::{Handler, HandlerError, Incoming};
//! use hookproof_sim::{check, handler::SimTx};
//!
//! struct Shop;
//!
//! impl Handler<SimTx> for Shop {
//!     async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Result<(), HandlerError> {
//!         tx.insert("bookings", &event.key(), event.name)?;
//!         Ok(tx.effect(event.operation)?)
//!     }
//! }
//!
//! // In a #[test]:
//! check(|| Shop).seeds(0..200).run().assert_holds();
//! ```
//!
//! The closure makes a receiver for each process that starts, so that what it keeps in memory is lost in
//! a crash. [`SimTx::effect`] stands for the statement that makes the effect true: a receiver that is
//! generic over a transaction of its own has it in the simulator's half alone
//! (`sim/examples/own_receiver.rs`).
//!
//! A handler may await nothing but its transaction: it is polled once, and who waits for anything else
//! while rows are locked is told so.

mod hint;
mod receiver;
mod verdict;

use core::ops::Range;
use std::{fs, path::Path};

use hookproof_core::{
    handler::Handler,
    model::{Early, EventType, Kind, Model, Occurrence, Order, Rule, State, States, Transition},
};

pub use self::verdict::{Broken, SCENARIO, Verdict};
use self::{
    receiver::{Receivers, Slips},
    verdict::{Kept, Tally, asked_for},
};
use crate::{
    handler::SimTx,
    history::Line,
    oracle::{Oracle, Report},
    promise::Promise,
    scenario::{Played, Scenario, shrink_by},
    setup::Setup,
    swarm::{Cast, draw_own},
    walk::{Walk, walk_with},
};

/// A check of a receiver, before it runs: [`check`].
#[derive(Clone, Debug)]
pub struct Check<F> {
    start: F,
    model: Model,
    /// The names of event types, by their numbers.
    names: Vec<String>,
    stories: Vec<Vec<EventType>>,
    /// Whether the stories are those that come with the entity type of the default.
    told_nothing: bool,
    endpoints: u32,
    seeds: Range<u64>,
}

/// Checks the receiver that `start` makes for each process that starts: on an order that becomes
/// `order.paid`, then `order.shipped`, with two endpoints, over 1,000 histories, unless told otherwise.
pub fn check<H: Handler<SimTx>, F: Fn() -> H>(start: F) -> Check<F> {
    let (names, story) = numbered(Vec::new(), ["order.paid", "order.shipped"]);
    let stories = vec![story];
    Check {
        start,
        model: order(),
        names,
        stories,
        told_nothing: true,
        endpoints: 2,
        seeds: 0..1_000,
    }
}

impl<H: Handler<SimTx>, F: Fn() -> H> Check<F> {
    /// The entities are of this type. Its event types are numbered in the order in which
    /// [`Check::events`] names them.
    #[must_use]
    pub fn entity(mut self, model: Model) -> Self {
        self.model = model;
        self
    }

    /// The events of an entity, in the order in which they happen. Called again, it tells of another
    /// life; each entity has one of them.
    #[must_use]
    pub fn events<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        if self.told_nothing {
            (self.names, self.stories, self.told_nothing) = (Vec::new(), Vec::new(), false);
        }
        let (names, story) = numbered(self.names, names);
        (self.names, self.stories) = (names, {
            self.stories.push(story);
            self.stories
        });
        self
    }

    /// How many endpoints are registered, all of them for this receiver.
    #[must_use]
    pub fn endpoints(mut self, endpoints: u32) -> Self {
        self.endpoints = endpoints;
        self
    }

    /// The histories to check: one a seed.
    #[must_use]
    pub fn seeds(mut self, seeds: Range<u64>) -> Self {
        self.seeds = seeds;
        self
    }

    /// Runs and judges every history.
    ///
    /// # Panics
    /// Panics if an event has no rule in the entity type; and where the receiver does, with the seed.
    pub fn run(&self) -> Verdict {
        self.is_sensible();
        if let Some(path) = asked_for() {
            return self.replay(&path);
        }
        let cast =
            Cast::Own { model: &self.model, stories: &self.stories, endpoints: self.endpoints };
        let mut tally = Tally::default();
        let mut lines = Vec::new();
        for seed in self.seeds.clone() {
            let setup = draw_own(seed, cast);
            let ran = self.walk(&setup, &mut lines);
            tally.count(seed, &ran, &lines);
            if ran.is_hopeless() {
                break;
            }
        }
        tally.verdict(|seed, promise| self.shrunk(&draw_own(seed, cast), promise))
    }

    /// Runs the one history that a file holds, as [`Verdict::assert_holds`] kept it.
    ///
    /// # Panics
    /// Panics if the file is no scenario of this receiver.
    pub fn replay(&self, path: &Path) -> Verdict {
        let named = |why: &dyn core::fmt::Display| format!("{}: {why}", path.display());
        let text = fs::read_to_string(path).unwrap_or_else(|why| panic!("{}", named(&why)));
        let scenario = Scenario::from_json_own(&text, &self.model, &self.names)
            .unwrap_or_else(|why| panic!("{}", named(&why)));
        let mut receivers = Receivers::new(&self.start, &self.names);
        let played = scenario.play_own(None, &mut receivers, None);
        let mut tally = Tally::default();
        tally.count(0, &Ran::of(&played.walk, played.report, receivers.slips), &played.lines);
        tally.verdict(|_, promise| {
            let broken = self.play(&scenario).breach_of(promise)?.clone();
            let history = played.lines[..=broken.line].to_vec();
            Some(Kept { what: broken.breach.what, history, scenario: scenario.clone() })
        })
    }

    /// What is left of a history that breaks a promise without all that the breach does not need.
    fn shrunk(&self, setup: &Setup, promise: Promise) -> Option<Kept> {
        let mut receivers = Receivers::new(&self.start, &self.names);
        let whole = Scenario::of_own(setup, promise, None, &self.names, &mut receivers);
        let first = words(&self.play(&whole).breach_of(promise)?.breach.what);
        let shrunk = shrink_by(&whole, &mut |smaller, most| {
            let played = self.play(smaller);
            let broken = played.breach_of(promise)?;
            let steps = played.steps_to(broken.line);
            (steps <= most && words(&broken.breach.what) == first).then_some(steps)
        });
        let mut scenario = shrunk?.scenario;
        scenario.name = format!("{promise} is broken");
        let mut played = self.play(&scenario);
        let broken = played.breach_of(promise)?.clone();
        played.lines.truncate(broken.line + 1);
        Some(Kept { what: broken.breach.what, history: played.lines, scenario })
    }

    fn play(&self, scenario: &Scenario) -> Played {
        scenario.play_own(None, &mut Receivers::new(&self.start, &self.names), None)
    }

    fn is_sensible(&self) {
        assert!(self.endpoints > 0, "expected an endpoint at least");
        assert!(!self.seeds.is_empty(), "expected a seed at least");
        assert!(self.stories.iter().any(|story| !story.is_empty()), "expected an event at least");
        for (number, name) in (0..).zip(&self.names) {
            assert!(
                self.model.rule(EventType(number)).is_some(),
                "{name} is event type {number} here, and the entity type has no rule for it: \
                 expected rules numbered in the order of the names"
            );
        }
    }

    fn walk(&self, setup: &Setup, lines: &mut Vec<Line>) -> Ran {
        let mut receivers = Receivers::new(&self.start, &self.names);
        let mut oracle = Oracle::new(&setup.terms);
        let walk = naming_its_seed(setup.seed, || {
            walk_with(setup, None, &mut receivers, &mut oracle, lines)
        });
        Ran::of(&walk, oracle.report(), receivers.slips)
    }
}

/// One history of a receiver.
struct Ran {
    ended: bool,
    danger: crate::oracle::Danger,
    broken: Vec<crate::oracle::Broken>,
    slips: Slips,
}

impl Ran {
    fn of(walk: &Walk, report: Report, slips: Slips) -> Self {
        Self { ended: walk.ended, danger: report.danger, broken: report.broken, slips }
    }

    /// Whether other histories can be spared.
    fn is_hopeless(&self) -> bool {
        self.slips.waits.is_some() || self.stops().is_some()
    }

    /// The handler's reason, if it claims that its infrastructure fails, it does not, and nothing comes
    /// of the history.
    fn stops(&self) -> Option<&str> {
        let always = self.slips.stopped == self.slips.runs;
        self.slips.stopped_for.as_deref().filter(|_| always || !self.ended)
    }
}

/// A sentence without its numbers: what happened, to whichever rows.
fn words(what: &str) -> String {
    what.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Says in which history a receiver panicked.
fn naming_its_seed(seed: u64, walk: impl FnOnce() -> Walk) -> Walk {
    let caught = std::panic::catch_unwind(core::panic::AssertUnwindSafe(walk));
    caught.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("(no message)");
        panic!("the receiver panicked in the history of seed {seed}: {said}")
    })
}

/// The story that these names tell. A new name gets the next number.
fn numbered<S: Into<String>>(
    mut known: Vec<String>,
    names: impl IntoIterator<Item = S>,
) -> (Vec<String>, Vec<EventType>) {
    let number = |name: S| {
        let name = name.into();
        let number = known.iter().position(|other| *other == name).unwrap_or_else(|| {
            known.push(name);
            known.len() - 1
        });
        EventType(number as u16)
    };
    let story = names.into_iter().map(number).collect();
    (known, story)
}

/// Pending, paid, shipped; each step has its effect once.
fn order() -> Model {
    let step = |from: u8| Rule {
        event: EventType(u16::from(from)),
        from: States::of(&[State(from)]),
        to: State(from + 1),
        books: Some((Transition(u16::from(from)), Occurrence::Once)),
        external: false,
    };
    Model::declare(3, Kind::Latest, Order::Graph, Early::Wait, vec![step(0), step(1)])
        .expect("a chain converges")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_in_the_order_in_which_they_are_told() {
        let (names, first) = numbered(Vec::new(), ["made", "renewed", "renewed"]);
        assert_eq!(first, [0, 1, 1].map(EventType));
        let (names, second) = numbered(names, ["renewed", "ended"]);
        assert_eq!(second, [1, 2].map(EventType));
        assert_eq!(names, ["made", "renewed", "ended"]);
    }
}
