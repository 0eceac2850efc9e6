//! Several calls in one HTTP exchange: a JSON-RPC batch.

use std::collections::HashMap;

use alloy_primitives::{B256, Bytes, U64};
use order::model::chain::EvmAddress;
use serde::Deserialize;
use serde_json::{Value, json};

use super::objection::{NotSent, Objection, Sent};
use super::transactions::{Receipt, unheard_or_lost};
use super::{ANSWER_BYTES_MAX, At, ContractCall, Head, NoAnswer, Node, Unsaid};
use crate::http::{Call, Silence, Why};

/// A receipt of ours has two events and a few hundred bytes; this is far more.
const MEMBER_BYTES_MAX: usize = 16 * 1024;

/// How far an account has come, and what became of some transactions.
#[derive(Clone, Debug)]
pub struct Progress {
    pub head: Head,
    /// How many transactions of the account are in blocks.
    pub mined: u64,
    /// In the order of the hashes that were asked for.
    pub receipts: Vec<Option<Receipt>>,
}

struct Question {
    method: &'static str,
    params: Value,
}

#[derive(Deserialize)]
struct Member {
    id: u64,
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Objection>,
}

#[derive(Deserialize)]
struct BatchRefusal {
    error: Objection,
}

impl Node {
    /// Sends signed transactions in this order. Each answer is what [`Node::send`] says.
    pub async fn send_all(&self, raws: &[Bytes]) -> Vec<Result<Sent, NotSent>> {
        if let [raw] = raws {
            return vec![self.send(raw).await];
        }
        if let Err(why) = self.recognised.get_or_try_init(|| self.recognise()).await {
            return raws.iter().map(|_| Err(NotSent::Unheard(why.clone()))).collect();
        }
        let question = |raw| Question { method: "eth_sendRawTransaction", params: json!([raw]) };
        let answers = match self.exchange_all(raws.iter().map(question).collect()).await {
            Ok(answers) => answers,
            Err(Unsaid::Silent(silence)) => {
                return raws.iter().map(|_| Err(unheard_or_lost(silence))).collect();
            }
            // It does not take batches, or has answered something else.
            Err(Unsaid::Unusable | Unsaid::Objection(_)) => return self.send_each(raws).await,
        };
        let lost = || Err(NotSent::Lost(NoAnswer::Unusable));
        let sorted = answers.into_iter().map(|answer| match answer {
            Ok(Some(_)) => Ok(Sent::Taken),
            Ok(None) | Err(Unsaid::Unusable | Unsaid::Silent(_)) => lost(),
            Err(Unsaid::Objection(objection)) => objection.about_transaction(),
        });
        sorted.collect()
    }

    async fn send_each(&self, raws: &[Bytes]) -> Vec<Result<Sent, NotSent>> {
        let mut answers = Vec::with_capacity(raws.len());
        for raw in raws {
            answers.push(self.send(raw).await);
        }
        answers
    }

    /// Where the chain stands for an account, in one exchange.
    pub async fn progress(
        &self,
        account: EvmAddress,
        hashes: &[B256],
    ) -> Result<Progress, NoAnswer> {
        self.recognised.get_or_try_init(|| self.recognise()).await?;
        let mut questions = vec![
            Question { method: "eth_getBlockByNumber", params: json!(["latest", false]) },
            Question {
                method: "eth_getTransactionCount",
                params: json!([account.to_string(), "latest"]),
            },
        ];
        questions.extend(
            hashes.iter().map(|hash| Question {
                method: "eth_getTransactionReceipt",
                params: json!([hash]),
            }),
        );
        let answers = match self.exchange_all(questions).await {
            Ok(answers) => answers,
            Err(Unsaid::Unusable | Unsaid::Objection(_)) => {
                return self.progress_by_one(account, hashes).await;
            }
            Err(why @ Unsaid::Silent(_)) => return Err(why.sorted()),
        };
        let mut answers = answers.into_iter().map(|answer| answer.map_err(Unsaid::sorted));
        let mut next = || answers.next().unwrap_or(Err(NoAnswer::Unusable));
        let head: Head = read(next()?)?.ok_or(NoAnswer::Unusable)?;
        let mined: U64 = read(next()?)?.ok_or(NoAnswer::Unusable)?;
        let mut receipts = Vec::with_capacity(hashes.len());
        for hash in hashes {
            let receipt: Option<Receipt> = read(next()?)?;
            if receipt.as_ref().is_some_and(|receipt| receipt.transaction != *hash) {
                return Err(NoAnswer::Unusable);
            }
            receipts.push(receipt);
        }
        Ok(Progress { head, mined: mined.to(), receipts })
    }

