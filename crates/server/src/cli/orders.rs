//! The arguments of `pennyblack orders`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use order::lifecycle::event::OperatorName;
use order::model::chain::EvmAddress;
use order::operator::transfers::TransactionHash;

use crate::cli::time_argument::TimeArgument;

pub(crate) const ORDERS_HELP: &str = "\
These commands talk to the running service by the socket operator.sock in its data folder, so they
work for the user that runs the service, on the same machine:
  pennyblack orders list --attention
  pennyblack orders show 0123456789abcdef0123456789abcdef

A command that changes an order shows the order, says what it will do, and asks. It is rejected if
the order has changed since it was shown. The event that it records names you.

Elsewhere, through an SSH tunnel to operator.listen:
  pennyblack orders list --operator-url http://127.0.0.1:8404 --token-file operator.token

Exit codes:
  0  done
  1  rejected, or the service did not answer; nothing was changed unless the message says so
  2  an argument or the configuration is invalid";

const LIST_HELP: &str = "\
Examples:
  pennyblack orders list --attention             orders that need a person
  pennyblack orders list --state mailed --since 2d
  pennyblack orders list --payer 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed --json

States: settling, unconfirmed, submitting, unfulfilled_refused, unfulfilled_lost,
unfulfilled_undelivered, unfulfilled_erased, mailed, refunded.";

const SHOW_HELP: &str = "\
Example:
  pennyblack orders show 0123456789abcdef0123456789abcdef

The card itself is personal data and is not shown. --reveal shows a card that is still owed, and
records that you saw it:
  pennyblack orders show 0123456789abcdef0123456789abcdef --reveal";

const EVIDENCE_HELP: &str = "\
Asks the chain and the provider now, and prints one JSON document without personal data, for a
dispute with a payer or the provider. Null means that there was no answer, or nothing to ask about.

Example:
  pennyblack orders evidence 0123456789abcdef0123456789abcdef > evidence.json";

const RESUBMIT_HELP: &str = "\
For a card whose submission had an unknown outcome or was refused. The provider is asked first: a
card that it has is attached, and nothing is submitted. Rejected for some minutes after the last
attempt, while the provider may not list it yet. Check the provider's own list before: a card that
appears there later would be mailed twice.

Example:
  pennyblack orders resubmit 0123456789abcdef0123456789abcdef --note 'not in the list after 2 hours'";

const ATTACH_HELP: &str = "\
For a card that you found at the provider. The provider must confirm that it carries the order's id.

Example:
  pennyblack orders attach 0123456789abcdef0123456789abcdef psc_0123456789abcdef";

const REFUND_HELP: &str = "\
First return the money yourself: from the seller's account to the payer's, on the order's network, at
least the charge. Then record it. Only the chain is trusted: the transfer must be in a final block,
which takes up to half an hour, and one transaction refunds one order.

Example:
  pennyblack orders refund 0123456789abcdef0123456789abcdef --transaction 0x…";

const ACKNOWLEDGE_HELP: &str = "\
The order raises no alert any more until its state changes. The reconciler goes on.

Example:
  pennyblack orders acknowledge 0123456789abcdef0123456789abcdef --note 'provider asked, ticket 4711'";

const ERASE_HELP: &str = "\
For a card that will not be mailed. Its text, with the recipient's name and address, is deleted for
good. A refund is due from then on.

Example:
  pennyblack orders erase 0123456789abcdef0123456789abcdef";

const EVENTS_HELP: &str = "\
Examples:
  pennyblack orders events                the last 20 events
  pennyblack orders events --follow       and those that come, until Ctrl-C
  pennyblack orders events --after 4711   all events after number 4711";

#[derive(Clone, Args)]
pub(crate) struct OrdersArguments {
    #[command(flatten)]
    pub connection: ConnectionArguments,

    #[command(subcommand)]
    pub command: OrdersCommand,
}

/// How the running service is reached.
#[derive(Clone, Default, Args)]
pub(crate) struct ConnectionArguments {
    /// The URL of the operator's listener; default: the socket in the data folder
    #[arg(long, global = true, value_name = "URL", requires = "token_file")]
    pub operator_url: Option<String>,

    /// A file with the token for that listener
    #[arg(long, global = true, value_name = "FILE", requires = "operator_url")]
    pub token_file: Option<PathBuf>,
}

