//! A request as people paste it out of a log: header lines, or all of it in one file.

use std::fmt;

use hookproof_conformance::cases::request_headers;
use hookproof_core::scheme::{Field, Request};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

/// A request, or a signed response, as it came in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    /// Every field line in order.
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    /// The bytes behind the blank line.
    pub(crate) body: Vec<u8>,
    /// Of the request line.
    pub(crate) method: Option<String>,
    /// Absolute; put together from the request line and `Host` where it was not.
    pub(crate) url: Option<String>,
    /// Of a response.
    pub(crate) status: Option<u16>,
}

/// A line that is no header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadLine {
    line: usize,
    why: &'static str,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl Received {
    /// Header lines alone, or a JSON list of pairs, or a JSON object. A request line may come first.
    pub(crate) fn from_headers(bytes: &[u8]) -> Result<Self, BadLine> {
        if let Some(received) = from_json(bytes)? {
            return Ok(received);
        }
        let (received, rest, line) = Self::head(bytes)?;
        if rest.trim_ascii().is_empty() {
            Ok(received)
        } else {
            Err(BadLine { line, why: "expected only headers: a body goes with --request FILE" })
        }
    }

    /// A whole request: an optional request line, headers, a blank line, and the body to the end of
    /// the file, byte for byte.
    pub(crate) fn from_request(bytes: &[u8]) -> Result<Self, BadLine> {
        let (received, body, _) = Self::head(bytes)?;
        Ok(Self { body: body.to_vec(), ..received })
    }

    /// The field lines as a verifier takes them.
    pub(crate) fn lines(&self) -> Vec<Field<'_>> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect()
    }

    /// The request as a verifier takes it.
    pub(crate) fn request<'a>(&'a self, lines: &'a [Field<'a>]) -> Request<'a> {
        Request {
            headers: lines,
            body: &self.body,
            method: self.method.as_deref(),
            url: self.url.as_deref(),
            status: self.status,
            form: None,
        }
    }

    /// Why the body is not as it came in, or may not be where others read it.
    pub(crate) fn misframed(&self) -> Option<String> {
        let length = self.body.len().to_string();
        let values = |name: &'static str| {
            let of_name = move |(other, _): &&(String, Vec<u8>)| other.eq_ignore_ascii_case(name);
            self.headers.iter().filter(of_name).map(|(_, value)| value.trim_ascii())
        };
        // As a number: zeros may stand in front of it.
        let same = |said: &[u8]| {
            let zeros = said.iter().take_while(|digit| **digit == b'0').count();
            let digits = if said.is_empty() || zeros < said.len() { &said[zeros..] } else { b"0" };
            digits == length.as_bytes()
        };
        let other = values("content-length").find(|said| !same(said));
        if let Some(said) = other {
            let said = String::from_utf8_lossy(said);
            return Some(format!(
                "the body has {length} bytes, where Content-Length says {said}: it is not as it came in"
            ));
        }
        let both = values("content-length").next().and(values("transfer-encoding").next());
        both.map(|_| {
            "Content-Length stands beside Transfer-Encoding: a server refuses such a request, since \
             readers differ in where the body ends"
                .to_owned()
        })
    }

    /// The first value under a name, as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.and_then(|(_, value)| std::str::from_utf8(value).ok()).map(str::trim)
    }

    /// What stands before the blank line, what comes after it, and the number of its first line.
    fn head(bytes: &[u8]) -> Result<(Self, &[u8], usize), BadLine> {
        let mut received = Self::default();
        let mut target = None;
        let (mut rest, mut number) = (bytes, 0);
        let mut begun = false;
        while !rest.is_empty() {
            let (line, after) = first_line(rest);
            rest = after;
            number += 1;
            if line.is_empty() {
                if begun {
                    break;
                }
                continue;
            }
            if !begun && let Some(start) = StartLine::of(line) {
                match start {
                    StartLine::Status(status) => received.status = Some(status),
                    StartLine::Request { method, url } => {
                        (received.method, target) = (Some(method), Some(url));
                    }
                }
            } else if let Some(value) = line.strip_prefix(b":method:") {
                received.method = Some(String::from_utf8_lossy(value.trim_ascii()).into_owned());
            } else if !line.starts_with(b":") {
                received.headers.push(field(line, number)?);
            }
            begun = true;
        }
        received.url = target.and_then(|target| received.absolute(&target));
        Ok((received, rest, number + 1))
    }

    /// The URL of a target, by `Host` and https where it is a path.
    fn absolute(&self, target: &str) -> Option<String> {
        if target.contains("://") {
            return Some(target.to_owned());
        }
        Some(format!("https://{}{target}", self.header("host")?))
    }
}

/// What stands before the headers.
enum StartLine {
    Request { method: String, url: String },
    Status(u16),
}

impl StartLine {
    fn of(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let words: Vec<&str> = line.split(' ').collect();
        let is_target = |word: &str| word.starts_with('/') || word.contains("://");
        match words.as_slice() {
            [version, status, ..] if version.starts_with("HTTP/") => {
                status.parse().ok().map(Self::Status)
            }
            [method, url] | [method, url, _] if is_token(method.as_bytes()) && is_target(url) => {
                Some(Self::Request { method: (*method).to_owned(), url: (*url).to_owned() })
            }
            _ => None,
        }
    }
}

