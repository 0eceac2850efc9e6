//! A simulated payer of one card, who may hang up, sign twice or reuse a foreign credential.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use super::report::SimulationCount;
use super::scenario::Scenario;
use crate::checkout::Request;
use crate::model::payment::{Credential, TenderKind};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::testing::fakes::cards::card;
use crate::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};

/// How often a payer tries before giving up.
const TRIES: u64 = 14;
/// How long a payer waits for an answer, in milliseconds.
const PATIENCE: u64 = 45_000;

/// The response as the payer acts on it.
enum Reply {
    /// Pay, or pay again.
    Invited,
    Paid,
    /// Wait, and ask again.
    Wait,
    /// Never with this identifier.
    Never,
    Nothing,
}

/// Whether a payer sends an operation identifier.
#[derive(Clone, Copy)]
enum Identifier {
    No,
    Yes,
}

/// Runs one payer to the end.
pub(super) async fn run(scenario: &Arc<Scenario>, number: u64) {
    let rail = scenario.random(|rng| rng.pick(&[TenderKind::X402, TenderKind::Mpp]));
    let named = scenario.random(|rng| rng.pick(&[Identifier::No, Identifier::No, Identifier::Yes]));
    let mut signed: Option<Credential> = None;
    for _ in 0..scenario.random(|rng| rng.between(2, TRIES)) {
        let pause = scenario.random(|rng| rng.between(10, 4_000));
        scenario.executor.sleep(pause).await;
        // A concurrent request for the same card.
        if signed.is_some() && scenario.random(|rng| rng.happens(150)) {
            let other = scenario.random(|rng| rng.happens(500)).then(|| sign(scenario));
            let manner = if other.is_some() { "signs again at once" } else { "repeats at once" };
            let credential = other.or_else(|| signed.clone());
            drop(ask(scenario, number, named, rail, credential, manner));
        }
        if scenario.random(|rng| rng.happens(60)) {
            let stolen = stolen_credential(scenario);
            drop(ask(scenario, number, named, rail, stolen, "uses any signed payment"));
        }
        // Sometimes the same card is paid with the other tender.
        let (here, manner) = if scenario.random(|rng| rng.happens(80)) {
            (other_rail(rail), "uses the other protocol")
        } else {
            (rail, if signed.is_some() { "pays" } else { "asks" })
        };
        let answer = ask(scenario, number, named, here, signed.clone(), manner);
        match answer.wait(scenario).await {
            Reply::Invited => signed = Some(sign(scenario)),
            Reply::Paid => {
                if scenario.random(|rng| rng.happens(700)) {
                    return;
                }
            }
            Reply::Never => return,
            Reply::Wait | Reply::Nothing => {
                if scenario.random(|rng| rng.happens(150)) {
                    scenario.count(SimulationCount::SignedAgain);
                    signed = Some(sign(scenario));
                }
                let pause = scenario.random(|rng| rng.between(500, 90_000));
                scenario.executor.sleep(pause).await;
            }
        }
    }
}

const fn other_rail(rail: TenderKind) -> TenderKind {
    match rail {
        TenderKind::X402 => TenderKind::Mpp,
        TenderKind::Mpp => TenderKind::X402,
    }
}

fn sign(scenario: &Scenario) -> Credential {
    let nonce = scenario.nonces.fetch_add(1, Ordering::Relaxed);
    let payee = *scenario.world.seller_address.lock().unwrap();
    let deadline = scenario.world.time().0 + CREDENTIAL_SECONDS;
    let signed = FakeCredential { nonce, most: 3_500_000, deadline, payee }.credential();
    scenario.signed.lock().unwrap().push(signed.clone());
    signed
}

/// A credential that was signed for any card.
fn stolen_credential(scenario: &Scenario) -> Option<Credential> {
    let signed = scenario.signed.lock().unwrap();
    (!signed.is_empty()).then(|| scenario.random(|rng| rng.pick_ref(&signed).clone()))
}

