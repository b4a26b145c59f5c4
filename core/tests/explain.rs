//! The mistakes that people make, each named from a request that shows it.

use hookproof_core::{
    Millis, codec,
    scheme::{
        self, Algorithm, Refusal, Request, Time, Window,
        explain::{Bound, Explanation, Mistake, explain},
    },
};

const NOW: Millis = Millis(1_700_000_000_000);
const BODY: &[u8] = br#"{"type":"invoice.paid","id":"evt_1","amount":"10.50"}"#;
const TEXT: &str = "whsec_c29tZSBzZWNyZXQgb2YgdGhpcnR5LXR3byBieXRlcy4=";
const OTHER: &str = "whsec_YW5vdGhlciBzZWNyZXQgb2YgMzIgYnl0ZXMgaGVyZSE=";

fn mac(key: &[u8], content: &[u8]) -> Vec<u8> {
    scheme::mac(Algorithm::HmacSha256, key, content).expect("an HMAC")
}

fn stripe(key: &[u8], time: &str, body: &[u8]) -> String {
    let tag = mac(key, &[time.as_bytes(), b".", body].concat());
    format!("t={time},v1={}", codec::to_hex(&tag))
}

fn look(
    name: &str,
    secrets: &[&str],
    headers: &[(&str, &str)],
    body: &[u8],
    url: Option<&str>,
) -> Explanation {
    let lines: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    let request = Request { headers: &lines, body, url, ..Request::default() };
    let secrets: Vec<(&str, Window)> =
        secrets.iter().map(|secret| (*secret, Window::always())).collect();
    explain(scheme::named(name).expect("a row"), &secrets, &request, Time::At(NOW))
}

fn of_stripe(signed: &[u8], received: &[u8]) -> Vec<Mistake> {
    let header = stripe(TEXT.as_bytes(), "1700000000", signed);
    look("stripe", &[TEXT], &[("Stripe-Signature", &header)], received, None).mistakes
}

#[test]
fn a_reserialised_body_is_named_in_whatever_style_it_was() {
    for received in [
        &br#"{"type": "invoice.paid", "id": "evt_1", "amount": "10.50"}"#[..],
        br#"{"amount":"10.50","id":"evt_1","type":"invoice.paid"}"#,
        b"{\n  \"amount\": \"10.50\",\n  \"id\": \"evt_1\",\n  \"type\": \"invoice.paid\"\n}",
    ] {
        assert_eq!(of_stripe(BODY, received), [Mistake::BodyReserialised]);
    }
    let header = stripe(TEXT.as_bytes(), "1700000000", BODY);
    let compact = br#"{"amount":"10.50","id":"evt_1","type":"invoice.paid"}"#;
    let seen = look("stripe", &[TEXT], &[("Stripe-Signature", &header)], compact, None);
    assert_eq!(seen.body.as_deref(), Some(BODY), "what was signed is found again");
    let escaped = br#"{"s":"\u00e9\/"}"#;
    assert_eq!(of_stripe(escaped, "{\"s\":\"é\\/\"}".as_bytes()), [Mistake::BodyReserialised]);
}

#[test]
fn line_ends_and_a_byte_order_mark_are_named() {
    assert_eq!(of_stripe(b"{}\r\n", b"{}"), [Mistake::BodyLineEnds]);
    assert_eq!(of_stripe(b"{\r\n}", b"{\n}"), [Mistake::BodyLineEnds]);
    assert_eq!(of_stripe(b"\xef\xbb\xbf{}", b"{}"), [Mistake::BodyByteOrderMark]);
    assert_eq!(of_stripe(b"{}", b"\xef\xbb\xbf{}"), [Mistake::BodyByteOrderMark]);
}

#[test]
fn a_decoded_stripe_secret_is_named() {
    let decoded = codec::base64(&TEXT.as_bytes()[6..]).expect("base64");
    let header = stripe(&decoded, "1700000000", BODY);
    let seen = look("stripe", &[TEXT], &[("Stripe-Signature", &header)], BODY, None);
    assert_eq!(seen.mistakes, [Mistake::SecretDecoded]);
}

