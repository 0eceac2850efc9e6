//! TLS to PostgreSQL: `sslmode` and `sslrootcert` as libpq spells them, and the handshake.
//!
//! Only two modes exist here: `disable`, and `verify-full`, which checks the certificate and the
//! host name in it. The modes between them encrypt without knowing for whom, so they are refused.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use reqwest::Url;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::config::{Config, Host, SslMode};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use crate::store::OpenError;
use crate::store::error::UrlProblem;

/// The protocol's name in ALPN (PostgreSQL 17).
const PROTOCOL: &[u8] = b"postgresql";
/// libpq's word for the authorities that the system trusts. Ours are compiled in.
const SYSTEM: &str = "system";

/// How the connections to a server are protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostgresTransport {
    /// To this machine only.
    Local,
    Encrypted,
    /// Over a network in clear text, to this host.
    ClearText(String),
}

/// A server, and how to connect to it.
#[derive(Clone)]
pub(super) struct ServerUrl {
    pub(super) config: Config,
    pub(super) tls: PostgresTls,
}

impl ServerUrl {
    /// No error repeats the text, which may hold a password.
    pub(super) fn parse(text: &str) -> Result<Self, OpenError> {
        let mut url = Url::parse(text).map_err(|_| OpenError::InvalidUrl)?;
        let wanted = TlsWanted::take_from(&mut url)?;
        let mut config: Config = url.as_str().parse().map_err(|_| OpenError::InvalidUrl)?;
        let tls = match wanted {
            TlsWanted::No => PostgresTls { config: None },
            TlsWanted::VerifyFull(authority) => {
                let roots = authority.map_or_else(|| Ok(public_authorities()), |file| read(&file));
                PostgresTls { config: Some(Arc::new(client_config(roots?)?)) }
            }
        };
        config.ssl_mode(if tls.config.is_some() { SslMode::Require } else { SslMode::Disable });
        Ok(Self { config, tls })
    }

    pub(super) fn transport(&self) -> PostgresTransport {
        if self.tls.config.is_some() {
            return PostgresTransport::Encrypted;
        }
        let distant = self.config.get_hostaddrs().iter().find(|host| !host.is_loopback());
        let named = self.config.get_hosts().iter().find_map(|host| match host {
            Host::Tcp(name) if !is_this_machine(name) => Some(name.clone()),
            Host::Tcp(_) | Host::Unix(_) => None,
        });
        // An address beside a name is the one that is connected to.
        let distant = match self.config.get_hostaddrs() {
            [] => named,
            [..] => distant.map(IpAddr::to_string),
        };
        distant.map_or(PostgresTransport::Local, PostgresTransport::ClearText)
    }
}

fn is_this_machine(name: &str) -> bool {
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// What the URL says about TLS.
enum TlsWanted {
    No,
    /// With the authorities in this file, or with those that are compiled in.
    VerifyFull(Option<PathBuf>),
}

impl TlsWanted {
    /// Takes our parameters out of the URL: the driver does not know them.
    fn take_from(url: &mut Url) -> Result<Self, OpenError> {
        let query = url.query().unwrap_or_default().to_owned();
        let (mut mode, mut authority, mut rest) = (None, None, Vec::new());
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name {
                "sslmode" => mode = Some(decoded(url, value)),
                "sslrootcert" => authority = Some(decoded(url, value)),
                "sslnegotiation" => rest.push(parameter),
                other if other.starts_with("ssl") => return Err(UrlProblem::TlsOption.into()),
                _ => rest.push(parameter),
            }
        }
        // What is left stays as it was written: the driver has its own way of decoding it.
        let rest = rest.join("&");
        url.set_query(Some(rest.as_str()).filter(|rest| !rest.is_empty()));
        match (mode.as_deref(), authority) {
            (None | Some("disable"), None) => Ok(Self::No),
            (None | Some("disable"), Some(_)) => Err(UrlProblem::UnusedAuthority.into()),
            (Some("verify-full"), None) => Ok(Self::VerifyFull(None)),
            (Some("verify-full"), Some(file)) if file == SYSTEM => Ok(Self::VerifyFull(None)),
            (Some("verify-full"), Some(file)) => Ok(Self::VerifyFull(Some(file.into()))),
            (Some("allow" | "prefer" | "require" | "verify-ca"), _) => {
                Err(UrlProblem::UncheckedTls.into())
            }
            (Some(_), _) => Err(UrlProblem::TlsMode.into()),
        }
    }
}

/// A value without its percent signs. A plus stays a plus, as in libpq.
fn decoded(url: &Url, value: &str) -> String {
    let mut one = url.clone();
    one.set_query(Some(&format!("value={}", value.replace('+', "%2B"))));
    one.query_pairs().map(|(_, value)| value.into_owned()).collect()
}

fn public_authorities() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

