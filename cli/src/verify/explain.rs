//! What was signed, what was claimed, and where the two part.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use hookproof_core::json::Json;
use hookproof_core::scheme::{
    Algorithm, CANDIDATES_MAX, Construction, Grammar, LINE_BYTES_MAX, Place, Refusal,
    SIGNATURES_MAX, Time, Verified,
    explain::{Bound, Explanation, Mistake, WORK_MAX},
};

use super::{Answer, Asked};
use crate::{
    say::{BAD, HEAD, OPEN, count, is_hidden, number, visible},
    sheet,
};

/// Prints it, a label a line, the likely mistake last.
pub(super) fn print(
    asked: &Asked,
    answer: &Answer,
    explanation: &Explanation,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out)?;
    for (label, text) in lines(asked, answer, explanation) {
        writeln!(out, "{HEAD}{label:<12}{HEAD:#}{}", visible(&asked.masked(&text)))?;
    }
    for mistake in &explanation.mistakes {
        let (style, label) = if answer.verdict.is_ok() { (OPEN, "mind") } else { (BAD, "mistake") };
        writeln!(out, "{style}{label:<12}{style:#}{mistake}")?;
        if let Some(place) = place(*mistake, asked, explanation) {
            let place = visible(&asked.masked(&place));
            writeln!(out, "{HEAD}{:<12}{HEAD:#}{place}", "differs")?;
        }
    }
    if let (Err(refusal), [], false) =
        (answer.verdict, &explanation.mistakes[..], answer.body_unsigned)
    {
        writeln!(out, "{BAD}{:<12}{BAD:#}{}", "mistake", unnamed(refusal, explanation))?;
    }
    Ok(())
}

fn lines(asked: &Asked, answer: &Answer, explanation: &Explanation) -> Vec<(&'static str, String)> {
    let scheme = &asked.scheme;
    let algorithm = sheet::algorithm(scheme.algorithm);
    let over = sheet::content(scheme);
    let mut all = vec![("scheme", format!("{}: {algorithm} over {over}", scheme.name))];
    let bytes = asked.received.body.len() as u64;
    all.push(("body", count(bytes, "byte", "bytes")));
    if let Some(signed) = &explanation.signed {
        let length = count(signed.len() as u64, "byte", "bytes");
        all.push(("signed", format!("{} ({length})", quoted(signed))));
    }
    all.extend(claims(asked, explanation));
    all.extend(explanation.left_out.map(|bound| ("left out", left_out(bound))));
    if explanation.gave_up {
        let bound = number(WORK_MAX);
        all.push((
            "gave up",
            format!("looking for mistakes, after reading {bound} bytes in all tries"),
        ));
    }
    all.extend(made(asked, explanation));
    match answer.verdict {
        Ok(verified) => all.extend(accepted(asked, answer, verified)),
        Err(refusal) => all.extend(step(refusal, asked)),
    }
    all
}

/// The tags of the request. A token is the secret itself, so it is not shown.
fn claims(asked: &Asked, explanation: &Explanation) -> Vec<(&'static str, String)> {
    let shown = |text: &String| match asked.scheme.algorithm {
        Algorithm::Token => "a token, which is not shown".to_owned(),
        _ => quoted(text.as_bytes()),
    };
    let claim = |(at, text)| ("claimed", format!("candidate {}: {}", at + 1, shown(text)));
    let shown = explanation.candidates.iter().take(SHOWN).enumerate().map(claim);
    let mut all: Vec<(&str, String)> = shown.collect();
    if explanation.candidates.is_empty() {
        all.push(("claimed", no_claim(asked)));
    }
    all
}

fn no_claim(asked: &Asked) -> String {
    match &asked.scheme.construction {
        Construction::Template(_) => {
            let headers = sheet::signature_headers(&asked.scheme).join(" or ");
            format!("no candidate in {headers}; expected {}", sheet::list(&asked.scheme))
        }
        Construction::HttpMessage => {
            "no signature whose base can be built: Signature-Input and Signature have to share a \
             label, and each covered component has to be there once"
                .into()
        }
        Construction::AdyenItems | Construction::Mailgun => {
            "no tag in the body, where this scheme has it".into()
        }
    }
}

/// What was not looked at, whether or not it is right.
fn left_out(bound: Bound) -> String {
    match bound {
        Bound::Line => format!("a header of more than {LINE_BYTES_MAX} bytes, which is not read"),
        Bound::Candidates => format!("the candidates behind the first {CANDIDATES_MAX}"),
        Bound::Signatures => format!("the signatures behind the first {SIGNATURES_MAX}"),
    }
}

/// The front of the tag that each usable secret makes: enough to compare, too little to send.
fn made(asked: &Asked, explanation: &Explanation) -> Vec<(&'static str, String)> {
    if explanation.signed.is_none() {
        return Vec::new();
    }
    let secrets = asked.secrets.iter().chain(&asked.retired).enumerate();
    let bad = |at: usize| explanation.bad_secrets.iter().any(|(place, _)| *place == at);
    let usable = secrets.filter(|(at, _)| !bad(*at));
    usable
        .zip(&explanation.expected)
        .filter_map(|((at, secret), tag)| {
            let front: String = tag.as_ref()?.chars().take(FRONT).collect();
            let retired = if at < asked.secrets.len() { "" } else { ", retired" };
            let first = differs_at(tag.as_deref()?, &explanation.candidates);
            let name = &secret.name;
            Some(("expected", format!("secret {} ({name}{retired}): {front}…{first}", at + 1)))
        })
        .take(SHOWN)
        .collect()
}

