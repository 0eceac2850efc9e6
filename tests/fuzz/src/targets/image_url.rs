//! The guard of image URLs and the list of public addresses, each compared with a second, simpler
//! implementation; and spellings of private addresses, none of which may pass.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use order::model::image_url::PublicImageUrl;
use order::model::public_address::is_public;
use url::Url;

pub(crate) fn run(data: &[u8]) {
    let Some((choice, rest)) = super::choice(data) else { return };
    match choice % 3 {
        0 => check_text(rest),
        1 => check_spelling(rest),
        _ => check_addresses(rest),
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = super::texts(&[
        "0https://images.example.org/sea.jpg?size=4x6#top",
        "0HTTPS://B\u{fc}cher.Example:443/a/../b%20c.png",
        "0https://127.0.0.1.example.org/",
        "0https://user@example.org/",
        "0https://\u{ff11}\u{ff12}\u{ff17}.1/",
        "0https://metadata.google.internal/computeMetadata",
        "0https://[::ffff:10.0.0.1]/",
    ]);
    for spelling in 0..SPELLINGS {
        seeds.push(vec![b'1', spelling, spelling, 10, 20, 30, 0]);
    }
    seeds.push(vec![b'2', 192, 168, 0, 1]);
    seeds.push(b"2\x00\x64\xff\x9b\x00\x01\x00\x0a\x00\x00\x00\x0a\x00\x00\x00\x01".to_vec());
    seeds
}

/// Private networks, by their first address and the length of their prefix.
const PRIVATE: [([u8; 4], u32); 15] = [
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

const PRIVATE_NAMES: [&str; 13] = [
    "localhost",
    "local",
    "internal",
    "lan",
    "home.arpa",
    "onion",
    "test",
    "invalid",
    "corp",
    "home",
    "intranet",
    "localdomain",
    "svc",
];

fn check_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(url) = PublicImageUrl::parse(text) else { return };
    let kept = url.as_str();
    assert!(is_plainly_public(kept), "{text:?} passed as {kept:?}");
    let again = PublicImageUrl::parse(kept).map(|again| again.as_str().to_owned());
    assert_eq!(again.as_deref(), Ok(kept), "what was kept is not read the same again");
    assert_eq!(Url::parse(kept).expect("a URL").as_str(), kept);
}

/// The second implementation: it knows nothing of URL parsers and reads only what was kept.
fn is_plainly_public(kept: &str) -> bool {
    let Some(rest) = kept.strip_prefix("https://") else { return false };
    let Some((host, path)) = rest.split_once('/') else { return false };
    let labels: Vec<&str> = host.split('.').collect();
    let is_label = |label: &&str| {
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let ends = label.starts_with('-') || label.ends_with('-');
        !label.is_empty() && label.len() <= 63 && label.bytes().all(plain) && !ends
    };
    let is_private =
        PRIVATE_NAMES.iter().any(|name| format!(".{host}").ends_with(&format!(".{name}")));
    labels.len() > 1
        && host.len() <= 253
        && labels.iter().all(is_label)
        && labels.last().is_some_and(|last| last.as_bytes()[0].is_ascii_lowercase())
        && !is_private
        && kept.len() <= 2_048
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#')
}

const SPELLINGS: u8 = 28;

/// The bytes choose a spelling, a private network and an address in it.
pub(crate) fn check_spelling(bytes: &[u8]) {
    let [spelling, network, a, b, c, rest @ ..] = bytes else { return };
    let (first, length) = PRIVATE[usize::from(*network) % PRIVATE.len()];
    let inside = u32::from_be_bytes([0, *a, *b, *c]) & (u32::MAX >> length);
    let address = Ipv4Addr::from_bits(Ipv4Addr::from(first).to_bits() | inside);
    let host = spelled(spelling % SPELLINGS, address);
    let path =
        rest.iter().map(|byte| char::from(b'!' + byte % 94)).filter(|letter| *letter != '\\');
    let path: String = path.collect();
    for url in
        [format!("https://{host}/{path}"), format!("https://{host}"), format!("https:{host}/")]
    {
        if let Ok(passed) = PublicImageUrl::parse(&url) {
            panic!("{url:?} is {address} and passed as {:?}", passed.as_str());
        }
    }
}

/// An address as parsers of URLs and of addresses have read it.
fn spelled(spelling: u8, address: Ipv4Addr) -> String {
    let [a, b, c, d] = address.octets();
    let (number, low) = (address.to_bits(), u32::from_be_bytes([0, b, c, d]));
    let swap = |from: char, to: char| address.to_string().replace(from, &to.to_string());
    let shifted = |base: u32| -> String {
        let wide = |digit: u32| char::from_u32(base + digit).unwrap_or('0');
        address.to_string().chars().map(|letter| letter.to_digit(10).map_or(letter, wide)).collect()
    };
    match spelling {
        0 => address.to_string(),
        1 => format!("{a:#o}.{b:#o}.{c:#o}.{d:#o}").replace("0o", "0"),
        2 => format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        3 => number.to_string(),
        4 => format!("{number:#x}"),
        5 => format!("0{number:o}"),
        6 => format!("{a}.{low}"),
        7 => format!("{a}.{b}.{}", u32::from_be_bytes([0, 0, c, d])),
        8 => format!("{a:#X}.0{b:o}.{c}.{d:#x}"),
        9 => format!("{a:03}.{b:03}.{c:03}.{d:03}"),
        10 => shifted(0xff10),
        11 => shifted(0x1d7ce),
        12 => swap('.', '\u{3002}'),
        13 => swap('.', '\u{ff0e}'),
        14 => format!("[::ffff:{address}]"),
        15 => format!("[::ffff:{:x}:{:x}]", number >> 16, number & 0xffff),
        16 => format!("[64:ff9b::{address}]"),
        17 => format!("{address}:443"),
        18 => format!("{address}."),
        19 => format!("example.org@{address}"),
        20 => format!("{address}\\@example.org"),
        21 => address.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect(),
        22 => address.to_string().replace('.', "\u{ad}."),
        23 => format!("//{address}"),
        24 => format!("{address}#@example.org"),
        25 => format!("host-{d}.{}", PRIVATE_NAMES[usize::from(a) % PRIVATE_NAMES.len()]),
        26 => format!("[::{:x}:{:x}%25eth0]", number >> 16, number & 0xffff),
        _ => format!("{}\t{}.{b}.{c}.{d}", a / 10, a % 10),
    }
}

pub(crate) fn check_addresses(bytes: &[u8]) {
    if let Some(octets) = bytes.first_chunk::<4>() {
        let address = Ipv4Addr::from(*octets);
        assert_eq!(is_public(IpAddr::V4(address)), !is_private_4(address), "{address}");
    }
    if let Some(octets) = bytes.first_chunk::<16>() {
        let address = Ipv6Addr::from(*octets);
        let passed = is_public(IpAddr::V6(address));
        assert!(!(passed && is_private_6(address)), "{address}");
    }
}

fn is_private_4(address: Ipv4Addr) -> bool {
    PRIVATE.iter().any(|(first, length)| {
        (address.to_bits() ^ Ipv4Addr::from(*first).to_bits()).leading_zeros() >= *length
    })
}

fn is_private_6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let [.., y, z] = address.segments();
    let last = Ipv4Addr::from_bits(u32::from(y) << 16 | u32::from(z));
    match (a, b) {
        (0, 0) => match address.to_ipv4_mapped() {
            Some(mapped) => is_private_4(mapped),
            None => address.segments()[..6] == [0; 6],
        },
        (0x64, 0xff9b) => address.segments()[2..6] == [0; 4] && is_private_4(last),
        (0x2001, 0 | 0xdb8) | (0x2002 | 0x5f00, _) => true,
        (0x3fff, second) => second < 0x1000,
        (0x100, 0) => address.segments()[2..4] == [0; 2],
        (first, _) => {
            first & 0xfe00 == 0xfc00 || first & 0xff80 == 0xfe80 || first & 0xff00 == 0xff00
        }
    }
}
