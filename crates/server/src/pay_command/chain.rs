//! The payer's own node: what Permit2 may take, and the transaction that allows it more.

use std::sync::Arc;

use adapters::http::{Address, Call, Client};
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::ports::Clock;
use serde_json::{Value, json};

use super::hex::{self, Word};
use super::transaction::Transaction;
use super::typed::{account, amount, keccak};
use super::values::{coin, name};
use super::wallet::Wallet;
use super::x402::promise::PERMIT2;

/// How often a receipt is asked for, a second apart.
const LOOKS: u32 = 90;
const WEI_PER_COIN: u128 = 1_000_000_000_000_000_000;

pub(super) struct Chain {
    client: Client,
    address: Address,
    network: Network,
    clock: Arc<dyn Clock>,
}

impl Chain {
    /// Makes sure that the node is one of this network.
    pub(super) async fn open(
        client: Client,
        address: Address,
        network: Network,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let chain = Self { client, address, network, clock };
        let id = chain.number("eth_chainId", json!([])).await?;
        if id == u128::from(network.chain_id()) {
            return Ok(chain);
        }
        Err(format!(
            "the node belongs to chain {id}, and {} is {}",
            name(network),
            network.chain_id()
        ))
    }

    /// Whether Permit2 may take this much from the owner.
    pub(super) async fn allows(&self, owner: EvmAddress, most: Usdc) -> Result<Allowance, String> {
        let data = call("allowance(address,address)", &[account(owner), account(PERMIT2)]);
        // Both are numbers with the largest digit first.
        Ok(if self.read(data).await? >= amount(most) {
            Allowance::Enough
        } else {
            Allowance::TooSmall
        })
    }

    /// How many permits the token has seen from this owner.
    pub(super) async fn permits(&self, owner: EvmAddress) -> Result<Word, String> {
        self.read(call("nonces(address)", &[account(owner)])).await
    }

    /// Lets Permit2 take this much and no more; ends when a block says so.
    pub(super) async fn approve(&self, wallet: &Wallet, most: Usdc) -> Result<String, String> {
        let transaction = self.approval(wallet.address(), most).await?;
        self.affordable(&transaction)?;
        let raw = transaction.sign(wallet);
        let hash = hex::encode(&keccak(&raw));
        self.ask("eth_sendRawTransaction", json!([hex::encode(&raw)])).await?;
        for _ in 0..LOOKS {
            let receipt = self.ask("eth_getTransactionReceipt", json!([hash])).await?;
            match receipt["status"].as_str() {
                Some("0x1") => return Ok(hash),
                Some(_) => return Err(format!("the transaction {hash} failed")),
                None => self.clock.wait(1).await,
            }
        }
        Err(format!("the transaction {hash} is not in a block yet"))
    }

    async fn approval(&self, owner: EvmAddress, most: Usdc) -> Result<Transaction, String> {
        let data = call("approve(address,uint256)", &[account(PERMIT2), amount(most)]);
        let (from, to) = (owner.to_string(), self.network.usdc());
        let nonce = self.number("eth_getTransactionCount", json!([from, "pending"])).await?;
        let tip = self.number("eth_maxPriorityFeePerGas", json!([])).await?;
        let block = self.ask("eth_getBlockByNumber", json!(["latest", false])).await?;
        let base = block["baseFeePerGas"].as_str().and_then(hex::quantity).unwrap_or(0);
        let asked = json!([{ "from": from, "to": to.to_string(), "data": hex::encode(&data) }]);
        let gas = self.number("eth_estimateGas", asked).await?;
        Ok(Transaction {
            chain_id: self.network.chain_id(),
            nonce,
            tip,
            // A base fee can double while we wait.
            fee_max: base.saturating_mul(2).saturating_add(tip),
            gas: gas.saturating_add(gas / 4),
            to,
            data,
        })
    }

    /// A node that lies about fees must not empty an account.
    fn affordable(&self, transaction: &Transaction) -> Result<(), String> {
        let most = match self.network {
            Network::Base | Network::Arbitrum => WEI_PER_COIN / 100,
            Network::Polygon => WEI_PER_COIN,
        };
        if transaction.cost_max() <= most {
            return Ok(());
        }
        let coin = coin(self.network);
        Err(format!(
            "the fee could reach {} wei of {coin}, more than this command spends ({most})",
            transaction.cost_max()
        ))
    }

    async fn read(&self, data: Vec<u8>) -> Result<Word, String> {
        let token = self.network.usdc().to_string();
        let asked = json!([{ "to": token, "data": hex::encode(&data) }, "latest"]);
        let said = self.ask("eth_call", asked).await?;
        said.as_str().and_then(hex::word).ok_or_else(|| "the node's answer is no word".to_owned())
    }

    async fn number(&self, method: &str, parameters: Value) -> Result<u128, String> {
        let said = self.ask(method, parameters).await?;
        let number = said.as_str().and_then(hex::quantity);
        number.ok_or_else(|| format!("the node answers {method} with no number"))
    }

    async fn ask(&self, method: &str, parameters: Value) -> Result<Value, String> {
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters });
        let call = Call::post("a node", self.address.clone(), &question);
        let answer = self.client.send(call).await.map_err(|silence| silence.to_string())?;
        let said: Value = answer.body_as().ok_or_else(|| answer.lost().to_string())?;
        match said.get("error").filter(|error| !error.is_null()) {
            Some(error) => {
                let words = error["message"].as_str().unwrap_or("an error without words");
                Err(format!("the node says: {words}"))
            }
            None => Ok(said["result"].clone()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allowance {
    Enough,
    TooSmall,
}

/// A call of a contract, by the name and types of its function.
fn call(function: &str, words: &[Word]) -> Vec<u8> {
    [keccak(function)[..4].to_vec(), words.concat()].concat()
}
