//! What a proof came to, and what that means.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use hookproof_sim::{
    explore::{Counterexample, Explored},
    history::{Family, Line},
    named::Told,
    oracle::Breach,
    promise::Promise,
    prove::{Found, Hunt, Walks},
    rogue::Rogue,
    scenario::Scenario,
    situation::Situation,
};

use super::{Options, keep::Kept, options::Level};
use crate::{End, say};

/// Everything that a run showed.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The small worlds, where they were asked for.
    pub(crate) worlds: Vec<World>,
    /// The stories, where seeded histories were asked for.
    pub(crate) stories: Vec<Story>,
    /// The seeded histories, where they were asked for.
    pub(crate) walked: Option<Walked>,
    /// The hunts that were begun, the canary's first.
    pub(crate) hunts: Vec<Hunt>,
    /// The rogues that were to be hunted, in the same order.
    pub(crate) rogues: Vec<Rogue>,
    /// What was written to files.
    pub(crate) kept: Kept,
    /// How long the whole run took.
    pub(crate) took: Duration,
}

/// A history with a name, and what came of it.
#[derive(Debug)]
pub(crate) struct Story {
    pub(crate) name: &'static str,
    pub(crate) told: Told,
}

impl Story {
    /// Whether everything came as it is told.
    pub(crate) fn holds(&self) -> bool {
        self.told.breach.is_none() && self.told.surprises.is_empty()
    }
}

/// A small world, and how long it took.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) name: &'static str,
    /// What there is in it, and what may go wrong.
    pub(crate) bounds: String,
    pub(crate) explored: Explored,
    pub(crate) took: Duration,
}

/// Seeded histories, and how long they took.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) walks: Walks,
    pub(crate) took: Duration,
}

/// A promise that the correct code broke, and where.
#[derive(Debug)]
pub(crate) struct Violation<'a> {
    pub(crate) promise: Promise,
    pub(crate) level: Level,
    pub(crate) what: &'a str,
    pub(crate) lines: &'a [Line],
    /// Where the scenario lies that is left of it, where there is one.
    pub(crate) kept: Option<&'a Path>,
    /// That scenario, and the wrong line that is in the code.
    pub(crate) scenario: Option<&'a (Scenario, Option<Rogue>)>,
    /// What repeats it.
    pub(crate) command: String,
    /// Whether that prints the whole history.
    pub(crate) traced: bool,
}

/// What is said of one promise, or of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Checked,
    Broken,
    /// Not enough happened to say.
    Open,
}