#[derive(Clone, Subcommand)]
pub(crate) enum OrdersCommand {
    /// List orders, the newest first
    #[command(after_help = LIST_HELP)]
    List(ListArguments),
    /// Show an order: state, payment, provider, what is owed, and its events
    #[command(after_help = SHOW_HELP)]
    Show(ShowArguments),
    /// Ask chain and provider about an order, and print a document for a dispute
    #[command(after_help = EVIDENCE_HELP)]
    Evidence(OrderArgument),
    /// Submit a card once more whose outcome is unknown, unless the provider has it
    #[command(after_help = RESUBMIT_HELP)]
    Resubmit(ActionArguments),
    /// Attach a card that the provider has for an order
    #[command(after_help = ATTACH_HELP)]
    Attach(AttachArguments),
    /// Record a refund that was made on the chain
    #[command(after_help = REFUND_HELP)]
    Refund(RefundArguments),
    /// Acknowledge that an order needs a person
    #[command(after_help = ACKNOWLEDGE_HELP)]
    Acknowledge(AcknowledgeArguments),
    /// Delete the text of a card that will not be mailed
    #[command(after_help = ERASE_HELP)]
    Erase(ActionArguments),
    /// Show what happened to all orders
    #[command(after_help = EVENTS_HELP)]
    Events(EventsArguments),
}

#[derive(Clone, Args)]
pub(crate) struct ListArguments {
    /// Only orders in this state
    #[arg(long)]
    pub state: Option<String>,

    /// Only orders that need a person and that no operator has acknowledged
    #[arg(long)]
    pub attention: bool,

    /// Only orders that began then or later: a time, a day, or an age such as 2d, 12h or 30m
    #[arg(long, value_name = "TIME")]
    pub since: Option<TimeArgument>,

    /// Only orders of this payer
    #[arg(long, value_name = "ADDRESS", value_parser = evm_address)]
    pub payer: Option<EvmAddress>,

    /// The most orders that are listed
    #[arg(long, default_value = "50")]
    pub limit: usize,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Args)]
pub(crate) struct OrderArgument {
    /// The order's id: 32 hexadecimal digits
    #[arg(value_name = "ID")]
    pub order: String,
}

/// What every command needs that acts on an order.
#[derive(Clone, Args)]
pub(crate) struct ActionArguments {
    #[command(flatten)]
    pub order: OrderArgument,

    #[command(flatten)]
    pub consent: ConsentArguments,

    /// Why, for the event. It must not contain names or addresses
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

/// Who acts, and whether they are asked.
#[derive(Clone, Args)]
pub(crate) struct ConsentArguments {
    /// Your name in the event; default: your login name
    #[arg(long, value_name = "NAME", value_parser = operator_name)]
    pub operator: Option<OperatorName>,

    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
}

#[derive(Clone, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub order: OrderArgument,

    #[command(flatten)]
    pub consent: ConsentArguments,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// Show the card too, if it is still owed, and record that
    #[arg(long)]
    pub reveal: bool,
}

#[derive(Clone, Args)]
pub(crate) struct AttachArguments {
    #[command(flatten)]
    pub action: ActionArguments,

    /// The provider's id of the card
    pub mailpiece: String,
}

#[derive(Clone, Args)]
pub(crate) struct RefundArguments {
    #[command(flatten)]
    pub action: ActionArguments,

    /// The transaction with the transfer from the seller to the payer
    #[arg(long, value_name = "HASH", value_parser = transaction)]
    pub transaction: TransactionHash,
}

#[derive(Clone, Args)]
pub(crate) struct AcknowledgeArguments {
    #[command(flatten)]
    pub order: OrderArgument,

    #[command(flatten)]
    pub consent: ConsentArguments,

    /// Why, for the event. It must not contain names or addresses
    #[arg(long, value_name = "TEXT")]
    pub note: String,
}

#[derive(Clone, Args)]
pub(crate) struct EventsArguments {
    /// Wait for further events
    #[arg(long)]
    pub follow: bool,

    /// All events after this number; default: the last 20
    #[arg(long, value_name = "NUMBER")]
    pub after: Option<u64>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

fn evm_address(text: &str) -> Result<EvmAddress, String> {
    text.parse()
        .map_err(|_| "write 0x and 40 hexadecimal digits, with the right checksum".to_owned())
}

fn operator_name(text: &str) -> Result<OperatorName, String> {
    text.parse().map_err(|_| "write 1 to 64 of A-Z, a-z, 0-9 and ._@-".to_owned())
}

fn transaction(text: &str) -> Result<TransactionHash, String> {
    TransactionHash::parse(text).map_err(|_| "write 0x and 64 hexadecimal digits".to_owned())
}
