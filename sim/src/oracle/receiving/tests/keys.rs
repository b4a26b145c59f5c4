//! The monitor as a key, and as a value that is reused.

use super::*;
use crate::oracle::Names;

fn after(story: &Story) -> Receiving {
    let mut monitor = Receiving::default();
    for line in &story.lines {
        monitor.observe(&story.terms, line, &mut Danger::default()).expect("a good story");
    }
    monitor
}

fn key(story: &Story) -> Vec<u8> {
    let mut key = Vec::new();
    after(story).pack(&story.terms, story.at, Names::default(), &mut key);
    key
}

#[test]
fn independent_steps_in_either_order_are_one_state() {
    let both = || story().delivered(OLD).delivered(PAID);
    let one = both().applied(OLD, 0, 1).worker(1).applied(PAID, 0, 2);
    let other = both().worker(1).applied(PAID, 0, 2).worker(0).applied(OLD, 0, 1);
    assert_eq!(key(&one), key(&other));
    let one = story().commits(PAID).commits(OLD).arrives(PAID, 1).arrives(OLD, 1);
    let other = story().commits(PAID).commits(OLD).arrives(OLD, 1).arrives(PAID, 1);
    assert_eq!(key(&one), key(&other));
}

#[test]
fn when_it_happened_does_not_matter_once_it_is_over() {
    let done = |early, late| {
        story().after(early).delivered(PAID).applied(PAID, 0, 2).after(late).delivered(OLD)
    };
    let keep = 90 * 24 * HOUR;
    assert_eq!(key(&done(0, keep)), key(&done(HOUR, keep + HOUR)));
    let waits = |ms| story().delivered(PAID).failed(PAID, 1, 1, MINUTE).after(ms);
    assert_ne!(key(&waits(0)), key(&waits(1)));
    assert_ne!(key(&waits(0)), key(&waits(MINUTE)));
}

#[test]
fn what_later_verdicts_depend_on_is_in_the_key() {
    let base = || story().delivered(PAID).delivered(SHIPPED);
    let variants = [
        base(),
        base().arrives(PAID, 2),
        base().arrives(PAID, 3),
        base().claims(PAID, 1, 1),
        base().claims(PAID, 2, 1),
        base().claims(PAID, 1, 1).runs(PAID, HandlerOutcome::Failed),
        base().failed(PAID, 1, 1, MINUTE),
        base().applied(PAID, 0, 2),
        base().booked(PAID),
        base().deferred(SHIPPED, 1),
        base().deferred(SHIPPED, 1).applied(PAID, 0, 2),
        base().deferred(SHIPPED, 1).applied(PAID, 0, 2).woken(SHIPPED),
        base().called(SHIPPED, 1, false),
        base().called(SHIPPED, 1, true),
        base().say(STORE, Fact::BackedUp { side: Side::Receiver }),
        base().say(STORE, Fact::PowerLost { side: Side::Receiver }),
        base().say(STORE, Fact::DatabaseUp { side: Side::Receiver, up: false }),
    ];
    for (number, one) in variants.iter().enumerate() {
        for other in &variants[..number] {
            assert_ne!(key(one), key(other), "story {number}");
        }
    }
}

#[test]
fn a_clone_into_used_memory_and_a_reset_are_as_good_as_new() {
    let long = story().delivered(SHIPPED).deferred(SHIPPED, 1).delivered(PAID).applied(PAID, 0, 2);
    let long = long.woken(SHIPPED).say(STORE, Fact::BackedUp { side: Side::Receiver });
    let short = story().delivered(OLD).claims(OLD, 1, 1);
    let mut used = after(&long);
    used.clone_from(&after(&short));
    let mut packed = Vec::new();
    used.pack(&short.terms, short.at, Names::default(), &mut packed);
    assert_eq!(packed, key(&short));
    used.reset();
    packed.clear();
    used.pack(&short.terms, short.at, Names::default(), &mut packed);
    assert_eq!(packed, key(&story()));
}
