//! The two tables: promises by level, and rogues.

use std::io::{self, Write};

use hookproof_sim::{promise::Promise, rogue::CANARY};

use super::{
    options::{Level, Options},
    outcome::{Outcome, Verdict},
};
use crate::{
    say::{BAD, DIM, GOOD, OPEN, hanging, number, short},
    table::{Cell, Side, Table},
};

/// A row a promise: states explored and histories walked, each with how often it was in danger there,
/// and how many rogues it caught.
pub(crate) fn promises(
    outcome: &Outcome,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Table::new([
        ("", Side::Left),
        ("promise", Side::Left),
        ("explored", Side::Right),
        ("in danger", Side::Right),
        ("walked", Side::Right),
        ("in danger", Side::Right),
        ("rogues", Side::Right),
        ("", Side::Left),
    ]);
    for promise in options.promises() {
        table.row([
            promise.id().into(),
            short(promise.sentence(), SENTENCE).into(),
            some(outcome.states(promise)),
            some(outcome.danger_explored(promise)),
            some(outcome.kept(promise)),
            some(outcome.danger_walked(promise)),
            number(outcome.caught_by(promise)).into(),
            match word(promise, outcome, options) {
                (Verdict::Checked, word) => Cell::new(word, GOOD),
                (Verdict::Broken, word) => Cell::new(word, BAD),
                (Verdict::Open, word) => Cell::new(word, OPEN),
            },
        ]);
    }
    table.write(out)?;
    legend(PROMISES, out)
}

/// What is said of a promise.
pub(super) fn word(
    promise: Promise,
    outcome: &Outcome,
    options: &Options,
) -> (Verdict, &'static str) {
    let verdict = outcome.verdict_of(promise, options);
    let word = match verdict {
        Verdict::Checked if outcome.hunted(promise) => "checked",
        Verdict::Checked => "held",
        Verdict::Broken => "BROKEN",
        Verdict::Open if outcome.danger(promise) == 0 => "not in danger",
        Verdict::Open => "no rogue caught",
    };
    (verdict, word)
}

fn legend(words: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{DIM}{}{DIM:#}", hanging(words, 0))
}

/// A number, or nothing where there is none.
fn some(count: u64) -> Cell {
    if count == 0 { Cell::new("-", DIM) } else { number(count).into() }
}

/// A row a rogue: who caught it, how soon, and in how short a history.
pub(crate) fn rogues(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("rogue", Side::Left),
        ("caught by", Side::Left),
        ("level", Side::Left),
        ("tries", Side::Right),
        ("steps", Side::Right),
        ("shrunk", Side::Right),
        ("", Side::Left),
    ]);
    for hunt in &outcome.hunts {
        let note = if hunt.rogue == CANARY { Cell::new("the canary", DIM) } else { "".into() };
        let tries = number(hunt.tries).into();
        let name = hunt.rogue.name().into();
        let shrunk = hunt.shrunk.as_ref().map(|shrunk| number(shrunk.steps as u64));
        let shrunk = shrunk.unwrap_or_default().into();
        let cells = match &hunt.catch {
            Some(catch) => [
                name,
                Cell::new(catch.breach.promise.id(), GOOD),
                Level::of(catch.origin).name().into(),
                tries,
                number(catch.lines.len() as u64).into(),
                shrunk,
                note,
            ],
            None if hunt.cut => {
                [name, Cell::new("time was up", OPEN), "".into(), tries, "".into(), shrunk, note]
            }
            None => [name, Cell::new("ESCAPED", BAD), "".into(), tries, "".into(), shrunk, note],
        };
        table.row(cells);
    }
    table.write(out)?;
    legend(ROGUES, out)
}

/// What the columns of the promises mean.
pub(super) const PROMISES: &str = "explored: states of small worlds in which the promise was checked; walked: \
    seeded histories; in danger: how often a fault could have broken it; rogues: how many wrong lines \
    that break it were caught; held: not all of those were hunted";
/// What the columns of the rogues mean.
pub(super) const ROGUES: &str = "tries: histories (sim) or states (explore) until it was caught; steps: lines of \
    the shortest history found; shrunk: steps of the scenario that is left of one";
/// How much of a promise's sentence the matrix shows.
const SENTENCE: usize = 48;
