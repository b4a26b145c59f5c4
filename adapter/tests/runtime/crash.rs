//! A process that dies at each of its named places, and what is left: each effect, once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use hookproof::{
    EntityType, IdScope, Inbox, NewEndpoint, Outbox, SenderStore,
    crash::{Point, here, until},
};
use hookproof_core::{
    Id,
    answer::{Answer, ended},
    handler::Handler,
    model::{Early, EventType, Kind, Model, Occurrence, Order, Rule, State, States, Transition},
    scheme::Request,
};

use crate::{
    bed::{Bed, Sql},
    post::{endpoint, outbox, publishes, register},
    shop::{PAID, PAY, Shop, effects, partner, setup, stands},
};

on_each_store!(
    a_process_that_dies_anywhere_leaves_each_effect_once,
    two_processes_at_once_do_everything_once,
);

/// Every place, and how often it is passed before the process dies there.
const PLACES: [(Point, u32); 14] = [
    (Point::AfterClaim, 0),
    (Point::AfterSend, 0),
    (Point::AfterResponse, 0),
    (Point::AfterVerify, 0),
    (Point::BeforeCommit, 0),
    (Point::BeforeCommit, 1),
    (Point::BeforeCommit, 2),
    (Point::BeforeCommit, 3),
    (Point::AfterReceipt, 0),
    (Point::AfterTake, 0),
    (Point::AfterEffect, 0),
    (Point::AfterExternalCall, 0),
    (Point::AfterWork, 0),
    (Point::HalfFanOut, 0),
];

/// Refunds are asked of a service outside.
const REFUNDED: EventType = EventType(7);
const REFUND: Transition = Transition(7);

/// A sender, a receiver and a service outside, all in one process that can be dropped.
struct Town<S: Sql + SenderStore> {
    outbox: Outbox<S>,
    inbox: Inbox<S>,
    /// The service's memory is not the process's: it honours keys (R14).
    service: Arc<Mutex<BTreeMap<String, u32>>>,
    effect_target: Id,
}

impl<S: Sql + SenderStore> Town<S>
where
    Shop: Handler<S::Tx>,
{
    async fn found(bed: &Bed<S>) -> Self {
        let outbox = outbox(bed);
        // Two endpoints, both of them here: each event comes twice, under two ids (R6).
        register(&outbox).await;
        register(&outbox).await;
        let target = NewEndpoint { account: "outside".to_owned(), ..endpoint(&[]) };
        let effect_target = outbox.register(&target).await.unwrap();
        Self::at(bed, effect_target, Arc::default())
    }

    fn at(bed: &Bed<S>, effect_target: Id, service: Arc<Mutex<BTreeMap<String, u32>>>) -> Self {
        let rule = |event, transition, external| Rule {
            event,
            from: States::of(&[State(0)]),
            to: State(1),
            books: Some((transition, Occurrence::Once)),
            external,
        };
        let declare = |rule| Model::declare(2, Kind::Latest, Order::Graph, Early::Wait, vec![rule]);
        let paid = EntityType::new("order", declare(rule(PAID, PAY, false)).unwrap())
            .on("order.paid", PAID, Shop::default())
            .resource_at("/data/order");
        let refunded = EntityType::new("refund", declare(rule(REFUNDED, REFUND, true)).unwrap())
            .moves("order.refunded", REFUNDED)
            .resource_at("/data/order");
        let inbox = setup(bed).source(partner()).entity(paid).entity(refunded);
        let inbox = inbox.effects_to(effect_target).open().unwrap();
        Self { outbox: outbox(bed).ids(IdScope::Delivery), inbox, service, effect_target }
    }

    /// One turn of every loop of the process.
    async fn turn(&self) {
        self.outbox.fan_out(9).await.unwrap();
        for claimed in self.outbox.claim(9).await.unwrap() {
            let Some(sending) = self.outbox.start(claimed).await else { continue };
            let to = sending.request.ticket().endpoint;
            let headers: Vec<(&str, &[u8])> =
                sending.headers.iter().map(|(name, value)| (&**name, value.as_bytes())).collect();
            let request = Request { headers: &headers, body: &sending.body, ..Request::default() };
            let answer = if to == self.effect_target {
                let key = crate::post::header(&sending, "idempotency-key").unwrap();
                self.service.lock().unwrap().entry(key.to_owned()).or_insert(1);
                Answer::Status(200)
            } else {
                Answer::Status(self.inbox.answer("partner", &request).await.status)
            };
            here(Point::AfterSend).await;
            self.outbox.settle(sending.request, ended(answer, None)).await;
        }
        for taken in self.inbox.take(9).await.unwrap() {
            self.inbox.work(taken).await;
        }
        self.outbox.sweep().await.unwrap();
    }
}

