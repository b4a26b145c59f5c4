//! What can be asked of a proof.

use std::{num::NonZeroUsize, ops::Range, path::PathBuf, thread, time::Duration};

use clap::{Args, ValueEnum, value_parser};
use hookproof_sim::{
    history::Family,
    promise::Promise,
    prove::{Origin, favours},
    rogue::{CANARY, Rogue},
};

/// How a history is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Every interleaving of small worlds.
    Explore,
    /// Seeded walks through large worlds.
    Sim,
}

impl Level {
    /// The level that a history is from.
    pub(crate) fn of(origin: Origin) -> Self {
        match origin {
            Origin::Seed(_) => Self::Sim,
            Origin::World(_) => Self::Explore,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Sim => "sim",
        }
    }
}

/// Options of `hookproof prove`. With none of them it does the whole proof.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Options {
    /// Walk this many seeded histories, or those of a range like 500..600.
    #[arg(long, value_name = "N", value_parser = seeds)]
    seeds: Option<Seeds>,

    /// Walk one history and print it, one line an event.
    #[arg(
        long,
        value_name = "S",
        conflicts_with_all = [
            "seeds", "promise", "level", "deep", "budget", "jobs", "json", "out", "html", "junit",
            "markdown",
        ]
    )]
    seed: Option<u64>,

    /// With --seed: write its history into this file as well, as `hookproof judge` reads it.
    #[arg(long, value_name = "FILE", requires = "seed")]
    pub(crate) history: Option<PathBuf>,

    /// Hunt one rogue, `all` (the default) or `none`. The canary is always hunted. With --seed: print
    /// the history of this rogue.
    #[arg(long, value_name = "NAME", value_parser = choice)]
    rogue: Option<Choice>,

    /// Ask about one promise, and hunt the rogues that break it.
    #[arg(long, value_name = "ID", value_parser = promise)]
    pub(crate) promise: Option<Promise>,

    /// Keep to one level.
    #[arg(long)]
    level: Option<Level>,

    /// Explore the larger worlds as well, for up to ten minutes.
    #[arg(long)]
    pub(crate) deep: bool,

    /// Walk and hunt no longer than this: 60s, 5m.
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub(crate) budget: Option<Duration>,

    /// Use this many threads; as many as there are cores unless set.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=JOBS_MAX))]
    jobs: Option<u16>,

    /// Write a scenario for each rogue, and for each promise that is broken, into this directory. Unless
    /// it is named, into `hookproof-scenarios`, and only for a rogue that is named.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write a page for a browser as well: what is broken first, drawn, then the promises and each rogue
    /// with what is left of a history that catches it.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write a JUnit report as well, for CI: a case for each promise and level, each rogue and each story.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Write a short summary in Markdown as well.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Draw the histories as the hunt for this rogue does: more of the faults that it shows under.
    #[arg(long, value_name = "NAME", value_parser = rogue_named)]
    favour: Option<Rogue>,

    /// Put this rogue's wrong line into the code that is checked, to see that a run notices: it must
    /// exit 1.
    #[arg(long, value_name = "NAME", value_parser = rogue_named)]
    pub(crate) sabotage: Option<Rogue>,
}

impl Options {
    /// The one seed whose history is to be printed.
    pub(crate) fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The one rogue that is named.
    pub(crate) fn one_rogue(&self) -> Option<Rogue> {
        match self.rogue {
            Some(Choice::One(rogue)) => Some(rogue),
            Some(Choice::All | Choice::None) | None => None,
        }
    }

    /// The rogues that are asked for.
    pub(crate) fn rogues(&self) -> Vec<Rogue> {
        let breaks =
            |rogue: &Rogue| self.promise.is_none_or(|promise| rogue.breaks().contains(&promise));
        match self.rogue {
            Some(Choice::None) => Vec::new(),
            Some(Choice::One(rogue)) => vec![rogue],
            Some(Choice::All) | None => Rogue::ALL.iter().copied().filter(breaks).collect(),
        }
    }

    /// The promises that are asked about.
    pub(crate) fn promises(&self) -> Vec<Promise> {
        let asked = |promise: &Promise| self.promise.is_none_or(|asked| asked == *promise);
        Promise::CHECKED.into_iter().filter(asked).collect()
    }

    /// The seeds of the histories. A budget ends them where it is over.
    pub(crate) fn seeds(&self) -> Range<u64> {
        match (&self.seeds, self.budget) {
            (Some(Seeds(seeds)), _) => seeds.clone(),
            (None, Some(_)) => 0..u64::from(u32::MAX),
            (None, None) => 0..SEEDS,
        }
    }

    /// Whether the correct code is run at this level. It is not where one rogue is all that is asked.
    pub(crate) fn has(&self, level: Level) -> bool {
        let alone = self.one_rogue().is_some() && self.seeds.is_none() && self.level.is_none();
        !alone && self.level.is_none_or(|asked| asked == level)
    }

    /// Whether this level alone was asked for.
    pub(crate) fn keeps_to(&self, level: Level) -> bool {
        self.level == Some(level)
    }

