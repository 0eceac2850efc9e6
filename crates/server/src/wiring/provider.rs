//! Opens the provider that prints and mails cards.

use std::sync::Arc;

use adapters::http::{HttpClient, HttpUrl};
use adapters::provider::budget::CallBudget;
use adapters::provider::lob::{self, Lob, LobPrices};
use adapters::provider::thanks_io::{self, ThanksIo};
use adapters::provider::{AccountHandle, AccountMode, PreviewLocations, ReturnAddress};
use order::model::money::Cents;
use order::ports::{Clock, Provider};
use zeroize::Zeroizing;

use crate::config::Config;
use crate::config::provider::{LobConfig, Mailing, ProviderConfig, SandboxDialect, ThanksIoConfig};
use crate::wiring::sandbox_endpoints::{ProviderEndpoint, SandboxEndpoints};
use crate::wiring::storage::OpenStore;

/// The prices of the emulated provider by Lob's API, which has no call for prices.
const SANDBOX_PRICES: LobPrices = LobPrices { domestic: Cents(87), international: Cents(185) };

/// The provider in its three roles, which share one rate limit: paid requests come first, then
/// the reconciler, then previews.
pub(crate) struct ProviderHandles {
    pub(crate) paid: Arc<dyn Provider>,
    pub(crate) reconciler: Arc<dyn Provider>,
    pub(crate) previews: Arc<dyn Provider>,
    /// The rate limit.
    pub(crate) budget: Arc<CallBudget>,
    /// The name of the provider in the log.
    pub(crate) peer: &'static str,
}

/// The configured provider, before it has a share of a rate limit.
pub(crate) enum ProviderClient {
    ThanksIo(ThanksIo),
    Lob(Lob),
}

/// `None` if no provider is configured.
pub(super) async fn open(
    config: &Config,
    store: &OpenStore,
    sandbox: &SandboxEndpoints,
    client: HttpClient,
    clock: Arc<dyn Clock>,
) -> Result<Option<ProviderHandles>, String> {
    let times = config.limits.provider_calls;
    let budget = |account: &str| store.provider_budget(account);
    let is_guarded = config.provider.mailing() == Mailing::Real && config.guards_real_money();
    Ok(match connect(config, sandbox, client, clock)? {
        None => None,
        Some(ProviderClient::ThanksIo(provider)) => {
            let provider = provider.calling(times).sharing(budget);
            if is_guarded {
                let mode = provider.mode().await.map_err(|_| MODE_UNKNOWN.to_owned())?;
                mode.for_real_payments().map_err(|fault| fault.to_string())?;
            }
            Some(handles(provider))
        }
        Some(ProviderClient::Lob(provider)) => {
            let provider = provider.calling(times).sharing(budget);
            if is_guarded {
                provider.mode().for_real_payments().map_err(|fault| fault.to_string())?;
            }
            Some(handles(provider))
        }
    })
}

/// Connects without a call. `None` if no provider is configured, or the emulated one does not
/// run.
pub(crate) fn connect(
    config: &Config,
    sandbox: &SandboxEndpoints,
    client: HttpClient,
    clock: Arc<dyn Clock>,
) -> Result<Option<ProviderClient>, String> {
    Ok(match (&config.provider, &sandbox.provider) {
        (ProviderConfig::Disabled, _) | (ProviderConfig::Sandbox(_), None) => None,
        (ProviderConfig::Sandbox(SandboxDialect::ThanksIo), Some(endpoint)) => {
            let settings = thanks_io::ThanksIoSettings {
                base: parse_url(&format!("{}/api/v2", endpoint.base_url))?,
                token: Zeroizing::new(endpoint.token.clone()),
                sender: ReturnAddress::default(),
                previews: emulated_previews(endpoint)?,
                mode: AccountMode::Testing,
            };
            Some(ProviderClient::ThanksIo(ThanksIo::new(settings, client, clock)))
        }
        (ProviderConfig::Sandbox(SandboxDialect::Lob), Some(endpoint)) => {
            let settings = lob::LobSettings {
                base: parse_url(&format!("{}/v1", endpoint.base_url))?,
                key: Zeroizing::new(endpoint.token.clone()),
                sender: None,
                previews: emulated_previews(endpoint)?,
                prices: SANDBOX_PRICES,
                cancel_seconds: 0,
            };
            Some(ProviderClient::Lob(Lob::new(settings, client, clock)))
        }
        (ProviderConfig::ThanksIo(chosen), _) => {
            Some(ProviderClient::ThanksIo(thanks_io(config, chosen, client, clock)?))
        }
        (ProviderConfig::Lob(chosen), _) => Some(ProviderClient::Lob(lob(chosen, client, clock)?)),
    })
}

fn handles<P: Provider + AccountHandle + 'static>(provider: P) -> ProviderHandles {
    ProviderHandles {
        reconciler: Arc::new(provider.for_reconciler()),
        previews: Arc::new(provider.for_previews()),
        budget: provider.budget(),
        peer: P::PEER,
        paid: Arc::new(provider),
    }
}

const MODE_UNKNOWN: &str = "the provider did not report whether its account is live. Check \
     PENNYBLACK_PROVIDER_TOKEN and the connection to api.thanks.io, and start again.";

fn thanks_io(
    config: &Config,
    chosen: &ThanksIoConfig,
    client: HttpClient,
    clock: Arc<dyn Clock>,
) -> Result<ThanksIo, String> {
    let settings = thanks_io::ThanksIoSettings {
        base: parse_url(thanks_io::BASE)?,
        token: Zeroizing::new(chosen.token.reveal().to_owned()),
        sender: chosen.sender.clone().unwrap_or_default(),
        previews: thanks_io::ThanksIoSettings::known_previews(),
        mode: if config.guards_real_money() { AccountMode::Live } else { AccountMode::Testing },
    };
    Ok(ThanksIo::new(settings, client, clock).named(chosen.account.as_deref()))
}

fn lob(chosen: &LobConfig, client: HttpClient, clock: Arc<dyn Clock>) -> Result<Lob, String> {
    let settings = lob::LobSettings {
        base: parse_url(lob::BASE)?,
        key: Zeroizing::new(chosen.key.reveal().to_owned()),
        sender: chosen.sender.clone(),
        previews: lob::LobSettings::known_previews(),
        prices: chosen.prices,
        cancel_seconds: chosen.cancel_seconds,
    };
    Ok(Lob::new(settings, client, clock).named(chosen.account.as_deref()))
}

/// The emulator serves its own previews.
fn emulated_previews(endpoint: &ProviderEndpoint) -> Result<PreviewLocations, String> {
    Ok(PreviewLocations::new(vec![parse_url(&endpoint.base_url)?]))
}

fn parse_url(text: &str) -> Result<HttpUrl, String> {
    HttpUrl::parse(text).map_err(|fault| format!("`{text}` is not a valid URL: {fault}"))
}
