//! Why we cannot listen, and what to do next.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;

pub(super) fn about_listening(listen: SocketAddr, error: &Error) -> String {
    let port = listen.port();
    let elsewhere = SocketAddr::new(listen.ip(), port.checked_add(1).unwrap_or(0));
    // The kinds of the system are open-ended, so an `if` names those we can help with.
    let advice = if error.kind() == ErrorKind::AddrInUse {
        format!(
            "Another program is there already, perhaps an earlier Pennyblack.\n  Who is it:     \
             ss -ltnp 'sport = :{port}'\n  Or elsewhere:  PENNYBLACK_LISTEN={elsewhere} pennyblack\n"
        )
    } else if error.kind() == ErrorKind::PermissionDenied {
        format!(
            "The system reserves this port; those from 1024 are free to use.\n  Try:  \
             PENNYBLACK_LISTEN={}:8402 pennyblack\n",
            listen.ip()
        )
    } else if error.kind() == ErrorKind::AddrNotAvailable {
        format!(
            "This machine does not have that address.\n  Try:  \
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
    fn each_complaint_says_what_to_do_next() {
        let listen = SocketAddr::from(([127, 0, 0, 1], 80));
        for (kind, advice) in [
            (ErrorKind::AddrInUse, "PENNYBLACK_LISTEN=127.0.0.1:81 pennyblack"),
            (ErrorKind::PermissionDenied, "PENNYBLACK_LISTEN=127.0.0.1:8402 pennyblack"),
            (ErrorKind::AddrNotAvailable, "PENNYBLACK_LISTEN=127.0.0.1:80 pennyblack"),
        ] {
            let words = about_listening(listen, &Error::from(kind));
            assert!(words.starts_with("Cannot listen on 127.0.0.1:80.\n"), "{words}");
            assert!(words.contains(advice), "{words}");
        }
    }

    #[test]
    fn beyond_the_last_port_any_free_one_is_offered() {
        let listen = SocketAddr::from(([127, 0, 0, 1], u16::MAX));
        let words = about_listening(listen, &Error::from(ErrorKind::AddrInUse));
        assert!(words.contains("127.0.0.1:0 pennyblack"), "{words}");
    }
}
