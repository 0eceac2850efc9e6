//! The payer's own node: what Permit2 may take, and the transaction that allows it more.

use evm::abi::{ALLOWANCE, APPROVE, NONCES, encode_call};
use evm::contracts::PERMIT2;
use evm::hex;
use evm::signature::SigningKey;
use evm::transaction::{self, UnsignedTransaction};
use evm::word::{self, Word};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::io::{HttpRequest, PayerIo};
use crate::values::account::EvmAccount;
use crate::values::amount::UsdcAmount;
use crate::values::network::PaymentNetwork;
use crate::values::number::quantity;

/// How often a receipt is asked for, a second apart.
const LOOKS: u32 = 90;
const WEI_PER_COIN: u128 = 1_000_000_000_000_000_000;

pub(crate) struct PayerNode<'a> {
    io: &'a dyn PayerIo,
    url: String,
    network: PaymentNetwork,
}

impl<'a> PayerNode<'a> {
    /// Makes sure that the node is one of this network.
    pub(crate) async fn open(
        io: &'a dyn PayerIo,
        url: String,
        network: PaymentNetwork,
    ) -> Result<Self, String> {
        let node = Self { io, url, network };
        let id = node.number("eth_chainId", json!([])).await?;
        if id == u128::from(network.chain_id()) {
            return Ok(node);
        }
        Err(format!(
            "the node belongs to chain {id}, and {} is {}",
            network.name(),
            network.chain_id()
        ))
    }

    /// Whether Permit2 may take this much from the owner.
    pub(crate) async fn allows(
        &self,
        owner: EvmAccount,
        most: UsdcAmount,
    ) -> Result<AllowanceLevel, String> {
        let data =
            encode_call(ALLOWANCE, &[word::from_address(owner.0), word::from_address(PERMIT2)]);
        // Both are numbers with the largest digit first.
        Ok(if self.read(data).await? >= word::from_u64(most.atomic()) {
            AllowanceLevel::Enough
        } else {
            AllowanceLevel::TooSmall
        })
    }

    /// How many permits the token has seen from this owner.
    pub(crate) async fn permits(&self, owner: EvmAccount) -> Result<Word, String> {
        self.read(encode_call(NONCES, &[word::from_address(owner.0)])).await
    }

    /// Lets Permit2 take this much and no more; ends when a block says so.
    pub(crate) async fn approve(
        &self,
        key: &SigningKey,
        most: UsdcAmount,
    ) -> Result<String, String> {
        let approval = self.approval(EvmAccount(key.address()), most).await?;
        self.affordable(&approval)?;
        let raw = approval.sign(key);
        let hash = hex::encode(&transaction::hash(&raw));
        self.ask("eth_sendRawTransaction", json!([hex::encode(&raw)])).await?;
        for _ in 0..LOOKS {
            let receipt = self.ask("eth_getTransactionReceipt", json!([hash])).await?;
            match receipt["status"].as_str() {
                Some("0x1") => return Ok(hash),
                Some(_) => return Err(format!("the transaction {hash} failed")),
                None => self.io.wait(1).await,
            }
        }
        Err(format!("the transaction {hash} is not in a block yet"))
    }

    async fn approval(
        &self,
        owner: EvmAccount,
        most: UsdcAmount,
    ) -> Result<UnsignedTransaction, String> {
        let data =
            encode_call(APPROVE, &[word::from_address(PERMIT2), word::from_u64(most.atomic())]);
        let (from, to) = (owner.to_string(), self.network.usdc());
        let nonce = self.number("eth_getTransactionCount", json!([from, "pending"])).await?;
        let tip = self.number("eth_maxPriorityFeePerGas", json!([])).await?;
        let block = self.ask("eth_getBlockByNumber", json!(["latest", false])).await?;
        let base = block["baseFeePerGas"].as_str().and_then(quantity).unwrap_or(0);
        let asked = json!([{ "from": from, "to": to.to_string(), "data": hex::encode(&data) }]);
        let gas = self.number("eth_estimateGas", asked).await?;
        Ok(UnsignedTransaction {
            chain_id: self.network.chain_id(),
            nonce: small(nonce)?,
            priority_fee: tip,
            // A base fee can double while we wait.
            max_fee: base.saturating_mul(2).saturating_add(tip),
            gas: small(gas.saturating_add(gas / 4))?,
            to: to.0,
            value: 0,
            data,
        })
    }

    /// A node that lies about fees must not empty an account.
    fn affordable(&self, transaction: &UnsignedTransaction) -> Result<(), String> {
        let most = match self.network {
            PaymentNetwork::Base | PaymentNetwork::Arbitrum => WEI_PER_COIN / 100,
            PaymentNetwork::Polygon => WEI_PER_COIN,
        };
        let cost = u128::from(transaction.gas).saturating_mul(transaction.max_fee);
        if cost <= most {
            return Ok(());
        }
        let coin = self.network.coin();
        Err(format!(
            "the fee could reach {cost} wei of {coin}, more than this command spends ({most})"
        ))
    }

    async fn read(&self, data: Vec<u8>) -> Result<Word, String> {
        let token = self.network.usdc().to_string();
        let asked = json!([{ "to": token, "data": hex::encode(&data) }, "latest"]);
        let answer = self.ask("eth_call", asked).await?;
        let word = answer.as_str().and_then(hex::decode).and_then(|bytes| bytes.try_into().ok());
        word.ok_or_else(|| "the node's answer is no word".to_owned())
    }

    async fn number(&self, method: &str, parameters: Value) -> Result<u128, String> {
        let answer = self.ask(method, parameters).await?;
        let number = answer.as_str().and_then(quantity);
        number.ok_or_else(|| format!("the node answers {method} with no number"))
    }

    async fn ask(&self, method: &str, parameters: Value) -> Result<Value, String> {
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters });
        let question = to_raw_value(&question).map_err(|error| error.to_string())?;
        let request = HttpRequest::post("a node", self.url.clone(), question);
        let response = self.io.send(request).await.map_err(|reason| reason.to_string())?;
        let answer: Value =
            serde_json::from_slice(&response.body).map_err(|_| response.lost().to_string())?;
        match answer.get("error").filter(|error| !error.is_null()) {
            Some(error) => {
                let words = error["message"].as_str().unwrap_or("an error without words");
                Err(format!("the node says: {words}"))
            }
            None => Ok(answer["result"].clone()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllowanceLevel {
    Enough,
    TooSmall,
}

fn small(number: u128) -> Result<u64, String> {
    u64::try_from(number).map_err(|_| format!("the node answers with {number}, which is too large"))
}
