//! The allowance that Permit2 needs: signed along, granted, or explained.

use evm::contracts::PERMIT2;
use evm::word::Word;

use super::challenge::{PaymentRequired, SelectedOffer};
use super::credential::{self, Permit2Allowance};
use super::node::{AllowanceLevel, PayerNode};
use crate::outcome::PaymentOutcome;
use crate::payer_key::PayerKey;
use crate::pending::PendingPayment;
use crate::session::PaymentSession;
use crate::values::account::EvmAccount;
use crate::values::amount::UsdcAmount;
use crate::values::network::PaymentNetwork;

impl PaymentSession<'_> {
    /// The nonce for a permit: where the service offers to submit one, a node is known, and
    /// Permit2 may not take enough yet.
    pub(crate) async fn permit_nonce(
        &self,
        challenge: &PaymentRequired,
        offer: &SelectedOffer,
        payer_key: &PayerKey,
    ) -> Result<Option<Word>, PaymentOutcome> {
        if challenge.extension(credential::SPONSORING).is_none() {
            return Ok(None);
        }
        self.missing_permit(offer.network, offer.most, payer_key).await
    }

    async fn missing_permit(
        &self,
        network: PaymentNetwork,
        most: UsdcAmount,
        payer_key: &PayerKey,
    ) -> Result<Option<Word>, PaymentOutcome> {
        let Some(node) = self.node(network, payer_key).await? else { return Ok(None) };
        let payer = payer_key.address();
        match node.allows(payer, most).await.map_err(|why| silent(&why))? {
            AllowanceLevel::Enough => Ok(None),
            AllowanceLevel::TooSmall => {
                self.io.print(
                    "Permit2 may not take enough yet; the service brings a signed permit to the \
                     chain, which costs you no gas.\n",
                );
                node.permits(payer).await.map(Some).map_err(|why| silent(&why))
            }
        }
    }

    /// The same authorization as was refused for lack of an allowance, with a permit beside it:
    /// where the service offers to submit one, there is none yet and a node is named.
    pub(crate) async fn permitted(
        &self,
        payment: &PendingPayment,
    ) -> Result<Option<PendingPayment>, PaymentOutcome> {
        if self.options.rpc_url.is_none() || !credential::lacks_permit(&payment.header) {
            return Ok(None);
        }
        let Some(deadline) = payment.deadline() else { return Ok(None) };
        let payer_key = self.open_key().await?;
        is_payer(&payer_key, payment)?;
        let &PendingPayment { network, most, .. } = payment;
        let Some(nonce) = self.missing_permit(network, most, &payer_key).await? else {
            return Ok(None);
        };
        self.obtain_consent(&payer_key, most, network)?;
        let permit = Permit2Allowance { network, most, nonce, deadline };
        let header = credential::with_permit(&payment.header, &permit, &payer_key.key);
        Ok(header.map(|header| PendingPayment { header, ..payment.clone() }))
    }

    /// Grants what this payment needs, and no more.
    pub(crate) async fn approve(
        &self,
        payment: &PendingPayment,
        payer_key: Option<PayerKey>,
    ) -> Result<(), PaymentOutcome> {
        let payer_key = match payer_key {
            Some(payer_key) => payer_key,
            None => self.open_key().await?,
        };
        is_payer(&payer_key, payment)?;
        let Some(node) = self.node(payment.network, &payer_key).await? else {
            return Err(PaymentOutcome::AllowanceNeeded(
                self.how_to_allow(payment, "to approve, a node is needed; name one with --rpc-url"),
            ));
        };
        self.io.print(&format!(
            "Permit2 may not take your USDC on {} yet: allowing it {} USDC.\n",
            payment.network.name(),
            payment.most
        ));
        let hash = node.approve(&payer_key.key, payment.most).await.map_err(|why| {
            PaymentOutcome::AllowanceNeeded(
                self.how_to_allow(payment, &format!("approving failed, {why}")),
            )
        })?;
        self.io.print(&format!("Allowed by {hash}. Sending the same payment again.\n\n"));
        Ok(())
    }

    pub(crate) fn how_to_allow(&self, payment: &PendingPayment, words: &str) -> String {
        let PendingPayment { network, most, payer, .. } = payment;
        let without_gas = if credential::lacks_permit(&payment.header) {
            "With --rpc-url alone this command signs the allowance along with the same payment \
             (EIP-2612), which costs no gas.\n"
        } else {
            ""
        };
        format!(
            "Not paid yet: {words}\n\
             Nothing moved, and the signed payment still holds; it is kept in {}.\n\
             {payer} must allow Permit2 to take its USDC on {}:\n\
             \n  contract  {}, the USDC of {}\n  call      approve({}, {})\n\n\
             {without_gas}With --approve and --rpc-url it grants it by a transaction, for a little {} \
             of gas. Any wallet can do it too; then run the same command again.\n",
            self.pending.path_text(),
            network.name(),
            network.usdc(),
            network.name(),
            EvmAccount(PERMIT2),
            most.atomic(),
            network.coin(),
        )
    }

    async fn node(
        &self,
        network: PaymentNetwork,
        payer_key: &PayerKey,
    ) -> Result<Option<PayerNode<'_>>, PaymentOutcome> {
        let Some(url) = payer_key.nodes.get(&network) else { return Ok(None) };
        self.io.check_url(url).map_err(|fault| {
            PaymentOutcome::Unusable(format!("The node's address cannot be used. {fault}\n"))
        })?;
        let node = PayerNode::open(self.io, url.clone(), network);
        node.await.map(Some).map_err(|why| silent(&why))
    }
}

fn is_payer(payer_key: &PayerKey, payment: &PendingPayment) -> Result<(), PaymentOutcome> {
    if payer_key.address().to_string() == payment.payer {
        return Ok(());
    }
    Err(PaymentOutcome::Unusable(format!(
        "The payment was signed by {}, and this key is another one's. Name the key of the payer.\n",
        payment.payer
    )))
}

fn silent(why: &str) -> PaymentOutcome {
    PaymentOutcome::Later(format!("The node cannot be asked: {why}. Nothing moved.\n"))
}
