//! Signed transactions: read from their raw bytes, and written for a key.

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};

use super::rlp::{self, Item, NotRlp};
use crate::keys::{Key, has_low_s, recover};
use order::model::chain::EvmAddress;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Legacy,
    /// EIP-1559.
    Dynamic,
}

/// A transaction whose signature has been checked.
#[derive(Clone, Debug)]
pub(super) struct Transaction {
    pub(super) kind: Kind,
    pub(super) chain_id: u64,
    pub(super) nonce: u64,
    pub(super) priority_fee: U256,
    pub(super) max_fee: U256,
    pub(super) gas: u64,
    pub(super) to: Option<Address>,
    pub(super) value: U256,
    pub(super) data: Bytes,
    pub(super) v: u64,
    pub(super) r: B256,
    pub(super) s: B256,
    pub(super) hash: B256,
    pub(super) from: Address,
}

impl Transaction {
    pub(super) fn decode(raw: &[u8]) -> Result<Self, String> {
        let read = match raw.first() {
            Some(0x02) => dynamic(raw),
            Some(0xc0..=0xff) => legacy(raw),
            Some(_) | None => return Err("transaction type not supported".to_owned()),
        };
        read.map_err(|why| match why {
            Unreadable::Shape => "rlp: the bytes are not a transaction".to_owned(),
            Unreadable::Unprotected => {
                "only replay-protected (EIP-155) transactions allowed over RPC".to_owned()
            }
            Unreadable::Signature => "invalid sender: the signature names nobody".to_owned(),
        })
    }

    /// What one unit of gas costs in a block with this base fee.
    pub(super) fn price(&self, base_fee: U256) -> U256 {
        self.max_fee.min(base_fee.saturating_add(self.priority_fee))
    }

    /// The most that this transaction can take from its sender.
    pub(super) fn worst_cost(&self) -> U256 {
        U256::from(self.gas).saturating_mul(self.max_fee).saturating_add(self.value)
    }
}

enum Unreadable {
    Shape,
    Unprotected,
    Signature,
}

impl From<NotRlp> for Unreadable {
    fn from(_: NotRlp) -> Self {
        Self::Shape
    }
}

fn fields<const COUNT: usize>(bytes: &[u8]) -> Result<[Item; COUNT], Unreadable> {
    match rlp::decode(bytes)? {
        Item::List(items) => items.try_into().map_err(|_| Unreadable::Shape),
        Item::Bytes(_) => Err(Unreadable::Shape),
    }
}

fn small(item: &Item) -> Result<u64, Unreadable> {
    u64::try_from(item.as_number()?).map_err(|_| Unreadable::Shape)
}

fn target(item: &Item) -> Result<Option<Address>, Unreadable> {
    match item.as_bytes()? {
        [] => Ok(None),
        bytes => Address::try_from(bytes).map(Some).map_err(|_| Unreadable::Shape),
    }
}

fn word(item: &Item) -> Result<B256, Unreadable> {
    Ok(item.as_number()?.into())
}

/// Ethereum takes a transaction's signature only with a low `s`.
fn sender(digest: B256, parity: u64, r: B256, s: B256) -> Result<Address, Unreadable> {
    let v = match parity {
        0 => 27,
        1 => 28,
        _ => return Err(Unreadable::Signature),
    };
    if !has_low_s(s) {
        return Err(Unreadable::Signature);
    }
    recover(digest, v, r, s).ok_or(Unreadable::Signature)
}

fn dynamic(raw: &[u8]) -> Result<Transaction, Unreadable> {
    let items: [Item; 12] = fields(&raw[1..])?;
    let signed = [vec![0x02], rlp::encode(&Item::List(items[..9].to_vec()))].concat();
    if matches!(items[8], Item::Bytes(_)) {
        return Err(Unreadable::Shape);
    }
    let (v, r, s) = (small(&items[9])?, word(&items[10])?, word(&items[11])?);
    Ok(Transaction {
        kind: Kind::Dynamic,
        chain_id: small(&items[0])?,
        nonce: small(&items[1])?,
        priority_fee: items[2].as_number()?,
        max_fee: items[3].as_number()?,
        gas: small(&items[4])?,
        to: target(&items[5])?,
        value: items[6].as_number()?,
        data: items[7].as_bytes()?.to_vec().into(),
        v,
        r,
        s,
        hash: keccak256(raw),
        from: sender(keccak256(signed), v, r, s)?,
    })
}

fn legacy(raw: &[u8]) -> Result<Transaction, Unreadable> {
    let items: [Item; 9] = fields(raw)?;
    let (v, r, s) = (small(&items[6])?, word(&items[7])?, word(&items[8])?);
    let protected = v.checked_sub(35).ok_or(Unreadable::Unprotected)?;
    let chain_id = protected / 2;
    let mut signed = items[..6].to_vec();
    signed.extend([chain_id, 0, 0].map(|number| Item::number(U256::from(number))));
    let digest = keccak256(rlp::encode(&Item::List(signed)));
    let price = items[1].as_number()?;
    Ok(Transaction {
        kind: Kind::Legacy,
        chain_id,
        nonce: small(&items[0])?,
        priority_fee: price,
        max_fee: price,
        gas: small(&items[2])?,
        to: target(&items[3])?,
        value: items[4].as_number()?,
        data: items[5].as_bytes()?.to_vec().into(),
        v,
        r,
        s,
        hash: keccak256(raw),
        from: sender(digest, protected % 2, r, s)?,
    })
}

/// An EIP-1559 transaction before its signature.
#[derive(Clone, Debug)]
pub struct Unsigned {
    pub chain_id: u64,
    pub nonce: u64,
    pub priority_fee: u128,
    pub max_fee: u128,
    pub gas: u64,
    pub to: EvmAddress,
    pub value: u128,
    pub data: Vec<u8>,
}

impl Unsigned {
    /// The raw bytes that `eth_sendRawTransaction` takes.
    pub fn sign(&self, key: &Key) -> Vec<u8> {
        let mut items = vec![
            Item::number(U256::from(self.chain_id)),
            Item::number(U256::from(self.nonce)),
            Item::number(U256::from(self.priority_fee)),
            Item::number(U256::from(self.max_fee)),
            Item::number(U256::from(self.gas)),
            Item::Bytes(self.to.bytes().to_vec()),
            Item::number(U256::from(self.value)),
            Item::Bytes(self.data.clone()),
            Item::List(Vec::new()),
        ];
        let unsigned = [vec![0x02], rlp::encode(&Item::List(items.clone()))].concat();
        let signature = key.sign(keccak256(unsigned).0);
        items.extend([
            Item::number(U256::from(signature[64] - 27)),
            Item::number(U256::from_be_slice(&signature[..32])),
            Item::number(U256::from_be_slice(&signature[32..64])),
        ]);
        [vec![0x02], rlp::encode(&Item::List(items))].concat()
    }
}

#[cfg(test)]
mod tests;
