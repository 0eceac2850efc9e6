//! The fields of a form, as a browser sends them: `application/x-www-form-urlencoded`.

/// The fields of a form or of a query. They contain personal data, so they have no `Debug`.
pub(crate) struct UrlEncodedFields(Vec<(String, String)>);

impl UrlEncodedFields {
    /// Reads any bytes: an invalid escape stays as it is, and invalid UTF-8 is replaced.
    pub(crate) fn parse(encoded: &[u8]) -> Self {
        let pairs = encoded.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
        let fields = pairs.map(|pair| {
            let mut parts = pair.splitn(2, |byte| *byte == b'=');
            let mut next = || decoded(parts.next().unwrap_or_default());
            (next(), next())
        });
        Self(fields.collect())
    }

    /// The first field of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn decoded(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let (byte, after) = match (first, escaped(after)) {
            (b'+', _) => (b' ', after),
            (b'%', Some(byte)) => (byte, after.get(2..).unwrap_or_default()),
            (byte, _) => (byte, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte of two hexadecimal digits.
fn escaped(text: &[u8]) -> Option<u8> {
    let digits = text.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_and_the_first_of_a_name_counts() {
        let fields = UrlEncodedFields::parse(
            b"message=Dear+Ada%2C%0D%0A%C3%A4%26%3D&name=a&name=b&empty=&bare&=x",
        );
        assert_eq!(fields.get("message"), Some("Dear Ada,\r\nä&="));
        assert_eq!(fields.get("name"), Some("a"));
        assert_eq!((fields.get("empty"), fields.get("bare")), (Some(""), Some("")));
        assert_eq!(fields.get("city"), None);
    }

    #[test]
    fn any_bytes_are_read() {
        for (sent, expected) in [
            ("%", "%"),
            ("%4", "%4"),
            ("%zz", "%zz"),
            ("%+1", "% 1"),
            ("%ff", "\u{fffd}"),
            ("a=b=c", "a"),
        ] {
            assert_eq!(decoded(sent.split('=').next().unwrap().as_bytes()), expected, "{sent}");
        }
        assert_eq!(UrlEncodedFields::parse(b"a=b=c").get("a"), Some("b=c"));
        assert_eq!(UrlEncodedFields::parse(&[0xff, b'&', b'%']).get("%"), Some(""));
    }
}
