//! Ethereum's wire format for nested byte strings: strict reading, plain writing.

use alloy_primitives::U256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Bytes(Vec<u8>),
    List(Vec<Item>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotRlp;

/// How deep lists may nest: an access list needs three, and a hostile caller
/// must not choose how much stack we use.
const DEEPEST: usize = 8;

impl Item {
    pub(super) fn number(number: U256) -> Self {
        Self::Bytes(number.to_be_bytes_trimmed_vec())
    }

    /// A number is written without leading zeroes, or it is not one.
    pub(super) fn as_number(&self) -> Result<U256, NotRlp> {
        match self {
            Self::Bytes(bytes) if bytes.len() <= 32 && bytes.first() != Some(&0) => {
                Ok(U256::from_be_slice(bytes))
            }
            Self::Bytes(_) | Self::List(_) => Err(NotRlp),
        }
    }

    pub(super) fn as_bytes(&self) -> Result<&[u8], NotRlp> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::List(_) => Err(NotRlp),
        }
    }
}

/// The one item that these bytes are, with nothing behind it.
pub(super) fn decode(bytes: &[u8]) -> Result<Item, NotRlp> {
    let (item, rest) = item(bytes, DEEPEST)?;
    if rest.is_empty() { Ok(item) } else { Err(NotRlp) }
}

pub(super) fn encode(item: &Item) -> Vec<u8> {
    match item {
        Item::Bytes(bytes) if bytes.len() == 1 && bytes[0] < 0x80 => bytes.clone(),
        Item::Bytes(bytes) => [head(0x80, bytes.len()), bytes.clone()].concat(),
        Item::List(items) => {
            let inside: Vec<u8> = items.iter().flat_map(encode).collect();
            [head(0xc0, inside.len()), inside].concat()
        }
    }
}

fn head(base: u8, length: usize) -> Vec<u8> {
    match u8::try_from(length) {
        Ok(short) if short <= 55 => vec![base + short],
        Ok(_) | Err(_) => {
            let digits = U256::from(length).to_be_bytes_trimmed_vec();
            let count = u8::try_from(digits.len()).unwrap_or(u8::MAX - base - 55);
            [vec![base + 55 + count], digits].concat()
        }
    }
}

fn item(bytes: &[u8], depth: usize) -> Result<(Item, &[u8]), NotRlp> {
    let (&first, after) = bytes.split_first().ok_or(NotRlp)?;
    match first {
        0..=0x7f => Ok((Item::Bytes(vec![first]), after)),
        0x80..=0xb7 => {
            let (content, rest) = split(after, usize::from(first - 0x80))?;
            // One small byte stands for itself; with a head it would be a second spelling.
            if content.len() == 1 && content[0] < 0x80 {
                return Err(NotRlp);
            }
            Ok((Item::Bytes(content.to_vec()), rest))
        }
        0xb8..=0xbf => {
            let (content, rest) = long(after, usize::from(first - 0xb7))?;
            Ok((Item::Bytes(content.to_vec()), rest))
        }
        0xc0..=0xf7 => {
            let (content, rest) = split(after, usize::from(first - 0xc0))?;
            Ok((list(content, depth)?, rest))
        }
        0xf8..=0xff => {
            let (content, rest) = long(after, usize::from(first - 0xf7))?;
            Ok((list(content, depth)?, rest))
        }
    }
}

fn list(mut content: &[u8], depth: usize) -> Result<Item, NotRlp> {
    let depth = depth.checked_sub(1).ok_or(NotRlp)?;
    let mut items = Vec::new();
    while !content.is_empty() {
        let (next, rest) = item(content, depth)?;
        items.push(next);
        content = rest;
    }
    Ok(Item::List(items))
}

fn split(bytes: &[u8], length: usize) -> Result<(&[u8], &[u8]), NotRlp> {
    bytes.split_at_checked(length).ok_or(NotRlp)
}

/// A length of its own, which must be needed and written without leading zeroes.
fn long(bytes: &[u8], digits: usize) -> Result<(&[u8], &[u8]), NotRlp> {
    let (length, rest) = split(bytes, digits)?;
    if length.first() == Some(&0) {
        return Err(NotRlp);
    }
    let length = usize::try_from(U256::from_be_slice(length)).map_err(|_| NotRlp)?;
    if length <= 55 {
        return Err(NotRlp);
    }
    split(rest, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_at_every_length() {
        for length in [0, 1, 2, 54, 55, 56, 57, 255, 256, 70_000] {
            let item = Item::List(vec![
                Item::Bytes(vec![0xab; length]),
                Item::List(vec![Item::number(U256::from(length))]),
            ]);
            assert_eq!(decode(&encode(&item)), Ok(item));
        }
    }

    /// The examples of the format's own description.
    #[test]
    fn known_spellings() {
        let text = |text: &str| Item::Bytes(text.as_bytes().to_vec());
        assert_eq!(encode(&text("dog")), b"\x83dog");
        assert_eq!(encode(&Item::List(vec![text("cat"), text("dog")])), b"\xc8\x83cat\x83dog");
        assert_eq!(encode(&Item::number(U256::ZERO)), [0x80]);
        assert_eq!(encode(&Item::number(U256::from(1024))), [0x82, 4, 0]);
        assert_eq!(encode(&text(&"a".repeat(56)))[..2], [0xb8, 56]);
    }

    #[test]
    fn a_second_spelling_of_the_same_thing_is_not_read() {
        let wrong: [&[u8]; 8] = [
            b"",
            b"\x81\x05",
            b"\xb8\x01\x90",
            b"\xb9\x00\x38",
            b"\x83do",
            b"\xc2\x83d",
            b"\x80\x80",
            &[0xc1; 30],
        ];
        for bytes in wrong {
            assert_eq!(decode(bytes), Err(NotRlp), "{bytes:02x?}");
        }
        assert_eq!(decode(&[0x82, 0, 1]).unwrap().as_number(), Err(NotRlp));
    }
}
