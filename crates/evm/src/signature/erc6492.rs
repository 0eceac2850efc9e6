//! Signatures of smart wallets that also say how the wallet is deployed (ERC-6492).

use crate::word::Word;

const WORD_BYTES: usize = size_of::<Word>();
/// The arguments before the wallet's own signature: a factory, and the call to it.
const EARLIER_ARGUMENTS: usize = 2;
/// The last bytes of every such signature.
const MAGIC: Word = magic();

const fn magic() -> Word {
    let mut bytes = [0x64; WORD_BYTES];
    let mut at = 1;
    while at < WORD_BYTES {
        bytes[at] = 0x92;
        at += 2;
    }
    bytes
}

/// Whether a signature has this form.
pub fn is_wrapped(signature: &[u8]) -> bool {
    signature.ends_with(&MAGIC)
}

/// The signature that the wallet itself checks; none if `signature` is not of this form or is
/// malformed.
pub fn inner(signature: &[u8]) -> Option<&[u8]> {
    let arguments = signature.strip_suffix(&MAGIC)?;
    let at = number(arguments, EARLIER_ARGUMENTS * WORD_BYTES)?;
    let length = number(arguments, at)?;
    let start = at.checked_add(WORD_BYTES)?;
    arguments.get(start..start.checked_add(length)?)
}

/// The number in the word at this byte.
fn number(arguments: &[u8], at: usize) -> Option<usize> {
    let word = arguments.get(at..at.checked_add(WORD_BYTES)?)?;
    let (high, low) = word.split_last_chunk::<8>()?;
    let is_small = high.iter().all(|byte| *byte == 0);
    if is_small { usize::try_from(u64::from_be_bytes(*low)).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    /// Written by viem 2.57.1 (`serializeErc6492Signature`): factory 0x1111…, data 0xdeadbeef,
    /// signature 0xaabbcc.
    const WRAPPED: &str = "0x\
        0000000000000000000000001111111111111111111111111111111111111111\
        0000000000000000000000000000000000000000000000000000000000000060\
        00000000000000000000000000000000000000000000000000000000000000a0\
        0000000000000000000000000000000000000000000000000000000000000004\
        deadbeef00000000000000000000000000000000000000000000000000000000\
        0000000000000000000000000000000000000000000000000000000000000003\
        aabbcc0000000000000000000000000000000000000000000000000000000000\
        6492649264926492649264926492649264926492649264926492649264926492";

    #[test]
    fn the_wallets_own_signature_is_found_in_what_viem_writes() {
        let wrapped = hex::decode(WRAPPED).unwrap();
        assert!(is_wrapped(&wrapped));
        assert_eq!(inner(&wrapped), Some([0xaa, 0xbb, 0xcc].as_slice()));
    }

    #[test]
    fn any_other_signature_is_left_alone() {
        let mut changed = hex::decode(WRAPPED).unwrap();
        *changed.last_mut().unwrap() ^= 1;
        for plain in [[].as_slice(), &[0x5a; 65], changed.as_slice()] {
            assert!(!is_wrapped(plain));
            assert_eq!(inner(plain), None);
        }
    }

    #[test]
    fn a_malformed_one_has_no_inner_signature() {
        let wrapped = hex::decode(WRAPPED).unwrap();
        // The offset and the length of the inner signature.
        for place in [64, 88, 95, 160, 184, 191] {
            let mut malformed = wrapped.clone();
            malformed[place] = 0xff;
            assert!(is_wrapped(&malformed));
            assert_eq!(inner(&malformed), None, "{place}");
        }
        for length in 0..wrapped.len() - MAGIC.len() {
            let cut = [&wrapped[..length], &MAGIC].concat();
            assert!(inner(&cut).is_none_or(|inner| length >= 195 && inner.len() == 3), "{length}");
        }
    }
}
