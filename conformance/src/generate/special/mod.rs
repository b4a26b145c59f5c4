//! What only some schemes have: public keys, bodies that carry their tag, message signatures, framing.

mod messages;

use hookproof_core::{
    codec,
    scheme::{self, Algorithm, Message, Time, Verifier},
};
use serde_json::{Value, json};

use super::{
    Flag, Made,
    layouts::{BODY, NOW},
};

/// One file of its own.
pub(super) fn file() -> Made {
    let mut cases = ed25519();
    cases.extend(adyen());
    cases.extend(mailgun());
    cases.extend(linear());
    cases.extend(tokens());
    cases.extend(several_headers());
    cases.extend(framing());
    cases.extend(messages::cases());
    cases.extend(urls());
    cases.extend(boundary());
    cases.extend(dates());
    Made {
        name: "signature.verify.special.json".into(),
        kind: "signature.verify",
        flags: FLAGS.to_vec(),
        cases,
    }
}

/// A case: id, flag, scheme and secrets, headers, body, what is right, and why.
pub(super) struct Row<'a> {
    pub(super) id: &'a str,
    pub(super) flag: &'a str,
    pub(super) scheme: &'a str,
    pub(super) secrets: &'a [&'a str],
    pub(super) headers: Vec<(&'a str, String)>,
    pub(super) body: &'a [u8],
    pub(super) accept: bool,
    pub(super) why: &'a str,
}

impl Row<'_> {
    pub(super) fn case(&self) -> Value {
        json!({
            "id": self.id,
            "level": "must",
            "flags": [self.flag],
            "input": {
                "scheme": self.scheme, "secrets": self.secrets, "headers": self.headers,
                "body_b64": codec::to_base64(self.body), "now": NOW,
            },
            "expected": { "result": if self.accept { "accept" } else { "reject" } },
            "why": self.why,
            "source": "generated",
        })
    }

    pub(super) fn with(&self, name: &str, value: Value) -> Value {
        let mut case = self.case();
        case["input"][name] = value;
        case
    }
}

fn mac(key: &str, text: &[u8]) -> Vec<u8> {
    scheme::mac(Algorithm::HmacSha256, key.as_bytes(), text).unwrap_or_default()
}

fn ed25519() -> Vec<Value> {
    let scheme = scheme::named("standard-webhooks-v1a").expect("a row that ships");
    let mut signer = Verifier::new(scheme);
    signer.add(PAIR).expect("a key pair");
    let timestamp = NOW.to_string();
    let message = Message { id: "msg_1", timestamp: &timestamp, body: BODY, ..Message::default() };
    let headers_made = signer.sign(&message, Time::NotTested).expect("a private half");
    let tag = headers_made.last().map_or("", |(_, value)| value.as_str());
    let headers = |value: String| {
        vec![
            ("webhook-id", "msg_1".to_owned()),
            ("webhook-timestamp", timestamp.clone()),
            ("webhook-signature", value),
        ]
    };
    let row = |id, secret, value: String, body, accept, why| {
        let scheme = "standard-webhooks-v1a";
        let row = Row {
            id,
            flag: "PublicKey",
            scheme,
            secrets: &[secret],
            headers: headers(value),
            body,
            accept,
            why,
        };
        row.case()
    };
    let junk = "v1a,AAAA";
    let short = &tag[..tag.len() - 4];
    let zero = format!("v1a,{}", codec::to_base64(&[0; 64]));
    let hmac_text = [b"msg_1.1700000000.", BODY].concat();
    let public = codec::base64(&PUBLIC.as_bytes()[5..]).unwrap_or_default();
    let forged = scheme::mac(Algorithm::HmacSha256, &public, &hmac_text).unwrap_or_default();
    let forged = format!("v1,{}", codec::to_base64(&forged));
    let mut all = vec![
        row("v1a-good", PUBLIC, tag.to_owned(), BODY, true, "signed with the private half"),
        row("v1a-tampered", PUBLIC, tag.to_owned(), b"{}", false, "another body"),
        row("v1a-other-key", OTHER_PUBLIC, tag.to_owned(), BODY, false, "another public key"),
        row("v1a-junk-before", PUBLIC, format!("{junk} {tag}"), BODY, true, "junk blocks nothing"),
        row(
            "v1a-v1-beside",
            PUBLIC,
            format!("v1,AAAA {tag}"),
            BODY,
            true,
            "a v1 member is skipped",
        ),
        row("v1a-short", PUBLIC, short.to_owned(), BODY, false, "a signature cut short"),
        row("v1a-zero", PUBLIC, zero, BODY, false, "a signature of zeros"),
        row("v1a-as-v1", PUBLIC, tag.replace("v1a,", "v1,"), BODY, false, "under another version"),
        row(
            "v1a-hmac-with-public-key",
            PUBLIC,
            forged.clone(),
            BODY,
            false,
            "an HMAC made with the public key, which everybody has",
        ),
    ];
    let confused = Row {
        id: "v1-with-public-key",
        flag: "PublicKey",
        scheme: "standard-webhooks-v1",
        secrets: &[PUBLIC],
        headers: headers(forged),
        body: BODY,
        accept: false,
        why: "a public key is no shared secret",
    };
    all.push(confused.case());
    all
}

