//! Words of the EVM: 32 bytes, most significant byte first.

pub type Word = [u8; 32];

pub fn from_address(address: [u8; 20]) -> Word {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address);
    word
}

pub fn from_u64(number: u64) -> Word {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&number.to_be_bytes());
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_at_the_end_of_its_word() {
        assert_eq!(from_u64(0x0102)[29..], [0, 1, 2]);
        assert_eq!(from_address([7; 20])[..13], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
    }
}
