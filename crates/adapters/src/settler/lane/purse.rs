//! The alarm before the account runs out of gas.

use order::chain::{EvmAddress, Network};

/// Remembers what was said last, so that it is said once.
#[derive(Default)]
pub(super) struct Purse(Option<Level>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Enough,
    Low,
}

impl Purse {
    /// Takes note of a balance, and says something if that is news.
    pub(super) fn observe(&mut self, network: Network, account: EvmAddress, level: Level) {
        let before = self.0.replace(level);
        match (before, level) {
            (None | Some(Level::Enough), Level::Low) => tracing::warn!(
                network = network.caip2(),
                "The settler's account {account} runs out of gas; send it some of the \
                 network's own coin, or payments there will be refused"
            ),
            (Some(Level::Low), Level::Enough) => tracing::info!(
                network = network.caip2(),
                "The settler's account {account} has enough gas again"
            ),
            (None | Some(Level::Enough), Level::Enough) | (Some(Level::Low), Level::Low) => {}
        }
    }
}
