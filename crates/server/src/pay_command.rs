//! `pennyblack pay`: pays the challenge for one card, and signs nothing twice.
//!
//! Reading order: [`run`] and [`Visit`] here; `x402` and `mpp`, each with `challenge`
//! (what is asked, and what we refuse), `promise` or `transfer` (what is signed) and
//! `credential` (how it travels); `keep` (what is in doubt), `answer` (what became of
//! it); the rest are tools.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use adapters::clock::SystemClock;
use adapters::http::{Answer, Client, Reach};
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::ports::Clock;
use tokio::runtime::Builder;

use crate::cli::PayArguments;
use crate::console;

mod answer;
mod card;
mod chain;
mod consent;
mod end;
mod hex;
mod keep;
mod mpp;
mod place;
mod purse;
mod report;
mod shop;
mod transaction;
mod typed;
pub(crate) mod values;
mod wallet;
mod x402;

use answer::{Fate, Remedy, Taken};
use card::Card;
use end::End;
use keep::{Keep, Kept};
use place::Place;
use purse::{Money, Purse};
use shop::Shop;
use values::{Rail, name};

pub(crate) fn run(arguments: &PayArguments, config: Option<&Path>) -> ExitCode {
    let end = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            let (Ok(end) | Err(end)) = runtime.block_on(pay(arguments, config));
            end
        }
        Err(error) => End::Unusable(format!("Cannot start: {error}\n")),
    };
    end.tell()
}

async fn pay(arguments: &PayArguments, config: Option<&Path>) -> Result<End, End> {
    let card = Card::read(&arguments.body)?;
    fitting(arguments)?;
    let place = Place::find(arguments, config)?;
    let client = Client::new(Reach::Configured);
    let client = client.map_err(|error| End::Unusable(format!("{error}\n")))?;
    let shop = Shop::at(&place.base_url, arguments.rail, client.clone())?;
    let keep = Keep::at(arguments.keep.clone().unwrap_or_else(|| beside(&arguments.body)));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let visit = Visit { arguments, card, place, client, shop, keep, clock };
    match visit.keep.find(&visit.card, &visit.shop.endpoint)? {
        Some(kept) => {
            console::say(&format!(
                "A payment of at most {} USDC on {} was signed earlier and its end is not known.\n\
                 The same one is sent again; no second one is signed.\n\n",
                kept.most,
                name(kept.network)
            ));
            visit.finish(kept, None).await
        }
        None => visit.begin().await,
    }
}

/// `card.json.payment` for `card.json`.
fn beside(body: &Path) -> PathBuf {
    let mut name = body.as_os_str().to_owned();
    name.push(".payment");
    PathBuf::from(name)
}

/// One card at one service.
struct Visit<'a> {
    arguments: &'a PayArguments,
    card: Card,
    place: Place,
    client: Client,
    shop: Shop,
    keep: Keep,
    clock: Arc<dyn Clock>,
}

