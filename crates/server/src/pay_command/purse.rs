//! Who pays: a key of the payer's own, or the demonstration payer of a sandbox.

use std::collections::BTreeMap;

use adapters::http::{Address, Call, Client};
use order::model::chain::Network;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::cli::PayArguments;

use super::end::End;
use super::place::Place;
use super::wallet::Wallet;

pub(super) struct Purse {
    pub(super) wallet: Wallet,
    pub(super) money: Money,
    nodes: BTreeMap<Network, String>,
}

/// Whether what is signed can be worth anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Money {
    Real,
    OfSandbox,
}

impl Purse {
    pub(super) async fn open(
        arguments: &PayArguments,
        place: &Place,
        client: &Client,
    ) -> Result<Self, End> {
        let mut purse = match (&arguments.key_file, &place.sandbox) {
            (Some(path), _) => {
                Self { wallet: Wallet::read(path)?, money: Money::Real, nodes: BTreeMap::new() }
            }
            (None, Some(origin)) => of_sandbox(origin, client).await?,
            (None, None) => return Err(End::Unusable(NOBODY.to_owned())),
        };
        if let Some(url) = &arguments.rpc_url {
            purse.nodes = Network::ALL.map(|network| (network, url.clone())).into();
        }
        Ok(purse)
    }

    /// The node to ask about this network, if any is known.
    pub(super) fn node(&self, network: Network) -> Option<Result<Address, End>> {
        let url = self.nodes.get(&network)?;
        Some(Address::parse(url).map_err(|fault| {
            End::Unusable(format!("The node's address cannot be used. {fault}\n"))
        }))
    }
}

const NOBODY: &str = "\
Nothing was signed: there is no key to pay with.
  --key-file FILE   a file of yours with a private key: 0x and 64 hexadecimal digits
  --sandbox URL     the chain of a sandbox, whose faucet then pays; the banner of the
                    service names it, and in its own folder the service is found without
";

/// The demonstration payer, whose key is worthless elsewhere.
async fn of_sandbox(origin: &str, client: &Client) -> Result<Purse, End> {
    let away = |why: &str| {
        End::Later(format!(
            "The sandbox's faucet at {origin} does not help: {why}. Nothing was signed.\n\
             Is the service still running in sandbox mode? Its banner names the chain.\n"
        ))
    };
    let address = Address::parse(origin).map_err(|fault| {
        End::Unusable(format!("The sandbox's address cannot be used. {fault}\n"))
    })?;
    let call = Call::get("the sandbox", address.below(&["__sandbox", "faucet"]));
    let answer = client.send(call).await.map_err(|silence| away(&silence.to_string()))?;
    let told: Value = answer.read().map_err(|silence| away(&silence.to_string()))?;
    let key = Zeroizing::new(told["payer"]["key"].as_str().unwrap_or_default().to_owned());
    let wallet = Wallet::parse(&key).ok_or_else(|| away("it names no key"))?;
    let node = |network: Network| {
        told["rpc"][network.caip2()].as_str().map(|url| (network, url.to_owned()))
    };
    let nodes = Network::ALL.into_iter().filter_map(node).collect();
    Ok(Purse { wallet, money: Money::OfSandbox, nodes })
}
