//! Strict hexadecimal and base64: one text for one value, and nothing that only looks like it.
//!
//! A lenient decoder skips what it does not know, so a valid tag followed by junk passes and a bad
//! secret becomes an empty key. Here a text decodes whole or not at all.

use alloc::{string::String, vec::Vec};

/// Decodes exactly `out.len()` bytes of hexadecimal, digits in either case; false for anything else.
pub fn hex_into(text: &[u8], out: &mut [u8]) -> bool {
    if text.len() != out.len() * 2 {
        return false;
    }
    let mut bad = 0;
    for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
        let (high, low) = (HEX[usize::from(pair[0])], HEX[usize::from(pair[1])]);
        bad |= high | low;
        *byte = (high << 4) | (low & 15);
    }
    bad & 0x80 == 0
}

/// Decodes hexadecimal of any even length.
pub fn hex(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = alloc::vec![0; text.len() / 2];
    hex_into(text, &mut out).then_some(out)
}

/// Decodes padded, canonical base64 (RFC 4648 section 4) into the front of `out`; the number of
/// bytes, or `None` where the text is not base64 or does not fit.
pub fn base64_into(text: &[u8], out: &mut [u8]) -> Option<usize> {
    if text.is_empty() {
        return Some(0);
    }
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let (whole, last) = text.split_at(text.len() - 4);
    let mut written = 0;
    let mut bad = 0;
    for quad in whole.chunks_exact(4) {
        let place = out.get_mut(written..written + 3)?;
        bad |= triple(quad, place);
        written += 3;
    }
    let pad = last.iter().rev().take_while(|byte| **byte == b'=').count();
    let mut quad = [b'A'; 4];
    let kept = 4_usize.checked_sub(pad).filter(|kept| *kept >= 2)?;
    quad[..kept].copy_from_slice(&last[..kept]);
    let mut bytes = [0; 3];
    bad |= triple(&quad, &mut bytes);
    let (given, unused) = bytes.split_at(3 - pad);
    if bad & 0x80 != 0 || unused.iter().any(|byte| *byte != 0) {
        return None;
    }
    out.get_mut(written..written + given.len())?.copy_from_slice(given);
    Some(written + given.len())
}

/// Decodes padded, canonical base64 of any length.
pub fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = alloc::vec![0; text.len() / 4 * 3];
    let written = base64_into(text, &mut out)?;
    out.truncate(written);
    Some(out)
}

/// Writes lower-case hexadecimal.
pub fn to_hex(bytes: &[u8]) -> String {
    let digits = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(digits[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Writes padded base64 into a place that is long enough; the part that was written.
///
/// # Panics
///
/// Where the place is shorter than four bytes for each three begun.
pub fn base64_text<'p>(bytes: &[u8], place: &'p mut [u8]) -> &'p [u8] {
    let length = bytes.len().div_ceil(3) * 4;
    for (chunk, quad) in bytes.chunks(3).zip(place[..length].chunks_exact_mut(4)) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (at, letter) in quad.iter_mut().enumerate() {
            *letter = ALPHABET[(bits >> (18 - 6 * at) & 63) as usize];
        }
        quad[chunk.len() + 1..].fill(b'=');
    }
    &place[..length]
}

/// Writes padded base64.
pub fn to_base64(bytes: &[u8]) -> String {
    let mut place = alloc::vec![0; bytes.len().div_ceil(3) * 4];
    base64_text(bytes, &mut place).iter().map(|letter| char::from(*letter)).collect()
}

/// Three bytes from four characters; bit 7 of the answer is set where a character is not base64.
fn triple(quad: &[u8], out: &mut [u8]) -> u8 {
    let six = |at: usize| SIXES[usize::from(quad[at])];
    let (a, b, c, d) = (six(0), six(1), six(2), six(3));
    out[0] = (a << 2) | ((b & 63) >> 4);
    out[1] = (b << 4) | ((c & 63) >> 2);
    out[2] = (c << 6) | (d & 63);
    a | b | c | d
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SIXES: [u8; 256] = inverse(ALPHABET);
const HEX: [u8; 256] = {
    let mut table = inverse(b"0123456789abcdef");
    let mut digit = b'A';
    while digit <= b'F' {
        table[digit as usize] = digit - b'A' + 10;
        digit += 1;
    }
    table
};

/// The value of each character; 0xff for what is none.
const fn inverse(alphabet: &[u8]) -> [u8; 256] {
    let mut table = [0xff; 256];
    let mut at = 0;
    while at < alphabet.len() {
        table[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hexadecimal_is_whole_or_nothing() {
        assert_eq!(hex(b"00ffAb"), Some(alloc::vec![0, 255, 0xab]));
        for bad in [&b"0"[..], b"0g", b"zz", b"00 ", b"\xc3\xa9", b"0x00"] {
            assert_eq!(hex(bad), None);
        }
        assert!(!hex_into(b"0000", &mut [0; 1]), "too long");
        assert!(!hex_into(b"", &mut [0; 1]), "too short");
    }

    #[test]
    fn base64_has_one_spelling_for_one_value() {
        assert_eq!(base64(b"AA=="), Some(alloc::vec![0]));
        assert_eq!(base64(b""), Some(Vec::new()));
        for bad in
            ["AA", "AA=", "A===", "====", "AB==", "AAB=", "AA==AA==", "-_-_", "AAAA ", "AA=A"]
        {
            assert_eq!(base64(bad.as_bytes()), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(bytes: Vec<u8>) {
            prop_assert_eq!(hex(to_hex(&bytes).as_bytes()), Some(bytes.clone()));
            prop_assert_eq!(base64(to_base64(&bytes).as_bytes()), Some(bytes));
        }

        #[test]
        fn what_reads_is_what_would_be_written(text in "[A-Za-z0-9+/=]{0,12}") {
            if let Some(bytes) = base64(text.as_bytes()) {
                prop_assert_eq!(to_base64(&bytes), text);
            }
        }
    }
}
