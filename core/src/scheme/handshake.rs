//! What an endpoint must answer before deliveries come, or beside them (R18).
//!
//! An answer tells the provider that this endpoint wants its deliveries, so whoever gets one decides for
//! us. What each provider's protocol lets one check is checked before:
//!
//! | provider | answered when |
//! | --- | --- |
//! | Slack, Twitch, Zoom, Discord | the request is signed like a delivery, by a live secret and in time |
//! | Meta | the mode is `subscribe`, and the verify token is the agreed one |
//! | `WebSub` | the mode is `subscribe`, and the topic (or the token of older hubs) is the agreed one |
//! | `CloudEvents` | the one origin that is named is the allowed one |
//! | X | the token is one: its answer is a signature that would also verify for a body of that text |
//! | Dropbox, Trello | always: they prove nothing, and the answer holds no secret |
//!
//! What is echoed is plain text of visible ASCII, never a page.

use alloc::{format, string::String, vec::Vec};

use super::{Refusal, Request, Time, Verifier, content::decode_form, key, url_forms};
use crate::{
    codec,
    json::{Json, Value},
};

/// What is answered in place of the usual acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Header names and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
}

/// How a provider shakes hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handshake {
    /// A signed JSON body with this member and value; its `challenge` is echoed.
    SignedChallenge(&'static str, &'static str),
    /// A signed body under this header and value; its `challenge` is echoed.
    HeaderChallenge(&'static str, &'static str),
    /// Zoom: a signed `plainToken`, answered with its HMAC.
    EncryptedToken,
    /// A GET with `hub.challenge` and the agreed `hub.verify_token` (Meta).
    HubToken,
    /// A GET with `hub.challenge` about the agreed `hub.topic` (`WebSub`).
    HubTopic,
    /// X: a GET with `crc_token`, answered with its HMAC.
    CrcToken,
    /// A GET with `challenge`, echoed.
    Echo,
    /// Discord: a signed ping.
    Ping,
    /// A HEAD request, answered 200.
    Head,
    /// OPTIONS with `WebHook-Request-Origin`, answered with the origin that is allowed.
    Origin,
}

/// The handshake of a scheme.
pub fn of(scheme: &str) -> Option<Handshake> {
    HANDSHAKES.iter().find(|(name, _)| *name == scheme).map(|(_, handshake)| *handshake)
}

impl Handshake {
    /// The reply to a request that is a handshake; `None` where it is a delivery. `agreed` is what the
    /// provider must say: Meta's verify token, the topic that was subscribed to, the allowed origin.
    pub fn answer(
        self,
        verifier: &Verifier,
        request: &Request<'_>,
        agreed: Option<&str>,
        time: Time,
    ) -> Option<Result<Reply, Refusal>> {
        let is = |method: &str| request.method.is_some_and(|m| m.eq_ignore_ascii_case(method));
        let signed = |reply: Result<Reply, Refusal>| verifier.verify(request, time).and(reply);
        match self {
            Self::SignedChallenge(member, value) => {
                let root = body(request, member, value)?;
                Some(signed(challenge(root)))
            }
            Self::HeaderChallenge(name, value) => {
                request.lines(name).find(|line| *line == value.as_bytes())?;
                let root = Json::check(request.body).map(|json| json.root());
                Some(signed(root.map_err(Refusal::from).and_then(challenge)))
            }
            Self::EncryptedToken => {
                let root = body(request, "/event", "endpoint.url_validation")?;
                Some(encrypted(root, verifier, request, time))
            }
            Self::Ping => {
                let root = Json::check(request.body).ok()?.root();
                match root.at("/type").ok()??.scalar()?.as_str() {
                    "1" => Some(signed(Ok(json(String::from("{\"type\":1}"))))),
                    "0" => Some(signed(Ok(empty(204)))),
                    _ => None,
                }
            }
            Self::HubToken | Self::HubTopic if is("GET") => {
                let challenge = asked(request, "hub.challenge")?;
                let agrees = match self {
                    Self::HubToken => says(request, "hub.verify_token", agreed),
                    _ => {
                        says(request, "hub.topic", agreed)
                            || says(request, "hub.verify_token", agreed)
                    }
                };
                let wanted = agrees && says(request, "hub.mode", Some("subscribe"));
                Some(challenge.and_then(|challenge| {
                    if wanted { echo(challenge) } else { Err(Refusal::NoMatch) }
                }))
            }
            Self::CrcToken if is("GET") => {
                let token = asked(request, "crc_token")?;
                Some(token.and_then(|token| response_token(&token, verifier, time)))
            }
            Self::Echo if is("GET") => Some(asked(request, "challenge")?.and_then(echo)),
            Self::Head if is("HEAD") => Some(Ok(empty(200))),
            Self::Origin if is("OPTIONS") => match request.one("webhook-request-origin") {
                Err(Refusal::MissingHeader) => None,
                Err(refusal) => Some(Err(refusal)),
                Ok(origin) => {
                    let allowed = agreed.filter(|text| is_same(text, origin));
                    Some(allowed.map(origin_allowed).ok_or(Refusal::NoMatch))
                }
            },
            Self::HubToken
            | Self::HubTopic
            | Self::CrcToken
            | Self::Echo
            | Self::Head
            | Self::Origin => None,
        }
    }
}

