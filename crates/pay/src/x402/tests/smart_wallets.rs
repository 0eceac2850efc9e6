//! Signatures that no key of the payer made: which are rejected here, and which are left to the
//! code of the payer's account.

use evm::word;

use super::super::credential::Permit2Authorization;
use super::super::fixture::hex;
use super::super::settler::KnownAccount;
use super::*;
use crate::parse::bytes;

const BAD_SIGNATURE: &str = "invalid_permit2_signature";

fn signed(signature: &[u8]) -> Value {
    let mut payload = correct(Network::Base);
    payload["payload"]["signature"] = hex(signature).into();
    payload
}

/// What the settler is told about the signature, if nothing is known about the payer's account.
fn left_to_the_settler(payload: &Value) -> SignatureKind {
    let settler = FakeSettler { known: KnownAccount::Unknown, ..FakeSettler::good() };
    let (verified, settler) = verify(settler, credential(payload), &terms());
    verified.unwrap();
    let signers = settler.signers.lock().unwrap();
    assert_eq!(signers.len(), 1);
    signers[0]
}

/// A signature with how its wallet is deployed (ERC-6492), by a factory without a call.
fn wrapped(signature: &[u8]) -> Vec<u8> {
    let length = signature.len().try_into().unwrap();
    let padding = vec![0; signature.len().next_multiple_of(32) - signature.len()];
    let head = [0x1111, 96, 128, 0, length].map(word::from_u64).concat();
    [head, signature.to_vec(), padding, [0x64, 0x92].repeat(16)].concat()
}

/// The signature of the payer's key.
fn key_signature() -> Vec<u8> {
    bytes(correct(Network::Base)["payload"]["signature"].as_str().unwrap()).unwrap()
}

#[test]
fn a_signature_of_any_length_is_left_to_the_account_unless_it_is_known_to_have_no_code() {
    for length in [0, 1, 63, 64, 65, 66, 96, 320] {
        let payload = signed(&vec![0x5a; length]);
        assert_eq!(refused(&payload, &terms()), BAD_SIGNATURE, "{length}");
        assert_eq!(left_to_the_settler(&payload), SignatureKind::Contract, "{length}");
    }
}

#[test]
fn a_changed_field_is_left_to_the_account_if_nothing_is_known_about_it() {
    let mut payload = correct(Network::Base);
    payload["payload"]["permit2Authorization"]["nonce"] = "1".into();
    assert_eq!(refused(&payload, &terms()), BAD_SIGNATURE);
    assert_eq!(left_to_the_settler(&payload), SignatureKind::Contract);
}

#[test]
fn a_wallet_that_may_have_been_deployed_since_is_left_to_the_chain() {
    let payload = signed(&wrapped(&[0x5a; 65]));
    let (_, settler) = accepted(&payload);
    assert_eq!(*settler.signers.lock().unwrap(), [SignatureKind::Contract]);
    assert_eq!(left_to_the_settler(&payload), SignatureKind::Contract);
}

#[test]
fn a_wrapped_signature_of_the_payers_key_is_the_keys() {
    let (_, settler) = accepted(&signed(&wrapped(&key_signature())));
    assert_eq!(*settler.signers.lock().unwrap(), [SignatureKind::Key]);
}

#[test]
fn a_malformed_wrapper_is_rejected_here_whatever_is_known() {
    let mut malformed = wrapped(&key_signature());
    malformed[64] = 0xff;
    for known in [KnownAccount::WithoutCode, KnownAccount::Unknown] {
        let settler = FakeSettler { known, ..FakeSettler::good() };
        let (result, settler) = verify(settler, credential(&signed(&malformed)), &terms());
        assert_eq!(result.unwrap_err(), Rejection::Invalid(BAD_SIGNATURE.to_owned()));
        assert_eq!(settler.calls(), Vec::<&str>::new());
    }
}

#[test]
fn what_is_sent_on_is_the_wallets_own_signature() {
    let authorization = |signature: &[u8]| {
        let read = Permit2Authorization::read(&credential(&signed(signature)));
        read.unwrap_or_else(|why| panic!("{why:?}"))
    };
    let inside = authorization(&wrapped(&[7; 130]));
    assert_eq!(inside.account_signature(), [7; 130]);
    assert!(inside.has_deployment());
    let plain = authorization(&[7; 130]);
    assert_eq!(plain.account_signature(), [7; 130]);
    assert!(!plain.has_deployment());
}
