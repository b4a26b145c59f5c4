//! The candidates in a request's signature headers, and the members that stand beside them.

use core::ops::ControlFlow;

use super::{
    Algorithm, CANDIDATES_MAX, Carrier, Encoding, Grammar, LINE_BYTES_MAX, Names, Refusal, Request,
    Template, key,
};
use crate::{answer::trim, codec};

/// A tag as it is written, and the algorithm where it names one.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) method: Option<Algorithm>,
}

/// What a visitor says: go on, or stop.
pub(crate) type Flow = ControlFlow<()>;

/// A bound beyond which candidates are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// [`LINE_BYTES_MAX`].
    Line,
    /// [`CANDIDATES_MAX`].
    Candidates,
    /// [`SIGNATURES_MAX`](super::SIGNATURES_MAX).
    Signatures,
}

/// Visits every candidate, at most [`CANDIDATES_MAX`], and says whether a bound left some out. Junk
/// members are no candidates.
pub(crate) fn each<'a>(
    template: &Template,
    names: &Names,
    request: &Request<'a>,
    visit: &mut dyn FnMut(Candidate<'a>) -> Flow,
) -> Option<Bound> {
    let mut left = CANDIDATES_MAX;
    let (mut too_many, mut too_long) = (false, false);
    let mut counted = |candidate| {
        if left == 0 {
            too_many = true;
            return Flow::Break(());
        }
        left -= 1;
        visit(candidate)
    };
    let _ = lines(&names.signature, request, &mut |line| {
        if line.len() > LINE_BYTES_MAX {
            too_long = true;
            return Flow::Continue(());
        }
        of_line(&template.grammar, line, &mut counted)
    });
    let long = too_long.then_some(Bound::Line);
    too_many.then_some(Bound::Candidates).or(long)
}

/// Whether any signature header of this spelling is present.
pub(crate) fn present(names: &Names, request: &Request<'_>) -> bool {
    let mut any = false;
    let _ = lines(&names.signature, request, &mut |_| {
        any = true;
        Flow::Break(())
    });
    any
}

/// Two different values of a header that holds one value are ambiguous.
pub(crate) fn unambiguous(
    template: &Template,
    names: &Names,
    request: &Request<'_>,
) -> Result<(), Refusal> {
    match (&template.grammar, &names.signature) {
        (Grammar::Single { .. } | Grammar::Method, Carrier::One(name)) => match request.one(name) {
            Err(Refusal::MissingHeader) => Err(Refusal::Malformed),
            other => other.map(|_| ()),
        },
        _ => Ok(()),
    }
}

/// The value of a member of the signature header that must stand there once: the time, or the names
/// of signed headers. Two different values are ambiguous.
pub(crate) fn member<'a>(
    names: &Names,
    separator: u8,
    key: &str,
    request: &Request<'a>,
) -> Result<&'a [u8], Refusal> {
    let mut found = Ok(None);
    let _ = lines(&names.signature, request, &mut |line| {
        for (name, value) in pairs(line, separator) {
            if name != key.as_bytes() {
                continue;
            }
            match found {
                Ok(Some(other)) if other != value => {
                    found = Err(Refusal::AmbiguousHeader);
                    return Flow::Break(());
                }
                _ => found = Ok(Some(value)),
            }
        }
        Flow::Continue(())
    });
    found?.ok_or(Refusal::Malformed)
}

/// Decodes a candidate of this many bytes into the front of `out`; the bytes, or `None` for junk.
pub(crate) fn decode<'b>(
    encoding: Encoding,
    text: &[u8],
    bytes: Option<usize>,
    out: &'b mut [u8; DECODED_MAX],
) -> Option<&'b [u8]> {
    let length = match bytes {
        Some(bytes) => {
            let place = out.get_mut(..bytes)?;
            let is_hex = match encoding {
                Encoding::Hex => true,
                Encoding::HexOrBase64 => text.len() == bytes * 2,
                Encoding::Base64 | Encoding::Plain => false,
            };
            let whole = if is_hex {
                codec::hex_into(text, place)
            } else {
                codec::base64_into(text, place) == Some(bytes)
            };
            whole.then_some(bytes)?
        }
        None => codec::base64_into(text, out)?,
    };
    Some(&out[..length])
}

fn of_line<'a>(
    grammar: &Grammar,
    line: &'a [u8],
    visit: &mut dyn FnMut(Candidate<'a>) -> Flow,
) -> Flow {
    match grammar {
        // Comparing with nothing is slow on some processors: its address is no address.
        Grammar::Single { prefix } if prefix.is_empty() => {
            visit(Candidate { text: line, method: None })
        }
        Grammar::Single { prefix } => match line.strip_prefix(prefix.as_bytes()) {
            Some(text) => visit(Candidate { text, method: None }),
            None => Flow::Continue(()),
        },
        Grammar::Method => match split_once(line, b'=') {
            Some((name, text)) if key::method(name).is_some() => {
                visit(Candidate { text, method: key::method(name) })
            }
            _ => Flow::Continue(()),
        },
        Grammar::Versions { version } => {
            for member in line.split(|byte| matches!(byte, b' ' | b'\t')) {
                // An intermediary that joins field lines leaves its comma on the member.
                let member = member.strip_suffix(b",").unwrap_or(member);
                match split_once(member, b',') {
                    Some((name, text)) if name == version.as_bytes() => {
                        visit(Candidate { text, method: None })?;
                    }
                    _ => {}
                }
            }
            Flow::Continue(())
        }
        Grammar::Pairs { separator, tags, .. } => {
            for (name, text) in pairs(line, *separator) {
                if tags.iter().any(|tag| tag.as_bytes() == name) {
                    visit(Candidate { text, method: None })?;
                }
            }
            Flow::Continue(())
        }
    }
}

fn lines<'a>(
    carrier: &Carrier,
    request: &Request<'a>,
    visit: &mut dyn FnMut(&'a [u8]) -> Flow,
) -> Flow {
    match carrier {
        Carrier::One(name) => request.lines(name).try_for_each(visit),
        Carrier::Each(names) => {
            names.iter().try_for_each(|name| request.lines(name).try_for_each(&mut *visit))
        }
        Carrier::Numbered(prefix) => request
            .headers
            .iter()
            .filter(|(name, _)| is_numbered(name, prefix))
            .try_for_each(|(_, value)| visit(trim(value))),
    }
}

fn is_numbered(name: &str, prefix: &str) -> bool {
    let (name, prefix) = (name.as_bytes(), prefix.as_bytes());
    name.split_at_checked(prefix.len()).is_some_and(|(front, number)| {
        front.eq_ignore_ascii_case(prefix)
            && !number.is_empty()
            && number.iter().all(u8::is_ascii_digit)
    })
}

/// The members `key=value` of a line, split at the first equals sign; others are left out.
fn pairs(line: &[u8], separator: u8) -> impl Iterator<Item = (&[u8], &[u8])> {
    line.split(move |byte| *byte == separator).filter_map(|member| split_once(trim(member), b'='))
}

fn split_once(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == at)?;
    Some((&text[..at], &text[at + 1..]))
}

/// The longest tag or signature, in bytes: a P-256 signature in DER has at most 72.
pub(crate) const DECODED_MAX: usize = 96;
