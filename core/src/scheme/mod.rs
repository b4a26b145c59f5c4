//! Signature schemes as data, and one parser, one verifier and one signer for all of them.
//!
//! A [`Scheme`] is a row: what is signed (and so what is not), where the signature stands and how it
//! is written, the form of the key, the clock. A provider adds a row and cases, not code, unless its
//! algorithm is new. A user declares a row of the same type for a provider that is not listed.
//!
//! ```text
//! Secret texts + Scheme  →  Verifier    Verifier + Request + Time  →  Verified | Refusal
//!                                       Verifier + Message + now   →  signature headers
//! ```
//!
//! Verification is strict by construction. Bytes come in as received; header names are compared
//! without case; every field line and every list member is a candidate, and one malformed candidate
//! never blocks a good one; each candidate is held against each live secret in constant time. The
//! refusals are a closed list ([`Refusal`]). Nothing panics, and work is bounded by [`CANDIDATES_MAX`]
//! and the size of the request.
//!
//! [`Verified`] can only be made by a verification: a receiver that demands one cannot store first.

mod apart;
mod candidate;
mod content;
mod embedded;
pub mod explain;
mod facts;
mod fields;
pub mod handshake;
mod key;
mod message;
mod probe;
mod refusal;
mod rows;
mod secret;
mod sfv;
mod sign;
mod template;
mod url_forms;
mod verify;

use alloc::borrow::Cow;

pub use facts::{Facts, Side, Signs, Tolerance};
pub use fields::{Field, Request};
pub use key::{decode_secret, digest_matches, mac, sign_ed25519, verify_raw};
pub use message::{HttpSignature, content_digest_matches};
pub use refusal::{BadScheme, BadSecret, Refusal};
pub use rows::{ALIASES, UNSUPPORTED, Unsupported, all, named};
pub use secret::{Secret, Window};
pub use sign::{Message, SignError};
pub use template::parse_template;
pub use verify::{Time, Verified, Verifier};

use crate::instant::Unit;

/// Text of a row: static where it ships with us, owned where a user declared it.
pub type Text = Cow<'static, str>;
/// A list of a row.
pub type List<T> = Cow<'static, [T]>;

/// One way of signing a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The name by which cases and configurations call it; unique.
    pub name: Text,
    /// Who uses it.
    pub provider: Text,
    /// How the content and the candidates are found.
    pub construction: Construction,
    /// What makes a tag out of content and key.
    pub algorithm: Algorithm,
    /// How a secret's text becomes a key.
    pub key: KeyForm,
    /// The window around the signed time; `None` where nothing signs one.
    pub tolerance: Option<Tolerance>,
    /// What a user must know besides.
    pub facts: Facts,
}

/// How the signed content and the candidate tags are found in a request.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every row is a template, and rows are static"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Construction {
    /// Parts of the request joined to one text, the tags in headers.
    Template(Template),
    /// Adyen payments: eight fields of each item of the body, joined by colons, the tag in the item.
    AdyenItems,
    /// Mailgun: timestamp and token of the body, the tag in the body; the event is not signed.
    Mailgun,
    /// HTTP message signatures (RFC 9421), with `Content-Digest` (RFC 9530) recomputed where it is
    /// covered or present.
    HttpMessage,
}

/// Parts of a request joined to one text, the tags in headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Header names; the first set whose signature header is present counts as a whole.
    pub names: List<Names>,
    /// How tags stand in a field line.
    pub grammar: Grammar,
    /// How a tag is written.
    pub encoding: Encoding,
    /// The parts that are signed, in order.
    pub signed: List<Part>,
    /// Where the signed time stands, and its unit.
    pub clock: Option<(Place, Unit)>,
    /// Headers that say exactly this where they are present.
    pub fixed: List<(Text, Text)>,
    /// A query parameter that must be the hexadecimal SHA-256 of the body.
    pub body_sha256_query: Option<Text>,
}

