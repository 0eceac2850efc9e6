//! Which addresses money may be sent to.

use order::model::chain::{EvmAddress, Network};

/// What a name says about one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Nothing, so that another entry may speak for it.
    Unset,
    Account(EvmAddress),
    /// Something that must not be paid. No other entry speaks for it: the
    /// holder has said something, and a zero says "not here".
    Unusable,
}

impl Entry {
    /// Reads what the resolver has for a coin type.
    pub(super) fn of(bytes: &[u8]) -> Self {
        match <[u8; 20]>::try_from(bytes) {
            _ if bytes.is_empty() => Self::Unset,
            Ok(account) if may_be_paid(account) => Self::Account(EvmAddress::from_bytes(account)),
            Ok(_) | Err(_) => Self::Unusable,
        }
    }
}

/// Contracts that hold or move everybody's tokens, and nobody's wallet.
const MACHINERY: [&str; 3] = [
    // Permit2
    "0x000000000022D473030F116dDEE9F6B43aC78BA3",
    // x402 proxies for `upto` and for `exact`
    "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002",
    "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
];

/// Precompiled contracts and system accounts live in the first 65,536
/// addresses of every chain, the zero address among them.
const SYSTEM_ZEROS: usize = 18;

/// Money sent to any of the others would be gone.
fn may_be_paid(account: [u8; 20]) -> bool {
    let address = EvmAddress::from_bytes(account);
    let of_system = account[..SYSTEM_ZEROS].iter().all(|byte| *byte == 0);
    let of_token = Network::ALL.iter().any(|network| network.usdc() == address);
    let of_machinery = MACHINERY.iter().any(|text| text.parse() == Ok(address));
    !(of_system || of_token || of_machinery)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(text: &str) -> Entry {
        let address: EvmAddress = text.parse().unwrap();
        Entry::of(&address.bytes())
    }

    #[test]
    fn an_account_is_paid_and_no_machinery_is() {
        let alice = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        assert_eq!(account(alice), Entry::Account(alice.parse().unwrap()));
        for text in [
            "0x0000000000000000000000000000000000000000",
            "0x0000000000000000000000000000000000000001",
            "0x0000000000000000000000000000000000000100",
            "0x000000000000000000000000000000000000ffff",
        ] {
            assert_eq!(account(text), Entry::Unusable, "{text}");
        }
        for text in MACHINERY {
            assert_eq!(account(text), Entry::Unusable, "{text}");
        }
        for network in Network::ALL {
            assert_eq!(account(&network.usdc().to_string()), Entry::Unusable);
        }
        assert_ne!(account("0x0000000000000000000000000000000000010000"), Entry::Unusable);
    }

    #[test]
    fn nothing_is_unset_and_what_is_not_twenty_bytes_is_unusable() {
        assert_eq!(Entry::of(&[]), Entry::Unset);
        assert_eq!(Entry::of(&[7; 19]), Entry::Unusable);
        assert_eq!(Entry::of(&[7; 32]), Entry::Unusable);
    }
}
