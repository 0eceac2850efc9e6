//! The steps of a payment, from the challenge to its outcome. Nothing is signed twice.

use std::path::{Path, PathBuf};

use crate::card::CardFile;
use crate::io::{PayerIo, PayerResponse};
use crate::mpp::challenge::MppOffers;
use crate::options::{PaymentOptions, ServiceLocation};
use crate::outcome::PaymentOutcome;
use crate::payer_key::{MoneyKind, PayerKey};
use crate::pending::{PendingFile, PendingPayment};
use crate::report;
use crate::service::PaidService;
use crate::service::reply::{self, AcceptedPayment, PaymentReply, RefusalRemedy};
use crate::session::PaymentSession;
use crate::values::rail::PaymentRail;
use crate::x402::challenge::PaymentRequired;

/// Pays for a card. `locate` finds the service once the card and the options are known to
/// be usable; its error is a text for the person who pays.
pub async fn pay(
    options: &PaymentOptions,
    io: &dyn PayerIo,
    locate: impl FnOnce() -> Result<ServiceLocation, String>,
) -> PaymentOutcome {
    let (Ok(outcome) | Err(outcome)) = run(options, io, locate).await;
    outcome
}

async fn run(
    options: &PaymentOptions,
    io: &dyn PayerIo,
    locate: impl FnOnce() -> Result<ServiceLocation, String>,
) -> Result<PaymentOutcome, PaymentOutcome> {
    let card = CardFile::read(&options.body)?;
    check_options(options)?;
    let location = locate().map_err(PaymentOutcome::Unusable)?;
    let service = PaidService::at(io, &location.base_url, options.rail)?;
    let pending = PendingFile::at(options.keep.clone().unwrap_or_else(|| beside(&options.body)));
    let session = PaymentSession { options, io, card, location, service, pending };
    match session.pending.find(&session.card, &session.service.endpoint)? {
        Some(payment) => {
            io.print(&format!(
                "A payment of at most {} USDC on {} was signed earlier and its end is not known.\n\
                 The same one is sent again; no second one is signed.\n\n",
                payment.most,
                payment.network.name()
            ));
            session.finish(payment, None).await
        }
        None => session.begin().await,
    }
}

/// `card.json.payment` for `card.json`.
fn beside(body: &Path) -> PathBuf {
    let mut name = body.as_os_str().to_owned();
    name.push(".payment");
    PathBuf::from(name)
}

impl PaymentSession<'_> {
    /// From the challenge to a signed payment, and on.
    async fn begin(&self) -> Result<PaymentOutcome, PaymentOutcome> {
        let challenge = match self.request_challenge().await? {
            UnpaidReply::Due(_, MoneyKind::Sandbox) if self.options.key_file.is_some() => {
                return Err(PaymentOutcome::Refused(KEY_FOR_SANDBOX.to_owned()));
            }
            UnpaidReply::Due(challenge, MoneyKind::Sandbox | MoneyKind::Real) => challenge,
            UnpaidReply::Paid(accepted) => return Ok(self.paid(&accepted, None).await),
        };
        let (payment, payer_key) = match &challenge {
            ReceivedChallenge::X402(challenge) => {
                self.io.print(&report::x402_challenge(challenge));
                self.authorize_x402(challenge).await?
            }
            ReceivedChallenge::Mpp(challenge) => {
                self.io.print(&report::mpp_challenges(challenge));
                self.authorize_mpp(challenge).await?
            }
        };
        self.pending.put(&payment)?;
        self.finish(payment, Some(payer_key)).await
    }

    /// Sends the card without a payment.
    async fn request_challenge(&self) -> Result<UnpaidReply, PaymentOutcome> {
        let sent = self.service.send(self.io, &self.card, None).await;
        let response = sent.map_err(|reason| {
            PaymentOutcome::Later(format!(
                "{} does not answer ({reason}). Nothing was signed; try again later, or name the \
                 service with --base-url.\n",
                self.service.endpoint
            ))
        })?;
        if let Some(accepted) = reply::accepted(&response, self.service.rail) {
            return Ok(UnpaidReply::Paid(accepted));
        }
        if let Some(challenge) = ReceivedChallenge::read(&response, self.service.rail) {
            let money = challenge.money(&response);
            return Ok(UnpaidReply::Due(challenge, money));
        }
        let text = format!("No challenge: {}\nNothing was signed.\n", reply::words(&response));
        Err(match response.status {
            409 | 429 | 500..=599 => PaymentOutcome::Later(text),
            _ => PaymentOutcome::Refused(text),
        })
    }

    /// Sends a payment that is in the file, and removes it once its outcome is known. There
    /// is no key if the payment was signed earlier.
    async fn finish(
        &self,
        mut payment: PendingPayment,
        payer_key: Option<PayerKey>,
    ) -> Result<PaymentOutcome, PaymentOutcome> {
        let mut reply = self.send(&payment).await;
        // What is signed now had its permit if it needed one.
        if let (PaymentReply::NotAllowed(_), None) = (&reply, &payer_key)
            && let Some(permitted) = self.permitted(&payment).await?
        {
            self.pending.replace(&permitted)?;
            payment = permitted;
            reply = self.send(&payment).await;
        }
        if let (PaymentReply::NotAllowed(_), true) = (&reply, self.options.approve) {
            self.approve(&payment, payer_key).await?;
            reply = self.send(&payment).await;
        }
        match reply {
            PaymentReply::Accepted(accepted) => {
                self.pending.clear()?;
                Ok(self.paid(&accepted, Some(&payment)).await)
            }
            PaymentReply::Refused { words, remedy } => {
                self.pending.clear()?;
                Ok(PaymentOutcome::Refused(self.about_refusal(&payment, &words, remedy)))
            }
            PaymentReply::NotAllowed(words) => {
                Ok(PaymentOutcome::AllowanceNeeded(self.how_to_allow(&payment, &words)))
            }
            PaymentReply::Unknown(words) => {
                Ok(PaymentOutcome::Later(self.about_unknown_outcome(&payment, &words)))
            }
        }
    }

    async fn send(&self, payment: &PendingPayment) -> PaymentReply {
        let sent = self.service.send(self.io, &self.card, Some(&payment.header)).await;
        PaymentReply::of(sent, payment.rail)
    }

    /// A signature cannot be withdrawn, so a payment is not called void before its deadline.
    fn about_refusal(
        &self,
        payment: &PendingPayment,
        words: &str,
        remedy: RefusalRemedy,
    ) -> String {
        let end = match payment.deadline().map(|end| end.saturating_sub(self.io.now())) {
            Some(0) => "has run out".to_owned(),
            Some(seconds) => format!("runs out by itself in {seconds} seconds"),
            None => "runs out by itself within ten minutes".to_owned(),
        };
        let next = match remedy {
            RefusalRemedy::NewPayment => "The same command asks again and signs a new one.",
            RefusalRemedy::Change => "The same command will not help before that is changed.",
        };
        format!(
            "Not paid: {words}\nNothing moved. The service says that it will not use this payment, \
             which {end}. {next}\n"
        )
    }

    fn about_unknown_outcome(&self, payment: &PendingPayment, words: &str) -> String {
        let look = match &payment.order {
            Some(order) => format!("Look at the order: {}\n", self.service.order_url(order)),
            None => String::new(),
        };
        format!(
            "Whether this payment moved is not known: {words}\n\
             Do not sign another one. The same command again is safe: it sends the same payment, \
             which can be taken once only. It is kept in {} until then.\n{look}",
            self.pending.path_text()
        )
    }

    /// The outcome of a payment that was accepted, with the settlement and the order.
    async fn paid(
        &self,
        accepted: &AcceptedPayment,
        payment: Option<&PendingPayment>,
    ) -> PaymentOutcome {
        let mut text = match (&accepted.settlement, payment) {
            (Some(settlement), Some(payment)) => {
                format!("Paid.\n\n{}\n", report::settlement(settlement, payment))
            }
            (Some(_) | None, _) => "Paid for earlier; nothing was charged now.\n\n".to_owned(),
        };
        if let Some(record) = self.service.order(self.io, &accepted.order).await {
            text.push_str(&report::order(&record));
        } else {
            let order = &accepted.order;
            let url = self.service.order_url(order);
            text.push_str(&format!("Order {order}: {}\nFollow it: {url}\n", accepted.status));
        }
        if accepted.status == "submitted" {
            return PaymentOutcome::Paid(text);
        }
        text.push_str(
            "\nIt is not certain yet that the card is with the provider. You owe nothing more: do \
             not pay again, and look at the order later.\n",
        );
        PaymentOutcome::Owed(text)
    }
}

