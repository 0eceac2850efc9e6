//! Errors of the preview and of both paid endpoints, as far as they need no signed payment.

use serde_json::{Value, json};

use super::Snapshots;
use super::recording::Recording;
use super::service::{Answer, Service};
use crate::fixture::sandbox::{JSON, PREVIEW, card};

const ENDPOINTS: [(&str, &str); 3] =
    [("preview", PREVIEW), ("x402", "/api/x402/postcards"), ("mpp", "/api/mpp/postcards")];
const NOTHING_LISTENS: &str = "http://127.0.0.1:1";
const BODY_BYTES_MAX: usize = 16 * 1024;

pub(super) fn record(snapshots: &mut Snapshots) {
    let services = Services::start();
    for (name, path) in ENDPOINTS {
        let mut recording = Recording::default();
        invalid_bodies(&mut recording, &services.usual, path);
        unavailable(&mut recording, &services, path);
        match name {
            "preview" => provider_faults(&mut recording, &services.usual),
            _ => credentials(&mut recording, &services.usual, path),
        }
        snapshots.insert(format!("errors/postcards_{name}.txt"), recording.text());
    }
}

struct Services {
    usual: Service,
    two_sellers: Service,
    no_provider: Service,
    no_names: Service,
    no_address: Service,
}

impl Services {
    fn start() -> Self {
        let usual = Service::start("");
        let chains = usual.chains();
        let mixed = "[sandbox]\nmixed = \"yes\"\n";
        let names = |node: &str| format!("[names]\nkind = \"ens\"\nrpc = [\"{node}\"]\n");
        let base = format!("[payments]\nkind = \"settler\"\nrpc = [\"base={chains}/8453\"]\n");
        let unknown = "[sellers]\ndefault = \"unknown\"\nenabled = [\"unknown\"]\n";
        Self {
            two_sellers: Service::start("[sellers]\ndefault = \"demo\"\nenabled = [\"demo\"]"),
            no_provider: Service::start(&format!("{mixed}[provider]\nkind = \"none\"")),
            no_names: Service::start(&format!("{mixed}{base}{}", names(NOTHING_LISTENS))),
            no_address: Service::start(&format!(
                "{mixed}{base}{unknown}{}",
                names(&format!("{chains}/1"))
            )),
            usual,
        }
    }
}

/// The card with one member that is different.
fn with(member: &str, value: Value) -> Value {
    let mut card = card();
    card[member] = value;
    card
}

fn post(service: &Service, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    service.send(&format!("POST {path}"), &[&[JSON], headers].concat(), body)
}

fn invalid_bodies(recording: &mut Recording, service: &Service, path: &str) {
    for body in ["", "no JSON", "[]", "null", "{}", r#"{"recipient":{}}"#, r#"{"recipient":7}"#] {
        recording.add(&format!("body: {body}"), &post(service, path, &[], body));
    }
    let every_field = json!({
        "front_image_url": "http://10.0.0.1/", "message": "x".repeat(1_001), "seller": "two words",
        "recipient": {
            "name": "\u{7}", "address": 7, "city": null, "province": "x".repeat(101),
            "postal_code": [], "country": "Atlantis",
        },
    });
    recording.add("every field is invalid", &post(service, path, &[], &every_field.to_string()));
    let identifier = with("operation_id", json!("short")).to_string();
    recording.add("a short operation_id", &post(service, path, &[], &identifier));
    let quote = with("quote_id", json!("short")).to_string();
    recording.add("a short quote_id", &post(service, path, &[], &quote));
    let headers = [("Idempotency-Key", "another-identifier-1")];
    let identifier = with("operation_id", json!("identifier-number-1")).to_string();
    recording.add("two identifiers", &post(service, path, &headers, &identifier));
    let long = format!("{}{}", card(), " ".repeat(BODY_BYTES_MAX));
    recording.add("a body that is too large", &post(service, path, &[], &long));
    let get = service.send(&format!("GET {path}"), &[], "");
    recording.add("GET", &get);
}

fn unavailable(recording: &mut Recording, services: &Services, path: &str) {
    let disabled = with("seller", json!("mallory")).to_string();
    recording
        .add("a seller that is not enabled", &post(&services.two_sellers, path, &[], &disabled));
    let card = card().to_string();
    recording.add("a seller without an address", &post(&services.no_address, path, &[], &card));
    recording.add("no provider is configured", &post(&services.no_provider, path, &[], &card));
    recording.add("names cannot be resolved", &post(&services.no_names, path, &[], &card));
}

fn provider_faults(recording: &mut Recording, service: &Service) {
    for fault in [
        "status_before",
        "reset_before",
        "malformed",
        "missing_previews",
        "unauthorized",
        "payment_disabled",
        "rate_limited",
    ] {
        service.break_provider(fault);
        let answer = post(service, PREVIEW, &[], &card().to_string());
        recording.add(&format!("the provider's fault {fault}"), &answer);
    }
    let mut answers = (0..100).map(|_| post(service, PREVIEW, &[], &card().to_string()));
    let busy = answers.find(|answer| answer.json()["error"]["code"] == "preview_busy");
    recording.add("too many previews", &busy.expect("a limit"));
}

fn credentials(recording: &mut Recording, service: &Service, path: &str) {
    let card = card().to_string();
    recording.add("no credential", &post(service, path, &[], &card));
    let browser = [("Accept", "text/html"), ("User-Agent", "Mozilla/5.0")];
    recording.add("no credential, a browser", &post(service, path, &browser, &card));
    for (title, headers) in [
        ("PAYMENT-SIGNATURE: not base64", vec![("PAYMENT-SIGNATURE", "!")]),
        ("PAYMENT-SIGNATURE: {}", vec![("PAYMENT-SIGNATURE", "e30=")]),
        ("X-Payment: {}", vec![("X-Payment", "e30=")]),
        ("two x402 credentials", vec![("PAYMENT-SIGNATURE", "e30="), ("X-Payment", "e31=")]),
        ("Authorization: Payment !", vec![("Authorization", "Payment !")]),
        ("Authorization: Payment e30", vec![("Authorization", "Payment e30")]),
        (
            "two MPP credentials",
            vec![("Authorization", "Payment e30"), ("Payment-Authorization", "Payment e31")],
        ),
        (
            "a credential of each protocol",
            vec![("Authorization", "Payment e30"), ("PAYMENT-SIGNATURE", "e30=")],
        ),
    ] {
        recording.add(title, &post(service, path, &headers, &card));
    }
    let forged = "0f".repeat(32);
    let forged = post(service, path, &[("Quote-Id", &forged)], &card);
    recording.add("a quote that is not ours", &forged);
    let identifier = with("operation_id", json!(format!("identifier-of-{path}").replace('/', "-")));
    let mut other = identifier.clone();
    other["message"] = json!("Another card.");
    post(service, path, &[], &identifier.to_string());
    let reused = post(service, path, &[], &other.to_string());
    recording.add("the identifier of another card", &reused);
}
