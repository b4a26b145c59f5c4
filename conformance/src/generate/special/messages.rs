//! Signatures over headers that the sender lists: HTTP message signatures, Contentful.

use hookproof_core::{
    codec,
    scheme::{self, Algorithm},
};
use serde_json::{Value, json};

use super::{Row, SHARED, mac};

/// What a request says, and whether it is right.
struct Said<'a> {
    id: &'a str,
    input: String,
    signature: String,
    digest: &'a str,
    body: &'a [u8],
    accept: bool,
    why: &'a str,
}

impl Said<'_> {
    fn case(self) -> Value {
        let headers = vec![
            ("Content-Digest", self.digest.to_owned()),
            ("Signature-Input", self.input),
            ("Signature", self.signature),
        ];
        let row = Row {
            id: self.id,
            flag: "MessageSignature",
            scheme: "http-message-signatures/hmac-sha256",
            secrets: &[SHARED],
            headers,
            body: self.body,
            accept: self.accept,
            why: self.why,
        };
        let mut case = row.with("url", json!("https://hooks.example.com/in?a=b"));
        case["input"]["method"] = json!("POST");
        case
    }
}

/// The tag over covered lines and their list.
fn sign(list: &str, lines: &str) -> String {
    let key = codec::base64(SHARED.as_bytes()).expect("base64");
    let base = format!("{lines}\"@signature-params\": {list}");
    let tag = scheme::mac(Algorithm::HmacSha256, &key, base.as_bytes()).expect("an HMAC");
    codec::to_base64(&tag)
}

fn value(label: &str, tag: &str) -> String {
    format!("{label}=:{tag}:")
}

pub(super) fn cases() -> Vec<Value> {
    let good = |id, why| Said {
        id,
        input: format!("s={LIST}"),
        signature: value("s", &sign(LIST, LINES)),
        digest: DIGEST,
        body: b"{}",
        accept: false,
        why,
    };
    let with_list = |id, list: &str, lines: &str, why| Said {
        input: format!("s={list}"),
        signature: value("s", &sign(list, lines)),
        ..good(id, why)
    };
    let old = LIST.replace("1700000000", "1699999000");
    let expired = LIST.replace(";alg", ";expires=1699999999;alg");
    let twice = "(\"@method\" \"@method\");created=1700000000";
    let twice_lines = "\"@method\": POST\n\"@method\": POST\n";
    let first = good("rfc9421-good", "method, path, query and body are signed");
    let second = good("rfc9421-second-label", "another signature blocks nothing");
    let second = Said {
        input: format!("a=(\"@nonsense\");created=1, {}", second.input),
        signature: format!("a=:AAAA:, {}", second.signature),
        accept: true,
        ..second
    };
    let beside = |id, list: &str, tag: &str, why| {
        let plain = good(id, why);
        Said {
            input: format!("{list}, {}", plain.input),
            signature: format!("{tag}, {}", plain.signature),
            accept: true,
            ..plain
        }
    };
    let all = [
        Said { accept: true, ..first },
        second,
        Said {
            body: b"[]",
            ..good("rfc9421-body-changed", "the digest is signed, and no longer the body's")
        },
        Said {
            digest: OTHER_DIGEST,
            body: b"[]",
            ..good("rfc9421-digest-changed", "another digest is not signed")
        },
        with_list("rfc9421-old", &old, LINES, "created outside of the window"),
        with_list("rfc9421-expired", &expired, LINES, "expired"),
        with_list("rfc9421-repeated", twice, twice_lines, "a component stands there twice"),
        Said {
            input: format!("s={}", LIST.replace("hmac-sha256", "ed25519")),
            ..good("rfc9421-other-algorithm", "another algorithm is named")
        },
        Said { input: String::new(), ..good("rfc9421-no-input", "nothing says what is covered") },
        Said {
            signature: value("t", &sign(LIST, LINES)),
            ..good("rfc9421-other-label", "the labels differ")
        },
        beside("rfc9421-beside-decimal", "a=();q=1.5", "a=:AAAA:", "a decimal elsewhere"),
        beside("rfc9421-beside-date", "a=();at=@1700000000", "a=:AAAA:", "a date elsewhere"),
        beside("rfc9421-beside-item", "a=1", "a=:AAAA:", "another member is no list"),
        beside("rfc9421-beside-token", "a=(b)", "a=:AAAA:", "another list covers no string"),
        beside("rfc9421-beside-flag", "a", "a", "another member is a flag"),
        Said {
            input: format!("s={}", LIST.replace(";created", "; created").replace(";alg", ";  alg")),
            accept: true,
            ..good("rfc9421-spaced", "blanks between parameters are not signed")
        },
        Said {
            input: format!("s={}", LIST.replace("created=1", "created=001")),
            accept: true,
            ..good("rfc9421-leading-zeros", "what is signed is the canonical number")
        },
        beside(
            "rfc9421-beside-label-twice",
            "a=(\"@method\");created=1, a=(\"@path\");created=2",
            "a=:AAAA:",
            "another label stands there twice, and blocks nothing",
        ),
        beside("rfc9421-beside-value-twice", "a=()", "a=:AA==:, a=:AQ==:", "two other values"),
        Said {
            input: format!("s={LIST}, s={LIST}"),
            accept: true,
            ..good("rfc9421-label-repeated", "a label that is repeated as it is says nothing else")
        },
        Said {
            input: format!("s=(\"@method\");created=1700000000, s={LIST}"),
            ..good(
                "rfc9421-label-ambiguous",
                "one label, two lists: readers differ in which counts",
            )
        },
        Said { input: "s=(".into(), ..good("rfc9421-junk", "no structured field") },
    ];
    all.into_iter().map(Said::case).collect()
}

