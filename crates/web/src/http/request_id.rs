//! Request ids, by which a caller's report is matched with the log.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderName, HeaderValue};

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// 128 bits as 32 lowercase hexadecimal characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RequestId([u8; 32]);

impl RequestId {
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("hexadecimal digits are ASCII")
    }

    pub fn header(&self) -> HeaderValue {
        HeaderValue::from_bytes(&self.0).expect("hexadecimal digits are visible ASCII")
    }
}

/// Generates request ids that never repeat within a process and are unlikely to repeat between
/// processes.
///
/// They are not secret, so a counter with a random prefix is enough and needs no system call for
/// each request.
pub struct RequestIds {
    prefix: u64,
    next: AtomicU64,
}

impl RequestIds {
    pub fn new() -> Self {
        Self { prefix: random_bits(), next: AtomicU64::new(random_bits()) }
    }

    pub fn next(&self) -> RequestId {
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        let bits = (u128::from(self.prefix) << 64) | u128::from(count);
        let mut text = [b'0'; 32];
        for (pair, byte) in text.chunks_exact_mut(2).zip(bits.to_be_bytes()) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 0x0f)];
        }
        RequestId(text)
    }
}

impl Default for RequestIds {
    fn default() -> Self {
        Self::new()
    }
}

/// The standard library seeds each map from the operating system. Its hash of nothing gives
/// those bits without another dependency.
fn random_bits() -> u64 {
    RandomState::new().hash_one(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn an_id_is_32_lowercase_hex_characters() {
        let id = RequestIds::new().next();
        assert_eq!(id.as_str().len(), 32);
        assert!(id.as_str().bytes().all(|byte| DIGITS.contains(&byte)));
        assert_eq!(id.header(), id.as_str());
    }

    #[test]
    fn ids_do_not_repeat_within_or_between_processes() {
        let generators = [RequestIds::new(), RequestIds::new()];
        let ids: HashSet<String> = generators
            .iter()
            .flat_map(|ids| (0..1000).map(|_| ids.next().as_str().to_owned()))
            .collect();
        assert_eq!(ids.len(), 2000);
    }

    #[test]
    fn the_counter_may_wrap() {
        let ids = RequestIds { prefix: 1, next: AtomicU64::new(u64::MAX) };
        assert_eq!(ids.next().as_str(), "0000000000000001ffffffffffffffff");
        assert_eq!(ids.next().as_str(), "00000000000000010000000000000000");
    }
}
