//! What a payer signs, which nonces answer a challenge, and whether the token takes the
//! signature.

use super::credential::Authorization;
use crate::eip712::{Word, address, keccak, number, recover, signed, structure, token_domain};

const TRANSFER: &str = "TransferWithAuthorization(address from,address to,uint256 value,\
                        uint256 validAfter,uint256 validBefore,bytes32 nonce)";

/// Half of the curve's order. USDC takes no signature with a larger `s`, though it
/// would lead to the same key.
const LARGEST_S: Word = [
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
];

/// What the payer of this transfer signed.
pub fn digest(authorization: &Authorization) -> Word {
    let words = [
        address(authorization.from),
        address(authorization.to),
        number(authorization.value.atomic()),
        number(authorization.valid_after),
        number(authorization.valid_before),
        authorization.nonce,
    ];
    signed(token_domain(authorization.network), structure(TRANSFER, &words))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signed {
    ByPayer,
    /// By somebody else, by nobody, or in a way that the token does not take.
    Otherwise,
}

pub(super) fn signed_by(authorization: &Authorization) -> Signed {
    let low = authorization.signature[32..64] <= LARGEST_S[..];
    let signer = recover(digest(authorization), &authorization.signature);
    if low && signer == Some(authorization.from) { Signed::ByPayer } else { Signed::Otherwise }
}

/// The two nonces that answer a challenge. The draft puts id and realm together as they
/// are; newer clients frame them as a JSON list, so that no part can run into the other.
/// Each is signed by some released client and refused by another's merchant, so we take
/// both, and it is the challenge's id that can be used once only.
pub fn nonces(id: &str, realm: &str) -> [Word; 2] {
    let packed = keccak(&[id.as_bytes(), realm.as_bytes()]);
    // Neither has a letter that JSON would escape: the id is base64url, and a realm is
    // checked when it is read.
    let framed = keccak(&[format!(r#"["{id}","{realm}"]"#).as_bytes()]);
    [packed, framed]
}

#[cfg(test)]
mod tests;