/// Contentful: the method, the encoded path, the headers that one of them lists, and the body.
pub(super) fn listed_headers() -> Vec<Value> {
    let all = "x-contentful-signed-headers,x-contentful-timestamp,x-contentful-topic";
    let untimed = "x-contentful-signed-headers,x-contentful-topic";
    let query = ("/in?a=b", "/in?a%253Db");
    let rows = [
        ("good", query, all, "publish", true, "three headers are listed"),
        ("unordered", query, UNORDERED, "publish", true, "the list has no order, and no case"),
        ("header-changed", query, all, "delete", false, "a listed header was changed"),
        (
            "untimed",
            query,
            untimed,
            "publish",
            false,
            "the time is not listed: anybody could set it",
        ),
        ("plain-path", ("/in", "/in"), all, "publish", true, "nothing to encode"),
        (
            "query-as-sent",
            ("/in?a=b", "/in?a=b"),
            all,
            "publish",
            false,
            "the query is not encoded",
        ),
        (
            "query-once",
            ("/in?a=b", "/in?a%3Db"),
            all,
            "publish",
            false,
            "the query is encoded once",
        ),
        ("query-empty", ("/in?", "/in"), all, "publish", true, "an empty query leaves no mark"),
        (
            "query-escaped",
            ("/in?q=a%20b&r=%C3%A9", "/in?q%253Da%252520b%2526r%253D%2525C3%2525A9"),
            all,
            "publish",
            true,
            "an escape of the query is encoded twice as well",
        ),
        ("path-escaped", ("/my%20in", "/my%2520in"), all, "publish", true, "an escape is encoded"),
        ("path-letters", ("/in/h\u{e9}", "/in/h%C3%A9"), all, "publish", true, "UTF-8, encoded"),
        (
            "query-of-two-marks",
            ("/in?a=b?c", "/in?a%253Db"),
            all,
            "publish",
            false,
            "the toolkit drops what follows the second mark: anybody could add it",
        ),
    ];
    let case = |(name, (path, signed), list, topic, accept, why): ListedRow| {
        let mut lines = vec![
            format!("x-contentful-signed-headers:{list}"),
            "x-contentful-timestamp:1700000000000".to_owned(),
            "x-contentful-topic:publish".to_owned(),
        ];
        lines.retain(|line| name != "untimed" || !line.starts_with("x-contentful-timestamp"));
        let text = format!("POST\n{signed}\n{}\n{{}}", lines.join(";"));
        let row = Row {
            id: &format!("contentful-{name}"),
            flag: "ListedHeaders",
            scheme: "contentful-canonical",
            secrets: &["contentful-secret"],
            headers: vec![
                ("X-Contentful-Signed-Headers", list.to_owned()),
                ("X-Contentful-Timestamp", "1700000000000".to_owned()),
                ("X-Contentful-Topic", topic.to_owned()),
                (
                    "X-Contentful-Signature",
                    codec::to_hex(&mac("contentful-secret", text.as_bytes())),
                ),
            ],
            body: b"{}",
            accept,
            why,
        };
        let mut case = row.with("url", json!(format!("https://hooks.example.com{path}")));
        case["input"]["method"] = json!("POST");
        if name == "query-of-two-marks" {
            case["level"] = json!("policy");
        }
        case
    };
    rows.into_iter().map(case).collect()
}

/// Name, path as sent and as signed, the list, the topic, the verdict, and why.
type ListedRow =
    (&'static str, (&'static str, &'static str), &'static str, &'static str, bool, &'static str);
const UNORDERED: &str = "X-Contentful-Topic,X-Contentful-Timestamp,X-Contentful-Signed-Headers";
const LIST: &str =
    "(\"@method\" \"@path\" \"@query\" \"content-digest\");created=1700000000;alg=\"hmac-sha256\"";
const LINES: &str = "\"@method\": POST\n\"@path\": /in\n\"@query\": ?a=b\n\"content-digest\": \
                     sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:\n";
/// Of `{}`.
const DIGEST: &str = "sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:";
/// Of `[]`.
const OTHER_DIGEST: &str = "sha-256=:T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU=:";
