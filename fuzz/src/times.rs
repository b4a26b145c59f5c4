//! Instants: what we read, other readers read as the same instant, and what they write we read.

use hookproof_core::instant::{self, Instant, Unit};

/// The input is a written instant; its first bytes are also an instant to write.
pub fn run(data: &[u8]) {
    digits(data);
    rfc3339(data);
    http_date(data);
    written(data);
}

fn digits(text: &[u8]) {
    let plain = str::from_utf8(text)
        .ok()
        .filter(|text| (1..=19).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|text| text.parse::<i64>().ok());
    assert_eq!(instant::digits(text), plain);
    let seconds = Instant::parse(text, Unit::Seconds);
    assert_eq!(seconds.map(|at| (at.seconds, at.nanos)), plain.map(|at| (at, 0)));
    let milliseconds = Instant::parse(text, Unit::Milliseconds);
    assert_eq!(milliseconds.and_then(Instant::millis), plain);
}

fn rfc3339(text: &[u8]) {
    let Some(ours) = Instant::parse(text, Unit::Rfc3339) else { return };
    let text = str::from_utf8(text).expect("RFC 3339 is ASCII");
    // A leap second is the next one to us and the one before to others; others read nine digits of
    // a fraction, and fewer years.
    let fraction = text[19..].trim_start_matches('.').bytes().take_while(u8::is_ascii_digit);
    if &text[17..19] == "60" || fraction.count() > 9 || !(1..9_999).contains(&year(text)) {
        return;
    }
    let theirs: jiff::Timestamp = text.parse().expect("RFC 3339 to another reader");
    assert_eq!((ours.seconds, ours.nanos), parts(theirs), "{text:?}");
}

/// The seconds rounded down, and the nanoseconds after them.
fn parts(at: jiff::Timestamp) -> (i64, u32) {
    let nanos = at.as_nanosecond();
    let second = 1_000_000_000;
    (nanos.div_euclid(second) as i64, nanos.rem_euclid(second) as u32)
}

fn year(text: &str) -> i64 {
    text[..4].parse().expect("four digits")
}

fn http_date(text: &[u8]) {
    let Ok(text) = str::from_utf8(text) else {
        assert_eq!(instant::http_date(text, NOW), None);
        return;
    };
    let ours = instant::http_date(text.as_bytes(), NOW);
    let two_digit_year = text.contains('-');
    if let Some(seconds) = ours {
        let day = instant::http_date(text.as_bytes(), NOW).expect("the same twice");
        assert_eq!(day, seconds);
    }
    if let (Some(ours), Ok(theirs)) = (ours, httpdate::parse_http_date(text))
        && !two_digit_year
        && !text.contains(":60")
    {
        let theirs = theirs.duration_since(std::time::UNIX_EPOCH).expect("years from 1970");
        assert_eq!(ours.unsigned_abs(), theirs.as_secs(), "{text:?}");
    }
}

/// Any second up to the end of the year 9999, as others write it.
fn written(data: &[u8]) {
    let Some((front, _)) = data.split_first_chunk() else { return };
    let seconds = u64::from_le_bytes(*front) % 253_402_300_800;
    let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    let date = httpdate::fmt_http_date(at);
    let read = instant::http_date(date.as_bytes(), NOW);
    assert_eq!(read.map(i64::unsigned_abs), Some(seconds), "{date}");
    let timestamp = jiff::Timestamp::from_second(seconds as i64);
    let Ok(timestamp) = timestamp else { return };
    let text = timestamp.to_string();
    assert_eq!(instant::rfc3339(text.as_bytes()).map(|at| at.seconds), Some(seconds as i64));
}

const NOW: i64 = 1_700_000_000;