/// Whether a parameter stands there once and says what was agreed on. Nothing is agreed on by a blank.
fn says(request: &Request<'_>, name: &str, agreed: Option<&str>) -> bool {
    let given = asked(request, name).and_then(Result::ok);
    agreed.zip(given).is_some_and(|(agreed, given)| is_same(agreed, given.as_bytes()))
}

fn is_same(agreed: &str, given: &[u8]) -> bool {
    !agreed.trim().is_empty() && key::same(agreed.as_bytes(), given)
}

/// The root of a JSON body that says so.
fn body<'a>(request: &Request<'a>, pointer: &str, value: &str) -> Option<Value<'a>> {
    let root = Json::check(request.body).ok()?.root();
    let said = root.at(pointer).ok()??.text()?;
    (said == value).then_some(root)
}

fn challenge(root: Value<'_>) -> Result<Reply, Refusal> {
    let text = root.at("/challenge")?.and_then(Value::text).ok_or(Refusal::BadBody)?;
    echo(text)
}

/// Plain text that nobody renders: visible ASCII, of bounded length.
fn echo(text: String) -> Result<Reply, Refusal> {
    if !is_plain(&text) {
        return Err(Refusal::Malformed);
    }
    let headers = alloc::vec![
        ("Content-Type", String::from("text/plain")),
        ("X-Content-Type-Options", String::from("nosniff")),
    ];
    Ok(Reply { status: 200, headers, body: text })
}

/// The tag of Zoom's token, by the secret that signed the request.
fn encrypted(
    root: Value<'_>,
    verifier: &Verifier,
    request: &Request<'_>,
    time: Time,
) -> Result<Reply, Refusal> {
    let secret = verifier.verify(request, time)?.secret();
    let plain = root.at("/payload/plainToken")?.and_then(Value::text).ok_or(Refusal::BadBody)?;
    let tag = codec::to_hex(&tag(verifier, secret, &plain)?);
    Ok(json(format!("{{\"plainToken\":\"{plain}\",\"encryptedToken\":\"{tag}\"}}")))
}

/// X's answer to its token, by the first live secret.
fn response_token(token: &str, verifier: &Verifier, time: Time) -> Result<Reply, Refusal> {
    let (secret, _) = verifier.live(time).next().ok_or(Refusal::BadSecret)?;
    let tag = codec::to_base64(&tag(verifier, secret, token)?);
    Ok(json(format!("{{\"response_token\":\"sha256={tag}\"}}")))
}

