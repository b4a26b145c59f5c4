//! Upkeep: bytes and keys that go apart (R16), clocks that were set back, alerts (R11).

use hookproof::{
    Inbox, NotDone, Pass, Person, SenderStore, UpkeepStore, alert_sent, unsent_alerts,
};
use hookproof_core::{
    Id, Reason,
    answer::Answer,
    handler::Handler,
    inbox::{NotReplayed, Reply},
    profile::InboxPolicy,
    scheme::Request,
    time::DAY,
};

use crate::{
    bed::{Bed, Sql},
    post::{outbox, profile, publishes, register, round},
    shop::{Shop, Turn, arrives, open, orders, partner, policy, setup, signed, work_through},
};

on_each_store!(
    bytes_go_before_keys_and_a_key_still_folds,
    what_is_not_finished_keeps_everything,
    the_bytes_of_an_event_go_when_nobody_can_be_sent_it_any_more,
    a_clock_that_was_set_back_leaves_nothing_asleep,
    an_alert_is_there_until_somebody_says_that_it_was_sent,
);

const PERSON: Person = Person { id: Id(77), allowed: true };
const PAYLOADS: &str = "SELECT partner_event_id FROM webhook_inbox WHERE payload IS NOT NULL";

async fn bytes_go_before_keys_and_a_key_still_folds<S: Sql + UpkeepStore>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let inbox = open(&bed, &Shop::default());
    let receipt = arrives(&inbox, "evt_1", "paid", "order_1").await.receipt;
    arrives(&inbox, "evt_2", "returned", "order_1").await;
    bed.pass(1_000);
    arrives(&inbox, "evt_3", "paid", "order_3").await;
    work_through(&inbox).await;
    let retire = async || inbox.retire(Some(DAY), None).await.unwrap();
    bed.pass(DAY - 1_000);
    assert_eq!(retire().await, Pass::default());
    bed.pass(1);
    assert_eq!(retire().await, Pass { stripped: 2, ..Pass::default() });
    assert_eq!(retire().await, Pass::default());
    assert_eq!(bed.store.texts(PAYLOADS).await, ["evt_3"], "it came later");
    let refused = inbox.replay(receipt, PERSON).await;
    assert_eq!(refused, Err(NotDone::Refused(NotReplayed::NothingToWork)));

    // The partner signs as of the begin, so its clock is set back for the copy.
    let later = bed.clock.shows().unwrap();
    bed.clock.set(crate::bed::BEGIN);
    assert_eq!(arrives(&inbox, "evt_1", "paid", "order_1").await.reply, Reply::Duplicate);
    bed.clock.set(later);
    let purged = forgetful(&bed, &Shop::default()).retire(None, None).await;
    assert_eq!(purged, Ok(Pass::default()), "not before every attempt is over");
    bed.pass(90 * DAY);
    let purged = forgetful(&bed, &Shop::default()).retire(None, None).await;
    assert_eq!(purged, Ok(Pass { purged: 3, ..Pass::default() }));
    assert_eq!(bed.store.count("SELECT status FROM webhook_inbox").await, 0);
    assert_eq!(bed.store.count("SELECT '' FROM hookproof_operations").await, 2, "for ever");
}

/// The shop's inbox, which forgets keys as soon as that is safe.
fn forgetful<S: Sql>(bed: &Bed<S>, shop: &Shop) -> Inbox<S>
where
    Shop: Handler<S::Tx>,
{
    let retention_ms = Some(90 * DAY);
    let setup = setup(bed).policy(InboxPolicy { retention_ms, ..policy() });
    setup.source(partner().sender(profile())).entity(orders::<S>(shop)).open().unwrap()
}

async fn what_is_not_finished_keeps_everything<S: Sql + UpkeepStore>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let shop = Shop::default();
    shop.turns("order_2", Some(Turn::Fails));
    let inbox = forgetful(&bed, &shop);
    arrives(&inbox, "evt_1", "shipped", "order_1").await;
    arrives(&inbox, "evt_2", "paid", "order_2").await;
    work_through(&inbox).await;
    bed.pass(70_000);
    work_through(&inbox).await;
    bed.pass(9_999 * DAY);
    assert_eq!(inbox.retire(Some(1), None).await, Ok(Pass::default()));
    assert_eq!(bed.store.count(PAYLOADS).await, 2);
}

async fn the_bytes_of_an_event_go_when_nobody_can_be_sent_it_any_more<S>(bed: Bed<S>)
where
    S: Sql + SenderStore + UpkeepStore,
{
    let outbox = outbox(&bed);
    register(&outbox).await;
    publishes(&bed.store, "order_1", "order.paid").await;
    let retire = async || outbox.retire(None).await.unwrap();
    round(&outbox, Answer::Status(500)).await;
    bed.pass(profile().resend_window_ms + 1);
    assert_eq!(retire().await, Pass::default(), "its cycle is open");
    publishes(&bed.store, "order_2", "order.paid").await;
    round(&outbox, Answer::Status(200)).await;
    assert_eq!(retire().await, Pass { stripped: 1, ..Pass::default() });
    let gone = "SELECT event_type FROM outbox_events WHERE payload_gone";
    assert_eq!(bed.store.count(gone).await, 1);
    assert_eq!(retire().await, Pass::default());
}

async fn a_clock_that_was_set_back_leaves_nothing_asleep<S>(bed: Bed<S>)
where
    S: Sql + SenderStore + UpkeepStore,
    Shop: Handler<S::Tx>,
{
    let (outbox, inbox) = (outbox(&bed), open(&bed, &Shop::default()));
    register(&outbox).await;
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    bed.pass(1_000 * DAY);
    publishes(&bed.store, "order_1", "order.paid").await;
    publishes(&bed.store, "order_2", "order.paid").await;
    outbox.fan_out(1).await.unwrap();
    bed.store.run("UPDATE webhook_inbox SET wake = wake + 86400000000").await;
    bed.clock.set(crate::bed::BEGIN);
    arrives(&inbox, "evt_2", "paid", "order_2").await;
    assert_eq!((outbox.pull_in().await, inbox.pull_in().await), (Ok(2), Ok(1)));
    assert_eq!((outbox.pull_in().await, inbox.pull_in().await), (Ok(0), Ok(0)));
    assert_eq!(work_through(&inbox).await.len(), 1, "what was due stays so");
    bed.pass(profile().wait_max_ms());
    assert_eq!(round(&outbox, Answer::Status(200)).await.len(), 2);
    assert_eq!(work_through(&inbox).await.len(), 1);
}

async fn an_alert_is_there_until_somebody_says_that_it_was_sent<S: Sql + UpkeepStore>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let shop = Shop::default();
    shop.turns("order_1", Some(Turn::Fails));
    let inbox = open(&bed, &shop);
    let junk = async |request: &Request<'_>| inbox.receive("partner", request).await;
    signed("evt_0", "{", junk).await.unwrap();
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    work_through(&inbox).await;
    bed.pass(70_000);
    work_through(&inbox).await;
    let alerts = unsent_alerts(&bed.store, 9).await.unwrap();
    let reasons: Vec<Reason> = alerts.iter().map(|alert| alert.reason).collect();
    assert_eq!(reasons, [Reason::Unreadable, Reason::Failing], "the oldest first");
    assert_eq!(unsent_alerts(&bed.store, 9).await.unwrap(), alerts, "nobody said so");
    assert_eq!(unsent_alerts(&bed.store, 1).await.unwrap(), alerts[..1]);
    alert_sent(&bed.store, &alerts[0]).await.unwrap();
    assert_eq!(unsent_alerts(&bed.store, 9).await.unwrap(), alerts[1..]);
}
