//! Our side of a remote facilitator, one question a line, for a script that holds it against
//! a real one on real nodes.
//!
//! `facilitate BASE [CHAIN_ID=NODE_URL]...`; each line of standard input is a JSON object
//! with `do` (`refresh`, `verify`, `prepare`, `settle`, `trace`) and what that needs: the
//! payer's `payload`, the `charge`, the `preparation`. Each answer is a line too.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::facilitator::{Deadlines, FacilitatorSettings, RemoteFacilitator};
use adapters::http::{HostPolicy, HttpClient, HttpUrl};
use adapters::rpc::Node;
use alloy_primitives::{Bytes, U256, hex};
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::model::payment::{Finality, Preparation};
use order::tender::{Rejection, Unsettled};
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::credential::Permit2Authorization;
use pay::x402::settler::{GasSponsoring, Permit2Payment, Permit2Settler, SignatureKind};
use serde_json::{Value, json};

type Fallible<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Fallible<()> {
    let mut words = std::env::args().skip(1);
    let base = HttpUrl::parse(&words.next().ok_or("name the facilitator")?)?;
    let client = HttpClient::new(HostPolicy::Configured)?;
    let mut nodes = BTreeMap::new();
    for word in words {
        let (id, url) = word.split_once('=').ok_or("CHAIN_ID=NODE_URL")?;
        let network = Network::from_caip2(&format!("eip155:{id}")).ok_or("no such network")?;
        let node = Node::new(client.clone(), HttpUrl::parse(url)?, network.chain_id());
        nodes.insert(network, node);
    }
    let question = Duration::from_secs(10);
    let deadlines = Deadlines { question, settle: question, repeat: question };
    let settings = FacilitatorSettings { base, key: None, nodes, deadlines };
    let remote = RemoteFacilitator::new(settings, client, Arc::new(SystemClock::start()));
    for line in std::io::stdin().lock().lines() {
        let said = answer(&remote, &serde_json::from_str(&line?)?).await?;
        writeln!(std::io::stdout(), "{said}")?;
    }
    Ok(())
}

async fn answer(remote: &RemoteFacilitator, asked: &Value) -> Fallible<Value> {
    if asked["do"] == "refresh" {
        remote.refresh().await;
        return Ok(Network::ALL
            .map(|network| (network.caip2(), service(remote, network)))
            .into_iter()
            .collect());
    }
    let authorization = authorization(&asked["payload"]).ok_or("no payload that can be read")?;
    let charge = Usdc::from_atomic(asked["charge"].as_u64().unwrap_or_default());
    let written = asked["preparation"].as_str().unwrap_or_default();
    let preparation = Preparation(hex::decode(written)?);
    let due = Permit2Payment { authorization: &authorization, charge, preparation: &preparation };
    Ok(match asked["do"].as_str() {
        Some("verify") => match remote.verify(&authorization, SignatureKind::Key).await {
            Ok(()) => json!({ "valid": true }),
            Err(why) => rejected(&why),
        },
        Some("prepare") => match remote.prepare(&authorization, charge, None).await {
            Ok(preparation) => json!({ "preparation": hex::encode(preparation.0) }),
            Err(why) => rejected(&why),
        },
        Some("settle") => match remote.settle(due).await {
            Ok(moved) => shown(&moved),
            Err(failure) => failed(&failure),
        },
        Some("trace") => match remote.trace(due, None).await {
            Ok(TransferStatus::Moved(moved)) => shown(&moved),
            Ok(TransferStatus::Open) => json!({ "open": true }),
            Ok(TransferStatus::Void) => json!({ "void": true }),
            Err(failure) => failed(&failure.into()),
        },
        Some(_) | None => return Err("do: refresh, verify, prepare, settle or trace".into()),
    })
}

fn service(remote: &RemoteFacilitator, network: Network) -> Value {
    remote.support(network).map_or(Value::Null, |service| {
        let sponsoring = match service.sponsoring {
            GasSponsoring::Offered => "offered",
            GasSponsoring::NotOffered => "not offered",
        };
        json!({ "facilitator": service.facilitator.to_string(), "sponsoring": sponsoring })
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

fn failed(why: &Unsettled) -> Value {
    match why {
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

/// The authorization in a payload of the official client, which is trusted here.
fn authorization(payload: &Value) -> Option<Permit2Authorization> {
    let text = |place: &str| payload.pointer(place).and_then(Value::as_str);
    let given = |place: &str| text(&format!("/payload/permit2Authorization{place}"));
    let address = |place: &str| given(place)?.parse::<EvmAddress>().ok();
    let number = |place: &str| given(place)?.parse::<U256>().ok();
    let small = |place: &str| u64::try_from(number(place)?).ok();
    let signature: Bytes = text("/payload/signature")?.parse().ok()?;
    Some(Permit2Authorization {
        network: Network::from_caip2(text("/accepted/network")?)?,
        payer: address("/from")?,
        pay_to: address("/witness/to")?,
        facilitator: address("/witness/facilitator")?,
        most: Usdc::from_atomic(small("/permitted/amount")?),
        nonce: number("/nonce")?.to_be_bytes(),
        valid_after: small("/witness/validAfter")?,
        deadline: small("/deadline")?,
        signature: signature.to_vec(),
        permit: None,
        payload: payload.clone().into(),
    })
}
