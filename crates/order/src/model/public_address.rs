//! Which IP addresses are public, checked before a connection is made.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[cfg(test)]
mod tests;

/// Whether this is a public address. Check every answer of a lookup, and connect to the
/// address that was checked.
pub fn is_public(address: IpAddr) -> bool {
    let address = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    let bits = address.to_bits();
    SPECIAL.iter().filter(|range| range.contains(bits)).all(|range| match range.rule {
        Rule::Refuse => false,
        Rule::JudgeInner(places) => {
            places.iter().all(|place| is_public(IpAddr::V4(inner_address(bits, *place))))
        }
    })
}

/// A block of addresses. Those of version 4 are kept where version 6 maps them, in
/// `::ffff:0:0/96`: so one table serves both, and a mapped address is checked as the address that it maps.
struct Range {
    network: u128,
    length: u32,
    rule: Rule,
}

enum Rule {
    Refuse,
    /// A gateway sends this on to an address of version 4 written inside; each number is the
    /// length of a prefix after which it may stand (RFC 6052, section 2.2).
    JudgeInner(&'static [u32]),
}

const SPECIAL: [Range; 29] = [
    version_4([0, 0, 0, 0], 8),               // this host, on this network
    version_4([10, 0, 0, 0], 8),              // private networks
    version_4([100, 64, 0, 0], 10),           // between a carrier and its customers
    version_4([127, 0, 0, 0], 8),             // loopback
    version_4([169, 254, 0, 0], 16),          // link-local, where clouds keep their metadata
    version_4([172, 16, 0, 0], 12),           // private networks
    version_4([192, 0, 0, 0], 24),            // protocol assignments
    version_4([192, 0, 2, 0], 24),            // documentation, first set
    version_4([192, 88, 99, 0], 24),          // relays from 6to4, abandoned
    version_4([192, 168, 0, 0], 16),          // private networks
    version_4([198, 18, 0, 0], 15),           // benchmarks between two networks
    version_4([198, 51, 100, 0], 24),         // documentation, second set
    version_4([203, 0, 113, 0], 24),          // documentation, third set
    version_4([224, 0, 0, 0], 4),             // multicast
    version_4([240, 0, 0, 0], 4),             // reserved, with the broadcast address at its end
    version_6([0, 0, 0, 0, 0, 0, 0, 0], 128), // no address at all
    version_6([0, 0, 0, 0, 0, 0, 0, 1], 128), // loopback
    version_6([0, 0, 0, 0, 0, 0, 0, 0], 96),  // version 4 the first way, abandoned
    gateway([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, &[96]), // gateways to version 4
    // Gateways of one site. It chooses its own prefix in here, so every place where that could
    // put the inner address has to hold a public one.
    gateway([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, &[48, 56, 64, 96]),
    version_6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), // discarded on arrival
    version_6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), // Teredo: a tunnel to a version 4 inside
    version_6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), // documentation
    version_6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), // 6to4: a tunnel to a version 4 inside
    version_6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), // documentation, the larger set
    version_6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16), // segment routing inside one network
    version_6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), // private networks
    version_6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 9), // link-local, and site-local, abandoned
    version_6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), // multicast
];

impl Range {
    fn contains(&self, bits: u128) -> bool {
        (bits ^ self.network) >> (u128::BITS - self.length) == 0
    }
}

const fn version_4([a, b, c, d]: [u8; 4], length: u32) -> Range {
    let network = Ipv4Addr::new(a, b, c, d).to_ipv6_mapped().to_bits();
    Range { network, length: 96 + length, rule: Rule::Refuse }
}

const fn version_6(network: [u16; 8], length: u32) -> Range {
    let [a, b, c, d, e, f, g, h] = network;
    let network = Ipv6Addr::new(a, b, c, d, e, f, g, h).to_bits();
    Range { network, length, rule: Rule::Refuse }
}

const fn gateway(network: [u16; 8], length: u32, places: &'static [u32]) -> Range {
    Range { rule: Rule::JudgeInner(places), ..version_6(network, length) }
}

/// Reads the four bytes after a prefix. A shorter prefix than 96 lets them run across byte
/// eight, which RFC 6052 keeps empty and which is therefore cut out first.
fn inner_address(bits: u128, prefix_length: u32) -> Ipv4Addr {
    const AFTER_BYTE_EIGHT: u32 = 56;
    let shifted = if prefix_length == 96 {
        bits
    } else {
        let low = bits & ((1 << AFTER_BYTE_EIGHT) - 1);
        let high = bits >> u64::BITS << AFTER_BYTE_EIGHT;
        (high | low) >> (u64::BITS + AFTER_BYTE_EIGHT - prefix_length - u32::BITS)
    };
    let [.., a, b, c, d] = shifted.to_be_bytes();
    Ipv4Addr::new(a, b, c, d)
}
