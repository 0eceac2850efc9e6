//! JSON-RPC batches.

use std::collections::HashMap;

use alloy_primitives::{B256, Bytes, U64};
use order::model::chain::EvmAddress;
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::NodeError;
use super::json_rpc_error::{JsonRpcError, SendError, SendOutcome};
use super::node::{ANSWER_BYTES_MAX, BlockHead, BlockId, ContractCall, ExchangeError, Node, PEER};
use super::transactions::{TransactionReceipt, unheard_or_lost};
use crate::http::{CallError, CallErrorKind, HttpCall};

/// A receipt of ours has two events and a few hundred bytes; this is far more.
const MEMBER_BYTES_MAX: usize = 16 * 1024;

/// The state of an account and the receipts of some transactions.
#[derive(Clone, Debug)]
pub struct AccountProgress {
    pub head: BlockHead,
    /// The account's transaction count.
    pub mined: u64,
    /// In the order of the requested hashes.
    pub receipts: Vec<Option<TransactionReceipt>>,
}

struct JsonRpcRequest {
    method: &'static str,
    params: Value,
}

#[derive(Deserialize)]
struct BatchReply {
    id: u64,
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<JsonRpcError>,
}

#[derive(Deserialize)]
struct BatchRefusal {
    error: JsonRpcError,
}

impl Node {
    /// Sends signed transactions in this order. Each answer is what [`Node::send`] says.
    pub async fn send_all(&self, raws: &[Bytes]) -> Vec<Result<SendOutcome, SendError>> {
        if let [raw] = raws {
            return vec![self.send(raw).await];
        }
        if let Err(why) = self.verified.get_or_try_init(|| self.verify_chain()).await {
            return raws.iter().map(|_| Err(SendError::NotSent(why.clone()))).collect();
        }
        let question =
            |raw| JsonRpcRequest { method: "eth_sendRawTransaction", params: json!([raw]) };
        let answers = match self.exchange_all(raws.iter().map(question).collect()).await {
            Ok(answers) => answers,
            Err(ExchangeError::Http(error)) => {
                return raws.iter().map(|_| Err(unheard_or_lost(error))).collect();
            }
            // It does not support batches.
            Err(ExchangeError::Unusable | ExchangeError::JsonRpcError(_)) => {
                return self.send_each(raws).await;
            }
        };
        let lost = || Err(SendError::Lost(NodeError::Unusable));
        let sorted = answers.into_iter().map(|answer| match answer {
            Ok(Some(_)) => Ok(SendOutcome::Accepted),
            Ok(None) | Err(ExchangeError::Unusable | ExchangeError::Http(_)) => lost(),
            Err(ExchangeError::JsonRpcError(objection)) => objection.about_transaction(),
        });
        sorted.collect()
    }

    async fn send_each(&self, raws: &[Bytes]) -> Vec<Result<SendOutcome, SendError>> {
        let mut answers = Vec::with_capacity(raws.len());
        for raw in raws {
            answers.push(self.send(raw).await);
        }
        answers
    }

    /// Latest block, transaction count and receipts, in one exchange.
    pub async fn progress(
        &self,
        account: EvmAddress,
        hashes: &[B256],
    ) -> Result<AccountProgress, NodeError> {
        self.verified.get_or_try_init(|| self.verify_chain()).await?;
        let mut questions = vec![
            JsonRpcRequest { method: "eth_getBlockByNumber", params: json!(["latest", false]) },
            JsonRpcRequest {
                method: "eth_getTransactionCount",
                params: json!([account.to_string(), "latest"]),
            },
        ];
        questions.extend(hashes.iter().map(|hash| JsonRpcRequest {
            method: "eth_getTransactionReceipt",
            params: json!([hash]),
        }));
        let answers = match self.exchange_all(questions).await {
            Ok(answers) => answers,
            Err(ExchangeError::Unusable | ExchangeError::JsonRpcError(_)) => {
                return self.progress_by_one(account, hashes).await;
            }
            Err(why @ ExchangeError::Http(_)) => return Err(why.into_error()),
        };
        let mut answers =
            answers.into_iter().map(|answer| answer.map_err(ExchangeError::into_error));
        let mut next = || answers.next().unwrap_or(Err(NodeError::Unusable));
        let head: BlockHead = read(next()?)?.ok_or(NodeError::Unusable)?;
        let mined: U64 = read(next()?)?.ok_or(NodeError::Unusable)?;
        let mut receipts = Vec::with_capacity(hashes.len());
        for hash in hashes {
            let receipt: Option<TransactionReceipt> = read(next()?)?;
            if receipt.as_ref().is_some_and(|receipt| receipt.transaction != *hash) {
                return Err(NodeError::Unusable);
            }
            receipts.push(receipt);
        }
        Ok(AccountProgress { head, mined: mined.to(), receipts })
    }