impl Visit<'_> {
    /// From the challenge to a signed payment, and on.
    async fn begin(&self) -> Result<End, End> {
        let bill = match self.ask().await? {
            Asked::Due(_, Money::OfSandbox) if self.arguments.key_file.is_some() => {
                return Err(End::Refused(OF_SANDBOX.to_owned()));
            }
            Asked::Due(bill, Money::OfSandbox | Money::Real) => bill,
            Asked::Paid(taken) => return Ok(self.goodbye(&taken, None).await),
        };
        let (kept, purse) = match &bill {
            Bill::X402(challenge) => {
                console::say(&report::promise_wanted(challenge));
                self.promise(challenge).await?
            }
            Bill::Mpp(challenge) => {
                console::say(&report::transfer_wanted(challenge));
                self.transfer(challenge).await?
            }
        };
        self.keep.put(&kept)?;
        self.finish(kept, Some(purse)).await
    }

    /// Sends the card without a payment.
    async fn ask(&self) -> Result<Asked, End> {
        let answer = self.shop.send(&self.card, None).await.map_err(|silence| {
            End::Later(format!(
                "{} does not answer ({silence}). Nothing was signed; try again later, or name the \
                 service with --base-url.\n",
                self.shop.endpoint
            ))
        })?;
        if let Some(taken) = answer::taken(&answer, self.shop.rail) {
            return Ok(Asked::Paid(taken));
        }
        if let Some(bill) = Bill::read(&answer, self.shop.rail) {
            let money = bill.money(&answer);
            return Ok(Asked::Due(bill, money));
        }
        let words = format!("No challenge: {}\nNothing was signed.\n", answer::words(&answer));
        Err(match answer.status {
            409 | 429 | 500..=599 => End::Later(words),
            _ => End::Refused(words),
        })
    }

    /// The last words before the key is used.
    fn announce(&self, purse: &Purse, network: Network, most: Usdc, to: EvmAddress, seconds: u64) {
        console::say(&format!(
            "Signing as {} on {}: at most {most} USDC to {to}, within {seconds} seconds.\n\n",
            purse.wallet.address(),
            name(network),
        ));
    }

    /// What was signed, with what it was signed for.
    fn kept(
        &self,
        order: Option<String>,
        network: Network,
        most: Usdc,
        purse: &Purse,
        header: String,
    ) -> Kept {
        Kept {
            rail: self.shop.rail,
            endpoint: self.shop.endpoint.clone(),
            card: self.card.digest(),
            order,
            network,
            most,
            payer: purse.wallet.address().to_string(),
            header,
        }
    }

    /// Sends a payment that is on disk, and removes it once its end is known. It comes
    /// without a purse if it was signed earlier.
    async fn finish(&self, mut kept: Kept, purse: Option<Purse>) -> Result<End, End> {
        let mut fate = self.send(&kept).await;
        // What is signed now had its permit if it needed one.
        if let (Fate::NotAllowed(_), None) = (&fate, &purse)
            && let Some(permitted) = self.permitted(&kept).await?
        {
            self.keep.replace(&permitted)?;
            kept = permitted;
            fate = self.send(&kept).await;
        }
        if let (Fate::NotAllowed(_), true) = (&fate, self.arguments.approve) {
            self.approve(&kept, purse).await?;
            fate = self.send(&kept).await;
        }
        match fate {
            Fate::Taken(taken) => {
                self.keep.clear()?;
                Ok(self.goodbye(&taken, Some(&kept)).await)
            }
            Fate::Refused { words, remedy } => {
                self.keep.clear()?;
                Ok(End::Refused(self.about_refusal(&kept, &words, remedy)))
            }
            Fate::NotAllowed(words) => Ok(End::AllowanceNeeded(self.how_to_allow(&kept, &words))),
            Fate::Doubtful(words) => Ok(End::Later(self.about_doubt(&kept, &words))),
        }
    }

    async fn send(&self, kept: &Kept) -> Fate {
        Fate::of(self.shop.send(&self.card, Some(&kept.header)).await, kept.rail)
    }

    /// A signature cannot be taken back, so nothing is called void before its time is up.
    fn about_refusal(&self, kept: &Kept, words: &str, remedy: Remedy) -> String {
        let end = match kept.deadline().map(|end| end.saturating_sub(self.clock.now().0)) {
            Some(0) => "has run out".to_owned(),
            Some(seconds) => format!("runs out by itself in {seconds} seconds"),
            None => "runs out by itself within ten minutes".to_owned(),
        };
        let next = match remedy {
            Remedy::NewPayment => "The same command asks again and signs a new one.",
            Remedy::Change => "The same command will not help before that is changed.",
        };
        format!(
            "Not paid: {words}\nNothing moved. The service says that it will not use this payment, \
             which {end}. {next}\n"
        )
    }

    fn about_doubt(&self, kept: &Kept, words: &str) -> String {
        let look = match &kept.order {
            Some(order) => format!("Look at the order: {}\n", self.shop.order_url(order)),
            None => String::new(),
        };
        format!(
            "Whether this payment moved is not known: {words}\n\
             Do not sign another one. The same command again is safe: it sends the same payment, \
             which can be taken once only. It is kept in {} until then.\n{look}",
            self.keep.shown()
        )
    }

    /// The good end, with the settlement and the order.
    async fn goodbye(&self, taken: &Taken, kept: Option<&Kept>) -> End {
        let mut words = match (&taken.settlement, kept) {
            (Some(settlement), Some(kept)) => {
                format!("Paid.\n\n{}\n", report::settlement(settlement, kept))
            }
            (Some(_) | None, _) => "Paid for earlier; nothing was charged now.\n\n".to_owned(),
        };
        if let Some(record) = self.shop.order(&taken.order).await {
            words.push_str(&report::order(&record));
        } else {
            let order = &taken.order;
            let url = self.shop.order_url(order);
            words.push_str(&format!("Order {order}: {}\nFollow it: {url}\n", taken.status));
        }
        if taken.status == "submitted" {
            return End::Paid(words);
        }
        words.push_str(
            "\nIt is not certain yet that the card is with the provider. You owe nothing more: do \
             not pay again, and look at the order later.\n",
        );
        End::Owed(words)
    }
}

