use super::*;
use crate::oracle::Names;

fn key(tale: &Tale) -> Vec<u8> {
    let (mut sending, mut danger) = (Sending::default(), Danger::default());
    for line in &tale.lines {
        sending.observe(&tale.terms, line, &mut danger).expect("a good history");
    }
    let mut key = Vec::new();
    sending.pack(&tale.terms, tale.now, Names::default(), &mut key);
    key
}

fn explored() -> Tale {
    due().untimely()
}

#[test]
fn a_key_holds_no_absolute_time() {
    let shift = |tale: &Tale| {
        let mut later = tale.clone();
        later.now = later.now + 777;
        for line in &mut later.lines {
            line.at = line.at + 777;
        }
        later
    };
    for tale in [
        explored(),
        explored().claimed(0, 1, 1),
        explored().attempt(0, 1, 1, REFUSED),
        explored().refused(0, 1, 1).pass(100),
        due().refused(0, 1, 1).pass(100),
        due().crashed(0).pass(100),
    ] {
        assert_eq!(key(&tale), key(&shift(&tale)));
    }
}

#[test]
fn a_wait_that_is_over_is_over_however_long() {
    let waits = explored().with(|profile| profile.resend_window_ms = 0).refused(0, 1, 1);
    let over = key(&waits.clone().pass(WAITS[0] + 1));
    assert_eq!(over, key(&waits.clone().pass(60 * MINUTE)));
    assert_ne!(over, key(&waits.clone().pass(WAITS[0])));
    assert_ne!(over, key(&waits.pass(WAITS[0] - 1)));
}

#[test]
fn what_tells_the_future_apart_is_in_the_key() {
    let tales = [
        tale().untimely(),
        tale().untimely().committed(0),
        tale().untimely().committed(0).fanned(0, 0, 0),
        explored(),
        explored().claimed(0, 1, 1),
        explored().claimed(0, 1, 1).by(1),
        explored().claimed(0, 1, 1).requested(0, 1),
        explored().claimed(0, 1, 1).requested(0, 1).answered(0, 1, 200),
        explored().claimed(0, 1, 1).resent(0, Resent::PulledForward),
        explored().claimed(0, 1, 1).crashed(0),
        explored().attempt(0, 1, 1, REFUSED),
        explored().attempt(0, 1, 1, Outcome::Unknown),
        explored().refused(0, 1, 1),
        explored().acknowledged(0),
        explored().acknowledged(0).resent(0, Resent::Opened { cycle: 2 }),
        explored().used_up(0),
        explored().restored(Millis(0)),
        explored().life(0, EndpointLife::Paused),
    ];
    for (n, tale) in tales.iter().enumerate() {
        let same = tales[..n].iter().filter(|other| key(other) == key(tale)).count();
        let expected = usize::from(n == 5);
        assert_eq!(same, expected, "history {n}");
    }
}

#[test]
fn a_clone_keeps_its_buffers_and_its_key() {
    let tale = explored().claimed(0, 1, 1).requested(0, 1);
    let (mut sending, mut danger) = (Sending::default(), Danger::default());
    for line in &tale.lines {
        sending.observe(&tale.terms, line, &mut danger).expect("a good history");
    }
    let mut copy = Sending::default();
    copy.clone_from(&sending);
    let buffer = copy.deliveries.as_ptr();
    copy.reset();
    copy.clone_from(&sending);
    assert_eq!(copy.deliveries.as_ptr(), buffer);
    let mut copied = Vec::new();
    copy.pack(&tale.terms, tale.now, Names::default(), &mut copied);
    assert_eq!(copied, key(&tale));
}

