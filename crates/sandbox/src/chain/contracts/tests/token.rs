//! USDC: what holders may do, and what a signature lets others do.

use alloy_sol_types::{SolCall, SolEvent};
use evm::interfaces::Usdc;

use super::*;
use crate::chain::contracts::usdc_token::domain;
use crate::chain::contracts::wallet::WalletKind;
use crate::chain::network::{PERMIT2, address as place};

/// Signed by a wallet library for the payer on Base: 3.50 to the payee, good until
/// the year 2100, with the nonce `abab…`; the same as a receipt and as a
/// cancellation; and a permit for Permit2.
const SEND: &str = "0xdc2af0b93444e3526a6567c22ebd070d500e977285aefa0f9fe4f2f4a6802e714eec1f22f27be02b01401b9186e84260edd7253de46693034d6c7eca297632981b";
const RECEIVE: &str = "0x0edd41b21e634acbacf7f885af289e423d29c9a86267b23cb630fb05c8c3b32c5902eb30ac11111fe9ca9e7dc2a2afa75dc36f96696501687d59e2a42f87bbac1c";
const CANCEL: &str = "0xc010a1f7be1daa5676bb3b6ea41833e2209f8d2fec9a1efb873b693ae6eceabd6c2c48bd1e85bfcb690d1fd8328b81aabaae038e695ce7add30df3537b5cf96a1c";
const PERMIT: &str = "0x9f04045d447c590c4edad21b617766bcb019f9736605cbd1c62d050ebb0f3b877edba3e7f304064a1f104477aaca904ad4299e674797acdf9aadd5254c98ff501c";
const NONCE: B256 = B256::repeat_byte(0xab);
const FOREVER: u64 = 4_102_444_800;

fn usdc() -> Address {
    ChainId::Base.usdc()
}

fn send() -> Usdc::transferWithAuthorization_0Call {
    let (v, r, s) = parts(SEND);
    Usdc::transferWithAuthorization_0Call {
        from: PAYER,
        to: PAYEE,
        value: U256::from(3_500_000),
        validAfter: U256::ZERO,
        validBefore: U256::from(FOREVER),
        nonce: NONCE,
        v,
        r,
        s,
    }
}

fn send_packed(signature: Bytes) -> Vec<u8> {
    let call = send();
    Usdc::transferWithAuthorization_1Call {
        from: call.from,
        to: call.to,
        value: call.value,
        validAfter: call.validAfter,
        validBefore: call.validBefore,
        nonce: call.nonce,
        signature,
    }
    .abi_encode()
}

fn receive() -> Vec<u8> {
    let call = send();
    Usdc::receiveWithAuthorization_1Call {
        from: call.from,
        to: call.to,
        value: call.value,
        validAfter: call.validAfter,
        validBefore: call.validBefore,
        nonce: call.nonce,
        signature: bytes(RECEIVE),
    }
    .abi_encode()
}

#[test]
fn separators_and_selectors_are_those_of_the_real_token() {
    let separator = "0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f";
    assert_eq!(B256::from(domain(ChainId::Base)).to_string(), separator);
    assert_eq!(Usdc::transferWithAuthorization_0Call::SELECTOR, [0xe3, 0xee, 0x16, 0x0e]);
    assert_eq!(Usdc::transferWithAuthorization_1Call::SELECTOR, [0xcf, 0x09, 0x29, 0x95]);
    assert_eq!(Usdc::authorizationStateCall::SELECTOR, [0xe9, 0x4a, 0x01, 0x02]);
}

#[test]
fn an_authorization_moves_money_once_with_either_signature_format() {
    for call in [send().abi_encode(), send_packed(bytes(SEND))] {
        let mut bench = Bench::new(ChainId::Base);
        assert_eq!(bench.call(FACILITATOR, usdc(), &call), Ok(Bytes::new()));
        assert_eq!(bench.get(Slot::Usdc(PAYEE)), U256::from(3_500_000));
        let topics: Vec<B256> = bench.events.iter().map(|event| event.topics[0]).collect();
        let used = Usdc::AuthorizationUsed::SIGNATURE_HASH;
        assert_eq!(topics, [used, Usdc::Transfer::SIGNATURE_HASH]);
        let asked = Usdc::authorizationStateCall { authorizer: PAYER, nonce: NONCE };
        let state = bench.call(PAYER, usdc(), asked.abi_encode()).unwrap();
        assert_eq!(U256::from_be_slice(&state), U256::ONE);
        let again = bench.call(FACILITATOR, usdc(), &call);
        assert_eq!(reason(again), "FiatTokenV2: authorization is used or canceled");
        assert_eq!(bench.get(Slot::Usdc(PAYEE)), U256::from(3_500_000));
    }
}

