//! Sellers: their names, and the accounts that are paid.

use std::fmt;
use std::sync::Arc;

use crate::model::chain::{EvmAddress, Network};

/// The most bytes that one label of a name may have, as in DNS.
const LABEL_BYTES_MAX: usize = 63;

/// A seller's name: one normalised label below the configured parent.
/// `alice`, `@alice` and `alice.<parent>` are the same value. Every offer has one, so it
/// is cheap to copy.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Username(Arc<str>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAUsername;

impl Username {
    /// `normalise` is ENSIP-15. It is a parameter, because this crate does not have its tables.
    pub fn parse(
        text: &str,
        parent: &str,
        normalise: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Self, NotAUsername> {
        let name = text.strip_prefix('@').unwrap_or(text).to_ascii_lowercase();
        let label = name.strip_suffix(parent).and_then(|rest| rest.strip_suffix('.'));
        let label = label.unwrap_or(&name);
        let tidy =
            !label.is_empty() && label.len() <= LABEL_BYTES_MAX && !label.contains(['.', '@']);
        // A name that only becomes normal by being changed is not the name that
        // its holder registered.
        let normal = tidy && normalise(label).as_deref() == Some(label);
        normal.then(|| Self(label.into())).ok_or(NotAUsername)
    }

    /// A name that was parsed earlier and comes from the store.
    pub fn kept(label: String) -> Self {
        Self(label.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Username {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Username {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

/// The sellers that are enabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sellers {
    /// The seller of requests that name none.
    pub default: Username,
    pub enabled: Vec<Username>,
}

impl Sellers {
    pub fn enables(&self, seller: &Username) -> bool {
        *seller == self.default || self.enabled.contains(seller)
    }
}

/// Where a seller's money goes, on each network that has an address. Every offer has
/// one, so it is cheap to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payees {
    list: Arc<[(Network, EvmAddress)]>,
}

impl Payees {
    /// None if there is no network left to be paid on.
    pub fn new(mut payees: Vec<(Network, EvmAddress)>) -> Option<Self> {
        payees.sort();
        payees.dedup_by_key(|(network, _)| *network);
        (!payees.is_empty()).then(|| Self { list: payees.into() })
    }

    pub fn on(&self, network: Network) -> Option<EvmAddress> {
        self.list.iter().find(|(at, _)| *at == network).map(|(_, payee)| *payee)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Network, EvmAddress)> + '_ {
        self.list.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Username, NotAUsername> {
        Username::parse(text, "cards.example.eth", |label| Some(label.replace('ü', "u")))
    }

    #[test]
    fn the_three_spellings_of_a_name_are_one_value() {
        let alice = Username::kept("alice".into());
        for text in
            ["alice", "@alice", "Alice", "alice.cards.example.eth", "@ALICE.Cards.example.eth"]
        {
            assert_eq!(parse(text).as_ref(), Ok(&alice), "{text}");
        }
    }

    #[test]
    fn what_is_not_one_normal_label_below_our_parent_is_no_username() {
        let long = "a".repeat(64);
        for text in
            ["", "@", "@@alice", "a.b", ".cards.example.eth", "alice.other.eth", "müller", &long]
        {
            assert_eq!(parse(text), Err(NotAUsername), "{text}");
        }
    }

    #[test]
    fn payees_are_the_same_in_any_sequence() {
        let payee = |byte| EvmAddress::from_bytes([byte; 20]);
        let payees = |list: &[(Network, u8)]| {
            Payees::new(list.iter().map(|(network, byte)| (*network, payee(*byte))).collect())
        };
        let one = payees(&[(Network::Base, 1), (Network::Polygon, 2)]).unwrap();
        let same = payees(&[(Network::Polygon, 2), (Network::Base, 1)]).unwrap();
        let other = payees(&[(Network::Base, 2), (Network::Polygon, 2)]).unwrap();
        assert_eq!(one, same);
        assert_ne!(one, other);
        assert_eq!(one.on(Network::Arbitrum), None);
        assert_eq!(payees(&[]), None);
    }
}
