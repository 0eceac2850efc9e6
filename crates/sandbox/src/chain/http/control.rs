//! The control interface over HTTP: everything that `ChainHandle` offers, for tests in other languages.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes as Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use order::model::chain::{EvmAddress, Network};
use serde_json::{Value, json};

use crate::chain::contracts::wallet::WalletKind;
use crate::chain::ens::names::NameRecord;
use crate::chain::faults::NodeFaultRule;
use crate::chain::handle::{ChainHandle, EmulatedChains};
use crate::chain::http::form::{
    self, ControlForm, InvalidFields, fault, gateway_fault, lookup, name,
};
use crate::chain::journal::CallOutcome;
use crate::chain::network::{ChainId, PERMIT2};
use crate::chain::node::{MiningMode, ReorgedTransactions, TagDepths};
use crate::faucet::Faucet;
use crate::keys::Key;

type Shared = State<Arc<EmulatedChains>>;

/// What `/faucet` returns: the keys of the payers and the URLs of the chains.
#[derive(Clone)]
pub(crate) struct FaucetState {
    pub(crate) faucet: Faucet,
    pub(crate) origin: String,
}

pub(crate) fn router(chains: Arc<EmulatedChains>, faucet_state: FaucetState) -> Router {
    let payers = Router::new().route("/faucet", get(faucet)).with_state(faucet_state);
    Router::new()
        .route("/chains", get(list_chains))
        .route("/time", post(time))
        .route("/names", get(names))
        .route("/names/{name}", get(name_get).put(name_put).delete(name_delete))
        .route("/gateway", post(gateway))
        .route("/{chain}/mine", post(mine))
        .route("/{chain}/settings", post(settings))
        .route("/{chain}/reorganise", post(reorganise))
        .route("/{chain}/faults", get(faults).post(faults_add).delete(faults_clear))
        .route("/{chain}/waiting", delete(drop_waiting))
        .route("/{chain}/journal", get(journal).delete(journal_clear))
        .route("/{chain}/accounts/{address}", get(account).post(account_set))
        .route("/{chain}/transfers/{address}", get(transfers).post(transfer))
        .with_state(chains)
        .merge(payers)
}

fn json_response(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], format!("{value}\n")).into_response()
}

impl IntoResponse for InvalidFields {
    fn into_response(self) -> Response {
        let body = json!({ "wrong": self.0 }).to_string();
        let kind = [(header::CONTENT_TYPE, "application/json")];
        (StatusCode::BAD_REQUEST, kind, body).into_response()
    }
}

fn chain(chains: &Arc<EmulatedChains>, number: &str) -> Result<ChainHandle, InvalidFields> {
    let id = number.parse().ok().and_then(ChainId::from_number);
    let id = id.ok_or_else(|| InvalidFields::one("chain: one of 1, 8453, 137, 42161"))?;
    Ok(ChainHandle::new(Arc::clone(chains), id))
}

fn parse_account(text: &str) -> Result<EvmAddress, InvalidFields> {
    text.parse().map_err(|_| InvalidFields::one("address: 0x and 40 digits"))
}

/// The demonstration payers' keys. They are generated at start and worthless elsewhere.
async fn faucet(State(FaucetState { faucet, origin }): State<FaucetState>) -> Response {
    let shown_key =
        |key: &Key| json!({ "address": key.address().to_string(), "key": key.reveal() });
    let rpc = Network::ALL.map(|network| {
        (network.caip2().to_owned(), json!(format!("{origin}/{}", network.chain_id())))
    });
    json_response(&json!({
        "payer": shown_key(&faucet.payer()),
        "newcomer": shown_key(&faucet.newcomer()),
        "rpc": Value::Object(rpc.into_iter().collect()),
    }))
}

async fn list_chains(State(chains): Shared) -> Response {
    let list: Vec<Value> = ChainId::ALL
        .map(|id| {
            let chain = ChainHandle::new(Arc::clone(&chains), id);
            let head = chain.head();
            json!({
                "chain": id.number(),
                "rpc": format!("/{}", id.number()),
                "block": head.number,
                "timestamp": head.timestamp,
                "waiting": chain.waiting(),
                "usdc": chain.usdc().to_string(),
            })
        })
        .into();
    json_response(&Value::Array(list))
}

async fn time(State(chains): Shared, body: Body) -> Result<Response, InvalidFields> {
    let mut form = ControlForm::read(&body)?;
    let seconds = form.needed("advance");
    form.done()?;
    chains.clock().advance(seconds);
    Ok(json_response(&json!({ "now": chains.clock().now() })))
}

async fn names(State(chains): Shared) -> Response {
    let names = chains.names();
    let all = names.all().map(|(name, entry)| (name.clone(), form::show_name(entry)));
    json_response(&Value::Object(all.collect()))
}

