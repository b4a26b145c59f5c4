//! Why a request does not verify: what was signed, what was claimed, and the likely mistake.
//!
//! A mistake is only named when undoing it makes the request verify: another spelling of the body,
//! another reading of the secret, another spelling of the URL. So a name is never a guess, and silence
//! means that the secret is another one or the content was changed in a way that cannot be undone.
//! This is for a person at a terminal: it tries many things and must not decide on requests.

mod attempt;
mod bodies;
mod layouts;

use alloc::{string::String, vec::Vec};
use core::fmt;

use super::{
    BadSecret, Construction, Encoding, HttpSignature, LINE_BYTES_MAX, Refusal, Request,
    SIGNATURES_MAX, Scheme, Template, Time, Verified, Verifier, Window, candidate,
    content::Content,
    embedded::{self, Item},
    sfv,
};
use crate::codec;
pub use attempt::WORK_MAX;
use attempt::{Attempt, Undone};
pub use candidate::Bound;

/// All that can be said of one request.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What the verifier says.
    pub verdict: Result<Verified, Refusal>,
    /// What the scheme signs of this request, as one text.
    pub signed: Option<Vec<u8>>,
    /// The candidates of the request, as they are written.
    pub candidates: Vec<String>,
    /// The bound that left candidates out, where one did.
    pub left_out: Option<Bound>,
    /// The tag that each secret makes over what is signed; `None` for keys that only verify.
    pub expected: Vec<Option<String>>,
    /// Secrets that cannot be used, by their place.
    pub bad_secrets: Vec<(usize, BadSecret)>,
    /// What was done wrong, most likely first.
    pub mistakes: Vec<Mistake>,
    /// The body with which it verifies, where a mistake in the body was undone.
    pub body: Option<Vec<u8>>,
    /// The URL with which it verifies, where a mistake in the URL was undone.
    pub url: Option<String>,
    /// Whether the search for mistakes ended at [`WORK_MAX`] and had found none.
    pub gave_up: bool,
}

/// A mistake, and how it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mistake {
    /// The body was parsed and written again: blanks, key order or escapes changed.
    BodyReserialised,
    /// Line ends at the end of the body, or within it, were changed.
    BodyLineEnds,
    /// A byte order mark was added or lost.
    BodyByteOrderMark,
    /// `Content-Length` is that of another layout of the same JSON, which cannot be found again.
    BodyLength,
    /// The sender decoded a secret that is used as text (Stripe, Paymos).
    SecretDecoded,
    /// The sender used the text of a secret that has to be decoded (Standard Webhooks).
    SecretNotDecoded,
    /// The sender used the text of a secret without its prefix (Stripe).
    SecretPrefix,
    /// Blanks or a byte order mark around the secret, the configured one or the sender's.
    SecretBlanks,
    /// The time is in milliseconds where the scheme writes seconds.
    TimeInMilliseconds,
    /// The time is in seconds where the scheme writes milliseconds.
    TimeInSeconds,
    /// The signature is right, the time is not within the window: a slow queue, a replay or a clock.
    TimeOutsideWindow,
    /// The signature is right, and there is no time where the scheme has it.
    TimeMissing,
    /// The signature is right, and the time stands twice in the body.
    TimeTwice,
    /// The signature is right, and the time is not written as the scheme writes it.
    TimeUnreadable,
    /// Several tags stand in the header: they are a list, not one value.
    ListAsOneValue,
    /// The URL was signed with another spelling of its port.
    UrlPort,
    /// The URL was signed in another spelling: slash, scheme, query.
    UrlSpelling,
    /// Another of the configured secrets signed it: one that is retired, revoked or not yet live.
    SecretNotLive,
    /// Another of the live secrets signed it than the first.
    OtherSecret,
    /// The tag is right and written in another encoding.
    TagEncoding,
    /// The id holds what could be a time, so the signed text can be taken apart in two ways.
    IdHoldsTime,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BodyReserialised => {
                "the body was re-serialised: verify the received bytes, before any JSON parser"
            }
            Self::BodyLineEnds => {
                "line ends of the body were changed (CR LF, or a final one lost or added)"
            }
            Self::BodyByteOrderMark => "a byte order mark was added to the body, or lost",
            Self::BodyLength => {
                "Content-Length fits another layout of this JSON: the body was probably re-serialised \
                 after it was signed, in a way that cannot be undone"
            }
            Self::SecretDecoded => {
                "the secret was decoded, from base64 or hexadecimal; this scheme uses its whole text"
            }
            Self::SecretNotDecoded => {
                "the secret was not decoded; this scheme uses the bytes that its text stands for"
            }
            Self::SecretPrefix => {
                "the secret was used without its prefix; this scheme uses its whole text"
            }
            Self::SecretBlanks => {
                "whitespace or a byte order mark stands around the secret, here or at the sender: from a \
                 file or a paste"
            }
            Self::TimeInMilliseconds => {
                "the timestamp is in milliseconds, as sent or as signed; this scheme writes seconds"
            }
            Self::TimeInSeconds => {
                "the timestamp is in seconds, as sent or as signed; this scheme writes milliseconds"
            }
            Self::TimeOutsideWindow => {
                "the signature is right, its timestamp lies outside of the tolerance"
            }
            Self::TimeMissing => {
                "the signature is right, but there is no time where the scheme has it"
            }
            Self::TimeTwice => {
                "the signature is right, but the time stands in the body twice: readers would differ"
            }
            Self::TimeUnreadable => {
                "the signature is right, but the time is not written as the scheme writes it (another \
                 unit, a fraction, a sign)"
            }
            Self::ListAsOneValue => {
                "the header holds a list of signatures: read as one value it does not verify"
            }
            Self::UrlPort => {
                "the URL was signed with its port, or without: configure it as the provider does"
            }
            Self::UrlSpelling => "the URL was signed in another spelling (slash, scheme or query)",
            Self::SecretNotLive => {
                "it was signed with a secret that is retired, revoked or not yet live"
            }
            Self::OtherSecret => "it was signed with another of the two secrets than the first",
            Self::TagEncoding => "the signature is right and written in another encoding",
            Self::IdHoldsTime => {
                "the id holds what could be a time, so the signed text can be taken apart in two ways: \
                 where others choose how bodies begin, deduplicate by an id in the body"
            }
        })
    }
}

