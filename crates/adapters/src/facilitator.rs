//! A facilitator elsewhere, which carries x402's promises to a chain and pays the gas.
//!
//! It is asked over HTTP and believed as little as possible: an answer that is
//! not plainly good leaves the money in doubt, and only the chain ends a doubt.
//! Reading order: `supported`, whom promises must name; `saved`, the file for it; `wire`, what is asked;
//! `verdict`, what an answer means; `token`, how Coinbase wants to be asked.

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
use pay::movement::{Moved, Movement};
use pay::x402::credential::Promise;
use pay::x402::facilitator::{Carrier, Due, Facilitator, Service, Signer};
use serde_json::Value;

mod saved;
mod supported;
#[cfg(test)]
mod tests;
mod token;
mod verdict;
mod wire;

pub use supported::{List, Listed};
pub use token::{CdpKey, NotAKey};

use crate::http::{Address, Answer, Call, Client, Silence};
use crate::nonce::Horizon;
use crate::permit2::{self, Hints, Sought};
use crate::rpc::Node;
use saved::ListFile;
use supported::{Memory, Pause};
use verdict::Said;

const PEER: &str = "the facilitator";
/// How often our node is asked for a payment that the facilitator reports, and how long
/// apart: together about four seconds, two blocks of the slowest network.
const CONFIRMATION_LOOKS: u32 = 16;
const CONFIRMATION_PAUSE_MILLISECONDS: u64 = 250;
/// Coinbase's own, which wants a [`CdpKey`].
pub const CDP: &str = "https://api.cdp.coinbase.com/platform/v2/x402";

pub struct Settings {
    /// The place that `/supported`, `/verify` and `/settle` are below.
    pub base: Address,
    pub key: Option<CdpKey>,
    /// Where doubts are resolved. On a network without a node a person must.
    pub nodes: BTreeMap<Network, Node>,
    pub deadlines: Deadlines,
}

/// How long each call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    pub question: Duration,
    pub settle: Duration,
    /// For the one repetition of a settlement that was said to be pending.
    pub repeat: Duration,
}

impl Deadlines {
    /// Both settlements together end before official clients give up, after 90
    /// seconds, and long before anybody else looks into the walk.
    pub const DEFAULT: Self = Self {
        question: Duration::from_secs(10),
        settle: Duration::from_secs(45),
        repeat: Duration::from_secs(30),
    };
}

pub struct RemoteFacilitator {
    base: Address,
    key: Option<CdpKey>,
    nodes: BTreeMap<Network, Node>,
    deadlines: Deadlines,
    client: Client,
    clock: Arc<dyn Clock>,
    memory: Memory,
    list_file: Option<ListFile>,
}

/// Which door of the facilitator is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    Verify,
    Settle,
}

impl Door {
    const fn path(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::Settle => "settle",
        }
    }
}

impl RemoteFacilitator {
    /// It serves no network before the first good answer, unless an earlier one was saved; see
    /// [`keep_fresh`](Self::keep_fresh) and [`saving_in`](Self::saving_in).
    pub fn new(settings: Settings, client: Client, clock: Arc<dyn Clock>) -> Self {
        let Settings { base, key, nodes, deadlines } = settings;
        let (memory, list_file) = (Memory::default(), None);
        Self { base, key, nodes, deadlines, client, clock, memory, list_file }
    }

    /// Keeps the last good list in this folder, and begins with the one that is there, if the
    /// same facilitator gave it.
    #[must_use]
    pub fn saving_in(self, folder: &Path) -> Self {
        let file = ListFile::of(folder, &self.base);
        if let Some(list) = file.read() {
            self.memory.keep(&list);
        }
        Self { list_file: Some(file), ..self }
    }

    /// Asks what is served, now and for ever, in the background of everything else.
    pub async fn keep_fresh(&self) -> Infallible {
        let mut pause = Pause::default();
        loop {
            let seconds = pause.after(&self.refresh().await);
            self.clock.wait(seconds).await;
        }
    }

    /// Asks once what is served. Until there is a good answer, the last one holds.
    pub async fn refresh(&self) -> Listed {
        let place = self.base.below(&["supported"]);
        let call = Call::get(PEER, place.clone()).within(self.deadlines.question);
        let answer = match self.authorized(call, "GET", &place) {
            Ok(call) => self.client.send(call).await,
            Err(silence) => Err(silence),
        };
        let listed = supported::read(answer);
        match &listed {
            Listed::Good(list) => {
                if let Some(known) = self.memory.keep(list) {
                    self.save(known).await;
                }
            }
            Listed::Bad { .. } => {
                tracing::warn!(place = PEER, "Nobody says what the facilitator serves");
            }
        }
        listed
    }

    async fn save(&self, known: List) {
        if let Some(file) = self.list_file.clone() {
            // The file says itself what went wrong; a list that is not saved is no harm now.
            let _ = tokio::task::spawn_blocking(move || file.write(&known)).await;
        }
    }

    async fn ask(&self, door: Door, body: &Value, within: Duration) -> Result<Answer, Silence> {
        let place = self.base.below(&[door.path()]);
        let call = Call::post(PEER, place.clone(), body).within(within);
        self.client.send(self.authorized(call, "POST", &place)?).await
    }

