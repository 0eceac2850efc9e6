//! What a payer signs: the Permit2 promise of the scheme `upto`, and an EIP-2612 permit.

use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;

use super::super::hex::Word;
use super::super::typed::{account, amount, hash, keccak, number, signable, usdc_domain};

/// Uniswap's Permit2, the same on every chain.
pub(in super::super) const PERMIT2: EvmAddress = EvmAddress::from_bytes([
    0x00, 0x00, 0x00, 0x00, 0x00, 0x22, 0xd4, 0x73, 0x03, 0x0f, 0x11, 0x6d, 0xde, 0xe9, 0xf6, 0xb4,
    0x3a, 0xc7, 0x8b, 0xa3,
]);

/// The x402 proxy of the scheme `upto`, the same on every chain. It pays nobody
/// but whom the promise names, and takes no more than the promise allows.
pub(in super::super) const PROXY: EvmAddress = EvmAddress::from_bytes([
    0x40, 0x20, 0xa4, 0xf3, 0xb7, 0xb9, 0x0c, 0xca, 0x42, 0x3b, 0x9f, 0xab, 0xcc, 0x0c, 0xe5, 0x7c,
    0x6c, 0x24, 0x00, 0x02,
]);

const DOMAIN: &str = "EIP712Domain(string name,uint256 chainId,address verifyingContract)";
const TRANSFER: &str = "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,\
    uint256 nonce,uint256 deadline,Witness witness)TokenPermissions(address token,uint256 amount)\
    Witness(address to,address facilitator,uint256 validAfter)";
const PERMISSIONS: &str = "TokenPermissions(address token,uint256 amount)";
const WITNESS: &str = "Witness(address to,address facilitator,uint256 validAfter)";
const PERMIT: &str =
    "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)";

/// A promise to pay up to `most`, before it is signed. It holds from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Promise {
    pub(in super::super) network: Network,
    pub(in super::super) pay_to: EvmAddress,
    /// Who alone may carry it to the chain.
    pub(in super::super) carrier: EvmAddress,
    pub(in super::super) most: Usdc,
    pub(in super::super) nonce: Word,
    pub(in super::super) deadline: u64,
}

impl Promise {
    pub(in super::super) fn digest(&self) -> Word {
        let permissions =
            hash(&[keccak(PERMISSIONS), account(self.network.usdc()), amount(self.most)]);
        let witness =
            hash(&[keccak(WITNESS), account(self.pay_to), account(self.carrier), number(0)]);
        let promise = hash(&[
            keccak(TRANSFER),
            permissions,
            account(PROXY),
            self.nonce,
            number(self.deadline),
            witness,
        ]);
        let chain = number(self.network.chain_id());
        signable(hash(&[keccak(DOMAIN), keccak("Permit2"), chain, account(PERMIT2)]), promise)
    }
}

/// A permit that lets Permit2 move as much as the promise allows, before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Permit {
    pub(in super::super) network: Network,
    pub(in super::super) owner: EvmAddress,
    pub(in super::super) most: Usdc,
    /// Counted by the token, for each owner.
    pub(in super::super) nonce: Word,
    pub(in super::super) deadline: u64,
}

impl Permit {
    pub(in super::super) fn digest(&self) -> Word {
        let permit = hash(&[
            keccak(PERMIT),
            account(self.owner),
            account(PERMIT2),
            amount(self.most),
            self.nonce,
            number(self.deadline),
        ]);
        signable(usdc_domain(self.network), permit)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::super::hex;
    use super::super::super::wallet::Wallet;
    use super::*;

    /// The third account of the mnemonic that every development chain uses; the
    /// official client signed the vectors with it.
    const KEY: &str = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";
    const VECTORS: &str = include_str!("../../../../sandbox/src/chain/contracts/upto_vectors.json");

    fn vectors() -> Vec<Value> {
        let file: Value = serde_json::from_str(VECTORS).unwrap();
        file["vectors"].as_array().unwrap().clone()
    }

    /// What the official client signed stands in the call that settles it.
    #[test]
    fn a_promise_is_signed_as_the_official_client_signs_it() {
        let wallet = Wallet::parse(KEY).unwrap();
        for vector in vectors() {
            let text = |name: &str| vector[name].as_str().unwrap().to_owned();
            let call = hex::decode(&text("settleCalldata")).unwrap();
            let word = |place: usize| -> Word { call[4 + 32 * place..][..32].try_into().unwrap() };
            let small = |place: usize| u64::from_be_bytes(word(place)[24..].try_into().unwrap());
            let address =
                |place: usize| EvmAddress::from_bytes(word(place)[12..].try_into().unwrap());
            let network = Network::from_caip2(&text("network")).unwrap();
            let promise = Promise {
                network,
                pay_to: address(6),
                carrier: address(7),
                most: Usdc::from_atomic(small(1)),
                nonce: word(2),
                deadline: small(3),
            };
            assert_eq!((address(0), address(5)), (network.usdc(), wallet.address()));
            assert_eq!(hex::encode(&promise.digest()), text("digest"));
            assert_eq!(hex::encode(&wallet.sign(promise.digest())), text("signature"));
        }
    }

    #[test]
    fn the_contracts_are_where_the_chains_have_them() {
        assert_eq!(PERMIT2, sandbox::chain::PERMIT2);
        assert_eq!(PROXY, sandbox::chain::UPTO_PROXY);
    }
}
