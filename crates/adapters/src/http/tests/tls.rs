//! The client before servers with a certificate, good and bad.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

use super::*;

/// Made for these tests, for the name `localhost` and a hundred years. The key
/// opens nothing else.
const AUTHORITY: &[u8] = include_bytes!("authority.der");
const CERTIFICATE: &[u8] = include_bytes!("localhost.der");
const KEY: &[u8] = include_bytes!("localhost.key.der");

/// Serves one connection, and returns what it was told inside of TLS.
fn secure_server() -> (u16, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let chain = vec![CertificateDer::from(CERTIFICATE.to_vec())];
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY.to_vec()));
    let mut config = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let config = Arc::new(config);
    let serving = std::thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        converse(socket, config)
    });
    (port, serving)
}

fn converse(mut socket: TcpStream, config: Arc<ServerConfig>) -> String {
    let mut connection = ServerConnection::new(config).unwrap();
    let mut stream = Stream::new(&mut connection, &mut socket);
    let mut heard = Vec::new();
    let mut piece = [0; 4096];
    while !heard.ends_with(b"{\"card\":1}") {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => heard.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = stream.write_all(GOOD.as_bytes());
    String::from_utf8(heard).unwrap()
}

fn trusting_the_tests_own_authority() -> HttpClient {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(AUTHORITY.to_vec())).unwrap();
    HttpClient::trusting(roots, Duration::from_secs(5), HostPolicy::Configured).unwrap()
}

#[tokio::test]
async fn a_server_with_a_good_certificate_is_answered_inside_of_tls() {
    let (port, serving) = secure_server();
    let address = HttpUrl::parse(&format!("https://localhost:{port}")).unwrap();
    let answer = trusting_the_tests_own_authority().send(order(&address)).await.unwrap();
    assert_eq!(answer.read(), Ok(Numbered { id: 42 }));
    assert!(serving.join().unwrap().ends_with("{\"card\":1}"));
}

#[tokio::test]
async fn an_untrusted_certificate_is_refused() {
    let (port, serving) = secure_server();
    let address = HttpUrl::parse(&format!("https://localhost:{port}")).unwrap();
    let client = HttpClient::new(HostPolicy::Configured).unwrap();
    assert_eq!(
        client.send(order(&address)).await,
        Err(CallError::Refused(CallErrorKind::Unconnected))
    );
    assert_eq!(serving.join().unwrap(), "");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused_unread() {
    let (port, serving) = secure_server();
    let address = HttpUrl::parse(&format!("https://127.0.0.1:{port}")).unwrap();
    let refused = Err(CallError::Refused(CallErrorKind::Unconnected));
    assert_eq!(trusting_the_tests_own_authority().send(order(&address)).await, refused);
    assert_eq!(serving.join().unwrap(), "");
}