fn adyen() -> Vec<Value> {
    let key = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";
    let item = |reference: &str, amount: &str, signed: &str| {
        let text = format!("{reference}::Shop:order-1:{signed}:EUR:AUTHORISATION:true");
        let key = codec::hex(key.as_bytes()).unwrap_or_default();
        let tag = scheme::mac(Algorithm::HmacSha256, &key, text.as_bytes()).unwrap_or_default();
        format!(
            "{{\"NotificationRequestItem\":{{\"pspReference\":\"{reference}\",\"merchantAccountCode\":\
             \"Shop\",\"merchantReference\":\"order-1\",\"amount\":{{\"value\":{amount},\"currency\":\
             \"EUR\"}},\"eventCode\":\"AUTHORISATION\",\"success\":\"true\",\"additionalData\":\
             {{\"hmacSignature\":\"{}\"}}}}}}",
            codec::to_base64(&tag)
        )
    };
    let list = |items: &[String]| format!("{{\"notificationItems\":[{}]}}", items.join(","));
    let good = item("A1", "1000", "1000");
    let bare = good.replace("{\"NotificationRequestItem\":", "");
    let unsigned = good.replace("hmacSignature", "other");
    let twice = good.replace("\"value\":1000", "\"value\":1000,\"value\":1");
    let rows: [(&str, String, bool, &str); 8] = [
        ("adyen-item", list(std::slice::from_ref(&good)), true, "one signed item"),
        ("adyen-two-items", list(&[good.clone(), item("A2", "5", "5")]), true, "two signed items"),
        ("adyen-bare-item", bare[..bare.len() - 1].to_owned(), true, "the item alone"),
        (
            "adyen-second-changed",
            list(&[good.clone(), item("A2", "9", "5")]),
            false,
            "every item has to verify",
        ),
        ("adyen-second-unsigned", list(&[good.clone(), unsigned]), false, "an item without a tag"),
        ("adyen-no-items", list(&[]), false, "no item: nothing is signed"),
        ("adyen-value-twice", list(&[twice]), false, "a signed field stands there twice"),
        ("adyen-not-json", "notificationItems".into(), false, "the tag cannot be found"),
    ];
    rows.into_iter()
        .map(|(id, body, accept, why)| {
            let row = Row {
                id,
                flag: "TagInBody",
                scheme: "adyen-payments-fields",
                secrets: &[key],
                headers: Vec::new(),
                body: body.as_bytes(),
                accept,
                why,
            };
            row.case()
        })
        .collect()
}

