//! A scripted chain over HTTP: enough of ENS and JSON-RPC for a lookup.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::{SolCall, SolError, SolValue, sol};
use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::servers::serve;

sol! {
    function findResolver(bytes name) returns (address resolver, bytes32 node, uint256 offset);
    function resolve(bytes name, bytes data) returns (bytes result, address resolver);
    function addr(bytes32 node, uint256 coinType) returns (bytes account);
    function callback(bytes response, bytes extraData) returns (bytes result, address resolver);

    struct Request {
        address sender;
        string[] urls;
        bytes data;
    }
    function query(Request[] requests) returns (bool[] failures, bytes[] responses);

    error ResolverNotFound(bytes name);
    error UnsupportedResolverProfile(bytes4 selector);
    error HttpError(uint16 status, string message);
    error Distrusted();
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);
}

pub(crate) const UNIVERSAL_RESOLVER: &str = "0xeEeEEEeE14D718C2B47D9923Deab1335E144EeEe";
pub(crate) const RESOLVER: [u8; 20] = [0x4e; 20];

/// What stands for a name.
#[derive(Clone, Default)]
pub(crate) struct Entry {
    /// Its labels, put in with it.
    pub name: Vec<u8>,
    pub records: HashMap<u64, Vec<u8>>,
    /// How far above the name its resolver was found.
    pub offset: u64,
    pub manner: Manner,
}

#[derive(Clone, Default)]
pub(crate) enum Manner {
    #[default]
    OnChain,
    /// Sends the caller to these servers, in a bundle as the real contract does.
    Bundled(Vec<String>),
    /// The same without a bundle.
    Plainly(Vec<String>),
    /// Whatever comes back, it sends the caller out again.
    Forever(Vec<String>),
    /// A lookup in the name of another contract.
    Impostor(Vec<String>),
    /// Reverts with these bytes.
    Reverts(Vec<u8>),
}

pub(crate) struct Script {
    pub chain_id: u64,
    pub head: u64,
    /// Mixed into the hashes of all blocks: another salt is another history.
    pub salt: u8,
    pub names: HashMap<Vec<u8>, Entry>,
    pub code: HashMap<Address, Vec<u8>>,
    /// Answers nothing of use.
    pub broken: Option<Value>,
    /// Method and block of every question.
    pub journal: Vec<(String, String)>,
}

#[derive(Clone)]
pub(crate) struct Chain {
    pub url: String,
    script: Arc<Mutex<Script>>,
}

impl Chain {
    pub(crate) async fn start() -> Self {
        let script = Arc::new(Mutex::new(Script {
            chain_id: 1,
            head: 1_000,
            salt: 0,
            names: HashMap::new(),
            code: HashMap::new(),
            broken: None,
            journal: Vec::new(),
        }));
        let router = Router::new().route("/", post(answer)).with_state(script.clone());
        Self { url: serve(router).await, script }
    }

    pub(crate) fn rewrite(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.script.lock().unwrap());
    }

    pub(crate) fn set(&self, name: &str, entry: Entry) {
        let entry = Entry { name: labels(name), ..entry };
        self.rewrite(|script| drop(script.names.insert(labels(name), entry)));
    }

    pub(crate) fn questions(&self, method: &str) -> usize {
        self.script.lock().unwrap().journal.iter().filter(|(asked, _)| asked == method).count()
    }

    pub(crate) fn blocks_asked_about(&self, method: &str) -> Vec<String> {
        let script = self.script.lock().unwrap();
        let asked = script.journal.iter().filter(|(asked, _)| asked == method);
        asked.map(|(_, block)| block.clone()).collect()
    }
}

pub(crate) fn labels(name: &str) -> Vec<u8> {
    let mut labels = Vec::new();
    for label in name.split('.') {
        labels.push(u8::try_from(label.len()).unwrap());
        labels.extend(label.as_bytes());
    }
    labels.push(0);
    labels
}

/// How our gateway signs; the resolver's callback knows it too.
pub(crate) fn signed(account: &[u8]) -> Vec<u8> {
    let seal = keccak256([b"the gateway's key", account].concat());
    [seal.as_slice(), account].concat()
}

type Said = Result<Value, Value>;

async fn answer(
    State(script): State<Arc<Mutex<Script>>>,
    Json(question): Json<Value>,
) -> Json<Value> {
    let mut script = script.lock().unwrap();
    let method = question["method"].as_str().unwrap().to_owned();
    let place = if method == "eth_getBlockByNumber" { 0 } else { 1 };
    let block = question["params"][place].as_str().unwrap_or_default().to_owned();
    script.journal.push((method.clone(), block));
    if let Some(broken) = &script.broken {
        return Json(broken.clone());
    }
    let said = script.say(&method, &question["params"]);
    let mut answer = json!({ "jsonrpc": "2.0", "id": question["id"] });
    match said {
        Ok(result) => answer["result"] = result,
        Err(error) => answer["error"] = error,
    }
    Json(answer)
}

fn reverted(error: &impl SolError) -> Value {
    let data = Bytes::from(error.abi_encode());
    json!({ "code": 3, "message": "execution reverted", "data": data.to_string() })
}

