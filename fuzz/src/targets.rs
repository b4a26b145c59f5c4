//! Callback targets: what is allowed is one host to every reader, and never a private address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hookproof_core::{
    address::{self, Network},
    target::{Denied, Target, TargetPolicy},
};

/// The input is a URL, and behind its line the addresses that its name resolves to, or networks.
pub fn run(data: &[u8]) {
    if let Ok(bits) = <[u8; 16]>::try_from(data) {
        one_address(Ipv6Addr::from(bits).into());
        one_address(Ipv4Addr::from_bits(u128::from_be_bytes(bits) as u32).into());
    }
    let Ok(text) = str::from_utf8(data) else { return };
    let mut lines = text.split('\n');
    let url = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.collect();
    let answers: Vec<IpAddr> = rest.iter().filter_map(|line| line.parse().ok()).collect();
    let networks: Vec<Network> = rest.iter().filter_map(|line| Network::parse(line)).collect();
    for answer in &answers {
        one_address(*answer);
    }
    for line in &rest {
        one_network(line, &answers);
    }
    let http = TargetPolicy { http: true, ports: vec![80, 8], ..TargetPolicy::default() };
    let private = TargetPolicy { networks, ..http.clone() };
    for policy in [TargetPolicy::default(), http, private] {
        one_target(url, &answers, &policy);
    }
}

fn one_target(text: &str, answers: &[IpAddr], policy: &TargetPolicy) {
    let Ok(target) = Target::parse(text, policy) else { return };
    let url = url::Url::parse(target.url()).expect("what is requested is a URL");
    let again = Target::parse(target.url(), policy).expect("what is requested is allowed");
    assert_eq!((again.url(), again.host()), (target.url(), target.host()));
    assert!(url.username().is_empty() && url.password().is_none());
    assert!(policy.http || url.scheme() == "https");
    same_to_an_http_library(&target, &url);
    let dial = target.vet(answers, policy);
    let dialled = target.literal().map_or(answers, |_| &[]);
    match dial {
        Ok(dial) => {
            assert_eq!(Some(dial.port()), url.port_or_known_default());
            assert_eq!(Some(dial.address()), target.literal().or(dialled.first().copied()));
            for address in dialled.iter().copied().chain([dial.address()]) {
                let named = policy.networks.iter().any(|network| network.holds(address));
                assert!(address::is_public(address) || named, "{address}");
                assert!(!address::is_metadata(address), "{address}");
            }
        }
        Err(denied) => assert!(match denied {
            Denied::Unresolved => dialled.is_empty(),
            Denied::Address(address) => dialled.contains(&address),
            _ => false,
        }),
    }
    if target.literal().is_none() {
        let any_bad = [answers, &["169.254.169.254".parse().expect("an address")]].concat();
        assert!(target.vet(&any_bad, policy).is_err(), "one bad answer denies");
    }
}

/// A client that reads the URL again finds the same host and port.
fn same_to_an_http_library(target: &Target, url: &url::Url) {
    let Ok(theirs) = target.url().parse::<http::Uri>() else { return };
    let host = theirs.host().expect("an absolute URL has a host").trim_matches(['[', ']']);
    if let Some(address) = target.literal() {
        assert_eq!(host.parse(), Ok(address));
    } else {
        let host = host.strip_suffix('.').unwrap_or(host);
        assert!(host.eq_ignore_ascii_case(target.host()), "{host}");
    }
    assert_eq!(theirs.port_u16(), url.port());
    assert_eq!(theirs.scheme_str(), Some(url.scheme()));
}

/// What the standard library calls local, reserved or documentation is never public.
fn one_address(address: IpAddr) {
    let canonical = address.to_canonical();
    if !address::is_public(address) {
        return;
    }
    assert!(!address::is_metadata(address), "{address}");
    assert!(!canonical.is_loopback() && !canonical.is_unspecified() && !canonical.is_multicast());
    match canonical {
        IpAddr::V4(address) => {
            assert!(!address.is_private() && !address.is_link_local());
            assert!(!address.is_broadcast() && !address.is_documentation());
            assert!(address::is_public(address.to_ipv6_mapped().into()));
        }
        IpAddr::V6(address) => {
            assert!(!address.is_unique_local() && !address.is_unicast_link_local());
            assert!((0x2000..0x4000).contains(&address.segments()[0]) || nat64(address));
        }
    }
}

fn nat64(address: Ipv6Addr) -> bool {
    address.segments()[..2] == [0x64, 0xff9b] || address.segments()[4..6] == [0xffff, 0]
}

/// A network holds what shares its first bits.
fn one_network(text: &str, answers: &[IpAddr]) {
    let Some(network) = Network::parse(text) else { return };
    let (address, prefix) = text.split_once('/').unwrap_or((text, "128"));
    let address: IpAddr = address.parse().expect("a network begins with an address");
    let prefix: u32 = prefix.parse().expect("and has a length");
    for answer in answers {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, false),
            IpAddr::V6(address) => (address.to_bits(), true),
        };
        let ((network_bits, one), (bits, other)) = (bits(address), bits(answer.to_canonical()));
        let prefix = if one { prefix } else { prefix.min(32) };
        let differing = (network_bits ^ bits).leading_zeros() < prefix;
        assert_eq!(network.holds(*answer), one == other && !differing, "{text} {answer}");
    }
}
