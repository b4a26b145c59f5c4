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

/// Numbers that look random and are the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A few more lines, sooner or later.
    fn lines(&mut self, told: Story) -> Story {
        let waits = [0, 0, 0, 1, SECOND, 4 * SECOND, MINUTE, 5 * MINUTE, HOUR];
        let told = told.after(self.of(&waits)).worker(self.below(2) as u8);
        let e = self.of(&[PAID, PAID_AGAIN, SHIPPED, SHIPPED, STEP_1, STEP_2]);
        let (fence, strike) = (1 + self.below(3) as u32, 1 + self.below(2) as u16);
        match self.below(12) {
            0..3 => self.at_the_door(told, e),
            3..5 => told.claims(e, fence, strike),
            5..9 => self.at_work(told, e, fence, strike),
            9 => self.by_people(told, e),
            _ => self.in_the_world(told),
        }
    }

    fn at_the_door(&mut self, told: Story, e: Event) -> Story {
        let attempt = 1 + self.below(2) as u32;
        match self.below(8) {
            0..3 => told.delivered(e),
            3 => told.arrives(e, attempt),
            4 => told.arrives_as(DOOR, e, attempt, 77, Authentic::Yes),
            5 => told.receives(e),
            6 => told.answers(e, attempt, self.of(&[200, 200, 503, 409])),
            _ => told.say(DOOR, self.of(&[Fact::RolledBackByDatabase, Fact::Crashed])),
        }
    }

    fn at_work(&mut self, told: Story, e: Event, fence: u32, strike: u16) -> Story {
        let (from, to) = self.of(&[(0, 2), (2, 3), (0, 1), (1, 2), (2, 2)]);
        let outcome = self.of(&[HandlerOutcome::Done, HandlerOutcome::Failed]);
        match self.below(14) {
            0..3 => told.applies(e, fence, from, to),
            3 => told.moves(e, from, to),
            4 => told.effect(e),
            5 => told.worked(e, fence, self.of(&[Verdict::AlreadyBooked, Verdict::Overtaken])),
            6..8 => told.defers(e, fence, self.of(&[24 * HOUR, 23 * HOUR])),
            8 => told.woken(e),
            9 => told.runs(e, outcome),
            10 => told.fails(e, fence, WorkFault::Event, strike, self.of(&[MINUTE, 5 * MINUTE])),
            11 => told.fails(e, fence, WorkFault::Infrastructure, 0, SECOND),
            12 => told.told(e, self.of(&[1, 2]), 0),
            _ => told.sets_aside(e, fence, self.of(&[Reason::DeferralCap, Reason::WorkerLost])),
        }
    }

    fn by_people(&mut self, told: Story, e: Event) -> Story {
        match self.below(5) {
            0 => told.replayed(e, Replayed::Accepted),
            1 => told.booked(e),
            2 => told.after(self.of(&[0, 91 * 24 * HOUR])).purged(e),
            3 => told.alert_sent(e),
            _ => told.called(e, self.below(2), self.below(2) == 0),
        }
    }

    fn in_the_world(&mut self, told: Story) -> Story {
        let side = Side::Receiver;
        let fact = match self.below(7) {
            0 => Fact::BackedUp { side },
            1 => Fact::Restored { side, taken: Millis(0) },
            2 => Fact::PowerLost { side },
            3 => Fact::ClockJumped { by_ms: self.of(&[60_000, -60_000, -3_600_000]) },
            4 => Fact::DatabaseUp { side, up: self.below(2) == 0 },
            5 => return told.work(Fact::Crashed),
            _ => return told.ends(),
        };
        told.say(STORE, fact)
    }
}

/// Where a history stands: what is known of it, and when.
type Known = (Receiving, Millis);

fn known(story: &Story) -> Option<Known> {
    let mut monitor = Receiving::default();
    let mut danger = Danger::default();
    let good = story.lines.iter().all(|line| {
        line.fact != Fact::Ended && monitor.observe(&story.terms, line, &mut danger).is_ok()
    });
    good.then_some((monitor, story.at))
}

/// Which promise the lines break from here, and at which of them.
fn future(from: &Known, lines: &Story) -> Option<(usize, Promise)> {
    let (mut monitor, mut danger) = (from.0.clone(), Danger::default());
    for (number, line) in lines.lines.iter().enumerate() {
        let line = Line { at: from.1 + line.at.0, ..*line };
        let mut verdict = monitor.observe(&lines.terms, &line, &mut danger);
        if line.fact == Fact::Ended && verdict.is_ok() {
            verdict = monitor.end(&lines.terms, line.at, &mut danger);
        }
        if let Err(breach) = verdict {
            return Some((number, breach.promise));
        }
    }
    None
}

/// Whatever comes, as long as it is good.
fn drawn(draw: &mut Draw, start: &Story) -> Story {
    let mut story = start.clone();
    for _ in 0..3 + draw.below(30) {
        let next = draw.lines(story.clone());
        if known(&next).is_some() {
            story = next;
        }
    }
    story.after(draw.of(&[0, 0, 1, SECOND, MINUTE, HOUR, 24 * HOUR]))
}

#[test]
fn histories_with_equal_keys_have_equal_futures() {
    use std::collections::BTreeMap;
    for start in [story(), timely()] {
        let start = start.delivered(PAID).delivered(SHIPPED);
        let (mut draw, mut seen) = (Draw(1), BTreeMap::<Vec<u8>, Known>::new());
        let mut merged = 0;
        for _ in 0..2_500 {
            let story = drawn(&mut draw, &start);
            let here = known(&story).expect("a good history");
            let Some(there) = seen.get(&key(&story)) else {
                seen.insert(key(&story), here);
                continue;
            };
            merged += 1;
            for _ in 0..60 {
                let mut lines = Story { lines: Vec::new(), at: Millis(0), ..story.clone() };
                for _ in 0..=draw.below(5) {
                    lines = draw.lines(lines);
                }
                assert_eq!(future(&here, &lines), future(there, &lines), "{:?}", lines.lines);
            }
        }
        assert!(merged > 30, "only {merged} histories met");
    }
}
