//! An EIP-1559 transaction, signed and ready for a node.

use order::model::chain::EvmAddress;

use super::typed::keccak;
use super::wallet::Wallet;

/// The mark of the type, before its content.
const KIND: u8 = 0x02;

/// A call of a contract, before it is signed.
#[derive(Clone, Debug)]
pub(super) struct Transaction {
    pub(super) chain_id: u64,
    pub(super) nonce: u128,
    pub(super) tip: u128,
    pub(super) fee_max: u128,
    pub(super) gas: u128,
    pub(super) to: EvmAddress,
    pub(super) data: Vec<u8>,
}

impl Transaction {
    /// What it can cost at most, in the smallest unit of the network's coin.
    pub(super) const fn cost_max(&self) -> u128 {
        self.gas.saturating_mul(self.fee_max)
    }

    /// The raw bytes that a node takes.
    pub(super) fn sign(&self, wallet: &Wallet) -> Vec<u8> {
        let mut items = vec![
            number(u128::from(self.chain_id)),
            number(self.nonce),
            number(self.tip),
            number(self.fee_max),
            number(self.gas),
            text(&self.to.bytes()),
            number(0),
            text(&self.data),
            list(&[]),
        ];
        let signature = wallet.sign(keccak(typed(&items)));
        items.push(number(u128::from(signature[64] - 27)));
        items.push(trimmed(&signature[..32]));
        items.push(trimmed(&signature[32..64]));
        typed(&items)
    }
}

fn typed(items: &[Vec<u8>]) -> Vec<u8> {
    [vec![KIND], list(items)].concat()
}

/// RLP, Ethereum's way of putting byte strings into lists.
fn list(items: &[Vec<u8>]) -> Vec<u8> {
    let inside = items.concat();
    [head(0xc0, inside.len()), inside].concat()
}

fn text(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        // One small byte stands for itself.
        [byte] if *byte < 0x80 => vec![*byte],
        bytes => [head(0x80, bytes.len()), bytes.to_vec()].concat(),
    }
}

fn number(number: u128) -> Vec<u8> {
    trimmed(&number.to_be_bytes())
}

fn trimmed(bytes: &[u8]) -> Vec<u8> {
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    text(&bytes[first..])
}

fn head(base: u8, length: usize) -> Vec<u8> {
    match u8::try_from(length) {
        Ok(short) if short <= 55 => vec![base + short],
        Ok(_) | Err(_) => {
            let digits: Vec<u8> =
                length.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
            // A length has eight digits at most.
            let count = u8::try_from(digits.len()).unwrap_or(8);
            [vec![base + 55 + count], digits].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hex;
    use super::*;

    /// The sandbox writes transactions with code of its own, and reads them as
    /// strictly as a node does.
    #[test]
    fn a_transaction_is_written_as_the_sandbox_writes_it() {
        let key = sandbox::keys::Key::derive(&[3; 32], "payer");
        let wallet = Wallet::parse(&key.reveal()).unwrap();
        assert_eq!(wallet.address(), key.address());
        for (nonce, length) in [(0, 0), (1, 1), (127, 55), (128, 56), (70_000, 300)] {
            let transaction = Transaction {
                chain_id: 42161,
                nonce,
                tip: 0,
                fee_max: 30_000_000_000,
                gas: 60_000,
                to: EvmAddress::from_bytes([0x11; 20]),
                data: vec![0xab; length],
            };
            let other = sandbox::chain::Unsigned {
                chain_id: 42161,
                nonce: u64::try_from(nonce).unwrap(),
                priority_fee: 0,
                max_fee: 30_000_000_000,
                gas: 60_000,
                to: EvmAddress::from_bytes([0x11; 20]),
                value: 0,
                data: vec![0xab; length],
            };
            let (ours, theirs) = (transaction.sign(&wallet), other.sign(&key));
            assert_eq!(hex::encode(&ours), hex::encode(&theirs), "{nonce} {length}");
        }
    }
}
