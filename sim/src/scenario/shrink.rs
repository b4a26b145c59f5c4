//! A scenario with everything taken out that its failure does not need.
//!
//! A change is kept if the wrong line still breaks the same promise, in no more steps than before, and if
//! the correct code keeps every promise with every fault still happening.

use std::collections::{BTreeMap, BTreeSet};

use hookproof_core::{
    Millis,
    ladder::Ladder,
    profile::{InboxPolicy, Profile},
};

use super::{
    Scenario, Unfired,
    address::{Words, choice, choice_site, fault, fault_site},
};
use crate::{
    dice::{Script, Site},
    oracle::Scheme,
    promise::Promise,
    rogue::Rogue,
    setup::{Deed, Form, Lags, Planned, Setup},
    swarm::brisk,
};

/// A scenario that nothing can be taken out of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The scenario.
    pub scenario: Scenario,
    /// How many steps it takes to break the promise in it.
    pub steps: usize,
}

/// Shrinks a scenario in which this wrong line breaks this promise, or, without one, the code that is
/// there. `None` if nothing does, or if with a wrong line the correct code does not keep every promise.
pub fn shrink(scenario: &Scenario, rogue: Option<Rogue>, promise: Promise) -> Option<Shrunk> {
    shrink_by(&without_unfired(scenario), &mut |smaller, most| {
        let wrong = smaller.play(rogue);
        let steps = wrong.steps_to(wrong.breach_of(promise)?.line);
        (steps <= most && (rogue.is_none() || smaller.play(None).holds())).then_some(steps)
    })
}

/// Shrinks a scenario. What it fails by is asked of `breaks`, with the most steps that it may take, and
/// answered with the steps that it takes.
pub fn shrink_by(scenario: &Scenario, breaks: Breaks<'_>) -> Option<Shrunk> {
    let mut rest = Rest { best: scenario.clone(), steps: usize::MAX, breaks };
    rest.keeps(rest.best.clone()).then_some(())?;
    for _ in 0..ROUNDS_MAX {
        let before = (rest.steps, rest.weight());
        rest.round();
        if (rest.steps, rest.weight()) == before {
            break;
        }
    }
    Some(Shrunk { scenario: rest.best, steps: rest.steps })
}

type Breaks<'a> = &'a mut dyn FnMut(&Scenario, usize) -> Option<usize>;

struct Rest<'a> {
    best: Scenario,
    steps: usize,
    breaks: Breaks<'a>,
}

