//! Keys prepared once, and the tags and signatures that are checked with them.

use alloc::{string::String, vec::Vec};

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use p256::ecdsa::{self, signature::hazmat::PrehashVerifier};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq;

use super::{Algorithm, BadSecret, Grammar, KEY_BYTES_MIN, KeyForm, Scheme};
use crate::codec;

/// A key with everything done that needs no request: an HMAC has absorbed its pads, a plain hash its
/// secret, a public key is on the curve.
#[derive(Clone)]
pub(crate) enum Key {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha384(Hmac<Sha384>),
    Sha512(Hmac<Sha512>),
    Methods(alloc::boxed::Box<[Self; 4]>),
    Concat(Sha256),
    Token(Vec<u8>),
    Ed25519(VerifyingKey, Option<SigningKey>),
    P256 { key: ecdsa::VerifyingKey, der: bool },
}

/// Gives the signed content to a sink, part by part.
pub(crate) type Feed<'a> = &'a dyn Fn(&mut dyn FnMut(&[u8]));

/// A message authentication code of up to 64 bytes.
pub(crate) struct Tag {
    bytes: [u8; 64],
    length: usize,
}

impl Tag {
    fn new(code: &[u8]) -> Self {
        let mut bytes = [0; 64];
        bytes[..code.len()].copy_from_slice(code);
        Self { bytes, length: code.len() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Compares in constant time; another length is no match.
    pub(crate) fn matches(&self, candidate: &[u8]) -> bool {
        same(self.bytes(), candidate)
    }
}

/// Compares texts of one length in constant time: every byte is looked at, and one byte decides.
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let differing = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    core::hint::black_box(differing).ct_eq(&0).into()
}

impl Key {
    /// Makes the key of a secret's text.
    pub(crate) fn prepare(scheme: &Scheme, text: &str) -> Result<Self, BadSecret> {
        match scheme.algorithm {
            Algorithm::Ed25519 => return ed25519(text),
            Algorithm::EcdsaP256Der => return Ok(Self::P256 { key: p256(text)?, der: true }),
            Algorithm::EcdsaP256Raw => return Ok(Self::P256 { key: p256(text)?, der: false }),
            _ => {}
        }
        let key = decode_secret(&scheme.key, text)?;
        if names_its_method(scheme) {
            let each = METHODS.map(|(_, algorithm)| Self::symmetric(algorithm, &key));
            let [Some(a), Some(b), Some(c), Some(d)] = each else { return Err(BadSecret::NotAKey) };
            return Ok(Self::Methods([a, b, c, d].into()));
        }
        Self::symmetric(scheme.algorithm, &key).ok_or(BadSecret::NotAKey)
    }

    fn symmetric(algorithm: Algorithm, key: &[u8]) -> Option<Self> {
        Some(match algorithm {
            Algorithm::HmacSha1 => Self::Sha1(Hmac::new_from_slice(key).ok()?),
            Algorithm::HmacSha256 => Self::Sha256(Hmac::new_from_slice(key).ok()?),
            Algorithm::HmacSha384 => Self::Sha384(Hmac::new_from_slice(key).ok()?),
            Algorithm::HmacSha512 => Self::Sha512(Hmac::new_from_slice(key).ok()?),
            Algorithm::Sha256Concat => Self::Concat(Sha256::new_with_prefix(key)),
            Algorithm::Token => Self::Token(key.to_vec()),
            Algorithm::Ed25519 | Algorithm::EcdsaP256Der | Algorithm::EcdsaP256Raw => return None,
        })
    }

    /// The key for the algorithm that a candidate names; itself where candidates name none.
    pub(crate) fn for_method(&self, method: Option<Algorithm>) -> Option<&Self> {
        match (self, method) {
            (Self::Methods(keys), Some(method)) => {
                keys.get(METHODS.iter().position(|(_, algorithm)| *algorithm == method)?)
            }
            (Self::Methods(_), None) => None,
            (_, _) => Some(self),
        }
    }

    /// The tag of the content; `None` for a key that makes none.
    pub(crate) fn tag(&self, feed: Feed<'_>) -> Option<Tag> {
        Some(match self {
            Self::Sha1(mac) => code(mac, feed),
            Self::Sha256(mac) => code(mac, feed),
            Self::Sha384(mac) => code(mac, feed),
            Self::Sha512(mac) => code(mac, feed),
            Self::Concat(hash) => {
                let mut hash = hash.clone();
                feed(&mut |bytes| hash.update(bytes));
                Tag::new(&hash.finalize())
            }
            Self::Methods(_) | Self::Token(_) | Self::Ed25519(..) | Self::P256 { .. } => {
                return None;
            }
        })
    }

