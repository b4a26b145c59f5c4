//! Why a request does not verify: what was signed, what was claimed, and the likely mistake.
//!
//! A mistake is only named when undoing it makes the request verify: another spelling of the body,
//! another reading of the secret, another spelling of the URL. So a name is never a guess, and silence
//! means that the secret is another one or the content was changed in a way that cannot be undone.
//! This is for a person at a terminal: it tries many things and must not decide on requests.

mod bodies;

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

use super::{
    BadSecret, Construction, Encoding, Field, Grammar, HttpSignature, KeyForm, LINE_BYTES_MAX,
    Part, Place, Refusal, Request, SIGNATURES_MAX, Scheme, Template, Time, UrlForm, Verified,
    Verifier, Window, candidate,
    content::{self, Content},
    embedded::{self, Item},
    fields, sfv, url_forms,
};
use crate::{
    codec,
    instant::{self, Unit},
};
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
    /// The sender decoded a secret that is used as text (Stripe, Paymos).
    SecretDecoded,
    /// The sender used the text of a secret that has to be decoded (Standard Webhooks).
    SecretNotDecoded,
    /// Blanks or a byte order mark around the configured secret.
    SecretBlanks,
    /// The time is in milliseconds where the scheme writes seconds.
    TimeInMilliseconds,
    /// The time is in seconds where the scheme writes milliseconds.
    TimeInSeconds,
    /// The signature is right, the time is not within the window: a slow queue, a replay or a clock.
    TimeOutsideWindow,
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
            Self::SecretDecoded => "the secret was base64-decoded; this scheme uses its whole text",
            Self::SecretNotDecoded => {
                "the secret was not base64-decoded; this scheme uses the bytes behind whsec_"
            }
            Self::SecretBlanks => {
                "the secret has whitespace or a byte order mark around it: from a file or a paste"
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
    let attempt = Attempt { scheme, secrets, request };
    let Undone { mistakes, body, url } = attempt.undone(verdict, &candidates);
    Explanation {
        verdict,
        signed,
        candidates,
        left_out,
        expected,
        bad_secrets,
        mistakes,
        body,
        url,
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

/// One request that is tried in many ways.
struct Attempt<'a> {
    scheme: &'a Scheme,
    secrets: &'a [(&'a str, Window)],
    request: &'a Request<'a>,
}

/// The mistakes that were found, and what they were made of.
#[derive(Default)]
struct Undone {
    mistakes: Vec<Mistake>,
    body: Option<Vec<u8>>,
    url: Option<String>,
}

