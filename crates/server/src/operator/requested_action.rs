//! An action that an operator requests, in the JSON API or the console: its limits, and its
//! performance in a task that a disconnect does not stop.

use std::sync::Arc;

use axum::http::StatusCode;
use order::lifecycle::Stored;
use order::lifecycle::event::OperatorName;
use order::model::card::Postcard;
use order::model::ids::{OrderId, Timestamp};
use order::model::mail::Mailpiece;
use order::operator::rejection::ActionRejection;
use order::operator::transfers::TransactionHash;
use order::operator::{ActionOutcome, Instruction, OperatorActions};
use order::ports::{Store, StoreError};
use tracing::info;
use web::task_tracker::SpawnError;

use crate::operator::action_kind::ActionKind;
use crate::operator::error::OperatorError;
use crate::operator::order_facts;
use crate::operator::state::OperatorState;

const NOTE_CHARACTERS_MAX: usize = 500;
/// The provider's ids are shorter.
const MAILPIECE_CHARACTERS_MAX: usize = 200;
/// An action is tried this often if the reconciler examines the order at the same time.
const TRIES: u32 = 5;

/// The fields of a JSON body or of a form, as they were sent.
#[derive(Clone, Copy, Default)]
pub(crate) struct ActionFields<'a> {
    pub(crate) version: Option<u64>,
    pub(crate) facts_digest: Option<&'a str>,
    pub(crate) note: Option<&'a str>,
    pub(crate) mailpiece: Option<&'a str>,
    pub(crate) transaction: Option<&'a str>,
}

/// An action with everything that it needs.
pub(crate) struct RequestedAction {
    pub(crate) instruction: Instruction,
    /// The [facts_digest](order_facts::facts_digest) of the order as the operator saw it. Without
    /// one, only the version counts.
    facts_digest: Option<String>,
    step: ActionStep,
}

enum ActionStep {
    Resubmit,
    Attach(Mailpiece),
    Refund(TransactionHash),
    Acknowledge,
    Erase,
    Reveal,
}

/// What was done.
pub(crate) enum PerformedAction {
    Outcome(ActionOutcome),
    Revealed(Postcard),
}

impl RequestedAction {
    pub(crate) fn parse(
        kind: ActionKind,
        order: OrderId,
        operator: OperatorName,
        fields: &ActionFields<'_>,
    ) -> Result<Self, OperatorError> {
        let missing = "The version of the order is missing. Show the order again.";
        let version = fields.version.ok_or_else(|| OperatorError::invalid(missing))?;
        let note = fields.note.unwrap_or_default().trim();
        if note.chars().count() > NOTE_CHARACTERS_MAX || note.chars().any(char::is_control) {
            let problem = "The note must have at most 500 characters, in one line.";
            return Err(OperatorError::invalid(problem));
        }
        if kind == ActionKind::Acknowledge && note.is_empty() {
            let problem = "The note is missing: say why the order needs no action now.";
            return Err(OperatorError::invalid(problem));
        }
        let instruction = Instruction { order, version, operator, note: note.to_owned() };
        let step = ActionStep::parse(kind, fields).map_err(OperatorError::invalid)?;
        Ok(Self { instruction, facts_digest: fields.facts_digest.map(str::to_owned), step })
    }

    /// The card or the transaction that the operator named.
    pub(crate) fn named(&self) -> &str {
        match &self.step {
            ActionStep::Attach(mailpiece) => &mailpiece.0,
            ActionStep::Refund(transaction) => transaction.as_str(),
            ActionStep::Resubmit
            | ActionStep::Acknowledge
            | ActionStep::Erase
            | ActionStep::Reveal => "",
        }
    }

    /// Whether the order is as the operator saw it. An examination without a result advances its
    /// version and changes nothing else that is shown; an action of another operator is an event
    /// that is shown.
    pub(crate) async fn saw(
        &self,
        order: &Stored,
        now: Timestamp,
        store: &dyn Store,
    ) -> Result<bool, StoreError> {
        let seen = self.instruction.version;
        if order.version() == seen {
            return Ok(true);
        }
        if self.facts_digest.as_deref() != Some(&order_facts::facts_digest(order, now)) {
            return Ok(false);
        }
        let events = store.events(order.id()).await?;
        let mut later = events.iter().filter(|event| event.version > seen);
        Ok(!later.any(order_facts::is_by_operator))
    }

