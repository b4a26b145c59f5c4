//! `hookproof sign` and `hookproof verify`: what they print, and how they end.

use crate::support::{Folder, hookproof, json, piped, stderr, stdout};
use hookproof_core::{
    codec,
    scheme::{self, Algorithm, Construction, Part, Place, mac},
};

const BODY: &str = r#"{"type":"invoice.paid","id":"evt_1","amount":"10.50"}"#;
const SECRET: &str = "whsec_c29tZSBzZWNyZXQgb2YgdGhpcnR5LXR3byBieXRlcy4=";
const OTHER: &str = "whsec_YW5vdGhlciBzZWNyZXQgb2YgMzIgYnl0ZXMgaGVyZSE=";
const NOW: &str = "1700000000";

fn tag(key: &[u8], content: &[&[u8]]) -> Vec<u8> {
    mac(Algorithm::HmacSha256, key, &content.concat()).expect("an HMAC")
}

fn stripe(key: &[u8], time: &str, body: &str) -> String {
    let tag = tag(key, &[time.as_bytes(), b".", body.as_bytes()]);
    format!("Stripe-Signature: t={time},v1={}\n", codec::to_hex(&tag))
}

/// One request of a test: what is asked, and what must be said.
struct Look<'a> {
    folder: Folder,
    scheme: &'a str,
    secrets: &'a [&'a str],
    more: &'a [&'a str],
}

impl<'a> Look<'a> {
    fn new(scheme: &'a str) -> Self {
        Self { folder: Folder::new(), scheme, secrets: &[SECRET], more: &[] }
    }

    fn at(&self, headers: &str, body: &str) -> std::process::Output {
        let mut args = vec!["verify", "--scheme", self.scheme, "--now", NOW, "--explain"];
        let named = self.secrets.iter().enumerate();
        let secrets: Vec<String> =
            named.map(|(at, text)| self.folder.file(&format!("{at}.secret"), text)).collect();
        for path in &secrets {
            args.extend(["--secret-file", path]);
        }
        let (headers, body) =
            (self.folder.file("headers.txt", headers), self.folder.file("body.bin", body));
        args.extend(["--headers", &headers, "--body", &body]);
        args.extend(self.more);
        hookproof(&args)
    }