#[test]
fn an_undecoded_standard_webhooks_secret_is_named() {
    for key in [TEXT, &TEXT[6..]] {
        let tag = mac(key.as_bytes(), &[b"msg_1.1700000000.", BODY].concat());
        let tag = format!("v1,{}", codec::to_base64(&tag));
        let headers = [
            ("webhook-id", "msg_1"),
            ("webhook-timestamp", "1700000000"),
            ("webhook-signature", &tag),
        ];
        let seen = look("swh", &[TEXT], &headers, BODY, None);
        assert_eq!(seen.mistakes, [Mistake::SecretNotDecoded]);
    }
}

#[test]
fn milliseconds_are_told_from_a_late_delivery() {
    let header = stripe(TEXT.as_bytes(), "1700000000000", BODY);
    let seen = look("stripe", &[TEXT], &[("Stripe-Signature", &header)], BODY, None);
    assert_eq!(
        (seen.verdict, &*seen.mistakes),
        (Err(Refusal::TooNew), &[Mistake::TimeInMilliseconds][..])
    );
    let old = stripe(TEXT.as_bytes(), "1600000000000", BODY);
    let seen = look("stripe", &[TEXT], &[("Stripe-Signature", &old)], BODY, None);
    assert_eq!(seen.mistakes, [Mistake::TimeInMilliseconds], "however old it is");
    let header = stripe(TEXT.as_bytes(), "1699990000", BODY);
    let seen = look("stripe", &[TEXT], &[("Stripe-Signature", &header)], BODY, None);
    assert_eq!(seen.mistakes, [Mistake::TimeOutsideWindow]);
}

#[test]
fn an_old_request_that_is_wrong_otherwise_too_shows_the_other_mistake() {
    let header = stripe(TEXT.as_bytes(), "1600000000", b"{\"a\":1}");
    let seen = look("stripe", &[TEXT], &[("Stripe-Signature", &header)], b"{\"a\": 1}", None);
    assert_eq!(
        (seen.verdict, &*seen.mistakes),
        (Err(Refusal::TooOld), &[Mistake::BodyReserialised][..])
    );
}

#[test]
fn a_list_that_was_read_as_one_value_is_named() {
    let other = codec::to_hex(&mac(b"x", BODY));
    let header = format!("{},v1={other}", stripe(TEXT.as_bytes(), "1700000000", BODY));
    let seen = look("stripe", &[TEXT], &[("Stripe-Signature", &header)], BODY, None);
    assert!(seen.verdict.is_ok());
    assert_eq!(
        seen.mistakes,
        [Mistake::ListAsOneValue],
        "it verifies, unless it is read as one value"
    );
    assert_eq!(seen.candidates.len(), 2);
    let joined =
        stripe(TEXT.as_bytes(), "1700000000", BODY).replace("v1=", &format!("v1={other} "));
    let seen = look("stripe", &[TEXT], &[("Stripe-Signature", &joined)], BODY, None);
    assert_eq!(seen.mistakes, [Mistake::ListAsOneValue], "two tags in one member");
    let tag = codec::to_hex(&mac(b"hub", BODY));
    let header = format!("sha256={other},sha256={tag}");
    let seen = look("github", &["hub"], &[("X-Hub-Signature-256", &header)], BODY, None);
    assert_eq!(seen.mistakes, [Mistake::ListAsOneValue]);
}

#[test]
fn a_url_without_its_port_is_named() {
    let signed = mac(b"key", &[b"https://hooks.example.com/in", BODY].concat());
    let header = codec::to_base64(&signed);
    let headers = [("x-square-hmacsha256-signature", &*header)];
    let spelled =
        look("square", &["key"], &headers, BODY, Some("https://hooks.example.com:443/in"));
    assert_eq!(spelled.url.as_deref(), Some("https://hooks.example.com/in"));
    let seen = |url| look("square", &["key"], &headers, BODY, Some(url)).mistakes;
    assert_eq!(seen("https://hooks.example.com:443/in"), [Mistake::UrlPort]);
    assert_eq!(seen("https://hooks.example.com/in/"), [Mistake::UrlSpelling]);
    assert_eq!(seen("http://hooks.example.com/in"), [Mistake::UrlSpelling]);
}