/// The first line without its end, and what follows.
fn first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (line, rest) = match end {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &bytes[bytes.len()..]),
    };
    (line.strip_suffix(b"\r").unwrap_or(line), rest)
}

fn field(line: &[u8], number: usize) -> Result<(String, Vec<u8>), BadLine> {
    let wrong = |why| BadLine { line: number, why };
    if line.starts_with(b" ") || line.starts_with(b"\t") {
        return Err(wrong(
            "expected a header from the start of the line: undo the indent, or join the folded line \
             with the one before",
        ));
    }
    let colon = line.iter().position(|byte| *byte == b':');
    let colon = colon.ok_or_else(|| wrong("expected `Name: value`"))?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    if !is_token(name) {
        return Err(wrong("expected a header's name before the colon, without blanks"));
    }
    Ok((String::from_utf8_lossy(name).into_owned(), value.trim_ascii().to_vec()))
}

/// Whether this is a header's name or a method (RFC 9110 section 5.6.2).
pub(crate) fn is_token(text: &[u8]) -> bool {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(is_token)
}

/// Headers as JSON, the way that many logs have them.
fn from_json(bytes: &[u8]) -> Result<Option<Received>, BadLine> {
    if !bytes.trim_ascii_start().starts_with(b"[") && !bytes.trim_ascii_start().starts_with(b"{") {
        return Ok(None);
    }
    let wrong = BadLine {
        line: 1,
        why: "expected header lines, or JSON: an object, or a list of pairs of texts",
    };
    let JsonLines(lines) = serde_json::from_slice(bytes).map_err(|_| wrong.clone())?;
    let headers = request_headers(Some(&Value::Array(lines))).map_err(|_| wrong)?;
    Ok(Some(Received { headers, ..Received::default() }))
}

/// Pairs of a list, or the members of an object: a name that stands there twice is two lines.
struct JsonLines(Vec<Value>);

impl<'de> Deserialize<'de> for JsonLines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LinesVisitor)
    }
}

struct LinesVisitor;

impl<'de> Visitor<'de> for LinesVisitor {
    type Value = JsonLines;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object, or a list of pairs of texts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonLines, A::Error> {
        let mut lines = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            lines.push(json!([name, value]));
        }
        Ok(JsonLines(lines))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonLines, A::Error> {
        let mut lines = Vec::new();
        while let Some(line) = list.next_element()? {
            lines.push(line);
        }
        Ok(JsonLines(lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_request_is_taken_apart_and_its_body_is_untouched() {
        for end in ["\r\n", "\n"] {
            let head =
                ["", "POST /in?a=1 HTTP/1.1", "Host: hooks.example", "X-A:  1 ", "x-a: é", ""];
            let text = [&head.join(end), end, "{\r\n}\n\n"].concat();
            let received = Received::from_request(text.as_bytes()).unwrap();
            assert_eq!(received.body, b"{\r\n}\n\n");
            assert_eq!(received.method.as_deref(), Some("POST"));
            assert_eq!(received.url.as_deref(), Some("https://hooks.example/in?a=1"));
            let values: Vec<&[u8]> = received.lines().iter().map(|(_, value)| *value).collect();
            assert_eq!(values, [&b"hooks.example"[..], b"1", "é".as_bytes()]);
        }
    }

    #[test]
    fn headers_come_as_lines_or_json_and_a_response_has_a_status() {
        let lines = Received::from_headers(b"A: 1\nB: x:y\n\n").unwrap();
        let json = Received::from_headers(br#"[["A","1"],["B","x:y"]]"#).unwrap();
        assert_eq!(lines, json);
        let twice = Received::from_headers(br#"{"A":"1","B":"x","A":"2"}"#).unwrap();
        assert_eq!(twice, Received::from_headers(b"A: 1\nB: x\nA: 2").unwrap());
        assert_eq!(Received::from_headers(b"HTTP/1.1 503 No\nA: 1").unwrap().status, Some(503));
        let two = Received::from_headers(b":method: POST\n:path: /\nA: 1").unwrap();
        assert_eq!((two.method.as_deref(), two.headers.len()), (Some("POST"), 1));
    }

    #[test]
    fn a_body_of_another_length_than_was_said_is_noticed() {
        let of = |head: &str| {
            Received::from_request(format!("{head}\n\n1234567").as_bytes()).unwrap().misframed()
        };
        assert_eq!(of("A: 1"), None);
        assert_eq!(of("Content-Length: 7"), None);
        assert_eq!(of("Content-Length: 0000007"), None);
        assert!(of("Content-Length: 99").is_some_and(|said| said.contains("says 99")));
        assert!(of("Content-Length: 7\ncontent-length: 8").is_some());
        assert!(of("Content-Length: 7\nTransfer-Encoding: chunked").is_some());
    }

    #[test]
    fn what_is_no_header_is_said_with_its_line() {
        let line = |text: &str| Received::from_headers(text.as_bytes()).unwrap_err().line;
        assert_eq!(line("A: 1\nB\n"), 2);
        assert_eq!(line("A: 1\n folded\n"), 2);
        assert_eq!(line("A : 1"), 1);
        assert_eq!(line("A: 1\n\nbody"), 3);
        assert_eq!(line("{not json"), 1);
    }
}
