//! Somebody who wants one card: patient or not, honest or not, and often cut off.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use super::report::Count;
use super::story::Scene;
use crate::checkout::{Outcome, Request};
use crate::model::payment::{Credential, TenderKind};
use crate::refusal::Refusal;
use crate::testing::fakes::cards::card;
use crate::testing::fakes::chain::{PROMISE_SECONDS, Promise};

/// How often a payer tries before giving up.
const TRIES: u64 = 14;
/// How long a payer waits for an answer, in milliseconds.
const PATIENCE: u64 = 45_000;

/// What a payer hears.
enum Heard {
    /// Pay, or pay again.
    Invited,
    Paid,
    /// Wait, and ask again.
    Wait,
    /// Never with this identifier.
    Never,
    Nothing,
}

/// Whether a payer gives the operation a name of its own.
#[derive(Clone, Copy)]
enum Named {
    No,
    Yes,
}

/// The life of one payer.
pub(super) async fn live(scene: &Arc<Scene>, number: u64) {
    let rail = scene.roll(|dice| dice.pick(&[TenderKind::X402, TenderKind::Mpp]));
    let named = scene.roll(|dice| dice.pick(&[Named::No, Named::No, Named::Yes]));
    let mut signed: Option<Credential> = None;
    for _ in 0..scene.roll(|dice| dice.between(2, TRIES)) {
        let pause = scene.roll(|dice| dice.between(10, 4_000));
        scene.stage.sleep(pause).await;
        // Somebody else of the same mind asks at the same moment.
        if signed.is_some() && scene.roll(|dice| dice.happens(150)) {
            let other = scene.roll(|dice| dice.happens(500)).then(|| sign(scene));
            let credential = other.or_else(|| signed.clone());
            drop(ask(scene, number, named, rail, credential));
        }
        if scene.roll(|dice| dice.happens(60)) {
            drop(ask(scene, number, named, rail, pilfer(scene)));
        }
        // Now and then the same card is paid by the other rail.
        let here = if scene.roll(|dice| dice.happens(80)) { other_rail(rail) } else { rail };
        let answer = ask(scene, number, named, here, signed.clone());
        match answer.wait(scene).await {
            Heard::Invited => signed = Some(sign(scene)),
            Heard::Paid => {
                if scene.roll(|dice| dice.happens(700)) {
                    return;
                }
            }
            Heard::Never => return,
            Heard::Wait | Heard::Nothing => {
                if scene.roll(|dice| dice.happens(150)) {
                    scene.count(Count::SignedAgain);
                    signed = Some(sign(scene));
                }
                let pause = scene.roll(|dice| dice.between(500, 90_000));
                scene.stage.sleep(pause).await;
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

fn sign(scene: &Scene) -> Credential {
    let nonce = scene.nonces.fetch_add(1, Ordering::Relaxed);
    let payee = *scene.world.seller_address.lock().unwrap();
    let deadline = scene.world.time().0 + PROMISE_SECONDS;
    let signed = Promise { nonce, most: 3_500_000, deadline, payee }.credential();
    scene.signed.lock().unwrap().push(signed.clone());
    signed
}

/// What anybody signed for any card, to be used for this one.
fn pilfer(scene: &Scene) -> Option<Credential> {
    let signed = scene.signed.lock().unwrap();
    (!signed.is_empty()).then(|| scene.roll(|dice| dice.pick_one(&signed).clone()))
}

/// Sends a request to one of the processes. It goes on if the payer hangs up.
fn ask(
    scene: &Arc<Scene>,
    number: u64,
    named: Named,
    rail: TenderKind,
    credential: Option<Credential>,
) -> Answer {
    let answer = Answer::default();
    scene.count(Count::Requests);
    let instances = scene.instances.lock().unwrap().clone();
    if instances.is_empty() {
        answer.say(Heard::Nothing);
        return answer;
    }
    let instance = scene.roll(|dice| dice.pick_one(&instances)).clone();
    let request = Request {
        seller: None,
        operation_id: match named {
            Named::No => None,
            Named::Yes => Some(format!("operation-number-{number}").parse().unwrap()),
        },
        card: card(&format!("card {number}")),
        credential,
    };
    let reply = answer.clone();
    let (stage, scene) = (scene.stage.clone(), scene.clone());
    stage.spawn(instance.group, async move {
        let line = Line { answer: reply, scene: scene.clone() };
        let said = instance.desk.send(&scene.world.till(rail), request).await;
        scene.world.overhear(&said);
        scene.note(|| format!("payer {number} hears {said:?}"));
        line.answer.say(judge(&scene, &said));
    });
    answer
}

fn judge(scene: &Scene, said: &Result<Outcome, Refusal>) -> Heard {
    let (count, heard) = match said {
        Ok(Outcome::Due(_)) => (Count::Invited, Heard::Invited),
        Ok(Outcome::Paid { .. }) => (Count::Paid, Heard::Paid),
        Err(refusal) => match refusal {
            Refusal::CredentialInvalid { .. }
            | Refusal::PaymentDeclined { .. }
            | Refusal::AllowanceRequired(_) => (Count::Invited, Heard::Invited),
            Refusal::OperationLapsed(_) => (Count::Conflict, Heard::Never),
            // The offer follows the seller: ask again without paying.
            Refusal::SellerAddressChanged(_) | Refusal::PaymentBoundElsewhere => {
                (Count::Conflict, Heard::Invited)
            }
            Refusal::DifferentRequest(_)
            | Refusal::PaymentIdentifierUsed(_)
            | Refusal::PaymentInPlay(_)
            | Refusal::InProgress(_)
            | Refusal::PriceAboveCeiling(_) => (Count::Conflict, Heard::Wait),
            Refusal::CardInvalid(_)
            | Refusal::IdentifierInvalid
            | Refusal::SellerNameInvalid
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
            | Refusal::AboutOrder(..) => (Count::Unclear, Heard::Wait),
        },
    };
    scene.count(count);
    heard
}

/// Where an answer arrives, if it does.
#[derive(Clone, Default)]
struct Answer(Arc<Mutex<Slot>>);

#[derive(Default)]
enum Slot {
    #[default]
    Empty,
    Said(Heard),
}

impl Answer {
    /// Only the first answer counts; false if there was one.
    fn say(&self, heard: Heard) -> bool {
        let mut slot = self.0.lock().unwrap();
        let first = matches!(*slot, Slot::Empty);
        if first {
            *slot = Slot::Said(heard);
        }
        first
    }

    async fn wait(self, scene: &Scene) -> Heard {
        let mut waited = 0;
        let patience = scene.roll(|dice| dice.pick(&[500, 5_000, PATIENCE, PATIENCE]));
        let mut step = 20;
        while waited < patience {
            if let Slot::Said(heard) = std::mem::take(&mut *self.0.lock().unwrap()) {
                return heard;
            }
            scene.stage.sleep(step).await;
            waited += step;
            step = (step * 2).min(4_000);
        }
        scene.count(Count::HangUps);
        Heard::Nothing
    }
}

/// The wire that an answer comes by. A process that dies cuts it.
struct Line {
    answer: Answer,
    scene: Arc<Scene>,
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.answer.say(Heard::Nothing) {
            self.scene.count(Count::NoAnswer);
        }
    }
}