/// Numbers that look random and are the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }

    /// One more line about a delivery or its neighbour, sooner or later.
    fn line(&mut self, tale: Tale) -> Tale {
        let waits = [0, 1, 1_000, 5_000, 10_000, LEASE, MINUTE, 2 * MINUTE];
        let tale = tale.pass(waits[self.below(8) as usize]).by(self.below(2) as u8);
        let (d, n) = (self.below(2) as u32, 1 + self.below(3) as u32);
        let (rung, cycle) = (1 + self.below(3) as u16, 1 + self.below(2) as u16);
        let wait_ms = [0, WAITS[0], WAITS[1]][self.below(3) as usize];
        match self.below(24) {
            0..4 => tale.claimed_as(d, n, rung, cycle, n),
            4..8 => tale.requested(d, n),
            8 => tale.responded(d, n, Outcome::Acknowledged),
            9..11 => tale.responded(d, n, REFUSED),
            11 => tale.responded(d, n, Outcome::Unknown),
            12 => tale.settled(d, n, DeliveryStand::Acknowledged),
            13..15 => tale.settled(d, n, DeliveryStand::Waiting { wait_ms }),
            15 => tale.claim_lost(d, n),
            16 => tale.released(d, n),
            17 => tale.resent(d, Resent::PulledForward),
            18 => tale.resent(d, Resent::Opened { cycle }),
            19 => tale.crashed(0),
            20 => tale.answered(d, n, if self.below(2) == 0 { 200 } else { 503 }),
            21 => tale.fault(Node::Relay(0), Family::Stall),
            22 => tale.clock([60_000, -60_000][self.below(2) as usize]),
            _ => tale.ended(),
        }
    }
}

/// Where a history stands: what is known of it, and when.
type Known = (Sending, Millis);

fn known(tale: &Tale) -> Option<Known> {
    let (mut sending, mut danger) = (Sending::default(), Danger::default());
    let good = tale.lines.iter().all(|line| {
        let verdict = sending.observe(&tale.terms, line, &mut danger);
        verdict.is_ok() && (line.fact != Fact::Ended || sending.end().is_ok())
    });
    good.then_some((sending, tale.now))
}

/// Which promise the lines break from here, and at which of them.
fn future(from: &Known, lines: &Tale) -> Option<(usize, Promise)> {
    let (mut sending, mut danger) = (from.0.clone(), Danger::default());
    for (n, line) in lines.lines.iter().enumerate() {
        let line = Line { at: from.1 + line.at.0, ..*line };
        let mut verdict = sending.observe(&lines.terms, &line, &mut danger);
        if line.fact == Fact::Ended && verdict.is_ok() {
            verdict = sending.end();
        }
        if let Err(breach) = verdict {
            return Some((n, breach.promise));
        }
    }
    None
}

/// Two deliveries of one endpoint, and then whatever comes, as long as it is good.
fn drawn(draw: &mut Draw, start: &Tale) -> Tale {
    let mut tale = start.clone();
    for _ in 0..3 + draw.below(40) {
        let next = draw.line(tale.clone());
        if known(&next).is_some() {
            tale = next;
        }
    }
    tale.pass([0, 1, 1_000, LEASE, MINUTE, 10 * MINUTE][draw.below(6) as usize])
}

#[test]
fn histories_with_equal_keys_have_equal_futures() {
    use std::collections::BTreeMap;
    for start in [explored(), due()] {
        let start = start.committed(1).fanned(1, 0, 1).fan_out_done(1, 1);
        let (mut draw, mut seen) = (Draw(1), BTreeMap::<Vec<u8>, Known>::new());
        let mut merged = 0;
        for _ in 0..2_000 {
            let tale = drawn(&mut draw, &start);
            let here = known(&tale).expect("a good history");
            let mut key = Vec::new();
            here.0.pack(&tale.terms, here.1, Names::default(), &mut key);
            let Some(there) = seen.get(&key) else {
                seen.insert(key, here);
                continue;
            };
            merged += 1;
            for _ in 0..60 {
                let mut lines = Tale { lines: Vec::new(), now: Millis(0), ..tale.clone() };
                for _ in 0..=draw.below(5) {
                    lines = draw.line(lines);
                }
                assert_eq!(future(&here, &lines), future(there, &lines), "{:?}", lines.lines);
            }
        }
        assert!(merged > 40, "only {merged} histories met");
    }
}
