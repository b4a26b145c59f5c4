//! The work: in the entity's order, once, and whose fault a failure is (R7 to R12).

use std::{pin::pin, sync::Arc, time::Duration};

use hookproof::{Bell, NotDone, Person, Ran, Setup, Source, Worker, entity_id};
use hookproof_core::{
    Id, Reason,
    handler::Handler,
    inbox::{End, NotReplayed, Reply},
    model::Operation,
    scheme::Window,
    work::{Failed, Fault, Worked},
};

use crate::{
    bed::{Bed, Sql},
    shop::{
        PAY, Shop, Turn, arrives, effects, open, orders, partner, policy, run_worker, stands,
        work_through,
    },
};

on_each_store!(
    shipped_before_paid_waits_for_it,
    a_failing_event_ends_in_review_and_holds_nobody_up,
    a_fault_of_the_infrastructure_climbs_nothing,
    a_panic_is_an_events_fault_like_any_other,
    what_a_person_booked_is_not_done_again,
    a_replay_needs_everything_that_it_stands_on,
    a_worker_works_until_it_is_told_to_stop,
    a_worker_that_stops_ends_what_it_has_begun,
);

const PERSON: Person = Person { id: Id(77), allowed: true };

async fn shipped_before_paid_waits_for_it<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let inbox = open(&bed, &Shop::default());
    arrives(&inbox, "evt_2", "shipped", "order_1").await;
    let ran = work_through(&inbox).await;
    assert!(matches!(ran[..], [Ran::Worked(Worked::Deferred { .. })]), "{ran:?}");
    assert_eq!(stands(&bed.store).await, ["evt_2 DEFERRED"]);
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    let ran = work_through(&inbox).await;
    let applied = Ran::Worked(Worked::Done(End::Applied));
    assert_eq!(ran, [applied, applied], "the first wakes the other");
    assert_eq!(effects(&bed.store).await, ["order_1 order.paid", "order_1 order.shipped"]);
}

async fn a_failing_event_ends_in_review_and_holds_nobody_up<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let shop = Shop::default();
    shop.turns("order_1", Some(Turn::Fails));
    let inbox = open(&bed, &shop);
    let bad = arrives(&inbox, "evt_1", "paid", "order_1").await;
    arrives(&inbox, "evt_2", "paid", "order_2").await;
    work_through(&inbox).await;
    assert_eq!(effects(&bed.store).await, ["order_2 order.paid"]);
    bed.pass(70_000);
    let ran = work_through(&inbox).await;
    assert_eq!(ran, [Ran::Failed(Fault::Event, Failed::SetAside(Reason::Failing))]);
    assert_eq!(bed.store.texts("SELECT reason FROM hookproof_alerts").await, ["failing"]);

    shop.turns("order_1", None);
    inbox.replay(bad.receipt, PERSON).await.unwrap();
    assert_eq!(
        inbox.replay(bad.receipt, PERSON).await,
        Err(NotDone::Refused(NotReplayed::Waiting))
    );
    work_through(&inbox).await;
    assert_eq!(effects(&bed.store).await, ["order_1 order.paid", "order_2 order.paid"]);
    inbox.replay(bad.receipt, PERSON).await.unwrap();
    work_through(&inbox).await;
    assert_eq!(effects(&bed.store).await.len(), 2, "a replay passes the same guards");
    assert_eq!(bed.store.count("SELECT what FROM hookproof_audit").await, 2);
}

async fn a_fault_of_the_infrastructure_climbs_nothing<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let shop = Shop::default();
    shop.turns("order_1", Some(Turn::Unfounded));
    let inbox = open(&bed, &shop);
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    for _ in 0..9 {
        let ran = work_through(&inbox).await;
        assert!(matches!(ran[..], [Ran::Failed(Fault::Infrastructure, _)]), "{ran:?}");
        bed.pass(1);
    }
    assert_eq!(stands(&bed.store).await, ["evt_1 PENDING"]);
    shop.turns("order_1", None);
    work_through(&inbox).await;
    assert_eq!(stands(&bed.store).await, ["evt_1 PROCESSED applied"]);
}

async fn a_panic_is_an_events_fault_like_any_other<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let shop = Shop::default();
    shop.turns("order_1", Some(Turn::Panics));
    let inbox = open(&bed, &shop);
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    let ran = work_through(&inbox).await;
    assert!(matches!(ran[..], [Ran::Failed(Fault::Event, Failed::Retrying { .. })]), "{ran:?}");
    assert_eq!(effects(&bed.store).await.len(), 0, "what it wrote went with it");
}

