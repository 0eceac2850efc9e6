//! Settlement under the scheme `upto`, with what the official client signed.

use alloy_sol_types::{SolCall, SolError, SolEvent};
use evm::interfaces::{EIP2612Permit, Permit2, UptoProxy, Usdc};
use serde_json::Value;

use super::*;
use crate::chain::contracts::permit2;
use crate::chain::contracts::upto::permit2_call;
use crate::chain::network::{PERMIT2, UPTO_PROXY, address as place};

/// Made by the client at its home, for all three networks.
const VECTORS: &str = include_str!("../../../../../evm/vectors/x402_upto.json");

fn vectors() -> Vec<(ChainId, Value)> {
    let file: Value = serde_json::from_str(VECTORS).unwrap();
    let chain = |vector: &Value| {
        let number = vector["network"].as_str().unwrap().strip_prefix("eip155:").unwrap();
        ChainId::from_number(number.parse().unwrap()).unwrap()
    };
    let list: Vec<_> = file["vectors"].as_array().unwrap().clone();
    list.into_iter().map(|vector| (chain(&vector), vector)).collect()
}

fn text<'a>(vector: &'a Value, pointer: &str) -> &'a str {
    vector.pointer(pointer).unwrap().as_str().unwrap()
}

fn settle(vector: &Value) -> UptoProxy::settleCall {
    UptoProxy::settleCall::abi_decode_validate(&bytes(text(vector, "/settleCalldata"))).unwrap()
}

/// A bench where the payer has let Permit2 take.
fn allowed(chain: ChainId) -> Bench {
    let mut bench = Bench::new(chain);
    bench.put(Slot::Allowance { owner: PAYER, spender: place(PERMIT2) }, U256::MAX);
    bench
}

#[test]
fn all_hashes_equal_those_of_the_official_client() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 3);
    for (chain, vector) in vectors {
        let call = settle(&vector);
        assert_eq!(permit2::domain(chain).to_string(), text(&vector, "/domainSeparator"));
        let inner = permit2_call(&call);
        assert_eq!(inner.witness.to_string(), text(&vector, "/structHashes/witness"));
        let digest = permit2::digest(chain, place(UPTO_PROXY), &inner);
        assert_eq!(digest.to_string(), text(&vector, "/digest"));
        let (word, bit) = permit2::place(call.permit.nonce);
        assert_eq!(word.to_string(), text(&vector, "/nonceBitmap/wordPosition"));
        assert_eq!(bit, U256::ONE << 128);
    }
}

#[test]
fn the_clients_signature_moves_the_settled_amount_once_and_never_again() {
    for (chain, vector) in vectors() {
        let (mut bench, call) = (allowed(chain), bytes(text(&vector, "/settleCalldata")));
        assert_eq!(bench.call(FACILITATOR, place(UPTO_PROXY), &call), Ok(Bytes::new()));
        assert_eq!(bench.get(Slot::Usdc(PAYEE)), U256::from(2_117_500));
        assert_eq!(bench.get(Slot::Usdc(PAYER)), U256::from(10_000_000 - 2_117_500));
        let left = bench.get(Slot::Allowance { owner: PAYER, spender: place(PERMIT2) });
        assert_eq!(left, U256::MAX - U256::from(2_117_500));
        let topics: Vec<B256> = bench.events.iter().map(|event| event.topics[0]).collect();
        assert_eq!(topics, [Usdc::Transfer::SIGNATURE_HASH, UptoProxy::Settled::SIGNATURE_HASH]);
        let again = bench.call(FACILITATOR, place(UPTO_PROXY), &call);
        assert_eq!(again, Err(Revert::error(&Permit2::InvalidNonce {})));
        assert_eq!(bench.get(Slot::Usdc(PAYEE)), U256::from(2_117_500));
    }
}

#[test]
fn a_signature_for_one_network_is_invalid_on_another() {
    for (chain, vector) in vectors() {
        for other in ChainId::ALL.into_iter().filter(|other| *other != chain) {
            let mut call = settle(&vector);
            call.permit.permitted.token = other.usdc();
            let answer = allowed(other).call(FACILITATOR, place(UPTO_PROXY), call.abi_encode());
            assert_eq!(answer, Err(Revert::error(&Permit2::InvalidSigner {})));
        }
    }
}

/// One changed field, and the error that the proxy or Permit2 then gives.
type Change = fn(&mut UptoProxy::settleCall);

#[test]
fn every_check_has_its_own_error_in_the_order_of_the_contract() {
    let changes: [(Change, Revert); 12] = [
        (
            |c| c.amount = U256::from(3_500_001),
            Revert::error(&UptoProxy::AmountExceedsPermitted {}),
        ),
        (|c| c.witness.facilitator = PAYER, Revert::error(&UptoProxy::UnauthorizedFacilitator {})),
        (|c| c.amount = U256::ZERO, Revert::error(&UptoProxy::InvalidAmount {})),
        (|c| c.owner = Address::ZERO, Revert::error(&UptoProxy::InvalidOwner {})),
        (|c| c.witness.to = Address::ZERO, Revert::error(&UptoProxy::InvalidDestination {})),
        (|c| c.witness.validAfter = U256::MAX, Revert::error(&UptoProxy::PaymentTooEarly {})),
        (
            |c| c.permit.deadline = U256::from(NOW - 1),
            Revert::error(&Permit2::SignatureExpired { signatureDeadline: U256::from(NOW - 1) }),
        ),
        (|c| c.witness.to = PAYER, Revert::error(&Permit2::InvalidSigner {})),
        (|c| c.permit.nonce += U256::ONE, Revert::error(&Permit2::InvalidSigner {})),
        (|c| c.signature = Bytes::from(vec![0; 65]), Revert::error(&Permit2::InvalidSignature {})),
        (|c| c.signature = Bytes::new(), Revert::error(&Permit2::InvalidSignatureLength {})),
        (|c| c.owner = place(PERMIT2), Revert::silent()),
    ];
    for (chain, vector) in vectors() {
        for (number, (change, expected)) in changes.iter().enumerate() {
            let mut call = settle(&vector);
            change(&mut call);
            let mut bench = allowed(chain);
            let answer = bench.call(FACILITATOR, place(UPTO_PROXY), call.abi_encode());
            assert_eq!(answer.as_ref(), Err(expected), "change {number}");
            assert_eq!(bench.get(Slot::Usdc(PAYEE)), U256::ZERO);
            let word = permit2::place(call.permit.nonce).0;
            assert_eq!(bench.get(Slot::Bitmap(PAYER, word)), U256::ZERO, "no nonce is spent");
        }
    }
}

