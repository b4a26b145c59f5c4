//! Handshakes: what has to be right before an endpoint says that it wants its deliveries (R18).

use hookproof_core::{
    codec,
    scheme::{self, Algorithm},
};
use serde_json::{Value, json};

use super::{Flag, Made, layouts::NOW, plain};

pub(super) fn file() -> Made {
    let mut cases = hubs();
    cases.extend(slack());
    cases.extend(twitch());
    cases.extend(zoom());
    cases.extend(crc());
    cases.extend(unproven());
    cases.extend(origins());
    Made {
        name: "handshake.answer.json".into(),
        kind: "handshake.answer",
        flags: FLAGS.to_vec(),
        cases,
    }
}

fn case(name: &str, flag: &str, input: Value, expected: Value, why: &str) -> Value {
    plain(&format!("handshake-{name}"), "must", flag, (input, expected), why)
}

fn refused() -> Value {
    json!({ "result": "refuse" })
}

fn delivery() -> Value {
    json!({ "result": "delivery" })
}

fn echoed(text: &str) -> Value {
    json!({ "result": "answer", "status": 200, "headers": [["Content-Type", "text/plain"]], "body": text })
}

fn tag(key: &str, text: &str) -> Vec<u8> {
    scheme::mac(Algorithm::HmacSha256, key.as_bytes(), text.as_bytes()).unwrap_or_default()
}

/// Meta and `WebSub`: a GET with a challenge.
fn hubs() -> Vec<Value> {
    let topic = "https://feed.example.com/";
    let meta = |query: &str, agreed: Option<&str>| {
        let url = format!("https://hooks.example.com/in?{query}");
        let input = json!({ "scheme": "github-sha256", "secrets": ["app-secret"], "method": "GET", "url": url });
        with(input, "agreed", agreed)
    };
    let websub = |query: &str, agreed: Option<&str>| {
        let url = format!("https://hooks.example.com/in?{query}");
        let input = json!({ "scheme": "hub-signature-*", "secrets": ["hub-secret"], "method": "GET", "url": url });
        with(input, "agreed", agreed)
    };
    let good = "hub.mode=subscribe&hub.verify_token=token-1&hub.challenge=1158201444";
    let feed = "hub.mode=subscribe&hub.topic=https%3A%2F%2Ffeed.example.com%2F&hub.challenge=abc";
    let rows = [
        ("meta-good", meta(good, Some("token-1")), echoed("1158201444"), "the agreed token"),
        ("meta-other-token", meta(good, Some("token-2")), refused(), "another token"),
        (
            "meta-none-agreed",
            meta(good, None),
            refused(),
            "no token was agreed on: anybody could ask",
        ),
        (
            "meta-blank-agreed",
            meta("hub.mode=subscribe&hub.verify_token=&hub.challenge=1", Some("")),
            refused(),
            "a blank token is no token",
        ),
        (
            "meta-no-token",
            meta("hub.mode=subscribe&hub.challenge=1", Some("token-1")),
            refused(),
            "no token is shown",
        ),
        (
            "meta-two-tokens",
            meta(&format!("{good}&hub.verify_token=token-2"), Some("token-1")),
            refused(),
            "two tokens are shown",
        ),
        (
            "meta-two-challenges",
            meta(&format!("{good}&hub.challenge=2"), Some("token-1")),
            refused(),
            "two challenges",
        ),
        (
            "meta-unsubscribe",
            meta(&good.replace("subscribe", "unsubscribe"), Some("token-1")),
            refused(),
            "another mode",
        ),
        (
            "meta-page",
            meta(
                "hub.mode=subscribe&hub.verify_token=token-1&hub.challenge=%3Cscript%3Ealert(1)%20%3C/script%3E",
                Some("token-1"),
            ),
            refused(),
            "a page is never echoed",
        ),
        ("meta-delivery", meta("a=b", Some("token-1")), delivery(), "no challenge, no handshake"),
        ("websub-good", websub(feed, Some(topic)), echoed("abc"), "the topic that was asked for"),
        (
            "websub-other-topic",
            websub(feed, Some("https://other.example.com/")),
            refused(),
            "nobody here asked for this topic",
        ),
        ("websub-none-agreed", websub(feed, None), refused(), "nobody here asked for any topic"),
        (
            "websub-unsubscribe",
            websub(&feed.replace("subscribe", "unsubscribe"), Some(topic)),
            refused(),
            "a stranger asked the hub to end the subscription",
        ),
    ];
    rows.into_iter()
        .map(|(name, input, right, why)| case(name, "Agreed", input, right, why))
        .collect()
}

fn with(mut input: Value, name: &str, value: Option<&str>) -> Value {
    if let Some(value) = value {
        input[name] = json!(value);
    }
    input
}