/// Where the nearest candidate parts from a tag.
fn differs_at(tag: &str, candidates: &[String]) -> String {
    let alike = |candidate: &String| {
        let pairs = candidate.chars().zip(tag.chars());
        pairs.take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count()
    };
    let nearest =
        candidates.iter().enumerate().max_by_key(|(at, text)| (alike(text), usize::MAX - at));
    match nearest {
        Some((at, text)) if text == tag => format!(" as candidate {}", at + 1),
        Some((at, text)) => {
            format!("; candidate {} differs from its character {}", at + 1, alike(text) + 1)
        }
        None => String::new(),
    }
}

/// Which secret it was, and what one may lean on.
fn accepted(asked: &Asked, answer: &Answer, verified: Verified) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    if let Some(at) = answer.usable.get(verified.secret()) {
        let (number, of) = (at + 1, asked.secrets.len());
        all.push(("matched", format!("secret {number} of {of} ({})", asked.secrets[*at].name)));
    }
    let parts = sheet::signed(verified.signs());
    all.push(("vouched for", if parts.is_empty() { "nothing".into() } else { parts.join(", ") }));
    all.extend(sheet::warnings(&asked.scheme).into_iter().map(|warning| ("NOT signed", warning)));
    all
}

/// The step at which it was refused, where it was not the comparison.
fn step(refusal: Refusal, asked: &Asked) -> Option<(&'static str, String)> {
    match refusal {
        Refusal::TooOld | Refusal::TooNew | Refusal::BadTimestamp => Some(("time", clock(asked))),
        Refusal::MissingHeader => Some(("needed", needed(asked))),
        Refusal::BadSecret => Some(("secret", sheet::key(&asked.scheme.key))),
        Refusal::BadBody => time_in_body(asked).map(|_| ("time", clock(asked))),
        Refusal::AmbiguousHeader | Refusal::Malformed | Refusal::NoMatch => None,
    }
}

fn clock(asked: &Asked) -> String {
    let now = match asked.time {
        Time::At(now) => format!("now is {}", now.0 / 1_000),
        Time::NotTested => "time is not tested".into(),
    };
    let place = sheet::clock(&asked.scheme);
    let written = written_time(asked).map_or(String::new(), |text| format!("`{text}` in "));
    format!("{written}{place}; {now}; within {}", sheet::tolerance(asked.scheme.tolerance))
}

/// Where in the body the scheme has its time.
fn time_in_body(asked: &Asked) -> Option<&str> {
    match &sheet::template(&asked.scheme)?.clock {
        Some((Place::Body(pointer), _)) => Some(pointer),
        _ => None,
    }
}

/// The time as the request has it: in a header of its own, a member of the signature header, or the body.
fn written_time(asked: &Asked) -> Option<Cow<'_, str>> {
    if let Some(pointer) = time_in_body(asked) {
        let value = Json::check(&asked.received.body).ok()?.at(pointer).ok()??;
        return value.scalar().map(Cow::Owned);
    }
    written_in_header(asked).map(Cow::Borrowed)
}

fn written_in_header(asked: &Asked) -> Option<&str> {
    let template = sheet::template(&asked.scheme)?;
    match (&template.clock, &template.grammar) {
        (Some((Place::Header, _)), _) => {
            let mut names = template.names.iter().filter_map(|names| names.timestamp.as_deref());
            names.find_map(|name| asked.received.header(name))
        }
        (Some((Place::Member, _)), Grammar::Pairs { separator, timestamp: Some(key), .. }) => {
            let headers = sheet::signature_headers(&asked.scheme);
            let header = headers.iter().find_map(|name| asked.received.header(name))?;
            let mut members = header.split(char::from(*separator));
            members.find_map(|member| member.trim().strip_prefix(&**key)?.strip_prefix('='))
        }
        (_, _) => None,
    }
}

/// The headers that the scheme needs, and which of them are there.
fn needed(asked: &Asked) -> String {
    if sheet::signs_items(&asked.scheme) {
        return "additionalData.hmacSignature in each item of the body".into();
    }
    let mut names = sheet::signature_headers(&asked.scheme);
    if let Some(spelling) = sheet::template(&asked.scheme).and_then(|t| t.names.first()) {
        let signed_id = spelling.id.iter().filter(|_| asked.scheme.signs().id);
        names.extend(signed_id.chain(&spelling.timestamp).map(ToString::to_string));
    }
    let state = |name: &String| match asked.received.header(name) {
        Some("") => format!("{name} (empty)"),
        Some(_) => format!("{name} (present)"),
        None => format!("{name} (absent)"),
    };
    names.iter().map(state).collect::<Vec<_>>().join(", ")
}