    /// Whether this is said, with this exit code, and no secret is.
    fn says(&self, headers: &str, body: &str, (code, words): (i32, &str)) -> String {
        let output = self.at(headers, body);
        let (text, notes) = (stdout(&output), stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{text}{notes}");
        assert!(text.contains(words), "expected `{words}` in: {text}");
        for secret in [SECRET, &SECRET[6..], OTHER, &OTHER[6..]] {
            assert!(!text.contains(secret) && !notes.contains(secret), "a secret: {text}{notes}");
        }
        text
    }
}

#[test]
fn a_reserialised_body_is_named_with_its_first_difference() {
    let look = Look::new("stripe");
    let received = r#"{"type": "invoice.paid", "id": "evt_1", "amount": "10.50"}"#;
    let headers = stripe(SECRET.as_bytes(), NOW, BODY);
    let text = look.says(&headers, received, (1, "the body was re-serialised"));
    assert!(text.starts_with("reject no_match: "), "{text}");
    assert!(text.contains("at byte 8 of the body: received ` \"invoice.paid\""), "{text}");
}

#[test]
fn a_byte_order_mark_and_changed_line_ends_are_named() {
    let look = Look::new("stripe");
    let headers = stripe(SECRET.as_bytes(), NOW, "{}");
    look.says(&headers, "\u{feff}{}", (1, "a byte order mark was added"));
    let text = look.says(&headers, "{}\r\n", (1, "line ends of the body were changed"));
    assert!(text.contains("at byte 2 of the body: received `\\r\\n`, signed its end"), "{text}");
    let headers = stripe(SECRET.as_bytes(), NOW, "{\r\n}");
    look.says(&headers, "{\n}", (1, "line ends of the body were changed"));
}

#[test]
fn a_decoded_stripe_secret_is_named() {
    let decoded = codec::base64(&SECRET.as_bytes()[6..]).expect("base64");
    let look = Look::new("stripe");
    look.says(&stripe(&decoded, NOW, BODY), BODY, (1, "the secret was decoded, from base64"));
}

#[test]
fn an_undecoded_standard_webhooks_secret_is_named() {
    let tag = tag(SECRET.as_bytes(), &[b"msg_1.", NOW.as_bytes(), b".", BODY.as_bytes()]);
    let headers = format!(
        "webhook-id: msg_1\r\nwebhook-timestamp: {NOW}\r\nwebhook-signature: v1,{}\r\n",
        codec::to_base64(&tag)
    );
    let look = Look::new("swh");
    look.says(&headers, BODY, (1, "the secret was not decoded"));
}

#[test]
fn a_time_in_milliseconds_is_named() {
    let look = Look::new("stripe");
    let headers = stripe(SECRET.as_bytes(), "1700000000000", BODY);
    let text = look.says(&headers, BODY, (1, "the timestamp is in milliseconds"));
    assert!(text.starts_with("reject too_new"), "{text}");
    let headers = stripe(SECRET.as_bytes(), "1699990000", BODY);
    look.says(&headers, BODY, (1, "`1699990000` in the member t of the signature header"));
}

#[test]
fn a_time_that_was_sent_in_one_unit_and_signed_in_the_other_is_named() {
    let look = Look::new("stripe");
    let signed = |time| stripe(SECRET.as_bytes(), time, BODY);
    let sent = signed(NOW).replace(NOW, "1700000000123");
    look.says(&sent, BODY, (1, "the timestamp is in milliseconds"));
    let sent = signed("1700000000123").replace("1700000000123", NOW);
    look.says(&sent, BODY, (1, "the timestamp is in milliseconds"));
    let work = |time| signed(time).replace("Stripe-", "WorkOS-");
    let look = Look::new("workos-v1");
    look.says(&work(NOW), BODY, (1, "the timestamp is in seconds"));
    let sent = work(NOW).replace(NOW, "1700000000123");
    look.says(&sent, BODY, (1, "the timestamp is in seconds"));
}

#[test]
fn a_list_that_somebody_reads_as_one_value_is_named() {
    let look = Look::new("stripe");
    let good = stripe(SECRET.as_bytes(), NOW, BODY);
    let other = codec::to_hex(&tag(b"x", &[]));
    let list = good.replace("v1=", &format!("v1={other},v1="));
    look.says(&list, BODY, (0, "the header holds a list of signatures"));
    let joined = good.replace("v1=", &format!("v1={other} "));
    look.says(&joined, BODY, (1, "the header holds a list of signatures"));
}

#[test]
fn a_url_signed_without_its_port_is_named() {
    let signed = tag(SECRET.as_bytes(), &[b"https://hooks.example/in", BODY.as_bytes()]);
    let headers = format!("x-square-hmacsha256-signature: {}\n", codec::to_base64(&signed));
    let look = Look { more: &["--url", "https://hooks.example:443/in"], ..Look::new("square") };
    let text = look.says(&headers, BODY, (1, "the URL was signed with its port, or without"));
    assert!(text.contains("signed was https://hooks.example/in"), "{text}");
}

#[test]
fn the_wrong_one_of_two_secrets_is_named() {
    let headers = stripe(OTHER.as_bytes(), NOW, BODY);
    let both = Look { secrets: &[SECRET, OTHER], ..Look::new("stripe") };
    let text = both.says(&headers, BODY, (0, "signed with another of the two secrets"));
    assert!(text.contains("secret 2 of 2 (1.secret)"), "{text}");
    let folder = Folder::new();
    let retired = folder.file("retired.secret", OTHER);
    let one = Look { more: &["--retired-secret-file", &retired], ..Look::new("stripe") };
    one.says(&headers, BODY, (1, "a secret that is retired, revoked or not yet live"));
}

#[test]
fn what_cannot_be_undone_is_said_to_be_so_and_a_lost_header_is_named() {
    let look = Look::new("paymos");
    let headers = stripe(b"another", NOW, BODY).replace("Stripe-", "X-Webhook-");
    look.says(&headers, BODY, (1, "it is another secret, another scheme, or content"));
    look.says("A: b", BODY, (1, "X-Webhook-Signature (absent)"));
    let short = format!("Content-Length: 5\n{headers}");
    look.says(&short, BODY, (1, "Content-Length says 5"));
}

#[test]
fn an_accepted_request_says_what_is_not_signed() {
    let look = Look::new("paymos");
    let headers = stripe(SECRET.as_bytes(), NOW, BODY).replace("Stripe-", "X-Webhook-");
    let text = look.says(&headers, BODY, (0, "the delivery id in X-Webhook-Id"));
    assert!(text.starts_with("accept\n"), "{text}");
}

#[test]
fn a_signed_url_and_method_are_never_called_unsigned() {
    let signed = tag(SECRET.as_bytes(), &[b"https://hooks.example/in", BODY.as_bytes()]);
    let headers = format!("x-square-hmacsha256-signature: {}\n", codec::to_base64(&signed));
    let look = Look { more: &["--url", "https://hooks.example/in"], ..Look::new("square") };
    let text = look.says(&headers, BODY, (0, "vouched for body, url"));
    assert!(text.contains("the method") && !text.contains("method or URL"), "{text}");
    let declared = "name = \"m\"\ntemplate = \"{method}{body}\"\nalgorithm = \"hmac-sha256\"\n\
                    encoding = \"hex\"\nkey = \"text\"\n[headers]\nsignature = \"S\"\n";
    let folder = Folder::new();
    let secret = folder.file("s", SECRET);
    let tag = codec::to_hex(&tag(SECRET.as_bytes(), &[b"POST", BODY.as_bytes()]));
    let (headers, body) = (folder.file("h", format!("S: {tag}\n")), folder.file("b", BODY));
    let scheme = folder.file("m.toml", declared);
    let args = ["verify", "--scheme-file", &scheme, "--secret-file", &secret, "--explain"];
    let given = ["--headers", &headers, "--body", &body, "--method", "POST"];
    let text = stdout(&hookproof(&[&args[..], &given].concat()));
    assert!(text.contains("vouched for body, method") && text.contains("the URL:"), "{text}");
}

#[test]
fn a_body_that_is_not_covered_is_warned_of_and_can_be_demanded() {
    let folder = Folder::new();
    let secret = folder.file("s", codec::to_base64(&[7; 32]));
    let list = "(\"@method\");created=1700000000";
    let base = format!("\"@method\": POST\n\"@signature-params\": {list}");
    let tag = codec::to_base64(&tag(&[7; 32], &[base.as_bytes()]));
    let text = format!("Signature-Input: s={list}\nSignature: s=:{tag}:\n\n{BODY}");
    let request = folder.file("r", text);
    let scheme = "http-message-signatures/hmac-sha256";
    let args = ["verify", "--scheme", scheme, "--secret-file", &secret, "--now", NOW];
    let verify = |more: &[&str]| hookproof(&[&args[..], &["--request", &request], more].concat());
    let plain = verify(&["--method", "POST"]);
    assert!(
        stdout(&plain).starts_with("accept\nwarning: the signature does not cover"),
        "{plain:?}"
    );
    let strict = verify(&["--method", "POST", "--require-body"]);
    assert_eq!(strict.status.code(), Some(1));
    assert!(stdout(&strict).starts_with("reject no_match"), "{strict:?}");
    let forgotten = verify(&[]);
    assert_eq!(forgotten.status.code(), Some(2));
    assert!(stderr(&forgotten).contains("add --method"), "{forgotten:?}");
}

#[test]
fn an_id_that_holds_a_time_is_taken_and_remarked_on() {
    let id = "order.1700000001";
    let tag = tag(b"0123456789abcdef", &[id.as_bytes(), b".1700000000.", BODY.as_bytes()]);
    let tag = codec::to_base64(&tag);
    let headers =
        format!("webhook-id: {id}\nwebhook-timestamp: {NOW}\nwebhook-signature: v1,{tag}\n");
    let look = Look { secrets: &["whsec_MDEyMzQ1Njc4OWFiY2RlZg=="], ..Look::new("swh") };
    look.says(&headers, BODY, (0, "the id holds what could be a time"));
}

#[test]
fn what_is_written_has_the_providers_separators_and_members() {
    let folder = Folder::new();
    let secret = folder.file("s", SECRET);
    let sign = |args: &[&str]| {
        let args = [&["sign", "--secret-file", &secret, "--timestamp"], args].concat();
        stdout(&piped(&args, BODY.as_bytes()))
    };
    let work = sign(&["1700000000000", "--scheme", "workos-v1"]);
    assert!(work.starts_with("WorkOS-Signature: t=1700000000000, v1="), "{work}");
    let others = folder.file("others", "X-Event-Id: evt_1\nX-Event-Type: paid\n");
    let hook0 = sign(&[NOW, "--scheme", "hook0-v1", "--headers", &others]);
    let front = "X-Hook0-Signature: t=1700000000,h=x-event-id x-event-type,v1=";
    assert!(hook0.starts_with(front), "{hook0}");
    let look = Look::new("hook0-v1");
    look.says(&format!("X-Event-Id: evt_1\nX-Event-Type: paid\n{hook0}"), BODY, (0, "accept"));
}

#[test]
fn line_ends_behind_a_secret_are_no_part_of_it_and_a_byte_order_mark_is_hinted_at() {
    let headers = stripe(SECRET.as_bytes(), NOW, BODY);
    for text in ["\n", "\r\n", "\n\n", "\r\n\r\n", "\r"].map(|end| format!("{SECRET}{end}")) {
        let look = Look { secrets: &[&text], ..Look::new("stripe") };
        look.says(&headers, BODY, (0, "accept"));
    }
    let marked = format!("\u{feff}{SECRET}");
    let look = Look { secrets: &[&marked], ..Look::new("stripe") };
    look.says(&headers, BODY, (1, "a byte order mark stands around the secret"));
    assert!(stderr(&look.at(&headers, BODY)).contains("begins with a byte order mark"));
}

#[test]
fn a_whole_request_is_pasted_from_a_file_or_a_pipe() {
    let folder = Folder::new();
    let secret = folder.file("a.secret", format!("{SECRET}\n"));
    let head = stripe(SECRET.as_bytes(), NOW, BODY);
    let text = format!("POST /in HTTP/1.1\r\nHost: a.example\r\n{}\r\n\r\n{BODY}", head.trim_end());
    let args = ["verify", "--scheme", "stripe", "--secret-file", &secret, "--now", NOW];
    let output = piped(&[&args[..], &["--request", "-", "--json"]].concat(), text.as_bytes());
    let object = json(&output);
    assert_eq!(output.status.code(), Some(0), "{object}");
    assert_eq!((&object["result"], &object["secret"]), (&"accept".into(), &1.into()));
    let late = piped(
        &["verify", "--scheme", "stripe", "--secret-file", &secret, "--request", "-", "--json"],
        text.as_bytes(),
    );
    assert_eq!(late.status.code(), Some(1));
    assert_eq!(json(&late)["reason"], "too_old", "without --now it is now");
    let wide =
        piped(&[&args[..], &["--request", "-", "--tolerance", "0"]].concat(), text.as_bytes());
    assert_eq!(wide.status.code(), Some(0), "the edge belongs to the window");
}

/// A secret that goes with the form of a scheme's key, to sign and to verify.
fn secrets(row: &scheme::Scheme) -> Option<(String, String)> {
    let text = match row.algorithm {
        // The seed and public key of RFC 8032, 7.1, test 1.
        Algorithm::Ed25519 => {
            let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
            let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
            let pair = codec::hex(format!("{seed}{public}").as_bytes())?;
            return Some((format!("whsk_{}", codec::to_base64(&pair)), public.into()));
        }
        Algorithm::EcdsaP256Der | Algorithm::EcdsaP256Raw | Algorithm::Token => return None,
        _ if row.key == scheme::KeyForm::Hex => codec::to_hex(&[7; 32]),
        _ => codec::to_base64(&[7; 32]),
    };
    Some((text.clone(), text))
}

/// Runs `sign` and `verify` with the same arguments; `None` where the scheme cannot sign.
fn round_trip(
    row: &scheme::Scheme,
    folder: &Folder,
    (private, public): (&str, &str),
) -> Option<()> {
    let body = folder.file("body", BODY);
    let url = format!("https://hooks.example/in?bodySHA256={}", codec::to_hex(&sha256(BODY)));
    let both = ["--scheme", &row.name, "--url", &url, "--method", "POST"];
    let mut sign = [&["sign", "--secret-file", private, &body], &both[..]].concat();
    if row.id_header().is_some() {
        sign.extend(["--id", "msg_1"]);
    }
    let others = "Date: Tue, 14 Nov 2023 22:13:20 GMT\nX-Contentful-Signed-Headers: x\n";
    let others_file = folder.file("others", others);
    let others = if signs_headers(row) { others } else { "" };
    if !others.is_empty() {
        sign.extend(["--headers", &others_file]);
    }
    let output = hookproof(&sign);
    if output.status.code() == Some(2) {
        assert!(stderr(&output).starts_with("error: "), "{}: {}", row.name, stderr(&output));
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{}: {}", row.name, stderr(&output));
    let headers = folder.file("headers", others.to_owned() + &stdout(&output));
    let given = ["verify", "--secret-file", public, "--headers", &headers, "--body", &body];
    let verdict = hookproof(&[&given, &both[..]].concat());
    assert_eq!(stdout(&verdict), "accept\n", "{}: {}", row.name, stdout(&output));
    Some(())
}

#[test]
fn whatever_is_signed_verifies_in_every_scheme_that_can_sign() {
    let folder = Folder::new();
    let mut signed = 0;
    for row in scheme::all().filter(|row| !has_time_in_body(row)) {
        let Some((private, public)) = secrets(row) else { continue };
        let private = folder.file("private", private + "\n");
        let public = folder.file("public", public);
        signed += usize::from(round_trip(row, &folder, (&private, &public)).is_some());
    }
    assert!(signed >= 40, "only {signed} schemes sign");
}

/// Whether other headers are signed too.
fn signs_headers(row: &scheme::Scheme) -> bool {
    matches!(&row.construction, Construction::Template(template) if template.signed.iter().any(
        |part| matches!(part, Part::Header(_) | Part::ListedHeaders(_) | Part::NamedHeaders)))
}

/// Whether the body would have to say when it is sent.
fn has_time_in_body(row: &scheme::Scheme) -> bool {
    matches!(&row.construction, Construction::Template(template)
        if matches!(template.clock, Some((Place::Body(_), _))))
}

fn sha256(text: &str) -> [u8; 32] {
    use sha2::Digest as _;
    sha2::Sha256::digest(text.as_bytes()).into()
}

#[test]
fn several_secrets_sign_where_the_scheme_can_carry_them() {
    let folder = Folder::new();
    let (one, two) = (folder.file("1", SECRET), folder.file("2", OTHER));
    let sign = |scheme| {
        let args = ["sign", "--scheme", scheme, "--secret-file", &one, "--secret-file", &two];
        piped(&[&args[..], &["--id", "m", "--timestamp", NOW, "--json"]].concat(), BODY.as_bytes())
    };
    let both = json(&sign("paymos"))["headers"].to_string();
    assert_eq!(both.matches("v1=").count(), 2, "{both}");
    assert_eq!(json(&sign("swh"))["headers"].to_string().matches("v1,").count(), 2);
    let output = piped(
        &["sign", "--scheme", "github", "--secret-file", &one, "--secret-file", &two],
        BODY.as_bytes(),
    );
    assert!(stderr(&output).contains("one signature: the first secret made it"));
}

const DECLARED: &str = r#"
name = "acme"
template = "{timestamp}:{body}"
algorithm = "hmac-sha512"
encoding = "base64"
key = "text"
tolerance_s = 60
unit = "ms"

[headers]
signature = "Acme-Signature"

[list]
form = "pairs"
separator = ";"
timestamp = "ts"
tags = ["sig"]
"#;

#[test]
fn a_scheme_of_ones_own_signs_and_verifies() {
    let folder = Folder::new();
    let (scheme, secret) = (folder.file("acme.toml", DECLARED), folder.file("s", SECRET));
    let body = folder.file("body", BODY);
    let args = ["--scheme-file", &scheme, "--secret-file", &secret];
    let sign =
        hookproof(&[&["sign"], &args[..], &["--timestamp", "1700000000000", &body]].concat());
    assert!(
        stdout(&sign).starts_with("Acme-Signature: ts=1700000000000;sig="),
        "{}",
        stderr(&sign)
    );
    let headers = folder.file("headers", stdout(&sign));
    let verify = |now| {
        let given = ["--headers", &headers, "--body", &body, "--now", now];
        hookproof(&[&["verify"], &args[..], &given].concat())
    };
    assert_eq!(stdout(&verify("1700000060")), "accept\n");
    assert!(stdout(&verify("1700000061")).starts_with("reject too_old"));
    let wrong = folder.file("wrong.toml", DECLARED.replace("{body}", "{boody}"));
    let output = hookproof(&["sign", "--scheme-file", &wrong, "--secret-file", &secret, &body]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("wrong.toml:3: "), "{}", stderr(&output));
}

#[test]
fn what_is_not_understood_ends_with_2_or_3_and_no_secret_is_repeated() {
    let folder = Folder::new();
    let (secret, body) = (folder.file("s", SECRET), folder.file("b", BODY));
    let whole = folder.file("w", format!("whsec_{}", codec::to_base64(&[7; 32])));
    let bare = folder.file("bare", "x-square-hmacsha256-signature: AAAA\n\n{}");
    for (args, code, expected) in [
        (&["sign", "--scheme", "stripe", &body][..], 2, "name its file with --secret-file"),
        (&["sign", "--scheme", "strpe", &body], 2, "near are stripe"),
        (&["sign", "--scheme", "sns-rsa", &body], 2, "known and not verified: RSA"),
        (&["sign", "--scheme", "swh", "--secret-file", &secret, &body], 2, "add --id"),
        (&["sign", "--scheme", "swh", "--secret-file", &whole, "--id", "", &body], 2, "add --id"),
        (&["sign", "--scheme", "square", "--secret-file", &secret, &body], 2, "add --url"),
        (
            &["sign", "--scheme", "square", "--secret-file", &secret, "--url", "", &body],
            2,
            "add --url",
        ),
        (
            &["sign", "--scheme", "gitlab-token", "--secret-file", &secret, &body],
            2,
            "never printed",
        ),
        (&["sign", "--scheme", "stripe", "--secret-file", SECRET, &body], 3, "never the secret"),
        (&["sign", "--scheme", "stripe", "--secret-env", SECRET, &body], 2, "never the secret"),
        (
            &["sign", "--scheme", "stripe", "--secret-file", &secret, "--timestamp", "1.5", &body],
            2,
            "--timestamp: expected",
        ),
        (&["verify", "--scheme", "stripe", "--secret-file", &secret], 2, "--headers"),
        (
            &["verify", "--scheme", "square", "--secret-file", &secret, "--request", &bare],
            2,
            "add --url",
        ),
        (&["sign", "--scheme", "hook0-v1", "--secret-file", &secret, &body], 2, "add --headers"),
        (
            &["verify", "--scheme", "stripe", "--secret-file", &secret, "--request", &secret],
            3,
            "line 1: expected `Name: value`",
        ),
        (
            &["verify", "--scheme", "stripe", "--secret-file", "-", "--request", "-"],
            2,
            "standard input can be read once",
        ),
        (&["verify", "--scheme", "stripe", "--now", "1700000000000"], 2, "not milliseconds"),
        (&["verify", "--scheme", "stripe", "--tolerance=-1"], 2, "--tolerance"),
    ] {
        let output = hookproof(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
        assert!(!said.contains(SECRET) && output.stdout.is_empty(), "{args:?}: {said}");
    }
}

#[test]
fn a_shared_token_is_never_shown() {
    let look = Look::new("gitlab-token");
    let text = look.says(&format!("X-Gitlab-Token: {SECRET}\n"), BODY, (0, "which is not shown"));
    assert!(text.contains("vouched for nothing"), "{text}");
    look.says(&format!("X-Gitlab-Token: {OTHER}\n"), BODY, (1, "which is not shown"));
}

#[test]
fn an_unusable_secret_is_a_warning_and_never_blocks_a_good_one() {
    let look = Look { secrets: &["", SECRET], ..Look::new("stripe") };
    look.says(&stripe(SECRET.as_bytes(), NOW, BODY), BODY, (0, "secret 2 of 2"));
    let look = Look { secrets: &["not base64!"], ..Look::new("swh") };
    look.says("A: b", BODY, (1, "reject bad_secret"));
}

#[test]
fn a_body_of_another_length_than_was_said_is_warned_of() {
    let look = Look::new("stripe");
    let headers = stripe(SECRET.as_bytes(), NOW, "{}") + "Content-Length: 99\n";
    look.says(&headers, "{}", (0, "the body has 2 bytes, where Content-Length says 99"));
    let headers =
        stripe(SECRET.as_bytes(), NOW, "{}") + "Content-Length: 2\nTransfer-Encoding: chunked\n";
    look.says(&headers, "{}", (0, "Content-Length stands beside Transfer-Encoding"));
}

#[test]
fn a_time_of_another_unit_is_not_signed_and_negative_ones_are_said_to_be_wrong() {
    let folder = Folder::new();
    let secret = folder.file("s", SECRET);
    let body = folder.file("body", "{}");
    for time in ["1700000000000", "-1"] {
        let args =
            ["sign", "--scheme", "stripe", "--secret-file", &secret, "--timestamp", time, &body];
        let output = hookproof(&args);
        assert_eq!(output.status.code(), Some(2), "{time}");
        assert!(stderr(&output).contains("--timestamp: expected"), "{}", stderr(&output));
    }
    for (option, words) in
        [("--now", "expected seconds"), ("--tolerance", "expected whole seconds")]
    {
        let output =
            hookproof(&["verify", "--scheme", "stripe", "--secret-file", &secret, option, "-1"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    let output = hookproof(&["verify", "--scheme", "stripe", "--secret-file", &secret]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("or --request"), "{}", stderr(&output));
}

#[test]
fn the_time_in_a_body_is_shown_and_named_where_it_is_wrong() {
    let look = Look { secrets: &["a secret"], ..Look::new("linear-hex") };
    let at = |body: &str, words| {
        let headers =
            format!("Linear-Signature: {}\n", codec::to_hex(&tag(b"a secret", &[body.as_bytes()])));
        let text = look.says(&headers, body, (1, words));
        assert!(
            !text.contains("retired") && text.contains("webhookTimestamp of the body"),
            "{text}"
        );
    };
    at(r#"{"a":1}"#, "there is no time where the scheme has it");
    at(r#"{"webhookTimestamp":1,"webhookTimestamp":1}"#, "the time stands in the body twice");
    at(r#"{"webhookTimestamp":"now"}"#, "the time is not written as the scheme writes it");
    at(r#"{"webhookTimestamp":1700000000}"#, "`1700000000` in /webhookTimestamp of the body");
    at(r#"{"webhookTimestamp":1700000000}"#, "the timestamp is in seconds");
}

#[test]
fn an_unusable_retired_secret_is_warned_of_like_any_other() {
    let folder = Folder::new();
    let retired = folder.file("old.secret", "not base64!");
    let look = Look { more: &["--retired-secret-file", &retired], ..Look::new("swh") };
    let said = stderr(&look.at("A: b", BODY));
    assert!(said.contains("warning: secret 2 (old.secret, retired): the secret is not"), "{said}");
}

#[test]
fn a_secret_that_stands_in_the_request_is_not_repeated() {
    let look = Look::new("stripe");
    let body = format!("{{\"url\": \"https://a.example/?key={SECRET}\"}}");
    let compact = body.replace(": ", ":");
    let signed = stripe(SECRET.as_bytes(), NOW, &compact);
    look.says(&signed, &body, (1, "the body holds the secret, so it is not shown"));
    look.says(&format!("Stripe-Signature: t={NOW},v1={SECRET}\n"), BODY, (1, "[the secret]"));
    let length = format!("Content-Length: {SECRET}\n{signed}");
    look.says(&length, &compact, (0, "Content-Length says [the secret]"));
    let json = Look { more: &["--json"], ..Look::new("stripe") };
    json.says(&signed, &body, (1, "[the secret]"));
}

#[test]
fn what_a_request_hides_is_spelled_out() {
    let look = Look::new("stripe");
    let headers = stripe(SECRET.as_bytes(), "17\u{202e}00", BODY);
    let text = look.says(&headers, "{\"a\":\"\u{2066}b\"}", (1, "\\u{202e}"));
    assert!(!text.contains(['\u{202e}', '\u{2066}']), "{text}");
    let json = Look { more: &["--json"], ..Look::new("stripe") };
    let text = json.says(&headers, BODY, (1, "\\u202e"));
    assert!(!text.contains('\u{202e}'), "{text}");
    let items = Look {
        secrets: &["00112233445566778899aabbccddeeff"],
        ..Look::new("adyen-payments-fields")
    };
    items.says("A: b", "{}", (1, "needed      additionalData.hmacSignature in each item"));
}

#[test]
fn a_length_that_fits_another_layout_is_a_likely_mistake() {
    let look = Look::new("stripe");
    let signed = stripe(b"what nobody knows", NOW, BODY);
    let length = format!("Content-Length: {}\n{signed}", BODY.len() + 5);
    let text = look.says(&length, BODY, (1, "the body was probably re-serialised"));
    assert!(text.contains("where Content-Length says 58"), "{text}");
}
