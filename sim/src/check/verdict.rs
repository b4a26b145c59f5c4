//! What a check found, and how it is said.

use core::fmt::{Display, Formatter, Result};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use super::{Ran, hint::hint};
use crate::{
    history::{Fact, Line, ReceiptStand},
    oracle::Danger,
    promise::Promise,
    scenario::Scenario,
};

/// The verdict on a receiver.
#[derive(Clone, Debug)]
#[must_use = "a verdict that nobody reads fails no test"]
pub struct Verdict {
    /// Histories checked.
    pub histories: u64,
    /// Their lines.
    pub lines: u64,
    /// How often the handler ran in them.
    pub runs: u64,
    /// How the receipts ended.
    pub ends: Ends,
    /// How often each promise was in danger.
    pub danger: Danger,
    /// Every promise that was broken, most often first.
    pub broken: Vec<Broken>,
    /// Why nothing can be said, if nothing was broken.
    pub inconclusive: Option<String>,
}

/// How receipts ended, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Applied: the handler's work is committed.
    pub applied: u64,
    /// Another event had booked the operation.
    pub already_booked: u64,
    /// Newer state was there.
    pub overtaken: u64,
    /// Set aside for a person: what is poisoned, impossible or unreadable.
    pub set_aside: u64,
    /// Ignored: of an unknown type.
    pub ignored: u64,
}

impl Ends {
    fn count(&mut self, lines: &[Line]) {
        for line in lines {
            let Fact::ReceiptStands { stand, .. } = line.fact else { continue };
            match stand {
                ReceiptStand::Applied => self.applied += 1,
                ReceiptStand::AlreadyBooked => self.already_booked += 1,
                ReceiptStand::Overtaken => self.overtaken += 1,
                ReceiptStand::InReview => self.set_aside += 1,
                ReceiptStand::Ignored => self.ignored += 1,
                ReceiptStand::Queued | ReceiptStand::Deferred | ReceiptStand::Retrying => {}
            }
        }
    }
}

impl Display for Ends {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { applied, already_booked, overtaken, set_aside, ignored } = *self;
        let [applied, already_booked, overtaken, set_aside, ignored] =
            [applied, already_booked, overtaken, set_aside, ignored].map(apart);
        write!(
            f,
            "applied {applied}, already booked {already_booked}, overtaken {overtaken}, set aside \
             {set_aside}, ignored {ignored}"
        )
    }
}

/// A number with its thousands apart.
fn apart(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", apart(number / 1_000), number % 1_000),
    }
}

/// A promise that the receiver breaks.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The promise.
    pub promise: Promise,
    /// In how many histories.
    pub histories: u64,
    /// The seed of the shortest.
    pub seed: u64,
    /// What happened there, in one sentence.
    pub what: String,
    /// That history up to the breach, without what it does not need.
    pub history: Vec<Line>,
    /// The same, written down: what [`Verdict::assert_holds`] keeps in a file.
    pub scenario: Option<Scenario>,
    /// Whether its seed alone broke the promise again. If it does not, the receiver keeps something
    /// that a new process and a new history do not take away, or it is not deterministic.
    pub repeats: bool,
}

impl Verdict {
    /// Whether every promise held, in histories that could have shown otherwise.
    pub fn holds(&self) -> bool {
        self.broken.is_empty() && self.inconclusive.is_none()
    }

    /// What is known of a promise that was broken.
    pub fn broken(&self, promise: Promise) -> Option<&Broken> {
        self.broken.iter().find(|broken| broken.promise == promise)
    }

    /// Passes if every promise held. If not, keeps the scenario of each that was broken in
    /// `hookproof-scenarios`, below the directory of the test.
    ///
    /// # Panics
    /// Panics if not, with the promise, the shortest history, and how to repeat it.
    pub fn assert_holds(&self) {
        if self.holds() {
            return;
        }
        let kept: Vec<String> = self.broken.iter().filter_map(Broken::keep).collect();
        panic!("{self}{}", kept.concat());
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { histories, lines, runs, ends, .. } = self;
        let Some((first, others)) = self.broken.split_first() else {
            return match &self.inconclusive {
                Some(why) => write!(f, "inconclusive after {histories} histories: {why}"),
                None => write!(
                    f,
                    "every promise held in {histories} histories ({} lines, the handler ran {} times): \
                     {ends}",
                    apart(*lines),
                    apart(*runs)
                ),
            };
        };
        write!(f, "of {histories} histories {first}")?;
        for Broken { promise, histories, seed, .. } in others {
            write!(f, "\nalso broken: {promise}, in {histories} histories (seed {seed}): ")?;
            f.write_str(promise.sentence())?;
        }
        Ok(())
    }
}

/// What is left of a history that breaks a promise.
pub(super) struct Kept {
    pub(super) what: String,
    pub(super) history: Vec<Line>,
    pub(super) scenario: Scenario,
}

impl Broken {
    /// Writes the scenario to a file; how to run it again.
    fn keep(&self) -> Option<String> {
        // One that was run from a file is kept already.
        if asked_for().is_some() {
            return None;
        }
        let path = Path::new(KEPT).join(format!("{}-seed-{}.json", self.promise, self.seed));
        let scenario = self.scenario.as_ref()?;
        let written = fs::create_dir_all(KEPT).and_then(|()| fs::write(&path, scenario.to_json()));
        let path = path.display();
        Some(match written {
            Ok(()) => {
                format!("\nKept in {path}. To run it alone: {SCENARIO}={path} cargo test NAME")
            }
            Err(why) => format!("\n{path}: expected to write the scenario: {why}"),
        })
    }
}

