//! Why a request is refused, and why a configuration is: closed lists.

use core::fmt;

use crate::json::Unreadable;

/// Why a request is refused. The peer's fault; nothing of it is stored (R2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// A header that the scheme needs is absent or empty.
    MissingHeader,
    /// Two different values stand under one name.
    AmbiguousHeader,
    /// A header does not follow the scheme's grammar, and there is no other candidate.
    Malformed,
    /// No candidate matches any live secret.
    NoMatch,
    /// The time is not written as the scheme writes times.
    BadTimestamp,
    /// The signed time lies too far back.
    TooOld,
    /// The signed time lies too far ahead.
    TooNew,
    /// No usable secret is configured: our fault, answered like a mismatch.
    BadSecret,
    /// The scheme cannot take from the body what it signs.
    BadBody,
}

impl Refusal {
    /// Every reason there is.
    pub const ALL: [Self; 9] = [
        Self::MissingHeader,
        Self::AmbiguousHeader,
        Self::Malformed,
        Self::NoMatch,
        Self::BadTimestamp,
        Self::TooOld,
        Self::TooNew,
        Self::BadSecret,
        Self::BadBody,
    ];

    /// The word used in cases, logs and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MissingHeader => "missing_header",
            Self::AmbiguousHeader => "ambiguous_header",
            Self::Malformed => "malformed",
            Self::NoMatch => "no_match",
            Self::BadTimestamp => "bad_timestamp",
            Self::TooOld => "too_old",
            Self::TooNew => "too_new",
            Self::BadSecret => "bad_secret",
            Self::BadBody => "bad_body",
        }
    }

    /// What the peer is answered.
    pub const fn http_status(self) -> u16 {
        match self {
            Self::BadBody => 400,
            Self::MissingHeader
            | Self::AmbiguousHeader
            | Self::Malformed
            | Self::NoMatch
            | Self::BadTimestamp
            | Self::TooOld
            | Self::TooNew
            | Self::BadSecret => 401,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl core::error::Error for Refusal {}

impl From<Unreadable> for Refusal {
    fn from(_: Unreadable) -> Self {
        Self::BadBody
    }
}

/// Why a secret cannot be used: a fault of the configuration, found before the first request. Says
/// nothing of the secret itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BadSecret {
    /// Nothing, or blanks only.
    Empty,
    /// Blanks or line ends around it: from a file, a secret store or a paste.
    SurroundingBlanks,
    /// Not canonical, padded base64 (RFC 4648 section 4).
    NotBase64,
    /// Not hexadecimal.
    NotHex,
    /// Shorter than the scheme allows, in bytes.
    TooShort(usize),
    /// Not a key of this algorithm.
    NotAKey,
}

impl fmt::Display for BadSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the secret is empty or blank"),
            Self::SurroundingBlanks => {
                f.write_str("the secret has whitespace around it, perhaps from a file or a paste")
            }
            Self::NotBase64 => f.write_str(
                "the secret is not standard, padded base64: URL-safe letters or a lost `=`, perhaps",
            ),
            Self::NotHex => f.write_str("the secret is not hexadecimal"),
            Self::TooShort(bytes) => {
                write!(f, "the secret has {bytes} bytes, at least {} are needed", super::KEY_BYTES_MIN)
            }
            Self::NotAKey => f.write_str("the text is not a key of this algorithm"),
        }
    }
}

impl core::error::Error for BadSecret {}

/// Why a declared scheme cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BadScheme {
    /// The template has a brace that does not close, or an unknown name in braces.
    Template,
    /// The template signs a time or an id that no header is named for.
    MissingName,
    /// Neither body nor anything else of the request is signed.
    SignsNothing,
    /// The algorithm does not go with the form of the key.
    KeyForm,
    /// A header name is none, stands for two things, or frames the request.
    Header,
    /// A list of these words could not be taken apart again.
    List,
    /// The place of the time in the body is no JSON pointer.
    Pointer,
    /// What the scheme signs does not verify.
    RoundTrip,
    /// The name is none, or that of a scheme that ships.
    Name,
    /// A time is read where the signature does not reach.
    UnsignedTime,
    /// The signed text could be taken apart in two ways.
    Ambiguous,
    /// A shared token cannot vouch for a time.
    Token,
}

impl fmt::Display for BadScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Template => "the template has an unknown or unclosed {name}",
            Self::MissingName => "the template signs a time or an id that no header is named for",
            Self::SignsNothing => "the template signs nothing of the request",
            Self::KeyForm => "the algorithm does not go with the form of the key",
            Self::Header => "a header name is none, stands for two things, or frames the request",
            Self::List => "a list of these words could not be taken apart again",
            Self::Pointer => "the place of the time in the body is no JSON pointer",
            Self::RoundTrip => "a message that the scheme signs does not verify under it",
            Self::Name => "the name is none, or that of a scheme that ships",
            Self::UnsignedTime => "a time that is not signed can be changed by anybody",
            Self::Ambiguous => {
                "the signed text can be taken apart in two ways, so one tag is good for two requests"
            }
            Self::Token => "a shared token signs nothing, so no time either",
        })
    }
}

impl core::error::Error for BadScheme {}
