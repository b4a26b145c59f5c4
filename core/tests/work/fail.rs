//! Failures, after their transaction was rolled back.

use hookproof_core::work::{Failed, Fault};

use super::*;

fn failed(receipt: &Receipt, fault: Fault) -> (Receipt, Plan<Failed>) {
    let (row, job) = claimed(receipt, NOW);
    (row, job.fail(&row, fault, NOW, 0, &policy()).expect("still held"))
}

#[test]
fn a_failing_event_climbs_the_inbox_ladder_and_the_fourth_failure_sets_it_aside() {
    for (strikes, wait) in [(0, MINUTE), (1, 5 * MINUTE), (2, 15 * MINUTE)] {
        let (claimed, plan) = failed(&Receipt { strikes, ..queued(PAID, 0) }, Fault::Event);
        let wake = NOW + wait;
        let stand = Stand::Retrying { wake };
        let row = Receipt { rev: 6, fence: 2, strikes: strikes + 1, stand, ..claimed };
        assert_eq!(plan.writes(), [put(5, row)]);
        assert_eq!(committed(plan), Failed::Retrying { wake });
    }
    let (claimed, plan) = failed(&Receipt { strikes: 3, ..queued(PAID, 0) }, Fault::Event);
    assert_eq!(plan.writes(), in_review(claimed, Reason::Failing));
    assert_eq!(committed(plan), Failed::SetAside(Reason::Failing));
}

#[test]
fn jitter_lengthens_the_wait_of_a_failing_event() {
    let (row, job) = claimed(&queued(PAID, 0), NOW);
    let plan = job.fail(&row, Fault::Event, NOW, 3_000, &policy()).expect("still held");
    assert_eq!(committed(plan), Failed::Retrying { wake: NOW + 63_000 });
}

#[test]
fn an_outage_climbs_nothing_and_leaves_the_event_what_it_was() {
    let wake = NOW + 1_000;
    let tired = Receipt { strikes: 3, fence: 6, ..queued(PAID, 0) };
    let stands = [
        (Stand::Queued { wake: NOW }, Stand::Queued { wake }),
        (Stand::Retrying { wake: NOW }, Stand::Retrying { wake }),
    ];
    for (before, after) in stands {
        let (claimed, plan) = failed(&Receipt { stand: before, ..tired }, Fault::Infrastructure);
        let row = Receipt { rev: 6, fence: 8, strikes: 3, stand: after, ..claimed };
        assert_eq!(plan.writes(), [put(5, row)]);
        assert_eq!(committed(plan), Failed::Retrying { wake });
    }
}

#[test]
fn a_long_outage_sets_nothing_aside() {
    let mut receipt = queued(PAID, 0);
    for n in 0..50 {
        let (row, job) = claimed(&receipt, NOW + n * 1_000);
        let plan = job.fail(&row, Fault::Infrastructure, NOW + n * 1_000, 0, &policy());
        receipt = super::row(&plan.expect("still held"));
    }
    assert_eq!((receipt.strikes, receipt.wake()), (0, Some(NOW + 50_000)));
}

#[test]
fn a_recorded_failure_spends_the_claim() {
    for fault in [Fault::Event, Fault::Infrastructure] {
        let (claimed, job) = claimed(&queued(PAID, 0), NOW);
        let plan = job.fail(&claimed, fault, NOW, 0, &policy()).expect("still held");
        assert_eq!(job.fail(&row(&plan), fault, NOW, 0, &policy()), None, "{fault:?}");
    }
}

#[test]
fn a_zombie_fails_nothing() {
    let (first, zombie) = claimed(&queued(PAID, 0), NOW);
    let (second, _) = claimed(&first, NOW + 30_000);
    for fault in [Fault::Event, Fault::Infrastructure] {
        assert_eq!(zombie.fail(&second, fault, NOW, 0, &policy()), None, "{fault:?}");
    }
}
