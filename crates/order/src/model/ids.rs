//! Identifiers and timestamps.

use std::fmt;
use std::str::FromStr;

use crate::model::redacted::redacted_debug;

/// The public id of an order: 80 unguessable bits and a tag of 48, written as 32
/// lowercase hexadecimal characters.
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
        // mutant: uppercase-order-id
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
/// [`Identity`](crate::model::identity::Identity) only.
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
redacted_debug!(OperationId);

/// Seconds since the Unix epoch, read from the [`Clock`](crate::ports::Clock). It is written
/// and read as RFC 3339 does: `2026-11-15T09:30:00Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATimestamp;

impl Timestamp {
    pub const fn plus(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// How many seconds have passed since `earlier`. None if the clock was set back in
    /// between, because then the duration is unknown.
    pub const fn since(self, earlier: Self) -> Option<u64> {
        self.0.checked_sub(earlier.0)
    }
}

impl From<Timestamp> for jiff::Timestamp {
    /// Times after the year 9999 become its last second.
    fn from(at: Timestamp) -> Self {
        let seconds = i64::try_from(at.0).unwrap_or(i64::MAX).min(Self::MAX.as_second());
        Self::from_second(seconds).unwrap_or(Self::MAX)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        jiff::Timestamp::from(*self).fmt(f)
    }
}

impl FromStr for Timestamp {
    type Err = NotATimestamp;

    /// Fractions of a second are dropped. Times before 1970 are not read.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let at: jiff::Timestamp = text.parse().map_err(|_| NotATimestamp)?;
        u64::try_from(at.as_second()).map(Self).map_err(|_| NotATimestamp)
    }
}

/// Two lowercase digits for each byte, written as one text: a formatter call for each byte
/// is slow, and challenges consist mostly of these.
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
    fn a_timestamp_is_written_and_read_as_rfc_3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (784_111_777, "1994-11-06T08:49:37Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(Timestamp(seconds).to_string(), text);
            assert_eq!(text.parse(), Ok(Timestamp(seconds)));
        }
        assert_eq!(Timestamp(u64::MAX).to_string(), "9999-12-30T22:00:00Z");
        let at = Ok(Timestamp(1_794_709_607));
        assert_eq!("2026-11-15T02:26:47.931Z".parse(), at);
        assert_eq!("2026-11-15T03:26:47+01:00".parse(), at);
        for text in ["", "tomorrow", "2026-11-15", "2026-02-29T00:00:00Z", "1969-12-31T23:59:59Z"] {
            assert_eq!(text.parse::<Timestamp>(), Err(NotATimestamp), "{text}");
        }
    }

    #[test]
    fn the_duration_is_unknown_if_the_clock_was_set_back() {
        assert_eq!(Timestamp(100).since(Timestamp(40)), Some(60));
        assert_eq!(Timestamp(40).since(Timestamp(100)), None);
    }
}
