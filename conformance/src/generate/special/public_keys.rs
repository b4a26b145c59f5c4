//! Ed25519: a public key verifies, and is never a shared secret.

use hookproof_core::{
    codec,
    scheme::{self, Algorithm},
};
use serde_json::{Value, json};

use super::{OTHER_PUBLIC, PAIR, PUBLIC, Row};
use crate::generate::layouts::{BODY, NOW};

pub(super) fn cases() -> Vec<Value> {
    let signed = [format!("msg_1.{NOW}.").as_bytes(), BODY].concat();
    let signature = scheme::sign_ed25519(&seed(), &signed).unwrap_or_default();
    let tag = codec::to_base64(&signature);
    let short = format!("v1a,{}", &tag[..tag.len() - 4]);
    let zero = format!("v1a,{}", codec::to_base64(&[0; 64]));
    let public = codec::base64(&PUBLIC.as_bytes()[5..]).unwrap_or_default();
    let forged = scheme::mac(Algorithm::HmacSha256, &public, &signed).unwrap_or_default();
    let forged = format!("v1,{}", codec::to_base64(&forged));
    let rows: [Signed<'_>; 9] = [
        ("good", PUBLIC, "v1a,{tag0}", BODY, true, "signed with the private half"),
        ("tampered", PUBLIC, "v1a,{tag0}", b"{}", false, "another body"),
        ("other-key", OTHER_PUBLIC, "v1a,{tag0}", BODY, false, "another public key"),
        ("junk-before", PUBLIC, "v1a,AAAA v1a,{tag0}", BODY, true, "junk blocks nothing"),
        ("v1-beside", PUBLIC, "v1,AAAA v1a,{tag0}", BODY, true, "a v1 member is skipped"),
        ("short", PUBLIC, &short, BODY, false, "a signature cut short"),
        ("zero", PUBLIC, &zero, BODY, false, "a signature of zeros"),
        ("as-v1", PUBLIC, "v1,{tag0}", BODY, false, "under another version"),
        (
            "hmac-with-public-key",
            PUBLIC,
            &forged,
            BODY,
            false,
            "an HMAC made with the public key, which everybody has",
        ),
    ];
    let case = |(name, public, open, body, accept, why): Signed<'_>| {
        let row = Row {
            id: &format!("v1a-{name}"),
            flag: "PublicKey",
            scheme: "standard-webhooks-v1a",
            secrets: &[public],
            headers: headers(open.replace("{tag0}", &tag)),
            body,
            accept,
            why,
        };
        let mut case = row.case();
        if open.contains("{tag0}") {
            case["recipe"] = recipe(open);
        }
        case
    };
    let mut all: Vec<Value> = rows.into_iter().map(case).collect();
    let confused = Row {
        id: "v1-with-public-key",
        flag: "PublicKey",
        scheme: "standard-webhooks-v1",
        secrets: &[PUBLIC],
        headers: headers(forged.clone()),
        body: BODY,
        accept: false,
        why: "a public key is no shared secret",
    };
    all.push(confused.case());
    all
}

/// Name, public key, signature header with its tag left open, body, what is right, and why.
type Signed<'a> = (&'a str, &'a str, &'a str, &'a [u8], bool, &'a str);

/// The first half of a key pair.
fn seed() -> Vec<u8> {
    let pair = codec::base64(&PAIR.as_bytes()[5..]).unwrap_or_default();
    pair[..32].to_vec()
}

fn headers(signature: String) -> Vec<(&'static str, String)> {
    vec![
        ("webhook-id", "msg_1".to_owned()),
        ("webhook-timestamp", NOW.to_string()),
        ("webhook-signature", signature),
    ]
}

/// The body is named, since a tampered one was signed as it was.
fn recipe(open: &str) -> Value {
    json!({
        "timestamp_offset_s": 0,
        "tags": [{
            "algorithm": "ed25519", "key_hex": codec::to_hex(&seed()), "id": "msg_1",
            "content": "{id}.{timestamp}.{body}", "encoding": "base64",
            "body_b64": codec::to_base64(BODY),
        }],
        "headers": [
            ["webhook-id", "msg_1"], ["webhook-timestamp", "{timestamp}"],
            ["webhook-signature", open],
        ],
    })
}
