//! The error message if the process cannot listen, with advice.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;

/// So far away, no listener of another process with the default ports is in the way.
const OTHER_PORT: u16 = 100;

pub(super) fn message(listen: SocketAddr, error: &Error) -> String {
    let port = listen.port();
    let elsewhere = SocketAddr::new(listen.ip(), port.checked_add(OTHER_PORT).unwrap_or(0));
    // `ErrorKind` is non-exhaustive, so an `if` lists those with advice.
    let advice = if error.kind() == ErrorKind::AddrInUse {
        format!(
            "The port is in use, perhaps by another Pennyblack process.\n  Find it:           \
             ss -ltnp 'sport = :{port}'\n  Use another port:  PENNYBLACK_LISTEN={elsewhere} pennyblack\n\
             A second process beside it needs a data folder of its own: PENNYBLACK_DATA=./data2\n"
        )
    } else if error.kind() == ErrorKind::PermissionDenied {
        format!(
            "The operating system reserves this port. Ports from 1024 need no privileges.\n  Try:  \
             PENNYBLACK_LISTEN={}:8402 pennyblack\n",
            listen.ip()
        )
    } else if error.kind() == ErrorKind::AddrNotAvailable {
        format!(
            "This machine does not have that IP address.\n  Try:  \
             PENNYBLACK_LISTEN=127.0.0.1:{port} pennyblack\n"
        )
    } else {
        format!("{error}\n")
    };
    format!("Cannot listen on {listen}.\n{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_says_what_to_do() {
        let listen = SocketAddr::from(([127, 0, 0, 1], 80));
        for (kind, advice) in [
            (ErrorKind::AddrInUse, "PENNYBLACK_LISTEN=127.0.0.1:180 pennyblack"),
            (ErrorKind::PermissionDenied, "PENNYBLACK_LISTEN=127.0.0.1:8402 pennyblack"),
            (ErrorKind::AddrNotAvailable, "PENNYBLACK_LISTEN=127.0.0.1:80 pennyblack"),
        ] {
            let text = message(listen, &Error::from(kind));
            assert!(text.starts_with("Cannot listen on 127.0.0.1:80.\n"), "{text}");
            assert!(text.contains(advice), "{text}");
        }
    }

    #[test]
    fn after_the_last_port_any_free_one_is_suggested() {
        let listen = SocketAddr::from(([127, 0, 0, 1], u16::MAX));
        let text = message(listen, &Error::from(ErrorKind::AddrInUse));
        assert!(text.contains("127.0.0.1:0 pennyblack"), "{text}");
    }
}