    /// Whether tags are compared, or signatures verified.
    pub(crate) const fn is_symmetric(&self) -> bool {
        !matches!(self, Self::Ed25519(..) | Self::P256 { .. })
    }

    /// How many bytes a tag or signature has; `None` where that varies.
    pub(crate) fn tag_bytes(&self) -> Option<usize> {
        match self {
            Self::Sha1(_) => Some(20),
            Self::Sha256(_) | Self::Concat(_) => Some(32),
            Self::Sha384(_) => Some(48),
            Self::Sha512(_) | Self::Ed25519(..) | Self::P256 { der: false, .. } => Some(64),
            Self::Methods(_) | Self::Token(_) | Self::P256 { der: true, .. } => None,
        }
    }

    /// Whether a signature over the message verifies, or the shared token is the one.
    pub(crate) fn verifies(&self, message: &[u8], candidate: &[u8]) -> bool {
        match self {
            Self::Ed25519(key, _) => Signature::from_slice(candidate)
                .is_ok_and(|signature| key.verify_strict(message, &signature).is_ok()),
            Self::P256 { key, der } => {
                let signature = if *der {
                    ecdsa::Signature::from_der(candidate)
                } else {
                    ecdsa::Signature::from_slice(candidate)
                };
                let hash = Sha256::digest(message);
                signature.is_ok_and(|signature| key.verify_prehash(&hash, &signature).is_ok())
            }
            Self::Token(token) => same(token, candidate),
            _ => self.tag(&|sink| sink(message)).is_some_and(|tag| tag.matches(candidate)),
        }
    }

    /// The tag, signature or token for a message; `None` where only a verification is possible.
    pub(crate) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Ed25519(_, Some(key)) => Some(key.sign(message).to_bytes().to_vec()),
            Self::Token(token) => Some(token.clone()),
            _ => Some(self.tag(&|sink| sink(message))?.bytes().to_vec()),
        }
    }
}

/// The bytes of the key that a secret's text stands for, or why it stands for none.
///
/// A text with blanks around it is refused rather than trimmed: it comes from a file or a paste, and
/// the other side may have signed with the blanks. The line ends of a PEM block are no part of its key.
pub fn decode_secret(form: &KeyForm, text: &str) -> Result<Vec<u8>, BadSecret> {
    if text.chars().all(|c| c.is_whitespace() || c.is_control()) {
        return Err(BadSecret::Empty);
    }
    let bare = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    let is_pem = matches!(form, KeyForm::Ed25519Public | KeyForm::P256Public)
        && bare.starts_with(PEM_BEGINS);
    let text = if is_pem { bare } else { text };
    if bare != text {
        return Err(BadSecret::SurroundingBlanks);
    }
    match form {
        KeyForm::Text => Ok(text.as_bytes().to_vec()),
        KeyForm::Hex => codec::hex(text.as_bytes()).ok_or(BadSecret::NotHex),
        KeyForm::Base64 { prefix } => {
            let inner = text.strip_prefix(&**prefix).unwrap_or(text);
            let key = codec::base64(inner.as_bytes()).ok_or(BadSecret::NotBase64)?;
            if key.len() < KEY_BYTES_MIN {
                return Err(BadSecret::TooShort(key.len()));
            }
            Ok(key)
        }
        KeyForm::Ed25519Public => ed25519_bytes(text),
        KeyForm::P256Public => Ok(p256(text)?.to_sec1_point(false).as_bytes().to_vec()),
    }
}

/// A bare HMAC of a text: the primitive, for vectors that know no request.
pub fn mac(algorithm: Algorithm, key: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    Some(Key::symmetric(algorithm, key)?.tag(&|sink| sink(text))?.bytes().to_vec())
}

/// A bare Ed25519 signature of a text by the private key of this seed (32 bytes).
pub fn sign_ed25519(seed: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let key = SigningKey::from_bytes(seed.try_into().ok()?);
    Some(key.sign(text).to_bytes().to_vec())
}

