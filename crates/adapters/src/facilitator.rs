//! A remote facilitator, which settles x402 payments and pays the gas.
//!
//! Its answers are trusted as little as possible: after any answer but a clear success or refusal
//! the payment is in doubt until the chain proves its state. Reading order: `supported`, which
//! accounts authorizations must name; `supported_file`, where the list is saved; `wire`, what is
//! asked; `reply`, what an answer means; `extension_responses`, what it says about its catalog;
//! `cdp_token`, how Coinbase wants to be asked.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::Timestamp;
use order::model::money::Usdc;
use order::model::payment::{Finality, Preparation};
use order::ports::{Clock, Failure, Moment};
use order::tender::{Rejection, Unsettled};
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::credential::Permit2Authorization;
use pay::x402::settler::{
    FacilitatorAddress, KnownAccount, Permit2Payment, Permit2Settler, Permit2Support, SignatureKind,
};
use pay::x402::signature::signature_kind;
use serde_json::Value;

mod cdp_token;
mod extension_responses;
mod reply;
mod supported;
mod supported_file;
#[cfg(test)]
mod tests;
mod wire;

pub use cdp_token::{CdpKey, CdpKeyError};
pub use supported::{SupportedList, SupportedReply};

use crate::http::{CallError, HttpCall, HttpClient, HttpResponse, HttpUrl};
use crate::payer_accounts::PayerAccounts;
use crate::permit2::x402_signature::SignatureCheck;
use crate::permit2::{self, Hints, SoughtPayment};
use crate::rpc::Node;
use crate::settlement::limits::{ContractWallets, SettlerLimits};
use crate::settlement::outcome_log::{log_doubt, logged_hash};
use crate::settlement::proof::ChainHeads;
use extension_responses::ExtensionLog;
use reply::SettleReply;
use supported::{RefreshDelay, SupportedCache};
use supported_file::SupportedFile;
use wire::{FacilitatorEndpoint, PEER};

/// How often our node is asked for a payment that the facilitator reports, and how long
/// apart: together about four seconds, two blocks of the slowest network.
const CONFIRMATION_LOOKS: u32 = 16;
const CONFIRMATION_PAUSE_MILLISECONDS: u64 = 250;
/// Coinbase's facilitator, which requires a [`CdpKey`].
pub const CDP: &str = "https://api.cdp.coinbase.com/platform/v2/x402";

pub struct FacilitatorSettings {
    /// The URL of which `/supported`, `/verify` and `/settle` are subpaths.
    pub base: HttpUrl,
    pub key: Option<CdpKey>,
    /// Nodes that prove the state of payments. On a network without a node the operator must
    /// check.
    pub nodes: BTreeMap<Network, Node>,
    pub deadlines: Deadlines,
}

/// How long each call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    pub question: Duration,
    pub settle: Duration,
    /// For the one repetition of a pending settlement.
    pub repeat: Duration,
}

impl Deadlines {
    /// Both settlements together end before the reconciler takes the order. A caller has 503 before
    /// the second one ends, and gets the order when it repeats the request.
    pub const DEFAULT: Self = Self {
        question: Duration::from_secs(10),
        settle: Duration::from_secs(45),
        repeat: Duration::from_secs(30),
    };
}

pub struct RemoteFacilitator {
    base: HttpUrl,
    key: Option<CdpKey>,
    nodes: BTreeMap<Network, Node>,
    accounts: BTreeMap<Network, PayerAccounts>,
    deadlines: Deadlines,
    client: HttpClient,
    clock: Arc<dyn Clock>,
    supported: SupportedCache,
    supported_file: Option<SupportedFile>,
    extensions: ExtensionLog,
}

impl RemoteFacilitator {
    /// It serves no network before the first valid list, unless an earlier one was saved; see
    /// [`keep_fresh`](Self::keep_fresh) and [`saving_in`](Self::saving_in).
    pub fn new(settings: FacilitatorSettings, client: HttpClient, clock: Arc<dyn Clock>) -> Self {
        let FacilitatorSettings { base, key, nodes, deadlines } = settings;
        let accounts = Network::ALL.map(|network| (network, PayerAccounts::new(clock.clone())));
        Self {
            base,
            key,
            nodes,
            accounts: accounts.into(),
            deadlines,
            client,
            clock,
            supported: SupportedCache::default(),
            supported_file: None,
            extensions: ExtensionLog::default(),
        }
    }

    /// Saves the last valid list in this folder, and starts with the saved one if it is of the
    /// same facilitator.
    #[must_use]
    pub fn saving_in(self, folder: &Path) -> Self {
        let file = SupportedFile::of(folder, &self.base);
        if let Some(list) = file.read() {
            self.supported.keep(&list);
        }
        Self { supported_file: Some(file), ..self }
    }