async fn what_a_person_booked_is_not_done_again<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let inbox = open(&bed, &Shop::default());
    let entity = hookproof::Named { account: "shop", entity_type: "order", resource: "order_1" };
    let paid = Operation { entity: entity_id(&entity), transition: PAY, occurrence: 0 };
    assert_eq!(inbox.book(paid, PERSON.id).await, Ok(true));
    assert_eq!(inbox.book(paid, PERSON.id).await, Ok(false));
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    arrives(&inbox, "evt_2", "shipped", "order_1").await;
    work_through(&inbox).await;
    let all = ["evt_1 PROCESSED already booked", "evt_2 PROCESSED applied"];
    assert_eq!(stands(&bed.store).await, all);
    assert_eq!(effects(&bed.store).await, ["order_1 order.shipped"]);
    assert_eq!(bed.store.texts("SELECT what FROM hookproof_audit").await, ["booked"]);
}

async fn a_replay_needs_everything_that_it_stands_on<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let shop = Shop::default();
    let inbox = open(&bed, &shop);
    let receipt = arrives(&inbox, "evt_1", "paid", "order_1").await.receipt;
    work_through(&inbox).await;
    let with = |source: Option<Source>| {
        let setup = Setup::new(bed.store.clone()).policy(policy()).entity(orders::<S>(&shop));
        source.into_iter().fold(setup, Setup::source).open().unwrap()
    };
    let refused = |why| Err(NotDone::Refused(why));
    let stranger = Person { allowed: false, ..PERSON };
    assert_eq!(inbox.replay(receipt, stranger).await, refused(NotReplayed::PersonNotAllowed));
    let gone = with(None).replay(receipt, PERSON).await;
    assert_eq!(gone, refused(NotReplayed::SourceNotAuthorised));
    let bare = Source::preset("partner", "standard-webhooks").unwrap();
    let secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let revoked = bare.secret("first", secret, Window::always().revoke()).unwrap();
    let revoked = with(Some(revoked)).replay(receipt, PERSON).await;
    assert_eq!(revoked, refused(NotReplayed::SecretRevoked));
    assert_eq!(inbox.replay(Id(1), PERSON).await, Err(NotDone::Unknown));
    assert!(with(Some(partner())).replay(receipt, PERSON).await.is_ok());
}

async fn a_worker_works_until_it_is_told_to_stop<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let inbox = Arc::new(open(&bed, &Shop::default()));
    for order in 0..20 {
        let name = format!("order_{order:02}");
        arrives(&inbox, &format!("evt_{order}_shipped"), "shipped", &name).await;
        arrives(&inbox, &format!("evt_{order}_paid"), "paid", &name).await;
    }
    run_worker(&Worker::new(inbox).at_once(4), &bed.store).await;
    assert_eq!(effects(&bed.store).await.len(), 40);
    let applied = stands(&bed.store).await.iter().filter(|it| it.ends_with("applied")).count();
    assert_eq!(applied, 40);
}

async fn a_worker_that_stops_ends_what_it_has_begun<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let shop = Shop::default();
    shop.turns("order_1", Some(Turn::Waits));
    let inbox = Arc::new(open(&bed, &shop));
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    let worker = Worker::new(inbox).at_once(1);
    let stop = async {
        shop.begun.notified().await;
        shop.may_end.notify_one();
    };
    worker.run(stop).await;
    assert_eq!(stands(&bed.store).await, ["evt_1 PROCESSED applied"]);
}

/// R5. In SQLite an open handler keeps the answer waiting, for two seconds at most: there is one writer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_waits_for_no_handler() {
    let bed = crate::bed::postgres().await;
    let shop = Shop::default();
    shop.turns("order_1", Some(Turn::Waits));
    let inbox = Arc::new(open(&bed, &shop));
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    let worker = Worker::new(Arc::clone(&inbox)).at_once(1);
    let stop = pin!(async {
        shop.begun.notified().await;
        arrives(&inbox, "evt_2", "shipped", "order_1").await;
        assert_eq!(arrives(&inbox, "evt_1", "paid", "order_1").await.reply, Reply::Duplicate);
        assert_eq!(stands(&bed.store).await, ["evt_1 PENDING", "evt_2 PENDING"]);
        shop.may_end.notify_one();
    });
    worker.run(stop).await;
    assert_eq!(stands(&bed.store).await, ["evt_1 PROCESSED applied", "evt_2 PENDING"]);
}

/// A hint reaches another process; nobody waits for a poll here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ring_is_heard_in_another_process() {
    let bed = crate::bed::postgres().await;
    let (here, there) = (Bell::default(), Bell::default());
    let channel = "hookproof_inbox";
    tokio::select! {
        never = bed.store.carry_hints(&here, channel) => match never {},
        never = bed.store.carry_hints(&there, channel) => match never {},
        () = there.wait(Duration::MAX) => {}
        // What is rung before the other one listens is lost.
        () = async { loop { here.ring(); tokio::task::yield_now().await; } } => {}
    }
}
