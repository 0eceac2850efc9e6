//! Ethereum's wire format for nested byte strings, as far as one transaction needs it.

/// A byte string with its head.
pub(super) fn bytes(content: &[u8]) -> Vec<u8> {
    match content {
        [single] if *single < 0x80 => vec![*single],
        _ => [head(0x80, content.len()), content.to_vec()].concat(),
    }
}

/// A number, without leading zeroes.
pub(super) fn number(value: u128) -> Vec<u8> {
    word(&value.to_be_bytes())
}

/// A number that is at hand as bytes, most significant first.
pub(super) fn word(digits: &[u8]) -> Vec<u8> {
    let zeroes = digits.iter().take_while(|digit| **digit == 0).count();
    bytes(&digits[zeroes..])
}

/// A list of items that are encoded already.
pub(super) fn list(items: &[Vec<u8>]) -> Vec<u8> {
    let inside = items.concat();
    [head(0xc0, inside.len()), inside].concat()
}

/// Up to 55 bytes the head tells the length; above, it tells the length of the length.
fn head(base: u8, length: usize) -> Vec<u8> {
    let digits: Vec<u8> =
        length.to_be_bytes().into_iter().skip_while(|digit| *digit == 0).collect();
    match (u8::try_from(length), u8::try_from(digits.len())) {
        (Ok(short), _) if short <= 55 => vec![base + short],
        (Ok(_) | Err(_), Ok(count)) => [vec![base + 55 + count], digits].concat(),
        (Ok(_) | Err(_), Err(_)) => unreachable!("a length has eight bytes at most"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the format's own description.
    #[test]
    fn known_spellings() {
        assert_eq!(bytes(b"dog"), b"\x83dog");
        assert_eq!(list(&[bytes(b"cat"), bytes(b"dog")]), b"\xc8\x83cat\x83dog");
        assert_eq!((bytes(b""), number(0), list(&[])), (vec![0x80], vec![0x80], vec![0xc0]));
        assert_eq!((number(15), number(1024)), (vec![15], vec![0x82, 4, 0]));
        assert_eq!(bytes(&[0x80]), [0x81, 0x80]);
        let lorem = "Lorem ipsum dolor sit amet, consectetur adipisicing elit";
        assert_eq!(bytes(lorem.as_bytes())[..3], [0xb8, 0x38, b'L']);
        assert_eq!(bytes(&[b'a'; 1024])[..4], [0xb9, 4, 0, b'a']);
        assert_eq!(list(&vec![vec![1]; 56])[..3], [0xf8, 56, 1]);
    }
}
