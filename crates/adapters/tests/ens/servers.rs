//! Local HTTP servers, valid and faulty, that record their requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use alloy_primitives::Bytes;
use alloy_sol_types::SolCall;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::chain::{addrCall, signed};

/// Runs until the test ends.
pub(crate) async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}")
}

/// How a gateway behaves.
#[derive(Clone)]
pub(crate) enum Conduct {
    /// Signs this account for whatever is asked.
    Honest([u8; 20]),
    /// Answers with another account's signature.
    Forging([u8; 20]),
    Redirecting(String),
    /// A valid answer with additional fields.
    Wordy([u8; 20]),
    /// A valid answer after every timeout.
    Slow([u8; 20]),
    Refusing(StatusCode),
    Babbling,
}

#[derive(Clone)]
pub(crate) struct Gateway {
    pub url: String,
    asked: Arc<AtomicUsize>,
}

struct Desk {
    conduct: Conduct,
    asked: Arc<AtomicUsize>,
}

impl Gateway {
    pub(crate) async fn start(conduct: Conduct) -> Self {
        let asked = Arc::new(AtomicUsize::new(0));
        let desk = Arc::new(Desk { conduct, asked: asked.clone() });
        let router = Router::new()
            .route("/{sender}/{data}", get(by_path))
            .route("/", post(by_body))
            .with_state(desk);
        Self { url: serve(router).await, asked }
    }

    /// Takes the question in its address.
    pub(crate) fn by_path(&self) -> String {
        format!("{}/{{sender}}/{{data}}", self.url)
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

async fn by_path(
    State(desk): State<Arc<Desk>>,
    Path((sender, data)): Path<(String, String)>,
) -> Response {
    desk.answer(&sender, &data).await
}

async fn by_body(State(desk): State<Arc<Desk>>, Json(body): Json<Value>) -> Response {
    desk.answer(body["sender"].as_str().unwrap(), body["data"].as_str().unwrap()).await
}

impl Desk {
    async fn answer(&self, sender: &str, data: &str) -> Response {
        self.asked.fetch_add(1, Ordering::SeqCst);
        assert_eq!(sender.len(), 42, "{sender}");
        let data: Bytes = data.parse().unwrap();
        assert!(addrCall::abi_decode(&data).is_ok(), "{data}");
        match &self.conduct {
            Conduct::Honest(account) => says(signed(account)),
            Conduct::Forging(account) => says([&[7; 32], &account[..]].concat()),
            Conduct::Redirecting(to) => {
                (StatusCode::FOUND, [("location", to.clone())]).into_response()
            }
            Conduct::Wordy(account) => {
                let data = Bytes::from(signed(account)).to_string();
                Json(json!({ "data": data, "words": "x".repeat(64 * 1024) })).into_response()
            }
            Conduct::Slow(account) => {
                tokio::time::sleep(Duration::from_secs(4)).await;
                says(signed(account))
            }
            Conduct::Refusing(status) => status.into_response(),
            Conduct::Babbling => Body::from("<html>hello</html>").into_response(),
        }
    }
}

fn says(bytes: Vec<u8>) -> Response {
    Json(json!({ "data": Bytes::from(bytes).to_string() })).into_response()
}
