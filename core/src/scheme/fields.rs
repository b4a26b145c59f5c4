//! A request as it came in, and strict look-up of its headers.

use super::{LINE_BYTES_MAX, Refusal};
use crate::answer::trim;

/// One field line: a name and the bytes of its value.
pub type Field<'a> = (&'a str, &'a [u8]);

/// What came in, untouched. Also a signed response, which has a status in place of a method.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// Every field line in order, duplicates included.
    pub headers: &'a [Field<'a>],
    /// The bytes that were read, before any parser.
    pub body: &'a [u8],
    /// The method, where a scheme signs it.
    pub method: Option<&'a str>,
    /// The configured or requested URL, absolute, where a scheme signs it.
    pub url: Option<&'a str>,
    /// The status of a signed response.
    pub status: Option<u16>,
    /// Decoded form parameters; absent: taken from the body where a scheme signs them.
    pub form: Option<&'a [(&'a str, &'a str)]>,
}

impl<'a> Request<'a> {
    /// The values under this name, blanks around them removed.
    pub fn lines(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let headers = self.headers;
        headers.iter().filter(move |(key, _)| same_name(key, name)).map(|(_, value)| trim(value))
    }

    /// The one value under this name; equal duplicates are one. Empty counts as missing.
    pub fn one(&self, name: &str) -> Result<&'a [u8], Refusal> {
        let mut found: Option<&[u8]> = None;
        for line in self.lines(name) {
            match found {
                Some(other) if other != line => return Err(Refusal::AmbiguousHeader),
                _ => found = Some(line),
            }
        }
        match found {
            None | Some([]) => Err(Refusal::MissingHeader),
            Some(value) if value.len() > LINE_BYTES_MAX => Err(Refusal::Malformed),
            Some(value) => Ok(value),
        }
    }

    /// All values under this name, joined by a comma and a blank (RFC 9110 section 5.3).
    pub(crate) fn joined(&self, name: &str) -> Option<alloc::vec::Vec<u8>> {
        let mut all: Option<alloc::vec::Vec<u8>> = None;
        for line in self.lines(name) {
            match &mut all {
                None => all = Some(line.to_vec()),
                Some(all) => {
                    all.extend_from_slice(b", ");
                    all.extend_from_slice(line);
                }
            }
        }
        all
    }
}

/// Field names are compared without case.
pub(crate) const fn same_name(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.eq_ignore_ascii_case(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_found_in_any_case_and_trimmed() {
        let request = Request { headers: &[("X-Id", b" a\t")], ..Request::default() };
        assert_eq!(request.one("x-iD"), Ok(&b"a"[..]));
        assert_eq!(request.one("x-i"), Err(Refusal::MissingHeader));
    }

    #[test]
    fn equal_duplicates_are_one_and_different_ones_are_ambiguous() {
        let equal = [("a", &b"1"[..]), ("A", b"1")];
        assert_eq!(Request { headers: &equal, ..Request::default() }.one("a"), Ok(&b"1"[..]));
        let different = [("a", &b"1"[..]), ("A", b"2")];
        let request = Request { headers: &different, ..Request::default() };
        assert_eq!(request.one("a"), Err(Refusal::AmbiguousHeader));
    }

    #[test]
    fn an_empty_value_is_missing() {
        let request = Request { headers: &[("a", b"  ")], ..Request::default() };
        assert_eq!(request.one("a"), Err(Refusal::MissingHeader));
    }
}