    /// Several `eth_call`s in one exchange. Fails if one of them fails.
    pub async fn call_all(
        &self,
        calls: &[(EvmAddress, Vec<u8>)],
        at: BlockId,
    ) -> Result<Vec<Bytes>, NodeError> {
        self.verified.get_or_try_init(|| self.verify_chain()).await?;
        let question = |(to, data): &(EvmAddress, Vec<u8>)| JsonRpcRequest {
            method: "eth_call",
            params: json!([ContractCall::new(*to, data), at]),
        };
        match self.exchange_all(calls.iter().map(question).collect()).await {
            Ok(answers) => {
                let answers =
                    answers.into_iter().map(|a| read(a.map_err(ExchangeError::into_error)?));
                answers.map(|answer| answer?.ok_or(NodeError::Unusable)).collect()
            }
            Err(why @ ExchangeError::Http(_)) => Err(why.into_error()),
            Err(ExchangeError::Unusable | ExchangeError::JsonRpcError(_)) => {
                let mut answers = Vec::with_capacity(calls.len());
                for (to, data) in calls {
                    answers.push(self.call(*to, data, at).await?);
                }
                Ok(answers)
            }
        }
    }

    /// The blocks with these numbers; none where there is no such block.
    pub async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<BlockHead>>, NodeError> {
        let block = |number: &u64| JsonRpcRequest {
            method: "eth_getBlockByNumber",
            params: json!([BlockId::Number(*number), false]),
        };
        match self.exchange_all(numbers.iter().map(block).collect()).await {
            Ok(answers) => {
                answers.into_iter().map(|a| read(a.map_err(ExchangeError::into_error)?)).collect()
            }
            Err(why @ ExchangeError::Http(_)) => Err(why.into_error()),
            Err(ExchangeError::Unusable | ExchangeError::JsonRpcError(_)) => {
                let mut blocks = Vec::with_capacity(numbers.len());
                for number in numbers {
                    blocks.push(match self.block(BlockId::Number(*number)).await {
                        Err(NodeError::UnknownBlock) => None,
                        block => Some(block?),
                    });
                }
                Ok(blocks)
            }
        }
    }

    async fn progress_by_one(
        &self,
        account: EvmAddress,
        hashes: &[B256],
    ) -> Result<AccountProgress, NodeError> {
        let head = self.block(BlockId::Tag(order::model::evidence::BlockTag::Latest)).await?;
        let mined = self.mined_count(account).await?;
        let mut receipts = Vec::with_capacity(hashes.len());
        for hash in hashes {
            receipts.push(self.receipt(*hash).await?);
        }
        Ok(AccountProgress { head, mined, receipts })
    }

    /// Many calls and their results, in order.
    async fn exchange_all(
        &self,
        questions: Vec<JsonRpcRequest>,
    ) -> Result<Vec<Result<Option<Value>, ExchangeError>>, ExchangeError> {
        let count = questions.len();
        let body: Vec<Value> = questions
            .into_iter()
            .zip(0_u64..)
            .map(|(JsonRpcRequest { method, params }, id)| {
                json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
            })
            .collect();
        let call = HttpCall::post(PEER, self.address.clone(), &body)
            .within(self.deadline)
            .at_most(ANSWER_BYTES_MAX + count * MEMBER_BYTES_MAX);
        let answer = self.client.send(call).await.map_err(ExchangeError::Http)?;
        let Some(members) = answer.members_as::<BatchReply>() else {
            // A node that refuses a batch returns one error object, with any status.
            return Err(match answer.body_as::<BatchRefusal>() {
                Some(BatchRefusal { error }) => ExchangeError::JsonRpcError(error),
                None if answer.is_success() => {
                    ExchangeError::Http(CallError::Lost(CallErrorKind::Unreadable))
                }
                None => ExchangeError::Http(answer.lost()),
            });
        };
        let mut by_id: HashMap<u64, BatchReply> =
            members.into_iter().map(|member| (member.id, member)).collect();
        let answers = (0_u64..).take(count).map(|id| match by_id.remove(&id) {
            None => Err(ExchangeError::Unusable),
            Some(BatchReply { error: Some(objection), .. }) => {
                Err(ExchangeError::JsonRpcError(objection))
            }
            Some(BatchReply { result, .. }) => Ok(result),
        });
        Ok(answers.collect())
    }
}

fn read<T: serde::de::DeserializeOwned>(result: Option<Value>) -> Result<Option<T>, NodeError> {
    match result {
        None | Some(Value::Null) => Ok(None),
        Some(value) => serde_json::from_value(value).map(Some).map_err(|_| NodeError::Unusable),
    }
}
