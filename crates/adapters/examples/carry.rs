//! Our own settler for MPP's signed transfers, one question a line, for a script that tests
//! it against a real node.
//!
//! `carry KEY NODE_URL`; each line of standard input is a JSON object with `do` (`verify`,
//! `prepare`, `settle`, `trace`) and what that needs: the payer's `authorization`, the
//! `preparation`. Each answer is a line too.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, Write};
use std::sync::Arc;

use adapters::clock::SystemClock;
use adapters::http::{HostPolicy, HttpClient, HttpUrl};
use adapters::rpc::Node;
use adapters::settlement::outbox::MemoryOutbox;
use adapters::settlement::{
    ContractWallets, RECEIPT_TIME, Settler, SettlerLimits, SettlerSettings,
};
use alloy_primitives::{B256, Bytes, hex};
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::model::payment::{Finality, Preparation};
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use pay::mpp::credential::TransferAuthorization;
use pay::mpp::settler::{AuthorizationUse, TransferPayment, TransferSettler};
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use serde_json::{Value, json};

type Fallible<T> = Result<T, Box<dyn Error>>;

const NETWORK: Network = Network::Base;

#[tokio::main]
async fn main() -> Fallible<()> {
    let mut words = std::env::args().skip(1);
    let key: B256 = words.next().ok_or("name the key")?.parse()?;
    let address = HttpUrl::parse(&words.next().ok_or("name the node")?)?;
    let node = Node::new(HttpClient::new(HostPolicy::Configured)?, address, NETWORK.chain_id());
    let settler = Settler::start(SettlerSettings {
        key: key.0.into(),
        networks: BTreeMap::from([(NETWORK, (node, SettlerLimits::of(NETWORK)))]),
        contract_wallets: ContractWallets::Accepted,
        receipt_time: RECEIPT_TIME,
        outbox: Arc::new(MemoryOutbox::default()),
        clock: Arc::new(SystemClock::start()),
    })?;
    for line in std::io::stdin().lock().lines() {
        let said = answer(&settler, &serde_json::from_str(&line?)?).await?;
        writeln!(std::io::stdout(), "{said}")?;
    }
    Ok(())
}

async fn answer(settler: &Settler, asked: &Value) -> Fallible<Value> {
    let authorization = authorization(&asked["authorization"]).ok_or("no authorization")?;
    let preparation = Preparation(hex::decode(asked["preparation"].as_str().unwrap_or_default())?);
    let due = TransferPayment { authorization: &authorization, preparation: &preparation };
    let earlier = (!preparation.0.is_empty()).then_some(&preparation);
    Ok(match asked["do"].as_str() {
        Some("verify") => match settler.verify(&authorization).await {
            Ok(AuthorizationUse::Unused | AuthorizationUse::Used) => json!({ "valid": true }),
            Err(why) => rejected(&why),
        },
        Some("prepare") => match settler.prepare(&authorization, earlier).await {
            Ok(prepared) => json!({ "preparation": hex::encode(prepared.preparation.0) }),
            Err(why) => rejected(&why),
        },
        Some("settle") => match settler.settle(due).await {
            Ok(moved) => shown(&moved),
            Err(unsettled) => not_settled(&unsettled),
        },
        Some("trace") => match settler.trace(due, None).await {
            Ok(TransferStatus::Moved(moved)) => shown(&moved),
            Ok(TransferStatus::Open) => json!({ "open": true }),
            Ok(TransferStatus::Void) => json!({ "void": true }),
            Err(failure) => failed(&failure),
        },
        Some(_) | None => return Err("do: verify, prepare, settle or trace".into()),
    })
}

fn rejected(why: &Rejection) -> Value {
    match why {
        Rejection::Invalid(reason) => json!({ "invalid": reason }),
        Rejection::PayeeChanged => json!({ "payee": "changed" }),
        Rejection::AllowanceMissing => json!({ "allowance": "missing" }),
        Rejection::Unavailable => json!({ "unavailable": true }),
    }
}

fn failed(failure: &Failure) -> Value {
    match failure {
        Failure::Refused(why) => json!({ "refused": why }),
        Failure::Lost(why) => json!({ "lost": why }),
    }
}

fn not_settled(unsettled: &Unsettled) -> Value {
    match unsettled {
        Unsettled::Refused(why) => json!({ "refused": why }),
        Unsettled::Withdrawn(why) => json!({ "withdrawn": why }),
        Unsettled::Lost(why) => json!({ "lost": why }),
    }
}

fn shown(moved: &ConfirmedTransfer) -> Value {
    let finality = match moved.finality {
        Finality::Provisional => "provisional",
        Finality::Final => "final",
    };
    json!({ "moved": moved.transaction, "finality": finality })
}

/// As clients write it, which is trusted here.
fn authorization(given: &Value) -> Option<TransferAuthorization> {
    let text = |name: &str| given[name].as_str();
    let number = |name: &str| text(name)?.parse::<u64>().ok();
    let address = |name: &str| text(name)?.parse::<EvmAddress>().ok();
    let signature: Bytes = text("signature")?.parse().ok()?;
    Some(TransferAuthorization {
        network: NETWORK,
        token: NETWORK.usdc(),
        from: address("from")?,
        to: address("to")?,
        value: Usdc::from_atomic(number("value")?),
        valid_after: number("validAfter")?,
        valid_before: number("validBefore")?,
        nonce: text("nonce")?.parse::<B256>().ok()?.0,
        signature: signature.to_vec().try_into().ok()?,
    })
}
