//! The keys of the accounts that hold money in the sandbox.

use std::io;

use crate::keys::Key;

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

    /// The account that settles: it holds gas only.
    pub fn settler(&self) -> Key {
        self.key("settler")
    }

    /// The demonstration payer: USDC, gas and a Permit2 allowance.
    pub fn payer(&self) -> Key {
        self.key("payer")
    }

    /// A payer without a Permit2 allowance and without gas.
    pub fn newcomer(&self) -> Key {
        self.key("newcomer")
    }
}