    /// What contracts answer to several calls, in one exchange. Fails if one of them does.
    pub async fn call_all(
        &self,
        calls: &[(EvmAddress, Vec<u8>)],
        at: At,
    ) -> Result<Vec<Bytes>, NoAnswer> {
        self.recognised.get_or_try_init(|| self.recognise()).await?;
        let question = |(to, data): &(EvmAddress, Vec<u8>)| Question {
            method: "eth_call",
            params: json!([ContractCall::new(*to, data), at]),
        };
        match self.exchange_all(calls.iter().map(question).collect()).await {
            Ok(answers) => {
                let answers = answers.into_iter().map(|a| read(a.map_err(Unsaid::sorted)?));
                answers.map(|answer| answer?.ok_or(NoAnswer::Unusable)).collect()
            }
            Err(why @ Unsaid::Silent(_)) => Err(why.sorted()),
            Err(Unsaid::Unusable | Unsaid::Objection(_)) => {
                let mut answers = Vec::with_capacity(calls.len());
                for (to, data) in calls {
                    answers.push(self.call(*to, data, at).await?);
                }
                Ok(answers)
            }
        }
    }

    /// The blocks with these numbers; none where there is no such block.
    pub async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Head>>, NoAnswer> {
        let block = |number: &u64| Question {
            method: "eth_getBlockByNumber",
            params: json!([At::Number(*number), false]),
        };
        match self.exchange_all(numbers.iter().map(block).collect()).await {
            Ok(answers) => answers.into_iter().map(|a| read(a.map_err(Unsaid::sorted)?)).collect(),
            Err(why @ Unsaid::Silent(_)) => Err(why.sorted()),
            Err(Unsaid::Unusable | Unsaid::Objection(_)) => {
                let mut blocks = Vec::with_capacity(numbers.len());
                for number in numbers {
                    blocks.push(match self.block(At::Number(*number)).await {
                        Err(NoAnswer::UnknownBlock) => None,
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
    ) -> Result<Progress, NoAnswer> {
        let head = self.block(At::Tag(order::model::evidence::BlockTag::Latest)).await?;
        let mined = self.mined_count(account).await?;
        let mut receipts = Vec::with_capacity(hashes.len());
        for hash in hashes {
            receipts.push(self.receipt(*hash).await?);
        }
        Ok(Progress { head, mined, receipts })
    }

    /// Many questions and their answers, in the order of the questions.
    async fn exchange_all(
        &self,
        questions: Vec<Question>,
    ) -> Result<Vec<Result<Option<Value>, Unsaid>>, Unsaid> {
        let count = questions.len();
        let body: Vec<Value> = questions
            .into_iter()
            .zip(0_u64..)
            .map(|(Question { method, params }, id)| {
                json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
            })
            .collect();
        let call = Call::post("a node", self.address.clone(), &body)
            .within(self.deadline)
            .at_most(ANSWER_BYTES_MAX + count * MEMBER_BYTES_MAX);
        let answer = self.client.send(call).await.map_err(Unsaid::Silent)?;
        let Some(members) = answer.body_as::<Vec<Member>>() else {
            // A node that refuses a batch says so with one object, whatever the status.
            return Err(match answer.body_as::<BatchRefusal>() {
                Some(BatchRefusal { error }) => Unsaid::Objection(error),
                None if answer.is_good() => Unsaid::Silent(Silence::Lost(Why::Unreadable)),
                None => Unsaid::Silent(answer.lost()),
            });
        };
        let mut by_id: HashMap<u64, Member> =
            members.into_iter().map(|member| (member.id, member)).collect();
        let answers = (0_u64..).take(count).map(|id| match by_id.remove(&id) {
            None => Err(Unsaid::Unusable),
            Some(Member { error: Some(objection), .. }) => Err(Unsaid::Objection(objection)),
            Some(Member { result, .. }) => Ok(result),
        });
        Ok(answers.collect())
    }
}

fn read<T: serde::de::DeserializeOwned>(result: Option<Value>) -> Result<Option<T>, NoAnswer> {
    match result {
        None | Some(Value::Null) => Ok(None),
        Some(value) => serde_json::from_value(value).map(Some).map_err(|_| NoAnswer::Unusable),
    }
}
