//! `check --live` against emulated chains and an emulated provider, configured as real ones.

use std::net::SocketAddr;
use std::process::Output;
use std::sync::Arc;

use adapters::clock::SystemClock;
use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use order::model::chain::{EvmAddress, Network};
use order::model::money::Cents;
use sandbox::chain::{
    ChainEmulator, ChainSettings, NameAddresses, NameRecord, NodeFault, NodeFaultRule, PERMIT2,
    coin_type,
};
use sandbox::payee::payee;
use sandbox::provider::ProviderEmulator;
use sandbox::provider::state::settings::{ProviderSettings, SandboxAccountMode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::http_client::send_request;
use crate::fixture::sandbox::JSON;
use crate::fixture::test_app::{TestApp, pennyblack};

const PARENT: &str = "cards.example.eth";

struct World {
    chains: ChainEmulator,
    provider: ProviderEmulator,
    base_rpc: String,
    /// The URL of a facilitator, which settles instead of us.
    facilitator: Option<String>,
    /// The API that the provider is called by.
    dialect: &'static str,
    folder: TempDir,
}

impl World {
    async fn open() -> Self {
        let settings = ChainSettings::new(Arc::new(SystemClock::start()));
        let chains = ChainEmulator::open(settings).await.unwrap();
        let provider = ProviderEmulator::open(ProviderSettings::default()).await.unwrap();
        let accounts = Network::ALL.map(|network| (coin_type(network), payee()));
        for seller in ["alice", "bob"] {
            let name = format!("{seller}.{PARENT}");
            chains.set_name(&name, NameRecord::OnChain(accounts.into()));
        }
        let base_rpc = chains.rpc_url(Network::Base);
        let (dialect, folder) = ("thanks_io", TempDir::new().unwrap());
        Self { chains, provider, base_rpc, facilitator: None, dialect, folder }
    }

    fn check(&self, arguments: &[&str]) -> Output {
        let settlement = match &self.facilitator {
            Some(url) => format!("kind = 'facilitator'\nfacilitator = '{url}'"),
            None => "kind = 'settler'".to_owned(),
        };
        let toml = format!(
            "[sandbox]\nmixed = 'yes'\ndialect = '{}'\nprovider = '{}'\n\
             [sellers]\ndefault = 'alice'\nenabled = ['alice', 'bob']\nparent = '{PARENT}'\n\
             [names]\nkind = 'ens'\nrpc = ['{}']\n\
             [payments]\n{settlement}\nrpc = ['base={}', 'polygon={}']\n",
            self.dialect,
            self.provider.base_url(),
            self.chains.rpc_url(sandbox::chain::ChainId::Ethereum),
            self.base_rpc,
            self.chains.rpc_url(Network::Polygon),
        );
        let key = self.chains.faucet().settler().reveal();
        let variables = [("PENNYBLACK_SETTLER_KEY", key.as_str())];
        let mut command = pennyblack(&self.folder, &toml, &variables);
        command.args(["check", "--live"]).args(arguments).output().unwrap()
    }

    fn report(&self) -> Value {
        report(&self.check(&["--json"]))
    }

    /// The one check that fails. Its remedy is not empty, and the exit code is 1.
    fn only_failure(&self) -> String {
        let output = self.check(&["--json"]);
        assert_eq!(output.status.code(), Some(1));
        let report = report(&output);
        let failed = with_status(&report, "fail");
        assert_eq!((failed.len(), &report["failed"]), (1, &json!(1)), "{report:#}");
        assert!(failed[0]["remedy"].as_str().is_some_and(|remedy| remedy.len() > 10), "{report:#}");
        failed[0]["check"].as_str().unwrap().to_owned()
    }

    fn settler(&self) -> EvmAddress {
        self.chains.faucet().settler().address()
    }
}

fn report(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn with_status<'a>(report: &'a Value, status: &str) -> Vec<&'a Value> {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().filter(|check| check["status"] == status).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_world_passes_every_check_and_no_url_is_printed() {
    let world = World::open().await;
    let report = world.report();
    let all = report["checks"].as_array().unwrap().len();
    // Nine for each of two networks, five for Ethereum, six for the provider, two sellers and
    // the store.
    assert_eq!(with_status(&report, "ok").len(), all, "{report:#}");
    assert_eq!(all, 2 * 9 + 5 + 6 + 2 + 1, "{report:#}");
    let output = world.check(&[]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(text.lines().take(all).all(|line| line.starts_with("ok    ")), "{text}");
    assert!(text.contains("settlements") && text.contains("127.0.0.1"), "{text}");
    let port = world.base_rpc.split(':').nth(2).and_then(|rest| rest.split('/').next()).unwrap();
    assert!(!text.contains("http") && !text.contains(&format!(":{port}")), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_names_no_balance_is_healthy_too() {
    let world = World { dialect: "lob", ..World::open().await };
    let report = world.report();
    let skipped = with_status(&report, "skip");
    assert_eq!((skipped.len(), &report["failed"]), (1, &json!(0)), "{report:#}");
    assert_eq!(skipped[0]["check"], "provider: balance");
}

/// A facilitator that supports these kinds of payments.
async fn facilitator_of(kinds: Value) -> Option<String> {
    let supported = json!({ "kinds": kinds, "extensions": [], "signers": {} });
    let router = Router::new().route("/supported", get(async move || Json(supported)));
    Some(serve(router).await)
}

fn kind(version: u64, scheme: &str, network: Network) -> Value {
    let extra = json!({ "facilitatorAddress": payee().to_string() });
    json!({ "x402Version": version, "scheme": scheme, "network": network.caip2(), "extra": extra })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_facilitator_is_asked_what_it_supports() {
    let kinds = json!([
        kind(2, "upto", Network::Base),
        kind(2, "upto", Network::Polygon),
        kind(2, "upto", Network::Arbitrum),
    ]);
    let world = World { facilitator: facilitator_of(kinds).await, ..World::open().await };
    let report = world.report();
    assert_eq!((&report["failed"], &report["warnings"]), (&json!(0), &json!(1)), "{report:#}");
    assert_eq!(with_status(&report, "warn")[0]["check"], "arbitrum: facilitator");
    let text = report.to_string();
    for subject in ["\"facilitator\"", "\"base: facilitator\"", "\"polygon: facilitator\""] {
        assert!(text.contains(subject), "{subject}: {report:#}");
    }
    assert!(text.contains(&payee().to_string()), "{report:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_the_facilitator_does_not_settle_fails_once() {
    let kinds = json!([
        kind(2, "upto", Network::Base),
        kind(2, "exact", Network::Polygon),
        kind(1, "upto", Network::Polygon),
    ]);
    let world = World { facilitator: facilitator_of(kinds).await, ..World::open().await };
    assert_eq!(world.only_failure(), "polygon: facilitator");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_facilitator_without_a_list_fails_once() {
    let facilitator = Some(serve(Router::new()).await);
    let world = World { facilitator, ..World::open().await };
    assert_eq!(world.only_failure(), "facilitator");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_names_the_number_of_calls_to_the_provider() {
    for dialect in ["thanks_io", "lob"] {
        let world = World { dialect, ..World::open().await };
        let text = world.report().to_string();
        assert!(text.contains("this check makes 3 calls"), "{text}");
        assert_eq!(world.provider.journal().len(), 3, "{dialect}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_above_the_ceiling_fails_once() {
    let world = World::open().await;
    world.provider.change(|settings| {
        settings.prices.insert("GB".to_owned(), Cents(290));
    });
    assert_eq!(world.only_failure(), "provider: price GB");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_of_another_chain_fails_once() {
    let world = World::open().await;
    world.chains.chain(Network::Base).add_fault(NodeFaultRule::always(NodeFault::ChainId(1)));
    assert_eq!(world.only_failure(), "base: node");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_does_not_answer_fails_once() {
    let world = World::open().await;
    world.chains.chain(Network::Polygon).add_fault(NodeFaultRule::always(NodeFault::Reset));
    assert_eq!(world.only_failure(), "polygon: node");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_logs_by_block_hash_fails_once() {
    let world = World::open().await;
    let fault = NodeFault::Error { code: -32602, message: "no blockHash".to_owned() };
    let rule = NodeFaultRule { method: Some("eth_getLogs".into()), ..NodeFaultRule::always(fault) };
    world.chains.chain(Network::Base).add_fault(rule);
    assert_eq!(world.only_failure(), "base: logs by block hash");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_contract_fails_once() {
    let mut world = World::open().await;
    world.base_rpc = without_code(&world.base_rpc, PERMIT2).await;
    assert_eq!(world.only_failure(), "base: code of Permit2");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_in_test_mode_fails_once() {
    let world = World::open().await;
    world.provider.change(|settings| settings.account = SandboxAccountMode::Testing);
    assert_eq!(world.only_failure(), "provider: mode");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_gas_balance_fails_once() {
    let world = World::open().await;
    world.chains.chain(Network::Base).set_native(world.settler(), 0);
    assert_eq!(world.only_failure(), "base: gas");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seller_without_an_account_fails_once() {
    let world = World::open().await;
    world.chains.set_name(&format!("bob.{PARENT}"), NameRecord::OnChain(NameAddresses::default()));
    assert_eq!(world.only_failure(), format!("names: bob.{PARENT}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_wrong_is_a_warning() {
    let world = World::open().await;
    world.chains.advance(120);
    let report = world.report();
    let subjects: Vec<_> = with_status(&report, "warn")
        .iter()
        .map(|check| check["check"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(subjects, ["base: clock", "polygon: clock", "ethereum 1: clock"], "{report:#}");
    assert_eq!(report["failed"], 0);
}

#[test]
fn without_a_running_sandbox_its_services_are_skipped() {
    let folder = TempDir::new().unwrap();
    let output = pennyblack(&folder, "", &[]).args(["check", "--live", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let report = report(&output);
    assert_eq!(with_status(&report, "skip").len(), 3, "{report:#}");
    assert_eq!(with_status(&report, "ok").len(), 1, "{report:#}");
}

#[test]
fn a_running_sandbox_is_checked_while_it_serves() {
    let app = TestApp::start("");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_pennyblack"));
    command.current_dir(app.folder()).env_clear().args(["check", "--live", "--json"]);
    let report = report(&command.output().unwrap());
    assert_eq!((&report["failed"], &report["warnings"]), (&json!(0), &json!(0)), "{report:#}");
    let found: Vec<_> =
        with_status(&report, "ok").iter().map(|check| check["check"].to_string()).collect();
    for subject in ["\"arbitrum: code of x402 proxy\"", "\"store: use\""] {
        assert!(found.contains(&subject.to_owned()), "{subject}: {report:#}");
    }
}

#[test]
fn an_invalid_configuration_is_reported_instead() {
    let folder = TempDir::new().unwrap();
    let toml = "[server]\nlisen = '127.0.0.1:1'\n";
    let output = pennyblack(&folder, toml, &[]).args(["check", "--live"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// A node that has no code at this address and is otherwise the one at `url`.
async fn without_code(url: &str, missing: EvmAddress) -> String {
    let (_, rest) = url.split_once("http://").unwrap();
    let (address, path) = rest.split_once('/').unwrap();
    let origin: (SocketAddr, String) = (address.parse().unwrap(), format!("POST /{path}"));
    let state = (origin, missing.to_string());
    serve(Router::new().route("/", post(pass_on)).with_state(state)).await
}

/// Serves it on loopback, and returns its URL.
async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    here
}

async fn pass_on(
    State(((address, line), missing)): State<((SocketAddr, String), String)>,
    Json(call): Json<Value>,
) -> Json<Value> {
    let body = call.to_string();
    let passed = tokio::task::spawn_blocking(move || send_request(address, &line, &[JSON], &body));
    let mut reply = passed.await.unwrap().json();
    if call["method"] == "eth_getCode" && call["params"][0] == *missing {
        reply["result"] = json!("0x");
    }
    Json(reply)
}
