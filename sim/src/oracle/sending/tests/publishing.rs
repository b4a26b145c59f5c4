use super::*;
use crate::history::Published;

fn published(tale: Tale, answer: Published) -> Tale {
    tale.line(Node::App, Fact::Published { event: EventNo(0), other_body: false, answer })
}

fn swept(tale: Tale) -> Tale {
    tale.relay(Fact::Swept { event: EventNo(0) })
}

#[test]
fn a_request_before_the_commit_breaks_s1() {
    tale().requested(0, 1).breaks(Promise::S1);
    tale().committed(0).requested(0, 1).breaks(Promise::S1);
}

#[test]
fn a_row_of_an_event_that_never_committed_breaks_s1() {
    tale().fanned(0, 0, 0).breaks(Promise::S1);
    let rolled_back = tale().line(Node::App, Fact::RolledBack { event: EventNo(0) });
    rolled_back.clone().fanned(0, 0, 0).breaks(Promise::S1);
    rolled_back.clone().fan_out_done(0, 0).breaks(Promise::S1);
    rolled_back.committed(0).fanned(0, 0, 0).fan_out_done(0, 1).endangers(Promise::S1);
}

#[test]
fn a_claim_of_a_row_that_is_not_there_breaks_s1() {
    tale().committed(0).claimed(0, 1, 1).breaks(Promise::S1);
}

#[test]
fn an_event_that_nobody_fans_out_is_lost() {
    tale().committed(0).ended().breaks(Promise::S2);
}

#[test]
fn an_event_is_not_processed_while_a_delivery_of_it_is_not_acknowledged() {
    let two = tale().endpoint(1).committed(0).fanned(0, 0, 0).fanned(0, 1, 1).fan_out_done(0, 2);
    swept(two.clone().acknowledged(0)).breaks(Promise::S12);
    swept(two.clone().acknowledged(0).refused(1, 1, 1)).breaks(Promise::S2);
    swept(two.acknowledged(0).acknowledged(1)).passes();
    swept(due().used_up(0)).breaks(Promise::S2);
    swept(tale().committed(0)).breaks(Promise::S2);
}

#[test]
fn an_event_is_processed_once() {
    let told = swept(due().acknowledged(0));
    swept(told.clone()).breaks(Promise::S12);
    let taken = told.now;
    swept(told.pass(MINUTE).restored(taken)).passes();
    let nobody = tale().life(0, EndpointLife::Unsubscribed).committed(0).fan_out_done(0, 0);
    swept(nobody).breaks(Promise::S12);
}

#[test]
fn an_id_that_a_delivery_has_is_no_other_deliverys() {
    due().committed(1).fanned(1, 0, 0).breaks(Promise::S3);
    due().committed(1).fanned(1, 0, 1).fan_out_done(1, 1).passes();
}

#[test]
fn each_subscribed_endpoint_gets_its_delivery_and_no_other() {
    let two = tale().endpoint(1).committed(0).fanned(0, 0, 0);
    two.clone().fan_out_done(0, 1).breaks(Promise::S12);
    two.clone().fanned(0, 0, 1).breaks(Promise::S12);
    two.clone().fanned(0, 2, 2).breaks(Promise::S12);
    two.clone().fanned(0, 1, 1).fan_out_done(0, 3).breaks(Promise::S12);
    two.clone().ended().breaks(Promise::S12);
    two.fanned(0, 1, 1).fan_out_done(0, 2).endangers(Promise::S12);
}

#[test]
fn a_fan_out_happens_once() {
    due().fan_out_done(0, 1).breaks(Promise::S12);
    due().fanned(0, 0, 7).breaks(Promise::S12);
}

#[test]
fn an_event_that_nobody_wants_is_closed_as_such() {
    let nobody = tale().life(0, EndpointLife::Unsubscribed).committed(0);
    nobody.clone().ended().breaks(Promise::S12);
    nobody.clone().fan_out_closed(0, 0, false).breaks(Promise::S12);
    nobody.fan_out_done(0, 0).ended().passes();
    tale().committed(0).fanned(0, 0, 0).fan_out_closed(0, 1, true).breaks(Promise::S12);
}

#[test]
fn a_paused_endpoint_is_subscribed_and_one_that_leaves_meanwhile_is_optional() {
    let paused = tale().life(0, EndpointLife::Paused).committed(0);
    paused.fan_out_done(0, 0).breaks(Promise::S12);
    let leaves = tale().committed(0).life(0, EndpointLife::Deleted);
    leaves.clone().fan_out_done(0, 0).ended().passes();
    let gone = DeliveryStand::Cancelled { reason: Reason::EndpointGone };
    let cancelled = leaves.fanned(0, 0, 0).fan_out_done(0, 1).closed(0, gone);
    cancelled.ended().endangers(Promise::S12);
}

#[test]
fn an_endpoint_that_registers_later_gets_nothing() {
    tale().committed(0).endpoint(1).fanned(0, 1, 1).breaks(Promise::S12);
}

#[test]
fn a_delivery_whose_row_is_not_there_in_the_end_was_never_made() {
    let two = tale().endpoint(1).committed(0).fanned(0, 0, 0).fanned(0, 1, 1).fan_out_done(0, 2);
    let stand = DeliveryStand::Acknowledged;
    let stands = Fact::DeliveryStands { delivery: DeliveryNo(0), stand, due: false };
    let tale = two.acknowledged(0).line(Node::Database(Side::Sender), stands);
    tale.ended().breaks(Promise::S12);
}

#[test]
fn one_key_is_one_event_and_a_yes_means_that_it_is_durable() {
    tale().committed(0).committed(0).breaks(Promise::S15);
    published(tale(), Published::Accepted).breaks(Promise::S15);
    published(tale(), Published::Duplicate).breaks(Promise::S15);
    let unknown = published(tale(), Published::Failed).committed(0);
    published(unknown, Published::Duplicate).endangers(Promise::S15);
}

#[test]
fn a_fan_out_behind_a_poisoned_event_is_late() {
    let stuck = due().committed(1).pass(2 * MINUTE);
    stuck.clone().fanned(1, 0, 1).fan_out_done(1, 1).breaks(Promise::S8);
    stuck.untimely().fanned(1, 0, 1).fan_out_done(1, 1).passes();
}
