//! Bytes as chains write them: `0x` and two hexadecimal digits for each byte.

/// With `0x`, in lower case.
pub fn encode(bytes: &[u8]) -> String {
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    let digits = nibbles.filter_map(|nibble| char::from_digit(nibble.into(), 16));
    "0x".chars().chain(digits).collect()
}

/// The bytes of `0x` and digits in any case.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    decode_digits(text.strip_prefix("0x")?)
}

/// The bytes of digits without `0x`.
pub fn decode_digits(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect()
}

/// An address that is part of the source text. Wrong digits do not compile in a constant.
pub(crate) const fn address(text: &str) -> [u8; 20] {
    let digits = text.as_bytes();
    assert!(digits.len() == 42 && digits[0] == b'0' && digits[1] == b'x', "0x and 40 digits");
    let mut bytes = [0; 20];
    let mut place = 0;
    while place < 20 {
        let high = nibble(digits[2 * place + 2]).expect("a hexadecimal digit");
        bytes[place] = high << 4 | nibble(digits[2 * place + 3]).expect("a hexadecimal digit");
        place += 1;
    }
    bytes
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_and_read_back() {
        assert_eq!(encode(&[0, 0xab, 0x7f]), "0x00ab7f");
        assert_eq!(encode(&[]), "0x");
        assert_eq!(decode("0x00AB7f"), Some(vec![0, 0xab, 0x7f]));
        assert_eq!(decode("0x"), Some(Vec::new()));
        assert_eq!(decode_digits("00fFa7"), Some(vec![0, 0xff, 0xa7]));
    }

    #[test]
    fn other_text_is_not_hexadecimal() {
        for text in ["", "00", "0x0", "0xg0", "0x0g", "0x é", "0xé", "0x+1", "0X00"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
