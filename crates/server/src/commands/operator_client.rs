//! The client of the operator's interface, for the commands that talk to the running service.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::{Builder, Runtime};
use url::Url;
use zeroize::Zeroizing;

use crate::cli::orders::ConnectionArguments;
use crate::config::load::ConfigReport;
use crate::config::settings;
use crate::operator::listener;

/// Sends requests to the operator's interface, one connection for each.
pub(crate) struct OperatorClient {
    runtime: Runtime,
    endpoint: OperatorEndpoint,
}

enum OperatorEndpoint {
    Socket(PathBuf),
    Loopback { authority: String, token: Zeroizing<String> },
}

/// Why a command got no result. The text is for the operator.
#[derive(Debug)]
pub(crate) enum ClientError {
    /// An argument, a file or the configuration is invalid.
    Unusable(String),
    /// The service is not reachable.
    Unreachable(String),
    /// The service rejected the request.
    Rejected(String),
}

impl ClientError {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Unusable(text) | Self::Unreachable(text) | Self::Rejected(text) => text,
        }
    }

    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Unreachable(_) | Self::Rejected(_) => 1,
            Self::Unusable(_) => 2,
        }
    }
}

impl OperatorClient {
    /// The socket of the configured data folder, or the listener that the arguments name.
    pub(crate) fn open(
        connection: &ConnectionArguments,
        config: &ConfigReport,
    ) -> Result<Self, ClientError> {
        let endpoint = match (&connection.operator_url, &connection.token_file) {
            (Some(url), Some(file)) => loopback(url, file).map_err(ClientError::Unusable)?,
            (Some(_) | None, _) => {
                let data = config.value(&settings::DATA).map_err(ClientError::Unusable)?;
                OperatorEndpoint::Socket(listener::socket_path(Path::new(data)))
            }
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| ClientError::Unreachable(error.to_string()))?;
        Ok(Self { runtime, endpoint })
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value, ClientError> {
        self.runtime.block_on(self.exchange(Method::GET, path, None))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        self.runtime.block_on(self.exchange(Method::POST, path, Some(body)))
    }

    /// Passes each line of the response on as it comes.
    pub(crate) fn lines(
        &self,
        path: &str,
        mut on_line: impl FnMut(Value),
    ) -> Result<(), ClientError> {
        self.runtime.block_on(async {
            let response = self.send(Method::GET, path, None).await?;
            if !response.status().is_success() {
                return Err(rejection(response).await);
            }
            let (mut body, mut pending) = (response.into_body(), Vec::new());
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|error| self.interrupted(&error))?;
                pending.extend(frame.into_data().unwrap_or_default());
                while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = pending.drain(..=end).collect();
                    on_line(parse(&line)?);
                }
            }
            Ok(())
        })
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ClientError> {
        let response = self.send(method, path, body).await?;
        if !response.status().is_success() {
            return Err(rejection(response).await);
        }
        let body = response.into_body().collect().await;
        let body = body.map_err(|error| self.interrupted(&error))?.to_bytes();
        parse(&body)
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Response<Incoming>, ClientError> {
        let (host, token) = match &self.endpoint {
            OperatorEndpoint::Socket(_) => ("localhost", None),
            OperatorEndpoint::Loopback { authority, token } => (authority.as_str(), Some(token)),
        };
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, host);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", **token));
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let request =
            request.body(body).map_err(|error| ClientError::Unusable(format!("{error}\n")))?;
        let sent = match &self.endpoint {
            OperatorEndpoint::Socket(path) => match UnixStream::connect(path).await {
                Ok(stream) => send_over(stream, request).await,
                Err(error) => return Err(ClientError::Unreachable(no_socket(path, &error))),
            },
            OperatorEndpoint::Loopback { authority, .. } => {
                let stream = TcpStream::connect(authority).await.map_err(|error| {
                    ClientError::Unreachable(format!("Cannot connect to {authority}: {error}.\n"))
                })?;
                send_over(stream, request).await
            }
        };
        sent.map_err(|error| self.interrupted(&error))
    }

    fn interrupted(&self, error: &hyper::Error) -> ClientError {
        ClientError::Unreachable(format!(
            "The connection to the service was lost: {error}. An action may have been made: look at the order before you repeat the command.\n"
        ))
    }
}

async fn send_over<S>(stream: S, request: Request<Body>) -> Result<Response<Incoming>, hyper::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // An error of the connection is also an error of the request.
    tokio::spawn(connection);
    sender.send_request(request).await
}

fn parse(text: &[u8]) -> Result<Value, ClientError> {
    serde_json::from_slice(text).map_err(|_| {
        ClientError::Unreachable("The service sent an answer that is not JSON.\n".to_owned())
    })
}

async fn rejection(response: Response<Incoming>) -> ClientError {
    let status = response.status();
    let body = response.into_body().collect().await.map(|body| body.to_bytes());
    let body: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
    let message = body["error"]["message"].as_str().unwrap_or("No reason was given.");
    let code = body["error"]["code"].as_str().unwrap_or("unknown");
    ClientError::Rejected(format!("{message} ({code}, status {})\n", status.as_u16()))
}

fn loopback(url: &str, token_file: &Path) -> Result<OperatorEndpoint, String> {
    let invalid = || format!("`{url}` is not a URL such as http://127.0.0.1:8404.\n");
    let parsed = Url::parse(url).map_err(|_| invalid())?;
    let port = parsed.port_or_known_default().filter(|_| parsed.scheme() == "http");
    let (Some(host), Some(port)) = (parsed.host_str(), port) else { return Err(invalid()) };
    let token = std::fs::read_to_string(token_file).map(Zeroizing::new);
    let token = token.map_err(|error| {
        format!("The token file {} cannot be read: {error}.\n", token_file.display())
    })?;
    let token = Zeroizing::new(token.trim().to_owned());
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!(
            "{} has no operator token. It is in the file operator.token of the service's data folder.\n",
            token_file.display()
        ));
    }
    Ok(OperatorEndpoint::Loopback { authority: format!("{host}:{port}"), token })
}

fn no_socket(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    if error.kind() == ErrorKind::PermissionDenied {
        return format!(
            "Only the user that runs the service may use its socket {path}. Run the command as that user.\n"
        );
    }
    format!(
        "The service is not running, or it has another data folder: cannot connect to {path} ({error}).\n\
         Start it with `pennyblack serve`, or name its configuration with --config or its folder with PENNYBLACK_DATA.\n"
    )
}
