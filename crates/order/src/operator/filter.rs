//! Which orders an operator lists.

use crate::lifecycle::{Shortfall, Standing, Stored};
use crate::model::chain::EvmAddress;
use crate::model::ids::{OrderId, Timestamp};

/// Which orders are listed. Only orders for which a payment began are, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// One of the [headlines](Stored::headline).
    pub state: Option<String>,
    pub attention: AttentionFilter,
    /// Begun at this time or later.
    pub since: Option<Timestamp>,
    /// Begun before this time.
    pub until: Option<Timestamp>,
    pub payer: Option<EvmAddress>,
    /// Only orders after this one in the list: the last one of the page before.
    pub after: Option<(Timestamp, OrderId)>,
}

/// Whether only orders are listed that need a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttentionFilter {
    #[default]
    All,
    /// Those that need a person now and that no operator has acknowledged.
    NeedsAttention(Timestamp),
}

/// After so many examinations without a result an order needs a person.
pub const ATTENTION_LOOKS: u32 = 9;
/// A payment that is not final after this long needs a person.
pub const ATTENTION_FINALITY_SECONDS: u64 = 60 * 60;

impl OrderFilter {
    /// Whether the order is in the list. Stores ask their database the same.
    pub fn admits(&self, order: &Stored) -> bool {
        let state = self.state.as_ref().is_none_or(|state| order.headline() == state);
        let attention = match self.attention {
            AttentionFilter::All => true,
            AttentionFilter::NeedsAttention(now) => needs_attention(order, now),
        };
        let (at, id) = (order.created_at(), order.id());
        let since = self.since.is_none_or(|since| since <= at);
        let until = self.until.is_none_or(|until| at < until);
        let payer = |payer| order.payment().is_some_and(|paid| paid.authorization.payer == payer);
        let after = self.after.is_none_or(|after| (at, id) < after);
        state && attention && since && until && self.payer.is_none_or(payer) && after
    }
}

/// Whether a person must act: a refund or a decision is due, or the reconciler finds nothing out.
pub fn needs_attention(order: &Stored, now: Timestamp) -> bool {
    let attention = order.attention();
    let in_vain = attention.looks >= ATTENTION_LOOKS;
    attention.due.is_some()
        && attention.acknowledged.is_none()
        && match order {
            Stored::Settling(_) | Stored::Unconfirmed(_) | Stored::Submitting(_) => in_vain,
            Stored::Unfulfilled(order) => match order.state.shortfall {
                Shortfall::Lost(_) | Shortfall::Undelivered(_) | Shortfall::Erased(_) => true,
                Shortfall::Refused(_) => in_vain,
            },
            Stored::Mailed(order) => match order.state.paid.standing {
                Standing::Reversed => true,
                Standing::Provisional => {
                    order.state.paid.settlement.at.plus(ATTENTION_FINALITY_SECONDS) < now
                }
                Standing::Final => false,
            },
            Stored::Offered(_) | Stored::Refunded(_) | Stored::Lapsed(_) => false,
        }
}
