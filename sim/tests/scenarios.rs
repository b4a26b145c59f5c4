//! Runs written down whole: told again, kept in files, shrunk.

use hookproof_sim::{
    oracle::Oracle,
    promise::Promise,
    prove::{Effort, Unwatched, hunt_all},
    rogue::Rogue,
    scenario::{FORMAT, Scenario},
    swarm::draw,
    walk::walk,
};

#[test]
fn what_a_seed_decided_tells_the_same_history_again_from_a_file() {
    let mut lines = Vec::new();
    for seed in 0..300 {
        let setup = draw(seed);
        walk(&setup, None, &mut Oracle::new(&setup.terms), &mut lines);
        let scenario = Scenario::of(&setup, Promise::R7, None);
        let read = Scenario::from_json(&scenario.to_json()).unwrap_or_else(|why| panic!("{why}"));
        for scenario in [&scenario, &read] {
            let told = scenario.play(None);
            let same = told.lines.iter().zip(&lines).take_while(|(told, line)| told == line);
            assert_eq!((told.lines.len(), same.count()), (lines.len(), lines.len()), "{seed}");
        }
        assert_eq!(read.to_json(), scenario.to_json(), "{seed}");
    }
}

/// Each rogue: a short scenario, in which it breaks a promise of its own, and the correct code none.
#[test]
fn every_rogue_is_left_with_a_scenario_that_people_can_read() {
    let effort = Effort { tries: 20_000, further: 60, states: 0, thorough: false };
    let hunts = hunt_all(Rogue::ALL, effort, 2, &Unwatched);
    let mut all = Vec::new();
    for hunt in hunts {
        let name = hunt.rogue.name();
        let shrunk = hunt.shrunk.unwrap_or_else(|| panic!("{name} has none"));
        let scenario = Scenario::from_json(&shrunk.scenario.to_json()).expect("what was written");
        assert!(hunt.rogue.breaks().contains(&scenario.about), "{name}: {}", scenario.about);
        let wrong = scenario.play(Some(hunt.rogue));
        let broken = wrong.breach_of(scenario.about).unwrap_or_else(|| panic!("{name} is kept"));
        assert_eq!(wrong.steps_to(broken.line), shrunk.steps, "{name}");
        assert!(scenario.play(None).holds(), "{name}");
        assert!(shrunk.steps <= 40, "{name}: {} steps", shrunk.steps);
        all.push(shrunk.steps);
    }
    all.sort_unstable();
    assert_eq!(all.len(), Rogue::ALL.len());
    assert!(all[all.len() / 2] <= 15, "{all:?}");
}

fn refused(change: impl Fn(&str) -> String) -> String {
    let text = Scenario::of(&draw(1), Promise::R7, None).to_json();
    let changed = change(&text);
    assert_ne!(changed, text);
    Scenario::from_json(&changed).expect_err("no scenario").to_string()
}

#[test]
fn what_is_no_scenario_is_refused_with_what_was_expected() {
    let all = [
        ("\"R7\"", "\"R99\"", "about `R99`: expected the id of a promise"),
        (FORMAT, "hookproof-scenario/9", "expected `hookproof-scenario/1`"),
        ("\"relays\":", "\"relayz\":", "unknown field `relayz`"),
        ("\"workers\":", "\"workers\":0,\"x\":", "unknown field `x`"),
        ("\"type\":\"", "\"type\":\"un", "expected one that its"),
        ("\"what\":\"lag\"", "\"what\":\"lagg\"", "no choice is called `lagg`"),
        ("\"of\":\"claim\"", "\"of\":\"claims\"", "no step is called `claims`"),
        ("\"revision\":", "\"revisions\":", "expected `revision`"),
        ("\"endpoint\":0", "\"endpoint\":99", "expected one below"),
        ("{", "", "trailing characters"),
    ];
    for (from, to, expected) in all {
        let said = refused(|text| text.replacen(from, to, 1));
        assert!(said.contains(expected), "{from} to {to}: {said}");
    }
}

#[test]
fn a_fault_that_hits_nothing_is_named() {
    let mut scenario = Scenario::of(&draw(1), Promise::R7, None);
    scenario.script.faults.clear();
    scenario.script.choices.clear();
    let text = scenario.to_json();
    let fault =
        "\"faults\": [{\"what\":\"drop\",\"hits\":\"request\",\"delivery\":0,\"claim\":99}]";
    let scenario =
        Scenario::from_json(&text.replacen("\"faults\": []", fault, 1)).expect("a fault");
    let told = scenario.play(None);
    let unfired: Vec<_> = told.unfired.iter().map(ToString::to_string).collect();
    assert_eq!(unfired, ["drop of request, delivery 0, claim 99"]);
    assert!(!told.holds());
}
