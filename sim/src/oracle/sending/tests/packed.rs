use super::*;

fn key(tale: &Tale) -> Vec<u8> {
    let (mut sending, mut danger) = (Sending::default(), Danger::default());
    for line in &tale.lines {
        sending.observe(&tale.terms, line, &mut danger).expect("a good history");
    }
    let mut key = Vec::new();
    sending.pack(&tale.terms, tale.now, &mut key);
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
    assert_eq!(over, key(&waits.clone().pass(HOUR)));
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
    copy.pack(&tale.terms, tale.now, &mut copied);
    assert_eq!(copied, key(&tale));
}

const HOUR: u64 = 60 * MINUTE;
