//! A sender of orders, and the network as the tests want it.

use hookproof::{
    EVERY_TYPE, Message, NewEndpoint, Outbox, SenderStore, Sending, Settled, Vault, ident,
};
use hookproof_core::{
    Id,
    answer::{Answer, ended},
    ladder::Ladder,
    outbox::Published,
    payload::Payload,
    profile::Profile,
    scheme::{self, Refusal, Request, Time, Verified, Verifier},
};

use crate::bed::{Bed, Sql};

pub(crate) const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
pub(crate) const OTHER_SECRET: &str = "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=";
pub(crate) const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
pub(crate) const URL: &str = "https://shop.example/hooks";

/// Three attempts, a minute and then an hour apart.
pub(crate) fn profile() -> Profile {
    let ladder = Ladder::new(vec![60_000, 3_600_000]).expect("short");
    Profile { ladder, slots: 2, ..Profile::hookproof() }
}

pub(crate) fn outbox<S: Sql + SenderStore>(bed: &Bed<S>) -> Outbox<S> {
    let vault = Vault::with_key(&KEY.into()).unwrap();
    Outbox::new(bed.store.clone(), vault).profile(profile()).host(bed.host())
}

pub(crate) fn endpoint(types: &[&str]) -> NewEndpoint {
    NewEndpoint {
        account: "shop".to_owned(),
        url: URL.to_owned(),
        event_types: types.iter().copied().map(str::to_owned).collect(),
        secret: Some(SECRET.into()),
    }
}

pub(crate) async fn register<S: Sql + SenderStore>(outbox: &Outbox<S>) -> Id {
    outbox.register(&endpoint(&[EVERY_TYPE])).await.unwrap()
}

/// Publishes an event of the shop's.
pub(crate) async fn publishes<S: Sql>(store: &S, order: &str, event_type: &str) -> Id {
    let id = ident::named(&[order, event_type]);
    let message = Message {
        id,
        account: "shop".to_owned(),
        aggregate_type: "order".to_owned(),
        aggregate_id: order.to_owned(),
        event_type: event_type.to_owned(),
        payload: Payload::of(body(order, event_type).into_bytes()),
    };
    let mut tx = store.begin().await.unwrap();
    assert_eq!(store.publish(&mut tx, &message).await, Ok(Published::Accepted));
    store.commit(tx).await.unwrap();
    id
}

/// Bytes that whoever writes JSON again would change.
pub(crate) fn body(order: &str, event_type: &str) -> String {
    format!("{{\"type\": \"{event_type}\",\"data\":{{\"order\": \"{order}\"}}}}\n")
}

/// Sends everything that is due, with this for an answer to each; what was sent.
pub(crate) async fn round<S: Sql + SenderStore>(
    outbox: &Outbox<S>,
    answer: Answer,
) -> Vec<(Sending, Settled)> {
    outbox.fan_out(100).await.unwrap();
    let mut sent = Vec::new();
    loop {
        let claimed = outbox.claim(100).await.unwrap();
        if claimed.is_empty() {
            return sent;
        }
        for claimed in claimed {
            if let Some(sending) = outbox.start(claimed).await {
                let settled = outbox.settle(sending.request, ended(answer, None)).await;
                sent.push((sending, settled));
            }
        }
    }
}

/// What a receiver with this secret says of a request, at that time.
pub(crate) fn verify<S>(
    bed: &Bed<S>,
    sending: &Sending,
    secret: &str,
) -> Result<Verified, Refusal> {
    let mut verifier = Verifier::new(scheme::named("standard-webhooks").unwrap());
    verifier.add(secret).unwrap();
    let headers: Vec<(&str, &[u8])> =
        sending.headers.iter().map(|(name, value)| (&**name, value.as_bytes())).collect();
    let request = Request { headers: &headers, body: &sending.body, ..Request::default() };
    verifier.verify(&request, Time::At(bed.clock.shows().unwrap()))
}

pub(crate) fn header<'a>(sending: &'a Sending, name: &str) -> Option<&'a str> {
    let found = sending.headers.iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value.as_str())
}

/// How each delivery stands, in order of the words.
pub(crate) async fn stands<S: Sql>(store: &S) -> Vec<String> {
    let sql = "SELECT stand || coalesce(' ' || reason, '') FROM hookproof_deliveries ORDER BY 1";
    store.texts(sql).await
}
