//! Callback targets (S10): one parser for check and request, every spelling of an address, any bad
//! answer denies, the vetted address is the one that is dialled.
//!
//! ```text
//! text  → Target::parse → Target     Target + resolved addresses → Target::vet → Dial
//! ```
//!
//! Only [`Target::vet`] makes a [`Dial`], and a driver connects to nothing else: a second look-up, to
//! which a name could answer otherwise, never happens.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, net::IpAddr};

use url::{Host, Url};

use crate::address::{self, Network};

/// What a deployment allows beyond public HTTPS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetPolicy {
    /// Plain HTTP, on port 80 or 1024 and above.
    pub http: bool,
    /// Networks that are private and still allowed, named one by one.
    pub networks: Vec<Network>,
    /// Ports below 1024 that are allowed besides 443 (and 80 for HTTP).
    pub ports: Vec<u16>,
}

/// A callback URL that could be dialled if its addresses are good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: String,
    literal: Option<IpAddr>,
    port: u16,
}

/// An address that was vetted, and what to say to it. Only [`Target::vet`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dial {
    address: IpAddr,
    port: u16,
}

/// Why a target is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Denied {
    /// Not an absolute URL, or one that readers take apart differently.
    NotAUrl,
    /// Neither `https` nor an allowed `http`.
    Scheme,
    /// A user or password in the URL.
    Credentials,
    /// A port that belongs to other protocols.
    Port,
    /// A name that means this machine or this network.
    Name,
    /// The name has no address.
    Unresolved,
    /// An address that is not public, or an answer that holds one.
    Address(IpAddr),
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAUrl => f.write_str("not an unambiguous absolute URL"),
            Self::Scheme => f.write_str("only https is allowed (http where configured)"),
            Self::Credentials => f.write_str("credentials do not belong into a URL"),
            Self::Port => f.write_str("the port is neither 443 nor 1024 or above"),
            Self::Name => f.write_str("the name is a local or internal one"),
            Self::Unresolved => f.write_str("the name has no address"),
            Self::Address(address) => write!(f, "{address} is not a public address"),
        }
    }
}

impl core::error::Error for Denied {}

impl Target {
    /// Reads a URL as it will be requested. Denies what needs no look-up to be denied.
    pub fn parse(text: &str, policy: &TargetPolicy) -> Result<Self, Denied> {
        if text.len() > URL_BYTES_MAX || !plainly_written(text) {
            return Err(if names_other_scheme(text) { Denied::Scheme } else { Denied::NotAUrl });
        }
        let url = Url::parse(text).map_err(|_| Denied::NotAUrl)?;
        // What is requested is longer than what was written where that has to be escaped.
        if url.as_str().len() > URL_BYTES_MAX {
            return Err(Denied::NotAUrl);
        }
        let https = match url.scheme() {
            "https" => true,
            "http" if policy.http => false,
            _ => return Err(Denied::Scheme),
        };
        if !url.username().is_empty() || url.password().is_some() || has_userinfo(text) {
            return Err(Denied::Credentials);
        }
        let port = url.port_or_known_default().ok_or(Denied::Port)?;
        let usual = port == 443 || port >= 1_024 || (!https && port == 80);
        if !usual && (port == 0 || !policy.ports.contains(&port)) {
            return Err(Denied::Port);
        }
        let (host, literal) = match url.host().ok_or(Denied::NotAUrl)? {
            Host::Ipv4(address) => (address.to_string(), Some(IpAddr::V4(address))),
            Host::Ipv6(address) => (address.to_string(), Some(IpAddr::V6(address))),
            Host::Domain(name) => (vet_name(name, policy)?, None),
        };
        let target = Self { url, host, literal, port };
        if let Some(address) = target.literal {
            Self::vet_address(address, policy)?;
        }
        Ok(target)
    }

    /// Vets every address that the name resolved to, for the connection that follows at once. The
    /// first is dialled; a literal needs no answers.
    pub fn vet(&self, answers: &[IpAddr], policy: &TargetPolicy) -> Result<Dial, Denied> {
        let dial = |address| Dial { address, port: self.port };
        if let Some(address) = self.literal {
            return Self::vet_address(address, policy).map(|()| dial(address));
        }
        for answer in answers {
            Self::vet_address(*answer, policy)?;
        }
        answers.first().map(|first| dial(*first)).ok_or(Denied::Unresolved)
    }

