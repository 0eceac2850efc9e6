//! Answers of an EVM node: what is returned is what the node said about what was asked.

use std::sync::OnceLock;

use adapters::rpc::{BlockId, LogFilter, LogRange, Node, ReceiptStatus, SendError};
use order::model::chain::EvmAddress;
use serde_json::Value;

use super::answers::{AnswerServer, Form, server, split};

const ACCOUNT: EvmAddress = EvmAddress::from_bytes([0x5a; 20]);
const HASH: &str = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

pub(crate) fn run(data: &[u8]) {
    static NODE: OnceLock<Node> = OnceLock::new();
    let Some((choice, rest)) = super::choice(data) else { return };
    let server = server();
    let node = NODE.get_or_init(|| Node::new(server.client.clone(), server.url(), 1));
    match choice % 8 {
        0 => receipt(&server, node, rest),
        1 => logs(&server, node, rest),
        2 => send(&server, node, rest),
        3 => send_all(&server, node, rest),
        4 => progress(&server, node, rest),
        5 => bytes(&server, node, rest),
        6 => numbers(&server, node, rest),
        _ => blocks(&server, node, rest),
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let block = format!(
        r#"{{"number":"0x3e8","hash":"{HASH}","parentHash":"{HASH}","timestamp":"0x6ab13b80"}}"#
    );
    let log = format!(
        r#"{{"address":"{ACCOUNT}","topics":["{HASH}"],"data":"0x01","transactionHash":"{HASH}","blockNumber":"0x3e8","blockHash":"{HASH}","removed":false}}"#
    );
    let receipt = format!(
        r#"{{"transactionHash":"{HASH}","blockNumber":"0x3e8","blockHash":"{HASH}","status":"0x1","logs":[{log}],"from":"{ACCOUNT}","gasUsed":"0x5208","effectiveGasPrice":"0x3b9aca00","l1Fee":"0x1"}}"#
    );
    let history = r#"{"oldestBlock":"0x64","baseFeePerGas":["0x1","0x2"],"gasUsedRatio":[0.5],"reward":[["0x7"]]}"#;
    super::texts(&[
        &format!("0{receipt}"),
        "0null",
        &format!("0{}", receipt.replacen(HASH, &format!("0x{}", "bb".repeat(32)), 1)),
        &format!("0{}", receipt.replace(r#""0x1","logs""#, r#""0B_1","logs""#)),
        &format!("1[{log}]"),
        &format!("2\"{HASH}\""),
        r#"2?{"code":-32000,"message":"nonce too low"}"#,
        r#"2!5{"id":1,"error":{"code":-32000,"message":"already known"}}"#,
        &format!("3\"{HASH}\"\n--\n?{{\"code\":3,\"message\":\"x\",\"data\":\"0x556f\"}}"),
        r#"3!2{"error":{"code":-32600,"message":"no batches"}}"#,
        &format!("4{block}\n--\n\"0x7\"\n--\n{receipt}"),
        "5\"0x6080\"",
        "5\"0X6080\"",
        r#"5?{"code":3,"message":"execution reverted","data":{"originalError":{"data":"Reverted 0x08c379a0"}}}"#,
        &format!("6\"0x5208\"\n--\n{history}\n--\n\"0xffffffffffffffffffffffffffffffffff\""),
        &format!("7{block}\n--\nnull"),
    ])
}

fn parts(data: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    split(data).map(<[u8]>::to_vec)
}

/// The last answer as JSON.
fn said(sent: &[(u16, Vec<u8>)]) -> Value {
    sent.last().and_then(|(_, body)| serde_json::from_slice(body).ok()).unwrap_or_default()
}

fn receipt(server: &AnswerServer, node: &Node, data: &[u8]) {
    let hash = HASH.parse().expect("a hash");
    let (found, sent) = server.answering(Form::JsonRpc, parts(data), node.receipt(hash));
    let Ok(Some(receipt)) = found else { return };
    assert_eq!(receipt.transaction, hash, "the receipt of another transaction");
    if receipt.outcome == ReceiptStatus::Succeeded {
        let status = &said(&sent)["result"]["status"];
        assert!(*status == 1 || status.as_str().is_some_and(is_one), "{status} is not a success");
    }
}

/// In every spelling that the parser of numbers accepts: any case and base of the prefix, zeros and underscores before
/// the digit. Nodes write `0x1`.
fn is_one(text: &str) -> bool {
    let digits = text.to_ascii_lowercase();
    let digits =
        ["0x", "0o", "0b"].iter().find_map(|prefix| digits.strip_prefix(prefix)).unwrap_or(&digits);
    digits.replace('_', "").trim_start_matches('0') == "1"
}

fn logs(server: &AnswerServer, node: &Node, data: &[u8]) {
    let filter = LogFilter {
        block: HASH.parse().expect("a hash"),
        contracts: vec![ACCOUNT],
        topics: Vec::new(),
    };
    let (found, _) = server.answering(Form::JsonRpc, parts(data), node.logs(&filter));
    let found = found.unwrap_or_default();
    assert!(found.iter().all(|log| log.block_hash == filter.block && !log.removed));
    let range = LogRange { first: 1_000, last: 1_001, contract: ACCOUNT, topics: Vec::new() };
    let (found, _) = server.answering(Form::JsonRpc, parts(data), node.logs_between(&range));
    let inside = |block| (range.first..=range.last).contains(&block);
    let found = found.unwrap_or_default();
    assert!(
        found.iter().all(|log| inside(log.block) && log.address.into_array() == ACCOUNT.bytes())
    );
}

fn send(server: &AnswerServer, node: &Node, data: &[u8]) {
    let (outcome, sent) = server.answering(Form::JsonRpc, parts(data), node.send(&[1, 2, 3]));
    let said = said(&sent);
    match outcome {
        Ok(_) => assert!(said["error"].is_object() || said["result"].is_string(), "{said}"),
        Err(SendError::TransactionRejection(_)) => assert!(said["error"].is_object(), "{said}"),
        // It was answered, so it may have been sent.
        Err(SendError::NotSent(why)) => panic!("{why} after {said}"),
        Err(SendError::Lost(_)) => {}
    }
}

fn send_all(server: &AnswerServer, node: &Node, data: &[u8]) {
    let raws = ["0x01", "0x02"].map(|raw| raw.parse().expect("bytes"));
    let (outcomes, _) = server.answering(Form::JsonRpc, parts(data), node.send_all(&raws));
    assert_eq!(outcomes.len(), raws.len());
    assert!(!outcomes.iter().any(|outcome| matches!(outcome, Err(SendError::NotSent(_)))));
}

fn progress(server: &AnswerServer, node: &Node, data: &[u8]) {
    let hash = HASH.parse().expect("a hash");
    let (found, _) = server.answering(Form::JsonRpc, parts(data), node.progress(ACCOUNT, &[hash]));
    let Ok(found) = found else { return };
    assert_eq!(found.receipts.len(), 1);
    assert!(found.receipts.iter().flatten().all(|receipt| receipt.transaction == hash));
}

/// Hexadecimal digits, or an array with a number for each byte, which no node sends.
fn bytes_of(result: &Value) -> Option<Vec<u8>> {
    match result {
        Value::String(text) => {
            let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
            evm::hex::decode_digits(digits.unwrap_or(text))
        }
        Value::Array(_) => serde_json::from_value(result.clone()).ok(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

fn bytes(server: &AnswerServer, node: &Node, data: &[u8]) {
    let at = BlockId::Number(1_000);
    let (code, sent) = server.answering(Form::JsonRpc, parts(data), node.code(ACCOUNT, at));
    if let Ok(code) = code {
        let said = said(&sent);
        assert_eq!(bytes_of(&said["result"]), Some(code.to_vec()), "{said}");
    }
    let calls = [(ACCOUNT, vec![1]), (ACCOUNT, vec![2])];
    let (results, _) = server.answering(Form::JsonRpc, parts(data), node.call_all(&calls, at));
    assert!(results.is_err() || results.is_ok_and(|results| results.len() == calls.len()));
}

fn numbers(server: &AnswerServer, node: &Node, data: &[u8]) {
    let calls = async {
        let (count, history) = (node.mined_count(ACCOUNT).await, node.fee_history().await);
        (count, history, node.balance(ACCOUNT).await, node.tip().await)
    };
    let ((count, history, ..), sent) = server.answering(Form::JsonRpc, parts(data), calls);
    // Digits without 0x are taken for decimal; no node writes them.
    let digits = |value: &Value| {
        u64::from_str_radix(value.as_str().and_then(|text| text.strip_prefix("0x"))?, 16).ok()
    };
    let first: Value = serde_json::from_slice(&sent[0].1).unwrap_or_default();
    if let (Ok(count), Some(said)) = (count, digits(&first["result"])) {
        assert_eq!(count, said);
    }
    if let Ok(history) = history {
        assert!(history.head.checked_add(1).is_some());
    }
}

fn blocks(server: &AnswerServer, node: &Node, data: &[u8]) {
    let (found, _) = server.answering(Form::JsonRpc, parts(data), node.blocks(&[1_000, 1_001]));
    assert!(found.is_err() || found.is_ok_and(|found| found.len() == 2));
    let hash = HASH.parse().expect("a hash");
    let (found, _) = server.answering(Form::JsonRpc, parts(data), node.transaction(hash));
    let _ = found.map(|found| found.map(|found| found.input.len()));
}
