//! The controls over HTTP: everything that [`super::Chain`] offers, for tests in
//! other languages and for curious people.

mod form;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes as Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use order::model::chain::{EvmAddress, Network};
use serde_json::{Value, json};

use super::contracts::WalletKind;
use super::faults::Rule;
use super::journal::CallOutcome;
use super::names::Name;
use super::network::{ChainId, PERMIT2};
use super::node::{Depths, Fate, Mining};
use super::world::{Chain, World};
use crate::faucet::Faucet;
use crate::keys::Key;
use form::{Form, Wrong, fault, gateway_fault, lookup, name};

type Shared = State<Arc<World>>;

/// What a payer needs who comes over HTTP: the keys, and where the chains answer.
#[derive(Clone)]
pub(super) struct Tap {
    pub(super) faucet: Faucet,
    pub(super) origin: String,
}

pub(super) fn router(world: Arc<World>, tap: Tap) -> Router {
    let payers = Router::new().route("/faucet", get(faucet)).with_state(tap);
    Router::new()
        .route("/chains", get(chains))
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
        .route("/{chain}/transfers/{address}", get(transfers))
        .with_state(world)
        .merge(payers)
}

fn shown(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], format!("{value}\n")).into_response()
}

impl IntoResponse for Wrong {
    fn into_response(self) -> Response {
        let body = json!({ "wrong": self.0 }).to_string();
        let kind = [(header::CONTENT_TYPE, "application/json")];
        (StatusCode::BAD_REQUEST, kind, body).into_response()
    }
}

fn chain(world: &Arc<World>, number: &str) -> Result<Chain, Wrong> {
    let id = number.parse().ok().and_then(ChainId::from_number);
    let id = id.ok_or_else(|| Wrong::one("chain: one of 1, 8453, 137, 42161"))?;
    Ok(Chain::new(Arc::clone(world), id))
}

fn whom(text: &str) -> Result<EvmAddress, Wrong> {
    text.parse().map_err(|_| Wrong::one("address: 0x and 40 digits"))
}

/// The demonstration payers' keys, which are made at start and worthless elsewhere.
async fn faucet(State(Tap { faucet, origin }): State<Tap>) -> Response {
    let shown_key =
        |key: &Key| json!({ "address": key.address().to_string(), "key": key.reveal() });
    let rpc = Network::ALL.map(|network| {
        (network.caip2().to_owned(), json!(format!("{origin}/{}", network.chain_id())))
    });
    shown(&json!({
        "payer": shown_key(&faucet.payer()),
        "newcomer": shown_key(&faucet.newcomer()),
        "rpc": Value::Object(rpc.into_iter().collect()),
    }))
}

