//! The signed content: parts of a request, given to a hash one by one.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{Carrier, Grammar, Names, Part, Refusal, Request, Template, candidate, url_forms};
use crate::{
    answer::trim,
    json::{self, Json},
};

/// Everything that the parts of one template need, looked up once. The common parts are slices of
/// the request; a part that has to be written anew is kept with its place.
pub(crate) struct Content<'r> {
    request: &'r Request<'r>,
    pub(crate) id: Option<&'r [u8]>,
    pub(crate) timestamp: Option<&'r [u8]>,
    written: Vec<(usize, Vec<u8>)>,
    urls: Vec<Cow<'r, str>>,
}

impl<'r> Content<'r> {
    /// Looks up what the template signs.
    pub(crate) fn new(
        template: &Template,
        names: &Names,
        request: &'r Request<'r>,
        timestamp: Option<&'r [u8]>,
    ) -> Result<Self, Refusal> {
        let mut content =
            Self { request, id: None, timestamp, written: Vec::new(), urls: Vec::new() };
        for (place, part) in template.signed.iter().enumerate() {
            content.look_up(place, part, template, names)?;
        }
        Ok(content)
    }

    fn look_up(
        &mut self,
        place: usize,
        part: &Part,
        template: &Template,
        names: &Names,
    ) -> Result<(), Refusal> {
        let request = self.request;
        let written = match part {
            Part::Text(_) | Part::Body => return Ok(()),
            Part::Id => {
                self.id = Some(request.one(names.id.as_deref().ok_or(Refusal::MissingHeader)?)?);
                return Ok(());
            }
            Part::Timestamp => return self.timestamp.map(|_| ()).ok_or(Refusal::MissingHeader),
            Part::Method => return request.method.map(|_| ()).ok_or(Refusal::Malformed),
            Part::Path => return request.url.map(|_| ()).ok_or(Refusal::Malformed),
            Part::Url(form) => {
                let url = request.url.ok_or(Refusal::Malformed)?;
                self.urls = url_forms::spellings(url, *form);
                return Ok(());
            }
            Part::EncodedPath => {
                let path = url_forms::path(request.url.ok_or(Refusal::Malformed)?);
                url_forms::encoded_twice(path).ok_or(Refusal::Malformed)?.into_bytes()
            }
            Part::CompactBody => json::compact(Json::check(request.body)?),
            Part::FormParams => form_params(request),
            Part::Header(name) => request.one(name)?.to_vec(),
            Part::ListedHeaders(name) => listed(names, request, request.one(name)?)?,
            Part::NamedHeaders => named(template, names, request)?,
        };
        self.written.push((place, written));
        Ok(())
    }

    /// How many spellings of the content there are.
    pub(crate) fn spellings(&self) -> usize {
        self.urls.len().max(1)
    }

    /// Gives the content in one of its spellings to a sink; short parts are gathered first, since a
    /// hash takes long pieces more readily.
    pub(crate) fn feed(&self, parts: &[Part], spelling: usize, sink: &mut dyn FnMut(&[u8])) {
        let mut short = Gather { bytes: [0; GATHERED], length: 0 };
        self.each(parts, spelling, &mut |bytes| short.push(bytes, sink));
        short.flush(sink);
    }

    fn each(&self, parts: &[Part], spelling: usize, sink: &mut dyn FnMut(&[u8])) {
        for (place, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) => sink(text.as_bytes()),
                Part::Body => sink(self.request.body),
                Part::Id => sink(self.id.unwrap_or_default()),
                Part::Timestamp => sink(self.timestamp.unwrap_or_default()),
                Part::Method => sink(self.request.method.unwrap_or_default().as_bytes()),
                Part::Path => {
                    sink(url_forms::path(self.request.url.unwrap_or_default()).as_bytes());
                }
                Part::Url(_) => sink(self.urls[spelling].as_bytes()),
                Part::EncodedPath
                | Part::CompactBody
                | Part::FormParams
                | Part::Header(_)
                | Part::ListedHeaders(_)
                | Part::NamedHeaders => {
                    let written = self.written.iter().find(|(at, _)| *at == place);
                    sink(written.map_or(&[][..], |(_, bytes)| bytes));
                }
            }
        }
    }

    /// The content in one of its spellings as one text.
    pub(crate) fn text(&self, parts: &[Part], spelling: usize) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.request.body.len() + 128);
        self.feed(parts, spelling, &mut |bytes| all.extend_from_slice(bytes));
        all
    }
}

/// Short parts in a row.
struct Gather {
    bytes: [u8; GATHERED],
    length: usize,
}

impl Gather {
    fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&[u8])) {
        if let Some(place) = self.bytes.get_mut(self.length..self.length + bytes.len()) {
            place.copy_from_slice(bytes);
            self.length += bytes.len();
        } else {
            self.flush(sink);
            sink(bytes);
        }
    }

    fn flush(&mut self, sink: &mut dyn FnMut(&[u8])) {
        if self.length > 0 {
            sink(&self.bytes[..self.length]);
            self.length = 0;
        }
    }
}

