//! What the console says of each action, and where it offers it.

use minijinja::context;
use minijinja::value::Value;
use order::lifecycle::Stored;
use order::model::ids::Timestamp;
use order::operator::filter::needs_attention;

use crate::operator::action_kind::ActionKind;
use crate::operator::order_facts;

/// What an operator types for an action besides the note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ActionInput {
    pub(super) name: &'static str,
    label: &'static str,
    hint: &'static str,
    longest: u32,
}

const TRANSACTION: ActionInput = ActionInput {
    name: "transaction",
    label: "Transaction",
    hint: "The hash of the transfer: 0x and 64 hexadecimal digits.",
    longest: 66,
};
const MAILPIECE: ActionInput = ActionInput {
    name: "mailpiece",
    label: "Card at the provider",
    hint: "The provider's id of the card.",
    longest: 200,
};

impl ActionKind {
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Resubmit => "Resubmit the card",
            Self::Attach => "Attach a card",
            Self::Refund => "Record a refund",
            Self::Acknowledge => "Acknowledge",
            Self::Erase => "Erase the card",
            Self::Reveal => "Reveal the card",
        }
    }

    /// One sentence for the list of actions.
    const fn summary(self) -> &'static str {
        match self {
            Self::Resubmit => {
                "Looks for the card at the provider, and submits it if there is none."
            }
            Self::Attach => "Names the card that the provider has for this order.",
            Self::Refund => "Proves with a transaction that the payer has their money back.",
            Self::Acknowledge => "Stops the alerts until the order's state changes.",
            Self::Erase => "Deletes the text of a card that will not be mailed.",
            Self::Reveal => "Shows the text and the recipient of the card that is owed.",
        }
    }

    /// What it will do, for the page that asks to confirm it.
    const fn effect(self) -> &'static [&'static str] {
        match self {
            Self::Resubmit => &[
                "The provider is asked first. If it has a card with this order's reference, that \
                 card is attached and nothing is submitted.",
                "The payment is checked on the chain. If it cannot be confirmed, nothing is \
                 submitted.",
                "Otherwise the card is submitted once more. If an earlier submission was accepted \
                 and the provider does not list it, two cards are mailed.",
            ],
            Self::Attach => &[
                "The provider is asked for the cards with this order's reference. If the card is \
                 not among them, nothing is changed.",
                "Otherwise the order is mailed, and the text of the card is deleted.",
            ],
            Self::Refund => &[
                "The transaction is read from the order's network. It must be final and transfer \
                 at least the charge from the seller to the payer. If it does not, nothing is \
                 changed.",
                "Otherwise the order is refunded, the transaction belongs to it permanently, and \
                 the text of the card is deleted. No money is moved by this action.",
            ],
            Self::Acknowledge => &[
                "The order raises no alert and is not listed as needing attention until its state \
                 changes. The reconciler continues to examine it.",
            ],
            Self::Erase => &[
                "The text and the recipient of the card are deleted. They cannot be restored.",
                "The card will not be mailed, and a refund is due.",
            ],
            Self::Reveal => &[
                "The message, the recipient and the picture's URL are shown once.",
                "That they were shown is recorded with your name.",
            ],
        }
    }

    const fn input(self) -> Option<ActionInput> {
        match self {
            Self::Attach => Some(MAILPIECE),
            Self::Refund => Some(TRANSACTION),
            Self::Resubmit | Self::Acknowledge | Self::Erase | Self::Reveal => None,
        }
    }

    /// Whether it cannot be undone and loses something.
    const fn is_destructive(self) -> bool {
        match self {
            Self::Erase => true,
            Self::Resubmit | Self::Attach | Self::Refund | Self::Acknowledge | Self::Reveal => {
                false
            }
        }
    }

    /// Whether it is offered for this order. The action itself checks again.
    pub(super) fn is_possible(self, order: &Stored, now: Timestamp) -> bool {
        let is_useful = match self {
            Self::Acknowledge => needs_attention(order, now),
            Self::Resubmit | Self::Attach | Self::Refund | Self::Erase | Self::Reveal => true,
        };
        is_useful && order_facts::possible_actions(order).contains(&self)
    }

    pub(super) fn value(self) -> Value {
        let input = self.input().map(|input| {
            let ActionInput { name, label, hint, longest } = input;
            context! { name => name, label => label, hint => hint, longest => longest }
        });
        context! {
            name => self.name(),
            title => self.title(),
            summary => self.summary(),
            effect => self.effect(),
            input => input,
            destructive => self.is_destructive(),
            note_required => self == Self::Acknowledge,
        }
    }
}
