//! Secrets of endpoints at rest: sealed with a key that the database does not have.
//!
//! A sealed secret is bound to its row, so that nobody can move it to another endpoint. Text and key are in
//! memory only where they are used, and in no message.

use std::{env, fmt, fs, path::Path};

use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use hookproof_core::{Id, codec};
use secrecy::{ExposeSecret as _, SecretBox, SecretString};
use sha2::{Digest as _, Sha256};

use crate::error::Error;

/// What seals secrets on their way to the database.
pub struct Vault(Option<Key>);

/// The key, and by what a sealed secret tells which it was.
struct Key {
    bytes: SecretBox<[u8; KEY_BYTES]>,
    mark: [u8; MARK_BYTES],
}

/// Why there is no vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadKey {
    /// The file with the key cannot be read, for this reason.
    File(String),
    /// The text is no key.
    NotAKey,
}

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(why) => {
                write!(f, "expected a readable file in {FILE_VARIABLE}: {why}")
            }
            Self::NotAKey => write!(
                f,
                "expected {KEY_BYTES} bytes in hexadecimal or base64 in {KEY_VARIABLE} or in the file of \
                 {FILE_VARIABLE}: make them with `openssl rand -hex {KEY_BYTES}`"
            ),
        }
    }
}

impl std::error::Error for BadKey {}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Vault(sealed)" } else { "Vault(open)" })
    }
}

impl Vault {
    /// The key of the environment: in the file that `HOOKPROOF_KEY_FILE` names, else in `HOOKPROOF_KEY`.
    /// Without either, new secrets are stored as they are, and a warning says so.
    pub fn from_environment() -> Result<Self, BadKey> {
        if let Some(path) = env::var_os(FILE_VARIABLE) {
            return Self::from_file(Path::new(&path));
        }
        match env::var(KEY_VARIABLE) {
            Ok(text) => Self::with_key(&SecretString::from(text)),
            Err(env::VarError::NotPresent) => Ok(Self::open()),
            Err(env::VarError::NotUnicode(_)) => Err(BadKey::NotAKey),
        }
    }

    /// The key in a file.
    pub fn from_file(path: &Path) -> Result<Self, BadKey> {
        let text = fs::read_to_string(path).map_err(|error| BadKey::File(error.to_string()))?;
        Self::with_key(&SecretString::from(text))
    }

    /// A key as text: 32 bytes in hexadecimal or base64.
    pub fn with_key(text: &SecretString) -> Result<Self, BadKey> {
        let text = text.expose_secret().trim().as_bytes();
        let mut bytes = SecretBox::new(Box::new([0; KEY_BYTES]));
        let bytes_mut = secrecy::ExposeSecretMut::expose_secret_mut(&mut bytes);
        let is_hex = text.len() == 2 * KEY_BYTES && codec::hex_into(text, bytes_mut);
        if !is_hex && codec::base64_into(text, bytes_mut) != Some(KEY_BYTES) {
            return Err(BadKey::NotAKey);
        }
        let mut mark = [0; MARK_BYTES];
        let digest = Sha256::new_with_prefix(b"hookproof key ").chain_update(bytes.expose_secret());
        mark.copy_from_slice(&digest.finalize()[..MARK_BYTES]);
        Ok(Self(Some(Key { bytes, mark })))
    }

    /// No key: whoever can read the database can sign.
    pub fn open() -> Self {
        tracing::warn!(
            "no key was given, so new secrets of endpoints are stored as they are: give one with \
             {FILE_VARIABLE} or {KEY_VARIABLE}"
        );
        Self(None)
    }

    /// Seals a secret for its row.
    pub(crate) fn seal(&self, row: Id, text: &SecretString) -> Vec<u8> {
        let text = text.expose_secret().as_bytes();
        let Some(key) = &self.0 else { return [&[CLEAR], text].concat() };
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).expect("an operating system gives random numbers");
        let aad = row.0.to_be_bytes();
        let sealed = key.cipher().encrypt(&XNonce::from(nonce), Payload { msg: text, aad: &aad });
        let Ok(sealed) = sealed else {
            unreachable!("a secret is far shorter than what is sealed")
        };
        [&[SEALED], &key.mark[..], &nonce, &sealed].concat()
    }

    /// Refuses secrets that are sealed where there is no key at all: whoever forgot the key hears of it
    /// before any delivery suffers. The first byte of each secret is enough.
    pub(crate) fn expect_key<'a>(
        &self,
        stored: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), Error> {
        let sealed = stored.into_iter().any(|stored| stored.first() == Some(&SEALED));
        if sealed && self.0.is_none() { Err(no_key()) } else { Ok(()) }
    }

    /// Opens a sealed secret of this row.
    pub(crate) fn unseal(&self, row: Id, stored: &[u8]) -> Result<SecretString, Error> {
        let text = match (stored.split_first(), &self.0) {
            (Some((&CLEAR, text)), _) => text.to_vec(),
            (Some((&SEALED, sealed)), Some(key)) => key.open(row, sealed)?,
            (Some((&SEALED, _)), None) => return Err(no_key()),
            (_, _) => return Err(unreadable("a secret of another form")),
        };
        let text = String::from_utf8(text).map_err(|_| unreadable("no text"))?;
        Ok(SecretString::from(text))
    }
}

