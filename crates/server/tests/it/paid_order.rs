//! Paid orders while the provider fails: the real checkout and adapters with the emulated provider.

mod fixture;
mod provider_faults_at_quote;
mod provider_faults_at_submit;
mod quotes;
