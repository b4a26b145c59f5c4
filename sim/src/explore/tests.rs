use std::collections::BTreeMap;

use super::{
    state::State,
    worlds::{booking, deferral, one_delivery, two_endpoints},
    *,
};
use crate::{oracle::judge, world::pack::Packer};

fn found(small: &Small, rogue: Option<Rogue>, jobs: usize) -> Explored {
    explore(small, rogue, Limits::default(), jobs, &|_| ())
}

/// One delivery with two relays and two workers, and this much that goes wrong.
fn one(budget: Budget) -> Small {
    Small { budget, ..one_delivery() }
}

/// Paid and shipped, in any order, and nothing goes wrong.
fn two_events() -> Small {
    Small { budget: Budget::default(), ..deferral() }
}

const NONE: Budget = Budget {
    crashes: 0,
    drops: 0,
    duplicates: 0,
    lost_answers: 0,
    failed_commits: 0,
    handler_failures: 0,
    stalls: 0,
};

#[test]
fn the_smallest_worlds_have_exactly_these_states() {
    let sizes = [
        (one(NONE), 47, 79),
        (one(Budget { crashes: 1, ..NONE }), 789, 1_903),
        (one(Budget { drops: 1, ..NONE }), 579, 1_429),
        (one(Budget { duplicates: 1, ..NONE }), 363, 905),
        (one(Budget { lost_answers: 1, ..NONE }), 353, 745),
        (one(Budget { failed_commits: 1, ..NONE }), 202, 400),
        (one(Budget { handler_failures: 1, ..NONE }), 71, 119),
        (one(Budget { stalls: 1, ..NONE }), 6_733, 25_176),
        (two_events(), 4_115, 13_142),
    ];
    for (small, states, transitions) in sizes {
        let explored = found(&small, None, 1);
        assert!(explored.exhausted, "{:?}: {:?}", small.budget, explored.breach);
        let size = (explored.states, explored.transitions);
        assert_eq!(size, (states, transitions), "{} {:?}", small.name, small.budget);
    }
}

#[test]
fn what_is_found_does_not_depend_on_the_number_of_threads() {
    let small = one(Budget { crashes: 1, drops: 1, duplicates: 1, ..NONE });
    let [alone, together] = [1, 2].map(|jobs| found(&small, None, jobs));
    let size = |explored: &Explored| {
        let Explored { states, transitions, ends, bytes, .. } = *explored;
        (states, transitions, ends, bytes)
    };
    assert_eq!(size(&alone), size(&together));
    assert_eq!(alone.danger, together.danger);
    assert_eq!(alone.outcomes, together.outcomes);
    let [alone, together] =
        [1, 2].map(|jobs| found(&small, Some(Rogue::ZombieSettles), jobs).breach);
    assert_eq!(alone, together);
}

#[test]
fn the_worlds_of_every_run_hold_every_promise() {
    for small in default_worlds() {
        let explored = found(&small, None, 2);
        assert_eq!(explored.breach, None, "{}", small.name);
        assert!(explored.exhausted && explored.ends > 0, "{}", small.name);
    }
}

#[test]
fn the_promises_were_in_danger() {
    let explored = found(&one(Budget { crashes: 1, lost_answers: 1, ..NONE }), None, 2);
    for promise in [Promise::S2, Promise::S5, Promise::S6, Promise::R3, Promise::E1] {
        assert!(explored.danger.of(promise) > 0, "{promise}");
    }
}

#[test]
fn wrong_lines_are_found_with_a_short_history() {
    let stalled = || one(Budget { stalls: 1, ..NONE });
    let booked = || Small { budget: NONE, ..booking() };
    let cases = [
        (Rogue::UnguardedDelivery, stalled(), Promise::S5, 12),
        (Rogue::UnguardedOperation, booked(), Promise::R7, 14),
        (Rogue::UnguardedEntityRead, two_events(), Promise::R9, 26),
        (Rogue::UnguardedReceipt, one(Budget { duplicates: 1, ..NONE }), Promise::R4, 11),
        (Rogue::ZombieSettles, stalled(), Promise::S5, 13),
        (Rogue::AcksThenStores, one(NONE), Promise::R3, 9),
        (Rogue::NoWake, two_events(), Promise::R9, 26),
        (Rogue::SendsBeforeClaim, one(NONE), Promise::S5, 9),
    ];
    for (rogue, small, promise, actions) in cases {
        let breach = found(&small, Some(rogue), 1).breach;
        let breach = breach.unwrap_or_else(|| panic!("{} escaped", rogue.name()));
        assert_eq!((breach.promise, breach.actions.len()), (promise, actions), "{}", rogue.name());
        assert_eq!(found(&small, None, 1).breach, None, "{} without its line", rogue.name());
        // Whoever reads the history alone comes to the same verdict.
        let report = judge(&small.setup.terms, &breach.lines);
        let broken = report.breach().map(|broken| (broken.breach.promise, broken.line));
        assert_eq!(broken, Some((promise, breach.lines.len() - 1)), "{}", rogue.name());
    }
}

