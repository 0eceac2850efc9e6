//! Every refusal in both protocols, byte for byte, compared with a recorded file.

use std::fmt::Write;
use std::sync::Arc;

use order::model::card::FieldFault;
use order::outcome::Outcome;
use order::refusal::Refusal;

use crate::http_binding::{AnswerContext, ClientKind, HttpAnswer, HttpBinding};
use crate::mpp::fixture as mpp;
use crate::mpp::settler::TransferSupport;
use crate::mpp::tender::Mpp;
use crate::refusal_table::BadRequest;
use crate::x402::fixture as x402;
use crate::x402::fixture::{NOW, ORDER};

const RECORDED: &str = include_str!("every_refusal.txt");
const BODY: &[u8] = br#"{"message":"The sea says hello."}"#;

fn refusals() -> Vec<Refusal> {
    let offer = x402::offer;
    let faults = vec![FieldFault { field: "message", message: "This field is empty.".into() }];
    let mut all = vec![
        Refusal::CardInvalid(faults),
        Refusal::IdentifierInvalid,
        Refusal::QuoteInvalid,
        Refusal::DifferentRequest,
        Refusal::PaymentIdentifierUsed(ORDER),
        Refusal::OperationLapsed(ORDER),
        Refusal::CredentialInvalid {
            offer: offer(),
            reason: "payment-expired: Too \"late\".".into(),
        },
        Refusal::AllowanceRequired(offer()),
        Refusal::PaymentDeclined { offer: offer(), reason: "permit2_simulation_failed".into() },
        Refusal::PaymentBoundElsewhere,
        Refusal::PaymentInPlay(ORDER),
        Refusal::PaymentUnconfirmed(ORDER),
        Refusal::InProgress(ORDER),
        Refusal::SubmissionUnresolved(ORDER),
        Refusal::SellerAddressChanged(ORDER),
        Refusal::PriceAboveCeiling(ORDER),
        Refusal::QuoteExpired(ORDER),
        Refusal::QuoteExceeded { order: ORDER, quote: x402::quote() },
        Refusal::QuoteLimit(ORDER),
        Refusal::SellerNotEnabled,
        Refusal::SellerUnresolved,
        Refusal::NameServiceFailed,
    ];
    for cause in [
        Refusal::ProviderUnreachable,
        Refusal::ProviderUnusable,
        Refusal::ProviderUnavailable,
        Refusal::PaymentUnavailable,
        Refusal::StoreBusy,
        Refusal::Internal,
    ] {
        all.extend([cause.clone(), cause.about(ORDER)]);
    }
    all
}

fn record(text: &mut String, title: &str, answer: &HttpAnswer) {
    writeln!(text, "{title}\n{}", answer.status).unwrap();
    let headers = answer.headers.iter();
    let mut headers: Vec<_> =
        headers.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
    headers.sort_unstable();
    writeln!(text, "{}\n{}\n", headers.join("\n"), str::from_utf8(&answer.body).unwrap()).unwrap();
}

fn name(refusal: &Refusal) -> String {
    if let Refusal::AboutOrder(_, cause) = refusal {
        return format!("AboutOrder {cause:?}");
    }
    format!("{refusal:?}").split(['(', ' ']).next().unwrap_or_default().to_owned()
}

fn answers(protocol: &str, binding: &dyn HttpBinding, refusals: Vec<Refusal>) -> String {
    let context = AnswerContext { client: ClientKind::Program, body: BODY, now: NOW };
    let mut text = String::new();
    let unpaid = binding.answer(&Ok(Outcome::Due(x402::offer())), &context);
    record(&mut text, &format!("{protocol}: unpaid"), &unpaid);
    for refusal in refusals {
        let title = format!("{protocol}: {}", name(&refusal));
        record(&mut text, &title, &binding.answer(&Err(refusal), &context));
    }
    for why in [
        BadRequest::DifferentCredentials,
        BadRequest::SeveralCredentials,
        BadRequest::PaymentIdentifierInvalid,
        BadRequest::MalformedJson,
    ] {
        record(&mut text, &format!("{protocol}: {why:?}"), &binding.bad_request(&why));
    }
    text
}

/// After a deliberate change of an answer, replace its paragraph in the file by the printed one.
fn compare(text: &str) {
    let recorded: Vec<&str> = RECORDED.trim_end().split("\n\n").collect();
    for answer in text.trim_end().split("\n\n") {
        assert!(recorded.contains(&answer), "not as recorded:\n{answer}");
    }
}

fn mpp(settler: mpp::FakeSettler) -> Mpp {
    let (mut mpp, _) = mpp::mpp(settler);
    mpp.randomness = Arc::new(|| Some([7; 16]));
    mpp
}

#[test]
fn every_refusal_is_answered_as_recorded() {
    let (x402, _) = x402::x402(x402::FakeSettler::good());
    compare(&answers("x402", &x402, refusals()));
    compare(&answers("mpp", &mpp(mpp::FakeSettler::good()), refusals()));
}

#[test]
fn a_challenge_that_cannot_be_made_is_answered_as_recorded() {
    let challenged = || {
        let refusals = refusals().into_iter();
        let answered_with_one = |refusal: &Refusal| {
            matches!(refusal, Refusal::CredentialInvalid { .. } | Refusal::PaymentDeclined { .. })
                || matches!(refusal, Refusal::AllowanceRequired(_))
        };
        refusals.filter(answered_with_one).collect()
    };
    let unsupported = x402::FakeSettler { networks: Vec::new(), ..x402::FakeSettler::good() };
    compare(&answers("x402, not offered", &x402::x402(unsupported).0, challenged()));
    let service = TransferSupport::NotOffered;
    let unsupported = mpp::FakeSettler { service, ..mpp::FakeSettler::good() };
    compare(&answers("mpp, not offered", &mpp(unsupported), challenged()));
}