/// Whether an id holds what could be a time in seconds: `a.1700000000` before `1700000001` is the same
/// text as `a` before `1700000000` and a body that begins with `1700000001.`. Standard Webhooks leaves
/// it to senders to make no such ids, so a receiver takes them, and we sign none.
pub(crate) fn holds_time(parts: &[Part], id: &[u8]) -> bool {
    let joiner = parts.windows(3).find_map(|three| match three {
        [Part::Id, Part::Text(joiner), Part::Timestamp] => Some(joiner.as_bytes()),
        _ => None,
    });
    let Some(&[joiner]) = joiner else { return false };
    let mut segments = id.split(|byte| *byte == joiner).skip(1);
    segments.any(|segment| {
        segment.len() == TIME_DIGITS && segment[0] != b'0' && segment.iter().all(u8::is_ascii_digit)
    })
}

/// Names and values of a form, sorted, each pair once, without separators.
fn form_params(request: &Request<'_>) -> Vec<u8> {
    let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = match request.form {
        Some(form) => form
            .iter()
            .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
            .collect(),
        None => decode_form(request.body),
    };
    pairs.sort();
    pairs.dedup();
    pairs.into_iter().flat_map(|(name, value)| name.into_iter().chain(value)).collect()
}

/// The pairs of an `application/x-www-form-urlencoded` body.
pub(crate) fn decode_form(body: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    body.split(|byte| *byte == b'&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let at = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            let value = pair.get(at + 1..).unwrap_or_default();
            (unescape(&pair[..at]), unescape(value))
        })
        .collect()
}

/// Decodes `+` and `%xx`; an escape that is none stays as it is.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let mut decoded = [0];
        let escape = text.get(at + 1..at + 3).unwrap_or_default();
        if byte == b'%' && crate::codec::hex_into(escape, &mut decoded) {
            out.push(decoded[0]);
            at += 3;
        } else {
            out.push(if byte == b'+' { b' ' } else { byte });
            at += 1;
        }
    }
    out
}

/// `name:value;name:value` of the headers in a list, sorted by name (Contentful). A list without the
/// header of the time leaves the time to anybody.
fn listed(names: &Names, request: &Request<'_>, list: &[u8]) -> Result<Vec<u8>, Refusal> {
    let list = core::str::from_utf8(list).map_err(|_| Refusal::Malformed)?;
    let mut each: Vec<String> =
        list.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
    each.sort();
    each.dedup();
    if let Some(time) = &names.timestamp
        && !each.iter().any(|name| name.eq_ignore_ascii_case(time))
    {
        return Err(Refusal::BadTimestamp);
    }
    let mut all = Vec::new();
    for (index, name) in each.iter().enumerate() {
        if index > 0 {
            all.push(b';');
        }
        all.extend_from_slice(name.as_bytes());
        all.push(b':');
        all.extend_from_slice(request.joined(name).as_deref().ok_or(Refusal::MissingHeader)?);
        bounded(&all)?;
    }
    Ok(all)
}

/// The names of signed headers, then their values, joined by dots (Hook0).
fn named(template: &Template, names: &Names, request: &Request<'_>) -> Result<Vec<u8>, Refusal> {
    let Grammar::Pairs { separator, headers: Some(key), .. } = &template.grammar else {
        return Err(Refusal::Malformed);
    };
    let list = candidate::member(names, *separator, key, request)?;
    let mut all = list.to_vec();
    for name in list.split(|byte| *byte == b' ') {
        let name = core::str::from_utf8(trim(name)).map_err(|_| Refusal::Malformed)?;
        all.push(b'.');
        all.extend_from_slice(request.joined(name).as_deref().ok_or(Refusal::MissingHeader)?);
        bounded(&all)?;
    }
    Ok(all)
}

/// A list may name one long header many times; what is written of it stays bounded.
fn bounded(written: &[u8]) -> Result<(), Refusal> {
    if written.len() > 4 * super::LINE_BYTES_MAX { Err(Refusal::Malformed) } else { Ok(()) }
}

/// How many digits a time in seconds has, from 2001 to 2286.
const TIME_DIGITS: usize = 10;
/// How many bytes of short parts are gathered.
const GATHERED: usize = 128;

/// The one header that carries the tag, where there is one.
pub(crate) fn signature_header(names: &Names) -> Option<&str> {
    match &names.signature {
        Carrier::One(name) => Some(name),
        Carrier::Each(_) | Carrier::Numbered(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::Cow;

    #[test]
    fn an_id_that_holds_a_time_is_noticed_and_other_dots_are_not() {
        let parts = [Part::Id, Part::Text(Cow::Borrowed(".")), Part::Timestamp];
        for shifted in ["a.1700000000", "a.1700000000.b", "a.b.9999999999"] {
            assert!(holds_time(&parts, shifted.as_bytes()), "{shifted}");
        }
        for plain in [
            "a",
            "1700000000",
            "a.b",
            "v1.25",
            "a.",
            "a.2023.11.14",
            "a.17000000000",
            "a.0123456789",
        ] {
            assert!(!holds_time(&parts, plain.as_bytes()), "{plain}");
        }
    }

    #[test]
    fn form_bodies_are_decoded_and_sorted() {
        let request = Request { body: b"b=%41+c&a=2&a=1&a=1&%zz", ..Request::default() };
        assert_eq!(form_params(&request), b"%zza1a2bA c");
    }
}
