//! Callback targets and custom headers.

use serde_json::{Value, json};

use super::{Made, plain};

pub(super) fn files() -> Vec<Made> {
    vec![urls(), answers(), redirects(), headers()]
}

fn urls() -> Made {
    let deny = |id: String, url: String, why: &str| {
        plain(
            &id,
            "must",
            "InternalTarget",
            (json!({ "url": url }), json!({ "allow": false })),
            why,
        )
    };
    let mut cases: Vec<Value> = DENIED
        .iter()
        .map(|(name, host)| {
            deny(
                format!("target-{name}"),
                format!("https://{host}/in"),
                "not a public address or name",
            )
        })
        .collect();
    cases.extend(ODD.iter().map(|(name, url)| {
        deny(
            format!("target-{name}"),
            (*url).to_owned(),
            "one parser for check and request, and a plain URL",
        )
    }));
    cases.extend(ALLOWED.iter().map(|(name, url, host)| {
        let pair =
            (json!({ "url": url, "dns": { *host: ["93.184.216.34"] } }), json!({ "allow": true }));
        plain(
            &format!("target-allowed-{name}"),
            "must",
            "PublicTarget",
            pair,
            "a public HTTPS target",
        )
    }));
    let answers = [
        ("none", json!([])),
        ("mixed-order", json!(["10.0.0.5", "93.184.216.34"])),
        ("unspecified", json!(["0.0.0.0"])),
        ("v6-local", json!(["93.184.216.34", "fd00::1"])),
        ("no-address", json!(["93.184.216.34", "nonsense"])),
        ("metadata", json!(["169.254.169.254"])),
    ];
    cases.extend(answers.into_iter().map(|(name, list)| {
        let input =
            json!({ "url": "https://hooks.example.com/in", "dns": { "hooks.example.com": list } });
        let pair = (input, json!({ "allow": false }));
        plain(
            &format!("target-answer-{name}"),
            "must",
            "InternalTarget",
            pair,
            "any bad answer denies",
        )
    }));
    Made {
        name: "ssrf.url.more.json".into(),
        kind: "ssrf.url",
        flags: vec![
            ("InternalTarget", "SSRF", "a callback must not reach this machine or this network"),
            ("PublicTarget", "AVAILABILITY", "a check that is too strict blocks customers"),
        ],
        cases,
    }
}

