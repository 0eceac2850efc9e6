//! Raw transactions: EIP-1559 ones written and signed, these and EIP-155 ones decoded.

use crate::keccak::keccak256;
use crate::rlp::{self, InvalidRlp, RlpItem};
use crate::signature::{SigningKey, has_low_s, recover};
use crate::word::Word;

/// The EIP-2718 type of an EIP-1559 transaction.
const DYNAMIC_FEE_TYPE: u8 = 0x02;

/// An EIP-1559 transaction with an empty access list, before it is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsignedTransaction {
    pub chain_id: u64,
    pub nonce: u64,
    /// In wei for each unit of gas, as is `max_fee`.
    pub priority_fee: u128,
    pub max_fee: u128,
    pub gas: u64,
    pub to: [u8; 20],
    /// In wei.
    pub value: u128,
    pub data: Vec<u8>,
}

impl UnsignedTransaction {
    /// The raw bytes that `eth_sendRawTransaction` accepts.
    pub fn sign(&self, key: &SigningKey) -> Vec<u8> {
        let mut items = self.items();
        let signature = key.sign(keccak256(&[&envelope(items.clone())]));
        items.extend([
            RlpItem::number(&[signature[64] - 27]),
            RlpItem::number(&signature[..32]),
            RlpItem::number(&signature[32..64]),
        ]);
        envelope(items)
    }

    fn items(&self) -> Vec<RlpItem> {
        vec![
            RlpItem::number(&self.chain_id.to_be_bytes()),
            RlpItem::number(&self.nonce.to_be_bytes()),
            RlpItem::number(&self.priority_fee.to_be_bytes()),
            RlpItem::number(&self.max_fee.to_be_bytes()),
            RlpItem::number(&self.gas.to_be_bytes()),
            RlpItem::Bytes(self.to.to_vec()),
            RlpItem::number(&self.value.to_be_bytes()),
            RlpItem::Bytes(self.data.clone()),
            RlpItem::List(Vec::new()),
        ]
    }
}

/// The hash by which a chain knows a raw transaction.
pub fn hash(raw: &[u8]) -> Word {
    keccak256(&[raw])
}

fn envelope(items: Vec<RlpItem>) -> Vec<u8> {
    [vec![DYNAMIC_FEE_TYPE], rlp::encode(&RlpItem::List(items))].concat()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionType {
    /// With replay protection (EIP-155).
    Legacy,
    /// EIP-1559.
    DynamicFee,
}

/// A transaction whose signature has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedTransaction {
    pub transaction_type: TransactionType,
    pub chain_id: u64,
    pub nonce: u64,
    /// Both are the gas price in a legacy transaction.
    pub priority_fee: Word,
    pub max_fee: Word,
    pub gas: u64,
    /// None if the transaction creates a contract.
    pub to: Option<[u8; 20]>,
    pub value: Word,
    pub data: Vec<u8>,
    pub v: u64,
    pub r: Word,
    pub s: Word,
    pub hash: Word,
    pub from: [u8; 20],
}

/// Why bytes are not a transaction that a node accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidTransaction {
    UnsupportedType,
    Malformed,
    /// A legacy transaction that names no chain.
    NotReplayProtected,
    /// No account could have signed it.
    Signature,
}

impl From<InvalidRlp> for InvalidTransaction {
    fn from(_: InvalidRlp) -> Self {
        Self::Malformed
    }
}

pub fn decode(raw: &[u8]) -> Result<DecodedTransaction, InvalidTransaction> {
    match raw.split_first() {
        Some((&DYNAMIC_FEE_TYPE, content)) => dynamic_fee(raw, content),
        Some((0xc0..=0xff, _)) => legacy(raw),
        Some(_) | None => Err(InvalidTransaction::UnsupportedType),
    }
}

fn dynamic_fee(raw: &[u8], content: &[u8]) -> Result<DecodedTransaction, InvalidTransaction> {
    let items: [RlpItem; 12] = fields(content)?;
    if matches!(items[8], RlpItem::Bytes(_)) {
        return Err(InvalidTransaction::Malformed);
    }
    let digest = keccak256(&[&envelope(items[..9].to_vec())]);
    let (v, r, s) = (small(&items[9])?, items[10].as_number()?, items[11].as_number()?);
    Ok(DecodedTransaction {
        transaction_type: TransactionType::DynamicFee,
        chain_id: small(&items[0])?,
        nonce: small(&items[1])?,
        priority_fee: items[2].as_number()?,
        max_fee: items[3].as_number()?,
        gas: small(&items[4])?,
        to: recipient(&items[5])?,
        value: items[6].as_number()?,
        data: items[7].as_bytes()?.to_vec(),
        v,
        r,
        s,
        hash: hash(raw),
        from: sender(digest, v, r, s)?,
    })
}

fn legacy(raw: &[u8]) -> Result<DecodedTransaction, InvalidTransaction> {
    let items: [RlpItem; 9] = fields(raw)?;
    let (v, r, s) = (small(&items[6])?, items[7].as_number()?, items[8].as_number()?);
    let protected = v.checked_sub(35).ok_or(InvalidTransaction::NotReplayProtected)?;
    let chain_id = protected / 2;
    let mut signed = items[..6].to_vec();
    signed.extend([chain_id, 0, 0].map(|number| RlpItem::number(&number.to_be_bytes())));
    let digest = keccak256(&[&rlp::encode(&RlpItem::List(signed))]);
    let price = items[1].as_number()?;
    Ok(DecodedTransaction {
        transaction_type: TransactionType::Legacy,
        chain_id,
        nonce: small(&items[0])?,
        priority_fee: price,
        max_fee: price,
        gas: small(&items[2])?,
        to: recipient(&items[3])?,
        value: items[4].as_number()?,
        data: items[5].as_bytes()?.to_vec(),
        v,
        r,
        s,
        hash: hash(raw),
        from: sender(digest, protected % 2, r, s)?,
    })
}

fn fields<const COUNT: usize>(bytes: &[u8]) -> Result<[RlpItem; COUNT], InvalidTransaction> {
    match rlp::decode(bytes)? {
        RlpItem::List(items) => items.try_into().map_err(|_| InvalidTransaction::Malformed),
        RlpItem::Bytes(_) => Err(InvalidTransaction::Malformed),
    }
}

fn small(item: &RlpItem) -> Result<u64, InvalidTransaction> {
    let word = item.as_number()?;
    match word.split_last_chunk::<8>() {
        Some((high, low)) if high.iter().all(|byte| *byte == 0) => Ok(u64::from_be_bytes(*low)),
        Some(_) | None => Err(InvalidTransaction::Malformed),
    }
}

fn recipient(item: &RlpItem) -> Result<Option<[u8; 20]>, InvalidTransaction> {
    match item.as_bytes()? {
        [] => Ok(None),
        bytes => bytes.try_into().map(Some).map_err(|_| InvalidTransaction::Malformed),
    }
}

/// A chain accepts a transaction's signature only with a low `s`.
fn sender(digest: Word, parity: u64, r: Word, s: Word) -> Result<[u8; 20], InvalidTransaction> {
    let v = match parity {
        0 => 27,
        1 => 28,
        _ => return Err(InvalidTransaction::Signature),
    };
    let mut signature = [0; 65];
    signature[..32].copy_from_slice(&r);
    signature[32..64].copy_from_slice(&s);
    signature[64] = v;
    if !has_low_s(&signature) {
        return Err(InvalidTransaction::Signature);
    }
    recover(digest, &signature).ok_or(InvalidTransaction::Signature)
}

#[cfg(test)]
mod tests;