/// Where the received bytes part from the signed ones, for a mistake that changed them.
fn place(mistake: Mistake, asked: &Asked, explanation: &Explanation) -> Option<String> {
    match mistake {
        Mistake::BodyReserialised | Mistake::BodyLineEnds | Mistake::BodyByteOrderMark => {
            let signed = explanation.body.as_deref()?;
            let hides = |text: &[u8]| asked.masked_bytes(text).is_some();
            if hides(&asked.received.body) || hides(signed) {
                return Some("the body holds the secret, so it is not shown".into());
            }
            Some(first_difference("body", &asked.received.body, signed))
        }
        Mistake::UrlPort | Mistake::UrlSpelling => {
            let signed = explanation.url.as_deref()?;
            let received = asked.received.url.as_deref()?;
            Some(format!(
                "{}; signed was {signed}, given {received}",
                first_difference("URL", received.as_bytes(), signed.as_bytes())
            ))
        }
        Mistake::BodyLength => asked.received.misframed(),
        Mistake::TimeInMilliseconds
        | Mistake::TimeInSeconds
        | Mistake::TimeOutsideWindow
        | Mistake::SecretDecoded
        | Mistake::SecretNotDecoded
        | Mistake::SecretPrefix
        | Mistake::SecretBlanks
        | Mistake::TimeMissing
        | Mistake::TimeTwice
        | Mistake::TimeUnreadable
        | Mistake::ListAsOneValue
        | Mistake::SecretNotLive
        | Mistake::OtherSecret
        | Mistake::TagEncoding
        | Mistake::IdHoldsTime => None,
    }
}

fn first_difference(what: &str, received: &[u8], signed: &[u8]) -> String {
    let pairs = received.iter().zip(signed);
    let at = pairs.take_while(|(one, other)| one == other).count();
    let near = |bytes: &[u8]| match bytes.get(at..) {
        None | Some([]) => "its end".to_owned(),
        Some(rest) => quoted(&rest[..rest.len().min(NEAR)]),
    };
    let (has, was) = (near(received), near(signed));
    format!("at byte {at} of the {what}: received {has}, signed {was}")
}

/// What is left to say where undoing no known mistake helps.
fn unnamed(refusal: Refusal, explanation: &Explanation) -> String {
    match refusal {
        Refusal::BadTimestamp => {
            "the time is not written as the scheme writes it (a fraction, a sign, another unit)"
                .into()
        }
        Refusal::MissingHeader => "a header was lost, or this is another scheme".into(),
        Refusal::BadSecret => "the secret has not the form that the scheme expects".into(),
        Refusal::NoMatch | Refusal::Malformed if explanation.left_out.is_some() => {
            "what was left out may be right: nobody should send so much, so make it less".into()
        }
        Refusal::NoMatch | Refusal::TooOld | Refusal::TooNew if explanation.gave_up => {
            format!("none in what was tried, which is not all; else none {CHANGED}")
        }
        Refusal::NoMatch if explanation.candidates.is_empty() => {
            "the header holds nothing that the scheme could have written".into()
        }
        Refusal::NoMatch => format!("none {CHANGED}"),
        Refusal::TooOld | Refusal::TooNew => {
            format!("not the time alone, since the signature does not match either; none {CHANGED}")
        }
        Refusal::AmbiguousHeader | Refusal::Malformed | Refusal::BadBody => {
            "none of the usual ones".into()
        }
    }
}

/// Bytes as they can be read, control characters and what is no text spelled out, cut in the middle.
pub(super) fn quoted(bytes: &[u8]) -> String {
    if bytes.len() <= QUOTED {
        return format!("`{}`", spell(bytes));
    }
    let (front, back) = (&bytes[..QUOTED * 2 / 3], &bytes[bytes.len() - QUOTED / 3..]);
    format!("`{} … {}`", spell(front), spell(back))
}

fn spell(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\u{feff}' => text.push_str("\\xef\\xbb\\xbf"),
                c if is_hidden(c) => text.extend(c.escape_default()),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.extend(byte.escape_ascii().map(char::from));
        }
    }
    text
}

const CHANGED: &str = "that can be undone: it is another secret, another scheme, or content that \
                       was changed for good";
/// How many candidates and secrets are shown.
const SHOWN: usize = 8;
/// How many characters of a right tag are shown.
const FRONT: usize = 12;
/// How many bytes are shown around a difference.
const NEAR: usize = 24;
/// The longest text that is shown whole, in bytes.
const QUOTED: usize = 180;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_spelled_so_that_nothing_hides() {
        assert_eq!(quoted(b"\xef\xbb\xbf{\r\n}\xff"), "`\\xef\\xbb\\xbf{\\r\\n}\\xff`");
        assert!(quoted(&[b'a'; 1_000]).chars().count() < 200);
    }

    #[test]
    fn a_difference_is_where_the_bytes_part() {
        let said = first_difference("body", b"{\"a\": 1}", b"{\"a\":1}");
        assert_eq!(said, "at byte 5 of the body: received ` 1}`, signed `1}`");
        assert!(first_difference("body", b"a", b"a\n").ends_with("received its end, signed `\\n`"));
    }
}
