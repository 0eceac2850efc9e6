//! Both edges of every range that is not public, with the neighbours on either side.

use super::*;

/// The last address before a range, its first, its last, and the first after it. A star fills
/// an address with ones; a dash stands where the range touches another or the end of all.
const EDGES: [[&str; 4]; 30] = [
    ["-", "0.0.0.0", "0.255.255.255", "1.0.0.0"],
    ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"],
    ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"],
    ["126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"],
    ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
    ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"],
    ["191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"],
    ["192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"],
    ["192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"],
    ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"],
    ["198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"],
    ["198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"],
    ["203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"],
    ["223.255.255.255", "224.0.0.0", "239.255.255.255", "-"],
    ["-", "240.0.0.0", "255.255.255.255", "-"],
    ["-", "::", "::", "-"],
    ["-", "::1", "::1", "-"],
    ["-", "::", "::ffff:ffff", "::1:0:0"],
    ["::fffe:ffff:ffff", "::ffff:0:0", "::ffff:ffff:ffff", "::1:0:0:0"],
    ["64:ff9a:*", "64:ff9b::", "64:ff9b::ffff:ffff", "64:ff9b::1:0:0"],
    ["64:ff9b:0:*", "64:ff9b:1::", "64:ff9b:1:*", "64:ff9b:2::"],
    ["ff:*", "100::", "100:0:0:0:*", "100:0:0:1::"],
    ["2000:*", "2001::", "2001:0:*", "2001:1::"],
    ["2001:db7:*", "2001:db8::", "2001:db8:*", "2001:db9::"],
    ["2001:*", "2002::", "2002:*", "2003::"],
    ["3ffe:*", "3fff::", "3fff:fff:*", "3fff:1000::"],
    ["5eff:*", "5f00::", "5f00:*", "5f01::"],
    ["fbff:*", "fc00::", "fdff:*", "fe00::"],
    ["fe7f:*", "fe80::", "feff:*", "-"],
    ["-", "ff00::", "ffff:*", "-"],
];

fn number(text: &str) -> u128 {
    let start = text.trim_end_matches(['*', ':']);
    let full = match text.strip_suffix('*') {
        Some(_) => format!("{start}{}", ":ffff".repeat(8 - start.split(':').count())),
        None => text.to_owned(),
    };
    match full.parse().expect(text) {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn judged(text: &str) -> bool {
    is_public(IpAddr::V6(Ipv6Addr::from_bits(number(text))))
}

#[test]
fn every_range_is_refused_from_its_first_to_its_last_address_and_not_beyond() {
    for [before, first, last, after] in EDGES {
        assert!(!judged(first), "{first} begins a blocked range");
        assert!(!judged(last), "{last} ends a blocked range");
        if before != "-" {
            assert!(judged(before), "{before} is free");
            assert_eq!(number(before) + 1, number(first), "{before} touches {first}");
        }
        if after != "-" {
            assert!(judged(after), "{after} is free");
            assert_eq!(number(last) + 1, number(after), "{last} touches {after}");
        }
    }
}

#[test]
fn every_range_in_the_table_has_its_edges_in_the_test() {
    for range in &SPECIAL {
        let last = range.network | !(u128::MAX << (u128::BITS - range.length));
        let is_listed =
            |edges: &[&str; 4]| number(edges[1]) == range.network && number(edges[2]) == last;
        assert!(EDGES.iter().any(is_listed), "{:x}/{}", range.network, range.length);
    }
}

#[test]
fn an_address_of_version_4_is_judged_the_same_bare_mapped_and_behind_a_gateway() {
    for address in EDGES.iter().flatten().filter_map(|text| text.parse::<Ipv4Addr>().ok()) {
        let bare = is_public(IpAddr::V4(address));
        for prefix in ["::ffff:0:0", "64:ff9b::"] {
            let inside = Ipv6Addr::from_bits(number(prefix) | u128::from(address.to_bits()));
            assert_eq!(is_public(IpAddr::V6(inside)), bare, "{inside}");
        }
    }
}

#[test]
fn old_ways_to_carry_a_public_address_of_version_4_are_refused_nonetheless() {
    for text in ["::8.8.8.8", "2002:808:808::1", "2001:0:808:808::f7f7:f7f7"] {
        assert!(!judged(text), "{text}");
    }
}

#[test]
fn behind_the_gateway_of_a_site_every_place_of_the_inner_address_is_judged() {
    assert!(judged("64:ff9b:1:808:8:808:808:808"), "8.8.8.8 wherever the site looks");
    for (prefix_length, text) in [
        (48, "64:ff9b:1:a08:8:808:808:808"),
        (56, "64:ff9b:1:80a:8:808:808:808"),
        (64, "64:ff9b:1:808:a:808:808:808"),
        (96, "64:ff9b:1:808:8:808:a08:808"),
    ] {
        let inner = inner_address(number(text), prefix_length);
        assert_eq!(inner, Ipv4Addr::new(10, 8, 8, 8), "{text}");
        assert!(!judged(text), "{text}");
    }
    assert!(!judged("64:ff9b:1::808:808"), "a site with a short prefix reads 0.0.0.0 here");
}

#[test]
fn well_known_public_servers_are_public() {
    for text in ["1.1.1.1", "8.8.8.8", "93.184.215.14", "2606:4700:4700::1111", "2a00:1450::8"] {
        assert!(judged(text), "{text}");
        assert!(is_public(text.parse().expect(text)), "{text}");
    }
}