    fn vet_address(address: IpAddr, policy: &TargetPolicy) -> Result<(), Denied> {
        let allowed = policy.networks.iter().any(|network| network.holds(address));
        if address::is_public(address) || (allowed && !address::is_metadata(address)) {
            Ok(())
        } else {
            Err(Denied::Address(address))
        }
    }

    /// The URL to request, as it was parsed.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The host to resolve: lower case, international names encoded, no final dot.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port that is dialled.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The address, where the host is one.
    pub const fn literal(&self) -> Option<IpAddr> {
        self.literal
    }
}

impl Dial {
    /// The address to connect to.
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// The port to connect to.
    pub const fn port(&self) -> u16 {
        self.port
    }
}

/// Whether an answer with this status and `Location` is followed: never. A new URL is registered.
pub const fn follows_redirect(_status: u16, _location: &str) -> bool {
    false
}

/// One scheme, two slashes, a host: none of the spellings that one reader repairs and another does
/// not (blanks, controls, backslashes, missing or extra slashes).
fn plainly_written(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let is_http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    is_http
        && !rest.starts_with(['/', '?', '#', ':'])
        && !rest.is_empty()
        && !text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\')
}

fn names_other_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        let mut letters = scheme.bytes();
        letters.next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && letters.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
            && !scheme.eq_ignore_ascii_case("http")
            && !scheme.eq_ignore_ascii_case("https")
    })
}

