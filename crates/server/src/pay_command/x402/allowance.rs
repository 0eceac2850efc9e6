//! The allowance that Permit2 needs: brought along, granted, or explained.

use std::sync::Arc;

use order::model::chain::Network;
use order::model::money::Usdc;

use crate::console;

use super::super::Visit;
use super::super::chain::{Allowance, Chain};
use super::super::consent;
use super::super::end::End;
use super::super::hex::Word;
use super::super::keep::Kept;
use super::super::purse::Purse;
use super::super::values::{coin, name};
use super::challenge::{Challenge, Terms};
use super::credential;
use super::promise::{PERMIT2, Permit};

impl Visit<'_> {
    /// The number for a permit to bring along: where the service offers to take
    /// one, a node is known, and Permit2 may not take enough yet.
    pub(in super::super) async fn permit_nonce(
        &self,
        challenge: &Challenge,
        terms: &Terms,
        purse: &Purse,
    ) -> Result<Option<Word>, End> {
        if challenge.extension(credential::SPONSORING).is_none() {
            return Ok(None);
        }
        self.missing_permit(terms.network, terms.most, purse).await
    }

    async fn missing_permit(
        &self,
        network: Network,
        most: Usdc,
        purse: &Purse,
    ) -> Result<Option<Word>, End> {
        let Some(chain) = self.chain(network, purse).await? else { return Ok(None) };
        let payer = purse.wallet.address();
        match chain.allows(payer, most).await.map_err(|why| silent(&why))? {
            Allowance::Enough => Ok(None),
            Allowance::TooSmall => {
                console::say(
                    "Permit2 may not take enough yet; the service brings a signed permit to the \
                     chain, which costs you no gas.\n",
                );
                chain.permits(payer).await.map(Some).map_err(|why| silent(&why))
            }
        }
    }

    /// The same promise as was refused for want of an allowance, with a permit beside it:
    /// where the service offers to bring one along, there is none yet and a node is named.
    pub(in super::super) async fn permitted(&self, kept: &Kept) -> Result<Option<Kept>, End> {
        if self.arguments.rpc_url.is_none() || !credential::lacks_permit(&kept.header) {
            return Ok(None);
        }
        let Some(deadline) = kept.deadline() else { return Ok(None) };
        let purse = Purse::open(self.arguments, &self.place, &self.client).await?;
        is_payer(&purse, kept)?;
        let &Kept { network, most, .. } = kept;
        let Some(nonce) = self.missing_permit(network, most, &purse).await? else {
            return Ok(None);
        };
        consent::obtain(self.arguments, &purse, most, network)?;
        let permit = Permit { network, owner: purse.wallet.address(), most, nonce, deadline };
        let header = credential::with_permit(&kept.header, &permit, &purse.wallet);
        Ok(header.map(|header| Kept { header, ..kept.clone() }))
    }

    /// Grants what this payment needs, and no more.
    pub(in super::super) async fn approve(
        &self,
        kept: &Kept,
        purse: Option<Purse>,
    ) -> Result<(), End> {
        let purse = match purse {
            Some(purse) => purse,
            None => Purse::open(self.arguments, &self.place, &self.client).await?,
        };
        is_payer(&purse, kept)?;
        let Some(chain) = self.chain(kept.network, &purse).await? else {
            return Err(End::AllowanceNeeded(
                self.how_to_allow(kept, "to approve, a node is needed; name one with --rpc-url"),
            ));
        };
        console::say(&format!(
            "Permit2 may not take your USDC on {} yet: allowing it {} USDC.\n",
            name(kept.network),
            kept.most
        ));
        let hash = chain.approve(&purse.wallet, kept.most).await.map_err(|why| {
            End::AllowanceNeeded(self.how_to_allow(kept, &format!("approving failed, {why}")))
        })?;
        console::say(&format!("Allowed by {hash}. Sending the same payment again.\n\n"));
        Ok(())
    }

    pub(in super::super) fn how_to_allow(&self, kept: &Kept, words: &str) -> String {
        let Kept { network, most, payer, .. } = kept;
        let without_gas = if credential::lacks_permit(&kept.header) {
            "With --rpc-url alone this command signs the allowance along with the same payment \
             (EIP-2612), which costs no gas.\n"
        } else {
            ""
        };
        format!(
            "Not paid yet: {words}\n\
             Nothing moved, and the signed payment still holds; it is kept in {}.\n\
             {payer} must allow Permit2 to take its USDC on {}:\n\
             \n  contract  {}, the USDC of {}\n  call      approve({PERMIT2}, {})\n\n\
             {without_gas}With --approve and --rpc-url it grants it by a transaction, for a little {} \
             of gas. Any wallet can do it too; then run the same command again.\n",
            self.keep.shown(),
            name(*network),
            network.usdc(),
            name(*network),
            most.atomic(),
            coin(*network),
        )
    }

    async fn chain(&self, network: Network, purse: &Purse) -> Result<Option<Chain>, End> {
        let Some(address) = purse.node(network) else { return Ok(None) };
        let chain = Chain::open(self.client.clone(), address?, network, Arc::clone(&self.clock));
        chain.await.map(Some).map_err(|why| silent(&why))
    }
}

fn is_payer(purse: &Purse, kept: &Kept) -> Result<(), End> {
    if purse.wallet.address().to_string() == kept.payer {
        return Ok(());
    }
    Err(End::Unusable(format!(
        "The payment was signed by {}, and this key is another one's. Name the key of the payer.\n",
        kept.payer
    )))
}

fn silent(why: &str) -> End {
    End::Later(format!("The node cannot be asked: {why}. Nothing moved.\n"))
}