/// A signed POST: how it is signed, and with which secret.
fn signed(scheme: &str, headers: &Value, body: &str) -> Value {
    json!({
        "scheme": scheme, "secrets": ["old-secret", "new-secret"], "method": "POST",
        "headers": headers, "body_b64": codec::to_base64(body.as_bytes()), "now": NOW,
    })
}

fn slack() -> Vec<Value> {
    let ask = |body: &str, key: &str, at: i64| {
        let text = format!("v0:{at}:{body}");
        let headers = json!([
            ["X-Slack-Request-Timestamp", at.to_string()],
            ["X-Slack-Signature", format!("v0={}", codec::to_hex(&tag(key, &text)))],
        ]);
        signed("slack-v0", &headers, body)
    };
    let hello = "{\"type\":\"url_verification\",\"challenge\":\"3eZbrw1a\"}";
    let none = "{\"type\":\"url_verification\"}";
    let mut unsigned = ask(hello, "new-secret", NOW);
    unsigned["headers"] = json!([]);
    let rows = [
        ("slack-good", ask(hello, "new-secret", NOW), echoed("3eZbrw1a"), "signed and fresh"),
        ("slack-forged", ask(hello, "other", NOW), refused(), "signed with another secret"),
        ("slack-old", ask(hello, "new-secret", NOW - 301), refused(), "signed too long ago"),
        ("slack-unsigned", unsigned, refused(), "not signed at all"),
        ("slack-no-challenge", ask(none, "new-secret", NOW), refused(), "nothing to echo"),
        (
            "slack-delivery",
            ask("{\"type\":\"event_callback\",\"challenge\":\"a\"}", "new-secret", NOW),
            delivery(),
            "another type is an event",
        ),
    ];
    rows.into_iter()
        .map(|(name, input, right, why)| case(name, "Signed", input, right, why))
        .collect()
}

fn twitch() -> Vec<Value> {
    let ask = |kind: &str, key: &str| {
        let (time, body) = ("2023-11-14T22:13:20Z", "{\"challenge\":\"pogchamp-kappa\"}");
        let tag = codec::to_hex(&tag(key, &format!("m1{time}{body}")));
        let headers = json!([
            ["Twitch-Eventsub-Message-Id", "m1"],
            ["Twitch-Eventsub-Message-Timestamp", time],
            ["Twitch-Eventsub-Message-Type", kind],
            ["Twitch-Eventsub-Message-Signature", format!("sha256={tag}")],
        ]);
        signed("twitch-sha256", &headers, body)
    };
    let verification = "webhook_callback_verification";
    let rows = [
        ("twitch-good", ask(verification, "old-secret"), echoed("pogchamp-kappa"), "signed"),
        ("twitch-forged", ask(verification, "other"), refused(), "signed with another secret"),
        ("twitch-delivery", ask("notification", "old-secret"), delivery(), "another type"),
    ];
    rows.into_iter()
        .map(|(name, input, right, why)| case(name, "Signed", input, right, why))
        .collect()
}

fn zoom() -> Vec<Value> {
    let ask = |token: &str, key: &str| {
        let body = format!(
            "{{\"event\":\"endpoint.url_validation\",\"payload\":{{\"plainToken\":\"{token}\"}}}}"
        );
        let tag = codec::to_hex(&tag(key, &format!("v0:{NOW}:{body}")));
        let headers = json!([
            ["x-zm-request-timestamp", NOW.to_string()],
            ["x-zm-signature", format!("v0={tag}")],
        ]);
        signed("zoom-v0", &headers, &body)
    };
    let right = |key: &str| {
        let tag = codec::to_hex(&tag(key, "qgg8vlvZRS6UYooatFL8Aw"));
        let body =
            format!("{{\"plainToken\":\"qgg8vlvZRS6UYooatFL8Aw\",\"encryptedToken\":\"{tag}\"}}");
        json!({ "result": "answer", "status": 200, "headers": [["Content-Type", "application/json"]], "body": body })
    };
    let token = "qgg8vlvZRS6UYooatFL8Aw";
    let rows = [
        (
            "zoom-old-secret",
            ask(token, "old-secret"),
            right("old-secret"),
            "the secret that signed it",
        ),
        (
            "zoom-new-secret",
            ask(token, "new-secret"),
            right("new-secret"),
            "the secret that signed it",
        ),
        ("zoom-forged", ask(token, "other"), refused(), "nobody's secret: no HMAC for a stranger"),
        (
            "zoom-content",
            ask("v0:1700000000:{}", "new-secret"),
            refused(),
            "a token that could be a signed content",
        ),
    ];
    rows.into_iter()
        .map(|(name, input, right, why)| case(name, "Oracle", input, right, why))
        .collect()
}

