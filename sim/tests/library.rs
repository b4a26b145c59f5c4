//! The library of scenarios: each comes as expected, and is broken by the wrong line that it names.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use hookproof_sim::{
    promise::Promise,
    scenario::{Scenario, choice_in_words, fault_in_words},
    setup::Setup,
};

fn vectors(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors").join(name)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// The scenarios by the names of their files, without what these end in.
fn library() -> BTreeMap<String, Scenario> {
    let entries = fs::read_dir(vectors("scenarios")).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .map(|path| {
            assert_eq!(
                path.extension().and_then(|end| end.to_str()),
                Some("json"),
                "{}",
                path.display()
            );
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = read(&path);
            let scenario = Scenario::from_json(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(scenario.to_json(), text, "{name}: not as it would be written");
            (name, scenario)
        })
        .collect()
}

#[test]
fn there_are_enough_and_each_is_in_the_index() {
    let library = library();
    assert!(library.len() >= 80, "{}", library.len());
    let index = read(&vectors("scenarios.md"));
    for (name, scenario) in &library {
        let rogue = scenario.broken_by.map_or(String::new(), |rogue| format!("`{}`", rogue.name()));
        let Scenario { about, name: what, seen, .. } = scenario;
        let row = format!("| `{name}` | {about} | {what} | {seen} | {rogue} |\n");
        assert!(index.contains(&row), "{name}: expected in scenarios.md: {row}");
        assert!(!seen.is_empty() && !scenario.expected.is_empty(), "{name}");
    }
    let rows = index.lines().filter(|line| line.matches(" | ").count() == 4);
    assert_eq!(rows.count(), library.len() + 2, "a row without its scenario");
}

/// Of the correct code.
#[test]
fn each_comes_as_expected() {
    for (name, scenario) in library() {
        let told = scenario.play(None);
        assert!(
            told.holds(),
            "{name}: broken {:?}, unfired {:?}, surprises {:?}",
            told.report.broken,
            told.unfired,
            told.surprises
        );
    }
}

/// And each promise that is checked is broken in one in which it was in danger.
#[test]
fn each_is_broken_by_its_rogue() {
    let mut endangered = BTreeSet::new();
    for (name, scenario) in library() {
        let Some(rogue) = scenario.broken_by else { continue };
        let about = scenario.about;
        let wrong = scenario.play(Some(rogue));
        assert!(wrong.breach_of(about).is_some(), "{name}: {:?}", wrong.report.broken);
        if scenario.play(None).report.danger.of(about) > 0 {
            endangered.insert(about);
        }
    }
    let left = Promise::CHECKED.into_iter().filter(|promise| !endangered.contains(promise));
    assert_eq!(left.collect::<Vec<_>>(), []);
}

#[test]
fn no_two_have_the_same_promise_fault_and_boundary() {
    let mut seen = BTreeMap::new();
    for (name, scenario) in library() {
        if let Some(other) = seen.insert(signature(&scenario), name.clone()) {
            panic!("{name} and {other} differ in numbers alone");
        }
    }
}

/// What a scenario is about, without the numbers that say where and when.
fn signature(scenario: &Scenario) -> String {
    let Scenario { about, setup, script, .. } = scenario;
    let faults: BTreeSet<_> = script
        .faults
        .iter()
        .filter_map(|site| {
            let words = fault_in_words(*site)?;
            let row = words.numbers.first()?.0;
            let status = script.choices.get(site).filter(|_| words.what == "refuse");
            Some(format!("{} of {} of {row} {status:?}", words.what, words.step))
        })
        .collect();
    let choices: BTreeSet<_> = script
        .choices
        .iter()
        .filter(|(site, _)| !script.faults.contains(site))
        .filter_map(|(site, is)| Some((choice_in_words(*site)?.what, is)))
        .filter(|(what, _)| *what != "lag")
        .collect();
    format!("{about} {faults:?} {choices:?} {}", workload(setup))
}

fn workload(setup: &Setup) -> String {
    let Setup { terms, events, deeds, endpoints, .. } = setup;
    let events: Vec<_> = events
        .iter()
        .map(|event| {
            let slow = event.takes_ms > 0;
            (event.kind.0, event.form, event.poison, event.rolls_back, event.calls, slow)
        })
        .collect();
    let deeds: Vec<_> = deeds
        .iter()
        .map(|(_, deed)| format!("{deed:?}").replace(|c: char| c.is_ascii_digit(), ""))
        .collect();
    let declared = (terms.profile.on_gone, terms.profile.on_exhausted, terms.scheme.lists);
    let models = &terms.model_of;
    format!("{models:?} {events:?} {deeds:?} {declared:?} {}", *endpoints > 1)
}
