//! A minimal hyper server with one fixed response, the baseline of the benchmark.
//!
//! `bare_hyper <address> <file of headers> <file with the body>`, the files as curl writes them.

use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("bare_hyper <address> <headers> <body>");
    let address: SocketAddr = next()?.parse()?;
    let head = std::fs::read_to_string(next()?)?;
    let (status, headers) = (status(&head)?, headers(&head)?);
    let body = Bytes::from(std::fs::read(next()?)?);
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (headers, body) = (headers.clone(), body.clone());
        tokio::spawn(async move {
            let service = service_fn(move |_: Request<hyper::body::Incoming>| {
                let mut response = Response::new(Full::new(body.clone()));
                *response.status_mut() = status;
                *response.headers_mut() = headers.clone();
                async move { Ok::<_, Infallible>(response) }
            });
            let _ = Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// The status of a response head as curl writes it.
fn status(text: &str) -> Result<StatusCode, Box<dyn std::error::Error>> {
    let code = text.split_whitespace().nth(1).ok_or("the headers have no status line")?;
    Ok(code.parse()?)
}

/// `name: value` lines, as curl writes them, without the date, which hyper adds.
fn headers(text: &str) -> Result<HeaderMap, Box<dyn std::error::Error>> {
    let mut headers = HeaderMap::new();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(": ") else { continue };
        if !name.eq_ignore_ascii_case("date") {
            headers.append(HeaderName::try_from(name)?, HeaderValue::try_from(value.trim())?);
        }
    }
    Ok(headers)
}