    /// Refreshes the list periodically, for a background task.
    pub async fn keep_fresh(&self) -> Infallible {
        let mut pause = RefreshDelay::default();
        loop {
            let seconds = pause.after(&self.refresh().await);
            self.clock.wait(seconds).await;
        }
    }

    /// Refreshes the list once. After a failure the last list remains.
    pub async fn refresh(&self) -> SupportedReply {
        let place = self.base.below(&["supported"]);
        let call = HttpCall::get(PEER, place.clone()).within(self.deadlines.question);
        let answer = match self.authorized(call, "GET", &place) {
            Ok(call) => self.client.send(call).await,
            Err(error) => Err(error),
        };
        let listed = supported::read(answer);
        match &listed {
            SupportedReply::Good(list) => {
                if let Some(known) = self.supported.keep(list) {
                    self.save(known).await;
                }
            }
            SupportedReply::Bad { .. } => {
                tracing::warn!(
                    place = PEER,
                    "The facilitator's list of supported networks could not be read"
                );
            }
        }
        listed
    }

    async fn save(&self, known: SupportedList) {
        if let Some(file) = self.supported_file.clone() {
            // A failure is logged there and is harmless now.
            let _ = tokio::task::spawn_blocking(move || file.write(&known)).await;
        }
    }

    async fn ask(
        &self,
        endpoint: FacilitatorEndpoint,
        body: &Value,
        within: Duration,
    ) -> Result<HttpResponse, CallError> {
        let place = self.base.below(&[endpoint.path()]);
        let call = HttpCall::post(PEER, place.clone(), body).within(within);
        let answer = self.client.send(self.authorized(call, "POST", &place)?).await?;
        self.extensions.note(&answer);
        Ok(answer)
    }

    /// Each request has its own token.
    fn authorized(
        &self,
        call: HttpCall,
        method: &str,
        place: &HttpUrl,
    ) -> Result<HttpCall, CallError> {
        match &self.key {
            None => Ok(call),
            Some(key) => Ok(call.authorized(key.bearer(method, place, self.clock.now())?)),
        }
    }

    async fn settle_once(
        &self,
        due: Permit2Payment<'_>,
        body: &Value,
        within: Duration,
    ) -> SettleReply {
        let answer = self.ask(FacilitatorEndpoint::Settle, body, within).await;
        reply::settled(answer, due.authorization, due.charge)
    }

    async fn outcome(
        &self,
        due: Permit2Payment<'_>,
        reply: SettleReply,
    ) -> Result<ConfirmedTransfer, Unsettled> {
        let network = due.authorization.network;
        let mut reported = None;
        let doubt = match reply {
            SettleReply::Moved(transaction) => {
                reported = logged_hash(&transaction);
                match self.confirmed(due, transaction).await {
                    Some(moved) => {
                        self.note_paid(due.authorization);
                        return Ok(moved);
                    }
                    None => {
                        "reported as settled, but our node does not show the payment".to_owned()
                    }
                }
            }
            SettleReply::Refused(why) => return Err(Unsettled::Refused(why)),
            SettleReply::NotReached(why) => return Err(Unsettled::Withdrawn(why)),
            SettleReply::Pending => "sent, but in no block before the timeout".to_owned(),
            SettleReply::Lost(why) => why,
        };
        tracing::warn!(
            %network,
            place = PEER,
            transaction = reported,
            "The outcome of a settlement is unknown"
        );
        Err(Unsettled::Lost(doubt))
    }

    /// A smart wallet that has paid has its own limit of signature checks.
    fn note_paid(&self, authorization: &Permit2Authorization) {
        if let Some(accounts) = self.accounts.get(&authorization.network)
            && signature_kind(authorization) == SignatureKind::Contract
        {
            accounts.paid(authorization.payer);
        }
    }

    /// The reported payment, confirmed by our own node, which may be some blocks behind the
    /// facilitator's. Without a node on this network the report is the only evidence.
    async fn confirmed(
        &self,
        due: Permit2Payment<'_>,
        transaction: String,
    ) -> Option<ConfirmedTransfer> {
        let Some(node) = self.nodes.get(&due.authorization.network) else {
            return Some(ConfirmedTransfer {
                transaction,
                at: self.clock.now(),
                finality: Finality::Final,
            });
        };
        let hints =
            Hints { since: wire::marked(due.preparation), reported: transaction.parse().ok() };
        for _ in 0..CONFIRMATION_LOOKS {
            let traced = permit2::trace(node, &SoughtPayment::of(due), hints).await;
            if let Ok(TransferStatus::Moved(moved)) = traced {
                return Some(moved);
            }
            // mutant: word-is-proof
            match self.clock.moment(CONFIRMATION_PAUSE_MILLISECONDS).await {
                Moment::Waited => {}
                Moment::PassedOver => return None,
            }
        }
        None
    }
}

