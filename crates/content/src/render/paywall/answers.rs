//! Which text of the payment page belongs to which answer of the service.
//!
//! Each key has a text and, with `_remedy`, what the person can do. Keys of `outcome_` have no
//! remedy: their payment is still open, and the page sends it again.

/// For the reasons of a 402, up to the first colon.
pub(super) const REASONS: &[(&str, &str)] = &[
    ("permit2_insufficient_balance", "refusal_funds"),
    ("insufficient_funds", "refusal_funds"),
    ("permit2_allowance_required", "refusal_allowance_small"),
    ("permit2_deadline_expired", "refusal_deadline"),
    ("permit2_invalid_nonce", "refusal_used"),
    ("permit2_simulation_failed", "refusal_network"),
    ("invalid_permit2_signature", "refusal_signature"),
    ("contract_wallet_not_accepted", "smart_not_accepted"),
    ("contract_wallet_not_deployed", "smart_undeployed"),
    ("contract_wallet_rejected_signature", "smart_signature_refused"),
    ("contract_wallet_failed_recently", "smart_failed_recently"),
    ("permit2_not_yet_valid", "refusal_early"),
    ("permit2_payment_too_early", "refusal_early"),
    ("upto_facilitator_mismatch", "refusal_terms"),
    ("upto_unauthorized_facilitator", "refusal_terms"),
    ("upto_amount_exceeds_permitted", "refusal_terms"),
    ("invalid_upto_evm_payload_settlement_exceeds_amount", "refusal_terms"),
    ("invalid_network", "refusal_terms"),
    ("invalid_permit2_spender", "refusal_terms"),
    ("invalid_permit2_recipient_mismatch", "refusal_terms"),
    ("permit2_token_mismatch", "refusal_terms"),
    ("permit2_amount_mismatch", "refusal_terms"),
    ("extension_echo_mismatch", "refusal_terms"),
    ("permit2_2612_amount_mismatch", "refusal_permit"),
    ("eip2612_from_mismatch", "refusal_permit"),
    ("eip2612_asset_mismatch", "refusal_permit"),
    ("eip2612_spender_not_permit2", "refusal_permit"),
    ("eip2612_deadline_expired", "refusal_permit"),
    ("invalid_eip2612_signature", "refusal_permit"),
    ("invalid_eip2612_extension_format", "refusal_permit"),
    ("invalid_upto_evm_scheme", "refusal_terms"),
    ("invalid_upto_evm_network_mismatch", "refusal_terms"),
    ("No matching payment requirements", "refusal_terms"),
    ("invalid_payload", "refusal_unread"),
    ("invalid_x402_version", "refusal_unread"),
    ("unsupported_payload_type", "refusal_unread"),
];

/// For the codes of all other errors.
pub(super) const REFUSALS: &[(&str, &str)] = &[
    ("invalid_postcard", "refusal_unread"),
    ("invalid_payment_identifier", "refusal_unread"),
    ("invalid_quote", "refusal_quote_expired"),
    ("malformed_json", "refusal_unread"),
    ("payment_ambiguous", "refusal_unread"),
    ("idempotency_conflict", "refusal_other_order"),
    ("payment_identifier_conflict", "refusal_other_order"),
    ("payment_bound_elsewhere", "refusal_other_order"),
    ("operation_expired", "refusal_expired"),
    ("permit2_allowance_required", "refusal_allowance_small"),
    ("seller_not_enabled", "refusal_seller"),
    ("seller_not_resolved", "refusal_seller"),
    ("seller_address_changed", "refusal_seller_changed"),
    ("price_conflict", "refusal_price_ceiling"),
    ("quote_expired", "refusal_quote_expired"),
    ("reconciliation_conflict", "outcome_doubt_working"),
    ("order_state_conflict", "outcome_doubt_working"),
    ("settlement_unconfirmed", "payment_lead_doubt"),
    ("submission_unresolved", "outcome_paid_open"),
    ("provider_unreachable", "outcome_doubt_provider"),
    ("provider_invalid_response", "outcome_doubt_provider"),
    ("provider_unavailable", "outcome_doubt_provider"),
    ("rate_limited", "outcome_doubt_busy"),
    ("payment_unavailable", "outcome_doubt_busy"),
    ("storage_busy", "outcome_doubt_busy"),
];

#[cfg(test)]
mod tests;