/// An empty user is no user to a parser, and still confuses readers.
fn has_userinfo(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

/// The name without its final dot. A name of one label, or under a suffix that never leaves a
/// network, is denied; its addresses decide in any case.
fn vet_name(name: &str, policy: &TargetPolicy) -> Result<String, Denied> {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let fits = |label: &str| (1..=63).contains(&label.len());
    // Others are taken apart in several ways, or resolved as patterns (RFC 1123 section 2.1).
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if !name.split('.').all(fits) || name.len() > 253 || !name.bytes().all(plain) {
        return Err(Denied::NotAUrl);
    }
    let internal = !name.contains('.')
        || LOCAL_SUFFIXES.iter().any(|suffix| {
            name.strip_suffix(suffix).is_some_and(|front| front.is_empty() || front.ends_with('.'))
        });
    if internal && policy.networks.is_empty() { Err(Denied::Name) } else { Ok(name) }
}

/// The longest URL that is accepted, in bytes.
pub const URL_BYTES_MAX: usize = 2_048;
/// Suffixes that are not resolved on the public network (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC
/// 9476, names that ICANN will never delegate, and custom).
const LOCAL_SUFFIXES: [&str; 19] = [
    "test",
    "invalid",
    "alt",
    "mail",
    "svc",
    "consul",
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "home.arpa",
    "in-addr.arpa",
    "ip6.arpa",
    "onion",
];

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Target, Denied> {
        Target::parse(text, &TargetPolicy::default())
    }

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn every_spelling_of_a_private_address_is_denied() {
        for host in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
            "0",
            "0.0.0.0",
            "10.0.0.5",
            "192.168.1.1",
            "172.31.0.1",
            "100.64.0.1",
            "169.254.169.254",
            "[::]",
            "[::1]",
            "[::ffff:10.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fe80::1]",
            "[fd00::1]",
            "[ff02::1]",
            "%31%32%37.0.0.1",
            "127。0。0。1",
            "[::127.0.0.1]",
            "[64:ff9b:1::1]",
            "[2001:db8::1]",
            "[fec0::1]",
            "168.63.129.16",
            "224.0.0.1",
            "127.0.0.1.",
        ] {
            let denied = parse(&format!("https://{host}/"));
            assert!(matches!(denied, Err(Denied::Address(_))), "{host}: {denied:?}");
        }
    }

    #[test]
    fn public_literals_are_allowed() {
        for host in ["93.184.216.34", "[2606:4700::1111]", "[64:ff9b::5db8:d822]"] {
            assert!(parse(&format!("https://{host}/")).is_ok(), "{host}");
        }
    }

    #[test]
    fn a_url_that_readers_take_apart_differently_is_denied() {
        for text in [
            "https:hooks.example.com",
            "https:/hooks.example.com",
            "https:///hooks.example.com",
            "https:\\\\hooks.example.com",
            "https://hooks.example.com\\@evil",
            " https://a.example/",
            "https://a.example/\n",
            "https://a.ex\tample/",
            "//hooks.example.com/in",
            "hooks.example.com",
            "https://",
            "https://?x",
            "https://a..example/",
            "http://[fe80::1%25eth0]/",
            "https://a.example,b.example/",
            "https://a'b.example/",
            "https://a\"b.example/",
            "https://a`b.example/",
            "https://a{b}.example/",
            "https://*.a.example/",
            "https://a+b.example/",
            "https://a!b.example/",
            "https://a$b.example/",
            "https://a%2Cb.example/",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        assert_eq!(parse("file:///etc/passwd"), Err(Denied::Scheme));
        assert_eq!(parse("https://@hooks.example.com/"), Err(Denied::Credentials));
        assert_eq!(parse("https://u:p@hooks.example.com/"), Err(Denied::Credentials));
    }

    #[test]
    fn ports_of_other_protocols_are_denied() {
        for port in [0, 1, 22, 25, 80, 1_023] {
            assert_eq!(parse(&format!("https://a.example:{port}/")), Err(Denied::Port), "{port}");
        }
        for port in [443, 1_024, 8_443, 65_535] {
            assert!(parse(&format!("https://a.example:{port}/")).is_ok(), "{port}");
        }
        let http = TargetPolicy { http: true, ports: alloc::vec![81], ..TargetPolicy::default() };
        assert!(Target::parse("http://a.example/", &http).is_ok());
        assert!(Target::parse("http://a.example:81/", &http).is_ok());
        assert_eq!(parse("http://a.example/"), Err(Denied::Scheme));
    }

    #[test]
    fn names_of_this_network_are_denied_with_and_without_their_dot() {
        for name in [
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "svc.internal.",
            "printer",
            "x.local",
            "a.svc",
            "a.alt",
            "a.test",
        ] {
            assert_eq!(parse(&format!("https://{name}/")), Err(Denied::Name), "{name}");
        }
        assert!(parse("https://internal.example.com/").is_ok());
        assert!(parse("https://a_b.example.com/").is_ok());
        assert_eq!(parse("https://bücher.example./in").unwrap().host(), "xn--bcher-kva.example");
    }

    #[test]
    fn any_bad_answer_denies_and_the_first_good_one_is_dialled() {
        let policy = TargetPolicy::default();
        let target = parse("https://a.example/").unwrap();
        let vet = |texts: &[&str]| target.vet(&addresses(texts), &policy);
        assert!(vet(&["93.184.216.34", "10.0.0.5"]).is_err());
        assert!(vet(&["::ffff:169.254.169.254"]).is_err());
        assert_eq!(vet(&[]), Err(Denied::Unresolved));
        assert_eq!(
            vet(&["93.184.216.34", "1.1.1.1"]).unwrap().address().to_string(),
            "93.184.216.34"
        );
    }

    #[test]
    fn an_allowed_network_lets_its_addresses_in_but_never_metadata() {
        let network = |text: &str| Network::parse(text).unwrap();
        let policy = TargetPolicy {
            networks: alloc::vec![network("10.1.0.0/16"), network("0.0.0.0/0")],
            ..TargetPolicy::default()
        };
        let target = Target::parse("https://svc.internal/", &policy).unwrap();
        assert!(target.vet(&addresses(&["10.1.2.3"]), &policy).is_ok());
        assert!(target.vet(&addresses(&["169.254.169.254"]), &policy).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text: String) {
            let _ = parse(&text);
        }

        #[test]
        fn nearly_a_url_makes_no_panic(text in r"https?://[a-z0-9.:@\[\]%/\\?#-]{0,40}") {
            if let Ok(target) = parse(&text) {
                prop_assert!(target.literal().is_none_or(address::is_public));
            }
        }
    }
}
