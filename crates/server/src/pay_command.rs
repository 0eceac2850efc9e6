//! `pennyblack pay`: pays an x402 challenge for one card, and signs nothing twice.
//!
//! Reading order: [`run`] and [`Visit`] here; `challenge` (what is asked, and what
//! we refuse), `promise` and `credential` (what is signed), `keep` (what is in
//! doubt), `answer` (what became of it); the rest are tools.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use adapters::clock::SystemClock;
use adapters::http::{Client, Reach};
use order::ports::Clock;
use tokio::runtime::Builder;

use crate::cli::PayArguments;
use crate::console;

mod allowance;
mod answer;
mod card;
mod chain;
mod challenge;
mod consent;
mod credential;
mod end;
mod hex;
mod keep;
mod place;
mod promise;
mod purse;
mod report;
mod shop;
mod transaction;
pub(crate) mod values;
mod wallet;

use answer::{Fate, Taken};
use card::Card;
use challenge::{Challenge, Limits, Terms};
use credential::Particulars;
use end::End;
use keep::{Keep, Kept};
use place::Place;
use purse::Purse;
use shop::Shop;
use values::name;

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
    let place = Place::find(arguments, config)?;
    let client = Client::new(Reach::Configured);
    let client = client.map_err(|error| End::Unusable(format!("{error}\n")))?;
    let shop = Shop::at(&place.base_url, client.clone())?;
    let keep = Keep::at(arguments.keep.clone().unwrap_or_else(|| beside(&arguments.body)));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let visit = Visit { arguments, card, place, client, shop, keep, clock };
    match visit.keep.find(&visit.card, &visit.shop.endpoint)? {
        Some(kept) => {
            console::say(&format!(
                "A payment of at most {} USDC on {} was signed earlier and its end is not known.\n\
                 The same one is sent again; nothing new is signed.\n\n",
                kept.most,
                name(kept.network)
            ));
            visit.finish(&kept).await
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
        let challenge = match self.ask().await? {
            Asked::Due(challenge) => challenge,
            Asked::Paid(taken) => return Ok(self.goodbye(&taken, None).await),
        };
        console::say(&report::challenge(&challenge));
        let limits = Limits { most: self.arguments.max, network: self.arguments.network };
        let terms = challenge.choose(&limits).map_err(|objections| refusal(&objections))?;
        let purse = Purse::open(self.arguments, &self.place, &self.client).await?;
        consent::obtain(self.arguments, &purse, &terms)?;
        let kept = self.sign(&challenge, &terms, &purse).await?;
        self.keep.put(&kept)?;
        self.finish_with(&kept, Some(purse)).await
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
        if let Some(taken) = answer::taken(&answer) {
            return Ok(Asked::Paid(taken));
        }
        let body = answer.body_as().unwrap_or_default();
        let header = answer.header("payment-required").filter(|_| answer.status == 402);
        if let Some(challenge) = header.and_then(|header| Challenge::read(header, &body)) {
            return Ok(Asked::Due(challenge));
        }
        let words = format!("No challenge: {}\nNothing was signed.\n", answer::words(&answer));
        Err(match answer.status {
            409 | 429 | 500..=599 => End::Later(words),
            _ => End::Refused(words),
        })
    }

    async fn sign(&self, challenge: &Challenge, terms: &Terms, purse: &Purse) -> Result<Kept, End> {
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce).map_err(|error| {
            End::Unusable(format!("No randomness, so nothing was signed: {error}.\n"))
        })?;
        let particulars = Particulars {
            nonce,
            deadline: self.clock.now().0.saturating_add(terms.seconds),
            identifier: self.identifier(challenge),
            permit_nonce: self.permit_nonce(challenge, terms, purse).await?,
        };
        let payer = purse.wallet.address().to_string();
        console::say(&format!(
            "Signing as {payer} on {}: at most {} USDC to {}, within {} seconds.\n\n",
            name(terms.network),
            terms.most,
            terms.pay_to,
            terms.seconds
        ));
        Ok(Kept {
            endpoint: self.shop.endpoint.clone(),
            card: self.card.digest(),
            order: challenge.order.clone(),
            network: terms.network,
            most: terms.most,
            payer,
            header: credential::sign(challenge, terms, &purse.wallet, &particulars),
        })
    }

    /// An identifier makes an operation of its own, so the payment has one only
    /// if the card has it too, or if the service insists; then it follows from
    /// the order and is the same at every attempt.
    fn identifier(&self, challenge: &Challenge) -> Option<String> {
        let offered = challenge.extension(credential::IDENTIFIER)?;
        if let Some(own) = &self.card.operation_id {
            return Some(own.clone());
        }
        let order = challenge.order.as_ref().filter(|_| offered["info"]["required"] == true);
        order.map(|order| format!("pay_{order}"))
    }

    async fn finish(&self, kept: &Kept) -> Result<End, End> {
        self.finish_with(kept, None).await
    }

    /// Sends a payment that is on disk, and removes it once its end is known.
    async fn finish_with(&self, kept: &Kept, purse: Option<Purse>) -> Result<End, End> {
        let mut fate = Fate::of(self.shop.send(&self.card, Some(&kept.header)).await);
        if let (Fate::NotAllowed(_), true) = (&fate, self.arguments.approve) {
            self.approve(kept, purse).await?;
            fate = Fate::of(self.shop.send(&self.card, Some(&kept.header)).await);
        }
        match fate {
            Fate::Taken(taken) => {
                self.keep.clear()?;
                Ok(self.goodbye(&taken, Some(kept)).await)
            }
            Fate::Void(words) => {
                self.keep.clear()?;
                Ok(End::Refused(format!(
                    "Not paid: {words}\nNothing moved, and the signed payment is void. The same \
                     command asks again and signs a new one.\n"
                )))
            }
            Fate::NotAllowed(words) => Ok(End::AllowanceNeeded(self.how_to_allow(kept, &words))),
            Fate::Doubtful(words) => Ok(End::Later(self.about_doubt(kept, &words))),
        }
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
                format!("Paid.\n\n{}\n", report::settlement(settlement, kept.most))
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
    Due(Challenge),
    Paid(Taken),
}

fn refusal(objections: &[String]) -> End {
    let list: String = objections.iter().map(|one| format!("  {}\n", report::plain(one))).collect();
    End::Refused(format!("Nothing was signed, because\n{list}"))
}
