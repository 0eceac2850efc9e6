//! The metrics of this crate: calls to other systems, settlements, gas.
//!
//! No label holds a value from a request: neither an order nor a payer.

use std::future::Future;
use std::time::Duration;

use metrics::{counter, gauge, histogram};
use order::model::chain::Network;
use order::model::money::Usdc;
use order::ports::Failure;
use order::tender::Unsettled;
use pay::mpp::credential::TransferAuthorization;
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::settler::Permit2Payment;
use tokio::time::Instant;

pub mod measured_settler;

pub const OUTSIDE_CALLS: &str = "pennyblack_outside_calls_total";
pub const OUTSIDE_CALL_DURATION: &str = "pennyblack_outside_call_duration_seconds";
pub const SETTLEMENTS: &str = "pennyblack_settlements_total";
pub const SETTLEMENT_DURATION: &str = "pennyblack_settlement_duration_seconds";
pub const USDC_CHARGED: &str = "pennyblack_usdc_charged_atomic_total";
pub const GAS_SPENT: &str = "pennyblack_gas_spent_wei_total";
pub const SETTLER_BALANCE: &str = "pennyblack_settler_balance_wei";
pub const SETTLER_LOW_BALANCE: &str = "pennyblack_settler_low_balance_wei";

/// A payment that is about to be settled or traced.
#[derive(Clone, Copy)]
struct MeasuredPayment {
    rail: &'static str,
    network: Network,
    charge: Usdc,
}

impl MeasuredPayment {
    fn x402(due: Permit2Payment<'_>) -> Self {
        Self { rail: "x402", network: due.authorization.network, charge: due.charge }
    }

    fn mpp(authorization: &TransferAuthorization) -> Self {
        Self { rail: "mpp", network: authorization.network, charge: authorization.value }
    }
}

/// Counts a call to another system. `peer` is its name in the log, and `outcome` is `answered`,
/// `refused` or `lost`.
pub fn count_outside_call(peer: &'static str, outcome: &'static str, duration: Duration) {
    let peer = peer.trim_start_matches("a ").trim_start_matches("the ");
    counter!(OUTSIDE_CALLS, "peer" => peer, "outcome" => outcome).increment(1);
    histogram!(OUTSIDE_CALL_DURATION, "peer" => peer, "outcome" => outcome).record(duration);
}

/// Awaits a settlement and counts it.
async fn measure_settlement(
    payment: MeasuredPayment,
    settlement: impl Future<Output = Result<ConfirmedTransfer, Unsettled>>,
) -> Result<ConfirmedTransfer, Unsettled> {
    let started = Instant::now();
    let settled = settlement.await;
    let outcome = match &settled {
        Ok(_) => "settled",
        Err(Unsettled::Refused(_)) => "refused",
        Err(Unsettled::Withdrawn(_)) => "withdrawn",
        Err(Unsettled::Lost(_)) => "lost",
    };
    count_settlement(payment, outcome);
    let (rail, network) = (payment.rail, payment.network.caip2());
    histogram!(SETTLEMENT_DURATION, "rail" => rail, "network" => network, "outcome" => outcome)
        .record(started.elapsed());
    if settled.is_ok() {
        count_charge(payment);
    }
    settled
}

/// Counts a payment that a trace found. A trace that is told the transaction only checks that it
/// still stands: its charge was counted before.
fn measure_trace(
    payment: MeasuredPayment,
    told: Option<&str>,
    traced: &Result<TransferStatus, Failure>,
) {
    if let (None, Ok(TransferStatus::Moved(_))) = (told, traced) {
        count_settlement(payment, "found");
        count_charge(payment);
    }
}

fn count_settlement(payment: MeasuredPayment, outcome: &'static str) {
    let (rail, network) = (payment.rail, payment.network.caip2());
    counter!(SETTLEMENTS, "rail" => rail, "network" => network, "outcome" => outcome).increment(1);
}

fn count_charge(payment: MeasuredPayment) {
    let (rail, network) = (payment.rail, payment.network.caip2());
    counter!(USDC_CHARGED, "rail" => rail, "network" => network).increment(payment.charge.atomic());
}

/// Counts the fees of transactions in final blocks. A counter that overflows starts again at
/// zero, which Prometheus takes for a restart.
pub(crate) fn count_gas(network: Network, wei: u128) {
    let wei = u64::try_from(wei).unwrap_or(u64::MAX);
    counter!(GAS_SPENT, "network" => network.caip2()).increment(wei);
}

/// The balance that pays for gas, and the configured balance below which it is low.
pub(crate) fn set_settler_balance(network: Network, wei: u128, low: u128) {
    gauge!(SETTLER_BALANCE, "network" => network.caip2()).set(approximate(wei));
    gauge!(SETTLER_LOW_BALANCE, "network" => network.caip2()).set(approximate(low));
}

#[expect(clippy::as_conversions, reason = "a sample of Prometheus is a floating-point number")]
fn approximate(wei: u128) -> f64 {
    wei as f64
}

#[cfg(test)]
mod tests;
