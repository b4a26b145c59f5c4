//! Secrets that stand in a request: as its tag, or within its body. No output repeats them.

use hookproof_core::scheme::explain::Explanation;

use super::Asked;

impl Asked {
    /// Takes the secrets out of what is shown.
    pub(super) fn mask(&self, explanation: &mut Explanation) {
        let Explanation { signed, body, candidates, url, .. } = explanation;
        for bytes in [signed, body].into_iter().flatten() {
            if let Some(masked) = self.masked_bytes(bytes) {
                *bytes = masked;
            }
        }
        for text in candidates.iter_mut().chain(url) {
            *text = self.masked(text);
        }
    }

    /// The text without the secrets that stand in it.
    pub(super) fn masked(&self, text: &str) -> String {
        let masked = self.masked_bytes(text.as_bytes());
        masked.map_or_else(|| text.to_owned(), |text| String::from_utf8_lossy(&text).into_owned())
    }

    /// The same of bytes; `None` where no secret stands in them.
    pub(super) fn masked_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut masked = None;
        for secret in self.spellings() {
            let from: &[u8] = masked.as_deref().unwrap_or(bytes);
            masked = without(from, secret.as_bytes()).or(masked);
        }
        masked
    }

    /// Each secret, then what stands behind its prefix.
    fn spellings(&self) -> impl Iterator<Item = &str> {
        let texts = || self.secrets.iter().chain(&self.retired).map(|secret| secret.text.trim());
        let behind = texts().filter_map(|text| Some(text.rsplit_once('_')?.1));
        texts().chain(behind).filter(|text| text.len() >= SECRET_BYTES_MIN)
    }
}

fn without(bytes: &[u8], secret: &[u8]) -> Option<Vec<u8>> {
    let is_secret = |at: &usize| bytes[*at..].starts_with(secret);
    let mut at = (0..bytes.len()).find(is_secret)?;
    let mut out = Vec::with_capacity(bytes.len());
    let mut from = 0;
    loop {
        out.extend_from_slice(&bytes[from..at]);
        out.extend_from_slice(MASK);
        from = at + secret.len();
        match (from..bytes.len()).find(is_secret) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.extend_from_slice(&bytes[from..]);
    Some(out)
}

/// A shorter one may be any word.
const SECRET_BYTES_MIN: usize = 6;
const MASK: &[u8] = b"[the secret]";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_a_secret_is_masked() {
        let masked = |text: &str| without(text.as_bytes(), b"sec_ret");
        assert_eq!(masked("none here"), None);
        assert_eq!(
            masked("sec_ret=sec_retsec_ret!").as_deref(),
            Some(&b"[the secret]=[the secret][the secret]!"[..])
        );
    }
}
