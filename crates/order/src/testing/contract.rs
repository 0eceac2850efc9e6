//! What every store must keep, as checks that any store can be put to.
//!
//! `store_contract!` makes a test of each check. It is given a function that
//! builds a fresh store, puts the check to it, and knows how to run tasks:
//!
//! ```text
//! fn put_to<C: Future<Output = ()>>(check: impl FnOnce(Subject) -> C) { … }
//! order::store_contract!(put_to);
//! ```

#![expect(clippy::unwrap_used, reason = "a store that does not answer has failed the check")]

use std::pin::Pin;
use std::sync::Arc;

use crate::lifecycle::event::Actor;
use crate::lifecycle::{Order, Stored};
use crate::model::ids::{Timestamp, WorkerId};
use crate::ports::{Store, StoreError};

pub mod claims;
pub mod moves;
pub mod offers;
pub mod races;
pub mod samples;
pub mod tidying;
pub mod workers;

pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs all tasks at once and ends when all have ended.
pub type Crowd = fn(Vec<Task>) -> Task;

/// Ends the process that has the store open, and opens the store in the next one.
pub type Restart = Arc<dyn Fn() -> Restarting + Send + Sync>;

/// The store and the worker of the next process.
pub type Restarting = Pin<Box<dyn Future<Output = (Arc<dyn Store>, WorkerId)> + Send>>;

/// The store that is put to a check. Nothing is in it yet.
#[derive(Clone)]
pub struct Subject {
    pub store: Arc<dyn Store>,
    /// The process that has it open.
    pub worker: WorkerId,
    pub crowd: Crowd,
    pub restart: Restart,
}

impl Subject {
    /// Writes the next state and hands the order back under its new version.
    pub async fn record<S: Clone>(&self, order: Order<S>) -> Result<Order<S>, StoreError>
    where
        Stored: From<Order<S>>,
    {
        let version = self.store.record(&order.clone().into(), &Actor::Desk).await?;
        Ok(Order { version, ..order })
    }

    /// Claims for the process that has the store open.
    pub async fn claim(
        &self,
        now: Timestamp,
        until: Timestamp,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        self.store.claim(self.worker, now, until, most).await
    }

    /// The same store, as the next process sees it.
    pub async fn restarted(&self) -> Self {
        let (store, worker) = (self.restart)().await;
        Self { store, worker, ..self.clone() }
    }

    /// An order that is written down as it is.
    pub async fn keep<S: Clone>(&self, order: Order<S>) -> Order<S>
    where
        Stored: From<Order<S>>,
    {
        self.record(order).await.expect("a fresh order can be written")
    }
}

/// Makes a test of every check, run by the function that is named.
#[macro_export]
macro_rules! store_contract {
    ($put_to:path) => {
        $crate::store_contract! { $put_to;
            offers::a_store_knows_nothing_of_what_it_was_not_given,
            offers::an_offer_is_seen_at_once_by_its_id_and_its_operation,
            offers::an_offer_made_twice_is_kept_once,
            offers::offering_an_order_that_has_moved_on_returns_what_it_is_now,
            offers::the_newest_order_is_the_one_of_the_highest_generation,
            offers::an_old_generation_that_moves_once_more_stays_old,
            moves::a_move_advances_the_version_by_one_and_reads_back,
            moves::a_move_from_an_old_version_writes_nothing,
            moves::the_first_move_of_an_order_without_a_row_is_written,
            moves::a_key_of_another_order_is_refused_and_nothing_is_written,
            moves::the_orders_that_keys_are_bound_to_are_told_and_no_others,
            moves::a_move_that_loses_leaves_its_key_free,
            moves::a_declined_order_may_present_its_own_key_again_and_no_other_order_may,
            moves::every_state_reads_back_exactly,
            moves::every_state_takes_the_place_of_every_other,
            moves::of_one_operation_no_two_orders_are_in_play,
            moves::events_are_appended_in_sequence,
            claims::the_longest_due_comes_first_and_no_more_than_asked,
            claims::a_claimed_order_is_nobody_elses_until_its_lease_ends,
            claims::whoever_held_an_order_before_a_claim_can_write_it_no_more,
            claims::a_look_planned_by_a_clock_that_ran_ahead_is_due_now,
            claims::refused_cards_are_hastened_and_no_other_orders,
            claims::open_orders_are_counted_by_provider_and_network,
            workers::the_orders_of_a_dead_worker_come_first_and_whenever_they_are_due,
            workers::an_order_of_a_dead_worker_is_claimed_by_one_and_its_old_holder_is_fenced,
            workers::an_order_at_rest_or_in_the_post_waits_for_its_time_when_its_worker_dies,
            workers::a_worker_does_not_claim_its_own_walk,
            tidying::an_offer_whose_time_is_over_lapses_and_its_holder_can_write_it_no_more,
            tidying::the_oldest_unpaid_go_first_when_there_are_too_many,
            tidying::a_tombstone_is_kept_for_its_time_and_dropped_after_it,
            tidying::an_order_with_a_history_is_never_dropped,
            tidying::a_long_tidying_is_finished_in_one_call,
            tidying::an_offer_whose_payment_was_declined_lapses_and_is_never_dropped,
            tidying::age_counts_and_not_the_sequence_in_which_offers_came,
            races::of_64_payments_for_one_order_one_begins_and_the_others_stay_free,
            races::of_64_orders_for_one_payment_one_begins,
            races::no_two_claimers_get_the_same_order,
            races::an_offer_either_lapses_or_is_begun,
            races::an_offer_made_by_many_at_once_is_one_offer,
        }
    };
    ($put_to:path; $($part:ident::$check:ident,)+) => {
        $(
            #[test]
            fn $check() {
                $put_to($crate::testing::contract::$part::$check);
            }
        )+
    };
}

#[cfg(test)]
mod tests;