    /// Whether a rogue must be caught: the small worlds alone are too small for many, so there only
    /// the one that is named, and the canary.
    pub(crate) fn expects(&self, rogue: Rogue) -> bool {
        !self.keeps_to(Level::Explore) || rogue == CANARY || self.one_rogue() == Some(rogue)
    }

    pub(crate) fn jobs(&self) -> usize {
        self.jobs.map_or_else(cores, usize::from)
    }

    /// The cores that these threads keep busy.
    pub(crate) fn cores(&self) -> usize {
        self.jobs().min(cores()).max(1)
    }

    /// The families of faults that are drawn more often: those of a hunt, where one is followed.
    pub(crate) fn favoured(&self) -> &'static [Family] {
        self.favour.map_or(&[], favours)
    }

    /// The options that repeat this run, for the histories that were walked.
    pub(crate) fn repeat(&self, walked: Option<&Range<u64>>) -> String {
        let mut said = "hookproof prove".to_owned();
        let mut say = |text: &str| {
            said.push(' ');
            said.push_str(text);
        };
        match walked {
            Some(seeds) if seeds.start == 0 => say(&format!("--seeds {}", seeds.end)),
            Some(seeds) => say(&format!("--seeds {}..{}", seeds.start, seeds.end)),
            None => {}
        }
        match self.rogue {
            Some(Choice::None) => say("--rogue none"),
            Some(Choice::One(rogue)) => say(&format!("--rogue {}", rogue.name())),
            Some(Choice::All) | None => {}
        }
        if let Some(promise) = self.promise {
            say(&format!("--promise {promise}"));
        }
        if let Some(level) = self.level {
            say(&format!("--level {}", level.name()));
        }
        if self.deep {
            say("--deep");
        }
        if let Some(rogue) = self.favour {
            say(&format!("--favour {}", rogue.name()));
        }
        if let Some(rogue) = self.sabotage {
            say(&format!("--sabotage {}", rogue.name()));
        }
        said
    }

    /// The command that prints the whole history of a seed that this run walked.
    pub(crate) fn trace(&self, seed: u64) -> String {
        let favour = self.favour.map(|rogue| format!(" --favour {}", rogue.name()));
        let favour = favour.unwrap_or_default();
        format!("hookproof prove --seed {seed}{favour}{}", self.sabotaged())
    }

    /// The command that explores the small worlds again in which this run found something.
    pub(crate) fn explored_again(&self) -> String {
        let deep = if self.deep { " --deep" } else { "" };
        format!("hookproof prove --level explore --rogue none{deep}{}", self.sabotaged())
    }

    /// The command that tells the stories again.
    pub(crate) fn told_again(&self) -> String {
        format!("hookproof prove --level sim --seeds 1 --rogue none{}", self.sabotaged())
    }

    /// Two options of which one would do nothing, if there are such.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let said = match self.level {
            Some(Level::Sim) if self.deep => Some(
                "--deep explores larger worlds, which --level sim leaves out: drop one of them",
            ),
            Some(Level::Explore) if self.seeds.is_some() => {
                Some("--seeds walks histories, which --level explore leaves out: drop one of them")
            }
            _ => None,
        };
        let other = self.promise.zip(self.one_rogue());
        let other = other.filter(|(promise, rogue)| !rogue.breaks().contains(promise));
        said.map(str::to_owned).or_else(|| {
            let (promise, rogue) = other?;
            let breaks = rogue.breaks().iter().map(|broken| broken.id());
            Some(format!(
                "--rogue {} breaks {}, which --promise {promise} leaves out: drop one of them",
                rogue.name(),
                breaks.collect::<Vec<_>>().join(" or ")
            ))
        })
    }

    /// The command that hunts a rogue again as this run did, if it escaped.
    pub(crate) fn hunted_again(&self, rogue: Rogue) -> String {
        let level = self.level.map(|level| format!(" --level {}", level.name()));
        let level = level.unwrap_or_default();
        format!("hookproof prove --rogue {}{level} --seeds 1", rogue.name())
    }

    fn sabotaged(&self) -> String {
        self.sabotage.map_or_else(String::new, |rogue| format!(" --sabotage {}", rogue.name()))
    }

    /// What this run leaves out of a default one, a phrase each; empty for a default run.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let mut left_out = Vec::new();
        match self.level {
            Some(Level::Explore) => left_out.push("seeded histories (--level explore)".to_owned()),
            Some(Level::Sim) => left_out.push("the small worlds (--level sim)".to_owned()),
            None => {}
        }
        if self.has(Level::Sim) && !(0..SEEDS).all_in(&self.seeds()) {
            left_out.push("some of the default histories (--seeds)".to_owned());
        }
        match self.rogue {
            Some(Choice::None) => {
                left_out.push("all rogues but the canary (--rogue none)".to_owned());
            }
            Some(Choice::One(rogue)) => {
                left_out.push(format!("all but {} and the canary (--rogue)", rogue.name()));
            }
            Some(Choice::All) | None => {}
        }
        if let Some(promise) = self.promise {
            left_out.push(format!("what is not about {promise} (--promise)"));
        }
        if self.budget.is_some() {
            left_out.push("whatever the time was too short for (--budget)".to_owned());
        }
        if self.favour.is_some() {
            left_out.push("the default draws (--favour)".to_owned());
        }
        if let Some(rogue) = self.sabotage {
            left_out
                .push(format!("the correct code: {} is in its place (--sabotage)", rogue.name()));
        }
        left_out
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