/// The header names of one spelling of a scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Where the tags are.
    pub signature: Carrier,
    /// The delivery id, signed or not (see [`Scheme::signs`]).
    pub id: Option<Text>,
    /// The time, where it is a header of its own.
    pub timestamp: Option<Text>,
}

/// Which headers carry tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// One header.
    One(Text),
    /// Several headers, each with a tag of its own (one a key).
    Each(List<Text>),
    /// Headers of this prefix and a number, one a key.
    Numbered(Text),
}

/// How tags stand in a field line. Blanks around members are no part of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// The whole value, behind a prefix. Two different values under one name are ambiguous.
    Single {
        /// What stands before the tag; may be empty.
        prefix: Text,
    },
    /// `sha256=…`, the method naming the algorithm (`WebSub`).
    Method,
    /// Members separated by blanks, each `version,tag`; other versions are skipped.
    Versions {
        /// The version that counts.
        version: Text,
    },
    /// Members `key=value` with a separator; unknown keys are skipped.
    Pairs {
        /// Between members.
        separator: u8,
        /// Whether a writer puts a blank behind it.
        spaced: bool,
        /// The key of the time, where it stands here.
        timestamp: Option<Text>,
        /// The keys of tags.
        tags: List<Text>,
        /// The key of the names of signed headers (separated by blanks), where they are signed.
        headers: Option<Text>,
    },
}

/// How a tag is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Exactly two hexadecimal digits a byte, in either case.
    Hex,
    /// Canonical, padded base64.
    Base64,
    /// Either of the two, told apart by length.
    HexOrBase64,
    /// The text itself (a shared token).
    Plain,
}

/// A part of the signed content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Fixed text.
    Text(Text),
    /// The delivery id of [`Names::id`].
    Id,
    /// The time, as it is written in the request.
    Timestamp,
    /// The body as received.
    Body,
    /// The body, a JSON text, without blanks outside of strings.
    CompactBody,
    /// The URL, in any of the spellings that the provider signs.
    Url(UrlForm),
    /// The path and query of the URL.
    Path,
    /// The same, percent-encoded once more, the query twice (Contentful).
    EncodedPath,
    /// The method.
    Method,
    /// Form parameters: sorted pairs, each once, names and values joined without separators.
    FormParams,
    /// The text of the `headers` member, and the values of the headers it names, all joined by dots.
    NamedHeaders,
    /// `name:value` of each header named in this header, sorted, joined by semicolons (Contentful).
    ListedHeaders(Text),
    /// The value of this header.
    Header(Text),
}

/// Which spellings of the URL a provider may have signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UrlForm {
    /// The configured URL, byte for byte.
    Exact,
    /// With and without the port, `'` or `%27` in the query (Twilio).
    Twilio,
    /// As it is, or with some escapes decoded (`HubSpot`).
    HubSpot,
}

/// Where the signed time stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the header [`Names::timestamp`].
    Header,
    /// In the signature header, under its key.
    Member,
    /// In the signed JSON body, at this pointer; read after the signature has matched.
    Body(Text),
}

/// What makes a tag out of content and key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// HMAC with SHA-1 (RFC 2104): legacy.
    HmacSha1,
    /// HMAC with SHA-256.
    HmacSha256,
    /// HMAC with SHA-384.
    HmacSha384,
    /// HMAC with SHA-512.
    HmacSha512,
    /// SHA-256 over secret and content: open to length extension (`HubSpot` v1, v2).
    Sha256Concat,
    /// Ed25519 (RFC 8032), strict: canonical, no small order.
    Ed25519,
    /// ECDSA with P-256 and SHA-256, the signature in DER.
    EcdsaP256Der,
    /// ECDSA with P-256 and SHA-256, the signature as r and s.
    EcdsaP256Raw,
    /// No signature: a shared token in the clear.
    Token,
}

