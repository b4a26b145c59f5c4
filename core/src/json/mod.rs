//! Reading a few values out of a JSON body without a tree: strict grammar, exact text, duplicate keys
//! on the way noticed.
//!
//! A tree would lose what matters here: the spelling of a number, the second of two equal keys, a
//! lone surrogate that is nobody's business. Nesting is a stack of bits, so depth costs no recursion.

mod grammar;

use alloc::{string::String, vec::Vec};

pub use grammar::DEPTH_MAX;
use grammar::{is_blank, skip_blanks, skip_string, skip_value};

/// Why a value could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unreadable {
    /// The body is not JSON (RFC 8259), or nested deeper than [`DEPTH_MAX`].
    NotJson,
    /// A key on the way to the value stands there twice: two readers would read two values.
    DuplicateKey,
}

/// A JSON text that obeys the grammar.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a> {
    text: &'a [u8],
}

/// One value within a text, as it is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    raw: &'a [u8],
}

impl<'a> Json<'a> {
    /// Checks the whole text.
    pub fn check(text: &'a [u8]) -> Result<Self, Unreadable> {
        core::str::from_utf8(text).map_err(|_| Unreadable::NotJson)?;
        let start = skip_blanks(text, 0);
        let end = skip_value(text, start).ok_or(Unreadable::NotJson)?;
        if skip_blanks(text, end) != text.len() {
            return Err(Unreadable::NotJson);
        }
        Ok(Self { text })
    }

    /// The whole text as a value.
    pub fn root(&self) -> Value<'a> {
        let start = skip_blanks(self.text, 0);
        let end = skip_value(self.text, start).unwrap_or(self.text.len());
        Value { raw: &self.text[start..end] }
    }

    /// The value at a JSON pointer (RFC 6901); `None` where there is none.
    pub fn at(&self, pointer: &str) -> Result<Option<Value<'a>>, Unreadable> {
        self.root().at(pointer)
    }
}

impl<'a> Value<'a> {
    /// The value at a JSON pointer from here.
    pub fn at(self, pointer: &str) -> Result<Option<Self>, Unreadable> {
        let Some(path) = pointer.strip_prefix('/') else {
            return Ok(pointer.is_empty().then_some(self));
        };
        let mut value = self;
        for token in path.split('/') {
            let token = token.replace("~1", "/").replace("~0", "~");
            match value.child(&token)? {
                Some(child) => value = child,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }

    /// The elements, where this is an array.
    pub fn elements(self) -> Option<Vec<Self>> {
        if self.raw.first() != Some(&b'[') {
            return None;
        }
        let mut elements = Vec::new();
        let mut at = skip_blanks(self.raw, 1);
        while self.raw.get(at) != Some(&b']') {
            let end = skip_value(self.raw, at)?;
            elements.push(Self { raw: &self.raw[at..end] });
            at = next_member(self.raw, end);
        }
        Some(elements)
    }

    /// The text, where this is a string whose escapes name characters.
    pub fn text(self) -> Option<String> {
        unescape(self.raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?)
    }

    /// The text of a string, or a number, `true` or `false` as spelled; `None` for the rest.
    pub fn scalar(self) -> Option<String> {
        match self.raw.first()? {
            b'"' => self.text(),
            b'{' | b'[' | b'n' => None,
            _ => Some(String::from(core::str::from_utf8(self.raw).ok()?)),
        }
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        self.raw == b"null"
    }

    /// Whether this is `true` or `false`.
    pub fn is_bool(self) -> bool {
        self.raw == b"true" || self.raw == b"false"
    }

    /// As it is spelled.
    pub const fn raw(self) -> &'a [u8] {
        self.raw
    }

    fn child(self, token: &str) -> Result<Option<Self>, Unreadable> {
        match self.raw.first() {
            Some(b'{') => self.member(token),
            Some(b'[') => {
                let canonical = token == "0" || !token.starts_with('0');
                let index = token
                    .parse::<u32>()
                    .ok()
                    .filter(|_| canonical && token.bytes().all(|byte| byte.is_ascii_digit()));
                let elements = self.elements().ok_or(Unreadable::NotJson)?;
                Ok(index.and_then(|index| elements.get(index as usize).copied()))
            }
            _ => Ok(None),
        }
    }

    fn member(self, name: &str) -> Result<Option<Self>, Unreadable> {
        let mut found = None;
        let mut at = skip_blanks(self.raw, 1);
        while self.raw.get(at) != Some(&b'}') {
            let key_end = skip_string(self.raw, at).ok_or(Unreadable::NotJson)?;
            let key = &self.raw[at + 1..key_end - 1];
            let start = skip_blanks(self.raw, skip_blanks(self.raw, key_end) + 1);
            let end = skip_value(self.raw, start).ok_or(Unreadable::NotJson)?;
            if same_key(key, name) {
                if found.is_some() {
                    return Err(Unreadable::DuplicateKey);
                }
                found = Some(Self { raw: &self.raw[start..end] });
            }
            at = next_member(self.raw, end);
        }
        Ok(found)
    }
}

/// The text with every blank outside of strings removed, key order and spelling kept.
pub fn compact(json: Json<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.text.len());
    let mut at = 0;
    while let Some(&byte) = json.text.get(at) {
        let end = match byte {
            b'"' => skip_string(json.text, at).unwrap_or(json.text.len()),
            _ => at + 1,
        };
        if !is_blank(byte) {
            out.extend_from_slice(&json.text[at..end]);
        }
        at = end;
    }
    out
}