trait Within {
    fn all_in(&self, other: &Self) -> bool;
}

impl Within for Range<u64> {
    fn all_in(&self, other: &Self) -> bool {
        other.start <= self.start && self.end <= other.end
    }
}

#[derive(Clone, Copy, Debug)]
enum Choice {
    All,
    None,
    One(Rogue),
}

#[derive(Clone, Debug)]
struct Seeds(Range<u64>);

fn seeds(text: &str) -> Result<Seeds, String> {
    let number = |text: &str| text.replace('_', "").parse::<u64>().ok();
    let range = match text.split_once("..") {
        Some((from, to)) => number(from).zip(number(to)).map(|(from, to)| from..to),
        None => number(text).map(|count| 0..count),
    };
    let range = range.filter(|seeds| seeds.start < seeds.end);
    range.map(Seeds).ok_or_else(|| {
        "expected a count of histories (200) or a range of seeds (500..600) with at least one"
            .to_owned()
    })
}

fn budget(text: &str) -> Result<Duration, String> {
    let expected = |why: String| format!("expected a time like 60s or 5m ({why})");
    let time = humantime::parse_duration(text).map_err(|error| expected(error.to_string()))?;
    if time < Duration::from_secs(1) { Err(expected("at least 1s".to_owned())) } else { Ok(time) }
}

fn choice(text: &str) -> Result<Choice, String> {
    match text {
        "all" => Ok(Choice::All),
        "none" => Ok(Choice::None),
        name => Rogue::named(name)
            .map(Choice::One)
            .ok_or_else(|| format!("expected `all`, `none` or a rogue; {}", rogues_near(name))),
    }
}

pub(crate) fn rogue_named(text: &str) -> Result<Rogue, String> {
    Rogue::named(text).ok_or_else(|| format!("expected a rogue; {}", rogues_near(text)))
}

fn rogues_near(text: &str) -> String {
    let text = text.to_lowercase();
    let text = text.as_str();
    let mut near: Vec<&str> = Rogue::ALL.iter().map(|rogue| rogue.name()).collect();
    near.sort_by_key(|name| (!name.contains(text), strsim::damerau_levenshtein(name, text)));
    format!("near are {}; all: `hookproof rogues`", near[..3].join(", "))
}

fn promise(text: &str) -> Result<Promise, String> {
    let checked = || Promise::CHECKED.map(Promise::id).join(" ");
    match Promise::named(text) {
        Some(promise) if Promise::CHECKED.contains(&promise) => Ok(promise),
        Some(promise) => Err(format!("{promise} is not decided here, but {} are", checked())),
        None => Err(format!("expected one of {}", checked())),
    }
}

#[cfg(test)]
impl Options {
    pub(crate) fn parsed(args: &[&str]) -> Self {
        #[derive(clap::Parser)]
        struct Alone {
            #[command(flatten)]
            options: Options,
        }
        let args = std::iter::once(&"prove").chain(args);
        clap::Parser::try_parse_from(args).map(|Alone { options }| options).expect("good options")
    }
}

/// More threads than this are of no use to anybody.
const JOBS_MAX: i64 = 1_024;
/// How many histories a default run walks.
pub(crate) const SEEDS: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_repeats_a_run_names_what_was_walked_instead_of_a_budget() {
        let options =
            Options::parsed(&["--budget", "20s", "--rogue", "no-wake", "--promise", "r9"]);
        let repeat = "hookproof prove --seeds 640 --rogue no-wake --promise R9";
        assert_eq!(options.repeat(Some(&(0..640))), repeat);
    }

    #[test]
    fn a_command_that_shows_a_failure_again_puts_the_same_wrong_line_in() {
        let options = Options::parsed(&["--sabotage", "no-wake", "--favour", "no-alert", "--deep"]);
        let trace = "hookproof prove --seed 7 --favour no-alert --sabotage no-wake";
        assert_eq!(options.trace(7), trace);
        let again = "hookproof prove --level explore --rogue none --deep --sabotage no-wake";
        assert_eq!(options.explored_again(), again);
    }

    #[test]
    fn a_default_run_leaves_nothing_out_and_more_seeds_are_not_less() {
        for args in [&[][..], &["--json", "--jobs", "1"], &["--seeds", "200_000"], &["--deep"]] {
            assert!(Options::parsed(args).left_out().is_empty(), "{args:?}");
        }
        for args in [["--seeds", "200"], ["--seeds", "1..200000"], ["--rogue", "none"]] {
            assert_eq!(Options::parsed(&args).left_out().len(), 1, "{args:?}");
        }
    }
}