fn mailgun() -> Vec<Value> {
    let tag = codec::to_hex(&mac("key-1", b"1700000000token-1"));
    let json = |token: &str, event: &str| {
        format!(
            "{{\"signature\":{{\"timestamp\":\"1700000000\",\"token\":\"{token}\",\"signature\":\
             \"{tag}\"}},\"event-data\":{{\"event\":\"{event}\"}}}}"
        )
    };
    let form = format!("timestamp=1700000000&token=token-1&signature={tag}");
    let rows: [(&str, String, bool, &str); 6] = [
        ("mailgun-json", json("token-1", "opened"), true, "timestamp and token are signed"),
        (
            "mailgun-event-changed",
            json("token-1", "complained"),
            true,
            "the event is not signed: this passes, and a user has to know",
        ),
        ("mailgun-token-changed", json("token-2", "opened"), false, "the token is signed"),
        ("mailgun-form", form.clone(), true, "the same in a form"),
        ("mailgun-form-twice", format!("{form}&token=token-2"), false, "two tokens"),
        ("mailgun-nothing", "{}".into(), false, "nothing to verify"),
    ];
    rows.into_iter()
        .map(|(id, body, accept, why)| {
            let row = Row {
                id,
                flag: "TagInBody",
                scheme: "mailgun-body-token",
                secrets: &["key-1"],
                headers: Vec::new(),
                body: body.as_bytes(),
                accept,
                why,
            };
            row.case()
        })
        .collect()
}

fn linear() -> Vec<Value> {
    let rows: [(&str, &str, bool, &str); 5] = [
        (
            "linear-fresh",
            "{\"webhookTimestamp\":1700000000000}",
            true,
            "the time of the body, fresh",
        ),
        (
            "linear-edge",
            "{\"webhookTimestamp\":1699999940000}",
            true,
            "exactly at the edge of 60 s",
        ),
        (
            "linear-old",
            "{\"webhookTimestamp\":1699999939999}",
            false,
            "a millisecond past the edge",
        ),
        ("linear-none", "{\"a\":1}", false, "no time in the body"),
        (
            "linear-twice",
            "{\"webhookTimestamp\":1,\"webhookTimestamp\":1700000000000}",
            false,
            "two times in the body",
        ),
    ];
    rows.into_iter()
        .map(|(id, body, accept, why)| {
            let tag = codec::to_hex(&mac("linear-secret", body.as_bytes()));
            let row = Row {
                id,
                flag: "TimeInBody",
                scheme: "linear-hex",
                secrets: &["linear-secret"],
                headers: vec![("Linear-Signature", tag)],
                body: body.as_bytes(),
                accept,
                why,
            };
            row.case()
        })
        .collect()
}

fn tokens() -> Vec<Value> {
    let rows: [(&str, &str, bool, &str); 4] = [
        ("token-good", "token-1", true, "the shared token"),
        ("token-other", "token-2", false, "another token"),
        ("token-prefix", "token", false, "the front of the token"),
        ("token-longer", "token-12", false, "the token and more"),
    ];
    rows.into_iter()
        .map(|(id, token, accept, why)| {
            let row = Row {
                id,
                flag: "Token",
                scheme: "gitlab-token",
                secrets: &["token-1"],
                headers: vec![("X-Gitlab-Token", token.to_owned())],
                body: BODY,
                accept,
                why,
            };
            row.case()
        })
        .collect()
}

fn several_headers() -> Vec<Value> {
    let tag = |key: &str| codec::to_base64(&mac(key, BODY));
    let row = |id, headers, accept, why| {
        let row = Row {
            id,
            flag: "HeaderPerKey",
            scheme: "docusign-hmac",
            secrets: &["key-1"],
            headers,
            body: BODY,
            accept,
            why,
        };
        row.case()
    };
    vec![
        row(
            "docusign-second",
            vec![
                ("X-DocuSign-Signature-1", tag("key-0")),
                ("x-docusign-signature-2", tag("key-1")),
            ],
            true,
            "the header of the second key",
        ),
        row("docusign-tenth", vec![("X-DocuSign-Signature-10", tag("key-1"))], true, "two digits"),
        row(
            "docusign-junk-first",
            vec![("X-DocuSign-Signature-1", "!".into()), ("X-DocuSign-Signature-2", tag("key-1"))],
            true,
            "junk in another header blocks nothing",
        ),
        row(
            "docusign-no-number",
            vec![("X-DocuSign-Signature-", tag("key-1"))],
            false,
            "no number",
        ),
        row("docusign-word", vec![("X-DocuSign-Signature-x", tag("key-1"))], false, "no number"),
    ]
}

