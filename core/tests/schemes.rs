//! Every row, on requests that it signed and on requests that nobody did.

use hookproof_core::{
    Millis,
    instant::Unit,
    scheme::{
        self, Algorithm, Construction, Encoding, KeyForm, Message, Refusal, Request, Scheme, Time,
        Verifier, Window,
    },
};
use proptest::prelude::*;

const NOW: Millis = Millis(1_700_000_000_000);
const URL: &str = "https://hooks.example.com/in?a=b";

/// A secret of the form that a row wants; `None` for public keys.
fn secret(scheme: &Scheme) -> Option<&'static str> {
    match &scheme.key {
        KeyForm::Text => Some("a secret of text"),
        KeyForm::Hex => Some("0123456789abcdef0123456789abcdef"),
        KeyForm::Base64 { .. } => Some("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="),
        KeyForm::Ed25519Public => Some(
            "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA==",
        ),
        KeyForm::P256Public => None,
    }
}

fn verifier(scheme: &Scheme) -> Option<Verifier> {
    let mut verifier = Verifier::new(scheme);
    verifier.add(secret(scheme)?).expect("a secret of the row's form");
    Some(verifier)
}

fn written(scheme: &Scheme) -> String {
    let Construction::Template(template) = &scheme.construction else {
        return "1700000000".into();
    };
    match template.clock.as_ref().map(|(_, unit)| *unit) {
        None | Some(Unit::Seconds) => "1700000000".into(),
        Some(Unit::Milliseconds) => "1700000000000".into(),
        Some(Unit::Rfc3339) => "2023-11-14T22:13:20Z".into(),
        Some(Unit::HttpDate) => "Tue, 14 Nov 2023 22:13:20 GMT".into(),
    }
}

/// The headers that a row signs a body with, and whether it can.
fn signed(verifier: &Verifier, body: &[u8]) -> Option<Vec<(String, String)>> {
    let timestamp = written(verifier.scheme());
    let message = Message {
        id: "msg_1",
        timestamp: &timestamp,
        body,
        method: Some("POST"),
        url: Some(URL),
        headers: &[],
    };
    verifier.sign(&message, Time::At(NOW)).ok()
}

fn check(verifier: &Verifier, headers: &[(String, String)], body: &[u8]) -> Result<(), Refusal> {
    let lines: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let request = Request {
        headers: &lines,
        body,
        method: Some("POST"),
        url: Some(URL),
        ..Request::default()
    };
    verifier.verify(&request, Time::At(NOW)).map(|_| ())
}