/// Whether a bare signature over a text verifies with a public key in one of the texts of its form.
pub fn verify_raw(algorithm: Algorithm, key: &str, text: &[u8], signature: &[u8]) -> bool {
    let key = match algorithm {
        Algorithm::Ed25519 => ed25519(key),
        Algorithm::EcdsaP256Der => p256(key).map(|key| Key::P256 { key, der: true }),
        Algorithm::EcdsaP256Raw => p256(key).map(|key| Key::P256 { key, der: false }),
        _ => Err(BadSecret::NotAKey),
    };
    key.is_ok_and(|key| key.verifies(text, signature))
}

/// Whether a hexadecimal text is the SHA-256 of these bytes.
pub fn digest_matches(hex: &[u8], bytes: &[u8]) -> bool {
    let mut claimed = [0; 32];
    codec::hex_into(hex, &mut claimed) && Tag::new(&Sha256::digest(bytes)).matches(&claimed)
}

/// The algorithm that a method prefix names (`WebSub`).
pub(crate) fn method(name: &[u8]) -> Option<Algorithm> {
    METHODS.iter().find(|(method, _)| method.as_bytes() == name).map(|(_, algorithm)| *algorithm)
}

fn code<M: Mac + Clone>(prepared: &M, feed: Feed<'_>) -> Tag {
    let mut mac = prepared.clone();
    feed(&mut |bytes| mac.update(bytes));
    Tag::new(&mac.finalize().into_bytes())
}

fn names_its_method(scheme: &Scheme) -> bool {
    use super::Construction;
    matches!(&scheme.construction, Construction::Template(t) if t.grammar == Grammar::Method)
}

fn ed25519(text: &str) -> Result<Key, BadSecret> {
    let bytes = decode_secret(&KeyForm::Ed25519Public, text)?;
    if let Ok(pair) = <[u8; 64]>::try_from(&bytes[..]) {
        let key = SigningKey::from_keypair_bytes(&pair).map_err(|_| BadSecret::NotAKey)?;
        return Ok(Key::Ed25519(key.verifying_key(), Some(key)));
    }
    let bytes: [u8; 32] = bytes.try_into().map_err(|_| BadSecret::NotAKey)?;
    let key = VerifyingKey::from_bytes(&bytes).map_err(|_| BadSecret::NotAKey)?;
    Ok(Key::Ed25519(key, None))
}

/// The 32 bytes of a public key, or the 64 of seed and public key behind `whsk_`.
fn ed25519_bytes(text: &str) -> Result<Vec<u8>, BadSecret> {
    let of_length = |bytes: Option<Vec<u8>>, length| match bytes {
        Some(bytes) if bytes.len() == length => Ok(bytes),
        Some(_) => Err(BadSecret::NotAKey),
        None => Err(BadSecret::NotBase64),
    };
    if let Some(pair) = text.strip_prefix("whsk_") {
        return of_length(codec::base64(pair.as_bytes()), 64);
    }
    if let Some(public) = text.strip_prefix("whpk_") {
        return of_length(codec::base64(public.as_bytes()), 32);
    }
    if text.len() == 64
        && let Some(bytes) = codec::hex(text.as_bytes())
    {
        return Ok(bytes);
    }
    let der = der(text).ok_or(BadSecret::NotBase64)?;
    match der.strip_prefix(ED25519_SPKI) {
        Some(public) => of_length(Some(public.to_vec()), 32),
        None => of_length(Some(der), 32),
    }
}

fn p256(text: &str) -> Result<ecdsa::VerifyingKey, BadSecret> {
    let der = der(text).ok_or(BadSecret::NotBase64)?;
    let point = der.strip_prefix(P256_SPKI).ok_or(BadSecret::NotAKey)?;
    ecdsa::VerifyingKey::from_sec1_bytes(point).map_err(|_| BadSecret::NotAKey)
}

/// The bytes of a PEM block, or of bare base64.
fn der(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let Some(rest) = text.strip_prefix(PEM_BEGINS) else {
        return codec::base64(text.as_bytes());
    };
    let inside = rest.strip_suffix("-----END PUBLIC KEY-----")?;
    let inside: String = inside.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    codec::base64(inside.as_bytes())
}

const PEM_BEGINS: &str = "-----BEGIN PUBLIC KEY-----";
const METHODS: [(&str, Algorithm); 4] = [
    ("sha1", Algorithm::HmacSha1),
    ("sha256", Algorithm::HmacSha256),
    ("sha384", Algorithm::HmacSha384),
    ("sha512", Algorithm::HmacSha512),
];
/// What stands before the key in a `SubjectPublicKeyInfo` (RFC 8410).
const ED25519_SPKI: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";
/// What stands before the uncompressed point (RFC 5480).
const P256_SPKI: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";