/// Explains what becomes of a request under these secrets.
pub fn explain(
    scheme: &Scheme,
    secrets: &[(&str, Window)],
    request: &Request<'_>,
    time: Time,
) -> Explanation {
    let mut verifier = Verifier::new(scheme);
    let mut bad_secrets = Vec::new();
    for (place, (text, window)) in secrets.iter().enumerate() {
        if let Err(bad) = verifier.add_within(text, *window) {
            bad_secrets.push((place, bad));
        }
    }
    let verdict = verifier.verify(request, time);
    let Shown { signed, candidates, left_out } = match &scheme.construction {
        Construction::Template(template) => of_template(template, &verifier, request),
        Construction::HttpMessage => of_message(&verifier, request),
        Construction::AdyenItems => of_items(&verifier, embedded::adyen(request), codec::to_base64),
        Construction::Mailgun => {
            let item = embedded::mailgun(request).map(|item| alloc::vec![item]);
            of_items(&verifier, item, codec::to_hex)
        }
    };
    let expected = verifier.secrets.iter().map(|secret| {
        let tag = secret
            .key
            .for_method(None)?
            .tag(&|sink| sink(signed.as_deref().unwrap_or_default()))?;
        Some(written(scheme, tag.bytes()))
    });
    let expected = expected.collect();
    let attempt = Attempt::new(scheme, secrets, request);
    let Undone { mistakes, body, url } = attempt.undone(verdict, &candidates);
    Explanation {
        verdict,
        signed,
        candidates,
        left_out,
        expected,
        bad_secrets,
        body,
        url,
        gave_up: attempt.gave_up() && mistakes.is_empty(),
        mistakes,
    }
}

/// What is signed and what is claimed.
#[derive(Default)]
struct Shown {
    signed: Option<Vec<u8>>,
    candidates: Vec<String>,
    left_out: Option<Bound>,
}

fn of_template(template: &Template, verifier: &Verifier, request: &Request<'_>) -> Shown {
    let names = template.names.iter().find(|names| candidate::present(names, request));
    let Some(names) = names.or(template.names.first()) else { return Shown::default() };
    let time = super::verify::written_time(template, names, request).ok().flatten();
    let content = Content::new(template, names, request, time).ok();
    let mut candidates = Vec::new();
    let left_out = candidate::each(template, names, request, &mut |candidate| {
        candidates.push(String::from_utf8_lossy(candidate.text).into_owned());
        candidate::Flow::Continue(())
    });
    let is_public = verifier.secrets.iter().any(|secret| !secret.key.is_symmetric());
    let costly = (is_public && candidates.len() > SIGNATURES_MAX).then_some(Bound::Signatures);
    let signed = content.map(|content| content.text(&template.signed, 0));
    Shown { signed, candidates, left_out: left_out.or(costly) }
}

/// The first message signature that no secret made, else the first one.
fn of_message(verifier: &Verifier, request: &Request<'_>) -> Shown {
    let long = |name| request.joined(name).is_some_and(|joined| joined.len() > LINE_BYTES_MAX);
    let left_out = (long("signature-input") || long("signature")).then_some(Bound::Line);
    let Ok(all) = HttpSignature::of(request) else { return Shown { left_out, ..Shown::default() } };
    let matches = |one: &&HttpSignature| {
        let base = one.base.as_bytes();
        verifier.secrets.iter().any(|secret| secret.key.verifies(base, &one.signature))
    };
    let one = all.iter().find(|one| !matches(one)).or(all.first());
    let inputs = request.joined("signature-input").and_then(|text| sfv::inner_lists(&text));
    let lists = inputs.unwrap_or_default().iter().filter(|(_, list)| list.is_some()).count();
    Shown {
        signed: one.map(|one| one.base.clone().into_bytes()),
        candidates: one.iter().map(|one| codec::to_base64(&one.signature)).collect(),
        left_out: (lists > SIGNATURES_MAX).then_some(Bound::Signatures),
    }
}

/// The first item of a body that no secret signed, else the first one.
fn of_items(
    verifier: &Verifier,
    items: Result<Vec<Item>, Refusal>,
    write: fn(&[u8]) -> String,
) -> Shown {
    let items = items.unwrap_or_default();
    let matches = |item: &&Item| {
        let tag = item.tag.as_deref().unwrap_or_default();
        verifier.secrets.iter().any(|secret| secret.key.verifies(&item.content, tag))
    };
    let one = items.iter().find(|item| !matches(item)).or(items.first());
    Shown {
        signed: one.map(|item| item.content.clone()),
        candidates: one.and_then(|item| item.tag.as_deref()).map(write).into_iter().collect(),
        left_out: None,
    }
}

fn written(scheme: &Scheme, tag: &[u8]) -> String {
    match &scheme.construction {
        Construction::Template(t) if t.encoding == Encoding::Base64 => codec::to_base64(tag),
        Construction::AdyenItems | Construction::HttpMessage => codec::to_base64(tag),
        Construction::Template(_) | Construction::Mailgun => codec::to_hex(tag),
    }
}
