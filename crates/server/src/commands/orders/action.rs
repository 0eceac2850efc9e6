//! An action on one order: shows the order, says what will happen, asks, and reports.

use std::process::ExitCode;

use order::operator::transfers::TransactionHash;
use serde_json::{Value, json};

use super::consent::{self, Consent};
use super::order_path::path;
use super::text;
use crate::cli::orders::ActionArguments;
use crate::commands::operator_client::{ClientError, OperatorClient};
use crate::console;
use crate::operator::action_kind::ActionKind;

/// An action with what it needs besides the order.
pub(super) enum OrderAction {
    Resubmit,
    Attach(String),
    Refund(TransactionHash),
    Acknowledge,
    Erase,
    Reveal,
}

impl OrderAction {
    const fn kind(&self) -> ActionKind {
        match self {
            Self::Resubmit => ActionKind::Resubmit,
            Self::Attach(_) => ActionKind::Attach,
            Self::Refund(_) => ActionKind::Refund,
            Self::Acknowledge => ActionKind::Acknowledge,
            Self::Erase => ActionKind::Erase,
            Self::Reveal => ActionKind::Reveal,
        }
    }

    /// What will happen.
    fn intent(&self) -> String {
        match self {
            Self::Resubmit => {
                "The provider is asked first. If it has the card, the card is attached. If not, the card is submitted once more. \
                 Check the provider's own list before: a card that appears there later would be mailed twice."
                    .to_owned()
            }
            Self::Attach(mailpiece) => format!(
                "If the provider confirms that its card {} carries this order's id, the order is recorded as mailed, and the text of the card is deleted here.",
                text::plain(mailpiece)
            ),
            Self::Refund(transaction) => format!(
                "If {} is final and transfers at least the charge from the seller to the payer, the order is recorded as refunded. \
                 The transaction is bound to this order for good, and the text of the card is deleted here.",
                transaction.as_str()
            ),
            Self::Acknowledge => {
                "The order raises no alert any more until its state changes. The reconciler goes on."
                    .to_owned()
            }
            Self::Erase => {
                "The text of the card is deleted for good, so that it cannot be mailed any more. A refund is due from then on."
                    .to_owned()
            }
            Self::Reveal => {
                "The card is shown, with the recipient's name and address. An event records that you saw it."
                    .to_owned()
            }
        }
    }
}

/// Shows the order, and acts on what was shown.
pub(super) fn run(
    action: &OrderAction,
    given: &ActionArguments,
    client: &OperatorClient,
) -> Result<ExitCode, ClientError> {
    let order = client.get(&path(&given.order.order)?)?;
    let Some(done) = ask_and_act(action, given, &order, client)? else {
        return Ok(ExitCode::FAILURE);
    };
    console::print(&format!(
        "{}\n  state  {}\n  owed   {}\n",
        text::word(&done["message"]),
        text::word(&done["order"]["state"]),
        text::word(&done["order"]["owed"])
    ));
    Ok(if done["done"] == "submission_failed" { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// None if the operator does not consent.
pub(super) fn ask_and_act(
    action: &OrderAction,
    given: &ActionArguments,
    order: &Value,
    client: &OperatorClient,
) -> Result<Option<Value>, ClientError> {
    let operator = consent::operator(&given.consent)?;
    console::print_error(&format!("{}\n{}\n", text::heading(order), action.intent()));
    if consent::ask(&given.consent)? == Consent::Refused {
        console::print_error("Nothing was changed.\n");
        return Ok(None);
    }
    let mut body = json!({
        "version": order["version"],
        "facts_digest": order["facts_digest"],
        "operator": operator.as_str(),
    });
    if let Some(note) = &given.note {
        body["note"] = json!(note);
    }
    match action {
        OrderAction::Attach(mailpiece) => body["mailpiece"] = json!(mailpiece),
        OrderAction::Refund(transaction) => body["transaction"] = json!(transaction.as_str()),
        OrderAction::Resubmit
        | OrderAction::Acknowledge
        | OrderAction::Erase
        | OrderAction::Reveal => {}
    }
    let path = path(&given.order.order)?;
    client.post(&format!("{path}/{}", action.kind().name()), &body).map(Some)
}