/// What an unpaid request brought.
enum Asked {
    Due(Bill, Money),
    Paid(Taken),
}

/// A challenge, in the words of its rail.
enum Bill {
    X402(x402::challenge::Challenge),
    Mpp(mpp::challenge::Challenge),
}

impl Bill {
    /// What the service says of its money, in its header, its body or an offer.
    fn money(&self, answer: &Answer) -> Money {
        let body: serde_json::Value = answer.body_as().unwrap_or_default();
        let offers = match self {
            Self::X402(challenge) => challenge.offers(),
            Self::Mpp(_) => &[],
        };
        let offers = offers.iter().map(|offer| &offer["extra"]["mode"]);
        let mut said = offers.chain([&body["mode"]]).filter_map(|mode| mode.as_str());
        if said.any(|mode| mode == SANDBOX) || answer.header("x-service-mode") == Some(SANDBOX) {
            Money::OfSandbox
        } else {
            Money::Real
        }
    }

    fn read(answer: &Answer, rail: Rail) -> Option<Self> {
        if answer.status != 402 {
            return None;
        }
        let body = answer.body_as().unwrap_or_default();
        match rail {
            Rail::X402 => {
                let header = answer.header("payment-required")?;
                x402::challenge::Challenge::read(header, &body).map(Self::X402)
            }
            Rail::Mpp => {
                let values = answer.headers.get_all("www-authenticate").iter();
                let values = values.filter_map(|value| value.to_str().ok());
                mpp::challenge::Challenge::read(values, &body).map(Self::Mpp)
            }
        }
    }
}

/// How a service that takes no real money names itself.
const SANDBOX: &str = "sandbox";

const OF_SANDBOX: &str = "\
Nothing was signed: the service is a sandbox, whose offers name real contracts and chains. A
payment signed with a key of yours could be settled on the real chain by anyone who sees it.
Leave out --key-file and name the sandbox's own chain with --sandbox, whose faucet then pays.
";

/// What allowances are for is not there to be had by MPP.
fn fitting(arguments: &PayArguments) -> Result<(), End> {
    let approve = arguments.approve.then_some("--approve");
    let node = arguments.rpc_url.as_ref().map(|_| "--rpc-url");
    let idle: Vec<_> = [approve, node].into_iter().flatten().collect();
    match arguments.rail {
        Rail::Mpp if !idle.is_empty() => Err(End::Unusable(format!(
            "By MPP no allowance is needed, so there is nothing for {} to do. Leave it out, or pay \
             by x402.\n",
            idle.join(" and ")
        ))),
        Rail::Mpp | Rail::X402 => Ok(()),
    }
}

fn refusal(objections: &[String]) -> End {
    let list: String = objections.iter().map(|one| format!("  {}\n", report::plain(one))).collect();
    End::Refused(format!("Nothing was signed, because\n{list}"))
}
