//! The spellings of a URL that a provider may have signed: a short list, never a search.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::UrlForm;

/// The spellings to try, the given one first.
pub(crate) fn spellings(url: &str, form: UrlForm) -> Vec<Cow<'_, str>> {
    let mut all = alloc::vec![Cow::Borrowed(url)];
    match form {
        UrlForm::Exact => {}
        UrlForm::HubSpot => add(&mut all, hubspot(url)),
        UrlForm::Twilio => {
            for port in [with_port(url), without_port(url)].into_iter().flatten() {
                add(&mut all, port);
            }
            for index in 0..all.len() {
                let quoted = quotes(&all[index]);
                for other in quoted {
                    add(&mut all, other);
                }
            }
        }
    }
    all
}

/// The path and query of a URL, as they stand on the request line.
pub(crate) fn path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split_once('#').map_or(rest, |(front, _)| front);
    match rest.find(['/', '?']) {
        Some(at) => &rest[at..],
        None => "/",
    }
}

/// A path as Contentful's `getNormalizedEncodedURI` writes it: what `querystring.escape` makes of the
/// query, and what `encodeURI` makes of the whole. It drops what stands behind a second question mark,
/// which anybody could then add: such a path is `None`.
pub(crate) fn encoded_twice(path: &str) -> Option<String> {
    match path.split_once('?') {
        None | Some((_, "")) => Some(escaped(path.trim_end_matches('?').as_bytes(), URI)),
        Some((_, query)) if query.contains('?') => None,
        Some((front, query)) => {
            let path = alloc::format!("{front}?{}", escaped(query.as_bytes(), COMPONENT));
            Some(escaped(path.as_bytes(), URI))
        }
    }
}

/// Every byte but letters, digits and these, percent-encoded.
pub(crate) fn escaped(text: &[u8], kept: &[u8]) -> String {
    let mut out = String::new();
    for byte in text {
        if byte.is_ascii_alphanumeric() || kept.contains(byte) {
            out.push(char::from(*byte));
        } else {
            let escape = alloc::format!("%{byte:02X}");
            out.push_str(&escape);
        }
    }
    out
}

/// The undecoded value of a query parameter that stands there once.
pub(crate) fn query<'a>(url: &'a str, name: &str) -> Option<&'a str> {
    let (_, query) = path(url).split_once('?')?;
    let mut values = query.split('&').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        (key == name).then_some(value)
    });
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

fn add(all: &mut Vec<Cow<'_, str>>, other: String) {
    if !all.iter().any(|known| **known == *other) {
        all.push(Cow::Owned(other));
    }
}

/// Scheme, what stands before the host, host with port, and the rest.
fn split(url: &str) -> Option<(&str, &str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let host = authority.rfind('@').map_or(0, |at| at + 1);
    Some((scheme, &authority[..host], &authority[host..], tail))
}

/// Where the port begins, at its colon; not inside of a literal address.
fn port_at(host: &str) -> Option<usize> {
    let at = host.rfind(':')?;
    host[at..].find(']').is_none().then_some(at)
}

fn without_port(url: &str) -> Option<String> {
    let (scheme, user, host, tail) = split(url)?;
    let bare = &host[..port_at(host)?];
    Some(alloc::format!("{scheme}://{user}{bare}{tail}"))
}

fn with_port(url: &str) -> Option<String> {
    let (scheme, user, host, tail) = split(url)?;
    let port = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
    port_at(host).is_none().then(|| alloc::format!("{scheme}://{user}{host}:{port}{tail}"))
}

/// `'` in a query is left alone by some writers of URLs and escaped by others.
fn quotes(url: &str) -> Vec<String> {
    let Some((front, query)) = url.split_once('?') else { return Vec::new() };
    [query.replace('\'', "%27"), query.replace("%27", "'")]
        .into_iter()
        .map(|query| alloc::format!("{front}?{query}"))
        .collect()
}

/// The escapes that `HubSpot` decodes before it signs.
fn hubspot(url: &str) -> String {
    let mut decoded = String::from(url);
    for (escape, character) in HUBSPOT {
        decoded = decoded.replace(escape, character);
        decoded = decoded.replace(&escape.to_ascii_lowercase(), character);
    }
    decoded
}

/// What ECMAScript's `encodeURIComponent` leaves as it is, and what `encodeURI` does.
const COMPONENT: &[u8] = b"-_.!~*'()";
const URI: &[u8] = b"-_.!~*'();,/?:@&=+$#";
/// From `HubSpot`'s page on request validation.
const HUBSPOT: [(&str, &str); 12] = [
    ("%3A", ":"),
    ("%2F", "/"),
    ("%3F", "?"),
    ("%40", "@"),
    ("%21", "!"),
    ("%24", "$"),
    ("%27", "'"),
    ("%28", "("),
    ("%29", ")"),
    ("%2A", "*"),
    ("%2C", ","),
    ("%3B", ";"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twilio_signs_with_or_without_the_port_and_with_either_quote() {
        let of = |url| spellings(url, UrlForm::Twilio);
        assert_eq!(of("https://h/p"), ["https://h/p", "https://h:443/p"]);
        assert_eq!(of("http://u:p@h:1/p"), ["http://u:p@h:1/p", "http://u:p@h/p"]);
        assert!(of("https://h/?a='").contains(&Cow::Borrowed("https://h/?a=%27")));
        assert!(of("https://[::1]/").contains(&Cow::Borrowed("https://[::1]:443/")));
    }

    #[test]
    fn a_path_is_what_stands_on_the_request_line() {
        assert_eq!(path("https://h/a?b=c#d"), "/a?b=c");
        assert_eq!(path("https://h"), "/");
        assert_eq!(path("https://h?a"), "?a");
        assert_eq!(path("/a?b"), "/a?b");
    }

    #[test]
    fn contentful_encodes_a_path_once_and_its_query_twice() {
        let of = |path| encoded_twice(path).unwrap();
        assert_eq!(of("/hook"), "/hook");
        assert_eq!(of("/hook?"), "/hook");
        assert_eq!(of("/hook?a=b&c=d"), "/hook?a%253Db%2526c%253Dd");
        assert_eq!(of("/my%20hook;,@$"), "/my%2520hook;,@$");
        assert_eq!(of("/h\u{e9}?q='(~)"), "/h%C3%A9?q%253D'(~)");
        assert_eq!(encoded_twice("/hook?a=b?added"), None);
    }
}
