//! Accounts with money in them, for demonstrations and tests, and nowhere else.

use std::io;

use order::model::chain::EvmAddress;

use crate::chain::{ChainId, Chains, PERMIT2};
use crate::keys::Key;

/// What a payer begins with: 1,000 USDC, and gas for a lifetime.
const USDC: u128 = 1_000_000_000;
const NATIVE: u128 = 10_000_000_000_000_000_000;

/// The keys of this sandbox, all from one seed.
#[derive(Clone)]
pub struct Faucet {
    seed: [u8; 32],
}

impl Faucet {
    pub(crate) fn open(seed: Option<[u8; 32]>) -> io::Result<Self> {
        if let Some(seed) = seed {
            return Ok(Self { seed });
        }
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)
            .map_err(|error| io::Error::other(format!("no randomness for the keys: {error}")))?;
        Ok(Self { seed })
    }

    /// The key with this label.
    pub fn key(&self, label: &str) -> Key {
        Key::derive(&self.seed, label)
    }

    /// Who settles: it has gas and nothing else.
    pub fn settler(&self) -> Key {
        self.key("settler")
    }

    /// Who buys in a demonstration: USDC, gas, and Permit2 may take from it.
    pub fn payer(&self) -> Key {
        self.key("payer")
    }

    /// A buyer who has never used Permit2, and owns no gas.
    pub fn newcomer(&self) -> Key {
        self.key("newcomer")
    }

    /// The demonstration payer's key in words for a banner. It is made at start and
    /// worthless elsewhere.
    pub fn demo_payer(&self) -> String {
        self.payer().reveal()
    }

    pub(crate) fn fund(&self, chains: &Chains) {
        for id in ChainId::ALL {
            let chain = chains.chain(id);
            chain.set_native(self.settler().address(), NATIVE);
            self.fill(chains, id, self.payer().address());
            chain.set_allowance(self.payer().address(), PERMIT2, u128::MAX);
            chain.set_usdc(self.newcomer().address(), USDC);
        }
    }

    /// 1,000 USDC and gas for any account.
    pub fn fill(&self, chains: &Chains, id: ChainId, account: EvmAddress) {
        let chain = chains.chain(id);
        chain.set_usdc(account, USDC);
        chain.set_native(account, NATIVE);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use order::model::ids::Timestamp;
    use order::ports::Clock;

    use super::*;
    use crate::chain::Settings;
    use crate::payee::payee;

    struct Noon;

    #[async_trait]
    impl Clock for Noon {
        fn now(&self) -> Timestamp {
            Timestamp(1_794_700_000)
        }

        fn uptime(&self) -> u64 {
            0
        }

        async fn wait(&self, _seconds: u64) {}
    }

    async fn open(seed: Option<[u8; 32]>) -> Chains {
        Chains::open(Settings { seed, ..Settings::new(Arc::new(Noon)) }).await.unwrap()
    }

    #[tokio::test]
    async fn payers_have_money_the_settler_has_gas_and_the_payee_has_nothing() {
        let chains = open(None).await;
        let faucet = chains.faucet();
        for id in ChainId::ALL {
            let chain = chains.chain(id);
            let holds = |key: &Key| {
                let account = key.address();
                let allowed = chain.allowance(account, PERMIT2);
                (chain.usdc_of(account), chain.native_of(account), allowed)
            };
            assert_eq!(holds(&faucet.payer()), (USDC, NATIVE, u128::MAX));
            assert_eq!(holds(&faucet.newcomer()), (USDC, 0, 0));
            assert_eq!(holds(&faucet.settler()), (0, NATIVE, 0));
            assert_eq!((chain.usdc_of(payee()), chain.native_of(payee())), (0, 0));
        }
    }

    #[tokio::test]
    async fn a_seed_repeats_the_keys_and_without_one_no_two_starts_share_any() {
        let settler = async |seed| open(seed).await.faucet().settler().address();
        assert_eq!(settler(Some([3; 32])).await, settler(Some([3; 32])).await);
        assert_ne!(settler(Some([3; 32])).await, settler(Some([4; 32])).await);
        assert_ne!(settler(None).await, settler(None).await);
    }
}
