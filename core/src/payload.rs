//! Payload bytes: what is stored and delivered is what was received.

use alloc::{string::String, vec::Vec};

/// A payload as a store keeps it: text where a text column can hold it exactly, else bytes.
///
/// Nothing is parsed, trimmed, normalised or scrubbed on the way in or out: the signature covers the
/// bytes, and a re-serialised body is another body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Payload {
    /// UTF-8 without NUL: exact in a text column of any database.
    Text(String),
    /// Everything else.
    Bytes(Vec<u8>),
}

impl Payload {
    /// Keeps received bytes.
    pub fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Self::Text(text),
            Ok(text) => Self::Bytes(text.into_bytes()),
            Err(error) => Self::Bytes(error.into_bytes()),
        }
    }

    /// The bytes to deliver.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_nul_or_a_stray_byte_keeps_text_out_of_text_columns() {
        assert!(matches!(Payload::of(b"{}".to_vec()), Payload::Text(_)));
        assert!(matches!(Payload::of(b"a\0".to_vec()), Payload::Bytes(_)));
        assert!(matches!(Payload::of(b"\xff".to_vec()), Payload::Bytes(_)));
    }

    proptest! {
        #[test]
        fn what_comes_out_is_what_went_in(bytes: Vec<u8>) {
            let payload = Payload::of(bytes.clone());
            prop_assert_eq!(payload.as_bytes(), &bytes[..]);
        }
    }
}
