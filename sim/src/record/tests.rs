use super::{
    Held, Holds, Record, Why,
    needs::{RECEIVING, SECURING, SENDING, View, views},
    write,
};
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

/// A promise, how it fared, how often it was in danger, and what broke it.
type Said = (Promise, Verdict, u32, Option<String>);

/// What is said of a history in process, and of its file.
fn both(terms: &Terms, lines: &[Line]) -> [Vec<Said>; 2] {
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
            Some(Why::Broken(place)) => Some(format!("line {}: {}", place.line, place.what)),
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

/// A breach ends a history. That a handler ran is no effect yet, and that an answer is late is told by any
/// line that comes later.
fn is_told_there_alone(what: &str) -> bool {
    !what.starts_with("the handler of") && !what.contains("waits for its answer")
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
    for &rogue in Rogue::ALL {
        for seed in 0..8 {
            let (setup, lines, broken) = walk_one(seed, favours(rogue), Some(rogue));
            if broken.is_empty() {
                continue;
            }
            let whole = record(&setup.terms, &lines);
            let shown = whole.judge_views();
            let breach = |promise| {
                let own = shown.iter().find(|decision| decision.promise == promise);
                own.and_then(|decision| match &decision.why {
                    Some(Why::Broken(place)) => Some(place.what.as_str()),
                    _ => None,
                })
            };
            let one = Held::FACTS.iter().chain(Held::PARTS).map(|held| Holds::of(&[*held]));
            for dropped in one.chain((0..10).map(|nth| some(seed, nth))) {
                for decision in without(&whole, dropped).judge().decisions {
                    let promise = decision.promise;
                    let bad = match decision.verdict {
                        Verdict::Fail => breach(promise).is_none(),
                        Verdict::Pass => breach(promise).is_some_and(is_told_there_alone),
                        Verdict::Inconclusive => false,
                    };
                    assert!(
                        !bad,
                        "{} {seed}: {broken:?}, and {decision:?} without {:?}",
                        rogue.name(),
                        dropped.each().map(Held::name).collect::<Vec<_>>()
                    );
                }
            }
        }
    }
}

/// A history that somebody has tampered with: lines gone, twice, elsewhere, and numbers that are others.
fn tampered(text: &str, seed: u64) -> String {
    let dice = Dice::new(seed);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let below = |no: u32, bound: usize| dice.below(Site::new(2, no, 0, 0), bound as u64) as usize;
    for no in 0..1 + below(0, 12) as u32 {
        let at = 1 + below(10 * no + 1, lines.len() - 1);
        let other = 1 + below(10 * no + 2, lines.len() - 1);
        match below(10 * no + 3, 6) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(at, lines[other].clone()),
            2 => {
                let moved = fact_of(&lines[other]).to_owned();
                let place = time_of(&lines[at]).to_owned();
                lines.insert(at, place + &moved);
            }
            _ => lines[at] = with_other_number(&lines[at], below(10 * no + 4, 1 << 16)),
        }
    }
    lines.join("\n")
}

fn time_of(line: &str) -> &str {
    line.split_inclusive(',').next().unwrap_or(line)
}

fn fact_of(line: &str) -> &str {
    line.split_once(',').map_or(line, |(_, rest)| rest)
}

