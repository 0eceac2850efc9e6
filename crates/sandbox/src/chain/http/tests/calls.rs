//! Simulations with fees, and wallets that tell a simulation from a block.

use alloy_primitives::U256;
use alloy_sol_types::SolCall;
use evm::eip3009::Eip3009Transfer;
use evm::interfaces::{Permit2, PermitTransferFrom, TokenPermissions, UptoProxy, Usdc, Witness};
use evm::transaction::UnsignedTransaction;
use evm::word;

use super::*;
use crate::chain::contracts::{permit2, upto, usdc_token as usdc};
use crate::chain::network::{UPTO_PROXY, address};
use crate::chain::{PERMIT2, TransactionStatus, WalletKind};
use crate::payee::payee;

const BASE: ChainId = ChainId::Base;
const READS: [&str; 2] = ["eth_call", "eth_estimateGas"];
const FOREVER: u64 = 4_102_444_800;

/// A call of the settler with these further fields.
fn with(chains: &ChainEmulator, to: EvmAddress, data: &[u8], fields: Value) -> Value {
    let mut call = json!({
        "from": chains.faucet().settler().address().to_string(),
        "to": to.to_string(),
        "data": alloy_primitives::hex::encode_prefixed(data),
    });
    let fields = fields.as_object().unwrap().clone();
    call.as_object_mut().unwrap().extend(fields);
    json!([call])
}

fn wallet() -> EvmAddress {
    EvmAddress::from_bytes([0x77; 20])
}

/// What a settler sends for an authorization that the wallet's owner has signed.
fn usdc_settlement(owner: &Key) -> (EvmAddress, Vec<u8>) {
    let terms = Eip3009Transfer {
        from: wallet().bytes(),
        to: payee().bytes(),
        value: word::from_u64(5),
        valid_after: word::from_u64(0),
        valid_before: word::from_u64(FOREVER),
        nonce: [1; 32],
    };
    let digest = terms.transfer_digest(usdc::domain(BASE));
    let call = Usdc::transferWithAuthorization_1Call {
        from: terms.from.into(),
        to: terms.to.into(),
        value: U256::from(5),
        validAfter: U256::ZERO,
        validBefore: U256::from(FOREVER),
        nonce: terms.nonce.into(),
        signature: owner.sign(digest).to_vec().into(),
    };
    (super::super::super::network::evm_address(BASE.usdc()), call.abi_encode())
}

/// The same through Permit2 and the `upto` proxy of x402.
fn upto_settlement(owner: &Key, settler: EvmAddress) -> (EvmAddress, Vec<u8>) {
    let permitted = TokenPermissions { token: BASE.usdc(), amount: U256::from(5) };
    let mut call = UptoProxy::settleCall {
        permit: PermitTransferFrom {
            permitted,
            nonce: U256::from(3),
            deadline: U256::from(FOREVER),
        },
        amount: U256::from(5),
        owner: address(wallet()),
        witness: Witness {
            to: address(payee()),
            facilitator: address(settler),
            validAfter: U256::ZERO,
        },
        signature: alloy_primitives::Bytes::new(),
    };
    let asked: Permit2::permitWitnessTransferFromCall = upto::permit2_call(&call);
    let digest = permit2::digest(BASE, address(UPTO_PROXY), &asked);
    call.signature = owner.sign(digest.0).to_vec().into();
    (UPTO_PROXY, call.abi_encode())
}

#[tokio::test]
async fn a_dishonest_wallet_passes_the_simulation_and_reverts_in_the_block() {
    let fees = json!({ "maxFeePerGas": "0x5f5e100", "maxPriorityFeePerGas": "0xf4240" });
    let (free, priced) = (json!({}), json!({ "gas": "0x493e0", "nonce": "0x0", "value": "0x0" }));
    let priced: Value =
        [&fees, &priced].iter().flat_map(|f| f.as_object().unwrap().clone()).collect();
    for (kind, passes) in [
        (WalletKind::Standard, [true, true, true]),
        (WalletKind::RevertsInBlock, [true, true, false]),
        (WalletKind::RevertsAtGasPrice, [true, false, false]),
    ] {
        for through_permit2 in [false, true] {
            let chains = open().await;
            let (client, chain, owner) = (client(&chains), chains.chain(BASE), chains.key("owner"));
            let settler = chains.faucet().settler();
            chain.set_native(settler.address(), 10_u128.pow(18));
            chain.set_usdc(wallet(), 5);
            chain.set_allowance(wallet(), PERMIT2, 5);
            chain.place_wallet_of_kind(wallet(), owner.address(), kind);
            let (to, data) = if through_permit2 {
                upto_settlement(&owner, settler.address())
            } else {
                usdc_settlement(&owner)
            };
            for method in READS {
                for (fields, passes) in [(&free, passes[0]), (&priced, passes[1])] {
                    let asked = with(&chains, to, &data, fields.clone());
                    let said = client.call(BASE, method, asked).await;
                    assert_eq!(said.get("result").is_some(), passes, "{kind:?} {fields} {said}");
                }
            }
            let draft = UnsignedTransaction {
                to: to.bytes(),
                data,
                gas: 300_000,
                ..unsigned_payment(&chain, 0, to, 0)
            };
            let sent = chain.settled(chain.send(&draft.sign(settler.signing_key())).unwrap());
            assert_eq!(
                matches!(sent, Some(TransactionStatus::Succeeded { .. })),
                passes[2],
                "{kind:?}"
            );
            assert_eq!(chain.usdc_of(payee()), if passes[2] { 5 } else { 0 });
        }
    }
}