fn hexadecimal(bytes: Vec<u8>) -> Value {
    json!(Bytes::from(bytes).to_string())
}

impl Script {
    fn say(&self, method: &str, parameters: &Value) -> Said {
        match method {
            "eth_chainId" => Ok(json!(format!("{:#x}", self.chain_id))),
            "eth_getBlockByNumber" => Ok(self.block(parameters[0].as_str().unwrap())),
            "eth_getCode" => {
                let account: Address = parameters[0].as_str().unwrap().parse().unwrap();
                Ok(hexadecimal(self.code.get(&account).cloned().unwrap_or_default()))
            }
            "eth_call" => {
                assert_eq!(parameters[0]["to"], UNIVERSAL_RESOLVER);
                let data: Bytes = parameters[0]["data"].as_str().unwrap().parse().unwrap();
                self.call(&data).map(hexadecimal)
            }
            other => panic!("{other} is not in the script"),
        }
    }

    fn block(&self, at: &str) -> Value {
        let digits = at.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16).unwrap());
        let number = digits.unwrap_or(self.head);
        if number > self.head {
            return Value::Null;
        }
        let hash = |number: u64| keccak256([&number.to_be_bytes()[..], &[self.salt]].concat());
        json!({
            "number": format!("{number:#x}"),
            "hash": hash(number),
            "parentHash": hash(number.wrapping_sub(1)),
            "timestamp": format!("{:#x}", 1_790_000_000 + 12 * number),
            "transactions": [],
        })
    }

    fn call(&self, data: &[u8]) -> Result<Vec<u8>, Value> {
        match data[..4].try_into().unwrap() {
            findResolverCall::SELECTOR => {
                let name = findResolverCall::abi_decode(data).unwrap().name;
                let entry = self.names.get(name.as_ref());
                let resolver = entry.map_or(Address::ZERO, |_| Address::from(RESOLVER));
                let offset = U256::from(entry.map_or(0, |entry| entry.offset));
                let found = findResolverReturn { resolver, node: B256::ZERO, offset };
                Ok(findResolverCall::abi_encode_returns(&found))
            }
            resolveCall::SELECTOR => {
                let asked = resolveCall::abi_decode(data).unwrap();
                let missing = ResolverNotFound { name: asked.name.clone() };
                let entry = self.names.get(asked.name.as_ref()).ok_or(reverted(&missing))?;
                entry.resolve(&asked.data)
            }
            callbackCall::SELECTOR => {
                let back = callbackCall::abi_decode(data).unwrap();
                let (labels, bundled, inner) =
                    <(Bytes, bool, Bytes)>::abi_decode_params(&back.extraData).unwrap();
                let entry = &self.names[labels.as_ref()];
                if let Manner::Forever(_) = entry.manner {
                    return entry.resolve(&inner);
                }
                let response = if bundled {
                    let answers = queryCall::abi_decode_returns(&back.response).unwrap();
                    assert_eq!(answers.failures, [false]);
                    answers.responses[0].clone()
                } else {
                    back.response
                };
                let account = response.get(32..).unwrap_or_default();
                if signed(account) == response {
                    Ok(found(account.to_vec()))
                } else {
                    Err(reverted(&Distrusted {}))
                }
            }
            other => panic!("{other:?} is not in the script"),
        }
    }
}

impl Entry {
    fn resolve(&self, inner: &Bytes) -> Result<Vec<u8>, Value> {
        let asked = addrCall::abi_decode(inner).unwrap();
        let elsewhere = |urls: &[String], bundled: bool, sender: &str| {
            let urls = urls.to_vec();
            let request =
                Request { sender: RESOLVER.into(), urls: urls.clone(), data: inner.clone() };
            let name = Bytes::from(self.name.clone());
            let (urls, data) = if bundled {
                let query = queryCall { requests: vec![request] }.abi_encode();
                (vec!["x-batch-gateway:true".to_owned()], query.into())
            } else {
                (urls, inner.clone())
            };
            Err(reverted(&OffchainLookup {
                sender: sender.parse().unwrap(),
                urls,
                callData: data,
                callbackFunction: callbackCall::SELECTOR.into(),
                extraData: (name, bundled, inner.clone()).abi_encode_params().into(),
            }))
        };
        match &self.manner {
            Manner::OnChain => {
                let account = self.records.get(&asked.coinType.to::<u64>());
                Ok(found(account.cloned().unwrap_or_default()))
            }
            Manner::Bundled(urls) => elsewhere(urls, true, UNIVERSAL_RESOLVER),
            Manner::Plainly(urls) | Manner::Forever(urls) => {
                elsewhere(urls, false, UNIVERSAL_RESOLVER)
            }
            Manner::Impostor(urls) => {
                elsewhere(urls, false, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
            }
            Manner::Reverts(bytes) => {
                let data = Bytes::from(bytes.clone()).to_string();
                Err(json!({ "code": 3, "message": "execution reverted", "data": data }))
            }
        }
    }
}

fn found(account: Vec<u8>) -> Vec<u8> {
    let result = addrCall::abi_encode_returns(&account.into()).into();
    resolveCall::abi_encode_returns(&resolveReturn { result, resolver: RESOLVER.into() })
}
