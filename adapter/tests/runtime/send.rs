//! Sending: fan out, claim, sign, settle, sweep; resends and effects outside (S2 to S6, S11 to S14, R14).

use std::sync::Arc;

use hookproof::{EVERY_TYPE, NewEndpoint, NotDone, Outbox, SenderStore, Settled};
use hookproof_core::{
    Id, Reason,
    answer::Answer,
    handler::Handler,
    model::{Early, Kind, Model, Occurrence, Order, Rule, State, States},
    outbox::{NotResent, Resent, Stand},
    profile::Profile,
};

use crate::{
    bed::{Bed, Sql},
    post::{
        OTHER_SECRET, SECRET, body, endpoint, header, outbox, profile, publishes, register, round,
        stands, verify,
    },
    shop::{PAID, PAY, SHIPPED, Shop, arrives, partner, setup, work_through},
};

on_each_store!(
    an_event_reaches_each_subscriber_once_and_is_marked,
    an_attempt_has_the_same_id_and_bytes_and_a_signature_of_its_own,
    a_cycle_that_is_used_up_is_alerted_of_and_resent,
    a_full_lane_takes_no_more_and_holds_no_other_up,
    every_lane_has_its_turn,
    whoever_was_overtaken_settles_nothing,
    what_is_released_is_due_at_once_and_no_attempt,
    an_effect_outside_has_the_key_of_its_operation,
);

const OK: Answer = Answer::Status(200);
const PERSON: Id = Id(77);

async fn an_event_reaches_each_subscriber_once_and_is_marked<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    register(&outbox).await;
    outbox.register(&endpoint(&["order.paid"])).await.unwrap();
    outbox.register(&endpoint(&["order.shipped"])).await.unwrap();
    let stranger = NewEndpoint { account: "other".to_owned(), ..endpoint(&[EVERY_TYPE]) };
    outbox.register(&stranger).await.unwrap();
    publishes(&bed.store, "order_1", "order.paid").await;
    publishes(&bed.store, "order_2", "order.returned").await;
    let sent = round(&outbox, OK).await;
    assert_eq!(sent.len(), 3);
    for (sending, settled) in &sent {
        assert_eq!(*settled, Settled::Stands(Stand::Acknowledged));
        assert!(verify(&bed, sending, SECRET).is_ok());
        assert_eq!(sending.target.url(), crate::post::URL);
    }
    assert_eq!(round(&outbox, OK).await.len(), 0);
    let unmarked = "SELECT event_type FROM outbox_events WHERE processed_at IS NULL";
    assert_eq!(bed.store.count(unmarked).await, 2);
    assert_eq!(outbox.sweep().await, Ok(2));
    assert_eq!(bed.store.count(unmarked).await, 0);
}

async fn an_attempt_has_the_same_id_and_bytes_and_a_signature_of_its_own<S: Sql + SenderStore>(
    bed: Bed<S>,
) {
    let outbox = outbox(&bed);
    register(&outbox).await;
    let event = publishes(&bed.store, "order_1", "order.paid").await;
    let first = round(&outbox, Answer::NoAnswer).await.remove(0).0;
    bed.pass(63_001);
    let second = round(&outbox, Answer::Status(500)).await.remove(0).0;
    assert_eq!(first.body, body("order_1", "order.paid").into_bytes());
    assert_eq!(first.body, second.body);
    let id = uuid::Uuid::from_u128(event.0).to_string();
    assert_eq!(header(&first, "webhook-id"), Some(&*id));
    assert_eq!(header(&second, "webhook-id"), Some(&*id));
    assert_eq!(header(&first, "webhook-timestamp"), Some("1700000000"));
    assert_eq!(header(&second, "webhook-timestamp"), Some("1700000063"));
    assert!(verify(&bed, &second, SECRET).is_ok());
    assert!(verify(&bed, &second, OTHER_SECRET).is_err());
    assert_eq!(stands(&bed.store).await, ["pending"]);
}

async fn a_cycle_that_is_used_up_is_alerted_of_and_resent<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    register(&outbox).await;
    publishes(&bed.store, "order_1", "order.paid").await;
    let mut last = None;
    for _ in 0..3 {
        last = round(&outbox, Answer::Status(503)).await.pop();
        bed.pass(4_000_000);
    }
    let (sending, settled) = last.unwrap();
    assert_eq!(settled, Settled::Stands(Stand::Failed(Reason::Exhausted)));
    assert_eq!(bed.store.texts("SELECT reason FROM hookproof_alerts").await, ["exhausted"]);
    assert_eq!(outbox.sweep().await, Ok(0), "nobody has it");

    let delivery = sending.request.ticket().delivery;
    assert_eq!(outbox.resend(delivery, PERSON).await, Ok(Resent::Opened { cycle: 2 }));
    assert_eq!(outbox.resend(delivery, PERSON).await, Ok(Resent::PulledForward));
    let resent = round(&outbox, OK).await;
    assert_eq!(resent.len(), 1);
    assert_eq!(header(&resent[0].0, "webhook-id"), header(&sending, "webhook-id"));
    assert_eq!(bed.store.texts("SELECT what FROM hookproof_audit").await, ["resent", "resent"]);
    assert_eq!(outbox.cancel(delivery).await, Ok(false), "it has ended");
    assert_eq!(outbox.resend(Id(1), PERSON).await, Err(NotDone::Unknown));
    bed.pass(profile().resend_window_ms);
    assert_eq!(outbox.resend(delivery, PERSON).await, Err(NotDone::Refused(NotResent::TooOld)));
}