#[tokio::test]
async fn a_simulation_with_fees_needs_a_sender_who_can_pay_them() {
    let chains = open().await;
    let (client, chain) = (client(&chains), chains.chain(BASE));
    let settler = chains.faucet().settler().address();
    let data = Usdc::balanceOfCall { account: address(settler) }.abi_encode();
    let ask = async |method: &str, fields: Value| {
        client.call(BASE, method, with(&chains, chain.usdc(), &data, fields)).await
    };
    // 100,000 units of gas at 20,000,000 wei.
    chain.set_native(settler, 2_000_000_000_000);
    for method in READS {
        for price in ["gasPrice", "maxFeePerGas"] {
            let enough = ask(method, json!({ "gas": "0x186a0", price: "0x1312d00" })).await;
            assert!(enough.get("result").is_some(), "{method} {price} {enough}");
            let more = ask(method, json!({ "gas": "0x186a1", price: "0x1312d00" })).await;
            let words = format!(
                "insufficient funds for gas * price + value: address {settler} have 2000000000000 \
                 want 2000020000000"
            );
            if method == "eth_estimateGas" {
                assert!(more.get("result").is_some(), "as much as can be paid: {more}");
                continue;
            }
            let error = &more["error"];
            assert_eq!((&error["code"], &error["message"]), (&json!(-32000), &json!(words)));
        }
        let unpriced = ask(method, json!({ "gas": "0x186a1" })).await;
        assert!(unpriced.get("result").is_some(), "without fees gas is free");
    }
    // Without a limit a call is one of a whole block, and an estimate what can be paid.
    let fees = json!({ "maxFeePerGas": "0x1312d00" });
    let call = ask("eth_call", fees.clone()).await["error"]["message"].clone();
    assert!(call.as_str().unwrap().starts_with("insufficient funds for gas"), "{call}");
    assert!(ask("eth_estimateGas", fees.clone()).await.get("result").is_some());
    chain.set_native(settler, 20_000_000_000);
    let short = ask("eth_estimateGas", fees).await["error"]["message"].clone();
    assert_eq!(short, "gas required exceeds allowance (1000)");
}

#[tokio::test]
async fn fees_below_the_base_fee_are_refused_in_a_simulation() {
    let chains = open().await;
    let (client, chain) = (client(&chains), chains.chain(BASE));
    chain.set_native(chains.faucet().settler().address(), 10_u128.pow(18));
    let data = Usdc::totalSupplyCall {}.abi_encode();
    for (fields, words) in [
        (json!({ "maxFeePerGas": "0x1" }), "max fee per gas less than block base fee"),
        (json!({ "gasPrice": "0x1" }), "max fee per gas less than block base fee"),
        (json!({ "maxPriorityFeePerGas": "0x1" }), "max priority fee per gas higher than max fee"),
        (json!({ "gasPrice": "0x1", "maxFeePerGas": "0x1" }), "both gasPrice and (maxFeePerGas"),
        (json!({ "nonce": "zero" }), "not a quantity"),
    ] {
        for method in READS {
            let asked = with(&chains, chain.usdc(), &data, fields.clone());
            let message = client.call(BASE, method, asked).await["error"]["message"].clone();
            assert!(message.as_str().unwrap().starts_with(words), "{method} {fields} {message}");
        }
    }
    let short = with(&chains, chain.usdc(), &data, json!({ "gas": "0x5300" }));
    assert_eq!(client.call(BASE, "eth_call", short).await["error"]["message"], "out of gas");
}

#[tokio::test]
async fn the_account_control_creates_every_kind_of_wallet() {
    let chains = open().await;
    let (client, chain, owner) = (client(&chains), chains.chain(BASE), chains.key("owner"));
    let settler = chains.faucet().settler();
    let path = format!("/__sandbox/8453/accounts/{}", wallet());
    for (kind, confirmed) in
        [("standard", true), ("reverts_in_block", false), ("reverts_at_gas_price", false)]
    {
        let body = json!({
            "wallet_owner": owner.address().to_string(), "wallet_kind": kind, "usdc": "5",
        });
        assert_eq!(client.post(&path, &body.to_string()).await.status(), 204);
        let (to, data) = usdc_settlement(&owner);
        let nonce = chain.nonce_of(settler.address());
        let draft =
            UnsignedTransaction { to: to.bytes(), data, ..unsigned_payment(&chain, nonce, to, 0) };
        let sent = chain.settled(chain.send(&draft.sign(settler.signing_key())).unwrap());
        assert_eq!(matches!(sent, Some(TransactionStatus::Succeeded { .. })), confirmed, "{kind}");
        chain.reorganise(1, crate::chain::ReorgedTransactions::Dropped);
    }
    let wrong = client.post(&path, r#"{"wallet_kind":"standard"}"#).await;
    assert_eq!(wrong.json()["wrong"], json!(["wallet_kind: only with wallet_owner"]));
}