#[test]
fn the_wrong_one_of_two_secrets_is_named() {
    let header = stripe(OTHER.as_bytes(), "1700000000", BODY);
    let seen = look("stripe", &[TEXT, OTHER], &[("Stripe-Signature", &header)], BODY, None);
    assert!(seen.verdict.is_ok());
    assert_eq!(seen.mistakes, [Mistake::OtherSecret]);
    let lines = [("Stripe-Signature", header.as_bytes())];
    let request = Request { headers: &lines, body: BODY, ..Request::default() };
    let secrets = [(TEXT, Window::always()), (OTHER, Window::always().revoke())];
    let seen = explain(scheme::named("stripe").unwrap(), &secrets, &request, Time::At(NOW));
    assert_eq!(seen.mistakes, [Mistake::SecretNotLive]);
}

#[test]
fn what_was_signed_and_expected_is_shown() {
    let header = stripe(b"somebody else's", "1700000000", BODY);
    let seen = look("stripe", &[TEXT], &[("Stripe-Signature", &header)], BODY, None);
    assert_eq!(seen.signed.as_deref(), Some(&[b"1700000000.", BODY].concat()[..]));
    assert_eq!(seen.mistakes, [], "nothing that was tried explains it");
    let right = stripe(TEXT.as_bytes(), "1700000000", BODY);
    assert!(right.ends_with(seen.expected[0].as_deref().unwrap()));
}

#[test]
fn a_tag_in_another_encoding_and_a_secret_with_blanks_are_named() {
    let tag = codec::to_base64(&mac(b"hub", BODY));
    let header = format!("sha256={tag}");
    let seen = look("github", &["hub"], &[("X-Hub-Signature-256", &header)], BODY, None);
    assert_eq!(seen.mistakes, [Mistake::TagEncoding]);
    let header = format!("sha256={}", codec::to_hex(&mac(b"hub", BODY)));
    let seen = look("github", &["hub\n"], &[("X-Hub-Signature-256", &header)], BODY, None);
    assert_eq!(seen.mistakes, [Mistake::SecretBlanks]);
    assert_eq!(seen.bad_secrets.len(), 1);
}

/// A message signature over these lines, and the two headers that bring it.
fn message(key: &[u8], list: &str, lines: &str) -> (String, String) {
    let base = format!("{lines}\"@signature-params\": {list}");
    let tag = mac(key, base.as_bytes());
    (format!("s={list}"), format!("s=:{}:", codec::to_base64(&tag)))
}

fn of_message(list: &str, lines: &str, key: &[u8]) -> Explanation {
    let (input, signature) = message(key, list, lines);
    let headers = [("Signature-Input", &*input), ("Signature", &*signature)];
    let url = Some("https://hooks.example:8443/in");
    look("http-message-signatures/hmac-sha256", &[&TEXT[6..]], &headers, BODY, url)
}

#[test]
fn a_message_signature_is_explained_by_its_base_and_undone_like_any_other() {
    let key = codec::base64(&TEXT.as_bytes()[6..]).expect("base64");
    let (list, line) = (
        "(\"@target-uri\");created=1700000000",
        "\"@target-uri\": https://hooks.example:8443/in\n",
    );
    let wrong = of_message(list, line, b"another key");
    assert_eq!(wrong.verdict, Err(Refusal::NoMatch));
    let base = format!("{line}\"@signature-params\": {list}");
    assert_eq!(wrong.signed.as_deref(), Some(base.as_bytes()));
    let expected = codec::to_base64(&mac(&key, base.as_bytes()));
    assert_eq!((wrong.candidates.len(), &wrong.expected[..]), (1, &[Some(expected)][..]));
    assert_eq!(wrong.mistakes, []);
    let text = of_message(list, line, &TEXT.as_bytes()[6..]);
    assert_eq!(text.mistakes, [Mistake::SecretNotDecoded]);
    let portless = of_message(list, "\"@target-uri\": https://hooks.example/in\n", &key);
    assert_eq!(portless.mistakes, [Mistake::UrlPort]);
    assert_eq!(portless.url.as_deref(), Some("https://hooks.example/in"));
    let ms = of_message("(\"@target-uri\");created=1700000000000", line, &key);
    assert_eq!(
        (ms.verdict, &ms.mistakes[..]),
        (Err(Refusal::TooNew), &[Mistake::TimeInMilliseconds][..])
    );
}