/// The reply to a card without a payment.
enum UnpaidReply {
    Due(ReceivedChallenge, MoneyKind),
    Paid(AcceptedPayment),
}

/// What the service asks for, by rail.
enum ReceivedChallenge {
    X402(PaymentRequired),
    Mpp(MppOffers),
}

impl ReceivedChallenge {
    /// What the service says of its money, in its header, its body or an offer.
    fn money(&self, response: &PayerResponse) -> MoneyKind {
        let body = response.json();
        let offers = match self {
            Self::X402(challenge) => challenge.offers(),
            Self::Mpp(_) => &[],
        };
        let offers = offers.iter().map(|offer| &offer["extra"]["mode"]);
        let mut modes = offers.chain([&body["mode"]]).filter_map(|mode| mode.as_str());
        if modes.any(|mode| mode == SANDBOX) || response.header("x-service-mode") == Some(SANDBOX) {
            MoneyKind::Sandbox
        } else {
            MoneyKind::Real
        }
    }

    fn read(response: &PayerResponse, rail: PaymentRail) -> Option<Self> {
        if response.status != 402 {
            return None;
        }
        let body = response.json();
        match rail {
            PaymentRail::X402 => {
                let header = response.header("payment-required")?;
                PaymentRequired::read(header, &body).map(Self::X402)
            }
            PaymentRail::Mpp => {
                let values = response.headers.get_all("www-authenticate").iter();
                let values = values.filter_map(|value| value.to_str().ok());
                MppOffers::read(values, &body).map(Self::Mpp)
            }
        }
    }
}

/// The mode that a service without real money names.
const SANDBOX: &str = "sandbox";

const KEY_FOR_SANDBOX: &str = "\
Nothing was signed: the service is a sandbox, whose offers name real contracts and chains. A
payment signed with a key of yours could be settled on the real chain by anyone who sees it.
Leave out --key-file and name the sandbox's own chain with --sandbox, whose faucet then pays.
";

/// MPP needs no allowance, so options for one are a mistake.
fn check_options(options: &PaymentOptions) -> Result<(), PaymentOutcome> {
    let approve = options.approve.then_some("--approve");
    let node = options.rpc_url.as_ref().map(|_| "--rpc-url");
    let idle: Vec<_> = [approve, node].into_iter().flatten().collect();
    match options.rail {
        PaymentRail::Mpp if !idle.is_empty() => Err(PaymentOutcome::Unusable(format!(
            "By MPP no allowance is needed, so there is nothing for {} to do. Leave it out, or pay \
             by x402.\n",
            idle.join(" and ")
        ))),
        PaymentRail::Mpp | PaymentRail::X402 => Ok(()),
    }
}