async fn a_full_lane_takes_no_more_and_holds_no_other_up<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    let slow = register(&outbox).await;
    for order in 0..5 {
        publishes(&bed.store, &format!("order_{order}"), "order.paid").await;
    }
    outbox.fan_out(100).await.unwrap();
    let held = outbox.claim(100).await.unwrap();
    assert_eq!(held.len(), 2, "it has two slots");
    assert_eq!(outbox.claim(100).await.unwrap().len(), 0);
    let quick = register(&outbox).await;
    assert_ne!(slow, quick);
    publishes(&bed.store, "order_9", "order.paid").await;
    let sent = round(&outbox, OK).await;
    let to: Vec<Id> = sent.iter().map(|(sending, _)| sending.request.ticket().endpoint).collect();
    assert_eq!(to, [quick]);
}

async fn every_lane_has_its_turn<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    for _ in 0..5 {
        register(&outbox).await;
    }
    publishes(&bed.store, "order_1", "order.paid").await;
    publishes(&bed.store, "order_2", "order.paid").await;
    outbox.fan_out(100).await.unwrap();
    let mut lanes = Vec::new();
    for _ in 0..5 {
        for claimed in outbox.claim(2).await.unwrap() {
            let sending = outbox.start(claimed).await.unwrap();
            let request = sending.request;
            lanes.push(request.ticket().endpoint);
            outbox.settle(request, hookproof_core::outbox::Ended::Unknown).await;
            bed.store.run("UPDATE hookproof_deliveries SET wake = 0").await;
        }
    }
    lanes.dedup();
    assert_eq!(lanes.len(), 5, "nobody was looked at twice before everybody was once: {lanes:?}");
}

async fn whoever_was_overtaken_settles_nothing<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    register(&outbox).await;
    publishes(&bed.store, "order_1", "order.paid").await;
    outbox.fan_out(1).await.unwrap();
    let zombie = outbox.claim(1).await.unwrap().remove(0);
    let zombie = outbox.start(zombie).await.unwrap();
    bed.pass(100_000);
    let taken_over = outbox.claim(1).await.unwrap().remove(0);
    let acknowledged = hookproof_core::outbox::Ended::Acknowledged;
    assert_eq!(outbox.settle(zombie.request, acknowledged).await, Settled::TakenOver);
    let sending = outbox.start(taken_over).await.unwrap();
    let settled = outbox.settle(sending.request, acknowledged).await;
    assert_eq!(settled, Settled::Stands(Stand::Acknowledged));
}

async fn what_is_released_is_due_at_once_and_no_attempt<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    register(&outbox).await;
    publishes(&bed.store, "order_1", "order.paid").await;
    outbox.fan_out(1).await.unwrap();
    let claimed = outbox.claim(1).await.unwrap().remove(0);
    outbox.release(claimed).await;
    let sent = round(&outbox, OK).await;
    assert_eq!(sent[0].0.request.ticket().attempt, 1);
}

/// Nothing here awaits the network, so tokio's time can be stopped.
#[tokio::test]
async fn a_claim_that_was_kept_too_long_sends_nothing() {
    let bed = crate::bed::sqlite().await;
    let outbox = outbox(&bed);
    register(&outbox).await;
    publishes(&bed.store, "order_1", "order.paid").await;
    outbox.fan_out(1).await.unwrap();
    let claimed = outbox.claim(1).await.unwrap().remove(0);
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_millis(profile().start_limit_ms + 1)).await;
    tokio::time::resume();
    assert!(outbox.start(claimed).await.is_none());
    assert_eq!(round(&outbox, OK).await.len(), 1, "it was given back");
}

async fn an_effect_outside_has_the_key_of_its_operation<S: Sql + SenderStore>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let outbox: Outbox<S> = outbox(&bed).profile(Profile { slots: 9, ..profile() });
    let target = NewEndpoint { secret: None, ..endpoint(&[]) };
    let target = outbox.register(&target).await.unwrap();
    let rule = |event, from, to, external| Rule {
        event,
        from: States::of(&[State(from)]),
        to: State(to),
        books: Some((PAY, Occurrence::Once)).filter(|_| external),
        external,
    };
    let rules = vec![rule(PAID, 0, 1, true), rule(SHIPPED, 1, 2, false)];
    let model = Model::declare(3, Kind::Latest, Order::Graph, Early::Wait, rules).unwrap();
    let orders = hookproof::EntityType::new("order", model)
        .moves("order.paid", PAID)
        .moves("order.shipped", SHIPPED)
        .resource_at("/data/order");
    let inbox = setup(&bed).source(partner()).entity(orders).effects_to(target).open().unwrap();
    let inbox = Arc::new(inbox);
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    work_through(&inbox).await;
    let first = round(&outbox, Answer::NoAnswer).await.remove(0).0;
    bed.pass(70_000);
    let second = round(&outbox, OK).await.remove(0).0;
    let key = header(&first, "idempotency-key").unwrap();
    assert!(key.ends_with("-1-0"), "{key}");
    assert_eq!(header(&second, "idempotency-key"), Some(key));
    assert_eq!(first.body, second.body);
    assert_eq!(header(&first, "webhook-signature"), None, "it never had a secret");
    publishes(&bed.store, "order_1", EVERY_TYPE).await;
    assert_eq!(round(&outbox, OK).await.len(), 0, "nobody subscribes it");
}