async fn chains(State(world): Shared) -> Response {
    let list: Vec<Value> = ChainId::ALL
        .map(|id| {
            let chain = Chain::new(Arc::clone(&world), id);
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
    shown(&Value::Array(list))
}

async fn time(State(world): Shared, body: Body) -> Result<Response, Wrong> {
    let mut form = Form::read(&body)?;
    let seconds = form.needed("advance");
    form.done()?;
    world.hands().advance(seconds);
    Ok(shown(&json!({ "now": world.hands().now() })))
}

async fn names(State(world): Shared) -> Response {
    let names = world.names();
    let all = names.all().map(|(name, entry)| (name.clone(), form::show_name(entry)));
    shown(&Value::Object(all.collect()))
}

async fn name_get(State(world): Shared, Path(asked): Path<String>) -> Response {
    match world.names().get(&asked) {
        Some(entry) => shown(&form::show_name(entry)),
        None => (StatusCode::NOT_FOUND, "no such name\n").into_response(),
    }
}

async fn name_put(
    State(world): Shared,
    Path(asked): Path<String>,
    body: Body,
) -> Result<Response, Wrong> {
    let mut form = Form::read(&body)?;
    let entry: Option<Name> = name(&mut form);
    form.done()?;
    if let Some(entry) = entry {
        world.names().set(&asked, entry);
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn name_delete(State(world): Shared, Path(asked): Path<String>) -> StatusCode {
    world.names().remove(&asked);
    StatusCode::NO_CONTENT
}

async fn gateway(State(world): Shared, body: Body) -> Result<StatusCode, Wrong> {
    let mut form = Form::read(&body)?;
    let (fault, lookup) = (gateway_fault(&mut form), lookup(&mut form));
    form.done()?;
    let mut names = world.names();
    names.fault = fault.unwrap_or(names.fault);
    names.lookup = lookup.unwrap_or(names.lookup);
    Ok(StatusCode::NO_CONTENT)
}

async fn mine(State(world): Shared, Path(id): Path<String>, body: Body) -> Result<Response, Wrong> {
    let chain = chain(&world, &id)?;
    let mut form = Form::read(&body)?;
    let blocks = form.number("blocks").unwrap_or(1);
    form.done()?;
    chain.mine(blocks.min(10_000));
    Ok(shown(&json!({ "block": chain.head().number })))
}

type Brake = (&'static str, fn(&Chain));

/// Mining, depths, the base fee and the token's brake; what is not named stays.
async fn settings(
    State(world): Shared,
    Path(id): Path<String>,
    body: Body,
) -> Result<StatusCode, Wrong> {
    let chain = chain(&world, &id)?;
    let mut form = Form::read(&body)?;
    let seconds = form.number("seconds");
    let mining = form.choice(
        "mining",
        &[
            ("on_arrival", Mining::OnArrival { heartbeat: seconds.unwrap_or(0) }),
            ("every", Mining::Every { seconds: seconds.unwrap_or(2) }),
            ("held", Mining::Held),
        ],
    );
    let (safe, finalized) = (form.number("safe"), form.number("finalized"));
    let base_fee = form.number("base_fee");
    let brakes: [Brake; 2] = [("running", Chain::resume), ("paused", Chain::pause)];
    let brake = form.choice("token", &brakes);
    form.done()?;
    if let Some(set) = brake {
        set(&chain);
    }
    if let Some(mining) = mining {
        chain.set_mining(mining);
    }
    if safe.is_some() || finalized.is_some() {
        let depths = Depths { safe: safe.unwrap_or(0), finalized: finalized.unwrap_or(0) };
        chain.set_depths(depths);
    }
    if let Some(wei) = base_fee {
        chain.set_base_fee(wei.into());
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn reorganise(
    State(world): Shared,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, Wrong> {
    let chain = chain(&world, &id)?;
    let mut form = Form::read(&body)?;
    let blocks = form.needed("blocks");
    let fates =
        [("dropped", Fate::Dropped), ("waiting", Fate::Waiting), ("mined_again", Fate::MinedAgain)];
    let fate = form.choice("transactions", &fates).unwrap_or(Fate::Dropped);
    form.done()?;
    chain.reorganise(blocks, fate);
    Ok(shown(&json!({ "block": chain.head().number })))
}

fn show_rule(rule: &Rule) -> Value {
    json!({
        "fault": rule.fault.name(),
        "method": rule.method,
        "skip": rule.skip,
        "times": rule.times,
        "every": rule.every,
    })
}

async fn faults(State(world): Shared, Path(id): Path<String>) -> Result<Response, Wrong> {
    Ok(shown(&chain(&world, &id)?.faults().iter().map(show_rule).collect()))
}

async fn faults_add(
    State(world): Shared,
    Path(id): Path<String>,
    body: Body,
) -> Result<StatusCode, Wrong> {
    let chain = chain(&world, &id)?;
    let mut form = Form::read(&body)?;
    let fault = fault(&mut form);
    let method = form.text("method");
    let skip = form.small("skip").unwrap_or(0);
    let (times, every) = (form.small("times"), form.positive("every"));
    form.done()?;
    if let Some(fault) = fault {
        chain.add_fault(Rule { fault, method, skip, times, every });
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn faults_clear(State(world): Shared, Path(id): Path<String>) -> Result<StatusCode, Wrong> {
    chain(&world, &id)?.clear_faults();
    Ok(StatusCode::NO_CONTENT)
}

async fn drop_waiting(State(world): Shared, Path(id): Path<String>) -> Result<StatusCode, Wrong> {
    chain(&world, &id)?.drop_waiting();
    Ok(StatusCode::NO_CONTENT)
}

async fn journal(State(world): Shared, Path(id): Path<String>) -> Result<Response, Wrong> {
    let chain = chain(&world, &id)?;
    let calls = chain.journal().into_iter().map(|call| {
        let outcome = match call.outcome {
            CallOutcome::Answered => json!("answered"),
            CallOutcome::Refused(code) => json!({ "refused": code }),
            CallOutcome::Struck(name) => json!({ "struck": name }),
        };
        json!({ "sequence": call.sequence, "method": call.method, "outcome": outcome })
    });
    Ok(shown(&json!({ "counts": chain.counts(), "calls": calls.collect::<Vec<_>>() })))
}

async fn journal_clear(State(world): Shared, Path(id): Path<String>) -> Result<StatusCode, Wrong> {
    chain(&world, &id)?.clear_journal();
    Ok(StatusCode::NO_CONTENT)
}

async fn account(
    State(world): Shared,
    Path((id, whose)): Path<(String, String)>,
) -> Result<Response, Wrong> {
    let (chain, account) = (chain(&world, &id)?, whom(&whose)?);
    Ok(shown(&json!({
        "usdc": chain.usdc_of(account).to_string(),
        "native": chain.native_of(account).to_string(),
        "nonce": chain.nonce_of(account),
        "permit2_allowance": chain.allowance(account, PERMIT2).to_string(),
    })))
}

type Act = (&'static str, fn(&Chain, EvmAddress));

async fn account_set(
    State(world): Shared,
    Path((id, whose)): Path<(String, String)>,
    body: Body,
) -> Result<StatusCode, Wrong> {
    let (chain, account) = (chain(&world, &id)?, whom(&whose)?);
    let mut form = Form::read(&body)?;
    let (usdc, native) = (form.amount("usdc"), form.amount("native"));
    let allowance = form.amount("permit2_allowance");
    let lists: [Act; 2] = [("no", Chain::unblacklist), ("yes", Chain::blacklist)];
    let codes: [Act; 2] = [("no", Chain::remove_code), ("yes", Chain::place_code)];
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

async fn transfers(
    State(world): Shared,
    Path((id, whose)): Path<(String, String)>,
) -> Result<Response, Wrong> {
    let (chain, account) = (chain(&world, &id)?, whom(&whose)?);
    let list = chain.transfers_to(account).into_iter().map(|transfer| {
        json!({
            "from": transfer.from.to_string(),
            "amount": transfer.amount.to_string(),
            "block": transfer.block,
            "transaction": alloy_primitives::B256::from(transfer.transaction).to_string(),
        })
    });
    Ok(shown(&list.collect()))
}
