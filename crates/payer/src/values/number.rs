//! Numbers as nodes and x402 clients write them.

use evm::word::Word;

/// A number as nodes write it, if it has at most 128 bits.
pub(crate) fn quantity(text: &str) -> Option<u128> {
    u128::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// A whole word as a decimal number, which is how x402 clients write it.
pub(crate) fn decimal(word: Word) -> String {
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
    fn quantities_begin_with_0x() {
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