impl Key {
    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(self.bytes.expose_secret().into())
    }

    fn open(&self, row: Id, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        let (mark, rest) = sealed.split_at_checked(MARK_BYTES).ok_or_else(cut)?;
        if mark != self.mark {
            let advice = "give the key that sealed it, or add the secret again";
            return Err(Error::unfit("the key that sealed a secret", "another one", advice));
        }
        let (nonce, sealed) = rest.split_first_chunk::<NONCE_BYTES>().ok_or_else(cut)?;
        let aad = row.0.to_be_bytes();
        let opened =
            self.cipher().decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: &aad });
        opened.map_err(|_| unreadable("one that was changed, or is another row's"))
    }
}

fn no_key() -> Error {
    let advice = "give the key with HOOKPROOF_KEY_FILE or HOOKPROOF_KEY";
    Error::unfit("the key of a sealed secret", "none", advice)
}

fn cut() -> Error {
    unreadable("one that was cut short")
}

fn unreadable(found: &str) -> Error {
    Error::unfit("a sealed secret", found, "add the secret again, and delete this one")
}

/// A new secret for an endpoint, as Standard Webhooks writes them.
pub fn new_secret() -> SecretString {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).expect("an operating system gives random numbers");
    SecretString::from(format!("whsec_{}", codec::to_base64(&bytes)))
}

/// Names the file with the key.
const FILE_VARIABLE: &str = "HOOKPROOF_KEY_FILE";
/// Holds the key.
const KEY_VARIABLE: &str = "HOOKPROOF_KEY";
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
const MARK_BYTES: usize = 4;
/// How a secret begins that is stored as it is.
const CLEAR: u8 = 0;
/// How a secret begins that is sealed with XChaCha20-Poly1305: mark, nonce, text and tag follow.
const SEALED: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    fn vault(key: &str) -> Vault {
        Vault::with_key(&key.into()).expect("a key")
    }

    #[test]
    fn a_secret_comes_back_from_its_own_row_and_no_other() {
        let (vault, secret) = (vault(KEY), SecretString::from("whsec_abc"));
        let sealed = vault.seal(Id(1), &secret);
        assert!(!sealed.windows(3).any(|part| part == b"abc"));
        assert_eq!(vault.unseal(Id(1), &sealed).expect("its own").expose_secret(), "whsec_abc");
        assert!(vault.unseal(Id(2), &sealed).is_err());
        let mut changed = sealed.clone();
        *changed.last_mut().expect("bytes") ^= 1;
        assert!(vault.unseal(Id(1), &changed).is_err());
        assert!(vault.unseal(Id(1), &sealed[..10]).is_err());
    }

    #[test]
    fn another_key_and_no_key_are_told_apart() {
        let sealed = vault(KEY).seal(Id(1), &"text".into());
        let other =
            vault(&KEY.replace("00", "01")).unseal(Id(1), &sealed).expect_err("another key");
        assert!(other.to_string().contains("found another one"), "{other}");
        let none = Vault::open().unseal(Id(1), &sealed).expect_err("no key");
        assert!(none.to_string().contains("HOOKPROOF_KEY_FILE"), "{none}");
    }

    #[test]
    fn without_a_key_a_secret_is_stored_as_it_is_and_read_with_one_too() {
        let stored = Vault::open().seal(Id(1), &"text".into());
        assert_eq!(vault(KEY).unseal(Id(1), &stored).expect("clear").expose_secret(), "text");
    }

    #[test]
    fn nothing_shows_a_key_or_a_secret() {
        let shown = format!("{:?} {:?}", vault(KEY), SecretString::from("text"));
        assert!(!shown.contains("0011") && !shown.contains("text"), "{shown}");
        for bad in ["", "0011", &KEY[1..], "not base64 at all"] {
            let error = Vault::with_key(&bad.into()).expect_err("no key");
            assert!(bad.is_empty() || !error.to_string().contains(bad));
        }
    }
}
