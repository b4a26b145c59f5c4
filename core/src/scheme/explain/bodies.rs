//! What a body may have been before somebody changed it.

use alloc::{string::String, vec::Vec};
use core::ops::Range;

use super::Mistake;
use crate::json::{self, Json};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Other spellings of a body, each with the mistake that would have made the given one of it.
pub(super) fn variants(body: &[u8]) -> impl Iterator<Item = (Mistake, Vec<u8>)> {
    let mut all = Vec::new();
    let marked = body.strip_prefix(BOM).map_or_else(|| [BOM, body].concat(), <[u8]>::to_vec);
    let both = line_ends(&marked);
    all.push((Mistake::BodyByteOrderMark, marked));
    all.extend(line_ends(body).into_iter().map(|body| (Mistake::BodyLineEnds, body)));
    all.extend(both.into_iter().map(|body| (Mistake::BodyByteOrderMark, body)));
    all.into_iter().chain(rewritten(body).map(|body| (Mistake::BodyReserialised, body)))
}

/// Line ends lost, added or changed.
fn line_ends(body: &[u8]) -> Vec<Vec<u8>> {
    let lines: Vec<&[u8]> = body.split(|byte| *byte == b'\n').collect();
    let bare: Vec<&[u8]> =
        lines.iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    let trimmed = body.trim_ascii_end();
    alloc::vec![
        trimmed.to_vec(),
        [trimmed, b"\n"].concat(),
        [trimmed, b"\r\n"].concat(),
        bare.join(&b'\n'),
        bare.join(&b"\r\n"[..]),
        bare.concat(),
    ]
}

/// The same JSON value in the styles of common writers, and in each order of a few top-level members, or
/// with numbers written otherwise. One at a time: there are thousands.
fn rewritten(body: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let json = Json::check(body.strip_prefix(BOM).unwrap_or(body));
    let compact = json.map(json::compact).ok();
    let numbers = compact.iter().flat_map(|compact| renumbered(compact)).collect::<Vec<_>>();
    compact
        .into_iter()
        .flat_map(|compact| orders(&compact))
        .flat_map(|order| spelled(&order))
        .chain(numbers)
        .flat_map(|text| Style::ALL.iter().map(move |style| styled(&text, style)))
        .flat_map(|text| [[&text[..], b"\n"].concat(), text])
}

/// A compact text with what a writer may escape escaped or not, in every combination that differs.
fn spelled(order: &[u8]) -> Vec<Vec<u8>> {
    let mut all = alloc::vec![order.to_vec()];
    for escape in [slashes, unicode, html, capitals] {
        let others: Vec<Vec<u8>> =
            all.iter().flat_map(|text| [escape(text, true), escape(text, false)]).collect();
        for other in others {
            if !all.contains(&other) {
                all.push(other);
            }
        }
    }
    all
}

/// A compact text with zeros at the end of fractions lost or added: of all numbers, and of each alone.
fn renumbered(compact: &[u8]) -> Vec<Vec<u8>> {
    let places = numbers(compact);
    let with = |which: &dyn Fn(usize) -> bool, respell: fn(&str) -> String| {
        let (mut out, mut from) = (Vec::new(), 0);
        for (at, place) in places.iter().enumerate().filter(|(at, _)| which(*at)) {
            let number = core::str::from_utf8(&compact[place.clone()]).unwrap_or_default();
            out.extend_from_slice(&compact[from..place.start]);
            out.extend_from_slice(respell(number).as_bytes());
            from = places[at].end;
        }
        [&out, &compact[from..]].concat()
    };
    let mut all = alloc::vec![with(&|_| true, shortened), with(&|_| true, lengthened)];
    for only in 0..places.len().min(NUMBERS_MAX) {
        let is_it = |at| at == only;
        all.push(with(&is_it, shortened));
        all.push(with(&is_it, lengthened));
        all.push(with(&is_it, |number| alloc::format!("{number}.0")));
    }
    all
}

/// Where numbers without an exponent stand, outside of strings.
fn numbers(compact: &[u8]) -> Vec<Range<usize>> {
    let (mut all, mut at, mut in_string) = (Vec::new(), 0, false);
    while let Some(&byte) = compact.get(at) {
        let is_part = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(*byte);
        if in_string {
            in_string = byte != b'"';
            at += if byte == b'\\' { 2 } else { 1 };
        } else if byte.is_ascii_digit() || byte == b'-' {
            let end = at + compact[at..].iter().take_while(is_part).count();
            if !compact[at..end].iter().any(|byte| byte.eq_ignore_ascii_case(&b'e')) {
                all.push(at..end);
            }
            at = end;
        } else {
            in_string = byte == b'"';
            at += 1;
        }
    }
    all
}

