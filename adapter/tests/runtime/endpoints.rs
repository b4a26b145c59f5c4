//! Endpoints: their life, their subscriptions, their secrets (S9, S10, S12).

use hookproof::{NewEndpoint, NotRegistered, OVERLAP_MS, SenderStore};
use hookproof_core::{answer::Answer, target::Denied};

use crate::{
    bed::{Bed, Sql},
    post::{
        OTHER_SECRET, SECRET, URL, body, endpoint, header, outbox, publishes, register, round,
        stands, verify,
    },
};

on_each_store!(
    what_waits_at_an_endpoint_waits_until_it_is_enabled,
    what_is_open_at_a_deleted_endpoint_is_cancelled,
    a_change_of_url_counts_from_the_next_claim,
    who_wanted_a_type_at_an_instant_stays_known,
    during_a_rotation_both_secrets_verify_and_then_one,
    secrets_are_sealed_at_rest,
    what_may_not_be_called_or_cannot_sign_is_refused,
);

const OK: Answer = Answer::Status(200);

async fn what_waits_at_an_endpoint_waits_until_it_is_enabled<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    let id = register(&outbox).await;
    let bystander = outbox.register(&endpoint(&[])).await.unwrap();
    assert_eq!(outbox.disable(bystander, "its own").await, Ok(true));
    let reason = "SELECT coalesce(reason, 'none') FROM hookproof_endpoints ORDER BY id";
    assert_eq!(outbox.disable(id, "asked for by phone").await, Ok(true));
    assert_eq!(bed.store.texts(reason).await, ["asked for by phone", "its own"]);
    publishes(&bed.store, "order_1", "order.paid").await;
    assert_eq!(round(&outbox, OK).await.len(), 0);
    assert_eq!(stands(&bed.store).await, ["pending"]);
    assert_eq!(outbox.enable(id).await, Ok(true));
    assert_eq!(bed.store.texts(reason).await, ["none", "its own"]);
    assert_eq!(round(&outbox, OK).await.len(), 1);
    assert_eq!(outbox.enable(id).await, Ok(false), "it is");
    assert_eq!(outbox.pause(id).await, Ok(true));
    publishes(&bed.store, "order_2", "order.paid").await;
    assert_eq!(round(&outbox, OK).await.len(), 0);
}

async fn what_is_open_at_a_deleted_endpoint_is_cancelled<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    let id = register(&outbox).await;
    publishes(&bed.store, "order_1", "order.paid").await;
    outbox.fan_out(1).await.unwrap();
    assert_eq!(outbox.delete(id).await, Ok(true));
    bed.pass(1);
    publishes(&bed.store, "order_2", "order.paid").await;
    assert_eq!(round(&outbox, OK).await.len(), 0);
    assert_eq!(
        stands(&bed.store).await,
        ["cancelled endpoint gone"],
        "and none of the other event"
    );
    assert_eq!(outbox.enable(id).await, Ok(false), "nothing brings it back");
    assert_eq!(outbox.subscribe(id, &[]).await, Err(NotRegistered::Unknown));
}

async fn a_change_of_url_counts_from_the_next_claim<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    let id = register(&outbox).await;
    register(&outbox).await;
    publishes(&bed.store, "order_1", "order.paid").await;
    round(&outbox, Answer::Status(500)).await;
    outbox.change_url(id, "https://other.example/in").await.unwrap();
    bed.pass(70_000);
    let sent = round(&outbox, OK).await;
    let mut to: Vec<&str> = sent.iter().map(|(sending, _)| sending.target.url()).collect();
    to.sort_unstable();
    assert_eq!(to, ["https://other.example/in", URL], "and not the other one's");
    let private = outbox.change_url(id, "https://127.0.0.1/in").await;
    assert!(matches!(private, Err(NotRegistered::Target(Denied::Address(_)))), "{private:?}");
}

async fn who_wanted_a_type_at_an_instant_stays_known<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    let id = outbox.register(&endpoint(&["order.paid", "order.shipped"])).await.unwrap();
    let bystander = outbox.register(&endpoint(&["order.paid"])).await.unwrap();
    publishes(&bed.store, "order_1", "order.paid").await;
    bed.pass(1);
    outbox.subscribe(id, &["order.shipped", "order.returned"]).await.unwrap();
    bed.pass(1);
    publishes(&bed.store, "order_2", "order.paid").await;
    publishes(&bed.store, "order_2", "order.shipped").await;
    publishes(&bed.store, "order_2", "order.returned").await;
    let sent = round(&outbox, OK).await;
    let (others, own): (Vec<_>, Vec<_>) =
        sent.into_iter().partition(|(sending, _)| sending.request.ticket().endpoint == bystander);
    assert_eq!(others.len(), 2, "nobody asked it");
    let mut sent: Vec<Vec<u8>> = own.into_iter().map(|(sending, _)| sending.body).collect();
    sent.sort();
    let first = body("order_1", "order.paid");
    let others = ["order.returned", "order.shipped"].map(|it| body("order_2", it));
    let wanted = [first, others[0].clone(), others[1].clone()].map(String::into_bytes);
    assert_eq!(sent, wanted, "the first was published before it left");
    outbox.subscribe(id, &["order.paid"]).await.unwrap();
    publishes(&bed.store, "order_3", "order.paid").await;
    assert_eq!(round(&outbox, OK).await.len(), 2, "it is back");
    outbox.subscribe(id, &[]).await.unwrap();
    outbox.subscribe(id, &["order.paid"]).await.unwrap();
    publishes(&bed.store, "order_4", "order.paid").await;
    assert_eq!(round(&outbox, OK).await.len(), 2, "it was never away");
    bed.pass(1);
    outbox.subscribe(id, &[]).await.unwrap();
    let ends = "SELECT coalesce(CAST(until_ms AS TEXT), 'none') FROM hookproof_subscriptions
         WHERE event_type = 'order.paid' ORDER BY 1";
    assert_eq!(bed.store.texts(ends).await, ["1700000000001", "1700000000003", "none"]);
}