/// Name, the vetted answers, later answers, the address that is dialled, and why.
type AnswerRow =
    (&'static str, &'static [&'static str], &'static [&'static str], Value, &'static str);

fn answers() -> Made {
    let rows: [AnswerRow; 6] = [
        (
            "public",
            &["93.184.216.34"],
            &["93.184.216.34"],
            json!("93.184.216.34"),
            "one public answer",
        ),
        (
            "rebound",
            &["93.184.216.34"],
            &["127.0.0.1"],
            json!("93.184.216.34"),
            "the vetted address is dialled: nobody asks a second time",
        ),
        (
            "first-of-two",
            &["93.184.216.34", "1.1.1.1"],
            &["1.1.1.1"],
            json!("93.184.216.34"),
            "the first vetted address is dialled",
        ),
        ("private", &["10.0.0.5"], &["93.184.216.34"], Value::Null, "a private answer denies"),
        ("mapped", &["::ffff:10.0.0.5"], &["93.184.216.34"], Value::Null, "a mapped answer denies"),
        ("nothing", &[], &["93.184.216.34"], Value::Null, "a name without address"),
    ];
    let cases = rows.into_iter().map(|(name, vetted, later, address, why)| {
        let outcome = if address.is_null() { "blocked" } else { "connected" };
        let input = json!({
            "url": "https://rebind.example.com/in",
            "answers_at_validation": vetted, "answers_at_connect": later,
        });
        let expected = json!({ "connect_to": address, "outcome": outcome });
        plain(&format!("resolve-{name}"), "must", "Rebinding", (input, expected), why)
    });
    Made {
        name: "ssrf.resolve.more.json".into(),
        kind: "ssrf.resolve",
        flags: vec![("Rebinding", "SSRF", "a name that answers otherwise at the second look-up")],
        cases: cases.collect(),
    }
}

fn redirects() -> Made {
    let rows = [
        (301, "https://hooks.example.com/new"),
        (302, "http://169.254.169.254/"),
        (303, "/in"),
        (307, "https://other.example.net/in"),
        (308, "https://other.example.net/in"),
        (300, ""),
        (201, "https://other.example.net/in"),
        (304, "https://other.example.net/in"),
    ];
    let cases = rows.into_iter().map(|(status, location)| {
        let input = json!({
            "request_url": "https://hooks.example.com/in", "request_headers": ["webhook-signature"],
            "status": status, "location": location,
        });
        let expected = json!({ "follow": false, "second_request_sent": false });
        let why = "a redirect is an answer, not an instruction";
        plain(&format!("redirect-{status}"), "must", "Redirect", (input, expected), why)
    });
    Made {
        name: "redirect.more.json".into(),
        kind: "redirect",
        flags: vec![(
            "Redirect",
            "SSRF",
            "a followed redirect leaves the vetted target, with the headers",
        )],
        cases: cases.collect(),
    }
}

fn headers() -> Made {
    let rows: [(&str, &str, &str, bool); 34] = [
        ("plain", "X-Tenant", "t1", true),
        ("bearer", "Authorization", "Bearer abc.def", true),
        ("empty-value", "X-Flag", "", true),
        ("inner-tab", "X-Tab", "a\tb", true),
        ("crlf", "X-A", "a\r\nX-B: c", false),
        ("lf", "X-A", "a\nb", false),
        ("cr", "X-A", "a\rb", false),
        ("nul", "X-A", "a\u{0}b", false),
        ("delete", "X-A", "a\u{7f}", false),
        ("name-empty", "", "a", false),
        ("name-blank", "X A", "a", false),
        ("name-colon", "X:A", "a", false),
        ("name-crlf", "X\r\nHost", "a", false),
        ("name-unicode", "X-\u{dc}", "a", false),
        ("pseudo", ":authority", "a", false),
        ("connection", "Connection", "close", false),
        ("upgrade", "UPGRADE", "h2c", false),
        ("te", "TE", "trailers", false),
        ("trailer", "Trailer", "X-A", false),
        ("expect", "Expect", "100-continue", false),
        ("proxy", "Proxy-Authorization", "Basic eA==", false),
        ("webhook-id", "WEBHOOK-ID", "msg_1", false),
        ("svix", "svix-signature", "v1,x", false),
        ("paymos", "x-webhook-signature", "t=1,v1=x", false),
        ("stripe", "stripe-signature", "t=1,v1=x", false),
        ("message-signature", "Signature-Input", "s=()", false),
        ("underlines", "X_Tenant", "t1", true),
        ("underline-id", "Webhook_Id", "msg_1", false),
        ("underline-length", "Content_Length", "1", false),
        ("github", "X-GitHub-Delivery", "1", false),
        ("slack-time", "X-Slack-Request-Timestamp", "1", false),
        ("shopify", "X-Shopify-Hmac-Sha256", "x", false),
        ("paddle", "paddle-signature", "ts=1;h1=x", false),
        ("contentful", "X-Contentful-Signed-Headers", "x", false),
    ];
    let cases = rows.into_iter().map(|(name, header, value, accept)| {
        let result = if accept { "accept" } else { "reject_at_registration" };
        let why =
            if accept { "a plain header" } else { "it would frame, route, identify or inject" };
        let pair = (json!({ "name": header, "value": value }), json!({ "result": result }));
        plain(&format!("header-{name}"), "must", "Reserved", pair, why)
    });
    Made {
        name: "header.custom.more.json".into(),
        kind: "header.custom",
        flags: vec![(
            "Reserved",
            "AUTH_BYPASS",
            "a custom header must not replace one of the protocol",
        )],
        cases: cases.collect(),
    }
}

/// Hosts that are no public address or name.
const DENIED: &[(&str, &str)] = &[
    ("private-10", "10.255.255.255"),
    ("private-172", "172.16.0.1"),
    ("private-172-end", "172.31.255.255"),
    ("private-192", "192.168.0.1"),
    ("carrier", "100.64.0.1"),
    ("carrier-end", "100.127.255.255"),
    ("link-local", "169.254.0.1"),
    ("protocol", "192.0.0.8"),
    ("docs-1", "192.0.2.1"),
    ("docs-2", "198.51.100.1"),
    ("docs-3", "203.0.113.1"),
    ("benchmark", "198.18.0.1"),
    ("multicast", "224.0.0.1"),
    ("reserved", "240.0.0.1"),
    ("broadcast", "255.255.255.255"),
    ("azure", "168.63.129.16"),
    ("alibaba", "100.100.100.200"),
    ("oracle", "192.0.0.192"),
    ("hex-parts", "0xa9.0xfe.0xa9.0xfe"),
    ("mixed", "0251.254.0xa9.254"),
    ("two-parts", "10.1"),
    ("three-parts", "169.254.43518"),
    ("dot", "127.0.0.1."),
    ("escaped", "%31%30.0.0.1"),
    ("full-width", "\u{ff11}\u{ff10}.0.0.1"),
    ("ideographic-dot", "10\u{3002}0\u{3002}0\u{3002}1"),
    ("v6-unique-local", "[fd12:3456::1]"),
    ("v6-link-local", "[fe80::1]"),
    ("v6-site-local", "[fec0::1]"),
    ("v6-multicast", "[ff02::1]"),
    ("v6-docs", "[2001:db8::1]"),
    ("v6-discard", "[100::1]"),
    ("v6-teredo", "[2001::1]"),
    ("v6-metadata", "[fd00:ec2::254]"),
    ("v6-mapped-private", "[::ffff:10.0.0.1]"),
    ("v6-compatible", "[::10.0.0.1]"),
    ("v6-nat64-private", "[64:ff9b::10.0.0.1]"),
    ("v6-nat64-local", "[64:ff9b:1::1]"),
    ("v6-6to4-private", "[2002:a00:1::]"),
    ("v6-isatap-private", "[2606:4700::5efe:a00:1]"),
    ("single-label", "intranet"),
    ("local", "printer.local"),
    ("home", "nas.home.arpa"),
    ("localdomain", "x.localdomain"),
    ("test", "x.test"),
    ("invalid", "x.invalid"),
    ("alt", "x.y.alt"),
    ("mail", "x.mail"),
    ("kubernetes", "vault.svc"),
    ("consul", "vault.service.consul"),
];
/// Texts that readers take apart differently, or that are no web target.
const ODD: &[(&str, &str)] = &[
    ("no-slashes", "https:hooks.example.com/in"),
    ("one-slash", "https:/hooks.example.com/in"),
    ("three-slashes", "https:///hooks.example.com/in"),
    ("backslashes", "https:\\\\hooks.example.com"),
    ("backslash-at", "https://hooks.example.com\\@10.0.0.1/"),
    ("newline", "https://hooks.example.com/\n"),
    ("tab", "https://hooks\t.example.com/"),
    ("blank", " https://hooks.example.com/"),
    ("empty-user", "https://@hooks.example.com/"),
    ("port-25", "https://hooks.example.com:25/"),
    ("port-1", "https://hooks.example.com:1/"),
    ("port-big", "https://hooks.example.com:65536/"),
    ("javascript", "javascript:alert(1)"),
    ("data", "data:text/plain,x"),
    ("empty", ""),
    ("host-only", "hooks.example.com/in"),
    ("empty-label", "https://hooks..example.com/"),
    ("comma", "https://hooks.example.com,evil.example.com/"),
    ("apostrophe", "https://hooks'evil.example.com/"),
    ("quote", "https://hooks\"evil.example.com/"),
    ("backtick", "https://hooks`evil.example.com/"),
    ("braces", "https://hooks{a,b}.example.com/"),
    ("star", "https://*.example.com/"),
    ("plus", "https://a+b.example.com/"),
    ("mark", "https://a!b.example.com/"),
    ("dollar", "https://a$b.example.com/"),
    ("tilde", "https://a~b.example.com/"),
    ("parentheses", "https://a(b).example.com/"),
    ("equals", "https://a=b.example.com/"),
    ("ampersand", "https://a&b.example.com/"),
    ("semicolon", "https://a;b.example.com/"),
    ("comma-escaped", "https://hooks.example.com%2Cevil.example.com/"),
];
/// Name, URL, and the host that is resolved.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("plain", "https://hooks.example.com/in?a=b", "hooks.example.com"),
    ("port-8443", "https://hooks.example.com:8443/in", "hooks.example.com"),
    ("upper-case", "HTTPS://HOOKS.EXAMPLE.COM/in", "hooks.example.com"),
    ("final-dot", "https://hooks.example.com./in", "hooks.example.com"),
    ("internal-within", "https://internal.example.com/in", "internal.example.com"),
    ("at-in-path", "https://hooks.example.com/@user", "hooks.example.com"),
];