async fn a_process_that_dies_anywhere_leaves_each_effect_once<S: Sql + SenderStore>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let town = Town::found(&bed).await;
    for (place, (point, spared)) in PLACES.into_iter().enumerate() {
        let order = format!("order_{place:02}");
        // Two events, as they are published in a business transaction that has committed.
        publishes(&bed.store, &order, "order.paid").await;
        publishes(&bed.store, &order, "order.refunded").await;
        let doomed = Town::at(&bed, town.effect_target, Arc::clone(&town.service));
        let died = until(point, spared, async {
            for _ in 0..4 {
                doomed.turn().await;
            }
        })
        .await
        .is_none();
        assert!(died, "{point:?} was never reached");
        drop(doomed);
        // Whoever takes over finds what was committed, once the claims of the dead have run out, and the
        // database has noticed that they are gone.
        let mut turns = 0;
        while bed.store.count(OPEN).await > 0 {
            turns += 1;
            assert!(turns < TURNS_MAX, "{point:?}: {:#?}", stands(&bed.store).await);
            bed.pass(100_000);
            town.turn().await;
        }
        let lines = effects(&bed.store).await;
        let own = lines.iter().filter(|line| line.starts_with(&order)).count();
        assert_eq!(own, 1, "{point:?}: {lines:?}, {:#?}", stands(&bed.store).await);
        assert_eq!(town.service.lock().unwrap().len(), place + 1, "{point:?}");
    }
    let failed = "SELECT '' FROM hookproof_deliveries WHERE stand <> 'acknowledged'
         UNION ALL SELECT '' FROM webhook_inbox WHERE status <> 'PROCESSED'";
    assert_eq!(bed.store.count(failed).await, 0);
}

async fn two_processes_at_once_do_everything_once<S: Sql + SenderStore>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let one = Town::found(&bed).await;
    let other = Town::at(&bed, one.effect_target, Arc::clone(&one.service));
    for order in 0..10 {
        publishes(&bed.store, &format!("order_{order}"), "order.paid").await;
        publishes(&bed.store, &format!("order_{order}"), "order.refunded").await;
    }
    let run = async |town: &Town<S>| {
        let mut turns = 0;
        while bed.store.count(OPEN).await > 0 {
            turns += 1;
            assert!(turns < TURNS_MAX, "{:#?}", stands(&bed.store).await);
            bed.pass(1);
            town.turn().await;
        }
    };
    tokio::join!(run(&one), run(&other));
    assert_eq!(effects(&bed.store).await.len(), 10);
    assert_eq!(one.service.lock().unwrap().len(), 10);
    let again = "SELECT '' FROM hookproof_deliveries WHERE attempt <> 1";
    assert_eq!(bed.store.count(again).await, 0, "nothing was sent twice");
}

/// What has not come to its end.
const OPEN: &str = "SELECT '' FROM outbox_events WHERE processed_at IS NULL
     UNION ALL SELECT '' FROM hookproof_deliveries WHERE wake IS NOT NULL
     UNION ALL SELECT '' FROM webhook_inbox WHERE wake IS NOT NULL";

/// A database may notice late that a process has died, and holds its rows until then.
const TURNS_MAX: u32 = 2_000;
