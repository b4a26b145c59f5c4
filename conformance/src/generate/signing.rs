//! Signing, and the keys of secrets.

use hookproof_core::{
    codec,
    scheme::{Algorithm, Message, Time, Verifier, mac, named},
};
use serde_json::{Value, json};

use super::{
    Flag, Made,
    layouts::{BODY, LAYOUTS, NOW},
    plain,
};

/// What a sender writes: one secret, two secrets in both orders, an empty body.
pub(super) fn sign() -> Made {
    let mut cases = Vec::new();
    for layout in &LAYOUTS {
        let (mine, other) = (layout.secret, layout.other_secret);
        let variants: [(&str, Vec<&str>, &[u8], &str); 4] = [
            ("one", vec![mine], BODY, "one secret, one tag"),
            (
                "two",
                vec![mine, other],
                BODY,
                "two live secrets: one tag each where the scheme has a list, in their order; else the first",
            ),
            (
                "two-swapped",
                vec![other, mine],
                BODY,
                "the order of the tags is the order of the secrets",
            ),
            ("empty-body", vec![mine], b"", "an empty body is signed like any other"),
        ];
        for (name, secrets, body, why) in variants {
            let input = json!({
                "scheme": layout.scheme, "secrets": secrets, "id": "msg_2b7e151628aed2a6",
                "timestamp": NOW, "body_b64": codec::to_base64(body),
            });
            let expected = json!({ "headers": signed(layout.scheme, &secrets, body) });
            let id = format!("sign-{}-{name}", layout.slug);
            cases.push(plain(&id, "must", "SameBytes", (input, expected), why));
        }
    }
    cases.extend(written_otherwise());
    Made { name: "signature.sign.json".into(), kind: "signature.sign", flags: SIGN.to_vec(), cases }
}

/// Headers that are not laid out as the others are: a blank behind the comma, milliseconds, and the
/// names of other signed headers.
fn written_otherwise() -> Vec<Value> {
    let tag = |text: String| {
        let text = [text.as_bytes(), BODY].concat();
        codec::to_hex(&mac(Algorithm::HmacSha256, b"secret", &text).unwrap_or_default())
    };
    let others = json!([["X-Event-Id", "evt_1"], ["X-Event-Type", "invoice.paid"]]);
    let names = "x-event-id x-event-type";
    let rows = [
        (
            "workos",
            "workos-v1",
            json!(NOW * 1_000),
            Value::Null,
            ("WorkOS-Signature", format!("t={NOW}000, v1={}", tag(format!("{NOW}000.")))),
            "milliseconds, and a blank behind the comma",
        ),
        (
            "hook0",
            "hook0-v1",
            json!(NOW),
            others,
            (
                "X-Hook0-Signature",
                format!(
                    "t={NOW},h={names},v1={}",
                    tag(format!("{NOW}.{names}.evt_1.invoice.paid."))
                ),
            ),
            "the names of the other signed headers stand in the header",
        ),
    ];
    let case = |(name, scheme, time, others, header, why): (_, _, Value, Value, _, _)| {
        let mut input = json!({
            "scheme": scheme, "secrets": ["secret"], "timestamp": time,
            "body_b64": codec::to_base64(BODY),
        });
        if !others.is_null() {
            input["headers"] = others;
        }
        let expected = json!({ "headers": [header] });
        plain(&format!("sign-{name}"), "must", "SameBytes", (input, expected), why)
    };
    rows.into_iter().map(case).collect()
}

fn signed(scheme: &str, secrets: &[&str], body: &[u8]) -> Value {
    let scheme = named(scheme).expect("a row that ships");
    let mut verifier = Verifier::new(scheme);
    for secret in secrets {
        verifier.add(secret).expect("a secret of the layout");
    }
    let message = Message {
        id: "msg_2b7e151628aed2a6",
        timestamp: &NOW.to_string(),
        body,
        ..Message::default()
    };
    json!(verifier.sign(&message, Time::NotTested).expect("a whole message"))
}

