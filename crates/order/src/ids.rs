//! Names of things.

use std::fmt;
use std::str::FromStr;

use crate::discretion::prints_only_its_name;

/// The public name of an order: 128 unguessable bits, written as 32 lowercase
/// hexadecimal characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderId([u8; 16]);

impl OrderId {
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnOrderId;

impl FromStr for OrderId {
    type Err = NotAnOrderId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lowercase_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 32 || !text.bytes().all(lowercase_hex) {
            return Err(NotAnOrderId);
        }
        let number = u128::from_str_radix(text, 16).map_err(|_| NotAnOrderId)?;
        Ok(Self(number.to_be_bytes()))
    }
}

/// The process that works on an order: 128 random bits, new at every start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId([u8; 16]);

impl WorkerId {
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What makes two requests the same operation. Made by
/// [`Identity`](crate::identity::Identity) only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationKey(pub [u8; 32]);

impl fmt::Debug for OperationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

/// A keyed digest of everything that the caller asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

/// The caller's own name for an operation: 16 to 128 of `[A-Za-z0-9_-]`.
#[derive(Clone, PartialEq, Eq)]
pub struct OperationId(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnOperationId;

impl OperationId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for OperationId {
    type Err = NotAnOperationId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if (16..=128).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAnOperationId)
        }
    }
}

// A caller may put anything into an identifier, a name for instance, so it is
// not printed.
prints_only_its_name!(OperationId);

/// Seconds since the Unix epoch, read from the [`Clock`](crate::ports::Clock).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub u64);

impl Timestamp {
    pub const fn plus(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// How many seconds have passed since `earlier`; none if the clock was put
    /// back in between, since then nobody can say.
    pub const fn since(self, earlier: Self) -> Option<u64> {
        self.0.checked_sub(earlier.0)
    }
}

/// Two lowercase digits for each byte. Written as one text, since a challenge is
/// made of little else and a formatter takes its time for every piece.
pub(crate) fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    let mut digits = [0; 64];
    for piece in bytes.chunks(digits.len() / 2) {
        f.write_str(hex(piece, &mut digits))?;
    }
    Ok(())
}

/// As many bytes as there is room for.
pub(crate) fn hex<'a>(bytes: &[u8], digits: &'a mut [u8]) -> &'a str {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut written = 0;
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[byte >> 4, byte & 0xf].map(|half| DIGITS[usize::from(half)]));
        written += pair.len();
    }
    digits.get(..written).and_then(|digits| std::str::from_utf8(digits).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_id_reads_back_as_written() {
        let id =
            OrderId::from_bytes([0, 1, 0xa7, 0xff, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0x0f]);
        assert_eq!(id.to_string(), "0001a7ff0405060708090a0b0c0d0e0f");
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn an_order_id_is_32_lowercase_hex_characters_and_nothing_else() {
        let signed = format!("+{}", "a".repeat(31));
        for text in ["", "a7", &"A7".repeat(16), &"g7".repeat(16), &"a7".repeat(17), &signed] {
            assert_eq!(text.parse::<OrderId>(), Err(NotAnOrderId), "{text}");
        }
    }

    #[test]
    fn an_operation_id_is_16_to_128_plain_characters() {
        for good in ["a".repeat(16), "A-z_0".repeat(25), "9".repeat(128)] {
            assert!(good.parse::<OperationId>().is_ok(), "{good}");
        }
        for bad in ["".into(), "a".repeat(15), "a".repeat(129), "a b c d e f g h i".into()] {
            assert_eq!(bad.parse::<OperationId>(), Err(NotAnOperationId), "{bad}");
        }
    }

    #[test]
    fn nobody_can_say_how_long_ago_it_was_when_the_clock_was_put_back() {
        assert_eq!(Timestamp(100).since(Timestamp(40)), Some(60));
        assert_eq!(Timestamp(40).since(Timestamp(100)), None);
    }
}
