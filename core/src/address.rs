//! Addresses, sorted: which ones anybody on the Internet may be called at.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A network that a deployment allows although it is private.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Reads `10.1.0.0/16` or a single address.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(crate::instant::digits(prefix.as_bytes())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = u8::try_from(prefix.unwrap_or(longest)).ok()?;
        (i64::from(prefix) <= longest).then_some(Self { address, prefix })
    }

    /// Whether an address belongs to it; a mapped one counts as what it maps.
    pub fn holds(self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                same_front(network.to_bits().into(), address.to_bits().into(), self.prefix, 32)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                same_front(network.to_bits(), address.to_bits(), self.prefix, 128)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

/// Whether an address is globally reachable; one that embeds an IPv4 address is what it embeds.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Whether a cloud keeps its metadata service there: never allowed, whatever the policy says.
pub fn is_metadata(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_link_local() || METADATA_V4.contains(&address.octets()),
        IpAddr::V6(address) => {
            address.is_unicast_link_local()
                || METADATA_V6.contains(&address)
                || embedded(address).is_some_and(|inner| is_metadata(IpAddr::V4(inner)))
        }
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !NOT_PUBLIC_V4.iter().any(|(network, prefix)| {
        same_front(u32::from_be_bytes(*network).into(), bits.into(), *prefix, 32)
    }) && !METADATA_V4.contains(&address.octets())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = embedded(address) {
        return is_public_v4(inner);
    }
    let bits = address.to_bits();
    let global = same_front(GLOBAL_UNICAST, bits, 3, 128);
    global
        && !NOT_PUBLIC_V6.iter().any(|(network, prefix)| same_front(*network, bits, *prefix, 128))
}

/// The IPv4 address that packets to this one end at: mapped, NAT64 (RFC 6052), 6to4, ISATAP.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let v4 = |at: usize| {
        Ipv4Addr::from_bits(u32::from(segments[at]) << 16 | u32::from(segments[at + 1]))
    };
    match segments {
        // Compatible addresses were never public; `::` and `::1` are among them.
        [0, 0, 0, 0, 0, 0, ..] => Some(Ipv4Addr::LOCALHOST),
        [0x2002, ..] => Some(v4(1)),
        [0, 0, 0, 0, 0, 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, ..] => Some(v4(6)),
        _ => None,
    }
}

const fn same_front(network: u128, address: u128, prefix: u8, width: u32) -> bool {
    match (width - prefix as u32, prefix) {
        (_, 0) => true,
        (shift, _) => network >> shift == address >> shift,
    }
}

/// The registry of special-purpose addresses (RFC 6890 and its updates), multicast, reserved.
const NOT_PUBLIC_V4: [([u8; 4], u8); 15] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];
/// Metadata and platform services outside of link-local: Azure, Alibaba, Oracle.
const METADATA_V4: [[u8; 4]; 3] = [[168, 63, 129, 16], [100, 100, 100, 200], [192, 0, 0, 192]];
/// The same among private ones: of Amazon, also the one for pods, and of Google.
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];
const GLOBAL_UNICAST: u128 = 0x2000 << 112;
/// Within global unicast: protocol assignments with Teredo, documentation.
const NOT_PUBLIC_V6: [(u128, u8); 3] =
    [(0x2001 << 112, 23), (0x2001_0db8 << 96, 32), (0x3fff << 112, 20)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_its_addresses_mapped_or_not() {
        let network = Network::parse("10.1.0.0/16").unwrap();
        assert!(network.holds("10.1.255.255".parse().unwrap()));
        assert!(network.holds("::ffff:10.1.0.1".parse().unwrap()));
        assert!(!network.holds("10.2.0.0".parse().unwrap()));
        assert!(Network::parse("::1").unwrap().holds("::1".parse().unwrap()));
        for bad in ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "x/8", "10.1/16"] {
            assert_eq!(Network::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_embedded_address_decides() {
        let public = |text: &str| is_public(text.parse().unwrap());
        assert!(public("64:ff9b::5db8:d822") && public("2002:5db8:d822::1"));
        assert!(!public("64:ff9b::a00:1") && !public("2002:a00:1::") && !public("::ffff:0:a00:1"));
        assert!(!public("2606:4700::5efe:a00:1") && public("2606:4700::1"));
        assert!(!public("2001::1") && !public("2001:20::1") && public("2001:4860::1"));
    }
}