impl Rest<'_> {
    /// Takes a smaller scenario if its failure is the same.
    fn keeps(&mut self, smaller: Scenario) -> bool {
        let Some(steps) = (self.breaks)(&smaller, self.steps) else { return false };
        (self.best, self.steps) = (smaller, steps);
        true
    }

    fn with(&mut self, change: impl FnOnce(&mut Scenario)) -> bool {
        let mut smaller = self.best.clone();
        change(&mut smaller);
        self.keeps(smaller)
    }

    fn setup(&mut self, change: impl FnOnce(&mut Setup)) -> bool {
        self.with(|scenario| change(&mut scenario.setup))
    }

    /// How much there still is.
    fn weight(&self) -> usize {
        let Scenario { setup, script, .. } = &self.best;
        let calls: usize = setup.events.iter().map(|event| usize::from(event.calls)).sum();
        script.faults.len() + script.choices.len() + setup.deeds.len() + setup.events.len() + calls
    }

    fn round(&mut self) {
        self.choices();
        self.faults();
        self.deeds();
        self.events();
        self.processes();
        self.endpoints();
        self.numbers();
        self.times();
        self.choices();
    }

    fn choices(&mut self) {
        let sites: Vec<Site> = self.best.script.choices.keys().copied().collect();
        self.less(&sites, |scenario, site| {
            scenario.script.choices.remove(site);
        });
        let left: Vec<(Site, u64)> =
            self.best.script.choices.iter().map(|(site, is)| (*site, *is)).collect();
        for (site, _) in left.into_iter().filter(|(_, is)| *is > 0) {
            self.with(|scenario| {
                scenario.script.choices.insert(site, 0);
            });
        }
    }

    fn faults(&mut self) {
        let sites: Vec<Site> = self.best.script.faults.iter().copied().collect();
        self.less(&sites, |scenario, site| {
            scenario.script.faults.remove(site);
            scenario.script.choices.remove(site);
        });
    }

    fn deeds(&mut self) {
        for deed in (0..self.best.setup.deeds.len()).rev() {
            self.with(|scenario| without_deed(scenario, deed));
        }
    }

    fn events(&mut self) {
        for event in (0..self.best.setup.events.len()).rev() {
            if self.best.setup.events.len() > 1 {
                self.with(|scenario| without_event(scenario, event as u32));
            }
        }
        for event in 0..self.best.setup.events.len() {
            let planned = self.best.setup.events[event];
            let plain = Planned { form: Form::Plain, poison: 0, calls: 1, takes_ms: 0, ..planned };
            if planned != plain && !self.setup(|setup| setup.events[event] = plain) {
                self.setup(|setup| setup.events[event].takes_ms = 0);
                self.setup(|setup| setup.events[event].calls = 1);
                self.setup(|setup| setup.events[event].poison = planned.poison.min(1));
                self.setup(|setup| setup.events[event].form = Form::Plain);
            }
        }
        for entity in (0..self.best.setup.terms.model_of.len()).rev() {
            let used = self.best.setup.events.iter().any(|event| event.entity == entity as u32);
            if !used && self.best.setup.terms.model_of.len() > 1 {
                self.with(|scenario| without_entity(&mut scenario.setup, entity as u32));
            }
        }
    }

    fn processes(&mut self) {
        for least in [1, 2] {
            let lower = |count: u8| count.min(least);
            self.setup(|setup| setup.workers = lower(setup.workers));
            self.setup(|setup| setup.ingresses = lower(setup.ingresses));
            self.setup(|setup| setup.relays = lower(setup.relays));
        }
    }

    fn endpoints(&mut self) {
        for endpoint in (0..self.best.setup.endpoints).rev() {
            if self.best.setup.endpoints > 1 {
                self.with(|scenario| without_endpoint(scenario, endpoint));
            }
        }
    }

    /// The declared numbers, back to those that people know.
    fn numbers(&mut self) {
        let now = self.best.setup.terms.profile.clone();
        for profile in [brisk(), Profile::hookproof()] {
            if now.name != profile.name || now != profile {
                self.setup(|setup| setup.terms.profile = profile);
            }
        }
        let usual = brisk();
        self.setup(|setup| setup.terms.profile.slots = usual.slots);
        self.setup(|setup| setup.terms.profile.interval_ms = usual.interval_ms);
        self.setup(|setup| setup.terms.profile.burst = usual.burst);
        self.setup(|setup| setup.terms.profile.on_gone = usual.on_gone);
        self.setup(|setup| setup.terms.profile.on_exhausted = usual.on_exhausted);
        self.shorter(|setup| &mut setup.terms.profile.ladder);
        self.shorter(|setup| &mut setup.terms.inbox.ladder);
        self.setup(|setup| {
            let retention_ms = setup.terms.inbox.retention_ms;
            setup.terms.inbox = InboxPolicy { retention_ms, ..InboxPolicy::hookproof() };
        });
        self.setup(|setup| setup.terms.inbox.retention_ms = None);
        let InboxPolicy { defer_timer_ms, .. } = self.best.setup.terms.inbox;
        for times in [4, 2, 1] {
            self.setup(|setup| setup.terms.inbox.defer_cap_ms = times * defer_timer_ms);
        }
        self.setup(|setup| setup.terms.scheme = Scheme::hookproof());
    }

    /// A ladder with fewer rungs.
    fn shorter(&mut self, ladder: impl Fn(&mut Setup) -> &mut Ladder) {
        loop {
            let now = ladder(&mut self.best.setup).clone();
            let Some((_, waits_ms)) = now.waits_ms().split_last() else { break };
            let Ok(less) = Ladder::new(waits_ms.to_vec()) else { break };
            if !self.setup(|setup| *ladder(setup) = less) {
                break;
            }
        }
    }

    fn times(&mut self) {
        // Not to nothing: steps of one instant are hard to tell apart.
        self.setup(|setup| setup.lags = Lags { disk_ms: 5, net_ms: 20, handler_ms: 5 });
        let setup = &self.best.setup;
        let first = setup.events.iter().map(|event| event.at).min().unwrap_or(Millis(0));
        self.setup(|setup| {
            for event in &mut setup.events {
                event.at = Millis(event.at.0 - first.0);
            }
        });
        for event in 0..self.best.setup.events.len() {
            self.sooner(
                0,
                |setup, ms| setup.events[event].at = Millis(ms),
                |setup| setup.events[event].at.0,
            );
        }
        for deed in 0..self.best.setup.deeds.len() {
            let before = if deed == 0 { 0 } else { self.best.setup.deeds[deed - 1].0.0 };
            self.sooner(
                before,
                |setup, ms| setup.deeds[deed].0 = Millis(ms),
                |setup| setup.deeds[deed].0.0,
            );
        }
        self.sooner(0, |setup, ms| setup.quiet = Millis(ms), |setup| setup.quiet.0);
    }

    /// Moves an instant towards the earliest that it can be, and to a round number where it can.
    fn sooner(&mut self, least: u64, set: impl Fn(&mut Setup, u64), get: impl Fn(&Setup) -> u64) {
        let (mut low, mut high) = (least, get(&self.best.setup));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.setup(|setup| set(setup, middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
            if high - low < high / 16 {
                break;
            }
        }
        for step in [60_000, 1_000, 100, 10] {
            let round = high.div_ceil(step) * step;
            if round == high || self.setup(|setup| set(setup, round)) {
                break;
            }
        }
    }

    /// Takes out as many of these as it can: all of them, halves, quarters, one by one.
    fn less(&mut self, all: &[Site], take: impl Fn(&mut Scenario, &Site)) {
        let mut left = all.to_vec();
        let mut size = left.len();
        while size > 0 {
            let mut kept = Vec::new();
            for part in left.chunks(size) {
                let taken = self.with(|scenario| part.iter().for_each(|site| take(scenario, site)));
                if !taken {
                    kept.extend_from_slice(part);
                }
            }
            left = kept;
            size = if size == 1 { 0 } else { size.div_ceil(2).min(left.len()) };
        }
    }
}

