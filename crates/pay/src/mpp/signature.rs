//! What a payer signs, which nonces answer a challenge, and whether the token takes the
//! signature.

use evm::eip3009;
use evm::keccak::keccak256;
use evm::signature::has_low_s;
use evm::word;

use super::credential::TransferAuthorization;
use crate::eip712::{Word, recover, token_domain};

/// What the payer of this transfer signed.
pub fn digest(authorization: &TransferAuthorization) -> Word {
    let transfer = eip3009::Eip3009Transfer {
        from: authorization.from.bytes(),
        to: authorization.to.bytes(),
        value: word::from_u64(authorization.value.atomic()),
        valid_after: word::from_u64(authorization.valid_after),
        valid_before: word::from_u64(authorization.valid_before),
        nonce: authorization.nonce,
    };
    transfer.transfer_digest(token_domain(authorization.network))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signed {
    ByPayer,
    /// By another account, by none, or in a form that the token does not accept.
    Otherwise,
}

pub(super) fn signed_by(authorization: &TransferAuthorization) -> Signed {
    // USDC accepts no high `s`, though it leads to the same key.
    let low = has_low_s(&authorization.signature);
    let signer = recover(digest(authorization), &authorization.signature);
    if low && signer == Some(authorization.from) { Signed::ByPayer } else { Signed::Otherwise }
}

/// The two nonces that answer a challenge. The draft puts id and realm together as they
/// are; newer clients frame them as a JSON list, so that no part can run into the other.
/// Each is signed by some released client and refused by another's merchant, so we take
/// both, and it is the challenge's id that can be used once only.
pub fn nonces(id: &str, realm: &str) -> [Word; 2] {
    let packed = keccak256(&[id.as_bytes(), realm.as_bytes()]);
    // Neither has a letter that JSON would escape: the id is base64url, and a realm is
    // checked when it is read.
    let framed = keccak256(&[format!(r#"["{id}","{realm}"]"#).as_bytes()]);
    [packed, framed]
}

#[cfg(test)]
mod tests;