/// Sends a request to one of the processes. Processing continues if the payer hangs up.
fn ask(
    scenario: &Arc<Scenario>,
    number: u64,
    named: Identifier,
    rail: TenderKind,
    credential: Option<Credential>,
    manner: &'static str,
) -> ReplySlot {
    let answer = ReplySlot::default();
    scenario.count(SimulationCount::Requests);
    let processes = scenario.processes.lock().unwrap().clone();
    if processes.is_empty() {
        answer.fill(Reply::Nothing);
        return answer;
    }
    let process = scenario.random(|rng| rng.pick_ref(&processes)).clone();
    let request = Request {
        seller: None,
        operation_id: match named {
            Identifier::No => None,
            Identifier::Yes => Some(format!("operation-number-{number}").parse().unwrap()),
        },
        card: card(&format!("card {number}")),
        quote: None,
        credential,
    };
    scenario.world.count_request(manner, &process.process.operation_key(&request));
    let reply = answer.clone();
    let (executor, scenario) = (scenario.executor.clone(), scenario.clone());
    executor.spawn(process.group, async move {
        let line = ReplyOnDrop { answer: reply, scenario: scenario.clone() };
        let response = process.process.send(&scenario.world.tender(rail), request).await;
        scenario.world.check_response(&response);
        scenario.log(|| format!("payer {number} hears {response:?}"));
        line.answer.fill(classify(&scenario, &response));
    });
    answer
}

fn classify(scenario: &Scenario, response: &Result<Outcome, Refusal>) -> Reply {
    let (count, reply) = match response {
        Ok(Outcome::Due(_)) => (SimulationCount::Invited, Reply::Invited),
        Ok(Outcome::Paid { .. }) => (SimulationCount::Paid, Reply::Paid),
        Err(refusal) => match refusal {
            Refusal::CredentialInvalid { .. }
            | Refusal::PaymentDeclined { .. }
            | Refusal::AllowanceRequired(_) => (SimulationCount::Invited, Reply::Invited),
            Refusal::OperationLapsed(_) => (SimulationCount::Conflict, Reply::Never),
            // The offer follows the seller: ask again without paying.
            Refusal::SellerAddressChanged(_) | Refusal::PaymentBoundElsewhere => {
                (SimulationCount::Conflict, Reply::Invited)
            }
            Refusal::DifferentRequest
            | Refusal::PaymentIdentifierUsed(_)
            | Refusal::PaymentInPlay(_)
            | Refusal::InProgress(_)
            | Refusal::PriceAboveCeiling(_)
            | Refusal::QuoteExpired(_)
            | Refusal::QuoteExceeded { .. } => (SimulationCount::Conflict, Reply::Wait),
            Refusal::CardInvalid(_)
            | Refusal::IdentifierInvalid
            | Refusal::QuoteInvalid
            | Refusal::PaymentUnconfirmed(_)
            | Refusal::SubmissionUnresolved(_)
            | Refusal::QuoteLimit(_)
            | Refusal::SellerNotEnabled
            | Refusal::SellerUnresolved
            | Refusal::NameServiceFailed
            | Refusal::ProviderUnreachable
            | Refusal::ProviderUnusable
            | Refusal::ProviderUnavailable
            | Refusal::PaymentUnavailable
            | Refusal::StoreBusy
            | Refusal::Internal
            | Refusal::AboutOrder(..) => (SimulationCount::Unclear, Reply::Wait),
        },
    };
    scenario.count(count);
    reply
}

/// Where the reply arrives.
#[derive(Clone, Default)]
struct ReplySlot(Arc<Mutex<Slot>>);

#[derive(Default)]
enum Slot {
    #[default]
    Empty,
    Filled(Reply),
}

impl ReplySlot {
    /// Only the first answer counts; false if there was one.
    fn fill(&self, reply: Reply) -> bool {
        let mut slot = self.0.lock().unwrap();
        let first = matches!(*slot, Slot::Empty);
        if first {
            *slot = Slot::Filled(reply);
        }
        first
    }

    async fn wait(self, scenario: &Scenario) -> Reply {
        let mut waited = 0;
        let patience = scenario.random(|rng| rng.pick(&[500, 5_000, PATIENCE, PATIENCE]));
        let mut step = 20;
        while waited < patience {
            if let Slot::Filled(reply) = std::mem::take(&mut *self.0.lock().unwrap()) {
                return reply;
            }
            scenario.executor.sleep(step).await;
            waited += step;
            step = (step * 2).min(4_000);
        }
        scenario.count(SimulationCount::HangUps);
        Reply::Nothing
    }
}

/// Delivers the reply. Dropped without one when the process crashes.
struct ReplyOnDrop {
    answer: ReplySlot,
    scenario: Arc<Scenario>,
}

impl Drop for ReplyOnDrop {
    fn drop(&mut self) {
        if self.answer.fill(Reply::Nothing) {
            self.scenario.count(SimulationCount::NoAnswer);
        }
    }
}