/// Texts that are keys, and texts that only look like keys.
pub(super) fn secrets() -> Made {
    let cases = SECRETS
        .into_iter()
        .map(|(name, level, scheme, secret, key, why)| {
            let expected = match key {
                Some(key) => json!({ "result": "key", "key_hex": key }),
                None => json!({ "result": "error" }),
            };
            let input = json!({ "scheme": scheme, "secret": secret });
            plain(&format!("secret-{name}"), level, "OneKey", (input, expected), why)
        })
        .collect();
    Made {
        name: "secret.decode.more.json".into(),
        kind: "secret.decode",
        flags: vec![(
            "OneKey",
            "AUTH_BYPASS",
            "a lenient reading of a secret makes a short or empty key",
        )],
        cases,
    }
}

const SIGN: [Flag; 1] = [(
    "SameBytes",
    "INTEROP",
    "the tag is made over the bytes that are sent, with every live secret",
)];
/// Name, level, scheme, text, the key where it is one, and why.
type SecretRow =
    (&'static str, &'static str, &'static str, &'static str, Option<&'static str>, &'static str);
const SECRETS: [SecretRow; 22] = [
    (
        "pem-line-end",
        "must",
        "discord-ed25519",
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\n-----END PUBLIC KEY-----\n",
        Some("03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"),
        "a PEM file ends with a line end",
    ),
    (
        "pem-cr-lf",
        "must",
        "standard-webhooks-v1a",
        "-----BEGIN PUBLIC KEY-----\r\nMCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\r\n-----END PUBLIC KEY-----\r\n",
        Some("03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"),
        "line ends of another system",
    ),
    ("prefix-alone", "must", "swh", "whsec_", None, "nothing behind the prefix"),
    (
        "prefix-twice",
        "must",
        "swh",
        "whsec_whsec_MDEyMzQ1Njc4OWFiY2RlZg==",
        None,
        "the prefix pasted twice is no base64",
    ),
    ("empty", "must", "swh", "", None, "nothing"),
    ("15-bytes", "should", "swh", "whsec_MDEyMzQ1Njc4OWFiY2Rl", None, "one byte under the floor"),
    (
        "16-bytes",
        "should",
        "swh",
        "whsec_MDEyMzQ1Njc4OWFiY2RlZg==",
        Some("30313233343536373839616263646566"),
        "exactly the floor",
    ),
    (
        "unused-bits",
        "should",
        "swh",
        "whsec_MDEyMzQ1Njc4OWFiY2RlZh==",
        None,
        "bits behind the last byte are set: another text for the same key",
    ),
    ("inner-blank", "must", "swh", "whsec_MDEyMzQ1Njc4 OWFiY2RlZg==", None, "a blank within"),
    ("inner-newline", "must", "swh", "whsec_MDEyMzQ1Njc4\nOWFiY2RlZg==", None, "a line end within"),
    (
        "public-key",
        "must",
        "swh",
        "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
        None,
        "a public key must not become a shared secret",
    ),
    (
        "upper-prefix",
        "must",
        "swh",
        "WHSEC_MDEyMzQ1Njc4OWFiY2RlZg==",
        None,
        "another prefix is no base64",
    ),
    (
        "stripe-plain",
        "must",
        "stripe-v1",
        "secret",
        Some("736563726574"),
        "any text is its own key",
    ),
    ("stripe-blank", "must", "stripe-v1", " \t ", None, "blanks alone"),
    (
        "stripe-newline",
        "policy",
        "stripe-v1",
        "whsec_abc\n",
        None,
        "a line end from a file: refused rather than signed with",
    ),
    (
        "github-unicode",
        "must",
        "github-sha256",
        "schlüssel",
        Some("7363686cc3bc7373656c"),
        "the key is the text's UTF-8",
    ),
    (
        "github-inner-blank",
        "must",
        "github-sha256",
        "It's a Secret",
        Some("49742773206120536563726574"),
        "blanks within a text secret belong to it",
    ),
    (
        "paymos-whole",
        "must",
        "paymos-v1",
        "whsec_test_secret",
        Some("77687365635f746573745f736563726574"),
        "the prefix belongs to the key",
    ),
    ("adyen-hex", "must", "adyen-raw-body", "00ffAB", Some("00ffab"), "hexadecimal is decoded"),
    ("adyen-odd", "must", "adyen-raw-body", "00f", None, "an odd digit"),
    ("adyen-junk", "must", "adyen-raw-body", "zz", None, "no hexadecimal"),
    ("v1a-short", "must", "standard-webhooks-v1a", "whpk_MDEyMzQ1", None, "a short public key"),
];
