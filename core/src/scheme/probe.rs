//! Whether a declared scheme can verify what it signs: its parts are looked at one by one, and then a
//! message is signed and verified.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use ed25519_dalek::SigningKey;

use super::{
    BadScheme, Carrier, Grammar, KeyForm, Message, Names, Part, Place, Request, Scheme, SignError,
    Template, Time, Verifier,
};
use crate::{
    Millis, codec,
    instant::{Instant, Unit},
};

/// A name that can stand in a line of output, and in a configuration.
pub(crate) fn is_name(name: &str) -> bool {
    let is_visible = |byte: u8| matches!(byte, b' '..=b'~');
    let is_bare = name.trim() == name && !name.is_empty();
    is_bare && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_visible)
}

/// The header names of one spelling: tokens, each for one thing, none that frames or routes.
pub(crate) fn names(names: &Names) -> Result<(), BadScheme> {
    let tags: &[super::Text] = match &names.signature {
        Carrier::One(name) | Carrier::Numbered(name) => core::slice::from_ref(name),
        Carrier::Each(names) => names,
    };
    let all: Vec<&super::Text> = tags.iter().chain(&names.id).chain(&names.timestamp).collect();
    for (at, name) in all.iter().enumerate() {
        let is_same = |other: &&super::Text| other.eq_ignore_ascii_case(name);
        let is_framing = FRAMING.iter().any(|framing| framing.eq_ignore_ascii_case(name));
        if !is_token(name) || is_framing || all[..at].iter().any(is_same) {
            return Err(BadScheme::Header);
        }
    }
    Ok(())
}

/// What a list is made of, so that it can be taken apart again.
pub(crate) fn grammar(grammar: &Grammar) -> Result<(), BadScheme> {
    let is_word = |text: &str, ends: &[u8]| {
        let inside = |byte: u8| byte.is_ascii_graphic() && !ends.contains(&byte);
        !text.is_empty() && text.bytes().all(inside)
    };
    let fits = match grammar {
        Grammar::Single { prefix } => {
            !prefix.starts_with(' ') && prefix.bytes().all(|byte| matches!(byte, 0x20..=0x7e))
        }
        Grammar::Method => true,
        Grammar::Versions { version } => is_word(version, b","),
        Grammar::Pairs { separator, timestamp, tags, .. } => {
            let ends = [*separator, b'='];
            let apart = matches!(separator, b' ' | b',' | b';' | b':' | b'|' | b'&');
            let own = |tag: &super::Text| timestamp.as_ref() != Some(tag) && is_word(tag, &ends);
            let timed = timestamp.as_ref().is_none_or(|key| is_word(key, &ends));
            let once = tags.iter().enumerate().all(|(at, tag)| !tags[..at].contains(tag));
            apart && timed && !tags.is_empty() && tags.iter().all(own) && once
        }
    };
    if fits { Ok(()) } else { Err(BadScheme::List) }
}

/// The parts and the place of the time.
pub(crate) fn parts(template: &Template) -> Result<(), BadScheme> {
    for part in template.signed.iter() {
        if let Part::Header(name) | Part::ListedHeaders(name) = part
            && !is_token(name)
        {
            return Err(BadScheme::Header);
        }
    }
    match &template.clock {
        Some((Place::Body(pointer), _)) if !is_pointer(pointer) => Err(BadScheme::Pointer),
        Some(_) | None => Ok(()),
    }
}

/// Signs a message with a key of the right form, and verifies it.
pub(crate) fn round_trip(scheme: &Scheme, template: &Template) -> Result<(), BadScheme> {
    // What no user declares needs other headers, or a digest in the URL.
    let is_ours = |part: &Part| matches!(part, Part::ListedHeaders(_) | Part::NamedHeaders);
    if template.body_sha256_query.is_some() || template.signed.iter().any(is_ours) {
        return Ok(());
    }
    let Some(secret) = secret(&scheme.key) else { return Ok(()) };
    let mut verifier = Verifier::new(scheme);
    verifier.add(&secret).map_err(|_| BadScheme::KeyForm)?;
    let timestamp = match &template.clock {
        Some((Place::Header | Place::Member, unit)) => Message::written(NOW, *unit),
        Some((Place::Body(_), _)) | None => String::new(),
    };
    let body = body(template);
    let others: Vec<(&str, &[u8])> = template.signed.iter().filter_map(header).collect();
    let (method, url) = (Some("POST"), Some("https://hooks.example.com/in?a=b"));
    let message =
        Message { id: "msg_1", timestamp: &timestamp, body: &body, method, url, headers: &others };
    let signed = match verifier.sign(&message, Time::NotTested) {
        Err(SignError::VerifyOnly) => return Ok(()),
        other => other.map_err(|_| BadScheme::RoundTrip)?,
    };
    let own = signed.iter().map(|(name, value)| (&**name, value.as_bytes()));
    let headers: Vec<(&str, &[u8])> = others.iter().copied().chain(own).collect();
    let request = Request { headers: &headers, body: &body, method, url, ..Request::default() };
    verifier.verify(&request, Time::At(NOW)).map(|_| ()).map_err(|_| BadScheme::RoundTrip)
}

/// A header that is signed, as it is sent.
fn header(part: &Part) -> Option<(&str, &[u8])> {
    let Part::Header(name) = part else { return None };
    Some((name, b"probe"))
}

/// A JSON body with the time where the scheme looks for it.
fn body(template: &Template) -> Vec<u8> {
    let Some((Place::Body(pointer), unit)) = &template.clock else { return b"{}".to_vec() };
    let written = Instant::from_millis(NOW.0 as i64).written(*unit);
    let time = match unit {
        Unit::Seconds | Unit::Milliseconds => written,
        Unit::Rfc3339 | Unit::HttpDate => format!("\"{written}\""),
    };
    let keys = pointer.strip_prefix('/').unwrap_or_default().split('/');
    let json = keys.rev().fold(time, |inside, key| {
        let key = key.replace("~1", "/").replace("~0", "~");
        format!("{{\"{}\":{inside}}}", key.replace('\\', "\\\\").replace('"', "\\\""))
    });
    json.into_bytes()
}

/// A secret of this form with which one can sign.
fn secret(form: &KeyForm) -> Option<Cow<'static, str>> {
    Some(match form {
        KeyForm::Text => Cow::Borrowed("a secret to probe with"),
        KeyForm::Base64 { prefix } => Cow::Owned(format!("{prefix}{}", codec::to_base64(&[7; 32]))),
        KeyForm::Hex => Cow::Owned(codec::to_hex(&[7; 32])),
        KeyForm::Ed25519Public => {
            let pair = SigningKey::from_bytes(&[7; 32]).to_keypair_bytes();
            Cow::Owned(format!("whsk_{}", codec::to_base64(&pair)))
        }
        KeyForm::P256Public => return None,
    })
}

/// Whether this names a place in a JSON text, the whole of it excepted (RFC 6901).
fn is_pointer(text: &str) -> bool {
    let mut behind_tildes = text.split('~').skip(1);
    text.starts_with('/') && behind_tildes.all(|rest| rest.starts_with(['0', '1']))
}

fn is_token(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token)
}

/// Headers that frame or route a request, or end at the next hop.
const FRAMING: [&str; 13] = [
    "host",
    "content-length",
    "transfer-encoding",
    "content-type",
    "content-encoding",
    "connection",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "proxy-authenticate",
    "proxy-authorization",
];
/// The longest name of a declared scheme, in bytes.
const NAME_BYTES_MAX: usize = 64;
const NOW: Millis = Millis(1_700_000_000_000);
