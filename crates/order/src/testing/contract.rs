//! The store contract, as checks that run against any store.
//!
//! `store_contract!` makes a test of each check. It is given a function that
//! builds an empty store and runs the check on it:
//!
//! ```text
//! fn run_check<C: Future<Output = ()>>(check: impl FnOnce(StoreUnderTest) -> C) { … }
//! order::store_contract!(run_check);
//! ```

#![expect(clippy::unwrap_used, reason = "a store that does not answer has failed the check")]

pub mod claims;
pub mod lists;
pub mod offers;
pub mod races;
pub mod samples;
mod store_under_test;
pub mod tidying;
pub mod transitions;
pub mod workers;

pub use store_under_test::{
    RestartFuture, RestartStore, RunConcurrently, StoreTask, StoreUnderTest,
};

/// Defines a test for every check, run by the given function.
#[macro_export]
macro_rules! store_contract {
    ($run_check:path) => {
        $crate::store_contract! { $run_check;
            offers::an_empty_store_finds_nothing,
            offers::an_offer_is_seen_at_once_by_its_id_and_its_operation,
            offers::an_offer_made_twice_is_kept_once,
            offers::offering_an_order_that_has_moved_on_returns_what_it_is_now,
            offers::the_newest_order_is_the_one_of_the_highest_generation,
            offers::a_late_transition_of_an_old_generation_does_not_make_it_newest,
            transitions::a_transition_advances_the_version_by_one_and_reads_back,
            transitions::a_transition_from_an_old_version_writes_nothing,
            transitions::the_first_transition_of_an_order_without_a_row_is_written,
            transitions::a_key_of_another_order_is_refused_and_nothing_is_written,
            transitions::bound_returns_exactly_the_orders_that_keys_are_bound_to,
            transitions::a_transition_that_loses_leaves_its_key_free,
            transitions::a_declined_order_may_present_its_own_key_again_and_no_other_order_may,
            transitions::every_state_reads_back_exactly,
            transitions::every_state_can_replace_every_other,
            transitions::of_one_operation_no_two_orders_are_in_play,
            transitions::events_are_appended_in_sequence,
            claims::the_longest_due_comes_first_and_no_more_than_asked,
            claims::an_order_in_play_is_claimed_before_mailed_cards_that_are_due_longer,
            claims::a_claimed_order_is_not_claimed_again_until_its_lease_ends,
            claims::a_holder_from_before_a_claim_can_no_longer_write_the_order,
            claims::a_check_scheduled_by_a_clock_that_ran_ahead_is_due_now,
            claims::only_refused_cards_are_made_due_now,
            claims::open_orders_are_counted_by_provider_and_network,
            lists::the_operators_list_has_begun_orders_newest_first_page_by_page,
            lists::every_filter_admits_what_the_domain_admits,
            lists::events_of_all_orders_are_numbered_and_carry_notes,
            lists::orders_in_play_are_counted_by_state,
            lists::a_refund_transaction_refunds_one_order,
            workers::orders_of_a_dead_worker_are_claimed_first_whenever_they_are_due,
            workers::an_order_of_a_dead_worker_is_claimed_by_one_and_its_old_holder_is_fenced,
            workers::a_resting_or_mailed_order_of_a_dead_worker_waits_until_it_is_due,
            workers::a_worker_does_not_claim_the_order_that_it_works_on,
            tidying::an_expired_offer_lapses_and_its_holder_can_no_longer_write_it,
            tidying::above_the_limit_the_oldest_unpaid_orders_are_dropped_first,
            tidying::a_lapsed_identifier_is_dropped_after_its_retention_time,
            tidying::an_order_with_a_history_is_never_dropped,
            tidying::a_long_tidying_is_finished_in_one_call,
            tidying::an_offer_whose_payment_was_declined_lapses_and_is_never_dropped,
            tidying::offers_are_dropped_by_age_and_not_by_insertion_order,
            races::of_64_payments_for_one_order_one_begins_and_the_others_stay_free,
            races::of_64_orders_for_one_payment_one_begins,
            races::no_two_claimers_get_the_same_order,
            races::an_offer_either_lapses_or_is_begun,
            races::an_offer_made_by_many_at_once_is_one_offer,
        }
    };
    ($run_check:path; $($part:ident::$check:ident,)+) => {
        $(
            #[test]
            fn $check() {
                $run_check($crate::testing::contract::$part::$check);
            }
        )+
    };
}

#[cfg(test)]
mod tests;