async fn during_a_rotation_both_secrets_verify_and_then_one<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    let id = register(&outbox).await;
    let bystander = outbox.register(&endpoint(&["none"])).await.unwrap();
    let old = outbox.secrets(id).await.unwrap()[0].0;
    bed.pass(1);
    let new = outbox.add_secret(id, &OTHER_SECRET.into()).await.unwrap();
    outbox.retire_secret(id, old).await.unwrap();
    publishes(&bed.store, "order_1", "order.paid").await;
    let during = round(&outbox, OK).await.remove(0).0;
    assert!(verify(&bed, &during, SECRET).is_ok() && verify(&bed, &during, OTHER_SECRET).is_ok());
    bed.pass(OVERLAP_MS);
    publishes(&bed.store, "order_2", "order.paid").await;
    let after = round(&outbox, OK).await.remove(0).0;
    assert!(verify(&bed, &after, SECRET).is_err() && verify(&bed, &after, OTHER_SECRET).is_ok());
    outbox.revoke_secret(id, new).await.unwrap();
    publishes(&bed.store, "order_3", "order.paid").await;
    assert_eq!(round(&outbox, OK).await.len(), 0, "nothing can sign it");
    assert_eq!(stands(&bed.store).await, ["acknowledged", "acknowledged", "pending"]);
    let theirs = outbox.secrets(bystander).await.unwrap();
    assert!(matches!(theirs[..], [(_, window)] if window.until.is_none() && !window.revoked));
    let unknown = outbox.retire_secret(id, theirs[0].0).await;
    assert_eq!(unknown, Err(NotRegistered::Unknown));
}

async fn secrets_are_sealed_at_rest<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    let id = register(&outbox).await;
    outbox.add_secret(id, &OTHER_SECRET.into()).await.unwrap();
    let mut tx = bed.store.begin().await.unwrap();
    let address = bed.store.addresses(&mut tx, &[id].into()).await.unwrap().remove(0);
    let forms = bed.store.secret_forms(&mut tx).await.unwrap();
    drop(tx);
    assert_eq!((address.secrets.len(), forms.len()), (2, 1), "all in the same way");
    let stored = &address.secrets[0].bytes;
    assert!(!stored.windows(8).any(|part| SECRET.as_bytes().windows(8).any(|it| it == part)));
    assert!(!format!("{address:?}").contains("whsec"));
    publishes(&bed.store, "order_1", "order.paid").await;
    let keyless = hookproof::Outbox::new(bed.store.clone(), hookproof::Vault::open());
    assert_eq!(keyless.fan_out(1).await, Ok(1));
    for refused in [keyless.check_key().await, keyless.claim(1).await.map(drop)] {
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("found none: give the key with HOOKPROOF_KEY_FILE"), "{said}");
    }
    assert_eq!(outbox.check_key().await, Ok(()));
    let other = hookproof::Vault::with_key(&"ff".repeat(32).into()).unwrap();
    let stranger = hookproof::Outbox::new(bed.store.clone(), other)
        .profile(crate::post::profile())
        .host(bed.host());
    assert_eq!(round(&stranger, OK).await.len(), 0, "it has another key");
    bed.pass(70_000);
    let sent = round(&outbox, OK).await;
    assert!(header(&sent[0].0, "webhook-signature").is_some());
}

async fn what_may_not_be_called_or_cannot_sign_is_refused<S: Sql + SenderStore>(bed: Bed<S>) {
    let outbox = outbox(&bed);
    let plain = NewEndpoint { url: "http://shop.example/in".to_owned(), ..endpoint(&[]) };
    let refused = outbox.register(&plain).await;
    assert_eq!(refused, Err(NotRegistered::Target(Denied::Scheme)));
    let short = NewEndpoint { secret: Some("whsec_AAAA".into()), ..endpoint(&[]) };
    let refused = outbox.register(&short).await.unwrap_err();
    assert!(matches!(refused, NotRegistered::Secret(_)), "{refused}");
    assert!(!refused.to_string().contains("AAAA"));
    assert_eq!(bed.store.count("SELECT url FROM hookproof_endpoints").await, 0);
    assert_eq!(bed.store.count("SELECT from_ms FROM hookproof_secrets WHERE FALSE").await, 0);
}
