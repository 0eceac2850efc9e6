//! One caller's calls to one account: within the budget, and sorted.

use std::sync::Arc;

use order::ports::Unanswered;
use serde::de::DeserializeOwned;

use super::budget::{Budget, Caller, Standing};
use crate::http::{Call, Client, Silence, Why};

/// The statuses that prove that nothing was accepted. After any other that is
/// not good, it may have been.
const REFUSALS: [u16; 8] = [400, 401, 402, 404, 413, 415, 422, 429];
/// The ones among the others that are about our account and not about the card.
const ACCOUNT: [u16; 3] = [401, 402, 403];

/// Cheap to clone; the clones share one account's budget.
#[derive(Clone)]
pub(super) struct Line {
    client: Client,
    budget: Arc<Budget>,
    caller: Caller,
}

impl Line {
    pub(super) fn new(client: Client, budget: Budget) -> Self {
        Self { client, budget: Arc::new(budget), caller: Caller::Paid }
    }

    pub(super) fn on_behalf_of(&self, caller: Caller) -> Self {
        Self { caller, ..self.clone() }
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(super) fn within(self, budget: Budget) -> Self {
        Self { budget: Arc::new(budget), ..self }
    }

    /// For a price, while no money has moved.
    pub(super) fn for_buyers(&self) -> Self {
        self.on_behalf_of(match self.caller {
            Caller::Paid | Caller::Buyer => Caller::Buyer,
            Caller::Reconciler | Caller::Look | Caller::Preview => self.caller,
        })
    }

    /// Keeps a call for a card, before anybody pays for it.
    pub(super) async fn reserve(&self) -> Result<(), Unanswered> {
        self.budget.reserve().await.map_err(|_| Unanswered::Unavailable)
    }

    pub(super) async fn release(&self) {
        self.budget.release().await;
    }

    /// Makes a call, if the budget has one left, and reads a good answer.
    pub(super) async fn read<T: DeserializeOwned>(&self, call: Call) -> Result<T, Silence> {
        let caller = match self.caller {
            Caller::Reconciler => Caller::Look,
            Caller::Paid | Caller::Buyer | Caller::Look | Caller::Preview => self.caller,
        };
        self.budget.take(caller).await.map_err(|_| Silence::Refused(Why::NoBudget))?;
        self.make(call).await
    }

    /// Makes the call for a card that is paid for: the one that was reserved for it.
    pub(super) async fn hand_in<T: DeserializeOwned>(&self, call: Call) -> Result<T, Silence> {
        let taken = match self.caller {
            Caller::Paid | Caller::Buyer => self.budget.take_reserved().await,
            Caller::Reconciler => self.budget.take_in_time(self.caller).await,
            Caller::Look | Caller::Preview => self.budget.take(self.caller).await,
        };
        taken.map_err(|_| Silence::Refused(Why::NoBudget))?;
        let answer = self.make(call).await;
        match &answer {
            Ok(_) => self.budget.note(Standing::Served).await,
            Err(Silence::Refused(Why::Status(status)) | Silence::Lost(Why::Status(status)))
                if ACCOUNT.contains(status) =>
            {
                self.budget.note(Standing::Refused).await;
            }
            Err(Silence::Refused(_) | Silence::Lost(_)) => {}
        }
        answer
    }

    async fn make<T: DeserializeOwned>(&self, call: Call) -> Result<T, Silence> {
        let peer = call.peer();
        let answer = self.client.send(call).await?;
        let read =
            if REFUSALS.contains(&answer.status) { Err(answer.refused()) } else { answer.read() };
        read.inspect_err(|silence| {
            if ACCOUNT.contains(&answer.status) {
                // An alarm: no card can be sold until somebody has looked at it.
                tracing::error!(
                    place = peer,
                    kind = %silence,
                    "The provider refuses our account; look at its key and its balance"
                );
            } else {
                tracing::warn!(place = peer, kind = %silence, "A provider gave no good answer");
            }
        })
    }
}

/// What silence means where a call has no effect.
pub(super) fn unanswered(silence: Silence) -> Unanswered {
    let (Silence::Refused(why) | Silence::Lost(why)) = silence;
    match why {
        Why::NoBudget | Why::Status(401..=403 | 429) => Unanswered::Unavailable,
        Why::Unconnected
        | Why::NotPublic
        | Why::TimedOut
        | Why::Broken
        | Why::Status(500..=599) => Unanswered::Unreachable,
        Why::Unsendable | Why::TooLarge | Why::Encoded | Why::Unreadable | Why::Status(_) => {
            Unanswered::Unusable
        }
    }
}