/// `10.50` as `10.5`, `1.0` as `1`.
fn shortened(number: &str) -> String {
    let bare = if number.contains('.') { number.trim_end_matches('0') } else { number };
    String::from(bare.trim_end_matches('.'))
}

/// `10.5` as `10.50`: a fraction of two digits, as amounts are written.
fn lengthened(number: &str) -> String {
    match number.split_once('.') {
        Some((whole, fraction)) => alloc::format!("{whole}.{fraction:0<2}"),
        None => String::from(number),
    }
}

/// The compact text with its top-level members in each order, where they are few.
fn orders(compact: &[u8]) -> Vec<Vec<u8>> {
    let members = members(compact);
    if members.len() < 2 || members.len() > MEMBERS_MAX || compact.len() > REORDERED_BYTES_MAX {
        return alloc::vec![compact.to_vec()];
    }
    let mut orders: Vec<Vec<&[u8]>> = alloc::vec![Vec::new()];
    for member in members {
        orders = orders
            .into_iter()
            .flat_map(|order| {
                (0..=order.len()).map(move |at| {
                    let mut order = order.clone();
                    order.insert(at, member);
                    order
                })
            })
            .collect();
    }
    orders.into_iter().map(|order| [&b"{"[..], &order.join(&b','), b"}"].concat()).collect()
}

/// The members of a compact top-level object.
fn members(compact: &[u8]) -> Vec<&[u8]> {
    let Some(inside) = compact.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}")) else {
        return Vec::new();
    };
    let (mut depth, mut in_string, mut escaped) = (0_i32, false, false);
    inside
        .split(|byte| {
            if in_string {
                in_string = escaped || *byte != b'"';
                escaped = !escaped && *byte == b'\\';
            } else {
                match byte {
                    b'"' => in_string = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
            }
            *byte == b',' && depth == 0 && !in_string
        })
        .collect()
}

/// How a writer lays out JSON.
struct Style {
    colon: &'static str,
    comma: &'static str,
    indent: Option<&'static str>,
}

impl Style {
    const COMPACT: Self = Self { colon: ":", comma: ",", indent: None };
    const SPACED: Self = Self { colon: ": ", comma: ", ", indent: None };
    const INDENT_2: Self = Self { colon: ": ", comma: ",", indent: Some("  ") };
    const ALL: [Self; 5] = [
        Self::COMPACT,
        Self::SPACED,
        Self::INDENT_2,
        Self { colon: ": ", comma: ",", indent: Some("    ") },
        Self { colon: ": ", comma: ",", indent: Some("\t") },
    ];
}

/// A compact text in another style.
fn styled(compact: &[u8], style: &Style) -> Vec<u8> {
    let mut out = Vec::with_capacity(compact.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let new_line = |out: &mut Vec<u8>, depth: usize| {
        if let Some(indent) = style.indent {
            out.push(b'\n');
            (0..depth).for_each(|_| out.extend_from_slice(indent.as_bytes()));
        }
    };
    for (at, &byte) in compact.iter().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            out.push(byte);
            continue;
        }
        let empty = matches!(compact.get(at + 1), Some(b'}' | b']'));
        let was_empty = at > 0 && matches!(compact[at - 1], b'{' | b'[');
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                if !empty {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                if !was_empty {
                    depth = depth.saturating_sub(1);
                    new_line(&mut out, depth);
                }
                out.push(byte);
            }
            b',' => {
                out.extend_from_slice(style.comma.as_bytes());
                new_line(&mut out, depth);
            }
            b':' => out.extend_from_slice(style.colon.as_bytes()),
            _ => {
                in_string = byte == b'"';
                out.push(byte);
            }
        }
    }
    out
}

/// Slashes escaped, or not.
fn slashes(text: &[u8], escape: bool) -> Vec<u8> {
    let text = String::from_utf8_lossy(text).replace("\\/", "/");
    if escape { text.replace('/', "\\/").into_bytes() } else { text.into_bytes() }
}

