//! Signing: what we sign verifies, for every scheme that can sign, and a declared one.

use hookproof_core::{
    Millis,
    identity::is_id,
    instant::{Instant, Unit},
    scheme::{Construction, Field, Message, Request, Time, Verifier},
};

use crate::given::{Given, other_secret};

/// The input is a request to sign: its headers `x-id` and `x-time` are the id and the time.
pub fn run(data: &[u8]) {
    let Some(given) = Given::read(data) else { return };
    let mut verifier = Verifier::new(&given.scheme);
    if verifier.add(given.secret).is_err() {
        return;
    }
    let of = |name: &str| given.headers.iter().find(|(other, _)| *other == name);
    let text = |name: &str| of(name).and_then(|(_, value)| str::from_utf8(value).ok());
    let (id, timestamp) = (text("x-id").unwrap_or_default(), text("x-time").unwrap_or_default());
    let plain = |(name, _): &&Field<'_>| !["x-id", "x-time"].contains(name);
    let headers: Vec<Field<'_>> = given.headers.iter().filter(plain).copied().collect();
    let message = Message {
        id,
        timestamp,
        body: given.body,
        method: given.method,
        url: given.url,
        headers: &headers,
    };
    let Ok(signed) = verifier.sign(&message, Time::NotTested) else { return };
    one_line_each(&signed);
    let twice = headers.iter().any(|(name, _)| signed.iter().any(|(own, _)| same(own, name)));
    let Some(time) = when(&given, timestamp).filter(|_| !twice && is_id_or_none(id)) else {
        return;
    };
    arrives(&verifier, &message, &signed, time);
    with_every_secret(&given, &message, time);
}

/// What is signed goes into headers, one line each, or nothing is signed.
fn one_line_each(signed: &[(String, String)]) {
    for (name, value) in signed {
        assert!(http::HeaderName::from_bytes(name.as_bytes()).is_ok(), "{name:?}");
        let value = http::HeaderValue::from_bytes(value.as_bytes()).expect("a header value");
        let bytes = value.as_bytes();
        assert_eq!(hookproof_core::answer::trim(bytes), bytes, "blanks do not arrive");
    }
}

/// The instant that was signed, so that it lies within the window; `None` where nobody could read it.
fn when(given: &Given<'_>, timestamp: &str) -> Option<Time> {
    let unit = match &given.scheme.construction {
        Construction::Template(template) => match &template.clock {
            Some((hookproof_core::scheme::Place::Body(_), _)) => return Some(Time::NotTested),
            Some((_, unit)) => *unit,
            None => return Some(given.time),
        },
        Construction::HttpMessage => Unit::Seconds,
        Construction::AdyenItems | Construction::Mailgun => return None,
    };
    let at = Instant::parse(timestamp.as_bytes(), unit)?;
    let ms = u64::try_from(at.millis()?).ok()?;
    Some(Time::At(Millis(ms)))
}

fn arrives(verifier: &Verifier, message: &Message<'_>, signed: &[(String, String)], time: Time) {
    let mut headers = message.headers.to_vec();
    headers.extend(signed.iter().map(|(name, value)| (name.as_str(), value.as_bytes())));
    let request = Request {
        headers: &headers,
        body: message.body,
        method: message.method,
        url: message.url,
        ..Request::default()
    };
    let verdict = verifier.verify(&request, time);
    assert!(verdict.is_ok(), "what we sign is refused: {verdict:?} {signed:?}");
}

/// With two secrets either receiver accepts, where the scheme has room for both tags.
fn with_every_secret(given: &Given<'_>, message: &Message<'_>, time: Time) {
    let Some(other) = other_secret(&given.scheme.key).filter(|_| given.scheme.signs_with_all())
    else {
        return;
    };
    let mut both = Verifier::new(&given.scheme);
    both.add(given.secret).expect("a usable secret");
    both.add(other).expect("a usable secret");
    let Ok(signed) = both.sign(message, Time::NotTested) else { return };
    for secret in [given.secret, other] {
        let mut one = Verifier::new(&given.scheme);
        one.add(secret).expect("a usable secret");
        arrives(&one, message, &signed, time);
    }
}

fn is_id_or_none(id: &str) -> bool {
    id.is_empty() || is_id(id)
}

fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}