#[test]
fn without_allowance_or_balance_permit2_reverts_with_transfer_failed() {
    let (chain, vector) = vectors().swap_remove(0);
    let call = settle(&vector).abi_encode();
    let mut bench = Bench::new(chain);
    let answer = bench.call(FACILITATOR, place(UPTO_PROXY), &call);
    assert_eq!(reason(answer), "TRANSFER_FROM_FAILED");
    let mut bench = allowed(chain);
    bench.put(Slot::Usdc(PAYER), U256::ZERO);
    let answer = bench.call(FACILITATOR, place(UPTO_PROXY), &call);
    assert_eq!(reason(answer), "TRANSFER_FROM_FAILED");
}

#[test]
fn permit2_accepts_compact_signatures() {
    let (chain, vector) = vectors().swap_remove(0);
    let mut call = settle(&vector);
    let mut short = call.signature[..64].to_vec();
    short[32] |= (call.signature[64] - 27) << 7;
    call.signature = short.into();
    let answer = allowed(chain).call(FACILITATOR, place(UPTO_PROXY), call.abi_encode());
    assert_eq!(answer, Ok(Bytes::new()));
}

#[test]
fn the_payer_can_cancel_the_nonce_before_settlement() {
    let (chain, vector) = vectors().swap_remove(0);
    let (mut bench, call) = (allowed(chain), settle(&vector));
    let (word, mask) = permit2::place(call.permit.nonce);
    let cancel = Permit2::invalidateUnorderedNoncesCall { wordPosition: word, mask };
    bench.call(PAYER, place(PERMIT2), cancel.abi_encode()).unwrap();
    let topic = bench.events[0].topics[0];
    assert_eq!(topic, Permit2::UnorderedNonceInvalidation::SIGNATURE_HASH);
    let answer = bench.call(FACILITATOR, place(UPTO_PROXY), call.abi_encode());
    assert_eq!(answer, Err(Revert::error(&Permit2::InvalidNonce {})));
}

/// Signed by a wallet library for Base: 3.50 for Permit2, the first nonce.
const PERMIT: &str = "0x9f04045d447c590c4edad21b617766bcb019f9736605cbd1c62d050ebb0f3b877edba3e7f304064a1f104477aaca904ad4299e674797acdf9aadd5254c98ff501c";

fn with_permit(call: UptoProxy::settleCall, value: u64) -> Vec<u8> {
    let (v, r, s) = parts(PERMIT);
    let deadline = U256::from(4_102_444_800_u64);
    UptoProxy::settleWithPermitCall {
        permit2612: EIP2612Permit { value: U256::from(value), deadline, r, s, v },
        permit: call.permit,
        amount: call.amount,
        owner: call.owner,
        witness: call.witness,
        signature: call.signature,
    }
    .abi_encode()
}

#[test]
fn a_permit_replaces_a_missing_allowance() {
    let (chain, vector) = vectors().swap_remove(0);
    assert_eq!(chain, ChainId::Base);
    let mut bench = Bench::new(chain);
    let call = with_permit(settle(&vector), 3_500_000);
    assert_eq!(bench.call(FACILITATOR, place(UPTO_PROXY), call), Ok(Bytes::new()));
    assert_eq!(bench.get(Slot::Usdc(PAYEE)), U256::from(2_117_500));
    assert_eq!(bench.get(Slot::PermitNonce(PAYER)), U256::ONE);
    let topics: Vec<B256> = bench.events.iter().map(|event| event.topics[0]).collect();
    let (approval, transfer) = (Usdc::Approval::SIGNATURE_HASH, Usdc::Transfer::SIGNATURE_HASH);
    assert_eq!(topics, [approval, transfer, UptoProxy::SettledWithPermit::SIGNATURE_HASH]);
}

#[test]
fn a_used_permit_is_ignored_and_a_permit_for_another_amount_reverts() {
    let (chain, vector) = vectors().swap_remove(0);
    let mut bench = allowed(chain);
    bench.put(Slot::PermitNonce(PAYER), U256::ONE);
    let call = with_permit(settle(&vector), 3_500_000);
    assert_eq!(bench.call(FACILITATOR, place(UPTO_PROXY), call), Ok(Bytes::new()));
    assert_eq!(bench.get(Slot::PermitNonce(PAYER)), U256::ONE);
    let call = with_permit(settle(&vector), 3_499_999);
    let answer = allowed(chain).call(FACILITATOR, place(UPTO_PROXY), call);
    assert_eq!(answer, Err(Revert::error(&UptoProxy::Permit2612AmountMismatch {})));
    assert_eq!(UptoProxy::Permit2612AmountMismatch::SELECTOR, answer.unwrap_err().0[..]);
}
