//! What a claim, a wait and an end must be like: S2, S5, S6, S7, S11.

use hookproof_core::{Millis, profile::OnGone};

use super::{
    super::{Breach, Terms},
    patience_ms,
    rows::{Delivery, Phase, Row},
};
use crate::history::DeliveryNo;

pub(super) fn may_be_claimed(
    delivery: &Delivery,
    no: DeliveryNo,
    at: Millis,
) -> Result<(), Breach> {
    match delivery.row {
        Row::Open => hold!(
            at >= delivery.wake,
            S6,
            "delivery {} was claimed {} ms before its wait was over",
            no.0,
            delivery.wake.since(at)
        ),
        Row::Claimed => {
            may_be_taken_over(delivery, no, at)?;
            breaks!(S6, "a claim of delivery {} was lost, and is not shown as lost", no.0);
        }
        Row::Unborn => {
            breaks!(S1, "delivery {} was claimed, and no row of it committed", no.0);
        }
        Row::Acknowledged => {
            breaks!(S2, "delivery {} is acknowledged, and was claimed again", no.0);
        }
        Row::Failed => breaks!(S6, "delivery {} is used up, and was claimed again", no.0),
        Row::Cancelled => breaks!(S2, "delivery {} is cancelled, and was claimed", no.0),
    }
    Ok(())
}

pub(super) fn may_be_taken_over(
    delivery: &Delivery,
    no: DeliveryNo,
    at: Millis,
) -> Result<(), Breach> {
    hold!(
        at >= delivery.claim.lease,
        S5,
        "delivery {} has two owners for {} ms",
        no.0,
        delivery.claim.lease.since(at)
    );
    hold!(
        at >= delivery.wake,
        S6,
        "the delivery {} of a dead worker was claimed {} ms before its wait was over",
        no.0,
        delivery.wake.since(at)
    );
    Ok(())
}

/// The least and the most that a row may wait after the attempt on this rung.
fn wait_bounds(terms: &Terms, rung: u16) -> (u64, u64) {
    let at = usize::from(rung).wrapping_sub(1);
    let wait = terms.profile.ladder.waits_ms().get(at).copied().unwrap_or(0);
    (wait, wait + wait / 20)
}

/// A claim schedules what follows should its worker die: not before its request must have ended, nor
/// before the wait is over.
pub(super) fn claim_keeps_the_ladder(
    terms: &Terms,
    no: DeliveryNo,
    rung: u16,
    wait_ms: u64,
) -> Result<(), Breach> {
    let (wait, longest) = wait_bounds(terms, rung);
    let lease_ms = terms.profile.lease_ms();
    hold!(
        wait_ms >= lease_ms,
        S5,
        "the claim of delivery {} can be taken over after {wait_ms} ms, in mid-request",
        no.0
    );
    hold!(
        wait_ms >= wait && wait_ms <= longest.max(patience_ms(terms)),
        S6,
        "the delivery {} of a dead worker would wait {wait_ms} ms instead of {wait}",
        no.0
    );
    Ok(())
}

/// What is settled as a failure is over, and its worker knows how it ended.
pub(super) fn has_ended(delivery: &Delivery, no: DeliveryNo) -> Result<(), Breach> {
    hold!(
        delivery.claim.phase != Phase::InFlight,
        S7,
        "attempt {} of delivery {} was settled while its request was under way",
        delivery.attempt,
        no.0
    );
    Ok(())
}

/// A failure climbs: it waits as long as its rung says, longer only as its receiver asked.
pub(super) fn may_wait(
    terms: &Terms,
    delivery: &Delivery,
    no: DeliveryNo,
    wait_ms: u64,
) -> Result<(), Breach> {
    let claim = &delivery.claim;
    hold!(
        claim.phase != Phase::Acknowledged,
        S2,
        "attempt {} of delivery {} was acknowledged, and is to be repeated",
        delivery.attempt,
        no.0
    );
    hold!(
        claim.phase != Phase::Gone || terms.profile.on_gone == OnGone::Climb,
        S6,
        "delivery {} climbs on after a 410 that ends it",
        no.0
    );
    hold!(
        delivery.rung < terms.profile.ladder.attempts(),
        S6,
        "delivery {} climbs beyond its ladder",
        no.0
    );
    if claim.hurried {
        hold!(
            wait_ms <= terms.poll_ms,
            S11,
            "a person asked for delivery {} at once, and it is to wait {wait_ms} ms",
            no.0
        );
        return Ok(());
    }
    let (wait, longest) = wait_bounds(terms, delivery.rung);
    hold!(
        wait_ms >= wait && wait_ms <= longest.max(claim.retry_after_ms),
        S6,
        "delivery {} is to wait {wait_ms} ms instead of {wait}",
        no.0
    );
    Ok(())
}

pub(super) fn may_fail(
    terms: &Terms,
    delivery: &Delivery,
    no: DeliveryNo,
    known: bool,
) -> Result<(), Breach> {
    let phase = delivery.claim.phase;
    hold!(
        phase != Phase::Acknowledged,
        S2,
        "attempt {} of delivery {} was acknowledged, and the delivery failed",
        delivery.attempt,
        no.0
    );
    let gone = phase == Phase::Gone && terms.profile.on_gone != OnGone::Climb;
    hold!(
        gone || delivery.rung == terms.profile.ladder.attempts(),
        S6,
        "delivery {} failed on rung {} of {}",
        no.0,
        delivery.rung,
        terms.profile.ladder.attempts()
    );
    hold!(
        !known || matches!(phase, Phase::Refused | Phase::Gone),
        S7,
        "the end of attempt {} of delivery {} is unknown, and shown as known",
        delivery.attempt,
        no.0
    );
    if gone { Ok(()) } else { may_be_used_up(terms, delivery, no) }
}

/// A used-up cycle made all its requests, but for the claims that died with their worker.
pub(super) fn may_be_used_up(
    terms: &Terms,
    delivery: &Delivery,
    no: DeliveryNo,
) -> Result<(), Breach> {
    let made = delivery.requests + delivery.lost;
    hold!(
        made >= terms.profile.ladder.attempts() || delivery.adrift,
        S6,
        "delivery {} is used up after {} requests and {} lost claims",
        no.0,
        delivery.requests,
        delivery.lost
    );
    Ok(())
}