impl Outcome {
    /// What was broken, by the correct code.
    pub(crate) fn violations(&self, options: &Options) -> Vec<Violation<'_>> {
        let worlds = self.worlds.iter().filter_map(|world| world.explored.breach.as_ref());
        let worlds = worlds.map(|breach| of_world(breach, options));
        let walked = self.walked.iter().filter_map(|walked| walked.walks.found.as_ref());
        let walked = walked.map(|found| self.of_seed(found, options.trace(found.seed)));
        let hunts =
            self.hunts.iter().filter_map(|hunt| {
                let (found, rogue) = (hunt.honest.as_ref()?, hunt.rogue.name());
                Some(self.of_seed(
                    found,
                    format!("hookproof prove --seed {} --favour {rogue}", found.seed),
                ))
            });
        let stories = self.stories.iter().filter_map(|story| of_story(story, options));
        worlds.chain(walked).chain(hunts).chain(stories).collect()
    }

    fn of_seed<'a>(&'a self, found: &'a Found, command: String) -> Violation<'a> {
        let Found { seed, breach: Breach { promise, what }, lines } = found;
        let kept = self.kept.found.get(seed).map(PathBuf::as_path);
        let scenario = self.kept.broken.get(seed);
        let (promise, level, traced) = (*promise, Level::Sim, true);
        Violation { promise, level, what, lines, kept, scenario, command, traced }
    }

    /// The rogues that were hunted to the end and not caught.
    pub(crate) fn escaped(&self, options: &Options) -> Vec<&Hunt> {
        let escaped = |hunt: &&Hunt| hunt.catch.is_none() && !hunt.cut;
        // The default worlds alone are too small for most rogues.
        let expected = |hunt: &&Hunt| options.expects(hunt.rogue);
        self.hunts.iter().filter(escaped).filter(expected).collect()
    }

    /// How often a promise was in danger in the small worlds.
    pub(crate) fn danger_explored(&self, promise: Promise) -> u64 {
        self.worlds.iter().map(|world| world.explored.danger.of(promise)).sum()
    }

    /// How often a promise was in danger in the seeded histories.
    pub(crate) fn danger_walked(&self, promise: Promise) -> u64 {
        self.walked.as_ref().map_or(0, |walked| walked.walks.tally.danger(promise))
    }

    /// How often a promise was in danger, at all levels.
    pub(crate) fn danger(&self, promise: Promise) -> u64 {
        self.danger_explored(promise) + self.danger_walked(promise)
    }

    /// In how many states of the small worlds in which it was in danger at all a promise was kept.
    pub(crate) fn states(&self, promise: Promise) -> u64 {
        let endangered = self.worlds.iter().filter(|world| world.explored.danger.of(promise) > 0);
        endangered.map(|world| world.explored.states).sum()
    }

    /// In how many seeded histories a promise was decided, and kept.
    pub(crate) fn kept(&self, promise: Promise) -> u64 {
        self.walked.as_ref().map_or(0, |walked| walked.walks.tally.kept(promise))
    }

    /// How many rogues this promise caught.
    pub(crate) fn caught_by(&self, promise: Promise) -> u64 {
        self.hunts.iter().filter(|hunt| hunt.by.contains(&promise)).count() as u64
    }

    /// Whether every rogue that breaks this promise was hunted.
    pub(crate) fn hunted(&self, promise: Promise) -> bool {
        let hunted =
            |rogue: &Rogue| self.hunts.iter().any(|hunt| hunt.rogue == *rogue && !hunt.cut);
        let of_its_own = |rogue: &&Rogue| rogue.breaks().contains(&promise);
        Rogue::ALL.iter().filter(of_its_own).all(hunted)
    }

    /// Whether every rogue was hunted, and this promise caught none: it may be kept because nothing
    /// looks.
    pub(crate) fn unguarded(&self, promise: Promise) -> bool {
        self.hunted(promise) && self.caught_by(promise) == 0
    }

    pub(crate) fn verdict_of(&self, promise: Promise, options: &Options) -> Verdict {
        if self.violations(options).iter().any(|violation| violation.promise == promise) {
            Verdict::Broken
        } else if self.danger(promise) == 0 || self.unguarded(promise) {
            Verdict::Open
        } else {
            Verdict::Checked
        }
    }

    /// What should have happened and did not, a sentence each.
    pub(crate) fn unexercised(&self, options: &Options) -> Vec<String> {
        let promises = options.promises().into_iter();
        let safe = promises.clone().filter(|&promise| self.danger(promise) == 0);
        let unguarded = promises.filter(|&promise| self.unguarded(promise));
        let mut said = Vec::new();
        said.extend(listed("never in danger", safe.map(Promise::id)));
        said.extend(listed("no rogue was caught by", unguarded.map(Promise::id)));
        let cut = self.worlds.iter().filter(|world| !world.explored.exhausted);
        said.extend(listed("not explored to the end", cut.map(|world| world.name)));
        if let Some(walked) = &self.walked {
            let tally = &walked.walks.tally;
            let idle = Family::ALL.into_iter().filter(|family| tally.fired(*family) == 0);
            said.extend(listed("faults that never fired", idle.map(Family::name)));
            let never = Situation::all().into_iter().filter(|situation| tally.met(*situation) == 0);
            let never: Vec<String> = never.map(|situation| situation.to_string()).collect();
            said.extend(listed(
                "situations that never came about",
                never.iter().map(String::as_str),
            ));
            if tally.undeclared() > 0 {
                let strange = say::count(tally.undeclared(), "situation", "situations");
                said.push(format!("{strange} came about that no table declares"));
            }
            if tally.unended > 0 {
                let left = say::count(tally.unended, "history was", "histories were");
                said.push(format!("{left} left before all timers had run out"));
            }
        }
        said
    }

    /// What was left out because of the options or because time was up, a phrase each.
    pub(crate) fn left_out(&self, options: &Options) -> Vec<String> {
        let mut left_out = options.left_out();
        let begun = |at: usize| self.hunts.get(at).is_some_and(|hunt| !hunt.cut);
        let cut = self.rogues.iter().enumerate().filter(|(at, _)| !begun(*at));
        let cut = cut.map(|(_, rogue)| rogue.name());
        left_out.extend(listed("rogues that time was too short for", cut));
        let unseen = self
            .hunts
            .iter()
            .filter(|hunt| hunt.catch.is_none() && !hunt.cut && !options.expects(hunt.rogue));
        let unseen = unseen.map(|hunt| hunt.rogue.name());
        left_out.extend(listed("rogues that the small worlds alone do not show", unseen));
        left_out
    }

    /// Whether the correct code was run at all.
    pub(crate) fn ran(&self) -> bool {
        self.walked.is_some() || !self.worlds.is_empty()
    }

    /// The promises that the correct code was asked about: none where rogues alone were hunted.
    pub(crate) fn asked(&self, options: &Options) -> Vec<Promise> {
        if self.ran() { options.promises() } else { Vec::new() }
    }

    /// A run that was narrowed by its options may end well although it has not shown enough.
    pub(crate) fn verdict(&self, options: &Options) -> Verdict {
        let is_open = |promise| self.verdict_of(promise, options) == Verdict::Open;
        match self.end(options) {
            End::Kept if self.asked(options).into_iter().any(is_open) => Verdict::Open,
            End::Kept => Verdict::Checked,
            End::Broken => Verdict::Broken,
            End::Failed | End::Unexercised => Verdict::Open,
        }
    }

    pub(crate) fn end(&self, options: &Options) -> End {
        // A prover that did not get as far as the canary has shown nothing.
        let blind = self.hunts.first().is_none_or(|hunt| hunt.cut);
        let narrowed = !options.left_out().is_empty();
        let wrong = self.stories.iter().any(|story| !story.holds());
        if wrong || !self.violations(options).is_empty() || !self.escaped(options).is_empty() {
            End::Broken
        } else if blind || (!narrowed && !self.unexercised(options).is_empty()) {
            End::Unexercised
        } else {
            End::Kept
        }
    }
}