    /// Every door and every minute has a token of its own.
    fn authorized(&self, call: Call, method: &str, place: &Address) -> Result<Call, Silence> {
        match &self.key {
            None => Ok(call),
            Some(key) => Ok(call.authorized(key.bearer(method, place, self.clock.now())?)),
        }
    }

    async fn settle_once(&self, due: Due<'_>, body: &Value, within: Duration) -> Said {
        let answer = self.ask(Door::Settle, body, within).await;
        verdict::settled(answer, due.promise, due.charge)
    }

    async fn outcome(&self, due: Due<'_>, said: Said) -> Result<Moved, Unsettled> {
        let network = due.promise.network;
        let doubt = match said {
            Said::Moved(transaction) => match self.confirmed(due, transaction).await {
                Some(moved) => return Ok(moved),
                None => "called settled, and our node does not show the payment".to_owned(),
            },
            Said::Refused(why) => return Err(Unsettled::Refused(why)),
            Said::Pending => "sent, and in no block in time".to_owned(),
            Said::Lost(why) => why,
        };
        tracing::warn!(%network, place = PEER, "A settlement is in doubt");
        Err(Unsettled::Lost(doubt))
    }

    /// The payment that the facilitator reports, as our own node shows it: the node may be
    /// some blocks behind the facilitator's. Without a node on this network the report is
    /// all the evidence there will be.
    async fn confirmed(&self, due: Due<'_>, transaction: String) -> Option<Moved> {
        let Some(node) = self.nodes.get(&due.promise.network) else {
            return Some(Moved { transaction, at: self.clock.now(), finality: Finality::Final });
        };
        let hints = Hints { since: wire::marked(due.preparation), told: transaction.parse().ok() };
        for _ in 0..CONFIRMATION_LOOKS {
            let traced = permit2::trace(node, &Sought::of(due), hints).await;
            if let Ok(Movement::Moved(moved)) = traced {
                return Some(moved);
            }
            match self.clock.moment(CONFIRMATION_PAUSE_MILLISECONDS).await {
                Moment::Waited => {}
                Moment::PassedOver => return None,
            }
        }
        None
    }
}

#[async_trait]
impl Facilitator for RemoteFacilitator {
    fn service(&self, network: Network) -> Option<Service> {
        self.memory.service(network)
    }

    fn carrier(&self, network: Network, named: EvmAddress) -> Carrier {
        self.memory.carrier(network, named)
    }

    /// Whoever signed: the facilitator asks the chain in either case.
    async fn verify(&self, promise: &Promise, _signer: Signer) -> Result<(), Rejection> {
        let body = wire::request(promise, promise.most);
        let answer = self.ask(Door::Verify, &body, self.deadlines.question).await;
        verdict::verified(answer, promise)
    }

    /// There is nothing to sign. What is written down makes a search shorter: the
    /// block that is final now, before which the money cannot move.
    async fn prepare(
        &self,
        promise: &Promise,
        _charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        // Nothing of now can say where the money was before.
        if let Some(earlier) = earlier {
            return Ok(earlier.clone());
        }
        let Some(node) = self.nodes.get(&promise.network) else {
            return Ok(Preparation::default());
        };
        match Horizon::of(node).await {
            Ok(horizon) => Ok(wire::mark(horizon.finalized.number)),
            Err(why) => {
                let network = promise.network;
                tracing::warn!(%network, kind = %why, "No payment is begun that nobody could trace");
                Err(Rejection::Unavailable)
            }
        }
    }

    async fn settle(&self, due: Due<'_>) -> Result<Moved, Unsettled> {
        if due.charge > due.promise.most || due.charge.atomic() == 0 {
            return Err(Unsettled::Refused("nobody promised to pay such an amount".to_owned()));
        }
        let body = wire::request(due.promise, due.charge);
        let said = self.settle_once(due, &body, self.deadlines.settle).await;
        if said != Said::Pending {
            return self.outcome(due, said).await;
        }
        // The same request again makes a facilitator look after what it sent.
        // Whatever it says then, it did send it.
        let said = self.settle_once(due, &body, self.deadlines.repeat).await;
        self.outcome(due, said).await.map_err(|why| match why {
            Unsettled::Refused(why) | Unsettled::Withdrawn(why) | Unsettled::Lost(why) => {
                Unsettled::Lost(why)
            }
        })
    }

    async fn trace(&self, due: Due<'_>, told: Option<&str>) -> Result<Movement, Failure> {
        let network = due.promise.network;
        let Some(node) = self.nodes.get(&network) else {
            return blind(self.clock.now(), due.promise.deadline);
        };
        let told = told.and_then(|hash| hash.parse().ok());
        let hints = Hints { since: wire::marked(due.preparation), told };
        let traced = permit2::trace(node, &Sought::of(due), hints).await;
        traced.map_err(|doubt| doubt.told(network))
    }
}

/// Without a node nothing can be concluded. Until the promise runs out the
/// facilitator may be asked again; after that a person looks at the chain.
fn blind(now: Timestamp, deadline: u64) -> Result<Movement, Failure> {
    if now.0 <= deadline {
        return Ok(Movement::Open);
    }
    Err(Failure::Lost(
        "the promise has run out, and without a node nobody knows whether it was used; look at \
         the chain"
            .to_owned(),
    ))
}
