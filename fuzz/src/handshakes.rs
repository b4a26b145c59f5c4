//! Handshakes: what is echoed is no page, and what has to be signed is never answered unsigned.

use hookproof_core::scheme::{
    Verifier,
    handshake::{Handshake, Reply},
};

use crate::given::Given;

/// The input is a request.
pub fn run(data: &[u8]) {
    let Some(given) = Given::read(data) else { return };
    let mut verifier = Verifier::new(&given.scheme);
    if verifier.add(given.secret).is_err() {
        return;
    }
    let request = given.request();
    for handshake in EVERY {
        let answer = handshake.answer(&verifier, &request, Some("agreed"), given.time);
        let Some(Ok(reply)) = answer else { continue };
        no_page(&reply);
        if is_signed(handshake) {
            assert!(verifier.verify(&request, given.time).is_ok(), "answered unsigned");
        }
        let without_token = handshake.answer(&verifier, &request, None, given.time);
        if matches!(handshake, Handshake::HubToken | Handshake::HubTopic | Handshake::Origin) {
            assert!(matches!(without_token, Some(Err(_))), "answered without an agreed token");
        }
    }
}

/// Neither a page that a browser would run, nor a header that ends early.
fn no_page(reply: &Reply) {
    assert!((200..300).contains(&reply.status));
    for (_, value) in &reply.headers {
        assert!(http::HeaderValue::from_str(value).is_ok(), "{value:?}");
    }
    let kind = reply.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    assert!(kind.is_some() || reply.body.is_empty(), "a body without a type is guessed at");
    assert!(kind.is_none_or(|(_, kind)| !kind.contains("html")));
    assert!(!reply.body.chars().any(char::is_control), "{:?}", reply.body);
    if kind.is_some_and(|(_, kind)| kind.contains("json")) {
        assert!(serde_json::from_str::<serde_json::Value>(&reply.body).is_ok(), "{}", reply.body);
    }
}

const fn is_signed(handshake: Handshake) -> bool {
    match handshake {
        Handshake::SignedChallenge(..)
        | Handshake::HeaderChallenge(..)
        | Handshake::EncryptedToken
        | Handshake::Ping => true,
        Handshake::HubToken
        | Handshake::HubTopic
        | Handshake::CrcToken
        | Handshake::Echo
        | Handshake::Head
        | Handshake::Origin => false,
    }
}

const EVERY: [Handshake; 10] = [
    Handshake::SignedChallenge("/type", "url_verification"),
    Handshake::HeaderChallenge("x-kind", "verification"),
    Handshake::EncryptedToken,
    Handshake::Ping,
    Handshake::HubToken,
    Handshake::HubTopic,
    Handshake::CrcToken,
    Handshake::Echo,
    Handshake::Head,
    Handshake::Origin,
];
