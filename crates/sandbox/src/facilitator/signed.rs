//! What a payer signs and sends under `upto`, as the official client writes it, for tests and demonstrations.

use alloy_primitives::{Address, U256};
use alloy_sol_types::{SolStruct, eip712_domain, sol};
use order::model::chain::{EvmAddress, Network};
use serde_json::{Value, json};

use crate::chain::abi::Permit;
use crate::chain::{PERMIT2, UPTO_PROXY};
use crate::keys::Key;

sol! {
    struct TokenPermissions { address token; uint256 amount; }
    struct Witness { address to; address facilitator; uint256 validAfter; }
    struct PermitWitnessTransferFrom { TokenPermissions permitted; address spender; uint256 nonce; uint256 deadline; Witness witness; }
}

/// What is promised, to whom and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    pub network: Network,
    pub pay_to: EvmAddress,
    pub facilitator: EvmAddress,
    /// In the smallest units.
    pub most: u64,
    pub nonce: [u8; 32],
    /// In seconds.
    pub deadline: u64,
}

impl Terms {
    /// The payload of a payer with this key.
    pub fn signed(&self, payer: &Key) -> Value {
        json!({
            "x402Version": 2,
            "payload": {
                "signature": hex(&self.signature(payer)),
                "permit2Authorization": {
                    "from": payer.address().to_string(),
                    "permitted": {
                        "token": self.network.usdc().to_string(),
                        "amount": self.most.to_string(),
                    },
                    "spender": UPTO_PROXY.to_string(),
                    "nonce": U256::from_be_bytes(self.nonce).to_string(),
                    "deadline": self.deadline.to_string(),
                    "witness": {
                        "to": self.pay_to.to_string(),
                        "facilitator": self.facilitator.to_string(),
                        "validAfter": "0",
                    },
                },
            },
            "resource": { "url": "http://127.0.0.1/api/x402/postcards" },
            "accepted": {
                "scheme": "upto",
                "network": self.network.caip2(),
                "amount": self.most.to_string(),
                "asset": self.network.usdc().to_string(),
                "payTo": self.pay_to.to_string(),
                "maxTimeoutSeconds": 300,
                "extra": {
                    "name": "USD Coin",
                    "version": "2",
                    "assetTransferMethod": "permit2",
                    "facilitatorAddress": self.facilitator.to_string(),
                },
            },
        })
    }

    /// The payload of a payer whom Permit2 may take nothing from yet, and who
    /// has never signed a permit: the allowance comes along.
    pub fn sponsored(&self, payer: &Key) -> Value {
        let mut payload = self.signed(payer);
        let signature = self.permit(payer);
        payload["extensions"] = json!({
            "eip2612GasSponsoring": {
                "info": {
                    "from": payer.address().to_string(),
                    "asset": self.network.usdc().to_string(),
                    "spender": PERMIT2.to_string(),
                    "amount": self.most.to_string(),
                    "nonce": "0",
                    "deadline": self.deadline.to_string(),
                    "signature": hex(&signature),
                    "version": "1",
                },
                "schema": {},
            },
        });
        payload
    }

    /// The signature under the promise.
    pub fn signature(&self, payer: &Key) -> [u8; 65] {
        payer.sign(self.digest())
    }

    fn digest(&self) -> [u8; 32] {
        let promise = PermitWitnessTransferFrom {
            permitted: TokenPermissions {
                token: plain(self.network.usdc()),
                amount: U256::from(self.most),
            },
            spender: plain(UPTO_PROXY),
            nonce: U256::from_be_bytes(self.nonce),
            deadline: U256::from(self.deadline),
            witness: Witness {
                to: plain(self.pay_to),
                facilitator: plain(self.facilitator),
                validAfter: U256::ZERO,
            },
        };
        let domain = eip712_domain! {
            name: "Permit2",
            chain_id: self.network.chain_id(),
            verifying_contract: plain(PERMIT2),
        };
        promise.eip712_signing_hash(&domain).0
    }

    fn permit(&self, payer: &Key) -> [u8; 65] {
        let permit = Permit {
            owner: plain(payer.address()),
            spender: plain(PERMIT2),
            value: U256::from(self.most),
            nonce: U256::ZERO,
            deadline: U256::from(self.deadline),
        };
        let domain = eip712_domain! {
            name: "USD Coin",
            version: "2",
            chain_id: self.network.chain_id(),
            verifying_contract: plain(self.network.usdc()),
        };
        payer.sign(permit.eip712_signing_hash(&domain).0)
    }
}

fn plain(noun: EvmAddress) -> Address {
    noun.bytes().into()
}

fn hex(bytes: &[u8]) -> String {
    alloy_primitives::hex::encode_prefixed(bytes)
}
