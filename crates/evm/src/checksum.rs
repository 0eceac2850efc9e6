//! Addresses as text, with the EIP-55 checksum in their capital letters.

use crate::hex;
use crate::keccak::keccak256;

/// `0x` and 40 digits, with the checksum.
pub fn encode(address: [u8; 20]) -> String {
    let plain = hex::encode(&address);
    let hash = keccak256(&[&plain.as_bytes()[2..]]);
    let nibbles = hash.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    let digits = plain.chars().skip(2).zip(nibbles);
    let digits =
        digits.map(|(digit, nibble)| if nibble >= 8 { digit.to_ascii_uppercase() } else { digit });
    "0x".chars().chain(digits).collect()
}

/// The address of `0x` and 40 digits: all in one case, or with the right checksum.
pub fn decode(text: &str) -> Option<[u8; 20]> {
    let address = hex::decode(text)?.try_into().ok()?;
    let digits = &text[2..];
    let one_case = digits == digits.to_ascii_lowercase() || digits == digits.to_ascii_uppercase();
    (one_case || encode(address) == text).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of EIP-55.
    const CHECKSUMMED: [&str; 4] = [
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ];

    #[test]
    fn an_address_is_written_with_its_checksum() {
        for text in CHECKSUMMED {
            let address = decode(&text.to_lowercase()).unwrap();
            assert_eq!(encode(address), text);
            assert_eq!(decode(text), Some(address));
            assert_eq!(decode(&format!("0x{}", text[2..].to_uppercase())), Some(address));
        }
    }

    #[test]
    fn a_wrong_checksum_is_not_read() {
        let wrong = CHECKSUMMED[0].replace("aAeb", "AaEb");
        for text in ["", "0x", "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xg", "0x00", &wrong] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
