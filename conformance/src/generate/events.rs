//! Deliveries, order and bytes.

use hookproof_core::codec;
use serde_json::{Value, json};

use super::{Made, plain};

pub(super) fn files() -> Vec<Made> {
    vec![identity(), order(), preserve()]
}

fn identity() -> Made {
    let base = || {
        json!({ "source": "s1", "account": "t1", "id": "evt_1", "attempt_id": "d1", "attempt": 1,
        "body_b64": "e30=" })
    };
    let rows: [(&str, &str, Value, bool, &str); 8] = [
        ("case", "id", json!("EVT_1"), false, "ids are bytes: case counts"),
        ("blank", "id", json!("evt_1 "), false, "ids are bytes: blanks count"),
        ("prefix", "id", json!("evt_10"), false, "a longer id is another"),
        ("body", "body_b64", json!("W10="), true, "the id decides, not the body: the first wins"),
        ("attempt", "attempt", json!(9), true, "attempts are one delivery"),
        ("account-case", "account", json!("T1"), false, "accounts are bytes"),
        ("source-prefix", "source", json!("s10"), false, "another source"),
        ("part", "part", json!("2"), false, "one id for several parts: the parts differ"),
    ];
    let cases = rows.into_iter().map(|(name, field, value, same, why)| {
        let mut b = base();
        b[field] = value;
        let pair = (json!({ "a": base(), "b": b }), json!({ "same": same }));
        plain(&format!("delivery-{name}"), "must", "RightKey", pair, why)
    });
    Made {
        name: "dedup.identity.more.json".into(),
        kind: "dedup.identity",
        flags: vec![("RightKey", "DUPLICATE_EFFECT", "source, account and id, exactly")],
        cases: cases.collect(),
    }
}

fn order() -> Made {
    let event = |id: &str, state: &str, version: u64| json!({ "id": id, "type": "x.updated", "version": version, "state": state });
    let at = |id: &str, state: &str, time: &str| json!({ "id": id, "type": "x.updated", "updated_at": time, "state": state });
    let case = |name: &str, entity: &str, by: &str, arrivals: Value, end: Value, why: &str| {
        let input = json!({ "entity": entity, "order_by": by, "arrivals": arrivals });
        plain(
            &format!("order-{name}"),
            "must",
            "ArrivalOrder",
            (input, json!({ "final": end })),
            why,
        )
    };
    let (one, two, three) = (event("e1", "a", 1), event("e2", "b", 2), event("e3", "c", 3));
    let cases = vec![
        case(
            "in-order",
            "latest",
            "version",
            json!([one, two, three]),
            json!("c"),
            "as they happened",
        ),
        case(
            "reversed",
            "latest",
            "version",
            json!([three, two, one]),
            json!("c"),
            "the newest first",
        ),
        case(
            "middle-last",
            "latest",
            "version",
            json!([one, three, two]),
            json!("c"),
            "a late one in between",
        ),
        case(
            "twice",
            "latest",
            "version",
            json!([two, two, one, two]),
            json!("b"),
            "duplicates change nothing",
        ),
        case(
            "gap",
            "latest",
            "version",
            json!([event("e9", "z", 90), one]),
            json!("z"),
            "versions may have gaps",
        ),
        case(
            "ledger",
            "ledger",
            "version",
            json!([three, one, two, one]),
            json!(["a", "b", "c"]),
            "a ledger keeps every event once, in the declared order",
        ),
        case(
            "instants",
            "latest",
            "updated_at",
            json!([
                at("e2", "new", "2024-01-01T00:00:00.000000002Z"),
                at("e1", "old", "2024-01-01T00:00:00.000000001Z")
            ]),
            json!("new"),
            "nanoseconds decide",
        ),
        case(
            "offsets",
            "latest",
            "updated_at",
            json!([
                at("e1", "old", "2024-01-01T23:00:00-01:00"),
                at("e2", "new", "2024-01-02T00:30:00Z")
            ]),
            json!("new"),
            "instants, not texts",
        ),
    ];
    Made {
        name: "order.merge.more.json".into(),
        kind: "order.merge",
        flags: vec![("ArrivalOrder", "DATA_LOSS", "the declared order decides, never the arrival")],
        cases,
    }
}

fn preserve() -> Made {
    let bodies: [(&str, &[u8], &str); 8] = [
        ("nul", b"a\0b", "a NUL byte, which text columns refuse"),
        ("nul-escape", b"{\"s\":\"\\u0000\"}", "a NUL as an escape, which JSONB refuses"),
        ("invalid-utf8", b"\xc3\x28\xff", "no UTF-8"),
        ("bom", b"\xef\xbb\xbf{}", "a byte order mark"),
        ("crlf", b"{\r\n}\r\n", "line ends"),
        ("backslash", b"{\"path\":\"C:\\\\dir\"}", "backslashes, which escaping drivers halve"),
        ("surrogates", b"{\"s\":\"\\udc00\\ud800\"}", "surrogates in the wrong order"),
        ("gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", "compressed bytes"),
    ];
    let cases = bodies.into_iter().map(|(name, body, why)| {
        let expected = json!({ "stored_equals_received": true, "delivered_equals_received": true });
        let pair = (json!({ "body_b64": codec::to_base64(body) }), expected);
        plain(&format!("bytes-{name}"), "must", "ExactBytes", pair, why)
    });
    Made {
        name: "json.preserve.more.json".into(),
        kind: "json.preserve",
        flags: vec![("ExactBytes", "DATA_LOSS", "what is stored and sent is what was received")],
        cases: cases.collect(),
    }
}
