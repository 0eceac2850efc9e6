//! Every blocked range, and every way to write an address from it.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::random::Random;

const VERSION_4: [(&str, u32); 15] = [
    ("0.0.0.0", 8),
    ("10.0.0.0", 8),
    ("100.64.0.0", 10),
    ("127.0.0.0", 8),
    ("169.254.0.0", 16),
    ("172.16.0.0", 12),
    ("192.0.0.0", 24),
    ("192.0.2.0", 24),
    ("192.88.99.0", 24),
    ("192.168.0.0", 16),
    ("198.18.0.0", 15),
    ("198.51.100.0", 24),
    ("203.0.113.0", 24),
    ("224.0.0.0", 4),
    ("240.0.0.0", 4),
];

/// Those that are blocked whatever they hold; the others are among the carriers.
const VERSION_6: [(&str, u32); 11] = [
    ("::", 128),
    ("::1", 128),
    ("::", 96),
    ("100::", 64),
    ("2001::", 32),
    ("2001:db8::", 32),
    ("2002::", 16),
    ("5f00::", 16),
    ("fc00::", 7),
    ("fe80::", 10),
    ("ff00::", 8),
];

/// Prefixes, with the number of bits that follow an address of version 4 inside.
const CARRIERS: [(&str, u32); 6] = [
    ("::", 0),
    ("::ffff:0:0", 0),
    ("64:ff9b::", 0),
    ("64:ff9b:1::", 0),
    ("2001:0:102:304::", 0),
    ("2002::", 80),
];

/// One in eight is public: a literal is refused for being a literal.
pub(crate) fn version_4(random: &mut Random) -> Ipv4Addr {
    if random.once_in(8) {
        Ipv4Addr::from_bits(some_bits(random))
    } else {
        blocked_version_4(random)
    }
}

/// One in eight is public.
pub(crate) fn version_6(random: &mut Random) -> Ipv6Addr {
    if random.once_in(8) { address_in("2600::", 12, random) } else { blocked_version_6(random) }
}

pub(crate) fn blocked_version_4(random: &mut Random) -> Ipv4Addr {
    let (network, length) = random.pick(&VERSION_4);
    let network: Ipv4Addr = network.parse().expect("a network");
    Ipv4Addr::from_bits(network.to_bits() | some_bits(random) >> length)
}

pub(crate) fn blocked_version_6(random: &mut Random) -> Ipv6Addr {
    if random.once_in(3) {
        let (carrier, shift) = random.pick(&CARRIERS);
        let carrier: Ipv6Addr = carrier.parse().expect("a prefix");
        let inner = u128::from(blocked_version_4(random).to_bits()) << shift;
        return Ipv6Addr::from_bits(carrier.to_bits() | inner);
    }
    let (network, length) = random.pick(&VERSION_6);
    address_in(network, length, random)
}

fn some_bits(random: &mut Random) -> u32 {
    u32::try_from(random.bits() >> 32).expect("32 bits fit")
}

fn address_in(network: &str, length: u32, random: &mut Random) -> Ipv6Addr {
    let network: Ipv6Addr = network.parse().expect("a network");
    // Few bits set, so that there are zeros to leave out.
    let noise = random.wide_bits() & random.wide_bits() & random.wide_bits();
    Ipv6Addr::from_bits(network.to_bits() | noise.checked_shr(length).unwrap_or(0))
}

/// One to four numbers, the last of which takes what is left, each in a base of its own.
pub(crate) fn write_version_4(address: Ipv4Addr, random: &mut Random) -> String {
    let octets = address.octets();
    let parts = if random.once_in(3) { 4 } else { 1 + random.below(4) };
    let mut text = String::new();
    for octet in &octets[..parts - 1] {
        text.push_str(&write_number(u32::from(*octet), random));
        text.push('.');
    }
    let rest = octets[parts - 1..].iter().fold(0, |rest, octet| rest << 8 | u32::from(*octet));
    text + &write_number(rest, random)
}

fn write_number(number: u32, random: &mut Random) -> String {
    let zeros = if random.once_in(3) { "0".repeat(random.below(9)) } else { String::new() };
    match random.below(5) {
        0 => format!("0{zeros}{number:o}"),
        1 => format!("0x{zeros}{number:x}"),
        2 => format!("0X{zeros}{number:X}"),
        // Some read this as octal, others do not see the zeros.
        3 => format!("{zeros}{number}"),
        _ => number.to_string(),
    }
}

/// Without the brackets.
pub(crate) fn write_version_6(address: Ipv6Addr, random: &mut Random) -> String {
    let segments = address.segments();
    let text = match random.below(4) {
        0 => address.to_string(),
        1 => segments.map(|segment| format!("{segment:04x}")).join(":"),
        2 => segments.map(|segment| format!("{segment:x}")).join(":"),
        _ => with_a_gap(&segments, random),
    };
    let text = if random.once_in(4) { with_octets_last(&text, address) } else { text };
    let text = if random.once_in(3) { text.to_uppercase() } else { text };
    let zone = ["%25eth0", "%eth0", "%1", "%25", "%"];
    if random.once_in(8) { text + random.pick(&zone) } else { text }
}

/// Leaves out some run of zeros, not always the longest.
fn with_a_gap(segments: &[u16; 8], random: &mut Random) -> String {
    let start = random.below(8);
    let length = segments[start..].iter().take_while(|segment| **segment == 0).count();
    let write = |segments: &[u16]| {
        segments.iter().map(|segment| format!("{segment:x}")).collect::<Vec<_>>().join(":")
    };
    if length == 0 {
        return write(segments);
    }
    format!("{}::{}", write(&segments[..start]), write(&segments[start + length..]))
}

/// Replaces the last two segments, where both are written, by the four octets they hold.
fn with_octets_last(text: &str, address: Ipv6Addr) -> String {
    let mut parts: Vec<&str> = text.split(':').collect();
    let written = parts.iter().rev().take_while(|part| !part.is_empty()).count();
    if written < 2 || text.contains('.') {
        return text.to_owned();
    }
    let [.., a, b, c, d] = address.octets();
    let octets = Ipv4Addr::new(a, b, c, d).to_string();
    parts.truncate(parts.len() - 2);
    parts.push(&octets);
    parts.join(":")
}