#[test]
fn without_the_reductions_the_ends_are_the_same() {
    let worlds = [
        one(NONE),
        one(Budget { crashes: 1, ..NONE }),
        one(Budget { drops: 1, ..NONE }),
        one(Budget { duplicates: 1, ..NONE }),
        one(Budget { lost_answers: 1, ..NONE }),
        one(Budget { handler_failures: 1, ..NONE }),
        one(Budget { crashes: 1, drops: 1, ..NONE }),
        Small { budget: NONE, ..booking() },
        Small { budget: Budget { crashes: 1, ..NONE }, ..booking() },
        // Stalls make many worlds, so here one process of each kind has to do.
        Small { racers: 1, setup: lonely(), ..one(Budget { stalls: 1, ..NONE }) },
    ];
    for small in worlds {
        let reduced = found(&small, None, 2);
        let whole = found(&Small { unreduced: true, ..small.clone() }, None, 2);
        assert!(reduced.exhausted && whole.exhausted, "{:?}", small.budget);
        assert!(reduced.states < whole.states, "{:?}", small.budget);
        assert_eq!((reduced.breach, whole.breach), (None, None));
        assert_eq!(reduced.outcomes, whole.outcomes, "{} {:?}", small.name, small.budget);
    }
}

fn lonely() -> Setup {
    Setup { relays: 1, workers: 1, ..one_delivery().setup }
}

/// Every way to a state is followed, not the first alone: what can come next must be the same.
#[test]
fn equal_keys_have_equal_futures() {
    let worlds = [
        one(Budget { crashes: 1, ..NONE }),
        one(Budget { duplicates: 1, lost_answers: 1, ..NONE }),
        one(Budget { stalls: 1, ..NONE }),
        Small { racers: 1, ..two_events() },
        Small { deeds: two_endpoints().deeds, racers: 1, ..one(Budget { drops: 1, ..NONE }) },
        Small { unreduced: true, ..one(NONE) },
    ];
    for small in worlds {
        let run = Run::new(&small, None);
        let mut lines = Vec::new();
        let mut first = State::first(&run, &mut lines);
        first.judge(&lines).expect("nothing is broken");
        let mut known = BTreeMap::new();
        let mut found = vec![(key(&run, &mut first), first)];
        let mut again = 0;
        while let Some((key, state)) = found.pop() {
            let next = futures(&run, &state);
            let keys: Vec<Vec<u8>> = next.iter().map(|(key, _)| key.clone()).collect();
            if let Some(before) = known.get(&key) {
                again += 1;
                assert_eq!(*before, keys, "{} {:?}", small.name, small.budget);
            } else {
                known.insert(key, keys);
                found.extend(next);
            }
        }
        assert!(again > 0);
    }
}

fn key(run: &Run<'_>, state: &mut State<'_>) -> Vec<u8> {
    let (mut packer, mut key) = (Packer::default(), Vec::new());
    state.pack(run, &mut packer, &mut key);
    state.keep_order(&packer);
    key
}

/// All that can come next, by its keys.
fn futures<'t>(run: &Run<'_>, state: &State<'t>) -> Vec<(Vec<u8>, State<'t>)> {
    let (mut actions, mut lines) = (Vec::new(), Vec::new());
    state.actions(run, &mut actions);
    let next = actions.into_iter().map(|action| {
        let mut next = state.clone();
        next.take(action, run, &mut lines);
        next.judge(&lines).expect("nothing is broken");
        (key(run, &mut next), next)
    });
    let mut next: Vec<(Vec<u8>, State<'t>)> = next.collect();
    next.sort_by(|(a, _), (b, _)| a.cmp(b));
    next
}

#[test]
fn a_limit_is_said_to_be_one() {
    let small = two_endpoints();
    let few = Limits { states: 500, ..Limits::default() };
    let explored = explore(&small, None, few, 1, &|_| ());
    assert!(!explored.exhausted && explored.states == 500, "{}", explored.states);
}