/// Signs a token and nothing else: a text with brackets, quotes or colons could be a body or a signed
/// content, and the tag of a forgery.
fn tag(verifier: &Verifier, secret: usize, token: &str) -> Result<Vec<u8>, Refusal> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(&byte);
    if !(1..=ECHO_BYTES_MAX).contains(&token.len()) || !token.bytes().all(letter) {
        return Err(Refusal::Malformed);
    }
    let secret = verifier.secrets.get(secret).ok_or(Refusal::BadSecret)?;
    secret.key.sign(token.as_bytes()).ok_or(Refusal::BadSecret)
}

fn is_plain(text: &str) -> bool {
    (1..=ECHO_BYTES_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn json(body: String) -> Reply {
    let headers = alloc::vec![("Content-Type", String::from("application/json"))];
    Reply { status: 200, headers, body }
}

fn empty(status: u16) -> Reply {
    Reply { status, headers: Vec::new(), body: String::new() }
}

fn origin_allowed(origin: &str) -> Reply {
    let headers = alloc::vec![
        ("WebHook-Allowed-Origin", String::from(origin)),
        ("WebHook-Allowed-Rate", String::from("*")),
    ];
    Reply { status: 200, headers, body: String::new() }
}

/// The one decoded value of a query parameter; `None` where there is none.
fn asked(request: &Request<'_>, name: &str) -> Option<Result<String, Refusal>> {
    let (_, query) = url_forms::path(request.url?).split_once('?')?;
    let pairs = decode_form(query.as_bytes());
    let mut values = pairs.into_iter().filter(|(key, _)| key == name.as_bytes());
    let (_, value) = values.next()?;
    Some(match values.next() {
        None => String::from_utf8(value).map_err(|_| Refusal::Malformed),
        Some(_) => Err(Refusal::AmbiguousHeader),
    })
}

/// The longest text that is echoed, in bytes.
pub const ECHO_BYTES_MAX: usize = 1_024;
const HANDSHAKES: [(&str, Handshake); 10] = [
    ("slack-v0", Handshake::SignedChallenge("/type", "url_verification")),
    (
        "twitch-sha256",
        Handshake::HeaderChallenge("Twitch-Eventsub-Message-Type", "webhook_callback_verification"),
    ),
    ("zoom-v0", Handshake::EncryptedToken),
    ("github-sha256", Handshake::HubToken),
    ("hub-signature-*", Handshake::HubTopic),
    ("x-crc", Handshake::CrcToken),
    ("dropbox-hex", Handshake::Echo),
    ("discord-ed25519", Handshake::Ping),
    ("trello-sha1", Handshake::Head),
    ("none", Handshake::Origin),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Millis,
        scheme::{Algorithm, Message, mac, named},
    };

    const NOW: Time = Time::At(Millis(1_700_000_000_000));

    /// Signs a body and asks for the reply.
    fn ask(scheme: &str, body: &str, more: &[(&str, &str)]) -> Option<Result<Reply, Refusal>> {
        let mut verifier = Verifier::new(named(scheme).expect("a row"));
        verifier.add("secret").expect("a secret");
        let time = if scheme.starts_with("twitch") { "2023-11-14T22:13:20Z" } else { "1700000000" };
        let message =
            Message { id: "m", timestamp: time, body: body.as_bytes(), ..Message::default() };
        let signed = verifier.sign(&message, NOW).expect("a message");
        let mut lines: Vec<(&str, &[u8])> =
            signed.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        lines.extend(more.iter().map(|(name, value)| (*name, value.as_bytes())));
        let request = Request { headers: &lines, body: body.as_bytes(), ..Request::default() };
        of(scheme).expect("a handshake").answer(&verifier, &request, None, NOW)
    }

    fn get(scheme: &str, url: &str, token: Option<&str>) -> Option<Result<Reply, Refusal>> {
        let mut verifier = Verifier::new(named(scheme).expect("a row"));
        verifier.add("secret").expect("a secret");
        let request = Request { method: Some("GET"), url: Some(url), ..Request::default() };
        of(scheme).expect("a handshake").answer(&verifier, &request, token, NOW)
    }

    #[test]
    fn a_signed_challenge_is_echoed_and_a_delivery_is_none() {
        let slack = r#"{"type":"url_verification","challenge":"abc"}"#;
        let reply = ask("slack-v0", slack, &[]).expect("a handshake").expect("signed");
        assert_eq!((reply.status, &*reply.body), (200, "abc"));
        assert_eq!(ask("slack-v0", r#"{"type":"event_callback"}"#, &[]), None);
        let kind = [("twitch-eventsub-message-type", "webhook_callback_verification")];
        let reply = ask("twitch-sha256", r#"{"challenge":"abc"}"#, &kind);
        assert_eq!(reply.expect("a handshake").expect("signed").body, "abc");
        assert_eq!(ask("twitch-sha256", r#"{"challenge":"abc"}"#, &[]), None);
    }

    #[test]
    fn a_challenge_that_is_not_signed_is_refused() {
        let mut verifier = Verifier::new(named("slack").expect("a row"));
        verifier.add("secret").expect("a secret");
        let body = br#"{"type":"url_verification","challenge":"abc"}"#;
        let request = Request { body, ..Request::default() };
        let handshake = of("slack-v0").expect("a handshake");
        let reply = handshake.answer(&verifier, &request, None, NOW);
        assert_eq!(reply, Some(Err(Refusal::MissingHeader)));
    }

    #[test]
    fn a_page_is_never_echoed() {
        let slack = r#"{"type":"url_verification","challenge":"<script>alert(1) </script>"}"#;
        assert_eq!(ask("slack-v0", slack, &[]), Some(Err(Refusal::Malformed)));
        let url = "https://a.example/?challenge=a%0d%0ab";
        assert_eq!(get("dropbox-hex", url, None), Some(Err(Refusal::Malformed)));
    }

    #[test]
    fn tokens_are_answered_with_their_hmac() {
        let zoom = r#"{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZ"}}"#;
        let reply = ask("zoom-v0", zoom, &[]).expect("a handshake").expect("signed");
        let tag = mac(Algorithm::HmacSha256, b"secret", b"qgg8vlvZ").expect("a tag");
        assert!(reply.body.contains(&codec::to_hex(&tag)), "{}", reply.body);
        let reply = get("x-crc", "https://a.example/?crc_token=abc", None);
        let reply = reply.expect("a handshake").expect("an answer");
        let tag = mac(Algorithm::HmacSha256, b"secret", b"abc").expect("a tag");
        assert!(reply.body.contains(&codec::to_base64(&tag)), "{}", reply.body);
    }

    #[test]
    fn nothing_that_could_be_signed_elsewhere_is_signed_as_a_token() {
        for body in ["%7B%22tweet_create_events%22%3A%5B%5D%7D", "%5B1%5D", "%221%22", "", "v0:1:2"]
        {
            let url = format!("https://a.example/?crc_token={body}");
            assert_eq!(get("x-crc", &url, None), Some(Err(Refusal::Malformed)), "{body}");
        }
        let twice = "https://a.example/?crc_token=a&crc_token=b";
        assert_eq!(get("x-crc", twice, None), Some(Err(Refusal::AmbiguousHeader)));
        let zoom = r#"{"event":"endpoint.url_validation","payload":{"plainToken":"v0:1:{}"}}"#;
        assert_eq!(ask("zoom-v0", zoom, &[]), Some(Err(Refusal::Malformed)));
    }

    #[test]
    fn a_token_is_signed_by_the_secret_that_signed_the_request() {
        let body = r#"{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZ"}}"#;
        let zoom = named("zoom-v0").expect("a row");
        let mut signer = Verifier::new(zoom);
        signer.add("new").expect("a secret");
        let message =
            Message { timestamp: "1700000000", body: body.as_bytes(), ..Message::default() };
        let signed = signer.sign(&message, NOW).expect("a message");
        let lines: Vec<(&str, &[u8])> =
            signed.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let mut verifier = Verifier::new(zoom);
        verifier.add("old").expect("a secret").add("new").expect("a secret");
        let request = Request { headers: &lines, body: body.as_bytes(), ..Request::default() };
        let reply = Handshake::EncryptedToken.answer(&verifier, &request, None, NOW);
        let tag = mac(Algorithm::HmacSha256, b"new", b"qgg8vlvZ").expect("a tag");
        assert!(reply.expect("a handshake").expect("signed").body.contains(&codec::to_hex(&tag)));
    }

    #[test]
    fn a_topic_is_confirmed_only_when_it_was_asked_for() {
        let url = |mode: &str| {
            format!(
                "https://a.example/?hub.mode={mode}&hub.topic=https%3A%2F%2Ft.example%2F&hub.challenge=42"
            )
        };
        let topic = Some("https://t.example/");
        let reply = get("hub-signature-*", &url("subscribe"), topic).expect("a handshake");
        assert_eq!(reply.expect("agreed").body, "42");
        for (mode, agreed) in [
            ("unsubscribe", topic),
            ("subscribe", Some("https://other.example/")),
            ("subscribe", Some("")),
            ("subscribe", None),
        ] {
            let reply = get("hub-signature-*", &url(mode), agreed);
            assert_eq!(reply, Some(Err(Refusal::NoMatch)), "{mode} {agreed:?}");
        }
    }

    #[test]
    fn an_origin_is_allowed_only_when_it_is_the_one() {
        let ask = |origins: &[&str], agreed| {
            let lines: Vec<(&str, &[u8])> =
                origins.iter().map(|of| ("WebHook-Request-Origin", of.as_bytes())).collect();
            let request =
                Request { headers: &lines, method: Some("OPTIONS"), ..Request::default() };
            let verifier = Verifier::new(named("github").expect("a row"));
            Handshake::Origin.answer(&verifier, &request, agreed, NOW)
        };
        let reply = ask(&["sender.example"], Some("sender.example"));
        assert_eq!(reply.expect("a handshake").expect("allowed").headers[0].1, "sender.example");
        assert_eq!(ask(&[], Some("sender.example")), None);
        assert_eq!(ask(&["other.example"], Some("sender.example")), Some(Err(Refusal::NoMatch)));
        assert_eq!(ask(&["sender.example"], None), Some(Err(Refusal::NoMatch)));
        let two = ask(&["sender.example", "other.example"], Some("sender.example"));
        assert_eq!(two, Some(Err(Refusal::AmbiguousHeader)));
    }

    #[test]
    fn a_hub_challenge_needs_the_agreed_token() {
        let url = "https://a.example/?hub.mode=subscribe&hub.verify_token=t1&hub.challenge=42";
        let reply = get("github-sha256", url, Some("t1")).expect("a handshake");
        assert_eq!(reply.expect("agreed").body, "42");
        assert_eq!(get("github-sha256", url, Some("t2")), Some(Err(Refusal::NoMatch)));
        for nothing in [None, Some(""), Some(" ")] {
            assert_eq!(get("github-sha256", url, nothing), Some(Err(Refusal::NoMatch)));
        }
        let blank = "https://a.example/?hub.mode=subscribe&hub.verify_token=&hub.challenge=42";
        assert_eq!(get("github-sha256", blank, Some("")), Some(Err(Refusal::NoMatch)));
        let other = url.replace("subscribe", "unsubscribe");
        assert_eq!(get("github-sha256", &other, Some("t1")), Some(Err(Refusal::NoMatch)));
        assert_eq!(get("github-sha256", "https://a.example/", Some("t1")), None);
    }
}