/// One of the numbers behind the first is another, small or very large.
fn with_other_number(line: &str, roll: usize) -> String {
    let starts: Vec<usize> = line.match_indices(':').map(|(at, _)| at + 1).collect();
    let numbers: Vec<usize> = starts
        .into_iter()
        .skip(1)
        .filter(|at| line[*at..].starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    let Some(at) = numbers.get(roll % numbers.len().max(1)) else { return line.to_owned() };
    let end = line[*at..].find(|c: char| !c.is_ascii_digit()).map_or(line.len(), |end| at + end);
    let others = ["0", "1", "2", "3", "7", "63", "60000", "1000000000", "9007199254740992"];
    [&line[..*at], others[roll / 64 % others.len()], &line[end..]].concat()
}

#[test]
fn no_history_is_too_strange_to_be_judged() {
    let mut judged = 0;
    for seed in 0..40 {
        let (setup, lines, _) = walk_one(seed, &[], None);
        let text = file(&setup.terms, &lines);
        for nth in 0..60 {
            let strange = tampered(&text, seed * 1_000 + nth);
            if let Ok(record) = Record::read(&strange, None) {
                record.judge();
                record.judge_views();
                judged += 1;
            }
        }
    }
    assert!(judged > 500, "{judged} could be read");
}

/// The published form, in words.
const WRITTEN: &str = include_str!("../../../vectors/HISTORY.md");

fn listed(holds: Holds) -> String {
    let each = holds.each().map(|held| match held {
        Held::Bodies => "*body*".to_owned(),
        Held::Signatures => "*signed*".to_owned(),
        Held::Origins => "*authentic*".to_owned(),
        Held::Types => "*types*".to_owned(),
        fact => format!("`{fact}`"),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Everything that one side's facts are judged by.
const SIDES: [(&str, Holds); 4] = [
    ("*sending*", SENDING),
    ("*receiving*", RECEIVING),
    ("*securing*", SECURING),
    ("*sending* and *receiving*", SENDING.and(RECEIVING)),
];

/// A row of the table of what each promise needs.
fn needed(view: &View) -> String {
    let side = SIDES.iter().find(|(_, side)| *side == view.needs);
    let needs = side.map_or_else(|| listed(view.needs), |(name, _)| (*name).to_owned());
    let excuses = listed(view.excuses);
    let kept = match (view.whole, view.unless) {
        (true, None) => "yes".to_owned(),
        (true, Some(fact)) => format!("unless there is a `{fact}`"),
        (false, _) => "no".to_owned(),
    };
    format!("| {} | {needs} | {excuses} | {kept} |", view.promise)
}

#[test]
fn what_is_written_of_the_form_is_what_is_read() {
    let sides = SIDES[..3].iter().map(|(name, side)| format!("- {name}: {}", listed(*side)));
    let rows = Promise::CHECKED.into_iter().flat_map(views);
    let rows: Vec<_> = rows.map(|view| needed(&view)).chain(sides).collect();
    let missing: Vec<_> = rows.iter().filter(|row| !WRITTEN.contains(*row)).collect();
    assert!(missing.is_empty(), "expected this table:\n{}", rows.join("\n"));
    for fact in Held::FACTS {
        assert!(WRITTEN.contains(&format!("\n| `{fact}` |")), "{fact} is not described");
    }
}

/// The same history with texts for ids.
fn with_texts(value: &mut serde_json::Value) {
    const IDS: [&str; 8] =
        ["event", "delivery", "endpoint", "receipt", "entity", "id", "body", "person"];
    let Some(fields) = value.as_object_mut() else { return };
    for (name, value) in fields {
        if let Some(number) = value.as_u64().filter(|_| IDS.contains(&name.as_str())) {
            *value = serde_json::Value::from(format!("no-{number:0>9}"));
        }
        with_texts(value);
    }
}

#[test]
fn a_verdict_says_the_ids_of_the_file() {
    let mut said = 0;
    for &rogue in Rogue::ALL {
        for seed in 0..6 {
            let (setup, lines, _) = walk_one(seed, favours(rogue), Some(rogue));
            let report = judge(&setup.terms, &lines);
            let Some(broken) = report.breach() else { continue };
            let mut text = String::new();
            for (no, line) in file(&setup.terms, &lines).lines().enumerate() {
                let mut value: serde_json::Value = serde_json::from_str(line).expect("JSON");
                match value.get("entities").and_then(|all| all.as_object()).cloned() {
                    Some(all) if no == 0 => {
                        let all = all.into_iter().map(|(id, of)| (format!("no-{id:0>9}"), of));
                        value["entities"] = all.collect();
                    }
                    _ => with_texts(&mut value),
                }
                text.extend([value.to_string().as_str(), "\n"]);
            }
            let decisions = read(&text).judge().decisions;
            let places = decisions.iter().filter_map(|decision| match &decision.why {
                Some(Why::Broken(place)) => Some(place),
                _ => None,
            });
            let same = places.filter(|place| place.promise == broken.breach.promise);
            let what = same.map(|place| place.what.clone()).next().expect("the same breach");
            let numbers = what.split("no-").enumerate().map(|(no, part)| match no {
                0 => part.to_owned(),
                _ if part[..9].bytes().all(|byte| byte == b'0') => part[8..].to_owned(),
                _ => part.trim_start_matches('0').to_owned(),
            });
            assert_eq!(numbers.collect::<String>(), broken.breach.what, "{}", rogue.name());
            let bare = ["event ", "delivery ", "endpoint ", "receipt ", "entity ", " id "];
            for noun in bare {
                let mut after = what.split(noun).skip(1);
                let number = after.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
                assert!(!number, "{}: {what}", rogue.name());
            }
            said += 1;
        }
    }
    assert!(said > 100, "{said} breaches");
}
