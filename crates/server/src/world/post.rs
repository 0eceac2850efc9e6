//! Opens the way to whoever prints and mails the cards.

use std::sync::Arc;

use adapters::http::{Address, Client};
use adapters::provider::lob::{self, Lob, Prices};
use adapters::provider::thanks_io::{self, ThanksIo};
use adapters::provider::{AccountMode, PreviewPlaces, Sender};
use order::model::money::Cents;
use order::ports::Clock;
use zeroize::Zeroizing;

use super::{Handles, Miniature, Office};
use crate::config::Config;
use crate::config::posting::{self, Dialect, Posting};
use crate::storage::OpenStore;

/// What the sandbox's cards cost when it is spoken to as to Lob, which has no prices.
const SANDBOX_PRICES: Prices = Prices { domestic: Cents(87), international: Cents(185) };

/// The provider, or nobody.
pub(super) async fn open(
    config: &Config,
    store: &OpenStore,
    miniature: &Miniature,
    client: Client,
    clock: Arc<dyn Clock>,
) -> Result<Option<Handles>, String> {
    let times = config.limits.provider_calls;
    let budget = |account: &str| store.provider_budget(account);
    let handles = match (&config.posting, &miniature.post_office) {
        (Posting::Nobody, _) | (Posting::Sandbox(_), None) => return Ok(None),
        (Posting::Sandbox(Dialect::ThanksIo), Some(office)) => {
            let settings = thanks_io::Settings {
                base: address(&format!("{}/api/v2", office.base_url()))?,
                token: Zeroizing::new(office.token()),
                sender: Sender::default(),
                previews: pictures_of(office)?,
                mode: AccountMode::Testing,
            };
            thanks_io_handles(
                &ThanksIo::new(settings, client, clock).calling(times).sharing(budget),
            )
        }
        (Posting::Sandbox(Dialect::Lob), Some(office)) => {
            let settings = lob::Settings {
                base: address(&format!("{}/v1", office.base_url()))?,
                key: Zeroizing::new(office.token()),
                sender: None,
                previews: pictures_of(office)?,
                prices: SANDBOX_PRICES,
                cancel_seconds: 0,
            };
            lob_handles(&Lob::new(settings, client, clock).calling(times).sharing(budget))
        }
        (Posting::ThanksIo(chosen), _) => {
            let provider = thanks_io(config, chosen, client, clock)?;
            let provider = provider.calling(times).sharing(budget);
            if config.guards_real_money() {
                let asked = provider.mode().await.map_err(|_| UNANSWERED.to_owned())?;
                asked.for_real_payments().map_err(|fault| fault.to_string())?;
            }
            thanks_io_handles(&provider)
        }
        (Posting::Lob(chosen), _) => {
            let provider = lob(chosen, client, clock)?.calling(times).sharing(budget);
            if config.guards_real_money() {
                provider.mode().for_real_payments().map_err(|fault| fault.to_string())?;
            }
            lob_handles(&provider)
        }
    };
    Ok(Some(handles))
}

fn thanks_io_handles(provider: &ThanksIo) -> Handles {
    Handles {
        paid: Arc::new(provider.clone()),
        rounds: Arc::new(provider.for_reconciler()),
        previews: Arc::new(provider.for_previews()),
    }
}

fn lob_handles(provider: &Lob) -> Handles {
    Handles {
        paid: Arc::new(provider.clone()),
        rounds: Arc::new(provider.for_reconciler()),
        previews: Arc::new(provider.for_previews()),
    }
}

const UNANSWERED: &str = "the provider does not say whether its account is live. Check \
     PENNYBLACK_PROVIDER_TOKEN and the way to api.thanks.io, and start again.";

fn thanks_io(
    config: &Config,
    chosen: &posting::ThanksIo,
    client: Client,
    clock: Arc<dyn Clock>,
) -> Result<ThanksIo, String> {
    let settings = thanks_io::Settings {
        base: address(thanks_io::BASE)?,
        token: Zeroizing::new(chosen.token.reveal().to_owned()),
        sender: chosen.sender.clone().unwrap_or_default(),
        previews: thanks_io::Settings::known_previews(),
        mode: if config.guards_real_money() { AccountMode::Live } else { AccountMode::Testing },
    };
    Ok(ThanksIo::new(settings, client, clock).named(chosen.account.as_deref()))
}

fn lob(chosen: &posting::Lob, client: Client, clock: Arc<dyn Clock>) -> Result<Lob, String> {
    let settings = lob::Settings {
        base: address(lob::BASE)?,
        key: Zeroizing::new(chosen.key.reveal().to_owned()),
        sender: chosen.sender.clone(),
        previews: lob::Settings::known_previews(),
        prices: chosen.prices,
        cancel_seconds: chosen.cancel_seconds,
    };
    Ok(Lob::new(settings, client, clock).named(chosen.account.as_deref()))
}

/// The sandbox draws its own pictures.
fn pictures_of(office: &Office) -> Result<PreviewPlaces, String> {
    Ok(PreviewPlaces::new(vec![address(&office.base_url())?]))
}

fn address(text: &str) -> Result<Address, String> {
    Address::parse(text).map_err(|fault| format!("`{text}` cannot be called: {fault}"))
}
