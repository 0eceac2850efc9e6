//! A paid card that is not known to be with the provider: looked for, and submitted again where that cannot mail two.

use super::Reconciler;
use super::alert::{self, AlertKind};
use super::examination::Examination;
use super::payment::{PaidMoney, check_money, confirm};
use crate::lifecycle::event::Actor;
use crate::lifecycle::{Doubt, Order, Reopened, Setback, Submitting, Unfulfilled};
use crate::model::ids::Timestamp;
use crate::model::mail::ProviderAccount;
use crate::outcome::Fulfilment;
use crate::refusal::Refusal;
use crate::tender::Session;

/// After a lost answer the provider is looked at this often before the card is submitted
/// again, since its list may lag behind.
const LOOKS_BEFORE_RESUBMIT: u32 = 2;
/// A card that may be in the mail already is submitted this often. Then a person decides.
const ATTEMPTS_IN_DOUBT_MAX: u32 = 5;

impl Reconciler {
    pub(super) async fn examine_unfulfilled(
        &self,
        examination: &mut Examination<'_>,
        session: Option<&dyn Session>,
        order: Order<Unfulfilled>,
    ) -> Result<Option<AlertKind>, Refusal> {
        match order.reopen() {
            Reopened::Owed(order) => {
                let setback = match order.state.doubt {
                    Doubt::None => Setback::Refused,
                    Doubt::Earlier => Setback::Lost,
                };
                self.look_for_card(examination, session, order, setback).await.map(|()| None)
            }
            // Reported every day until a person has acknowledged it.
            Reopened::Ended(mut order) => {
                let paid = order.state.shortfall.paid_mut();
                confirm(session, paid).await;
                let now = self.writer.clock.now();
                let order = order.reminded(now);
                let kind = alert::unrest(&order.clone().into(), now);
                examination.record(order, &Actor::Reconciler).await.map(|_| kind)
            }
        }
    }

    /// Looks for the card of a paid order, and submits it again where that cannot mail two.
    pub(super) async fn look_for_card(
        &self,
        examination: &mut Examination<'_>,
        session: Option<&dyn Session>,
        mut order: Order<Submitting>,
        setback: Setback,
    ) -> Result<(), Refusal> {
        let (by, provider) = (&Actor::Reconciler, &self.writer.provider);
        let now = self.writer.clock.now();
        let found = match setback {
            // Every attempt is known to have been refused: there is nothing to find.
            // mutant: refused-waits
            Setback::Refused if order.state.attempted_at >= self.started => Ok(Vec::new()),
            // The order may come from a backup that is older than its card.
            // mutant: backup-mailed-again
            Setback::Refused => provider.find(order.id, order.state.paid.handed_in_after()).await,
            // Another provider does not know the card, and would mail a second one.
            Setback::Lost if !self.is_ours(order.state.submitted_to.as_ref()) => {
                return examination.fail(order, setback).await;
            }
            Setback::Lost => provider.find(order.id, order.state.paid.handed_in_after()).await,
        };
        if let Ok([mailpiece, ..]) = found.as_deref() {
            self.resubmit_watches.end(order.id);
            return examination.record(order.accepted(mailpiece.clone(), now), by).await.map(drop);
        }
        match check_money(session, order.state.paid.clone()).await {
            Some(PaidMoney::Stands(paid)) => order.state.paid = *paid,
            // Nothing was mailed and nothing is paid: the order can be paid again.
            Some(PaidMoney::Gone) if setback == Setback::Refused && found.is_ok() => {
                return examination.record(order.payment_reversed(now), by).await.map(drop);
            }
            Some(PaidMoney::Gone | PaidMoney::Missing) | None => {
                return examination.fail(order, setback).await;
            }
        }
        if found.is_ok() && self.may_submit_again(&order, setback, now) {
            return self.submit_again(examination, order, setback, now).await;
        }
        examination.fail(order, setback).await
    }

    async fn submit_again(
        &self,
        examination: &mut Examination<'_>,
        order: Order<Submitting>,
        setback: Setback,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let by = &Actor::Reconciler;
        self.resubmit_watches.end(order.id);
        let order = match setback {
            Setback::Refused => order,
            Setback::Lost => order.in_doubt(),
        };
        let order = order.submitting_to(self.writer.provider.account()).again(now);
        let order = examination.record(order, by).await?;
        let mailed = self.writer.mail(order, by).await;
        if (setback, mailed) == (Setback::Refused, Fulfilment::Submitted) {
            // The provider accepts cards again: others that it refused need not wait for
            // the end of their back-off.
            self.writer.store.hasten_refused(self.writer.clock.now()).await?;
        }
        Ok(())
    }

    /// Whether the provider that it was submitted to is the one that is configured now.
    pub(super) fn is_ours(&self, submitted_to: Option<&ProviderAccount>) -> bool {
        // mutant: any-provider-answers
        submitted_to == Some(&self.writer.provider.account())
    }

    /// Whether submitting the card again cannot mail two, after a look that found none: the
    /// provider refused every attempt, or it mails the same order once and was looked at
    /// often and long enough.
    fn may_submit_again(
        &self,
        order: &Order<Submitting>,
        setback: Setback,
        now: Timestamp,
    ) -> bool {
        let promises = self.writer.provider.promises();
        match setback {
            // mutant: given-up
            Setback::Refused => true,
            Setback::Lost => {
                let few = order.state.attempt < ATTEMPTS_IN_DOUBT_MAX;
                let grace = promises.grace_seconds();
                let uptime = self.writer.clock.uptime();
                let watch = self.resubmit_watches.keep(order.id, order.state.attempt, uptime);
                let looked = watch.looks >= LOOKS_BEFORE_RESUBMIT;
                // mutant: short-grace
                let waited = watch.seconds(uptime) > grace;
                // mutant: blind-resubmit
                let kept = promises.idempotent_seconds.unwrap_or_default();
                let age = now.since(order.state.since);
                // mutant: mail-again
                few && looked && waited && age.is_some_and(|age| age + grace < kept)
            }
        }
    }
}