async fn name_get(State(chains): Shared, Path(asked): Path<String>) -> Response {
    match chains.names().get(&asked) {
        Some(entry) => json_response(&form::show_name(entry)),
        None => (StatusCode::NOT_FOUND, "no such name\n").into_response(),
    }
}

async fn name_put(
    State(chains): Shared,
    Path(asked): Path<String>,
    body: Body,
) -> Result<Response, InvalidFields> {
    let mut form = ControlForm::read(&body)?;
    let entry: Option<NameRecord> = name(&mut form);
    form.done()?;
    if let Some(entry) = entry {
        chains.names().set(&asked, entry);
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn name_delete(State(chains): Shared, Path(asked): Path<String>) -> StatusCode {
    chains.names().remove(&asked);
    StatusCode::NO_CONTENT
}

async fn gateway(State(chains): Shared, body: Body) -> Result<StatusCode, InvalidFields> {
    let mut form = ControlForm::read(&body)?;
    let (fault, lookup) = (gateway_fault(&mut form), lookup(&mut form));
    form.done()?;
    let mut names = chains.names();
    names.fault = fault.unwrap_or(names.fault);
    names.lookup = lookup.unwrap_or(names.lookup);
    Ok(StatusCode::NO_CONTENT)
}

async fn mine(
    State(chains): Shared,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, InvalidFields> {
    let chain = chain(&chains, &id)?;
    let mut form = ControlForm::read(&body)?;
    let blocks = form.number("blocks").unwrap_or(1);
    form.done()?;
    chain.mine(blocks.min(10_000));
    Ok(json_response(&json!({ "block": chain.head().number })))
}

type Brake = (&'static str, fn(&ChainHandle));

/// Mining, depths, the base fee and pausing of the token; absent fields stay unchanged.
async fn settings(
    State(chains): Shared,
    Path(id): Path<String>,
    body: Body,
) -> Result<StatusCode, InvalidFields> {
    let chain = chain(&chains, &id)?;
    let mut form = ControlForm::read(&body)?;
    let seconds = form.number("seconds");
    let mining = form.choice(
        "mining",
        &[
            ("on_arrival", MiningMode::OnArrival { heartbeat: seconds.unwrap_or(0) }),
            ("every", MiningMode::Every { seconds: seconds.unwrap_or(2) }),
            ("held", MiningMode::Held),
        ],
    );
    let (safe, finalized) = (form.number("safe"), form.number("finalized"));
    let base_fee = form.number("base_fee");
    let brakes: [Brake; 2] = [("running", ChainHandle::resume), ("paused", ChainHandle::pause)];
    let brake = form.choice("token", &brakes);
    form.done()?;
    if let Some(set) = brake {
        set(&chain);
    }
    if let Some(mining) = mining {
        chain.set_mining(mining);
    }
    if safe.is_some() || finalized.is_some() {
        let depths = TagDepths { safe: safe.unwrap_or(0), finalized: finalized.unwrap_or(0) };
        chain.set_depths(depths);
    }
    if let Some(wei) = base_fee {
        chain.set_base_fee(wei.into());
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn reorganise(
    State(chains): Shared,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, InvalidFields> {
    let chain = chain(&chains, &id)?;
    let mut form = ControlForm::read(&body)?;
    let blocks = form.needed("blocks");
    let choices = [
        ("dropped", ReorgedTransactions::Dropped),
        ("waiting", ReorgedTransactions::Waiting),
        ("mined_again", ReorgedTransactions::MinedAgain),
    ];
    let reorged = form.choice("transactions", &choices).unwrap_or(ReorgedTransactions::Dropped);
    form.done()?;
    chain.reorganise(blocks, reorged);
    Ok(json_response(&json!({ "block": chain.head().number })))
}

fn show_rule(rule: &NodeFaultRule) -> Value {
    json!({
        "fault": rule.fault.name(),
        "method": rule.method,
        "skip": rule.skip,
        "times": rule.times,
        "every": rule.every,
    })
}

async fn faults(State(chains): Shared, Path(id): Path<String>) -> Result<Response, InvalidFields> {
    Ok(json_response(&chain(&chains, &id)?.faults().iter().map(show_rule).collect()))
}

async fn faults_add(
    State(chains): Shared,
    Path(id): Path<String>,
    body: Body,
) -> Result<StatusCode, InvalidFields> {
    let chain = chain(&chains, &id)?;
    let mut form = ControlForm::read(&body)?;
    let fault = fault(&mut form);
    let method = form.text("method");
    let skip = form.small("skip").unwrap_or(0);
    let (times, every) = (form.small("times"), form.positive("every"));
    form.done()?;
    if let Some(fault) = fault {
        chain.add_fault(NodeFaultRule { fault, method, skip, times, every });
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn faults_clear(
    State(chains): Shared,
    Path(id): Path<String>,
) -> Result<StatusCode, InvalidFields> {
    chain(&chains, &id)?.clear_faults();
    Ok(StatusCode::NO_CONTENT)
}

async fn drop_waiting(
    State(chains): Shared,
    Path(id): Path<String>,
) -> Result<StatusCode, InvalidFields> {
    chain(&chains, &id)?.drop_waiting();
    Ok(StatusCode::NO_CONTENT)
}

async fn journal(State(chains): Shared, Path(id): Path<String>) -> Result<Response, InvalidFields> {
    let chain = chain(&chains, &id)?;
    let calls = chain.journal().into_iter().map(|call| {
        let outcome = match call.outcome {
            CallOutcome::Answered => json!("answered"),
            CallOutcome::Refused(code) => json!({ "refused": code }),
            CallOutcome::Faulted(name) => json!({ "struck": name }),
        };
        json!({ "sequence": call.sequence, "method": call.method, "outcome": outcome })
    });
    Ok(json_response(&json!({ "counts": chain.counts(), "calls": calls.collect::<Vec<_>>() })))
}

async fn journal_clear(
    State(chains): Shared,
    Path(id): Path<String>,
) -> Result<StatusCode, InvalidFields> {
    chain(&chains, &id)?.clear_journal();
    Ok(StatusCode::NO_CONTENT)
}

async fn account(
    State(chains): Shared,
    Path((id, whose)): Path<(String, String)>,
) -> Result<Response, InvalidFields> {
    let (chain, account) = (chain(&chains, &id)?, parse_account(&whose)?);
    Ok(json_response(&json!({
        "usdc": chain.usdc_of(account).to_string(),
        "native": chain.native_of(account).to_string(),
        "nonce": chain.nonce_of(account),
        "permit2_allowance": chain.allowance(account, PERMIT2).to_string(),
    })))
}

type Act = (&'static str, fn(&ChainHandle, EvmAddress));

async fn account_set(
    State(chains): Shared,
    Path((id, whose)): Path<(String, String)>,
    body: Body,
) -> Result<StatusCode, InvalidFields> {
    let (chain, account) = (chain(&chains, &id)?, parse_account(&whose)?);
    let mut form = ControlForm::read(&body)?;
    let (usdc, native) = (form.amount("usdc"), form.amount("native"));
    let allowance = form.amount("permit2_allowance");
    let lists: [Act; 2] = [("no", ChainHandle::unblacklist), ("yes", ChainHandle::blacklist)];
    let codes: [Act; 2] = [("no", ChainHandle::remove_code), ("yes", ChainHandle::place_code)];
    let acts = [form.choice("blacklisted", &lists), form.choice("code", &codes)];
    let owner = form.address("wallet_owner");
    let kind = form.choice("wallet_kind", &WalletKind::NAMED);
    if kind.is_some() && owner.is_none() {
        form.wrong("wallet_kind: only with wallet_owner");
    }
    form.done()?;
    if let Some(usdc) = usdc {
        chain.set_usdc(account, usdc);
    }
    if let Some(native) = native {
        chain.set_native(account, native);
    }
    if let Some(allowance) = allowance {
        chain.set_allowance(account, PERMIT2, allowance);
    }
    for act in acts.into_iter().flatten() {
        act(&chain, account);
    }
    if let Some(owner) = owner {
        chain.place_wallet_of_kind(account, owner, kind.unwrap_or_default());
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Transfers USDC from this account, whose key need not be known.
async fn transfer(
    State(chains): Shared,
    Path((id, whose)): Path<(String, String)>,
    body: Body,
) -> Result<Response, InvalidFields> {
    let (chain, from) = (chain(&chains, &id)?, parse_account(&whose)?);
    let mut form = ControlForm::read(&body)?;
    let (to, amount) = (form.address("to"), form.amount("amount"));
    if to.is_none() || amount.is_none() {
        form.wrong("to, amount: both are needed");
    }
    form.done()?;
    let mined = chain.transfer(from, to.unwrap_or(from), amount.unwrap_or_default());
    let hash = mined.map_err(|reason| InvalidFields::one(&reason))?;
    let transaction = alloy_primitives::B256::from(hash).to_string();
    Ok(json_response(&json!({ "transaction": transaction })))
}

async fn transfers(
    State(chains): Shared,
    Path((id, whose)): Path<(String, String)>,
) -> Result<Response, InvalidFields> {
    let (chain, account) = (chain(&chains, &id)?, parse_account(&whose)?);
    let list = chain.transfers_to(account).into_iter().map(|transfer| {
        json!({
            "from": transfer.from.to_string(),
            "amount": transfer.amount.to_string(),
            "block": transfer.block,
            "transaction": alloy_primitives::B256::from(transfer.transaction).to_string(),
        })
    });
    Ok(json_response(&list.collect()))
}
