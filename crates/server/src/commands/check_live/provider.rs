//! Checks the provider's account: reachable, live or test, balance, prices.

use std::sync::Arc;

use adapters::http::HttpClient;
use adapters::provider::{AccountMode, BalanceCover, CardEstimate};
use order::model::card::{Draft, Postcard};
use order::model::money::{CEILING, Price, Usdc};
use order::ports::{Clock, Unanswered};

use super::report::LiveCheck;
use crate::config::Config;
use crate::config::provider::ProviderConfig;
use crate::wiring::provider::{self, ProviderClient};
use crate::wiring::sandbox_endpoints::SandboxEndpoints;

const SUBJECT: &str = "provider";
const ACCOUNT: &str = "provider: account";
const PICTURE: &str = "https://cdn.thanks.io/letter-backgrounds/bg0.png";

/// Sample cards for estimates; they are never mailed.
const CARDS: [Draft<'static>; 3] = [
    sample("Willy-Brandt-Strasse 1", "Berlin", "BE", "10557", "DE"),
    sample("1600 Pennsylvania Avenue NW", "Washington", "DC", "20500", "US"),
    sample("10 Downing Street", "London", "London", "SW1A 2AA", "GB"),
];

const fn sample(
    address: &'static str,
    city: &'static str,
    province: &'static str,
    postal_code: &'static str,
    country: &'static str,
) -> Draft<'static> {
    Draft {
        front_image_url: Some(PICTURE),
        message: Some("Hello."),
        name: Some("Current Resident"),
        address: Some(address),
        city: Some(city),
        province: Some(province),
        postal_code: Some(postal_code),
        country: Some(country),
    }
}

pub(super) async fn check(
    config: &Config,
    sandbox: &SandboxEndpoints,
    client: &HttpClient,
    clock: &Arc<dyn Clock>,
) -> Vec<LiveCheck> {
    let provider = match provider::connect(config, sandbox, client.clone(), clock.clone()) {
        Ok(Some(provider)) => provider,
        Ok(None) => return vec![LiveCheck::skip(SUBJECT, reason(config))],
        Err(fault) => {
            let remedy = "Check the settings in [provider].";
            return vec![LiveCheck::fail(ACCOUNT, fault.trim_end_matches('.'), remedy)];
        }
    };
    let mut checks = Vec::new();
    for (place, draft) in CARDS.iter().enumerate() {
        let country = draft.country.unwrap_or_default();
        let Ok(card) = Postcard::parse(draft) else { continue };
        let estimate = match estimate(&provider, &card).await {
            Ok(estimate) => estimate,
            // The first answer is about the account.
            Err(why) if place == 0 => {
                checks.push(unanswered(ACCOUNT.to_owned(), why));
                checks.push(LiveCheck::skip("provider: all else", "the account did not answer"));
                return checks;
            }
            Err(why) => {
                checks.push(unanswered(format!("provider: price {country}"), why));
                continue;
            }
        };
        if place == 0 {
            checks.extend(account(config, &estimate));
        }
        checks.push(price(country, &estimate));
    }
    checks
}

async fn estimate(provider: &ProviderClient, card: &Postcard) -> Result<CardEstimate, Unanswered> {
    match provider {
        ProviderClient::ThanksIo(provider) => provider.estimate_card(card).await,
        ProviderClient::Lob(provider) => provider.estimate_card(card).await,
    }
}

const fn reason(config: &Config) -> &'static str {
    match &config.provider {
        ProviderConfig::Sandbox(_) => "the emulated provider is inside of the service",
        ProviderConfig::Disabled | ProviderConfig::ThanksIo(_) | ProviderConfig::Lob(_) => {
            "provider.kind is none"
        }
    }
}

fn unanswered(subject: String, why: Unanswered) -> LiveCheck {
    let (found, remedy) = match why {
        Unanswered::Unreachable => {
            ("no answer", "Check whether this machine reaches the provider.")
        }
        Unanswered::Unusable => {
            ("an answer that cannot be used", "Check the provider's status page.")
        }
        Unanswered::Unavailable => (
            "the provider refuses the account, or its rate limit is used up",
            "Check PENNYBLACK_PROVIDER_TOKEN, or try again in a minute.",
        ),
    };
    LiveCheck::fail(subject, found, remedy)
}

fn account(config: &Config, estimate: &CardEstimate) -> [LiveCheck; 3] {
    let (subject, live) = ("provider: mode", "the account is live and mails cards");
    let testing = "the account is in test mode, which accepts cards and mails none";
    let mode = match estimate.mode {
        AccountMode::Live => LiveCheck::ok(subject, live),
        AccountMode::Testing if config.guards_real_money() => {
            LiveCheck::fail(subject, testing, "Switch the account to live, or use its live key.")
        }
        AccountMode::Testing => LiveCheck::ok(subject, testing),
    };
    let subject = "provider: balance";
    let balance = match estimate.balance {
        BalanceCover::Covered => LiveCheck::ok(subject, "covers a card"),
        BalanceCover::TooLow => {
            LiveCheck::fail(subject, "does not cover a card", "Top up the provider's account.")
        }
        BalanceCover::Unknown => LiveCheck::skip(subject, "the provider does not name it"),
    };
    // The service's budget is in its memory or in a database that this command only reads.
    let calls = CARDS.len();
    let answers = format!(
        "answers; this check makes {calls} calls, which the service's rate budget does not count"
    );
    [LiveCheck::ok(ACCOUNT, answers), mode, balance]
}

fn price(country: &str, estimate: &CardEstimate) -> LiveCheck {
    let (subject, cost) = (format!("provider: price {country}"), Usdc::from_cents(estimate.total));
    match Price::UpTo(CEILING).charge(estimate.total) {
        Ok(charge) => LiveCheck::ok(subject, format!("{cost} USD; the payer pays {charge} USDC")),
        Err(_) => LiveCheck::fail(
            subject,
            format!("{cost} USD and the margin are above the ceiling of {CEILING} USDC"),
            "Cards to this country are not sold by x402. Ask the provider about the price.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_cards_are_valid() {
        for draft in &CARDS {
            assert!(Postcard::parse(draft).is_ok(), "{:?}", draft.country);
        }
    }
}
