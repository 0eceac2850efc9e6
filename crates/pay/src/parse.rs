//! Parses numbers, addresses and bytes from the strings that clients write into JSON.

pub(crate) use evm::hex::decode as bytes;
use order::model::chain::EvmAddress;

/// The number of digits of the largest 256-bit number.
const DIGITS_MAX: usize = 78;

/// 256 bits from decimal digits, or from `0x` and hexadecimal ones. Clients write both.
pub(crate) fn word(text: &str) -> Option<[u8; 32]> {
    let (digits, base) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    if digits.is_empty() || digits.len() > DIGITS_MAX {
        return None;
    }
    let mut word = [0; 32];
    for digit in digits.chars() {
        let mut carry = digit.to_digit(base)?;
        for byte in word.iter_mut().rev() {
            let [_, _, high, low] = (u32::from(*byte) * base + carry).to_be_bytes();
            *byte = low;
            carry = u32::from(high);
        }
        if carry != 0 {
            return None;
        }
    }
    Some(word)
}

/// A number of at most 64 bits: no accepted amount or time is larger.
pub(crate) fn number(text: &str) -> Option<u64> {
    let word = word(text)?;
    let (rest, low) = word.split_last_chunk::<8>()?;
    rest.iter().all(|byte| *byte == 0).then(|| u64::from_be_bytes(*low))
}

/// An address in upper or lower case. It is compared and signed by value, so its checksum does
/// not matter.
pub(crate) fn address(text: &str) -> Option<EvmAddress> {
    text.to_ascii_lowercase().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_same_in_both_bases() {
        let nonce =
            "110117680976134290040645500446194905769275902069351365960831693135107775870080";
        let same = "0xf3746613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480";
        assert_eq!(word(nonce), word(same));
        assert_eq!(word("0xff"), word("255"));
        assert_eq!(word("0XFF"), None);
        let most = format!("0x{}", "f".repeat(64));
        assert_eq!(word(&most), Some([255; 32]));
        let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        assert_eq!(word(most), Some([255; 32]));
    }

    #[test]
    fn a_string_that_is_not_a_256_bit_number_is_rejected() {
        let more = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
        let zeros = "0".repeat(79);
        let long = format!("0x1{}", "0".repeat(64));
        for text in ["", "0x", "-1", "+1", " 1", "1 ", "1e3", "1.0", "0b1", "ff", "١"] {
            assert_eq!(word(text), None, "{text}");
        }
        for text in [more, &zeros, &long] {
            assert_eq!(word(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_has_at_most_64_bits() {
        assert_eq!(number("18446744073709551615"), Some(u64::MAX));
        assert_eq!(number("18446744073709551616"), None);
        assert_eq!(number("0x3567e0"), Some(3_500_000));
        assert_eq!(number("0003500000"), Some(3_500_000));
    }
}