fn framing() -> Vec<Value> {
    let tag = |body: &[u8]| format!("sha256={}", codec::to_hex(&mac("hub-secret-01", body)));
    let length = BODY.len();
    let rows = [
        (
            "framing-chunks",
            BODY,
            json!({ "transfer_encoding": "chunked", "chunks": [1, 2, length - 3] }),
            true,
            "chunks are one body",
        ),
        ("framing-length", BODY, json!({ "content_length": length }), true, "the announced length"),
        (
            "framing-truncated",
            BODY,
            json!({ "content_length": length + 1 }),
            false,
            "fewer bytes than announced: not the request that was sent",
        ),
        (
            "framing-last-chunk-lost",
            BODY,
            json!({ "transfer_encoding": "chunked", "chunks": [length, 5] }),
            false,
            "a chunk did not arrive",
        ),
        (
            "framing-zero",
            BODY,
            json!({ "content_length": 0 }),
            false,
            "nothing was announced, so nothing is the body",
        ),
        (
            "framing-empty",
            &[][..],
            json!({ "transfer_encoding": "chunked", "chunks": [] }),
            true,
            "an empty chunked body",
        ),
    ];
    rows.into_iter()
        .map(|(id, body, framing, accept, why)| {
            let row = Row {
                id,
                flag: "Framing",
                scheme: "github-sha256",
                secrets: &["hub-secret-01"],
                headers: vec![("X-Hub-Signature-256", tag(body))],
                body,
                accept,
                why,
            };
            row.with("framing", framing)
        })
        .collect()
}

fn urls() -> Vec<Value> {
    let url = "https://hooks.example.com/square";
    let signed = |url: &str| codec::to_base64(&mac("square-key", &[url.as_bytes(), BODY].concat()));
    let rows = [
        ("square-exact", url, true, "the configured URL, byte for byte"),
        ("square-slash", "https://hooks.example.com/square/", false, "a slash more"),
        ("square-port", "https://hooks.example.com:443/square", false, "the port spelled out"),
        ("square-upper", "https://HOOKS.example.com/square", false, "another case"),
    ];
    rows.into_iter()
        .map(|(id, configured, accept, why)| {
            let row = Row {
                id,
                flag: "SignedUrl",
                scheme: "square-hmacsha256",
                secrets: &["square-key"],
                headers: vec![("x-square-hmacsha256-signature", signed(url))],
                body: BODY,
                accept,
                why,
            };
            row.with("url", json!(configured))
        })
        .collect()
}

/// One signed text, taken apart at another dot: ids with dots are authentic, and whoever lets others
/// choose both id and body has to mind what they look like.
fn boundary() -> Vec<Value> {
    let key = codec::base64(SHARED.as_bytes()).unwrap_or_default();
    let secret = format!("whsec_{SHARED}");
    let text = b"msg_1.1699999999.1700000000.{}";
    let tag = scheme::mac(Algorithm::HmacSha256, &key, text).unwrap_or_default();
    let tag = format!("v1,{}", codec::to_base64(&tag));
    let headers = |id: &str, time: &str| {
        vec![
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", time.to_owned()),
            ("webhook-signature", tag.clone()),
        ]
    };
    let row = |id, headers, body, accept, why| {
        let scheme = "standard-webhooks-v1";
        Row { id, flag: "Boundary", scheme, secrets: &[&secret], headers, body, accept, why }.case()
    };
    let mut cases = vec![
        row(
            "boundary-as-sent",
            headers("msg_1", "1699999999"),
            b"1700000000.{}",
            true,
            "a body that begins like a time",
        ),
        row(
            "boundary-shifted",
            headers("msg_1.1699999999", "1700000000"),
            b"{}",
            true,
            "the same signed text with the time in the id: Standard Webhooks has senders keep dots out of \
             ids that others choose; a receiver may refuse it, or deduplicate by the body",
        ),
    ];
    cases[1]["level"] = json!("policy");
    cases.extend(dotted_ids());
    cases
}