#[test]
fn what_a_row_signs_it_verifies_and_nothing_else() {
    let body = br#"{"webhookTimestamp":1700000000000,"id":"evt_1"}"#;
    let mut rows = 0;
    for scheme in scheme::all() {
        let Some(verifier) = verifier(scheme) else { continue };
        let Some(headers) = signed(&verifier, body) else { continue };
        // The digest in the URL cannot be known to the signer of a fixed URL.
        if scheme.name.ends_with("bodysha256") {
            continue;
        }
        rows += 1;
        assert_eq!(check(&verifier, &headers, body), Ok(()), "{}", scheme.name);
        if scheme.algorithm != Algorithm::Token {
            let other = check(&verifier, &headers, br#"{"webhookTimestamp":1700000000000}"#);
            assert!(other.is_err(), "{} lets another body in", scheme.name);
        }
    }
    assert!(rows >= 45, "only {rows} rows sign");
}

#[test]
fn a_rotation_signs_with_every_live_secret_and_a_revoked_one_is_gone() {
    let scheme = scheme::named("standard-webhooks").expect("a row");
    let (old, new) =
        (secret(scheme).unwrap(), "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=");
    let overlap = Window::always().retire(NOW, 1);
    let members = |old_window: Window, now: Millis| {
        let mut sender = Verifier::new(scheme);
        sender.add_within(old, old_window).unwrap().add(new).unwrap();
        let message =
            Message { id: "m", timestamp: "1700000000", body: b"{}", ..Message::default() };
        let headers = sender.sign(&message, Time::At(now)).expect("a live secret");
        headers.last().unwrap().1.split(' ').count()
    };
    assert_eq!(members(overlap, NOW), 2, "within the overlap");
    assert_eq!(members(overlap, NOW + 1), 1, "after it");
    assert_eq!(members(Window::always().revoke(), NOW), 1, "no overlap for a revoked secret");
}

#[test]
fn a_retired_secret_verifies_nothing() {
    let scheme = scheme::named("github").expect("a row");
    let sender = verifier(scheme).unwrap();
    let headers = signed(&sender, b"{}").unwrap();
    let mut receiver = Verifier::new(scheme);
    receiver.add_within(secret(scheme).unwrap(), Window::always().retire(NOW, 0)).unwrap();
    assert_eq!(check(&receiver, &headers, b"{}"), Err(Refusal::NoMatch));
}

#[test]
fn a_verifier_without_secrets_refuses() {
    let scheme = scheme::named("stripe").expect("a row");
    assert_eq!(check(&Verifier::new(scheme), &[], b""), Err(Refusal::BadSecret));
}

#[test]
fn the_matching_secret_is_named() {
    let scheme = scheme::named("github").expect("a row");
    let headers = signed(&verifier(scheme).unwrap(), b"{}").unwrap();
    let mut receiver = Verifier::new(scheme);
    receiver.add("another").unwrap().add(secret(scheme).unwrap()).unwrap();
    let lines: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let request = Request { headers: &lines, body: b"{}", ..Request::default() };
    assert_eq!(receiver.verify(&request, Time::At(NOW)).map(|verified| verified.secret()), Ok(1));
}

#[test]
fn a_message_signature_without_the_body_passes_only_where_that_is_allowed() {
    let scheme = scheme::named("http-message-signatures/hmac-sha256").expect("a row");
    let mut verifier = verifier(scheme).unwrap();
    let list = "(\"@method\");created=1700000000";
    let base = format!("\"@method\": POST\n\"@signature-params\": {list}");
    let key = scheme::decode_secret(&scheme.key, secret(scheme).unwrap()).unwrap();
    let tag = scheme::mac(Algorithm::HmacSha256, &key, base.as_bytes()).unwrap();
    let headers = [
        ("Signature-Input".to_owned(), format!("s={list}")),
        ("Signature".to_owned(), format!("s=:{}:", hookproof_core::codec::to_base64(&tag))),
    ];
    assert_eq!(check(&verifier, &headers, b"{}"), Ok(()));
    verifier.require_body();
    assert_eq!(check(&verifier, &headers, b"{}"), Err(Refusal::NoMatch));
}

#[test]
fn a_declared_scheme_verifies_like_a_row() {
    let mut declared =
        Scheme::body_only("mine".into(), "X-Mine".into(), Encoding::Hex, KeyForm::Text);
    if let Construction::Template(template) = &mut declared.construction {
        template.signed = scheme::parse_template("mine:{header:X-Env}\n{body}").unwrap().into();
    }
    assert_eq!(declared.check(), Ok(()));
    let mut verifier = Verifier::new(&declared);
    verifier.add("secret").unwrap();
    let tag = scheme::mac(Algorithm::HmacSha256, b"secret", b"mine:prod\n{}").unwrap();
    let tag = hookproof_core::codec::to_hex(&tag);
    let headers = [("x-env".to_owned(), "prod".to_owned()), ("x-mine".to_owned(), tag)];
    assert_eq!(check(&verifier, &headers, b"{}"), Ok(()));
    assert_eq!(check(&verifier, &headers[1..], b"{}"), Err(Refusal::MissingHeader));
}

/// Header names of all rows, and a stranger.
fn header_names() -> Vec<String> {
    let mut names = vec!["x-stranger".to_owned(), "signature".into(), "signature-input".into()];
    names.extend(["content-digest".to_owned(), "X-DocuSign-Signature-1".into()]);
    for scheme in scheme::all() {
        if let Construction::Template(template) = &scheme.construction {
            for set in template.names.iter() {
                names.extend(set.id.iter().chain(&set.timestamp).map(ToString::to_string));
                match &set.signature {
                    scheme::Carrier::One(name) => names.push(name.to_string()),
                    scheme::Carrier::Each(each) => {
                        names.extend(each.iter().map(ToString::to_string));
                    }
                    scheme::Carrier::Numbered(prefix) => names.push(format!("{prefix}2")),
                }
            }
        }
    }
    names
}

proptest! {
    #[test]
    fn no_request_makes_any_row_panic(
        values in proptest::collection::vec(
            prop_oneof![
                any::<Vec<u8>>(),
                r"(t|ts|v1|v0|h1|v1a|sha256|sha1|h)?[=,;: ]{0,2}[0-9a-fA-F+/=,;v ]{0,80}".prop_map(String::into_bytes),
                Just(b"1700000000".to_vec()),
                Just(b"s=(\"@path\" \"@query-param\";name=\"a\");created=1".to_vec()),
                Just(b"s=:AAAA:".to_vec()),
            ],
            1..6,
        ),
        body in prop_oneof![any::<Vec<u8>>(), r#"\{("[a-z/]{1,20}":("[a-z]*"|[0-9]+|\{\}),?){0,3}\}"#.prop_map(String::into_bytes)],
        url in prop_oneof![Just(URL.to_owned()), any::<String>()],
    ) {
        let names = header_names();
        for scheme in scheme::all() {
            let Some(verifier) = verifier(scheme) else { continue };
            let lines: Vec<(&str, &[u8])> = names
                .iter()
                .enumerate()
                .map(|(at, name)| (name.as_str(), values[at % values.len()].as_slice()))
                .collect();
            let request = Request {
                headers: &lines, body: &body, method: Some("POST"), url: Some(&url), status: Some(200), form: None,
            };
            if scheme.algorithm != Algorithm::Token {
                prop_assert!(verifier.verify(&request, Time::At(NOW)).is_err(), "{}", scheme.name);
            }
        }
    }

    #[test]
    fn any_body_that_was_signed_verifies_and_one_bit_less_does_not(body: Vec<u8>, at: usize, bit in 0..8_u8) {
        for name in ["swh", "stripe", "paymos", "github", "slack", "shopify", "box-v2", "paystack-sha512"] {
            let verifier = verifier(scheme::named(name).unwrap()).unwrap();
            let headers = signed(&verifier, &body).unwrap();
            prop_assert_eq!(check(&verifier, &headers, &body), Ok(()));
            let mut changed = body.clone();
            if changed.is_empty() {
                changed.push(0);
            } else {
                let at = at % changed.len();
                changed[at] ^= 1 << bit;
            }
            prop_assert_eq!(check(&verifier, &headers, &changed), Err(Refusal::NoMatch));
        }
    }
}