impl Attempt<'_> {
    fn undone(&self, verdict: Result<Verified, Refusal>, candidates: &[String]) -> Undone {
        let mut found = Undone::default();
        match verdict {
            Ok(verified) => {
                if verified.secret() > 0 {
                    found.mistakes.push(Mistake::OtherSecret);
                }
                if candidates.len() > 1 {
                    found.mistakes.push(Mistake::ListAsOneValue);
                }
                found.mistakes.extend(self.in_other_unit());
                if self.id_holds_time() {
                    found.mistakes.push(Mistake::IdHoldsTime);
                }
            }
            // An old request may be wrong otherwise too, and then that is the mistake to name.
            Err(Refusal::TooOld | Refusal::TooNew) => match self.of_time() {
                Some(mistake) => found.mistakes.push(mistake),
                None => return self.of_content(candidates),
            },
            Err(_) => return self.of_content(candidates),
        }
        found
    }

    /// Whether it verifies without a clock, under any of the secrets.
    fn passes(scheme: &Scheme, secrets: &[&str], request: &Request<'_>) -> bool {
        let mut verifier = Verifier::new(scheme);
        let mut usable = false;
        for secret in secrets {
            usable |= verifier.add(secret).is_ok();
        }
        usable && verifier.verify(request, Time::NotTested).is_ok()
    }

    fn texts(&self) -> Vec<&str> {
        self.secrets.iter().map(|(text, _)| *text).collect()
    }

    fn of_time(&self) -> Option<Mistake> {
        Self::passes(self.scheme, &self.texts(), self.request)
            .then(|| self.in_other_unit().unwrap_or(Mistake::TimeOutsideWindow))
    }

    /// A time that can only be one of the other unit.
    fn in_other_unit(&self) -> Option<Mistake> {
        let written = instant::digits(&self.written_time()?)?;
        match self.unit()? {
            Unit::Seconds if written > SECONDS_MAX => Some(Mistake::TimeInMilliseconds),
            Unit::Milliseconds if written <= SECONDS_MAX => Some(Mistake::TimeInSeconds),
            Unit::Seconds | Unit::Milliseconds | Unit::Rfc3339 | Unit::HttpDate => None,
        }
    }

    /// A time that was sent in one unit and signed in the other.
    fn of_unit(&self, texts: &[&str]) -> Option<Mistake> {
        let mistake = match self.unit()? {
            Unit::Seconds => Mistake::TimeInMilliseconds,
            Unit::Milliseconds => Mistake::TimeInSeconds,
            Unit::Rfc3339 | Unit::HttpDate => return None,
        };
        let written = instant::digits(&self.written_time()?)?;
        let signed = if written > SECONDS_MAX {
            written / 1_000..=written / 1_000
        } else {
            written * 1_000..=written * 1_000 + 999
        };
        signed.into_iter().any(|time| self.passes_at(texts, time)).then_some(mistake)
    }

    /// Whether it verifies with another time in place of the one that is written.
    fn passes_at(&self, texts: &[&str], time: i64) -> bool {
        let Construction::Template(template) = &self.scheme.construction else { return false };
        let names = template.names.iter().find(|names| candidate::present(names, self.request));
        let (Some(names), Some(old)) = (names, self.written_time()) else { return false };
        let (name, key) = match (&template.clock, &template.grammar) {
            (Some((Place::Header, _)), _) => (names.timestamp.as_deref(), ""),
            (Some((Place::Member, _)), Grammar::Pairs { timestamp: Some(key), .. }) => {
                (content::signature_header(names), &**key)
            }
            (_, _) => return false,
        };
        let Some(name) = name else { return false };
        let mark = if key.is_empty() { "" } else { "=" };
        let old = alloc::format!("{key}{mark}{}", String::from_utf8_lossy(&old));
        let new = alloc::format!("{key}{mark}{time}");
        let others =
            self.request.headers.iter().filter(|(other, _)| !fields::same_name(other, name));
        let lines: Vec<String> = self
            .request
            .lines(name)
            .map(|line| String::from_utf8_lossy(line).replacen(&old, &new, 1))
            .collect();
        let of_name = lines.iter().map(|line| (name, line.as_bytes()));
        let headers: Vec<Field<'_>> = others.copied().chain(of_name).collect();
        Self::passes(self.scheme, texts, &Request { headers: &headers, ..*self.request })
    }

    /// The unit of the signed time.
    fn unit(&self) -> Option<Unit> {
        match &self.scheme.construction {
            Construction::Template(template) => template.clock.as_ref().map(|(_, unit)| *unit),
            Construction::HttpMessage | Construction::Mailgun => Some(Unit::Seconds),
            Construction::AdyenItems => None,
        }
    }

    fn id_holds_time(&self) -> bool {
        let Construction::Template(template) = &self.scheme.construction else { return false };
        let names = template.names.iter().find(|names| candidate::present(names, self.request));
        let id = names.and_then(|names| self.request.one(names.id.as_deref()?).ok());
        id.is_some_and(|id| content::holds_time(&template.signed, id))
    }

    /// The time as it is written.
    fn written_time(&self) -> Option<Cow<'_, [u8]>> {
        match &self.scheme.construction {
            Construction::Template(template) => {
                let mut names = template.names.iter();
                let names = names.find(|names| candidate::present(names, self.request))?;
                let written = super::verify::written_time(template, names, self.request).ok()?;
                written.map(Cow::Borrowed)
            }
            Construction::HttpMessage => {
                let created = HttpSignature::of(self.request).ok()?.first()?.created()?;
                Some(Cow::Owned(alloc::format!("{created}").into_bytes()))
            }
            Construction::Mailgun => {
                embedded::mailgun(self.request).ok()?.timestamp.map(Cow::Owned)
            }
            Construction::AdyenItems => None,
        }
    }

    fn of_content(&self, candidates: &[String]) -> Undone {
        let texts = self.texts();
        if Self::passes(self.scheme, &texts, self.request) {
            return Undone { mistakes: alloc::vec![Mistake::SecretNotLive], ..Undone::default() };
        }
        let (of_url, url) = self.of_url(&texts).unzip();
        let of_body = bodies::variants(self.request.body).find(|(_, body)| {
            Self::passes(self.scheme, &texts, &Request { body, ..*self.request })
        });
        let (of_body, body) = of_body.unzip();
        let tries = [
            self.of_secret(&texts),
            self.of_tag(&texts, candidates),
            self.of_unit(&texts),
            of_url,
            of_body,
        ];
        let mut mistakes: Vec<Mistake> = tries.into_iter().flatten().collect();
        let beside = [self.in_other_unit(), body.as_deref().and_then(|body| self.of_window(body))];
        if !mistakes.is_empty() {
            mistakes.extend(beside.into_iter().flatten());
        }
        mistakes.dedup();
        Undone { mistakes, body, url }
    }

    /// Whether the body that verifies does so under secrets alone that count no more.
    fn of_window(&self, body: &[u8]) -> Option<Mistake> {
        let live = self.secrets.iter().filter(|(_, window)| window.is_live(None));
        let live: Vec<&str> = live.map(|(text, _)| *text).collect();
        let passes = Self::passes(self.scheme, &live, &Request { body, ..*self.request });
        (!passes).then_some(Mistake::SecretNotLive)
    }

    /// The other readings of a secret's text.
    fn of_secret(&self, texts: &[&str]) -> Option<Mistake> {
        let reads = |key: KeyForm, text: &str| {
            let scheme = Scheme { key, ..self.scheme.clone() };
            Self::passes(&scheme, &[text], self.request)
        };
        for text in texts {
            let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == BYTE_ORDER_MARK);
            if trimmed != *text && reads(self.scheme.key.clone(), trimmed) {
                return Some(Mistake::SecretBlanks);
            }
            let inner = trimmed.rsplit_once('_').map_or(trimmed, |(_, inner)| inner);
            match self.scheme.key {
                KeyForm::Text => {
                    let padded =
                        alloc::format!("{inner:=<width$}", width = inner.len().next_multiple_of(4));
                    let decoded = codec::base64(inner.as_bytes())
                        .or_else(|| codec::base64(padded.as_bytes()))
                        .map(|key| codec::to_hex(&key));
                    if decoded.is_some_and(|hex| reads(KeyForm::Hex, &hex)) {
                        return Some(Mistake::SecretDecoded);
                    }
                }
                KeyForm::Base64 { .. } => {
                    if reads(KeyForm::Text, trimmed) || reads(KeyForm::Text, inner) {
                        return Some(Mistake::SecretNotDecoded);
                    }
                }
                KeyForm::Hex | KeyForm::Ed25519Public | KeyForm::P256Public => {}
            }
        }
        None
    }

    /// The other ways of writing tags.
    fn of_tag(&self, texts: &[&str], candidates: &[String]) -> Option<Mistake> {
        let Construction::Template(template) = &self.scheme.construction else { return None };
        let with = |template: Template| Scheme {
            construction: Construction::Template(template),
            ..self.scheme.clone()
        };
        let other = match template.encoding {
            Encoding::Hex => Encoding::Base64,
            Encoding::Base64 | Encoding::HexOrBase64 | Encoding::Plain => Encoding::Hex,
        };
        let scheme = with(Template { encoding: other, ..template.clone() });
        if Self::passes(&scheme, texts, self.request) {
            return Some(Mistake::TagEncoding);
        }
        let separators = [',', ' ', ';'];
        for piece in candidates.iter().flat_map(|text| text.split(separators)) {
            let piece = piece
                .rsplit_once('=')
                .filter(|(_, tag)| !tag.is_empty())
                .map_or(piece, |(_, tag)| tag);
            if self.has_tag(template, piece, texts) {
                return Some(Mistake::ListAsOneValue);
            }
        }
        None
    }

    /// Whether a text of its own is a right tag.
    fn has_tag(&self, template: &Template, tag: &str, texts: &[&str]) -> bool {
        let Some(names) = template.names.first() else { return false };
        let Some(name) = content::signature_header(names) else { return false };
        let mut headers: Vec<Field<'_>> = self
            .request
            .headers
            .iter()
            .filter(|(other, _)| !other.eq_ignore_ascii_case(name))
            .copied()
            .collect();
        let Some((grammar, line)) = self.alone(template, tag) else { return false };
        headers.push((name, &line));
        let request = Request { headers: &headers, ..*self.request };
        let construction = Construction::Template(Template { grammar, ..template.clone() });
        Self::passes(&Scheme { construction, ..self.scheme.clone() }, texts, &request)
    }

    /// A header with this tag alone: beside the time, where that stands in the same header.
    fn alone(&self, template: &Template, tag: &str) -> Option<(Grammar, Vec<u8>)> {
        let bare = Grammar::Single { prefix: Cow::Borrowed("") };
        match (&template.grammar, &template.clock) {
            (
                Grammar::Pairs { separator, timestamp: Some(key), tags, headers: None, .. },
                Some((Place::Member, _)),
            ) => {
                let mut line =
                    [key.as_bytes(), b"=", &self.written_time()?, &[*separator]].concat();
                line.extend_from_slice(tags.first()?.as_bytes());
                line.push(b'=');
                line.extend_from_slice(tag.as_bytes());
                Some((template.grammar.clone(), line))
            }
            (_, Some((Place::Member, _))) => None,
            _ => Some((bare, tag.as_bytes().to_vec())),
        }
    }

    /// The other spellings of the URL.
    fn of_url(&self, texts: &[&str]) -> Option<(Mistake, String)> {
        let signs_url = match &self.scheme.construction {
            Construction::Template(template) => {
                let is_url =
                    |part| matches!(part, &Part::Url(_) | &Part::Path | &Part::EncodedPath);
                template.signed.iter().any(is_url)
            }
            Construction::HttpMessage => true,
            Construction::AdyenItems | Construction::Mailgun => false,
        };
        let url = self.request.url.filter(|_| signs_url)?;
        let passes = |url: &str| {
            Self::passes(self.scheme, texts, &Request { url: Some(url), ..*self.request })
        };
        let ports = url_forms::spellings(url, UrlForm::Twilio);
        if let Some(url) = ports.into_iter().find(|url| passes(url)) {
            return Some((Mistake::UrlPort, url.into_owned()));
        }
        let bare = url.split_once('?').map_or(url, |(front, _)| front);
        let slash = alloc::format!("{bare}/");
        let others = [
            url.replacen("https://", "http://", 1),
            url.replacen("http://", "https://", 1),
            String::from(bare),
            slash,
            String::from(bare.trim_end_matches('/')),
        ];
        others.into_iter().find(|url| passes(url)).map(|url| (Mistake::UrlSpelling, url))
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';
/// A larger number is no time in seconds (the year is 5138), but one in milliseconds.
const SECONDS_MAX: i64 = 100_000_000_000;