#[test]
fn a_tag_in_the_body_is_explained_by_the_text_of_its_item() {
    let body = format!(
        r#"{{"signature":{{"timestamp":"1700000000","token":"a","signature":"{:064}"}}}}"#,
        1
    );
    let seen = look("mailgun-body-token", &["key"], &[], body.as_bytes(), None);
    assert_eq!(seen.signed.as_deref(), Some(&b"1700000000a"[..]));
    assert_eq!(seen.expected, [Some(codec::to_hex(&mac(b"key", b"1700000000a")))]);
    assert_eq!((seen.candidates.len(), seen.mistakes.len()), (1, 0));
}

#[test]
fn what_a_bound_leaves_out_is_said() {
    let junk = "v1=00,".repeat(256);
    let header = stripe(TEXT.as_bytes(), "1700000000", BODY).replace(",v1", &format!(",{junk}v1"));
    let many = look("stripe", &[TEXT], &[("Stripe-Signature", &header)], BODY, None);
    assert_eq!((many.verdict, many.left_out), (Err(Refusal::NoMatch), Some(Bound::Candidates)));
    let header =
        format!("{},x={}", stripe(TEXT.as_bytes(), "1700000000", BODY), "x".repeat(65_536));
    let long = look("stripe", &[TEXT], &[("Stripe-Signature", &header)], BODY, None);
    assert!(long.verdict.is_err() && long.left_out == Some(Bound::Line), "{:?}", long.verdict);
}

#[test]
fn two_mistakes_at_once_are_both_named() {
    let header = stripe(OTHER.as_bytes(), "1700000000", b"{\"a\":1}");
    let lines = [("Stripe-Signature", header.as_bytes())];
    let request = Request { headers: &lines, body: b"{\"a\": 1}", ..Request::default() };
    let secrets = [(TEXT, Window::always()), (OTHER, Window::always().revoke())];
    let row = scheme::named("stripe").expect("a row");
    let seen = explain(row, &secrets, &request, Time::At(NOW));
    assert_eq!(seen.mistakes, [Mistake::BodyReserialised, Mistake::SecretNotLive]);
    let tag = mac(TEXT.as_bytes(), &[b"msg_1.1700000000000.", BODY].concat());
    let tag = format!("v1,{}", codec::to_base64(&tag));
    let headers = [
        ("webhook-id", "msg_1"),
        ("webhook-timestamp", "1700000000000"),
        ("webhook-signature", &tag),
    ];
    let seen = look("swh", &[TEXT], &headers, BODY, None);
    assert_eq!(seen.mistakes, [Mistake::SecretNotDecoded, Mistake::TimeInMilliseconds]);
    assert_eq!(of_stripe(b"\xef\xbb\xbf{\r\n}", b"{\n}"), [Mistake::BodyByteOrderMark]);
}

/// A body that says its time itself, as Linear signs it.
fn of_linear(body: &[u8]) -> Explanation {
    let header = codec::to_hex(&mac(b"key", body));
    look("linear-hex", &["key"], &[("Linear-Signature", &header)], body, None)
}

