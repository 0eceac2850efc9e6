//! Address records, and which accounts may be paid.

use order::model::chain::{EvmAddress, Network};

/// The address record of a name for one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressRecord {
    /// Not set; the default record applies.
    Unset,
    Account(EvmAddress),
    /// Set to an account that must not be paid, such as zero. The default record does not apply.
    Unusable,
}

impl AddressRecord {
    /// Parses the resolver's answer for a coin type.
    pub(super) fn of(bytes: &[u8]) -> Self {
        match <[u8; 20]>::try_from(bytes) {
            _ if bytes.is_empty() => Self::Unset,
            Ok(account) if may_be_paid(account) => Self::Account(EvmAddress::from_bytes(account)),
            Ok(_) | Err(_) => Self::Unusable,
        }
    }
}

/// Shared contracts, which are not wallets.
const CONTRACTS: [&str; 3] = [
    // Permit2
    "0x000000000022D473030F116dDEE9F6B43aC78BA3",
    // x402 proxies for `upto` and for `exact`
    "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002",
    "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
];

/// Precompiled contracts and system accounts have the first 65,536 addresses of every chain,
/// including the zero address.
const SYSTEM_ZEROS: usize = 18;

/// Money sent to a system account, the token or a shared contract would be lost.
fn may_be_paid(account: [u8; 20]) -> bool {
    let address = EvmAddress::from_bytes(account);
    let of_system = account[..SYSTEM_ZEROS].iter().all(|byte| *byte == 0);
    let of_token = Network::ALL.iter().any(|network| network.usdc() == address);
    let of_contract = CONTRACTS.iter().any(|text| text.parse() == Ok(address));
    // mutant: system-account-paid
    !(of_system || of_token || of_contract)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(text: &str) -> AddressRecord {
        let address: EvmAddress = text.parse().unwrap();
        AddressRecord::of(&address.bytes())
    }

    #[test]
    fn an_account_may_be_paid_and_system_contracts_may_not() {
        let alice = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        assert_eq!(account(alice), AddressRecord::Account(alice.parse().unwrap()));
        for text in [
            "0x0000000000000000000000000000000000000000",
            "0x0000000000000000000000000000000000000001",
            "0x0000000000000000000000000000000000000100",
            "0x000000000000000000000000000000000000ffff",
        ] {
            assert_eq!(account(text), AddressRecord::Unusable, "{text}");
        }
        for text in CONTRACTS {
            assert_eq!(account(text), AddressRecord::Unusable, "{text}");
        }
        for network in Network::ALL {
            assert_eq!(account(&network.usdc().to_string()), AddressRecord::Unusable);
        }
        assert_ne!(account("0x0000000000000000000000000000000000010000"), AddressRecord::Unusable);
    }

    #[test]
    fn an_empty_record_is_unset_and_one_that_is_not_twenty_bytes_is_unusable() {
        assert_eq!(AddressRecord::of(&[]), AddressRecord::Unset);
        assert_eq!(AddressRecord::of(&[7; 19]), AddressRecord::Unusable);
        assert_eq!(AddressRecord::of(&[7; 32]), AddressRecord::Unusable);
    }
}