/// A scenario without what does not happen in it. Nothing else changes by that.
fn without_unfired(scenario: &Scenario) -> Scenario {
    let mut rest = scenario.clone();
    for unfired in scenario.play(None).unfired.into_iter().rev() {
        match unfired {
            Unfired::Fault(site) => {
                rest.script.faults.remove(&site);
                rest.script.choices.remove(&site);
            }
            Unfired::Deed(no, _) => without_deed(&mut rest, no),
        }
    }
    rest
}

fn without_deed(scenario: &mut Scenario, deed: usize) {
    scenario.setup.deeds.remove(deed);
    scenario.script = renumbered(&scenario.script, |name, number| match name {
        "deed" if number as usize == deed => None,
        "deed" if number as usize > deed => Some(number - 1),
        _ => Some(number),
    });
}

fn without_event(scenario: &mut Scenario, event: u32) {
    let endpoints = scenario.setup.endpoints;
    scenario.setup.events.remove(event as usize);
    let moved = |number: u32, width: u32| {
        let (from, to) = (event * width, (event + 1) * width);
        (number < from || number >= to).then(|| if number < to { number } else { number - width })
    };
    renumber(scenario, |name, number| match name {
        "event" => moved(number, 1),
        "delivery" | "receipt" | "effect" => moved(number, endpoints),
        _ => Some(number),
    });
}