/// Characters outside of ASCII escaped in lower case, or raw.
fn unicode(text: &[u8], escape: bool) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    if escape {
        let mut out = String::new();
        for character in text.chars() {
            if character.is_ascii() {
                out.push(character);
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let escape = alloc::format!("\\u{unit:04x}");
                    out.push_str(&escape);
                }
            }
        }
        return out.into_bytes();
    }
    let mut out = String::new();
    let mut rest: &str = &text;
    while let Some(at) = rest.find("\\u") {
        out.push_str(&rest[..at]);
        let escape = json::escaped(&rest.as_bytes()[at..]);
        let length = if let Some((character, length)) = escape.filter(|(c, _)| !c.is_ascii()) {
            out.push(character);
            length
        } else {
            out.push_str("\\u");
            2
        };
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out.into_bytes()
}

/// Angle brackets and ampersands escaped, as Go does, or raw.
fn html(text: &[u8], escape: bool) -> Vec<u8> {
    let mut text = String::from_utf8_lossy(text).into_owned();
    for (raw, escaped) in [("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")] {
        let capital = escaped.replace('c', "C").replace('e', "E");
        text = text.replace(escaped, raw).replace(&capital, raw);
        if escape {
            text = text.replace(raw, escaped);
        }
    }
    text.into_bytes()
}

/// The digits of `\u` escapes in upper case, or in lower.
fn capitals(text: &[u8], upper: bool) -> Vec<u8> {
    let mut out = text.to_vec();
    let mut at = 0;
    while at + 6 <= out.len() {
        let digits = &mut out[at..at + 6];
        let is_escape = digits.starts_with(b"\\u") && digits[2..].iter().all(u8::is_ascii_hexdigit);
        if is_escape && upper {
            digits[2..].make_ascii_uppercase();
        } else if is_escape {
            digits[2..].make_ascii_lowercase();
        }
        at += if is_escape { 6 } else { 1 };
    }
    out
}

/// Up to which size members are put in other orders, in bytes.
const REORDERED_BYTES_MAX: usize = 16_384;
/// How many numbers are written otherwise alone.
const NUMBERS_MAX: usize = 16;
/// Of how many top-level members every order is tried.
const MEMBERS_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_compact_text_is_laid_out_like_others_do() {
        let text = br#"{"a":[1,{"b":"x,y:{"}],"c":{},"d":[]}"#;
        assert_eq!(
            styled(text, &Style::SPACED),
            br#"{"a": [1, {"b": "x,y:{"}], "c": {}, "d": []}"#
        );
        assert_eq!(styled(b"{\"a\":[1]}", &Style::INDENT_2), b"{\n  \"a\": [\n    1\n  ]\n}");
        assert_eq!(styled(text, &Style::COMPACT), text);
    }

    #[test]
    fn numbers_that_lost_or_won_zeros_are_found_again() {
        for (given, signed) in [
            (r#"{"id":7,"n":1}"#, r#"{"id":7,"n":1.0}"#),
            (r#"{"id": 7, "n": 10.5}"#, r#"{"id":7,"n":10.50}"#),
            (r#"{"a":[1.0,-2.50],"b":"1.0\""}"#, r#"{"a":[1,-2.5],"b":"1.0\""}"#),
            (r#"{"a":[1.5,2.5],"b":1e2}"#, r#"{"a":[1.50,2.50],"b":1e2}"#),
        ] {
            let found = variants(given.as_bytes()).any(|(_, body)| body == signed.as_bytes());
            assert!(found, "{given} as {signed}");
        }
    }

    #[test]
    fn members_are_taken_apart_outside_of_strings_and_brackets() {
        assert_eq!(members(br#"{"a":"x,\",","b":[1,2],"c":{"d":1,"e":2}}"#).len(), 3);
        assert_eq!(orders(br#"{"a":1,"b":2,"c":3}"#).len(), 6);
    }

    #[test]
    fn writers_that_escape_in_several_ways_are_undone_together() {
        let raw = r#"{"u":"a/b","s":"é<&"}"#;
        let php = r#"{"u":"a\/b","s":"\u00e9<&"}"#;
        let go = r#"{"u":"a/b","s":"é\u003c\u0026"}"#;
        let all = r#"{"u":"a\/b","s":"\u00E9\u003C\u0026"}"#;
        for given in [raw, php, go, all] {
            for signed in [raw, php, go, all] {
                let found = variants(given.as_bytes()).any(|(_, body)| body == signed.as_bytes());
                assert!(found, "{given} as {signed}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body: Vec<u8>) {
            let _ = variants(&body).count();
        }
    }
}