fn same_key(key: &[u8], name: &str) -> bool {
    if key.contains(&b'\\') {
        unescape(key).is_some_and(|key| key == name)
    } else {
        key == name.as_bytes()
    }
}

/// Behind the comma that follows a member, or at the bracket that ends the list.
fn next_member(text: &[u8], end: usize) -> usize {
    let at = skip_blanks(text, end);
    if text.get(at) == Some(&b',') { skip_blanks(text, at + 1) } else { at }
}

/// The characters of a string's inside; `None` where an escape names half a character.
fn unescape(inside: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(inside.len());
    let mut at = 0;
    while let Some(&byte) = inside.get(at) {
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        let plain = match inside.get(at + 1)? {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (character, length) = escaped(&inside[at..])?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                at += length;
                continue;
            }
            same => *same,
        };
        out.push(plain);
        at += 2;
    }
    String::from_utf8(out).ok()
}

/// The character of `\u…` or of a surrogate pair, and how long it is spelled.
pub(crate) fn escaped(text: &[u8]) -> Option<(char, usize)> {
    let first = hex4(text.get(2..6)?)?;
    if !(0xd800..0xe000).contains(&first) {
        return Some((char::from_u32(first)?, 6));
    }
    let second = text.get(6..12)?.strip_prefix(b"\\u")?;
    let second = hex4(second)?;
    if first >= 0xdc00 || !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    Some((char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))?, 12))
}

fn hex4(digits: &[u8]) -> Option<u32> {
    let mut bytes = [0; 2];
    crate::codec::hex_into(digits, &mut bytes).then(|| u32::from(u16::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use proptest::prelude::*;

    fn at(text: &str, pointer: &str) -> Result<Option<String>, Unreadable> {
        Ok(Json::check(text.as_bytes())?.at(pointer)?.and_then(Value::scalar))
    }

    #[test]
    fn values_are_found_by_pointer_and_kept_as_spelled() {
        let body =
            r#" {"id":"e\u0076t_1", "data" : {"n":1.10,"list":[{"a":9007199254740993},true]}} "#;
        assert_eq!(at(body, "/id"), Ok(Some("evt_1".into())));
        assert_eq!(at(body, "/data/n"), Ok(Some("1.10".into())));
        assert_eq!(at(body, "/data/list/0/a"), Ok(Some("9007199254740993".into())));
        assert_eq!(at(body, "/data/list/1"), Ok(Some("true".into())));
        for none in ["/x", "/data/list/2", "/data/list/00", "/id/0", "x", "/data/list/-1"] {
            assert_eq!(at(body, none), Ok(None), "{none}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_on_the_way_is_noticed_and_elsewhere_is_not() {
        assert_eq!(at(r#"{"id":1,"id":2}"#, "/id"), Err(Unreadable::DuplicateKey));
        assert_eq!(at(r#"{"\u0069d":1,"id":2}"#, "/id"), Err(Unreadable::DuplicateKey));
        assert_eq!(at(r#"{"d":{"id":1},"d":{}}"#, "/d/id"), Err(Unreadable::DuplicateKey));
        assert_eq!(at(r#"{"a":1,"a":2,"id":3}"#, "/id"), Ok(Some("3".into())));
    }

    #[test]
    fn what_is_odd_but_json_is_readable() {
        for body in [r#"{"n":1E400,"id":1}"#, r#"{"s":"\ud83d","id":1}"#, r#"{"id":1,"z":-0}"#] {
            assert_eq!(at(body, "/id"), Ok(Some("1".into())), "{body}");
        }
        let deep = format!("{{\"d\":{}{},\"id\":1}}", "[".repeat(3_000), "]".repeat(3_000));
        assert_eq!(at(&deep, "/id"), Ok(Some("1".into())));
        assert_eq!(at(r#"{"id":"\ud83d"}"#, "/id"), Ok(None), "half a character is no text");
    }

    #[test]
    fn what_is_not_json_is_not_read() {
        for bad in [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "NaN",
            "01",
            "1.",
            "+1",
            ".5",
            "1e",
            "\"\\x\"",
            "\"\n\"",
            "[1 2]",
            "{} {}",
            "[}",
            "{]",
            "tru",
            "\u{feff}{}",
            "'a'",
        ] {
            assert_eq!(Json::check(bad.as_bytes()).map(|_| ()), Err(Unreadable::NotJson), "{bad}");
        }
        let deep = "[".repeat(DEPTH_MAX + 2) + &"]".repeat(DEPTH_MAX + 2);
        assert!(Json::check(deep.as_bytes()).is_err());
        assert!(Json::check(b"\"\xff\"").is_err());
    }

    #[test]
    fn compacting_drops_blanks_outside_of_strings_alone() {
        let json = Json::check(b"{ \"b c\" : [ 1 , \"\\\" \" ] }\n").expect("JSON");
        assert_eq!(compact(json), b"{\"b c\":[1,\"\\\" \"]}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text: Vec<u8>, pointer: String) {
            if let Ok(json) = Json::check(&text) {
                let _ = json.at(&pointer);
            }
        }

        #[test]
        fn nearly_json_makes_no_panic(text in r#"[\[\]{},:"\\u0a1 e.+-]{0,40}"#, pointer in "(/[a0]?){0,3}") {
            if let Ok(json) = Json::check(text.as_bytes()) {
                let _ = json.at(&pointer).map(|value| value.map(|value| (value.text(), value.elements())));
                compact(json);
            }
        }
    }
}
