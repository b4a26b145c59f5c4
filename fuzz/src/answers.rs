//! What receivers and users say: `Retry-After`, tolerances, headers to add.

use hookproof_core::{answer, header};

/// The input is field lines; the first two are also the name and value of a header to add.
pub fn run(data: &[u8]) {
    let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    retry_after(&lines);
    let text = |at: usize| lines.get(at).and_then(|line| str::from_utf8(line).ok());
    if let (Some(name), Some(value)) = (text(0), text(1)) {
        custom(name, value);
    }
    if let Some(text) = text(0) {
        let number = text.parse::<u32>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
        let short = text.len() <= 19;
        let expected = number.filter(|seconds| short && *seconds <= answer::TOLERANCE_MAX_S);
        assert_eq!(answer::tolerance(text), expected);
    }
}

/// Clamped, the largest of the lines, whatever their order; junk lines change nothing.
fn retry_after(lines: &[&[u8]]) {
    let wait = answer::retry_after(lines.iter().copied(), NOW, CAP_S);
    assert!(wait.is_none_or(|wait| wait <= CAP_S));
    assert_eq!(answer::retry_after(lines.iter().rev().copied(), NOW, CAP_S), wait);
    let with_junk = lines.iter().copied().chain([&b"soon"[..], b"-1", b""]);
    assert_eq!(answer::retry_after(with_junk, NOW, CAP_S), wait);
    let each = lines.iter().filter_map(|line| answer::retry_after([*line], NOW, CAP_S));
    assert_eq!(each.max(), wait);
}

/// What is accepted is a header to an HTTP library too, and arrives as it was written.
fn custom(name: &str, value: &str) {
    if header::custom(name, value).is_err() {
        return;
    }
    let theirs = http::HeaderName::from_bytes(name.as_bytes()).expect("a name");
    assert_eq!(http::HeaderValue::from_str(value).expect("a value"), value);
    assert_eq!(answer::trim(value.as_bytes()), value.as_bytes());
    for framing in [http::header::HOST, http::header::CONTENT_LENGTH, http::header::TE] {
        assert_ne!(theirs, framing);
    }
    assert_eq!(header::custom(&name.to_uppercase(), value), Ok(()));
}

const NOW: i64 = 1_700_000_000;
const CAP_S: u64 = 86_400;