fn of_world<'a>(breach: &'a Counterexample, options: &Options) -> Violation<'a> {
    Violation {
        promise: breach.promise,
        level: Level::Explore,
        what: &breach.what,
        lines: &breach.lines,
        kept: None,
        scenario: None,
        command: options.explored_again(),
        traced: false,
    }
}

fn of_story<'a>(story: &'a Story, options: &Options) -> Option<Violation<'a>> {
    let Breach { promise, what } = story.told.breach.as_ref()?;
    Some(Violation {
        promise: *promise,
        level: Level::Sim,
        what,
        lines: &story.told.lines,
        kept: None,
        scenario: None,
        command: options.told_again(),
        traced: false,
    })
}

/// A head and what falls under it; `None` where nothing does.
fn listed<'a>(head: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| format!("{head}: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use hookproof_sim::{
        prove::{Catch, Origin},
        rogue::CANARY,
    };

    use super::*;

    fn hunt(rogue: Rogue, caught: bool, cut: bool) -> Hunt {
        let breach = Breach { promise: rogue.breaks()[0], what: String::new() };
        let catch = caught.then(|| Catch { origin: Origin::Seed(0), breach, lines: Vec::new() });
        let mut hunt = Hunt::of(rogue);
        (hunt.tries, hunt.catch, hunt.cut) = (1, catch, cut);
        hunt
    }

    fn end(hunts: Vec<Hunt>, options: &Options) -> End {
        let rogues = hunts.iter().map(|hunt| hunt.rogue).collect();
        let took = Duration::ZERO;
        let (worlds, stories) = (Vec::new(), Vec::new());
        let kept = Kept::default();
        Outcome { worlds, stories, walked: None, hunts, rogues, kept, took }.end(options)
    }

    fn narrowed() -> Options {
        Options::parsed(&["--budget", "1m"])
    }

    #[test]
    fn a_prover_that_misses_the_canary_has_failed() {
        assert_eq!(end(vec![hunt(CANARY, false, false)], &narrowed()), End::Broken);
    }

    #[test]
    fn a_prover_that_had_no_time_for_the_canary_has_shown_nothing() {
        assert_eq!(end(vec![hunt(CANARY, false, true)], &narrowed()), End::Unexercised);
        assert_eq!(end(Vec::new(), &narrowed()), End::Unexercised);
    }

    #[test]
    fn a_rogue_that_escapes_is_a_failure_and_one_that_time_was_too_short_for_is_not() {
        let canary = hunt(CANARY, true, false);
        let escaped = vec![canary.clone(), hunt(Rogue::NoAlert, false, false)];
        assert_eq!(end(escaped, &narrowed()), End::Broken);
        assert_eq!(end(vec![canary, hunt(Rogue::NoAlert, false, true)], &narrowed()), End::Kept);
    }

    #[test]
    fn a_default_run_in_which_nothing_was_in_danger_is_no_success() {
        let caught = vec![hunt(CANARY, true, false)];
        assert_eq!(end(caught.clone(), &Options::default()), End::Unexercised);
        assert_eq!(end(caught, &narrowed()), End::Kept);
    }

    #[test]
    fn a_promise_broken_on_the_way_to_a_rogue_is_broken() {
        let breach = Breach { promise: Promise::R7, what: String::new() };
        let found = Found { seed: 3, breach, lines: Vec::new() };
        let mut hunt = hunt(CANARY, true, false);
        hunt.honest = Some(found);
        assert_eq!(end(vec![hunt], &narrowed()), End::Broken);
    }
}
