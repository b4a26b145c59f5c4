//! Events that come too early, and what is shown of them.

use super::*;

/// A receipt as its claim left it, deferred until then.
fn deferred(claimed: Receipt, wake: Millis) -> Write {
    let (strikes, fence) = (claimed.strikes - 1, claimed.fence + 1);
    put(5, Receipt { rev: 6, strikes, fence, stand: Stand::Deferred { wake }, ..claimed })
}

#[test]
fn an_early_event_sleeps_until_the_timer_and_gives_its_strike_back() {
    let (model, before) = (shop(Early::Wait), entity(NEW));
    let tired = Receipt { strikes: 2, ..queued(SHIPPED, 0) };
    let (claimed, plan) = work(&tired, &ground(&before, &model));
    let wake = NOW + 5 * MINUTE;
    assert_eq!(plan.writes(), [held(before), deferred(claimed, wake)]);
    assert_eq!(row(&plan).strikes, 2);
    assert_eq!(committed(plan), Worked::Deferred { wake });
}

#[test]
fn a_recorded_deferral_spends_the_claim() {
    let (model, before) = (shop(Early::Wait), entity(NEW));
    let (claimed, job) = claimed(&queued(SHIPPED, 0), NOW);
    let ground = ground(&before, &model);
    let plan = job.work(&claimed, &ground, NOW, &policy()).expect("still held");
    assert_eq!(job.work(&row(&plan), &ground, NOW, &policy()), None);
}

#[test]
fn a_deferral_ends_at_its_cap_and_the_timer_does_not_oversleep_it() {
    let (model, before) = (shop(Early::Wait), entity(NEW));
    let at = |cap| {
        let waiting = Receipt { fence: 1, cap, ..queued(SHIPPED, 0) };
        work(&waiting, &ground(&before, &model))
    };
    let (_, plan) = at(NOW + MINUTE);
    assert_eq!(committed(plan), Worked::Deferred { wake: NOW + MINUTE });
    let (_, plan) = at(NOW + 1);
    assert_eq!(committed(plan), Worked::Deferred { wake: NOW + 1 });
    let (claimed, plan) = at(NOW);
    let [row, alert] = in_review(claimed, Reason::DeferralCap);
    assert_eq!(plan.writes(), [held(before), row, alert]);
    assert_eq!(committed(plan), Worked::SetAside(Reason::DeferralCap));
}

#[test]
fn an_event_whose_turn_has_come_is_applied_even_past_its_cap() {
    let (model, before) = (shop(Early::Wait), entity(PAID));
    let waiting = Receipt { fence: 1, cap: NOW, ..queued(SHIPPED, 0) };
    let (_, plan) = work(&waiting, &ground(&before, &model));
    assert_eq!(committed(plan), Worked::Done(End::Applied));
}

#[test]
fn a_gap_in_a_sequence_defers_what_lies_beyond_it() {
    let (model, before) = (numbered(Kind::Latest, Order::Sequence, Early::Wait), entity(NEW));
    let (claimed, plan) = work(&queued(PAID, 7), &ground(&before, &model));
    assert_eq!(plan.writes(), [held(before), deferred(claimed, NOW + 5 * MINUTE)]);
}

#[test]
fn an_early_event_is_shown_as_projected_where_the_type_asks_for_it() {
    let (model, before) = (shop(Early::Project), entity(NEW));
    let (claimed, plan) = work(&queued(SHIPPED, 0), &ground(&before, &model));
    let shown = Entity { projected: Some(SHIPPED), ..before };
    let wake = NOW + 5 * MINUTE;
    assert_eq!(plan.writes(), [changed(before, shown), deferred(claimed, wake)]);
}

#[test]
fn what_is_shown_already_is_not_written_again() {
    let (model, shown) = (shop(Early::Project), Entity { projected: Some(SHIPPED), ..entity(NEW) });
    let (_, plan) = work(&queued(SHIPPED, 0), &ground(&shown, &model));
    assert_eq!(plan.writes()[0], held(shown));
}

#[test]
fn of_two_early_events_the_one_further_ahead_is_shown() {
    let model = chain(Kind::Latest, Early::Project);
    let showing = |projected| Entity { projected: Some(projected), ..entity(NEW) };
    let (_, plan) = work(&queued(PAID, 0), &ground(&showing(SHIPPED), &model));
    assert_eq!(plan.writes()[0], held(showing(SHIPPED)));
    let (_, plan) = work(&queued(SHIPPED, 0), &ground(&showing(PAID), &model));
    assert_eq!(plan.writes()[0], changed(showing(PAID), showing(SHIPPED)));
}

#[test]
fn a_projection_ends_when_its_state_is_reached_or_passed() {
    let model = shop(Early::Project);
    for (projected, to, left) in [
        (PAID, PAID, None),
        (CONFIRMING, PAID, None),
        (SHIPPED, PAID, Some(SHIPPED)),
        (SHIPPED, CONFIRMING, Some(SHIPPED)),
    ] {
        let before = Entity { projected: Some(projected), ..entity(NEW) };
        let (_, plan) = work(&queued(to, 0), &ground(&before, &model));
        let after = Entity { state: to, projected: left, ..before };
        assert_eq!(plan.writes()[0], changed(before, after), "{projected:?} {to:?}");
    }
}

#[test]
fn a_projection_ends_with_the_event_that_intended_it() {
    let model = shop(Early::Project);
    let shown = Entity { projected: Some(SHIPPED), ..entity(NEW) };
    let capped = Receipt { fence: 1, cap: NOW, ..queued(SHIPPED, 0) };
    let (claimed, plan) = work(&capped, &ground(&shown, &model));
    let [row, alert] = in_review(claimed, Reason::DeferralCap);
    assert_eq!(plan.writes(), [changed(shown, entity(NEW)), row, alert]);
}

#[test]
fn a_projection_outlives_the_end_of_another_event() {
    let model = shop(Early::Project);
    let shown = Entity { projected: Some(SHIPPED), ..entity(PAID) };
    let (claimed, plan) = work(&queued(CONFIRMING, 0), &ground(&shown, &model));
    assert_eq!(plan.writes(), [held(shown), done(claimed, End::Overtaken)]);
    let (_, plan) = work(&queued(State(63), 0), &ground(&entity(PAID), &model));
    assert_eq!(plan.writes()[0], held(entity(PAID)), "an unknown event intended nothing");
}
