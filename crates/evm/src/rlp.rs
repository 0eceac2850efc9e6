//! RLP, the wire format for nested byte strings: plain encoding, strict decoding.

use crate::word::Word;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RlpItem {
    Bytes(Vec<u8>),
    List(Vec<RlpItem>),
}

/// The bytes are not RLP, not in its only valid form, or not the expected kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidRlp;

/// How deep lists may nest. An access list needs three; without a limit the sender of a
/// transaction could choose how much stack decoding uses.
const DEPTH_MAX: usize = 8;

impl RlpItem {
    /// A number, most significant byte first, written without leading zeros.
    pub fn number(digits: &[u8]) -> Self {
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        Self::Bytes(digits[zeros..].to_vec())
    }

    pub fn as_number(&self) -> Result<Word, InvalidRlp> {
        match self {
            Self::Bytes(bytes) if bytes.len() <= 32 && bytes.first() != Some(&0) => {
                let mut word = [0; 32];
                word[32 - bytes.len()..].copy_from_slice(bytes);
                Ok(word)
            }
            Self::Bytes(_) | Self::List(_) => Err(InvalidRlp),
        }
    }

    pub fn as_bytes(&self) -> Result<&[u8], InvalidRlp> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::List(_) => Err(InvalidRlp),
        }
    }
}

pub fn encode(item: &RlpItem) -> Vec<u8> {
    match item {
        RlpItem::Bytes(bytes) if bytes.len() == 1 && bytes[0] < 0x80 => bytes.clone(),
        RlpItem::Bytes(bytes) => [header(0x80, bytes.len()), bytes.clone()].concat(),
        RlpItem::List(items) => {
            let content: Vec<u8> = items.iter().flat_map(encode).collect();
            [header(0xc0, content.len()), content].concat()
        }
    }
}

/// The one item that these bytes are, with nothing after it.
pub fn decode(bytes: &[u8]) -> Result<RlpItem, InvalidRlp> {
    let (item, rest) = item(bytes, DEPTH_MAX)?;
    if rest.is_empty() { Ok(item) } else { Err(InvalidRlp) }
}

/// Up to 55 bytes the header is the length; above, it is the length of the length.
fn header(base: u8, length: usize) -> Vec<u8> {
    match u8::try_from(length) {
        Ok(short) if short <= 55 => vec![base + short],
        Ok(_) | Err(_) => {
            let digits: Vec<u8> =
                length.to_be_bytes().into_iter().skip_while(|digit| *digit == 0).collect();
            let count = u8::try_from(digits.len()).expect("a length has eight bytes at most");
            [vec![base + 55 + count], digits].concat()
        }
    }
}

fn item(bytes: &[u8], depth: usize) -> Result<(RlpItem, &[u8]), InvalidRlp> {
    let (&first, after) = bytes.split_first().ok_or(InvalidRlp)?;
    match first {
        0..=0x7f => Ok((RlpItem::Bytes(vec![first]), after)),
        0x80..=0xb7 => {
            let (content, rest) = split(after, usize::from(first - 0x80))?;
            // One small byte stands for itself; with a header it would have a second form.
            if content.len() == 1 && content[0] < 0x80 {
                return Err(InvalidRlp);
            }
            Ok((RlpItem::Bytes(content.to_vec()), rest))
        }
        0xb8..=0xbf => {
            let (content, rest) = split_long(after, usize::from(first - 0xb7))?;
            Ok((RlpItem::Bytes(content.to_vec()), rest))
        }
        0xc0..=0xf7 => {
            let (content, rest) = split(after, usize::from(first - 0xc0))?;
            Ok((list(content, depth)?, rest))
        }
        0xf8..=0xff => {
            let (content, rest) = split_long(after, usize::from(first - 0xf7))?;
            Ok((list(content, depth)?, rest))
        }
    }
}

fn list(mut content: &[u8], depth: usize) -> Result<RlpItem, InvalidRlp> {
    let depth = depth.checked_sub(1).ok_or(InvalidRlp)?;
    let mut items = Vec::new();
    while !content.is_empty() {
        let (next, rest) = item(content, depth)?;
        items.push(next);
        content = rest;
    }
    Ok(RlpItem::List(items))
}

fn split(bytes: &[u8], length: usize) -> Result<(&[u8], &[u8]), InvalidRlp> {
    bytes.split_at_checked(length).ok_or(InvalidRlp)
}

/// A length with its own length, which must be necessary and without leading zeros.
fn split_long(bytes: &[u8], digits: usize) -> Result<(&[u8], &[u8]), InvalidRlp> {
    let (digits, rest) = split(bytes, digits)?;
    if digits.first() == Some(&0) {
        return Err(InvalidRlp);
    }
    let mut length = [0; 8];
    length[8 - digits.len()..].copy_from_slice(digits);
    let length = usize::try_from(u64::from_be_bytes(length)).map_err(|_| InvalidRlp)?;
    if length <= 55 {
        return Err(InvalidRlp);
    }
    split(rest, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: usize) -> RlpItem {
        RlpItem::number(&value.to_be_bytes())
    }

    #[test]
    fn an_encoded_item_decodes_to_itself_at_every_length() {
        for length in [0, 1, 2, 54, 55, 56, 57, 255, 256, 70_000] {
            let item = RlpItem::List(vec![
                RlpItem::Bytes(vec![0xab; length]),
                RlpItem::List(vec![number(length)]),
            ]);
            assert_eq!(decode(&encode(&item)), Ok(item));
        }
    }

    /// The examples of the format's specification.
    #[test]
    fn known_items_are_encoded_as_specified() {
        let text = |text: &str| RlpItem::Bytes(text.as_bytes().to_vec());
        assert_eq!(encode(&text("dog")), b"\x83dog");
        assert_eq!(encode(&RlpItem::List(vec![text("cat"), text("dog")])), b"\xc8\x83cat\x83dog");
        assert_eq!(encode(&text("")), [0x80]);
        assert_eq!(encode(&number(0)), [0x80]);
        assert_eq!(encode(&RlpItem::List(Vec::new())), [0xc0]);
        assert_eq!(encode(&number(15)), [15]);
        assert_eq!(encode(&number(1024)), [0x82, 4, 0]);
        assert_eq!(encode(&RlpItem::Bytes(vec![0x80])), [0x81, 0x80]);
        let lorem = "Lorem ipsum dolor sit amet, consectetur adipisicing elit";
        assert_eq!(encode(&text(lorem))[..3], [0xb8, 0x38, b'L']);
        assert_eq!(encode(&text(&"a".repeat(1024)))[..4], [0xb9, 4, 0, b'a']);
        assert_eq!(encode(&RlpItem::List(vec![number(1); 56]))[..3], [0xf8, 56, 1]);
    }

    #[test]
    fn a_second_form_of_the_same_item_is_refused() {
        let wrong: [&[u8]; 9] = [
            b"",
            b"\x81\x05",
            b"\xb8\x01\x90",
            b"\xb9\x00\x38",
            b"\x83do",
            b"\xc2\x83d",
            b"\x80\x80",
            &[0xff; 30],
            &[0xc1; 30],
        ];
        for bytes in wrong {
            assert_eq!(decode(bytes), Err(InvalidRlp), "{bytes:02x?}");
        }
        assert_eq!(decode(&[0x82, 0, 1]).unwrap().as_number(), Err(InvalidRlp));
    }
}
