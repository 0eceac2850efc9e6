//! What a merchant answers to `pennyblack pay`: whatever it is, nothing is signed beyond what the
//! payer allows, and nothing is sent to another server.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use async_trait::async_trait;
use axum::http::HeaderMap;
use axum::http::header::WWW_AUTHENTICATE;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use order::model::chain::Network;
use pay::http_binding::ClientKind;
use payer::io::{HttpRequest, NoResponse, PayerIo, PayerResponse};
use payer::options::{PaymentOptions, ServiceLocation};
use payer::payment::pay;
use payer::values::amount::UsdcAmount;
use payer::values::rail::PaymentRail;
use serde_json::Value;
use tokio::runtime::Builder;

use super::answers::split;
use super::payments::{self, NOW};
use super::x402_credential::header_lines;

const MOST: u64 = 3_500_000;
const SECONDS_MAX: u64 = 3_600;
const BASE_URL: &str = "https://cards.example";

/// The files of a payer. The card is the body that challenges of MPP are bound to.
static FILES: LazyLock<Files> = LazyLock::new(Files::new);

struct Files {
    card: PathBuf,
    key: PathBuf,
    pending: PathBuf,
}

impl Files {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("pennyblack-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let [card, key, pending] = ["card.json", "key", "payment"].map(|name| folder.join(name));
        fs::write(&card, payments::BODY).expect("the card");
        fs::write(&key, "42".repeat(32)).expect("the key");
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("its mode");
        Self { card, key, pending }
    }
}