#[async_trait]
impl Permit2Settler for RemoteFacilitator {
    fn support(&self, network: Network) -> Option<Permit2Support> {
        self.supported.support(network)
    }

    fn classify_facilitator(&self, network: Network, named: EvmAddress) -> FacilitatorAddress {
        self.supported.classify_facilitator(network, named)
    }

    fn known_account(&self, network: Network, payer: EvmAddress) -> KnownAccount {
        self.accounts.get(&network).map_or(KnownAccount::Unknown, |accounts| accounts.known(payer))
    }

    /// The facilitator checks the signature in either case. If no key of the payer made it, our
    /// own node is asked first, so that such requests cost the facilitator nothing.
    async fn verify(
        &self,
        authorization: &Permit2Authorization,
        signer: SignatureKind,
    ) -> Result<(), Rejection> {
        let accounts = self.accounts.get(&authorization.network).ok_or(Rejection::Unavailable)?;
        match (signer, self.nodes.get(&authorization.network)) {
            (SignatureKind::Key, _) => {}
            (SignatureKind::Contract, Some(node)) => {
                let contract_wallets = ContractWallets::Accepted;
                let gas_max = SettlerLimits::of(authorization.network).gas_max;
                let check = SignatureCheck { node, accounts, contract_wallets, gas_max };
                check.check(authorization).await?;
            }
            (SignatureKind::Contract, None) if accounts.may_ask(authorization.payer) => {}
            (SignatureKind::Contract, None) => return Err(Rejection::Unavailable),
        }
        let body = wire::request(authorization, authorization.most);
        let answer = self.ask(FacilitatorEndpoint::Verify, &body, self.deadlines.question).await;
        reply::verified(answer, authorization)
    }

    /// There is nothing to sign. The current final block is stored; it shortens the search for
    /// the payment.
    async fn prepare(
        &self,
        authorization: &Permit2Authorization,
        _charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        // The earlier block remains valid.
        if let Some(earlier) = earlier {
            return Ok(earlier.clone());
        }
        let Some(node) = self.nodes.get(&authorization.network) else {
            return Ok(Preparation::default());
        };
        match ChainHeads::of(node).await {
            Ok(heads) => Ok(wire::mark(heads.finalized.number)),
            Err(why) => {
                let network = authorization.network;
                tracing::warn!(%network, kind = %why, "A payment was refused because its state could not be traced");
                Err(Rejection::Unavailable)
            }
        }
    }

    async fn settle(&self, due: Permit2Payment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        if due.charge > due.authorization.most || due.charge.atomic() == 0 {
            return Err(Unsettled::Refused(
                "the amount is zero or exceeds the authorized amount".to_owned(),
            ));
        }
        let body = wire::request(due.authorization, due.charge);
        let reply = self.settle_once(due, &body, self.deadlines.settle).await;
        if reply != SettleReply::Pending {
            return self.outcome(due, reply).await;
        }
        // The same request again makes the facilitator check its transaction. It did send it,
        // whatever it answers then.
        let reply = self.settle_once(due, &body, self.deadlines.repeat).await;
        self.outcome(due, reply).await.map_err(|why| match why {
            Unsettled::Refused(why) | Unsettled::Withdrawn(why) | Unsettled::Lost(why) => {
                Unsettled::Lost(why)
            }
        })
    }

    async fn trace(
        &self,
        due: Permit2Payment<'_>,
        reported: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        let network = due.authorization.network;
        let Some(node) = self.nodes.get(&network) else {
            return trace_without_node(self.clock.now(), due.authorization.deadline);
        };
        let hash = reported.and_then(|hash| hash.parse().ok());
        let hints = Hints { since: wire::marked(due.preparation), reported: hash };
        let traced = permit2::trace(node, &SoughtPayment::of(due), hints).await;
        log_doubt(network, reported, traced)
    }
}

/// Without a node nothing is proved. Until the authorization expires the facilitator may be
/// called again; after that the operator must check the chain.
fn trace_without_node(now: Timestamp, deadline: u64) -> Result<TransferStatus, Failure> {
    if now.0 <= deadline {
        return Ok(TransferStatus::Open);
    }
    Err(Failure::Lost(
        "the authorization has expired, and without a node its state is unknown; check the \
         chain"
            .to_owned(),
    ))
}