    /// Acts in a task of its own: a client that disconnects does not stop it halfway, and a
    /// shutdown waits for it as for a paid request.
    pub(crate) async fn perform(
        self,
        state: &OperatorState,
    ) -> Result<PerformedAction, OperatorError> {
        let actions = state.actions.clone();
        let task = state.tasks.spawn(async move { self.act_and_log(&actions).await });
        let ended = task.map_err(not_started)?.await.map_err(|_| {
            let message = "The action ended unexpectedly. Look at the order again.";
            OperatorError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message)
        })?;
        Ok(ended?)
    }

    async fn act_and_log(
        self,
        actions: &Arc<OperatorActions>,
    ) -> Result<PerformedAction, ActionRejection> {
        let order = self.instruction.order;
        let done = self.act(actions).await?;
        info!(order.id = %order, kind = done.code(), "an operator acted on an order");
        Ok(done)
    }

    /// An action that is rejected because the order changed has changed nothing itself, so it is
    /// tried again if nothing changed that the operator saw.
    async fn act(mut self, actions: &OperatorActions) -> Result<PerformedAction, ActionRejection> {
        for _ in 1..TRIES {
            match self.act_once(actions).await {
                Err(ActionRejection::Changed) => {
                    let store = actions.writer.store.as_ref();
                    let found = store.find(self.instruction.order).await;
                    let found = found.map_err(ActionRejection::of_read)?;
                    let order = found.ok_or(ActionRejection::Unknown)?;
                    let seen = self.saw(&order, actions.writer.clock.now(), store).await;
                    if !seen.map_err(ActionRejection::of_read)? {
                        return Err(ActionRejection::Changed);
                    }
                    self.instruction.version = order.version();
                }
                ended => return ended,
            }
        }
        self.act_once(actions).await
    }

    async fn act_once(
        &self,
        actions: &OperatorActions,
    ) -> Result<PerformedAction, ActionRejection> {
        let instruction = &self.instruction;
        let outcome = match &self.step {
            ActionStep::Resubmit => actions.resubmit(instruction).await,
            ActionStep::Attach(mailpiece) => actions.attach(instruction, mailpiece).await,
            ActionStep::Refund(transaction) => actions.refund(instruction, transaction).await,
            ActionStep::Acknowledge => actions.acknowledge(instruction).await,
            ActionStep::Erase => actions.erase(instruction).await,
            ActionStep::Reveal => {
                return actions.reveal(instruction).await.map(PerformedAction::Revealed);
            }
        };
        outcome.map(PerformedAction::Outcome)
    }
}

impl ActionStep {
    fn parse(kind: ActionKind, fields: &ActionFields<'_>) -> Result<Self, &'static str> {
        Ok(match kind {
            ActionKind::Resubmit => Self::Resubmit,
            ActionKind::Attach => {
                let id = fields.mailpiece.unwrap_or_default().trim();
                if !(1..=MAILPIECE_CHARACTERS_MAX).contains(&id.chars().count()) {
                    return Err(
                        "The mailpiece must be the provider's id of the card, with 1 to 200 characters.",
                    );
                }
                Self::Attach(Mailpiece(id.to_owned()))
            }
            ActionKind::Refund => {
                let hash = TransactionHash::parse(fields.transaction.unwrap_or_default());
                let problem = "The transaction must be 0x and 64 hexadecimal digits.";
                Self::Refund(hash.map_err(|_| problem)?)
            }
            ActionKind::Acknowledge => Self::Acknowledge,
            ActionKind::Erase => Self::Erase,
            ActionKind::Reveal => Self::Reveal,
        })
    }
}

impl PerformedAction {
    /// Machine-readable code.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Outcome(ActionOutcome::CardFound) => "card_found",
            Self::Outcome(ActionOutcome::Submitted) => "submitted",
            Self::Outcome(ActionOutcome::SubmissionFailed) => "submission_failed",
            Self::Outcome(ActionOutcome::Refunded) => "refunded",
            Self::Outcome(ActionOutcome::Acknowledged) => "acknowledged",
            Self::Outcome(ActionOutcome::Erased) => "erased",
            Self::Revealed(_) => "revealed",
        }
    }

    /// What the operator is told.
    pub(crate) const fn message(&self) -> &'static str {
        match self {
            Self::Outcome(ActionOutcome::CardFound) => {
                "The provider has the card. It is attached to the order, and nothing was submitted."
            }
            Self::Outcome(ActionOutcome::Submitted) => {
                "The card was submitted, and the provider has accepted it."
            }
            Self::Outcome(ActionOutcome::SubmissionFailed) => {
                "The card was submitted, and the provider refused it or its answer was lost. The reconciler goes on."
            }
            Self::Outcome(ActionOutcome::Refunded) => {
                "The transaction proves the refund. The order is refunded, and the text of its card is deleted."
            }
            Self::Outcome(ActionOutcome::Acknowledged) => {
                "Acknowledged. The order raises no alert until its state changes."
            }
            Self::Outcome(ActionOutcome::Erased) => {
                "The text of the card is deleted. A refund is due."
            }
            Self::Revealed(_) => "The card is shown. An event records that you saw it.",
        }
    }
}

fn not_started(error: SpawnError) -> OperatorError {
    let message = match error {
        SpawnError::ShuttingDown => {
            "The service is shutting down. Nothing was changed. Repeat the action when it runs again."
        }
        SpawnError::TooManyTasks => {
            "The service has too many tasks. Nothing was changed. Try again later."
        }
    };
    OperatorError::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
}

#[cfg(test)]
mod tests;
