//! What the accounts of the faucet begin with.

use std::sync::Arc;

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::ports::Clock;

use crate::chain::ChainSettings;
use crate::chain::funding::{NATIVE, USDC};
use crate::chain::{ChainEmulator, ChainId, PERMIT2};
use crate::keys::Key;
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

async fn open(seed: Option<[u8; 32]>) -> ChainEmulator {
    ChainEmulator::open(ChainSettings { seed, ..ChainSettings::new(Arc::new(Noon)) }).await.unwrap()
}

#[tokio::test]
async fn payers_have_usdc_the_settler_has_gas_and_the_payee_has_nothing() {
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
async fn a_seed_gives_the_same_keys_and_without_one_keys_differ() {
    let settler = async |seed| open(seed).await.faucet().settler().address();
    assert_eq!(settler(Some([3; 32])).await, settler(Some([3; 32])).await);
    assert_ne!(settler(Some([3; 32])).await, settler(Some([4; 32])).await);
    assert_ne!(settler(None).await, settler(None).await);
}
