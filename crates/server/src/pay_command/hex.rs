//! Bytes as chains write them: `0x` and two digits each, and numbers without limit.

use std::fmt::Write;

pub(super) type Word = [u8; 32];

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::from("0x");
    for byte in bytes {
        // A String takes every text.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The bytes of `0x` and digits, or of digits alone.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|place| u8::from_str_radix(&digits[place..place + 2], 16).ok()).collect()
}

pub(super) fn word(text: &str) -> Option<Word> {
    decode(text)?.try_into().ok()
}

/// A number as nodes write it, if it is one that we can count with.
pub(super) fn quantity(text: &str) -> Option<u128> {
    u128::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// A whole word as a decimal number, which is how x402 clients write it.
pub(super) fn decimal(word: Word) -> String {
    let mut left = word;
    let mut digits = Vec::new();
    while left.iter().any(|byte| *byte != 0) {
        let mut rest = 0;
        for byte in &mut left {
            let sum = rest * 256 + u32::from(*byte);
            *byte = u8::try_from(sum / 10).unwrap_or(u8::MAX);
            rest = sum % 10;
        }
        digits.push(char::from_digit(rest, 10).unwrap_or('0'));
    }
    if digits.is_empty() { "0".to_owned() } else { digits.iter().rev().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_and_read_back() {
        assert_eq!(encode(&[0, 0xab, 0x7f]), "0x00ab7f");
        assert_eq!(decode("0x00AB7f"), Some(vec![0, 0xab, 0x7f]));
        for wrong in ["0x0", "0xzz", "é1", "+1"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
        assert_eq!(quantity("0x2105"), Some(8453));
        assert_eq!(quantity("8453"), None);
    }

    #[test]
    fn a_word_is_written_in_decimals() {
        let mut word = [0; 32];
        assert_eq!(decimal(word), "0");
        word[31] = 10;
        assert_eq!(decimal(word), "10");
        let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        assert_eq!(decimal([0xff; 32]), most);
    }
}
