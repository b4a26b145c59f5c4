//! What only some schemes have: public keys, bodies that carry their tag, message signatures, framing.

mod bodies;
mod messages;
mod public_keys;

use hookproof_core::{
    codec,
    scheme::{self, Algorithm},
};
use serde_json::{Value, json};

use super::{
    Flag, Made,
    layouts::{BODY, NOW},
};
use crate::recipe;

/// One file of its own.
pub(super) fn file() -> Made {
    let mut cases = public_keys::cases();
    cases.extend(bodies::adyen());
    cases.extend(bodies::mailgun());
    cases.extend(bodies::linear());
    cases.extend(tokens());
    cases.extend(several_headers());
    cases.extend(protocol());
    cases.extend(framing());
    cases.extend(messages::cases());
    cases.extend(urls());
    cases.extend(boundary());
    cases.extend(dates());
    cases.extend(messages::listed_headers());
    for case in &mut cases {
        with_recipe(case);
    }
    Made {
        name: "signature.verify.special.json".into(),
        kind: "signature.verify",
        flags: FLAGS.to_vec(),
        cases,
    }
}

/// Adds how a request with a signed time is made afresh.
fn with_recipe(case: &mut Value) {
    if case.get("recipe").is_none()
        && let Some(recipe) = case["input"].as_object().and_then(|i| recipe::derived(i, &[PAIR]))
    {
        case["recipe"] = recipe;
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

/// Adyen names the algorithm beside the tag.
fn protocol() -> Vec<Value> {
    let key = codec::hex(ADYEN.as_bytes()).unwrap_or_default();
    let tag = scheme::mac(Algorithm::HmacSha256, &key, BODY).unwrap_or_default();
    let rows: [(&str, &[&str], bool, &str); 4] = [
        ("named", &["HmacSHA256"], true, "the algorithm is named"),
        ("absent", &[], true, "it is not signed, and may be missing"),
        ("other", &["HmacSHA1"], false, "another algorithm is named"),
        ("two", &["HmacSHA256", "none"], false, "two are named"),
    ];
    let case = |(name, said, accept, why): (&str, &[&str], _, _)| {
        let mut headers = vec![("hmacsignature", codec::to_base64(&tag))];
        headers.extend(said.iter().map(|said| ("protocol", (*said).to_owned())));
        Row {
            id: &format!("adyen-protocol-{name}"),
            flag: "NamedAlgorithm",
            scheme: "adyen-raw-body",
            secrets: &[ADYEN],
            headers,
            body: BODY,
            accept,
            why,
        }
        .case()
    };
    rows.into_iter().map(case).collect()
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
        Row {
            id: &format!("{}-dotted-{slug}", names[0]),
            flag: "Boundary",
            scheme,
            secrets: &[&secret],
            headers: names.into_iter().zip(values).collect(),
            body: BODY,
            accept: true,
            why: "an id with dots and digits is authentic",
        }
        .case()
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
        let mut case = row.with("now", json!(now));
        if !accept {
            case["recipe"] = json!({
                "timestamp_offset_s": 0,
                "tags": [{
                    "algorithm": "hmac-sha256", "key_hex": codec::to_hex(b"secret"),
                    "content": "{body}{timestamp}", "encoding": "hex", "timestamp": date,
                }],
                "headers": [["Klaviyo-Signature", "{tag0}"], ["Klaviyo-Timestamp", date]],
            });
        }
        case
    };
    rows.into_iter().map(case).collect()
}

/// A seed of counting bytes and its public half: public, for tests alone.
pub(super) const PAIR: &str =
    "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA==";
pub(super) const PUBLIC: &str = "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";
pub(super) const OTHER_PUBLIC: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
const FLAGS: [Flag; 12] = [
    ("PublicKey", "AUTH_BYPASS", "a public key verifies, and is never a shared secret"),
    ("TagInBody", "AUTH_BYPASS", "what is signed has to be taken out of the body, each part of it"),
    ("TimeInBody", "AUTH_BYPASS", "the signed time stands in the body"),
    ("Token", "AUTH_BYPASS", "a token is compared whole"),
    ("HeaderPerKey", "AVAILABILITY", "each key has a header of its own"),
    ("Framing", "AUTH_BYPASS", "the body is the bytes that arrived, all of them"),
    ("MessageSignature", "AUTH_BYPASS", "the covered components decide, the digest is recomputed"),
    ("NamedAlgorithm", "INTEROP", "a request that names another algorithm is of another scheme"),
    (
        "ListedHeaders",
        "AUTH_BYPASS",
        "headers that the sender lists are signed, and the list itself",
    ),
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
/// The key of the provider's own examples.
const ADYEN: &str = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";
/// A shared secret of 32 bytes.
const SHARED: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
