//! The networks on which USDC is accepted, and the accounts on them.

use std::fmt;
use std::str::FromStr;

use sha3::{Digest, Keccak256};

use crate::model::ids::hex;

/// A network on which USDC is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Network {
    Base,
    Polygon,
    Arbitrum,
}

impl Network {
    pub const ALL: [Self; 3] = [Self::Base, Self::Polygon, Self::Arbitrum];

    pub const fn chain_id(self) -> u64 {
        match self {
            Self::Base => 8453,
            Self::Polygon => 137,
            Self::Arbitrum => 42161,
        }
    }

    /// The CAIP-2 name, as both payment protocols write it.
    pub const fn caip2(self) -> &'static str {
        match self {
            Self::Base => "eip155:8453",
            Self::Polygon => "eip155:137",
            Self::Arbitrum => "eip155:42161",
        }
    }

    /// What ENS calls this network (ENSIP-11).
    pub const fn coin_type(self) -> u64 {
        0x8000_0000 | self.chain_id()
    }

    /// Circle's own USDC contract on this network (never a bridged one).
    pub const fn usdc(self) -> EvmAddress {
        EvmAddress(match self {
            Self::Base => hex20(b"833589fcd6edb6e08f4c7c32d4f71b54bda02913"),
            Self::Polygon => hex20(b"3c499c542cef5e3811e1192ce70d8cc03d5c3359"),
            Self::Arbitrum => hex20(b"af88d065e77c8cc2239327c5edb3a432268e5831"),
        })
    }

    pub fn from_caip2(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|network| network.caip2() == text)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.caip2())
    }
}

/// An account or contract on an EVM chain: 20 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EvmAddress([u8; 20]);

impl EvmAddress {
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    pub const fn bytes(self) -> [u8; 20] {
        self.0
    }
}

/// Written with the EIP-55 checksum in its capital letters.
impl fmt::Display for EvmAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = *b"0x0000000000000000000000000000000000000000";
        let (_, plain) = digits.split_at_mut("0x".len());
        let hash = Keccak256::digest(hex(&self.0, plain));
        for (place, letter) in plain.iter_mut().enumerate() {
            let nibble = hash[place / 2] >> (if place.is_multiple_of(2) { 4 } else { 0 }) & 0xf;
            if nibble >= 8 {
                letter.make_ascii_uppercase();
            }
        }
        f.write_str(std::str::from_utf8(&digits).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for EvmAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAnAddress {
    /// Not `0x` and 40 hexadecimal digits.
    Shape,
    /// Mixed case, and the capitals are not the checksum: a typing mistake.
    Checksum,
}

impl FromStr for EvmAddress {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("0x").ok_or(NotAnAddress::Shape)?;
        if digits.len() != 40 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(NotAnAddress::Shape);
        }
        let mut bytes = [0; 20];
        for (slot, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            *slot = nibble(pair[0]) << 4 | nibble(pair[1]);
        }
        let address = Self(bytes);
        let one_case = !digits.bytes().any(|byte| byte.is_ascii_uppercase())
            || !digits.bytes().any(|byte| byte.is_ascii_lowercase());
        if one_case || address.to_string() == text {
            Ok(address)
        } else {
            Err(NotAnAddress::Checksum)
        }
    }
}

const fn hex20(digits: &[u8; 40]) -> [u8; 20] {
    let mut bytes = [0; 20];
    let mut place = 0;
    while place < 20 {
        bytes[place] = nibble(digits[2 * place]) << 4 | nibble(digits[2 * place + 1]);
        place += 1;
    }
    bytes
}

/// The value of one hexadecimal digit. The caller has checked that it is one.
const fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => panic!("a hexadecimal digit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of EIP-55 itself.
    const CHECKSUMMED: [&str; 4] = [
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ];

    #[test]
    fn an_address_is_written_with_its_checksum() {
        for text in CHECKSUMMED {
            let address: EvmAddress = text.to_lowercase().parse().unwrap();
            assert_eq!(address.to_string(), text);
            assert_eq!(text.parse(), Ok(address));
        }
    }

    #[test]
    fn a_mixed_case_address_with_a_wrong_checksum_does_not_parse() {
        let wrong = CHECKSUMMED[0].replace("aAeb", "AaEb");
        assert_eq!(wrong.parse::<EvmAddress>(), Err(NotAnAddress::Checksum));
        for text in ["", "0x", "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xg", "0x00"] {
            assert_eq!(text.parse::<EvmAddress>(), Err(NotAnAddress::Shape), "{text}");
        }
    }

    #[test]
    fn the_usdc_contracts_are_those_that_circle_publishes() {
        let written = Network::ALL.map(|network| network.usdc().to_string());
        assert_eq!(
            written,
            [
                "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
                "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
            ]
        );
    }

    #[test]
    fn the_coin_types_are_those_that_ens_lists() {
        assert_eq!(Network::ALL.map(Network::coin_type), [2147492101, 2147483785, 2147525809]);
    }

    #[test]
    fn a_network_reads_back_from_its_name_and_no_other_name_reads() {
        for network in Network::ALL {
            assert_eq!(Network::from_caip2(network.caip2()), Some(network));
            assert_eq!(network.caip2(), format!("eip155:{}", network.chain_id()));
        }
        assert_eq!(Network::from_caip2("eip155:1"), None);
    }
}