impl Display for Broken {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { promise, histories, seed, what, history, repeats, .. } = self;
        writeln!(f, "{histories} break {promise}: {}\n\n    {what}\n", promise.sentence())?;
        let left_out = history.len().saturating_sub(SHOWN_MAX);
        write!(f, "The shortest, of seed {seed}, with all that it does not need taken out")?;
        match left_out {
            0 => writeln!(f, ":\n")?,
            n => writeln!(f, " (and its first {n} lines):\n")?,
        }
        for line in &history[left_out..] {
            writeln!(f, "{line}")?;
        }
        if let Some(hint) = hint(history) {
            writeln!(f, "\n{hint}")?;
        }
        if *repeats {
            write!(f, "\nRepeat it with .seeds({seed}..{})", seed + 1)
        } else {
            write!(
                f,
                "\nIt did not repeat: the receiver keeps something where no crash takes it away (a \
                 static?), or it is not deterministic"
            )
        }
    }
}

/// The scenario that is to be run alone.
#[expect(
    clippy::disallowed_methods,
    reason = "whoever runs the test says which history to run; none depends on it"
)]
pub(super) fn asked_for() -> Option<PathBuf> {
    env::var_os(SCENARIO).map(PathBuf::from)
}

/// What is counted while histories run.
#[derive(Default)]
pub(super) struct Tally {
    histories: u64,
    lines: u64,
    runs: u64,
    ends: Ends,
    /// The events that the handler refused for no reason of the simulator's.
    refused: BTreeMap<String, Refused>,
    danger: Danger,
    broken: Vec<Broken>,
    inconclusive: Option<String>,
}

/// An event that a handler refused though nothing under it had failed.
struct Refused {
    histories: u64,
    /// The first of them, and the handler's words there.
    seed: u64,
    why: String,
}

impl Tally {
    pub(super) fn count(&mut self, seed: u64, ran: &Ran, lines: &[Line]) {
        self.histories += 1;
        self.lines += lines.len() as u64;
        self.runs += ran.slips.runs;
        self.ends.count(lines);
        self.danger.add(&ran.danger);
        if let Some(event) = &ran.slips.waits {
            self.inconclusive.get_or_insert(format!(
                "the handler of {event} awaits something that is not the transaction (seed {seed}). \
                 Whatever it waits for, rows stay locked meanwhile, and a rollback does not undo it"
            ));
            return;
        }
        if let Some(why) = ran.stops() {
            let (stopped, runs) = (apart(ran.slips.stopped), apart(ran.slips.runs));
            let often =
                if stopped == runs { "every run" } else { &format!("{stopped} of {runs} runs") };
            self.inconclusive = Some(format!(
                "the handler failed on infrastructure in {often} of the history of seed {seed}, also where \
                 nothing under it had failed (it said: {why}). Such work is tried for ever: what trying \
                 again does not help is HandlerError::Event"
            ));
            return;
        }
        for (name, why) in &ran.slips.refused {
            let first = || Refused { histories: 0, seed, why: why.clone() };
            self.refused.entry(name.clone()).or_insert_with(first).histories += 1;
        }
        for found in &ran.broken {
            let history = &lines[..=found.line];
            self.breaks(seed, found.breach.promise, &found.breach.what, history);
        }
        if !ran.ended && ran.broken.is_empty() {
            let why = format!("the history of seed {seed} did not come to its end");
            self.inconclusive.get_or_insert(why);
        }
    }

    fn breaks(&mut self, seed: u64, promise: Promise, what: &str, history: &[Line]) {
        let known = self.broken.iter_mut().find(|broken| broken.promise == promise);
        let Some(known) = known else {
            return self.broken.push(Broken {
                promise,
                histories: 1,
                seed,
                what: what.to_owned(),
                history: history.to_vec(),
                scenario: None,
                repeats: true,
            });
        };
        known.histories += 1;
        if history.len() < known.history.len() {
            (known.seed, known.what) = (seed, what.to_owned());
            known.history = history.to_vec();
        }
    }

    /// The verdict, where `shrink` finds the shortest history of a seed that breaks a promise.
    pub(super) fn verdict(self, shrink: impl Fn(u64, Promise) -> Option<Kept>) -> Verdict {
        let Self { histories, lines, runs, ends, refused, danger, mut broken, mut inconclusive } =
            self;
        for broken in &mut broken {
            match shrink(broken.seed, broken.promise) {
                Some(Kept { what, history, scenario }) => {
                    (broken.what, broken.history) = (what, history);
                    broken.scenario = Some(scenario);
                }
                None => broken.repeats = false,
            }
        }
        broken.sort_by_key(|broken| (core::cmp::Reverse(broken.histories), broken.promise));
        if runs == 0 {
            inconclusive.get_or_insert("the handler never ran".to_owned());
        }
        if !refused.is_empty() {
            inconclusive.get_or_insert(said(&refused));
        }
        Verdict { histories, lines, runs, ends, danger, broken, inconclusive }
    }
}

fn said(refused: &BTreeMap<String, Refused>) -> String {
    let each = refused.iter().map(|(name, Refused { histories, seed, why })| {
        let in_those = if *histories == 1 { "history" } else { "histories" };
        format!("{name} in {} {in_those} (seed {seed}, saying: {why})", apart(*histories))
    });
    format!(
        "the handler refused, though nothing under it had failed, {}. Is that the name that the handler \
         expects (.events([..]) declares it)? Does its row collide with one of its own?",
        each.collect::<Vec<_>>().join(" and ")
    )
}

/// The variable that names a scenario to run in place of the histories of seeds.
pub const SCENARIO: &str = "HOOKPROOF_SCENARIO";
/// Where scenarios are kept.
const KEPT: &str = "hookproof-scenarios";
/// The most lines of a history that are shown.
const SHOWN_MAX: usize = 60;
