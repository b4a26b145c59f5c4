use std::collections::BTreeSet;

use super::{Decision, Held, Holds, Record, write};
use crate::{
    dice::{Dice, Site},
    history::Line,
    oracle::{Terms, Verdict, judge},
    promise::Promise,
    prove::{favours, walk_one},
    rogue::Rogue,
};

fn file(terms: &Terms, lines: &[Line]) -> String {
    let mut out = Vec::new();
    write(terms, lines, &mut out).expect("memory has room");
    String::from_utf8(out).expect("JSON")
}

fn read(text: &str) -> Record {
    Record::read(text, None).unwrap_or_else(|bad| panic!("{bad}\n{text}"))
}

/// What is said of a history in process, and of its file.
fn both(terms: &Terms, lines: &[Line]) -> [Vec<(Promise, Verdict, u32, Option<String>)>; 2] {
    let report = judge(terms, lines);
    let sentence = |promise| {
        let broken = report.broken.iter().find(|broken| broken.breach.promise == promise);
        broken.map(|broken| format!("line {}: {}", broken.line + 2, broken.breach.what))
    };
    let here = report.rows.iter().map(|row| {
        let what = sentence(row.promise);
        (row.promise, row.verdict, row.danger, what)
    });
    let judged = read(&file(terms, lines)).judge();
    let there = judged.decisions.into_iter().map(|of| {
        let what = match of.why {
            Some(super::Why::Broken(place)) => Some(format!("line {}: {}", place.line, place.what)),
            _ => None,
        };
        (of.promise, of.verdict, of.danger, what)
    });
    [here.collect(), there.collect()]
}

#[test]
fn a_file_is_judged_as_its_history_is() {
    for seed in 0..200 {
        let (setup, lines, _) = walk_one(seed, &[], None);
        let [here, there] = both(&setup.terms, &lines);
        assert_eq!(here, there, "seed {seed}");
    }
}

#[test]
fn the_history_of_every_rogue_is_judged_as_its_file_is() {
    for &rogue in Rogue::ALL {
        for seed in 0..6 {
            let (setup, lines, _) = walk_one(seed, favours(rogue), Some(rogue));
            let [here, there] = both(&setup.terms, &lines);
            assert_eq!(here, there, "{} with seed {seed}", rogue.name());
        }
    }
}

/// A breach ends a history. That a handler ran is no effect yet, and how late an answer is, any line tells.
fn is_told_by_its_line(what: &str) -> bool {
    what.starts_with("the handler of") || what.contains("waits for its answer")
}

/// The history without these.
fn without(record: &Record, dropped: Holds) -> Record {
    let kept = record.lines.iter().zip(&record.places);
    let kept = kept.filter(|(line, _)| !dropped.has(Held::of(&line.fact)));
    let (lines, places) = kept.map(|(line, place)| (*line, *place)).unzip();
    Record { lines, places, holds: record.holds.without(dropped), ..record.clone() }
}

fn some(seed: u64, nth: u64) -> Holds {
    let dice = Dice::new(seed * 1_000 + nth);
    let share = dice.roll(Site::new(0, 0, 0, 0)) % 4;
    let each = (0..).zip(Held::FACTS.iter().chain(Held::PARTS));
    let dropped = each.filter(|(no, _)| dice.roll(Site::new(1, *no, 0, 0)) % 5 <= share);
    dropped.fold(Holds::default(), |all, (_, held)| all.and(Holds::of(&[*held])))
}

fn record(terms: &Terms, lines: &[Line]) -> Record {
    read(&file(terms, lines))
}

#[test]
fn nothing_that_is_missing_breaks_a_promise() {
    for seed in 0..60 {
        let (setup, lines, _) = walk_one(seed, &[], None);
        let whole = record(&setup.terms, &lines);
        let one = Held::FACTS.iter().chain(Held::PARTS).map(|held| Holds::of(&[*held]));
        for dropped in one.chain((0..20).map(|nth| some(seed, nth))) {
            let judged = without(&whole, dropped).judge();
            for decision in judged.decisions {
                assert_ne!(
                    decision.verdict,
                    Verdict::Fail,
                    "seed {seed} without {:?}: {decision:?}",
                    dropped.each().map(Held::name).collect::<Vec<_>>()
                );
            }
        }
    }
}

#[test]
fn nothing_that_is_missing_hides_a_breach_or_shows_another() {
    let mut hidden = BTreeSet::new();
    for &rogue in Rogue::ALL {
        for seed in 0..8 {
            let (setup, lines, broken) = walk_one(seed, favours(rogue), Some(rogue));
            if broken.is_empty() {
                continue;
            }
            let whole = record(&setup.terms, &lines);
            let shown = whole.judge_views();
            let breaks = |promise| {
                let view = |of: &Decision| of.promise == promise && of.verdict == Verdict::Fail;
                shown.iter().any(view)
            };
            let one = Held::FACTS.iter().chain(Held::PARTS).map(|held| Holds::of(&[*held]));
            for dropped in one.chain((0..10).map(|nth| some(seed, nth))) {
                for decision in without(&whole, dropped).judge().decisions {
                    let promise = decision.promise;
                    let hides = broken.iter().any(|breach| {
                        breach.promise == promise && !is_told_by_its_line(&breach.what)
                    });
                    let bad = match decision.verdict {
                        Verdict::Fail => !breaks(promise),
                        Verdict::Pass => hides || breaks(promise),
                        Verdict::Inconclusive => false,
                    };
                    if bad && hidden.insert((rogue, promise, decision.verdict == Verdict::Pass)) {
                        println!(
                            "{} {seed}: {broken:?} BUT {decision:?} without {:?}",
                            rogue.name(),
                            dropped.each().map(Held::name).collect::<Vec<_>>()
                        );
                    }
                }
            }
        }
    }
    assert!(hidden.is_empty(), "{hidden:?}");
}