fn crc() -> Vec<Value> {
    let ask = |query: &str| {
        let url = format!("https://hooks.example.com/in?{query}");
        json!({ "scheme": "x-crc", "secrets": ["consumer-secret"], "method": "GET", "url": url })
    };
    let right = |token: &str| {
        let tag = codec::to_base64(&tag("consumer-secret", token));
        let body = format!("{{\"response_token\":\"sha256={tag}\"}}");
        json!({ "result": "answer", "status": 200, "headers": [["Content-Type", "application/json"]], "body": body })
    };
    let token = "YzE5NzUyMTktZDU0Zi00M2Mz";
    let mut no_secret = ask("crc_token=abc");
    no_secret["secrets"] = json!([""]);
    let rows = [
        ("x-good", ask(&format!("crc_token={token}&nonce=abc")), right(token), "a token"),
        ("x-padded", ask("crc_token=YWI%3D"), right("YWI="), "an escape in the query"),
        (
            "x-body",
            ask("crc_token=%7B%22tweet_create_events%22%3A%5B%5D%7D"),
            refused(),
            "a whole body: the answer would be the signature of a forged delivery",
        ),
        ("x-list", ask("crc_token=%5B%5D"), refused(), "a body that is a list"),
        ("x-empty", ask("crc_token="), refused(), "nothing: the signature of an empty body"),
        ("x-two", ask("crc_token=a&crc_token=b"), refused(), "two tokens"),
        ("x-no-secret", no_secret, refused(), "an empty key, which anybody has"),
    ];
    rows.into_iter()
        .map(|(name, input, right, why)| case(name, "Oracle", input, right, why))
        .collect()
}

/// Handshakes that prove nothing, and whose answer holds no secret.
fn unproven() -> Vec<Value> {
    let dropbox = |query: &str| {
        let url = format!("https://hooks.example.com/in?{query}");
        json!({ "scheme": "dropbox-hex", "secrets": ["s"], "method": "GET", "url": url })
    };
    let trello = |method: &str| json!({ "scheme": "trello-sha1", "secrets": ["s"], "method": method, "url": "https://hooks.example.com/in" });
    let rows = [
        ("dropbox-good", dropbox("challenge=abc123"), echoed("abc123"), "an echo"),
        ("dropbox-line-end", dropbox("challenge=a%0d%0aSet-Cookie:b"), refused(), "a line end"),
        ("dropbox-page", dropbox("challenge=%3Cb%3E%20x"), refused(), "a blank: more than a token"),
        ("trello-head", trello("HEAD"), json!({ "result": "answer", "status": 200 }), "a HEAD"),
        ("trello-post", trello("POST"), delivery(), "anything else is a delivery"),
    ];
    rows.into_iter()
        .map(|(name, input, right, why)| case(name, "NoPage", input, right, why))
        .collect()
}

fn origins() -> Vec<Value> {
    let ask = |origins: &[&str], agreed: Option<&str>| {
        let headers: Vec<_> =
            origins.iter().map(|of| json!(["WebHook-Request-Origin", of])).collect();
        let input = json!({ "scheme": "none", "method": "OPTIONS", "headers": headers });
        with(input, "agreed", agreed)
    };
    let allowed = json!({
        "result": "answer", "status": 200, "headers": [["WebHook-Allowed-Origin", "sender.example.com"]],
    });
    let sender = Some("sender.example.com");
    let rows = [
        ("cloudevents-good", ask(&["sender.example.com"], sender), allowed, "the allowed origin"),
        ("cloudevents-other", ask(&["other.example.com"], sender), refused(), "another origin"),
        (
            "cloudevents-none-agreed",
            ask(&["sender.example.com"], None),
            refused(),
            "none is allowed",
        ),
        (
            "cloudevents-two",
            ask(&["sender.example.com", "other.example.com"], sender),
            refused(),
            "two origins",
        ),
        ("cloudevents-no-origin", ask(&[], sender), delivery(), "no origin, no handshake"),
    ];
    rows.into_iter()
        .map(|(name, input, right, why)| case(name, "Agreed", input, right, why))
        .collect()
}

const FLAGS: [Flag; 4] = [
    (
        "Agreed",
        "AUTH_BYPASS",
        "an answer says that deliveries are wanted: only to whom it was agreed with",
    ),
    (
        "Signed",
        "AUTH_BYPASS",
        "a challenge that is signed is verified like a delivery, then answered",
    ),
    ("Oracle", "AUTH_BYPASS", "an answer that signs what a stranger chose signs forgeries"),
    ("NoPage", "AUTH_BYPASS", "what is echoed is a token, never a page or a header"),
];