pub(crate) fn run(data: &[u8]) {
    let Some((choice, rest)) = super::choice(data) else { return };
    let rail = if choice & 1 == 0 { PaymentRail::X402 } else { PaymentRail::Mpp };
    let replies: VecDeque<PayerResponse> =
        split(rest).filter_map(|part| reply(choice, part)).collect();
    let io = ScriptedMerchant { replies: Mutex::new(replies), signed: Mutex::default() };
    let options = PaymentOptions {
        body: FILES.card.clone(),
        rail,
        key_file: Some(FILES.key.clone()),
        max: UsdcAmount::from_atomic(MOST),
        network: None,
        rpc_url: None,
        approve: false,
        yes: true,
        keep: Some(FILES.pending.clone()),
    };
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let location = || Ok(ServiceLocation { base_url: BASE_URL.to_owned(), sandbox: None });
    let outcome = runtime.block_on(pay(&options, &io, location));
    let _ = outcome.text();
    let _ = fs::remove_file(&FILES.pending);
    let signed = io.signed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let first = signed.first();
    assert!(signed.iter().all(|other| Some(other) == first), "two payments were signed");
    if let Some(header) = first {
        check(rail, header);
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let unpaid = [
        payments::send(&payments::x402().0, None, ClientKind::Program),
        payments::send(&payments::mpp().0, None, ClientKind::Program),
    ];
    let x402 = STANDARD.decode(&unpaid[0].headers["payment-required"]).expect("base64");
    let x402 = String::from_utf8(x402).expect("text");
    let header = unpaid[1].headers[WWW_AUTHENTICATE].to_str().expect("text");
    let body = String::from_utf8_lossy(&unpaid[1].body);
    let request = header.split("request=\"").nth(1).and_then(|rest| rest.split('"').next());
    let request = URL_SAFE_NO_PAD.decode(request.expect("a request")).expect("base64");
    let request = String::from_utf8(request).expect("text");
    let paid = r#"200 \n\n{"id":"0123456789abcdef0123456789abcdef","status":"submitted"}"#
        .replace("\\n", "\n");
    super::texts(&[
        &format!("2402 {x402}\n--\n{paid}"),
        &format!("3402 {request}\n--\n{paid}"),
        &format!("2402 {}\n--\n{paid}", x402.replace("3500000", "3500001")),
        &format!("3402 {}\n--\n{paid}", request.replace("3500000", "3500001")),
        &format!("1402 www-authenticate:{header}\n\n{body}"),
        "0402 payment-required:e30=\n\n{}",
        "1402 www-authenticate:Payment id=\"a\\\"b\", realm = x , Bearer realm=\"c\"\n\n{}",
        "0409 \n\n{\"error\":{\"code\":\"x\",\"message\":\"y\"}}",
    ])
}

/// A status of three digits, then the content of the challenge alone, or headers and a body.
fn reply(choice: u8, part: &[u8]) -> Option<PayerResponse> {
    let (status, rest) = part.split_at_checked(4)?;
    let status = std::str::from_utf8(&status[..3]).ok()?.parse().ok()?;
    let mut headers = HeaderMap::new();
    if choice & 2 == 2 && status == 402 {
        let (name, value) = if choice & 1 == 0 {
            ("payment-required", STANDARD.encode(rest))
        } else {
            (WWW_AUTHENTICATE.as_str(), mpp_challenge(rest))
        };
        headers.insert(name, value.try_into().ok()?);
        return Some(PayerResponse { status, headers, body: b"{}".to_vec() });
    }
    let end = rest.windows(2).position(|pair| pair == b"\n\n").unwrap_or(rest.len());
    if end > 0 {
        headers = header_lines(&rest[..end])?;
    }
    Some(PayerResponse { status, headers, body: rest.get(end + 2..).unwrap_or_default().to_vec() })
}

/// A good challenge around any request.
fn mpp_challenge(request: &[u8]) -> String {
    static GOOD: LazyLock<String> = LazyLock::new(|| {
        let unpaid = payments::send(&payments::mpp().0, None, ClientKind::Program);
        unpaid.headers[WWW_AUTHENTICATE].to_str().expect("text").to_owned()
    });
    let (before, rest) = GOOD.split_once("request=\"").expect("a request");
    let (_, after) = rest.split_once('"').expect("its end");
    format!("{before}request=\"{}\"{after}", URL_SAFE_NO_PAD.encode(request))
}

fn check(rail: PaymentRail, header: &str) {
    let (json, place, deadline) = match rail {
        PaymentRail::X402 => (STANDARD.decode(header), "/payload/permit2Authorization", "deadline"),
        PaymentRail::Mpp => {
            let token = header.strip_prefix("Payment ").expect("the scheme");
            (URL_SAFE_NO_PAD.decode(token), "/payload", "validBefore")
        }
    };
    let sent: Value = serde_json::from_slice(&json.expect("base64")).expect("JSON");
    let signed = sent.pointer(place).expect("what was signed");
    let number = |value: &Value| value.as_str().and_then(|text| text.parse::<u64>().ok());
    let amount = match rail {
        PaymentRail::X402 => {
            let token = signed["permitted"]["token"].as_str().unwrap_or_default();
            let network = sent["accepted"]["network"].as_str().and_then(Network::from_caip2);
            let usdc = network.expect("one of our networks").usdc();
            assert_eq!(token.parse(), Ok(usdc), "signed for another token");
            number(&signed["permitted"]["amount"])
        }
        PaymentRail::Mpp => number(&signed["value"]),
    };
    assert!(
        amount.is_some_and(|amount| amount <= MOST),
        "signed for more than allowed: {amount:?}"
    );
    let until = number(&signed[deadline]).expect("an end");
    assert!(until <= NOW.0 + SECONDS_MAX, "signed until {until}");
    let modes = [&sent["accepted"]["extra"]["mode"]];
    assert!(modes.iter().all(|mode| *mode != "sandbox"), "signed with a real key for a sandbox");
}

struct ScriptedMerchant {
    replies: Mutex<VecDeque<PayerResponse>>,
    /// The headers with which a payment was sent.
    signed: Mutex<Vec<String>>,
}

#[async_trait]
impl PayerIo for ScriptedMerchant {
    fn check_url(&self, url: &str) -> Result<(), String> {
        if url.starts_with("https://") { Ok(()) } else { Err("not https".to_owned()) }
    }

    async fn send(&self, request: HttpRequest) -> Result<PayerResponse, NoResponse> {
        assert!(request.url.starts_with(&format!("{BASE_URL}/")), "sent to {}", request.url);
        if let Some((_, value)) = request.secret_header {
            self.signed.lock().unwrap_or_else(PoisonError::into_inner).push(value);
        }
        let next = self.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.ok_or_else(|| NoResponse::Lost("no answer".to_owned()))
    }

    fn now(&self) -> u64 {
        NOW.0
    }

    async fn wait(&self, _: u64) {}

    fn print(&self, _: &str) {}

    fn print_error(&self, _: &str) {}
}
