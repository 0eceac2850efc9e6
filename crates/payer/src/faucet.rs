//! The faucet of a sandbox, which names the key of its demonstration payer.

use evm::signature::SigningKey;
use zeroize::Zeroizing;

use crate::io::{HttpRequest, PayerIo};
use crate::outcome::PaymentOutcome;
use crate::payer_key::{MoneyKind, PayerKey, file};
use crate::service::url_below;
use crate::values::network::PaymentNetwork;

/// Asks the sandbox's chain at this URL for its payer, whose key is worthless elsewhere.
pub(crate) async fn payer_key(io: &dyn PayerIo, chain: &str) -> Result<PayerKey, PaymentOutcome> {
    let away = |why: &str| {
        PaymentOutcome::Later(format!(
            "The sandbox's faucet at {chain} does not help: {why}. Nothing was signed.\n\
             Is the service still running in sandbox mode? Its banner names the chain.\n"
        ))
    };
    let url = url_below(io, chain, &["__sandbox", "faucet"]).map_err(|fault| {
        PaymentOutcome::Unusable(format!("The sandbox's address cannot be used. {fault}\n"))
    })?;
    let response = io.send(HttpRequest::get("the sandbox", url)).await;
    let response = response.map_err(|reason| away(&reason.to_string()))?;
    let body = response.good_json().map_err(|reason| away(&reason.to_string()))?;
    let text = Zeroizing::new(body["payer"]["key"].as_str().unwrap_or_default().to_owned());
    let key: SigningKey = file::parse(&text).ok_or_else(|| away("it names no key"))?;
    let node = |network: PaymentNetwork| {
        body["rpc"][network.caip2()].as_str().map(|url| (network, url.to_owned()))
    };
    let nodes = PaymentNetwork::ALL.into_iter().filter_map(node).collect();
    Ok(PayerKey { key, money: MoneyKind::Sandbox, nodes })
}
