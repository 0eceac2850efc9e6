//! Calls to one provider account for one purpose: authorized, within the budget, classified.
//!
//! Refused is what the statuses below prove, if the answer is whole, or what
//! [`crate::http::CallError`] says of a call that was not sent. All else is lost, also an answer that
//! names another order.

use std::sync::Arc;

use order::ports::Unanswered;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use super::budget::{AccountStanding, CallBudget, CallPurpose, CallRate, SharedBudget};
use crate::http::{CallError, CallErrorKind, HttpCall, HttpClient, HttpUrl};

/// The statuses that prove that nothing was accepted. After any other error status it may have
/// been: 403 can come from a proxy before the API, and 409 may mean that the card is there.
const REFUSALS: [u16; 8] = [400, 401, 402, 404, 413, 415, 422, 429];
/// Statuses about the account and not about the card.
const ACCOUNT: [u16; 3] = [401, 402, 403];

/// Cheap to clone; the clones share one account's budget.
#[derive(Clone)]
pub struct AccountClient {
    client: HttpClient,
    /// The name of the provider in the log.
    peer: &'static str,
    base: HttpUrl,
    authorization: Arc<Zeroizing<String>>,
    budget: Arc<CallBudget>,
    purpose: CallPurpose,
}

impl AccountClient {
    /// `authorization` is the whole value of the header.
    pub(super) fn new(
        peer: &'static str,
        base: HttpUrl,
        authorization: String,
        client: HttpClient,
        budget: CallBudget,
    ) -> Self {
        let (authorization, budget) = (Arc::new(Zeroizing::new(authorization)), Arc::new(budget));
        Self { client, peer, base, authorization, budget, purpose: CallPurpose::Paid }
    }

    pub(super) fn with_purpose(&self, purpose: CallPurpose) -> Self {
        Self { purpose, ..self.clone() }
    }

    pub(super) const fn purpose(&self) -> CallPurpose {
        self.purpose
    }

    pub(super) fn budget(&self) -> Arc<CallBudget> {
        self.budget.clone()
    }

    pub(super) fn at_rate(self, rate: CallRate) -> Self {
        Self { budget: Arc::new(self.budget.at_rate(rate)), ..self }
    }

    /// `open` is given the name under which processes share the account's budget. If it returns
    /// none, the budget stays in this process.
    pub(super) fn sharing(self, open: impl FnOnce(&str) -> Option<Arc<dyn SharedBudget>>) -> Self {
        // Not by the key: two keys of one account share its rate.
        match open(&format!("{} {}", self.peer, self.base.origin())) {
            Some(shared) => Self { budget: Arc::new(self.budget.shared_through(shared)), ..self },
            None => self,
        }
    }

    pub(super) fn url(&self, parts: &[&str]) -> HttpUrl {
        self.base.below(parts)
    }

    /// For price estimates, before money moves.
    pub(super) fn for_quotes(&self) -> Self {
        self.with_purpose(match self.purpose {
            CallPurpose::Paid | CallPurpose::Buyer => CallPurpose::Buyer,
            CallPurpose::Reconciler | CallPurpose::Look | CallPurpose::Preview => self.purpose,
        })
    }

    /// Reserves the call for a card before its payment.
    pub(super) async fn reserve(&self) -> Result<(), Unanswered> {
        self.budget.reserve().await.map_err(|_| Unanswered::Unavailable)
    }

    pub(super) async fn release(&self) {
        self.budget.release().await;
    }

    /// Makes a call within the budget and parses the response.
    pub(super) async fn read<T: DeserializeOwned>(&self, call: HttpCall) -> Result<T, CallError> {
        let purpose = match self.purpose {
            CallPurpose::Reconciler => CallPurpose::Look,
            CallPurpose::Paid | CallPurpose::Buyer | CallPurpose::Look | CallPurpose::Preview => {
                self.purpose
            }
        };
        self.budget.take(purpose).await.map_err(|_| CallError::Refused(CallErrorKind::NoBudget))?;
        self.make(call).await
    }

    /// Makes a lookup that can wait until no other lookup needs the call.
    pub(super) async fn read_when_free<T: DeserializeOwned>(
        &self,
        call: HttpCall,
    ) -> Result<T, CallError> {
        let taken = self.budget.take_or_wait(CallPurpose::Look).await;
        taken.map_err(|_| CallError::Refused(CallErrorKind::NoBudget))?;
        self.make(call).await
    }

    /// Makes the reserved call for a paid card.
    pub(super) async fn submit<T: DeserializeOwned>(&self, call: HttpCall) -> Result<T, CallError> {
        let taken = match self.purpose {
            CallPurpose::Paid | CallPurpose::Buyer => self.budget.take_reserved().await,
            CallPurpose::Reconciler => self.budget.take_or_wait(self.purpose).await,
            CallPurpose::Look | CallPurpose::Preview => self.budget.take(self.purpose).await,
        };
        taken.map_err(|_| CallError::Refused(CallErrorKind::NoBudget))?;
        let answer = self.make(call).await;
        match &answer {
            Ok(_) => self.budget.note(AccountStanding::Served).await,
            Err(
                CallError::Refused(CallErrorKind::Status(status))
                | CallError::Lost(CallErrorKind::Status(status)),
            ) if ACCOUNT.contains(status) => {
                self.budget.note(AccountStanding::Refused).await;
            }
            Err(CallError::Refused(_) | CallError::Lost(_)) => {}
        }
        answer
    }

    async fn make<T: DeserializeOwned>(&self, call: HttpCall) -> Result<T, CallError> {
        let peer = self.peer;
        let call = call.authorized(Zeroizing::clone(&self.authorization));
        let answer = self.client.send(call).await?;
        let read =
            if REFUSALS.contains(&answer.status) { Err(answer.refused()) } else { answer.read() };
        read.inspect_err(|error| {
            if ACCOUNT.contains(&answer.status) {
                // Alert: no card can be sold until the operator has fixed it.
                tracing::error!(
                    place = peer,
                    kind = %error,
                    "The provider refuses our account; check its key and its balance"
                );
            } else {
                tracing::warn!(place = peer, kind = %error, "A provider call failed");
            }
        })
    }
}

/// The error of a call without effect.
pub(super) fn unanswered(error: CallError) -> Unanswered {
    let (CallError::Refused(why) | CallError::Lost(why)) = error;
    match why {
        CallErrorKind::NoBudget | CallErrorKind::Status(401..=403 | 429) => Unanswered::Unavailable,
        CallErrorKind::Unconnected
        | CallErrorKind::NotPublic
        | CallErrorKind::TimedOut
        | CallErrorKind::Broken
        | CallErrorKind::Status(500..=599) => Unanswered::Unreachable,
        CallErrorKind::Unsendable
        | CallErrorKind::TooLarge
        | CallErrorKind::Encoded
        | CallErrorKind::Unreadable
        | CallErrorKind::Status(_) => Unanswered::Unusable,
    }
}
