//! Dates in the format of HTTP headers.

use order::model::ids::Timestamp;

/// `Sun, 15 Nov 2026 09:30:00 GMT`.
pub(crate) fn http_date(at: Timestamp) -> String {
    jiff::Timestamp::from(at).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_has_the_format_of_rfc_9110() {
        for (seconds, header) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] {
            assert_eq!(http_date(Timestamp(seconds)), header);
        }
    }
}
