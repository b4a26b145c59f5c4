use super::*;

const HOUR: u64 = 60 * MINUTE;

#[test]
fn a_crash_at_any_point_is_survived() {
    let restarted = due().crashed(0).pass(3_000).restarted(0).claimed(0, 1, 1);
    restarted.acknowledged_as(1).ended().passes();
    let claimed = due().claimed(0, 1, 1).crashed(0).restarted(0).pass(MINUTE).claim_lost(0, 1);
    claimed.attempt(0, 2, 2, Outcome::Acknowledged).settled_as(2).ended().endangers(Promise::S2);
    let told = due().attempt(0, 1, 1, Outcome::Acknowledged).crashed(0).restarted(0);
    let again = told.pass(MINUTE).claim_lost(0, 1).attempt(0, 2, 2, Outcome::Acknowledged);
    again.settled_as(2).ended().endangers(Promise::S2);
}

impl Tale {
    fn acknowledged_as(self, attempt: u32) -> Self {
        self.requested(0, attempt).responded(0, attempt, Outcome::Acknowledged).settled_as(attempt)
    }

    fn settled_as(self, attempt: u32) -> Self {
        self.settled(0, attempt, DeliveryStand::Acknowledged)
    }
}

#[test]
fn a_commit_whose_answer_is_lost_is_looked_at_again() {
    let unknown = due().claimed(0, 1, 1).relay(Fact::CommitUnknown).pass(MINUTE).claim_lost(0, 1);
    unknown.claimed(0, 2, 2).acknowledged_as(2).ended().passes();
    let told = due().attempt(0, 1, 1, Outcome::Acknowledged).settled_as(1);
    let told = told.relay(Fact::CommitUnknown).pass(1_000);
    told.relay(Fact::Fenced { delivery: DeliveryNo(0), fence: 1 }).ended().passes();
}

#[test]
fn a_clock_that_jumps_forward_ends_waits_and_leases() {
    let waits = due().refused(0, 1, 1).clock(3_600_000);
    waits.claimed(0, 2, 2).passes();
    let held = due().claimed(0, 1, 1).clock(3_600_000).by(1).claim_lost(0, 1).claimed(0, 2, 2);
    held.clone().by(0).requested(0, 1).by(1).requested(0, 2).passes();
    held.by(0).pass(6_000).requested(0, 1).breaks(Promise::S5);
}

#[test]
fn a_clock_that_goes_back_puts_off_and_excuses() {
    let waits = due().refused(0, 1, 1).clock(-3_600_000);
    waits.clone().pass(HOUR).pass(MINUTE).claimed(0, 2, 2).passes();
    waits.clone().pass(MINUTE).claimed(0, 2, 2).passes();
    waits.pass(10_000).claimed(0, 2, 2).breaks(Promise::S6);
}

#[test]
fn a_restore_puts_rows_back_and_they_are_held_to_their_ladder_again() {
    let restored = due().refused(0, 1, 1).pass(MINUTE).refused(0, 2, 2).restored(Millis(0));
    let restored = restored.crashed(0).restarted(0).pass(5_000);
    restored.clone().ended().passes();
    let again = restored.clone().claimed_as(0, 1, 1, 1, 1).requested_as(0, 1, 1, 100);
    again.clone().requested_as(0, 1, 1, 100).breaks(Promise::S6);
    let again = again.responded(0, 1, REFUSED);
    again.clone().settled(0, 1, DeliveryStand::Waiting { wait_ms: 0 }).breaks(Promise::S6);
    let again = again.settled(0, 1, DeliveryStand::Waiting { wait_ms: WAITS[0] });
    again.clone().claimed(0, 2, 2).breaks(Promise::S6);
    again.ended().breaks(Promise::S2);
    restored.claimed_as(0, 9, 2, 1, 9).breaks(Promise::S6);
}

#[test]
fn a_restore_takes_events_and_ends_away() {
    let restored = due().acknowledged(0).committed(1).restored(Millis(0));
    restored.clone().ended().passes();
    restored.clone().claimed_as(0, 1, 1, 1, 1).passes();
    restored.clone().committed(1).fanned(1, 0, 1).fan_out_done(1, 1).passes();
    restored.fanned(0, 0, 0).fan_out_done(0, 1).claimed_as(0, 1, 1, 1, 1).passes();
}

#[test]
fn a_life_that_a_restore_may_have_undone_is_open() {
    let turned = tale().life(0, EndpointLife::Paused).life(0, EndpointLife::Resumed).committed(0);
    turned.restored(Millis(0)).committed(1).fan_out_done(1, 0).passes();
    let steady = tale().committed(0).restored(Millis(0)).committed(1);
    steady.fan_out_done(1, 0).breaks(Promise::S12);
}

#[test]
fn a_sender_that_stands_still_for_days_is_not_late() {
    let asleep = due().refused(0, 1, 1).fault(Node::Relay(0), Family::Stall).pass(48 * HOUR);
    asleep.claimed(0, 2, 2).passes();
}
