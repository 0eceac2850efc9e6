//! Sending what was kept, and waiting for its receipt.

use alloy_primitives::B256;
use order::payment::Finality;
use order::ports::{Failure, Moment};
use pay::movement::Moved;

use super::{Lane, Paid, Seen};
use crate::rpc::{NotSent, Sent};
use crate::settler::bundle::Bundle;
use crate::settler::queue::{ErrandId, Release, Turn};
use crate::settler::transaction::Signed;

/// How often we look after a transaction that this call could not send: it may be
/// in a block that only some nodes have seen.
const HOPELESS_LOOKS: u64 = 3;
/// Milliseconds between the first looks. Some chains and every development node have
/// a transaction in a block long before a second has passed.
const FIRST_LOOKS: [u64; 5] = [20, 50, 100, 250, 500];
/// After so many looks in vain the queue may need a hand, and after as many again.
const MEND_LOOKS: u64 = 4;

/// Whose account signed what is to be sent.
#[derive(Clone, Copy)]
pub(in crate::settler) enum Whose {
    Ours(ErrandId),
    /// One whose key is gone: its numbers are none of our queue.
    Retired,
}

/// Why there is no receipt that pays.
pub(in crate::settler) enum Unpaid {
    /// The one transaction that was ever signed never left us.
    NeverSent(String),
    /// Every one that was signed has failed in a block that stays. What they carried is
    /// there for all to read.
    Reverted(String),
    /// Any of them may still pay.
    Unknown(String),
}

/// For a promise that nobody but us can carry: what has failed for good is over.
impl From<Unpaid> for Failure {
    fn from(unpaid: Unpaid) -> Self {
        match unpaid {
            Unpaid::NeverSent(why) | Unpaid::Reverted(why) => Self::Refused(why),
            Unpaid::Unknown(why) => Self::Lost(why),
        }
    }
}

/// What may be hoped for after sending.
enum Sending {
    /// It is on its way, or may be.
    Begun,
    /// It was certainly not sent by this call, and never before.
    Never(String),
    /// It was not sent by this call; what happened before is not known.
    Hopeless(String),
}

impl Lane {
    /// Sends the newest transaction and waits for the receipt of any.
    ///
    /// It may be asked twice, and more than one transaction may go out for one
    /// payment: each of them spends the same promise, which the contract that
    /// keeps its nonce lets happen once. So nobody is charged twice.
    ///
    /// That it is over is said in two cases only. The one transaction that was ever
    /// signed never left us. Or every one that was signed has failed in a block that
    /// stays: in a block that does not, it could come again and succeed, after the
    /// payer was told to sign anew.
    pub(in crate::settler) async fn carry(
        &self,
        errand: Whose,
        bundle: &Bundle,
        paid: &Paid<'_>,
    ) -> Result<Moved, Unpaid> {
        let Some(newest) = bundle.newest() else {
            return Err(Unpaid::Unknown("nothing to send".to_owned()));
        };
        let begun = self.clock.uptime();
        let sending = self.send(errand, newest).await;
        let hashes = bundle.hashes();
        for looks in 1.. {
            if let Some(end) = self.look_once(&hashes, paid).await {
                return end;
            }
            match &sending {
                Sending::Never(why) if hashes.len() == 1 => {
                    return Err(Unpaid::NeverSent(why.clone()));
                }
                Sending::Never(why) | Sending::Hopeless(why) if looks >= HOPELESS_LOOKS => {
                    return Err(Unpaid::Unknown(why.clone()));
                }
                Sending::Begun if looks == 1 => {
                    if let Some(end) = self.look_soon(&hashes, paid).await {
                        return end;
                    }
                }
                Sending::Never(_) | Sending::Hopeless(_) | Sending::Begun => {}
            }
            if self.clock.uptime().saturating_sub(begun) >= self.receipt_seconds {
                break;
            }
            if looks % MEND_LOOKS == 0 {
                self.mend().await;
            }
            self.clock.wait(1).await;
        }
        Err(Unpaid::Unknown("no receipt in time".to_owned()))
    }

    async fn send(&self, whose: Whose, newest: &Signed) -> Sending {
        let turn = match whose {
            Whose::Ours(errand) => self.queue.begin(errand, newest, self.clock.uptime()),
            Whose::Retired => Turn::Again,
        };
        if turn == Turn::Others {
            return Sending::Hopeless("its number went to another transaction".to_owned());
        }
        let sent = self.node.send(&newest.raw).await;
        if let Err(why @ NotSent::Unheard(_)) = &sent {
            return match (turn, whose) {
                (Turn::First, Whose::Ours(errand)) => self.give_back(errand, newest.nonce, why),
                (Turn::First | Turn::Again | Turn::Others, _) => Sending::Hopeless(why.to_string()),
            };
        }
        if let Whose::Ours(errand) = whose {
            self.queue.sent(errand, newest.nonce);
        }
        match sent {
            Ok(Sent::Taken | Sent::Known) | Err(NotSent::Lost(_)) => Sending::Begun,
            // Fees, numbers and purses change, and then it is signed again: that is no
            // reason to send the payer away. And it may be the word of one node of many.
            Err(why) => Sending::Hopeless(why.to_string()),
        }
    }

    fn give_back(&self, errand: ErrandId, nonce: u64, why: &NotSent) -> Sending {
        match self.queue.release(errand, nonce) {
            Release::NeverSent => Sending::Never(why.to_string()),
            Release::PerhapsSent => Sending::Hopeless(why.to_string()),
        }
    }

    /// The looks of the first second.
    async fn look_soon(&self, hashes: &[B256], paid: &Paid<'_>) -> Option<Result<Moved, Unpaid>> {
        for milliseconds in FIRST_LOOKS {
            if self.clock.moment(milliseconds).await == Moment::PassedOver {
                return None;
            }
            let end = self.look_once(hashes, paid).await;
            if end.is_some() {
                return end;
            }
        }
        None
    }

    /// None: wait, and look again. A node that does not answer now may do so then.
    async fn look_once(&self, hashes: &[B256], paid: &Paid<'_>) -> Option<Result<Moved, Unpaid>> {
        match self.look(hashes, paid).await {
            Ok(Seen::Paid(moved)) => Some(Ok(moved)),
            Ok(Seen::Failed(Finality::Final)) => {
                Some(Err(Unpaid::Reverted("the transaction was reverted".to_owned())))
            }
            Ok(Seen::Failed(Finality::Provisional)) => {
                Some(Err(Unpaid::Unknown("reverted, in a block that may not stay".to_owned())))
            }
            Ok(Seen::Nothing) | Err(_) => None,
        }
    }
}
