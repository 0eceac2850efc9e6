//! The error message if the process cannot listen, with advice.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;

pub(super) fn message(listen: SocketAddr, error: &Error) -> String {
    let port = listen.port();
    let elsewhere = SocketAddr::new(listen.ip(), port.checked_add(1).unwrap_or(0));
    // `ErrorKind` is non-exhaustive, so an `if` lists those with advice.
    let advice = if error.kind() == ErrorKind::AddrInUse {
        format!(
            "The port is in use, perhaps by another Pennyblack process.\n  Find it:           \
             ss -ltnp 'sport = :{port}'\n  Use another port:  PENNYBLACK_LISTEN={elsewhere} pennyblack\n"
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
            (ErrorKind::AddrInUse, "PENNYBLACK_LISTEN=127.0.0.1:81 pennyblack"),
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
