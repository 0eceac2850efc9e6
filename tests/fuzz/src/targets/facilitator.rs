//! Answers of a facilitator: a payment is settled or refused only if the answer proves it.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};

use adapters::facilitator::{Deadlines, FacilitatorSettings, RemoteFacilitator, SupportedReply};
use order::model::chain::Network;
use order::model::money::Usdc;
use order::model::payment::{Credential, Preparation};
use order::tender::{Rejection, Unsettled};
use order::testing::manual_clock::ManualClock;
use pay::x402::credential::Permit2Authorization;
use pay::x402::settler::{FacilitatorAddress, Permit2Payment, Permit2Settler, SignatureKind};

use super::answers::{AnswerServer, Form, lenient_json, server, split};
use super::x402_credential::signed_payload;

const CHARGE: Usdc = Usdc::from_atomic(2_117_500);
const TRANSACTION: &str = "0xc2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f0a712";

static AUTHORIZATION: LazyLock<Permit2Authorization> = LazyLock::new(|| {
    let json = signed_payload(Network::Base).to_string();
    Permit2Authorization::read(&Credential(json.into_bytes()))
        .unwrap_or_else(|_| panic!("a payment"))
});

pub(crate) fn run(data: &[u8]) {
    static REMOTE: OnceLock<RemoteFacilitator> = OnceLock::new();
    let Some((choice, rest)) = super::choice(data) else { return };
    let server = server();
    // Without a node its answer is the only evidence.
    let settings = || FacilitatorSettings {
        base: server.url(),
        key: None,
        nodes: BTreeMap::new(),
        deadlines: Deadlines::DEFAULT,
    };
    let clock = || Arc::new(ManualClock::default());
    let remote =
        REMOTE.get_or_init(|| RemoteFacilitator::new(settings(), server.client.clone(), clock()));
    match choice % 3 {
        0 => settle(&server, remote, rest),
        1 => verify(&server, remote, rest),
        _ => supported(
            &server,
            &RemoteFacilitator::new(settings(), server.client.clone(), clock()),
            rest,
        ),
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let payer = AUTHORIZATION.payer;
    let settled = format!(
        r#"{{"success":true,"transaction":"{TRANSACTION}","network":"eip155:8453","amount":"2117500","payer":"{payer}"}}"#
    );
    let pending = format!(
        r#"{{"success":false,"errorReason":"settlement_pending","transaction":"{TRANSACTION}"}}"#
    );
    super::texts(&[
        &format!("02{settled}"),
        &format!("02{}", settled.replace("2117500", "1")),
        &format!("02{pending}\n--\n2{settled}"),
        r#"04{"success":false,"errorReason":"invalid_permit2_spender","transaction":""}"#,
        r#"02{"success":false,"errorReason":"insufficient_funds","transaction":"","network":"eip155:8453"}"#,
        &format!(r#"12{{"isValid":true,"payer":"{payer}"}}"#),
        r#"14{"isValid":false,"invalidReason":"permit2_allowance_required"}"#,
        &format!(
            r#"22{{"kinds":[{{"x402Version":2,"scheme":"upto","network":"eip155:8453","extra":{{"facilitatorAddress":"{payer}"}}}}],"extensions":["eip2612GasSponsoring"],"signers":{{"eip155:*":["{payer}"]}}}}"#
        ),
    ])
}

fn parts(data: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    split(data).map(<[u8]>::to_vec)
}

fn is_hash(text: &str) -> bool {
    text.len() == 66 && evm::hex::decode(text).is_some()
}

fn settle(server: &AnswerServer, remote: &RemoteFacilitator, data: &[u8]) {
    let preparation = Preparation::default();
    let due =
        Permit2Payment { authorization: &AUTHORIZATION, charge: CHARGE, preparation: &preparation };
    let (outcome, sent) = server.answering(Form::Http, parts(data), remote.settle(due));
    let last = sent.last().expect("one answer");
    let Some(said) = lenient_json(&last.1) else { return };
    let transaction = said["transaction"].as_str().unwrap_or_default();
    match outcome {
        Ok(moved) => {
            let whole = said["success"] == true
                && said["amount"].as_str() == Some(&*CHARGE.atomic().to_string())
                && said["network"] == Network::Base.caip2()
                && is_hash(transaction)
                && (200..300).contains(&last.0)
                && said["errorReason"].as_str().unwrap_or_default().is_empty();
            assert!(whole, "{} with status {} is taken for a settlement", said, last.0);
            assert_eq!(moved.transaction, transaction.to_ascii_lowercase());
        }
        Err(Unsettled::Refused(_)) => {
            let reason = said["errorReason"].as_str().unwrap_or_default();
            let proves = said["success"] == false && transaction.is_empty() && !reason.is_empty();
            assert!(proves && sent.len() == 1, "{said} is taken for a refusal");
        }
        Err(Unsettled::Withdrawn(_)) => panic!("{said} is taken for a withdrawal"),
        Err(Unsettled::Lost(_)) => {}
    }
}

fn verify(server: &AnswerServer, remote: &RemoteFacilitator, data: &[u8]) {
    let calls = remote.verify(&AUTHORIZATION, SignatureKind::Key);
    let (outcome, sent) = server.answering(Form::Http, parts(data), calls);
    let Some(said) = lenient_json(&sent[0].1) else { return };
    match outcome {
        Ok(()) => {
            assert!(
                said["isValid"] == true && (200..300).contains(&sent[0].0),
                "{said} is taken for valid"
            );
        }
        Err(Rejection::Invalid(reason)) => {
            assert!(said["isValid"] == false, "{said} is taken for invalid");
            assert!(
                reason.len() <= 120 && reason.bytes().all(|byte| matches!(byte, b' '..=b'~')),
                "{reason:?}"
            );
        }
        Err(Rejection::AllowanceMissing) => assert!(said["isValid"] == false, "{said}"),
        Err(Rejection::PayeeChanged) => panic!("{said}"),
        Err(Rejection::Unavailable) => {}
    }
}

fn supported(server: &AnswerServer, remote: &RemoteFacilitator, data: &[u8]) {
    let (reply, sent) = server.answering(Form::Http, parts(data), remote.refresh());
    let text = String::from_utf8_lossy(&sent[0].1).to_lowercase();
    for network in Network::ALL {
        let Some(support) = remote.support(network) else { continue };
        assert!(matches!(reply, SupportedReply::Good(_)));
        let account = support.facilitator;
        assert_eq!(remote.classify_facilitator(network, account), FacilitatorAddress::Ours);
        let named = text.contains(&account.to_string().to_lowercase()) || text.contains('\\');
        assert!(named, "{account} is not in the list");
    }
}