#[test]
fn an_authorization_is_valid_strictly_between_its_two_times() {
    let mut bench = Bench::new(ChainId::Base);
    bench.now = 0;
    let early = bench.call(FACILITATOR, usdc(), send().abi_encode());
    assert_eq!(reason(early), "FiatTokenV2: authorization is not yet valid");
    bench.now = FOREVER;
    let late = bench.call(FACILITATOR, usdc(), send().abi_encode());
    assert_eq!(reason(late), "FiatTokenV2: authorization is expired");
    bench.now = FOREVER - 1;
    assert!(bench.call(FACILITATOR, usdc(), send().abi_encode()).is_ok());
}

#[test]
fn only_a_signature_over_the_exact_terms_is_valid() {
    type Change = fn(&mut Usdc::transferWithAuthorization_0Call);
    let changes: [(Change, &str); 7] = [
        (|c| c.value += U256::ONE, "FiatTokenV2: invalid signature"),
        (|c| c.to = FACILITATOR, "FiatTokenV2: invalid signature"),
        (|c| c.from = FACILITATOR, "FiatTokenV2: invalid signature"),
        (|c| c.nonce = B256::ZERO, "FiatTokenV2: invalid signature"),
        (|c| c.v -= 27, "ECRecover: invalid signature 'v' value"),
        (|c| c.r = B256::ZERO, "ECRecover: invalid signature"),
        (|c| c.s = twin(c.s), "ECRecover: invalid signature 's' value"),
    ];
    for (number, (change, words)) in changes.into_iter().enumerate() {
        let mut call = send();
        change(&mut call);
        let mut bench = Bench::new(ChainId::Base);
        let answer = bench.call(FACILITATOR, usdc(), call.abi_encode());
        assert_eq!(reason(answer), words, "change {number}");
        assert_eq!(bench.get(Slot::Usdc(PAYER)), U256::from(10_000_000));
    }
    let short = Bench::new(ChainId::Base).call(FACILITATOR, usdc(), send_packed(Bytes::new()));
    assert_eq!(reason(short), "ECRecover: invalid signature length");
}

/// The other `s` that fits the same signature; the token must not take it.
fn twin(s: B256) -> B256 {
    let order = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    let order: U256 = order.parse().unwrap();
    (order - U256::from_be_bytes(s.0)).into()
}

#[test]
fn a_signature_by_an_account_with_code_is_refused() {
    let mut bench = Bench::new(ChainId::Base);
    bench.put(Slot::Code(PAYER), U256::ONE);
    let answer = bench.call(FACILITATOR, usdc(), send().abi_encode());
    assert_eq!(reason(answer), "FiatTokenV2: invalid signature");
}

#[test]
fn a_contract_wallet_confirms_its_owners_signature() {
    let owned_by = |owner: Address| {
        let mut bench = Bench::new(ChainId::Base);
        bench.put(Slot::Code(PAYER), U256::from_be_bytes(owner.into_word().0));
        bench.call(FACILITATOR, usdc(), send().abi_encode())
    };
    assert_eq!(owned_by(PAYER), Ok(Bytes::new()));
    assert_eq!(reason(owned_by(PAYEE)), "FiatTokenV2: invalid signature");
}

#[test]
fn a_dishonest_wallet_passes_its_simulation_and_reverts_in_a_block() {
    let free = U256::ZERO;
    let (simulation, block) = (CallExecution::Simulation, CallExecution::Block);
    for (kind, passes) in [
        (WalletKind::Standard, [true, true, true]),
        (WalletKind::RevertsInBlock, [true, true, false]),
        (WalletKind::RevertsAtGasPrice, [true, false, false]),
    ] {
        let runs = [(simulation, free), (simulation, U256::ONE), (block, U256::ONE)];
        let found = runs.map(|(execution, gas_price)| {
            let mut bench = Bench { gas_price, execution, ..Bench::new(ChainId::Base) };
            bench.put(Slot::Code(PAYER), U256::from_be_bytes(PAYER.into_word().0));
            bench.put(Slot::WalletKind(PAYER), kind.number());
            match bench.call(FACILITATOR, usdc(), send().abi_encode()) {
                Ok(_) => true,
                refused => {
                    assert_eq!(reason(refused), "FiatTokenV2: invalid signature");
                    false
                }
            }
        });
        assert_eq!(found, passes, "{kind:?}");
    }
}