/// How a secret's text becomes a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// The text's own bytes, a prefix included.
    Text,
    /// Canonical base64 behind an optional prefix; at least [`KEY_BYTES_MIN`] bytes.
    Base64 {
        /// What may stand before it; may be empty.
        prefix: Text,
    },
    /// Hexadecimal.
    Hex,
    /// A public key: `whpk_` and base64, hexadecimal, base64, or PEM. Signers take `whsk_`.
    Ed25519Public,
    /// A public key: base64 of a `SubjectPublicKeyInfo`, or PEM.
    P256Public,
}

impl Scheme {
    /// A template over the body alone, in one header: the most common scheme.
    pub fn body_only(name: Text, header: Text, encoding: Encoding, key: KeyForm) -> Self {
        Self {
            name,
            provider: Cow::Borrowed("your own"),
            construction: Construction::Template(Template {
                names: Cow::Owned(alloc::vec![Names {
                    signature: Carrier::One(header),
                    id: None,
                    timestamp: None
                }]),
                grammar: Grammar::Single { prefix: Cow::Borrowed("") },
                encoding,
                signed: Cow::Owned(alloc::vec![Part::Body]),
                clock: None,
                fixed: Cow::Borrowed(&[]),
                body_sha256_query: None,
            }),
            algorithm: Algorithm::HmacSha256,
            key,
            tolerance: None,
            facts: Facts::declared(),
        }
    }

    /// What is signed. For HTTP message signatures this depends on the request, so nothing is said.
    pub fn signs(&self) -> Signs {
        match &self.construction {
            Construction::Template(template) => template.signs(self.algorithm),
            Construction::AdyenItems | Construction::HttpMessage => Signs::default(),
            Construction::Mailgun => Signs { time: true, ..Signs::default() },
        }
    }

    /// The header with the delivery id, signed or not.
    pub fn id_header(&self) -> Option<&str> {
        match &self.construction {
            Construction::Template(template) => template.names.first()?.id.as_deref(),
            Construction::AdyenItems | Construction::Mailgun | Construction::HttpMessage => None,
        }
    }

    /// Whether one request can carry a tag for each live secret.
    pub fn signs_with_all(&self) -> bool {
        match &self.construction {
            Construction::Template(template) => {
                matches!(template.grammar, Grammar::Versions { .. } | Grammar::Pairs { .. })
                    || !matches!(
                        template.names.first().map(|n| &n.signature),
                        Some(Carrier::One(_))
                    )
            }
            Construction::HttpMessage => true,
            Construction::AdyenItems | Construction::Mailgun => false,
        }
    }
}

impl Template {
    fn signs(&self, algorithm: Algorithm) -> Signs {
        if algorithm == Algorithm::Token {
            return Signs::default();
        }
        let has = |test: fn(&Part) -> bool| self.signed.iter().any(test);
        Signs {
            body: has(|part| matches!(part, Part::Body | Part::CompactBody | Part::FormParams))
                || self.body_sha256_query.is_some(),
            id: has(|part| matches!(part, Part::Id)),
            time: has(|part| matches!(part, Part::Timestamp))
                || (has(|part| matches!(part, Part::ListedHeaders(_))) && self.clock.is_some())
                || (matches!(self.clock, Some((Place::Body(_), _))) && self.signs_json()),
            url: has(|part| matches!(part, Part::Url(_) | Part::Path | Part::EncodedPath)),
            method: has(|part| matches!(part, Part::Method)),
        }
    }

    /// Whether each value of a JSON body is signed.
    fn signs_json(&self) -> bool {
        let is_json = |part: &Part| matches!(part, Part::Body | Part::CompactBody);
        self.signed.iter().any(is_json) || self.body_sha256_query.is_some()
    }
}

/// How many well-formed candidates are looked at, over all field lines; asymmetric ones cost more.
pub const CANDIDATES_MAX: usize = 256;
/// The same for signatures that need a public key.
pub const SIGNATURES_MAX: usize = 16;
/// The longest field line that is parsed, in bytes.
pub const LINE_BYTES_MAX: usize = 65_536;
/// The shortest key that a base64 secret may decode to, in bytes.
pub const KEY_BYTES_MIN: usize = 16;