/// The authorities in a PEM file. All of them must be usable.
fn read(file: &Path) -> Result<RootCertStore, OpenError> {
    let problem = |why: String| UrlProblem::Authority { path: file.to_owned(), why };
    let text = fs::read(file).map_err(|error| problem(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| problem(error.to_string()))?;
        roots.add(certificate).map_err(|error| problem(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(problem("it contains no certificate in PEM format".to_owned()).into());
    }
    Ok(roots)
}

fn client_config(roots: RootCertStore) -> Result<ClientConfig, OpenError> {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .map_err(crate::store::error::postgres)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(config)
}

/// Makes the handshake; without settings it is never called, because the driver's mode is
/// `disable`.
#[derive(Clone)]
pub(super) struct PostgresTls {
    config: Option<Arc<ClientConfig>>,
}

impl MakeTlsConnect<Socket> for PostgresTls {
    type Stream = EncryptedSocket;
    type TlsConnect = Handshake;
    type Error = io::Error;

    /// Cannot fail: it is called for connections without TLS too.
    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        Ok(Handshake { config: self.config.clone(), host: host.to_owned() })
    }
}

pub(super) struct Handshake {
    config: Option<Arc<ClientConfig>>,
    host: String,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = EncryptedSocket;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedSocket>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let config = self.config.ok_or_else(|| io::Error::other("TLS is not configured"))?;
            let host = ServerName::try_from(self.host).map_err(io::Error::other)?;
            TlsConnector::from(config).connect(host, socket).await.map(EncryptedSocket)
        })
    }
}

pub(super) struct EncryptedSocket(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for EncryptedSocket {
    /// Not offered: `verify-full` has already proved who the server is.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for EncryptedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for EncryptedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transport(url: &str) -> PostgresTransport {
        ServerUrl::parse(url).map(|server| server.transport()).unwrap()
    }

    fn refusal(url: &str) -> String {
        ServerUrl::parse(url).err().unwrap().to_string()
    }

    #[test]
    fn only_a_connection_to_another_machine_without_tls_is_clear_text() {
        for local in ["localhost", "127.0.0.1", "127.8.8.8", "[::1]", "%2Frun%2Fpostgresql"] {
            let url = format!("postgres://ida:hunter2@{local}/orders");
            assert_eq!(transport(&url), PostgresTransport::Local, "{local}");
            let url = format!("{url}?sslmode=disable");
            assert_eq!(transport(&url), PostgresTransport::Local, "{local}");
        }
        for distant in ["db.example", "10.0.0.7", "localhost.example"] {
            let url = format!("postgres://ida:hunter2@{distant}:5433/orders");
            assert_eq!(transport(&url), PostgresTransport::ClearText(distant.into()));
            let url = format!("{url}?sslmode=verify-full");
            assert_eq!(transport(&url), PostgresTransport::Encrypted);
        }
        let elsewhere = "postgres://ida@localhost/orders?hostaddr=10.0.0.7";
        assert_eq!(transport(elsewhere), PostgresTransport::ClearText("10.0.0.7".into()));
    }

    #[test]
    fn the_drivers_own_parameters_are_kept() {
        let url = "postgres://ida@db.example/orders?sslmode=verify-full\
                   &options=-csearch_path%3Da%20-cwork_mem%3D4MB&sslrootcert=system";
        let server = ServerUrl::parse(url).unwrap();
        assert_eq!(server.config.get_options(), Some("-csearch_path=a -cwork_mem=4MB"));
        assert_eq!(server.config.get_ssl_mode(), SslMode::Require);
        let plain = ServerUrl::parse("postgres://ida@db.example/orders").unwrap();
        assert_eq!(plain.config.get_ssl_mode(), SslMode::Disable, "never `prefer`");
    }

    #[test]
    fn modes_that_do_not_check_the_server_are_refused_with_a_remedy() {
        let at = "postgres://ida:hunter2@db.example/orders?";
        for (query, told) in [
            ("sslmode=allow", "sslmode=verify-full"),
            ("sslmode=prefer", "sslmode=verify-full"),
            ("sslmode=require", "sslmode=verify-full"),
            ("sslmode=verify-ca&sslrootcert=/a", "sslmode=verify-full"),
            ("sslmode=hunter2", "unknown sslmode"),
            ("sslrootcert=/a", "sslrootcert"),
            ("sslmode=disable&sslrootcert=/a", "sslrootcert"),
            ("sslcert=/hunter2", "client certificates"),
            ("sslmode=verify-full&sslrootcert=/does/not/exist", "/does/not/exist"),
        ] {
            let refusal = refusal(&format!("{at}{query}"));
            assert!(refusal.contains(told), "{query}: {refusal}");
            assert!(!refusal.contains("hunter2"), "{refusal}");
        }
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "no certificate").unwrap();
        let at = "postgres://ida@db.example/orders?sslmode=verify-full&sslrootcert=";
        let refusal = refusal(&format!("{at}{}", file.path().display()));
        assert!(refusal.contains("no certificate in PEM format"), "{refusal}");
    }
}
