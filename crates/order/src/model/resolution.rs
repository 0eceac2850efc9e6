//! What a seller's name resolves to, with the evidence for it.

use std::sync::Arc;

use crate::model::evidence::{Evidence, Record};
use crate::model::seller::Payees;

/// The payout accounts of a seller. Every offer needs it, so it is cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    records: Arc<[Record]>,
    payees: Payees,
    pub evidence: Arc<Evidence>,
}

impl Resolution {
    /// None if the name has no account on any of our networks.
    pub fn new(mut records: Vec<Record>, evidence: Evidence) -> Option<Self> {
        records.sort();
        records.dedup_by_key(|record| record.network);
        let payees = records.iter().map(|record| (record.network, record.address)).collect();
        let (payees, evidence) = (Payees::new(payees)?, Arc::new(evidence));
        Some(Self { payees, records: records.into(), evidence })
    }

    /// One for each network that has an account, in the sequence of the networks.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    pub fn payees(&self) -> &Payees {
        &self.payees
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::chain::{EvmAddress, Network};
    use crate::model::evidence::Source;
    use crate::model::ids::Timestamp;
    use crate::model::seller::Username;

    #[test]
    fn a_resolution_has_one_account_a_network_and_at_least_one() {
        let evidence = || Evidence::made_up(Username::kept("alice".into()), Timestamp(7));
        let record = |network, byte| Record {
            network,
            address: EvmAddress::from_bytes([byte; 20]),
            source: Source::Chain,
        };
        assert_eq!(Resolution::new(Vec::new(), evidence()), None);
        let records = vec![record(Network::Polygon, 2), record(Network::Base, 1)];
        let found = Resolution::new(records, evidence()).unwrap();
        let networks: Vec<_> = found.records().iter().map(|record| record.network).collect();
        assert_eq!(networks, [Network::Base, Network::Polygon]);
        assert_eq!(found.payees().on(Network::Polygon), Some(EvmAddress::from_bytes([2; 20])));
    }
}
