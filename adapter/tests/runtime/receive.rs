//! The door: what is verified, stored and answered (R2, R3, R4, R19), and what is refused when declared.

use futures_util::future::join_all;
use hookproof::{BadInbox, EntityType, Inbox, NotReceived, Source};
use hookproof_core::{
    handler::Handler,
    inbox::Reply,
    model::Early,
    profile::{InboxPolicy, Profile},
    scheme::{self, Message, Refusal, Request, Time, Verifier, Window},
};

use crate::{
    bed::{BEGIN, Bed, Sql},
    shop::{Shop, arrives, body, open, order, orders, partner, setup, signed, stands},
};

on_each_store!(
    copies_fold_into_one_receipt,
    copies_at_once_fold_into_one_receipt,
    a_forgery_leaves_no_trace,
    everything_authentic_has_an_answer,
    a_handshake_is_answered_as_its_provider_wants_and_leaves_nothing,
    what_does_not_fit_together_is_refused_when_it_is_declared,
);

async fn copies_fold_into_one_receipt<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let inbox = open(&bed, &Shop::default());
    let first = arrives(&inbox, "evt_1", "paid", "order_1").await;
    let again = arrives(&inbox, "evt_1", "paid", "order_1").await;
    let other = arrives(&inbox, "evt_1", "paid", "order_2").await;
    assert_eq!(
        (first.reply, again.reply, other.reply),
        (Reply::Accepted, Reply::Duplicate, Reply::OtherBytes)
    );
    assert_eq!((again.receipt, other.receipt), (first.receipt, first.receipt));
    assert_eq!(stands(&bed.store).await, ["evt_1 PENDING"]);
    assert_eq!(bed.store.texts("SELECT what FROM hookproof_audit").await, ["other bytes"]);
    assert_eq!(bed.store.texts("SELECT verified_by FROM webhook_inbox").await, ["first"]);
}

async fn copies_at_once_fold_into_one_receipt<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let inbox = open(&bed, &Shop::default());
    let copies = (0..8).map(|_| arrives(&inbox, "evt_1", "paid", "order_1"));
    let replies = join_all(copies).await;
    let new = replies.iter().filter(|received| received.reply == Reply::Accepted).count();
    assert_eq!(new, 1);
    assert!(replies.iter().all(|received| received.receipt == replies[0].receipt));
    assert_eq!(stands(&bed.store).await, ["evt_1 PENDING"]);
}

async fn a_forgery_leaves_no_trace<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let inbox = open(&bed, &Shop::default());
    let body = body("paid", "order_1");
    let forged = signed("evt_1", &body, async |request| {
        let forged = Request { body: b"{}", ..*request };
        (inbox.receive("partner", &forged).await, inbox.answer("partner", &forged).await.status)
    });
    assert_eq!(forged.await, (Err(NotReceived::Refused(Refusal::NoMatch)), 401));
    let stranger =
        signed("evt_1", &body, async |request| inbox.answer("stranger", request).await.status);
    assert_eq!(stranger.await, 404);
    bed.pass(3_600_000);
    let stale =
        signed("evt_1", &body, async |request| inbox.answer("partner", request).await.status);
    assert_eq!(stale.await, 401);
    assert_eq!(stands(&bed.store).await.len(), 0);
}

async fn everything_authentic_has_an_answer<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let inbox = open(&bed, &Shop::default());
    let answer = async |id: &str, body: &str| {
        signed(id, body, async |request| inbox.answer("partner", request).await.status).await
    };
    assert_eq!(answer("evt_1", &body("returned", "order_1")).await, 200);
    assert_eq!(answer("evt_2", "{").await, 200);
    assert_eq!(answer("evt_3", "{\"type\":\"order.paid\"}").await, 200, "about nothing");
    assert_eq!(answer("evt_4", "{\"type\":\"order.\\u0000\"}").await, 200, "no column holds it");
    let stands = stands(&bed.store).await;
    assert_eq!(stands[..2], ["evt_1 IGNORED", "evt_3 QUARANTINED unreadable"]);
    let rest = &stands[2..];
    assert!(rest.iter().all(|stand| stand.starts_with("sha256:")), "{rest:?}");
    assert_eq!(bed.store.count("SELECT reason FROM hookproof_alerts").await, 3);
}

async fn a_handshake_is_answered_as_its_provider_wants_and_leaves_nothing<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let source = Source::preset("chat", "slack").unwrap();
    let source = source.secret("first", "a signing secret", Window::always()).unwrap();
    let inbox = setup(&bed).source(source).entity(orders::<S>(&Shop::default())).open().unwrap();
    let body = br#"{"type":"url_verification","challenge":"3eZbrw"}"#;
    let mut signer = Verifier::new(scheme::named("slack").unwrap());
    signer.add("a signing secret").unwrap();
    let timestamp = (BEGIN.0 / 1_000).to_string();
    let message = Message { timestamp: &timestamp, body, ..Message::default() };
    let headers = signer.sign(&message, Time::NotTested).unwrap();
    let headers: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (&**name, value.as_bytes())).collect();
    let request = Request { headers: &headers, body, ..Request::default() };
    let answer = inbox.answer("chat", &request).await;
    assert_eq!((answer.status, &*answer.body), (200, "3eZbrw"));
    let forged = Request { headers: &[], ..request };
    assert_eq!(inbox.answer("chat", &forged).await.status, 401);
    assert_eq!(stands(&bed.store).await.len(), 0);
}

async fn what_does_not_fit_together_is_refused_when_it_is_declared<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
{
    let shop = Shop::default();
    let refusal = |inbox: Result<Inbox<S>, BadInbox>| inbox.err().unwrap().to_string();
    let twice = setup(&bed).entity(orders::<S>(&shop)).entity(orders::<S>(&shop));
    assert!(refusal(twice.open()).starts_with("expected `order` once"));
    let silent = EntityType::<S::Tx>::new("order", order(Early::Wait));
    assert!(refusal(setup(&bed).entity(silent).open()).contains("expected a name for event 0"));
    let idle =
        EntityType::<S::Tx>::new("order", order(Early::Wait)).moves("paid", crate::shop::PAID);
    assert!(refusal(setup(&bed).entity(idle).open()).contains("expected a handler for `paid`"));
    let forgets = InboxPolicy { retention_ms: Some(1), ..InboxPolicy::hookproof() };
    let unknown = setup(&bed).policy(forgets.clone()).source(partner());
    assert!(refusal(unknown.open()).contains("expected to know how it sends"));
    let early = setup(&bed).policy(forgets).source(partner().sender(Profile::hookproof()));
    assert!(refusal(early.open()).contains("before the sender's last attempt"));
}