#[test]
fn what_is_wrong_with_a_time_in_the_body_is_named_and_not_the_secret() {
    for (body, verdict, mistake) in [
        (r#"{"a":1}"#, Refusal::BadBody, Mistake::TimeMissing),
        (r#"{"webhookTimestamp":null}"#, Refusal::BadBody, Mistake::TimeMissing),
        ("no JSON", Refusal::BadBody, Mistake::TimeMissing),
        (
            r#"{"webhookTimestamp":1700000000000,"webhookTimestamp":1}"#,
            Refusal::BadBody,
            Mistake::TimeTwice,
        ),
        (r#"{"webhookTimestamp":{}}"#, Refusal::BadBody, Mistake::TimeUnreadable),
        (r#"{"webhookTimestamp":"2023-11-14"}"#, Refusal::BadTimestamp, Mistake::TimeUnreadable),
        (r#"{"webhookTimestamp":1700000000}"#, Refusal::TooOld, Mistake::TimeInSeconds),
        (r#"{"webhookTimestamp":1600000000000}"#, Refusal::TooOld, Mistake::TimeOutsideWindow),
    ] {
        let seen = of_linear(body.as_bytes());
        assert_eq!((seen.verdict, &*seen.mistakes), (Err(verdict), &[mistake][..]), "{body}");
    }
}

#[test]
fn the_senders_reading_of_a_secret_is_named() {
    let signed = |key: &[u8]| {
        let header = stripe(key, "1700000000", BODY);
        look("stripe", &[TEXT], &[("Stripe-Signature", &header)], BODY, None).mistakes
    };
    assert_eq!(signed(format!("{TEXT}\n").as_bytes()), [Mistake::SecretBlanks]);
    assert_eq!(signed(&TEXT.as_bytes()[6..]), [Mistake::SecretPrefix]);
    let hub = |key: &[u8]| {
        let header = format!("sha256={}", codec::to_hex(&mac(key, BODY)));
        let text = "00112233445566778899aabbccddeeff";
        look("github", &[text], &[("X-Hub-Signature-256", &header)], BODY, None).mistakes
    };
    let decoded = codec::hex(b"00112233445566778899aabbccddeeff").expect("hex");
    assert_eq!(hub(&decoded), [Mistake::SecretDecoded]);
}

#[test]
fn a_url_that_lacks_the_port_of_its_host_header_is_named() {
    let signed = mac(b"key", &[b"https://hooks.example.com:8443/in?a=b", BODY].concat());
    let tag = codec::to_base64(&signed);
    let headers = [("Host", "hooks.example.com:8443"), ("x-square-hmacsha256-signature", &*tag)];
    let seen = look("square", &["key"], &headers, BODY, Some("https://hooks.example.com/in?a=b"));
    assert_eq!(seen.mistakes, [Mistake::UrlPort]);
    assert_eq!(seen.url.as_deref(), Some("https://hooks.example.com:8443/in?a=b"));
}

#[test]
fn a_length_that_fits_another_layout_is_named_where_the_body_cannot_be_found_again() {
    let length = |said: &str, secret: &[u8]| {
        let header = stripe(secret, "1700000000", BODY);
        let headers = [("Stripe-Signature", &*header), ("Content-Length", said)];
        look("stripe", &[TEXT], &headers, BODY, None).mistakes
    };
    let spaced = (BODY.len() + 5).to_string();
    assert_eq!(length(&spaced, b"another key"), [Mistake::BodyLength]);
    for said in [BODY.len().to_string(), "1".into(), "9999999".into(), "x".into()] {
        assert_eq!(length(&said, b"another key"), [], "{said}");
    }
}

#[test]
fn a_search_that_grows_too_long_ends_and_says_so() {
    let header = stripe(b"another key", "1700000000", BODY);
    let lines: Vec<(&str, &str)> =
        core::iter::repeat_n(("X-Filler", "some text of a header that nobody reads"), 100_000)
            .chain([("Stripe-Signature", &*header)])
            .collect();
    let seen = look("stripe", &[TEXT], &lines, BODY, None);
    assert!(seen.gave_up && seen.mistakes.is_empty());
    let short = look("stripe", &[TEXT], &lines[100_000..], b"{}", None);
    assert!(!short.gave_up, "all there is was tried");
}
