//! Rules that concern several sections together.

use std::num::NonZero;

use adapters::http::HttpUrl;
use content::render::Money;

use crate::config::SandboxConfig;
use crate::config::fault::SettingProblem;
use crate::config::names::NamesConfig;
use crate::config::payments::PaymentsConfig;
use crate::config::provider::ProviderConfig;
use crate::config::reader::{FaultRecorded, SettingsReader};
use crate::config::settings;
use crate::config::values::{self, BaseUrl, ServerMode};

/// Whether an address is an EOA on another network can only be read on that network.
pub(super) fn mainnet_eoa_has_nodes(
    reader: &mut SettingsReader,
    names: Result<NamesConfig, FaultRecorded>,
    payments: &Result<PaymentsConfig, FaultRecorded>,
) -> Result<NamesConfig, FaultRecorded> {
    match (names?, payments) {
        (NamesConfig::Ens(ens), Ok(payments)) if ens.mainnet_eoa && payments.nodes().is_none() => {
            let problem = SettingProblem::new(
                "is `yes`, but no node is set to check whether an address is an EOA on other \
                 networks",
                "Set payments.kind = \"settler\" or \"facilitator\" and nodes in payments.rpc.",
            );
            Err(reader.record_fault(&settings::NAMES_MAINNET_EOA, problem))
        }
        (names @ (NamesConfig::Ens(_) | NamesConfig::Sandbox), Ok(_) | Err(FaultRecorded)) => {
            Ok(names)
        }
    }
}

/// Rejects a real service beside an emulated one, unless `sandbox.mixed` allows it: real money
/// would buy a card that is not mailed, or a real card would be mailed without payment.
pub(super) fn sandbox(
    reader: &mut SettingsReader,
    names: &Result<NamesConfig, FaultRecorded>,
    provider: &Result<ProviderConfig, FaultRecorded>,
    payments: &Result<PaymentsConfig, FaultRecorded>,
) -> Result<SandboxConfig, FaultRecorded> {
    let port = reader.take(&settings::SANDBOX_PORT, |text| values::number::<u16>(text, 0..=65_535));
    let emulator = reader.take_optional(&settings::SANDBOX_PROVIDER, provider_emulator);
    let speed = speed(reader, provider);
    let allowed = reader.take(&settings::SANDBOX_MIXED, values::yes_or_no)?;
    let mixture = match (names, provider, payments) {
        (Ok(names), Ok(provider), Ok(payments)) => mixture(names, provider, payments),
        (Err(FaultRecorded), _, _) | (_, Err(FaultRecorded), _) | (_, _, Err(FaultRecorded)) => {
            None
        }
    };
    match mixture {
        Some(mixture) if !allowed => {
            let problem = SettingProblem::new(
                format!("{mixture}; sandbox.mixed does not allow that"),
                "Use real services only or the sandbox only, or set sandbox.mixed = \"yes\" for a \
                 trial.",
            );
            Err(reader.record_fault(&settings::SANDBOX_MIXED, problem))
        }
        Some(_) | None => Ok(SandboxConfig { port: port?, provider: emulator?, speed: speed? }),
    }
}

fn provider_emulator(text: &str) -> Result<HttpUrl, SettingProblem> {
    HttpUrl::parse(text)
        .map_err(|fault| SettingProblem::new("is an invalid URL", fault.to_string()))
}

/// A card whose response was lost is searched for by this clock before it is submitted again, so
/// with a real provider the clock must run at normal speed.
fn speed(
    reader: &mut SettingsReader,
    provider: &Result<ProviderConfig, FaultRecorded>,
) -> Result<NonZero<u32>, FaultRecorded> {
    let speed = reader.take(&settings::SANDBOX_SPEED, values::speed)?;
    match provider {
        Ok(ProviderConfig::ThanksIo(_) | ProviderConfig::Lob(_)) if speed > NonZero::<u32>::MIN => {
            let problem = SettingProblem::new(
                "is above 1, and provider.kind mails real cards",
                "Set it to 1, or set provider.kind = \"sandbox\".",
            );
            Err(reader.record_fault(&settings::SANDBOX_SPEED, problem))
        }
        Ok(
            ProviderConfig::ThanksIo(_)
            | ProviderConfig::Lob(_)
            | ProviderConfig::Sandbox(_)
            | ProviderConfig::Disabled,
        )
        | Err(FaultRecorded) => Ok(speed),
    }
}

/// Which two sections mix real and emulated services, if any do.
fn mixture(
    names: &NamesConfig,
    provider: &ProviderConfig,
    payments: &PaymentsConfig,
) -> Option<&'static str> {
    match (names, provider, payments) {
        // Nothing is sold, so no payments are made.
        (_, ProviderConfig::Disabled, _) => None,
        (NamesConfig::Sandbox, ProviderConfig::ThanksIo(_) | ProviderConfig::Lob(_), _) => {
            Some("names.kind is the sandbox's, and provider.kind mails real cards")
        }
        (NamesConfig::Ens(_), ProviderConfig::Sandbox(_), _) => {
            Some("names.kind is real, and the sandbox's provider mails nothing")
        }
        (
            NamesConfig::Sandbox,
            ProviderConfig::Sandbox(_),
            PaymentsConfig::Settler(_) | PaymentsConfig::Facilitator(_),
        ) => Some("names.kind is the sandbox's, and payments.kind moves real money"),
        (
            NamesConfig::Ens(_),
            ProviderConfig::ThanksIo(_) | ProviderConfig::Lob(_),
            PaymentsConfig::Sandbox,
        ) => Some("names and cards are real, and the sandbox's payments move no money"),
        (
            NamesConfig::Sandbox,
            ProviderConfig::Sandbox(_),
            PaymentsConfig::Sandbox | PaymentsConfig::Disabled,
        )
        | (
            NamesConfig::Ens(_),
            ProviderConfig::ThanksIo(_) | ProviderConfig::Lob(_),
            PaymentsConfig::Settler(_) | PaymentsConfig::Facilitator(_) | PaymentsConfig::Disabled,
        ) => None,
    }
}

/// Where real money can move, whatever the mode is, callers must use https.
pub(super) fn secure_base_url(
    reader: &mut SettingsReader,
    base_url: Result<Option<BaseUrl>, FaultRecorded>,
    mode: Result<ServerMode, FaultRecorded>,
    payments: &Result<PaymentsConfig, FaultRecorded>,
) -> Result<Option<BaseUrl>, FaultRecorded> {
    let base_url = base_url?;
    let money = payments.as_ref().map_or(Money::Play, PaymentsConfig::money);
    let is_real = money == Money::Real || mode.is_ok_and(|mode| mode == ServerMode::Live);
    match &base_url {
        Some(url) if is_real && url.is_insecure() => {
            let problem = SettingProblem::new(
                format!("`{url}` is not encrypted, and payment credentials are sent there"),
                "Use https, or server.mode = \"sandbox\" with payments.kind = \"sandbox\".",
            );
            Err(reader.record_fault(&settings::BASE_URL, problem))
        }
        Some(_) | None => Ok(base_url),
    }
}
