//! Hexadecimal and base64: exactly what another strict decoder takes, and one text for one value.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof_core::codec;

/// The input is a text to decode, and the bytes to encode.
pub fn run(data: &[u8]) {
    let theirs = STANDARD.decode(data).ok();
    assert_eq!(codec::base64(data), theirs, "another decoder of base64 disagrees");
    let hex = codec::hex(data);
    assert_eq!(hex, plain_hex(data), "a plain reading of hexadecimal disagrees");
    if let Some(bytes) = hex {
        assert!(codec::to_hex(&bytes).as_bytes().eq_ignore_ascii_case(data));
    }
    let written = codec::to_base64(data);
    assert_eq!(written, STANDARD.encode(data));
    assert_eq!(codec::base64(written.as_bytes()).as_deref(), Some(data));
    assert_eq!(codec::hex(codec::to_hex(data).as_bytes()).as_deref(), Some(data));
    into_a_place(data, theirs.as_deref());
}

/// A place that is too short is refused, and one that is too long is filled in front.
fn into_a_place(text: &[u8], decoded: Option<&[u8]>) {
    let Some(decoded) = decoded else { return };
    let mut place = vec![0; decoded.len() + 1];
    assert_eq!(codec::base64_into(text, &mut place), Some(decoded.len()));
    assert_eq!(&place[..decoded.len()], decoded);
    if let Some(shorter) = decoded.len().checked_sub(1) {
        assert_eq!(codec::base64_into(text, &mut place[..shorter]), None);
    }
}

fn plain_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let digits: Option<Vec<u32>> = text.iter().map(digit).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).ok()).collect()
}
