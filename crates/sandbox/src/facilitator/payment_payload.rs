//! Payment payloads of the scheme `upto`, as the official client writes them.

use alloy_primitives::U256;
use evm::contracts::usdc_domain;
use evm::eip2612::AllowancePermit;
use evm::permit2::{UptoTransfer, UptoWitness};
use evm::{hex, word};
use order::model::chain::{EvmAddress, Network};
use serde_json::{Value, json};

use crate::chain::{PERMIT2, UPTO_PROXY};
use crate::keys::Key;

/// The terms of an authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaymentTerms {
    pub network: Network,
    pub pay_to: EvmAddress,
    pub facilitator: EvmAddress,
    /// In the smallest units.
    pub most: u64,
    pub nonce: [u8; 32],
    /// In seconds.
    pub deadline: u64,
}

impl PaymentTerms {
    /// The payload of a payer with this key.
    pub fn signed(&self, payer: &Key) -> Value {
        json!({
            "x402Version": 2,
            "payload": {
                "signature": hex::encode(&self.signature(payer)),
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

    /// The payload of a payer without a Permit2 allowance: it carries an EIP-2612 permit.
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
                    "signature": hex::encode(&signature),
                    "version": "1",
                },
                "schema": {},
            },
        });
        payload
    }

    /// The signature of the authorization.
    pub fn signature(&self, payer: &Key) -> [u8; 65] {
        payer.sign(self.digest())
    }

    fn digest(&self) -> [u8; 32] {
        let transfer = UptoTransfer {
            token: self.network.usdc().bytes(),
            amount: word::from_u64(self.most),
            nonce: self.nonce,
            deadline: word::from_u64(self.deadline),
            witness: UptoWitness {
                to: self.pay_to.bytes(),
                facilitator: self.facilitator.bytes(),
                valid_after: word::from_u64(0),
            },
        };
        transfer.digest(self.network.chain_id())
    }

    fn permit(&self, payer: &Key) -> [u8; 65] {
        let permit = AllowancePermit {
            owner: payer.address().bytes(),
            spender: PERMIT2.bytes(),
            value: word::from_u64(self.most),
            nonce: word::from_u64(0),
            deadline: word::from_u64(self.deadline),
        };
        let (chain_id, usdc) = (self.network.chain_id(), self.network.usdc().bytes());
        payer.sign(permit.digest(usdc_domain(chain_id, usdc)))
    }
}
