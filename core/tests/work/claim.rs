//! Claiming a receipt for work.

use super::*;

fn standing(stand: Stand) -> Receipt {
    Receipt { strikes: 2, fence: 3, cap: NOW + 9, stand, ..queued(PAID, 0) }
}

#[test]
fn a_claim_counts_the_strike_and_wakes_when_the_work_limit_is_over() {
    let plan = queued(PAID, 0).claim(NOW, &policy()).expect("due");
    let claimed = Receipt {
        rev: 5,
        stand: Stand::Queued { wake: NOW + 30_000 },
        strikes: 1,
        fence: 1,
        cap: NOW + DAY,
        ..queued(PAID, 0)
    };
    assert_eq!(plan.writes(), [put(4, claimed)]);
    let Claim::Work(job) = committed(plan) else { panic!("expected the right to work") };
    assert_eq!((job.receipt(), job.fence()), (Id(7), 1));
}

#[test]
fn the_cap_counts_from_the_first_claim_so_that_an_outage_does_not_use_it_up() {
    let late = NOW + 3 * DAY;
    let (first, _) = claimed(&queued(PAID, 0), late);
    assert_eq!(first.cap, late + DAY);
    let (second, _) = claimed(&first, late + MINUTE);
    assert_eq!(second.cap, late + DAY, "and from that one alone");
}

#[test]
fn a_claim_counts_on_from_where_the_row_stands() {
    let (row, job) = claimed(&standing(Stand::Retrying { wake: NOW }), NOW);
    let stand = Stand::Retrying { wake: NOW + 30_000 };
    assert_eq!(row, Receipt { rev: 5, strikes: 3, fence: 4, ..standing(stand) });
    assert_eq!(job.fence(), 4);
}

#[test]
fn a_deferred_receipt_at_work_is_out_of_reach_of_wakes() {
    let (row, _) = claimed(&standing(Stand::Deferred { wake: NOW }), NOW);
    assert_eq!(row.stand, Stand::Queued { wake: NOW + 30_000 });
}

#[test]
fn nothing_is_worked_before_it_is_due() {
    let wake = NOW + 1;
    for stand in [Stand::Queued { wake }, Stand::Deferred { wake }, Stand::Retrying { wake }] {
        assert_eq!(standing(stand).claim(NOW, &policy()), None, "{stand:?}");
        assert!(standing(stand).claim(NOW + 1, &policy()).is_some(), "{stand:?}");
    }
}

#[test]
fn what_has_ended_is_not_worked() {
    for stand in [Stand::Done(End::Applied), Stand::Ignored, Stand::InReview(Reason::Impossible)] {
        assert_eq!(standing(stand).claim(NOW, &policy()), None, "{stand:?}");
    }
}

#[test]
fn the_fifth_claim_sets_aside_what_four_workers_died_on() {
    let mut receipt = queued(PAID, 0);
    for n in 0..4 {
        (receipt, _) = claimed(&receipt, NOW + n * 30_000);
    }
    let plan = receipt.claim(NOW + 4 * 30_000, &policy()).expect("due");
    assert_eq!(plan.writes(), in_review(receipt, Reason::WorkerLost));
    assert_eq!(committed(plan), Claim::SetAside);
    assert_eq!(receipt.strikes, 4);
}

#[test]
fn a_claim_that_was_taken_over_decides_nothing() {
    let (first, zombie) = claimed(&queued(PAID, 0), NOW);
    let (second, _) = claimed(&first, NOW + 30_000);
    let (model, entity) = (shop(Early::Wait), entity(NEW));
    let ground = ground(&entity, &model);
    let work = |row: &Receipt| zombie.work(row, &ground, NOW, &policy());
    assert_eq!(work(&second), None, "taken over");
    assert_eq!(work(&Receipt { id: Id(8), ..first }), None, "another row");
    assert!(work(&first).is_some());
    assert_eq!(zombie.fetched(&second, &ground, None, NOW, &policy()), None);
    assert!(zombie.fetched(&first, &ground, None, NOW, &policy()).is_some());
}

#[test]
fn what_has_ended_is_held_by_nobody() {
    let (row, job) = claimed(&queued(PAID, 0), NOW);
    let (model, entity) = (shop(Early::Wait), entity(NEW));
    for stand in [Stand::Done(End::Applied), Stand::Ignored, Stand::InReview(Reason::Failing)] {
        let ended = Receipt { stand, ..row };
        assert_eq!(job.work(&ended, &ground(&entity, &model), NOW, &policy()), None, "{stand:?}");
    }
}

#[test]
fn a_replay_revives_no_old_claim() {
    let (row, job) = claimed(&queued(PAID, 0), NOW);
    let done = Receipt { stand: Stand::Done(End::Applied), ..row };
    let warrant = hookproof_core::inbox::Warrant {
        by: Id(11),
        person_allowed: true,
        source_authorised: true,
        secret_unrevoked: true,
    };
    let replayed = committed(done.replay(&warrant, NOW, &policy()).expect("may be replayed"));
    let (model, entity) = (shop(Early::Wait), entity(NEW));
    assert_eq!(job.work(&replayed, &ground(&entity, &model), NOW, &policy()), None);
}
