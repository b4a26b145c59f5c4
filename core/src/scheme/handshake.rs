//! What an endpoint must answer before deliveries come, or beside them (R18).
//!
//! Where a handshake is signed it is verified like a delivery, and only then answered. Where it is not
//! (Meta, `WebSub`, X, Dropbox, Trello, `CloudEvents`) the provider's rule decides: a token agreed on,
//! an HMAC of what was sent, or an echo. What is echoed is plain text of visible ASCII, never a page.

use alloc::{format, string::String, vec::Vec};

use super::{Algorithm, Refusal, Request, Time, Verifier, content::decode_form, key, url_forms};
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
    /// A GET with `hub.challenge`; the token is compared where one is agreed on (`WebSub`).
    HubChallenge,
    /// X: a GET with `crc_token`, answered with its HMAC.
    CrcToken,
    /// A GET with `challenge`, echoed.
    Echo,
    /// Discord: a signed ping.
    Ping,
    /// A HEAD request, answered 200.
    Head,
    /// OPTIONS with `WebHook-Request-Origin`, answered with the origins that are allowed.
    Origin,
}

/// The handshake of a scheme.
pub fn of(scheme: &str) -> Option<Handshake> {
    HANDSHAKES.iter().find(|(name, _)| *name == scheme).map(|(_, handshake)| *handshake)
}

impl Handshake {
    /// The reply to a request that is a handshake; `None` where it is a delivery. `secret` is the
    /// text of the source's secret, `token` the agreed one or the allowed origin.
    pub fn answer(
        self,
        verifier: &Verifier,
        request: &Request<'_>,
        (secret, token): (&str, Option<&str>),
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
                Some(signed(encrypted(root, secret)))
            }
            Self::Ping => {
                let root = Json::check(request.body).ok()?.root();
                match root.at("/type").ok()??.scalar()?.as_str() {
                    "1" => Some(signed(Ok(json(String::from("{\"type\":1}"))))),
                    "0" => Some(signed(Ok(empty(204)))),
                    _ => None,
                }
            }
            Self::HubToken | Self::HubChallenge if is("GET") => {
                let challenge = parameter(request, "hub.challenge")?;
                let given = parameter(request, "hub.verify_token").unwrap_or_default();
                let agreed = match token {
                    Some(token) => key::same(token.as_bytes(), given.as_bytes()),
                    None => self == Self::HubChallenge,
                };
                Some(if agreed { echo(challenge) } else { Err(Refusal::NoMatch) })
            }
            Self::CrcToken if is("GET") => {
                let token = parameter(request, "crc_token")?;
                let tag = super::mac(Algorithm::HmacSha256, secret.as_bytes(), token.as_bytes());
                let tag = codec::to_base64(&tag.unwrap_or_default());
                Some(Ok(json(format!("{{\"response_token\":\"sha256={tag}\"}}"))))
            }
            Self::Echo if is("GET") => Some(echo(parameter(request, "challenge")?)),
            Self::Head if is("HEAD") => Some(Ok(empty(200))),
            Self::Origin if is("OPTIONS") => {
                let origin = request.lines("webhook-request-origin").next()?;
                let allowed = token.filter(|token| token.as_bytes() == origin);
                Some(allowed.map(origin_allowed).ok_or(Refusal::NoMatch))
            }
            Self::HubToken
            | Self::HubChallenge
            | Self::CrcToken
            | Self::Echo
            | Self::Head
            | Self::Origin => None,
        }
    }
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

fn encrypted(root: Value<'_>, secret: &str) -> Result<Reply, Refusal> {
    let plain = root.at("/payload/plainToken")?.and_then(Value::text).ok_or(Refusal::BadBody)?;
    if !is_plain(&plain) || plain.contains(['"', '\\']) {
        return Err(Refusal::Malformed);
    }
    let tag = super::mac(Algorithm::HmacSha256, secret.as_bytes(), plain.as_bytes());
    let tag = codec::to_hex(&tag.unwrap_or_default());
    Ok(json(format!("{{\"plainToken\":\"{plain}\",\"encryptedToken\":\"{tag}\"}}")))
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

/// The one decoded value of a query parameter.
fn parameter(request: &Request<'_>, name: &str) -> Option<String> {
    let (_, query) = url_forms::path(request.url?).split_once('?')?;
    let pairs = decode_form(query.as_bytes());
    let mut values = pairs.into_iter().filter(|(key, _)| key == name.as_bytes());
    let (_, value) = values.next()?;
    if values.next().is_some() {
        return None;
    }
    String::from_utf8(value).ok()
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
    ("hub-signature-*", Handshake::HubChallenge),
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
        scheme::{Message, named},
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
        of(scheme).expect("a handshake").answer(&verifier, &request, ("secret", None), NOW)
    }

    fn get(scheme: &str, url: &str, token: Option<&str>) -> Option<Result<Reply, Refusal>> {
        let mut verifier = Verifier::new(named(scheme).expect("a row"));
        verifier.add("secret").expect("a secret");
        let request = Request { method: Some("GET"), url: Some(url), ..Request::default() };
        of(scheme).expect("a handshake").answer(&verifier, &request, ("secret", token), NOW)
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
        let reply = handshake.answer(&verifier, &request, ("secret", None), NOW);
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
        let tag = super::super::mac(Algorithm::HmacSha256, b"secret", b"qgg8vlvZ").expect("a tag");
        assert!(reply.body.contains(&codec::to_hex(&tag)), "{}", reply.body);
        let reply = get("x-crc", "https://a.example/?crc_token=abc", None);
        let reply = reply.expect("a handshake").expect("an answer");
        let tag = super::super::mac(Algorithm::HmacSha256, b"secret", b"abc").expect("a tag");
        assert!(reply.body.contains(&codec::to_base64(&tag)), "{}", reply.body);
    }

    #[test]
    fn a_hub_challenge_needs_the_agreed_token() {
        let url = "https://a.example/?hub.mode=subscribe&hub.verify_token=t1&hub.challenge=42";
        let reply = get("github-sha256", url, Some("t1")).expect("a handshake");
        assert_eq!(reply.expect("agreed").body, "42");
        assert_eq!(get("github-sha256", url, Some("t2")), Some(Err(Refusal::NoMatch)));
        assert_eq!(get("github-sha256", url, None), Some(Err(Refusal::NoMatch)), "none agreed");
        assert_eq!(get("github-sha256", "https://a.example/", Some("t1")), None);
    }
}