fn without_endpoint(scenario: &mut Scenario, endpoint: u32) {
    let endpoints = scenario.setup.endpoints;
    scenario.setup.endpoints -= 1;
    let closer = |number: u32| {
        (number != endpoint).then(|| if number < endpoint { number } else { number - 1 })
    };
    renumber(scenario, |name, number| match name {
        "endpoint" => closer(number),
        "delivery" | "receipt" | "effect" => {
            let within = closer(number % endpoints)?;
            Some(number / endpoints * (endpoints - 1) + within)
        }
        _ => Some(number),
    });
}

fn without_entity(setup: &mut Setup, entity: u32) {
    setup.terms.model_of.remove(entity as usize);
    for event in &mut setup.events {
        event.entity -= u32::from(event.entity > entity);
    }
    setup.deeds.retain(|(_, deed)| !matches!(deed, Deed::Book { operation } if operation.entity.0 == u128::from(entity)));
    for (_, deed) in &mut setup.deeds {
        if let Deed::Book { operation } = deed
            && operation.entity.0 > u128::from(entity)
        {
            operation.entity.0 -= 1;
        }
    }
}

/// Gives rows other numbers, and takes out what was about those that have none any more.
fn renumber(scenario: &mut Scenario, number: impl Fn(&str, u32) -> Option<u32>) {
    scenario.script = renumbered(&scenario.script, &number);
    let moved = |deed: Deed| {
        Some(match deed {
            Deed::Resend { delivery } => Deed::Resend { delivery: number("delivery", delivery)? },
            Deed::Cancel { delivery } => Deed::Cancel { delivery: number("delivery", delivery)? },
            Deed::Replay { receipt, allowed } => {
                Deed::Replay { receipt: number("receipt", receipt)?, allowed }
            }
            Deed::Endpoint { endpoint, life } => {
                Deed::Endpoint { endpoint: number("endpoint", endpoint)?, life }
            }
            Deed::ChangeEndpoint { endpoint } => {
                Deed::ChangeEndpoint { endpoint: number("endpoint", endpoint)? }
            }
            Deed::RegisterAgain { endpoint } => {
                Deed::RegisterAgain { endpoint: number("endpoint", endpoint)? }
            }
            Deed::EndpointDown { endpoint, down } => {
                Deed::EndpointDown { endpoint: number("endpoint", endpoint)?, down }
            }
            Deed::Rotate { endpoint } => Deed::Rotate { endpoint: number("endpoint", endpoint)? },
            Deed::Revoke { endpoint } => Deed::Revoke { endpoint: number("endpoint", endpoint)? },
            Deed::Target { endpoint, target } => {
                Deed::Target { endpoint: number("endpoint", endpoint)?, target }
            }
            other => other,
        })
    };
    let deeds = std::mem::take(&mut scenario.setup.deeds);
    scenario.setup.deeds =
        deeds.into_iter().filter_map(|(at, deed)| Some((at, moved(deed)?))).collect();
}

fn renumbered(script: &Script, number: impl Fn(&str, u32) -> Option<u32>) -> Script {
    let moved = |words: Words| -> Option<(Words, BTreeMap<String, u64>)> {
        let numbers = words
            .numbers
            .iter()
            .map(|&(name, is)| Some((name.to_owned(), u64::from(number(name, is)?))));
        let numbers = numbers.collect::<Option<_>>()?;
        Some((words, numbers))
    };
    let fault_moved = |site: Site| {
        let (words, numbers) = moved(fault(site)?)?;
        fault_site(words.what, words.step, &numbers).ok()
    };
    let choice_moved = |site: Site| {
        let (words, numbers) = moved(choice(site)?)?;
        choice_site(words.what, words.step, &numbers).ok()
    };
    let faults: BTreeSet<Site> =
        script.faults.iter().filter_map(|site| fault_moved(*site)).collect();
    let choices = script.choices.iter().filter_map(|(site, is)| {
        let at_fault = script.faults.contains(site);
        let site = if at_fault { fault_moved(*site)? } else { choice_moved(*site)? };
        Some((site, *is))
    });
    Script { choices: choices.collect(), faults }
}

/// What was needed at first may not be once something else is gone; more rounds find little.
const ROUNDS_MAX: usize = 4;