#[test]
fn only_the_payee_can_call_receive_with_authorization() {
    let mut bench = Bench::new(ChainId::Base);
    let stranger = bench.call(FACILITATOR, usdc(), receive());
    assert_eq!(reason(stranger), "FiatTokenV2: caller must be the payee");
    let as_transfer = bench.call(FACILITATOR, usdc(), send_packed(bytes(RECEIVE)));
    assert_eq!(reason(as_transfer), "FiatTokenV2: invalid signature");
    assert_eq!(bench.call(PAYEE, usdc(), receive()), Ok(Bytes::new()));
    assert_eq!(bench.get(Slot::Usdc(PAYEE)), U256::from(3_500_000));
}

#[test]
fn a_cancelled_authorization_counts_as_used_and_moves_nothing() {
    let mut bench = Bench::new(ChainId::Base);
    let signature = bytes(CANCEL);
    let cancel = Usdc::cancelAuthorization_1Call { authorizer: PAYER, nonce: NONCE, signature };
    bench.call(FACILITATOR, usdc(), cancel.abi_encode()).unwrap();
    assert_eq!(bench.events[0].topics[0], Usdc::AuthorizationCanceled::SIGNATURE_HASH);
    let answer = bench.call(FACILITATOR, usdc(), send().abi_encode());
    assert_eq!(reason(answer), "FiatTokenV2: authorization is used or canceled");
    assert_eq!(bench.get(Slot::Usdc(PAYEE)), U256::ZERO);
}

#[test]
fn a_permit_is_valid_once() {
    let mut bench = Bench::new(ChainId::Base);
    let (v, r, s) = parts(PERMIT);
    let (value, deadline) = (U256::from(3_500_000), U256::from(FOREVER));
    let (owner, spender) = (PAYER, place(PERMIT2));
    let call = Usdc::permit_0Call { owner, spender, value, deadline, v, r, s }.abi_encode();
    bench.now = FOREVER + 1;
    let late = bench.call(FACILITATOR, usdc(), &call);
    assert_eq!(reason(late), "FiatTokenV2: permit is expired");
    bench.now = FOREVER;
    assert_eq!(bench.call(FACILITATOR, usdc(), &call), Ok(Bytes::new()));
    assert_eq!(bench.get(Slot::Allowance { owner, spender }), value);
    let again = bench.call(FACILITATOR, usdc(), &call);
    assert_eq!(reason(again), "EIP2612: invalid signature");
    assert_eq!(bench.get(Slot::PermitNonce(PAYER)), U256::ONE);
}

#[test]
fn a_spender_is_limited_by_its_allowance_and_an_unlimited_one_decreases() {
    let mut bench = Bench::new(ChainId::Base);
    let approve = Usdc::approveCall { spender: FACILITATOR, value: U256::MAX };
    bench.call(PAYER, usdc(), approve.abi_encode()).unwrap();
    let take = |value: u64| {
        let value = U256::from(value);
        Usdc::transferFromCall { from: PAYER, to: PAYEE, value }.abi_encode()
    };
    bench.call(FACILITATOR, usdc(), take(4_000_000)).unwrap();
    let left = bench.get(Slot::Allowance { owner: PAYER, spender: FACILITATOR });
    assert_eq!(left, U256::MAX - U256::from(4_000_000));
    let much = bench.call(FACILITATOR, usdc(), take(6_000_001));
    assert_eq!(reason(much), "ERC20: transfer amount exceeds balance");
    let stranger = bench.call(PAYEE, usdc(), take(1));
    assert_eq!(reason(stranger), "ERC20: transfer amount exceeds allowance");
}

#[test]
fn the_issuer_can_pause_the_token_or_blacklist_an_account() {
    let mut bench = Bench::new(ChainId::Base);
    bench.put(Slot::Blacklisted(PAYEE), U256::ONE);
    let answer = bench.call(FACILITATOR, usdc(), send().abi_encode());
    assert_eq!(reason(answer), "Blacklistable: account is blacklisted");
    bench.put(Slot::Paused, U256::ONE);
    let answer = bench.call(FACILITATOR, usdc(), send().abi_encode());
    assert_eq!(reason(answer), "Pausable: paused");
    bench.put(Slot::Paused, U256::ZERO);
    bench.put(Slot::Blacklisted(PAYEE), U256::ZERO);
    assert!(bench.call(FACILITATOR, usdc(), send().abi_encode()).is_ok());
}
