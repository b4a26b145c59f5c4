//! Bodies that carry their tag or their time.

use hookproof_core::{
    codec,
    scheme::{self, Algorithm},
};
use serde_json::{Value, json};

use super::{ADYEN, Row, mac};

pub(super) fn adyen() -> Vec<Value> {
    let key = ADYEN;
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

pub(super) fn mailgun() -> Vec<Value> {
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
            let mut case = row.case();
            if body.contains(&tag) {
                case["recipe"] = json!({
                    "timestamp_offset_s": 0,
                    "tags": [{
                        "algorithm": "hmac-sha256", "key_hex": codec::to_hex(b"key-1"),
                        "content": "{timestamp}token-1", "encoding": "hex",
                    }],
                    "headers": [],
                    "body": body.replace("1700000000", "{timestamp}").replace(&tag, "{tag0}"),
                });
            }
            case
        })
        .collect()
}

pub(super) fn linear() -> Vec<Value> {
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