/// Ids with dots and digits, as senders make them.
fn dotted_ids() -> Vec<Value> {
    let ids = [
        ("digit", "inv-1.0"),
        ("version", "v1.25"),
        ("date", "evt_2023.11.14"),
        ("address", "user@ex.com.12345678"),
        ("time", "order.1700000001"),
    ];
    let secret = format!("whsec_{SHARED}");
    let key = codec::base64(SHARED.as_bytes()).unwrap_or_default();
    let of = |scheme, names: [&str; 3], (slug, id): (&str, &str)| {
        let text = [format!("{id}.{NOW}.").as_bytes(), BODY].concat();
        let tag = scheme::mac(Algorithm::HmacSha256, &key, &text).unwrap_or_default();
        let values = [id.to_owned(), NOW.to_string(), format!("v1,{}", codec::to_base64(&tag))];
        let mut case = Row {
            id: &format!("{}-dotted-{slug}", names[0]),
            flag: "Boundary",
            scheme,
            secrets: &[&secret],
            headers: names.into_iter().zip(values).collect(),
            body: BODY,
            accept: true,
            why: "an id with dots and digits is authentic",
        }
        .case();
        case["recipe"] = json!({
            "timestamp_offset_s": 0,
            "tags": [{
                "algorithm": "hmac-sha256", "key_hex": codec::to_hex(&key), "id": id,
                "content": "{id}.{timestamp}.{body}", "encoding": "base64",
            }],
            "headers": [[names[0], id], [names[1], "{timestamp}"], [names[2], "v1,{tag0}"]],
        });
        case
    };
    let swh = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let svix = ["svix-id", "svix-timestamp", "svix-signature"];
    let by_swh = ids.into_iter().map(|id| of("standard-webhooks-v1", swh, id));
    by_swh.chain(ids.into_iter().map(|id| of("svix-v1", svix, id))).collect()
}

/// The obsolete form of a date, which has two digits for the year.
fn dates() -> Vec<Value> {
    let rows = [
        ("this-year", "Tuesday, 14-Nov-23 22:13:20 GMT", NOW, true, "a year of this century"),
        (
            "last-century",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            784_111_777,
            true,
            "a year of the last one",
        ),
        (
            "past",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            NOW,
            false,
            "over fifty years ahead is the past",
        ),
    ];
    let case = |(slug, date, now, accept, why): (&str, &str, i64, bool, &str)| {
        let tag = mac("secret", &[BODY, date.as_bytes()].concat());
        let row = Row {
            id: &format!("klaviyo-two-digit-year-{slug}"),
            flag: "TwoDigitYear",
            scheme: "klaviyo-sha256",
            secrets: &["secret"],
            headers: vec![
                ("Klaviyo-Signature", codec::to_hex(&tag)),
                ("Klaviyo-Timestamp", date.to_owned()),
            ],
            body: BODY,
            accept,
            why,
        };
        row.with("now", json!(now))
    };
    rows.into_iter().map(case).collect()
}

/// A seed of counting bytes and its public half: public, for tests alone.
const PAIR: &str =
    "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA==";
const PUBLIC: &str = "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";
const OTHER_PUBLIC: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
const FLAGS: [Flag; 10] = [
    ("PublicKey", "AUTH_BYPASS", "a public key verifies, and is never a shared secret"),
    ("TagInBody", "AUTH_BYPASS", "what is signed has to be taken out of the body, each part of it"),
    ("TimeInBody", "AUTH_BYPASS", "the signed time stands in the body"),
    ("Token", "AUTH_BYPASS", "a token is compared whole"),
    ("HeaderPerKey", "AVAILABILITY", "each key has a header of its own"),
    ("Framing", "AUTH_BYPASS", "the body is the bytes that arrived, all of them"),
    ("MessageSignature", "AUTH_BYPASS", "the covered components decide, the digest is recomputed"),
    ("SignedUrl", "INTEROP", "the URL is signed as it was configured"),
    (
        "Boundary",
        "INTEROP",
        "ids may hold dots and digits; one signed text can be taken apart in two ways",
    ),
    (
        "TwoDigitYear",
        "AVAILABILITY",
        "an obsolete date lies at most fifty years ahead (RFC 9110 5.6.7)",
    ),
];
/// A shared secret of 32 bytes.
const SHARED: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
