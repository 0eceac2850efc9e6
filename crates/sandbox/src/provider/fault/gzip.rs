//! Wraps bytes in a valid gzip container without compressing them.

/// A stored block says its length in 16 bits.
const BLOCK_BYTES: usize = 65_535;

pub(crate) fn wrap(bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut blocks = bytes.chunks(BLOCK_BYTES).peekable();
    if bytes.is_empty() {
        file.extend([1, 0, 0, 255, 255]);
    }
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        file.push(u8::from(blocks.peek().is_none()));
        file.extend(length.to_le_bytes());
        file.extend((!length).to_le_bytes());
        file.extend(block);
    }
    file.extend(checksum(bytes).to_le_bytes());
    let length = u32::try_from(bytes.len() % (1 << 32)).unwrap_or_default();
    file.extend(length.to_le_bytes());
    file
}

fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |mut sum, byte| {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
            sum = (sum >> 1) ^ carry;
        }
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_crc32() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_long_body_takes_more_than_one_block() {
        let wrapped = wrap(&vec![7; 70_000]);
        assert_eq!(wrapped.len(), 10 + 5 + 65_535 + 5 + 4_465 + 8);
    }
}
