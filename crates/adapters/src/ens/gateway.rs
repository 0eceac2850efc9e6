//! Requests to gateways that resolvers name (CCIP-Read, EIP-3668). The URLs are untrusted.

use std::time::Duration;

use alloy_primitives::Bytes;
use order::model::chain::EvmAddress;
use order::model::evidence::{Gateway, Trust};
use order::model::image_url::PublicImageUrl;
use serde::{Deserialize, Serialize};

use super::error::LookupError;
use crate::http::{HostPolicy, HttpCall, HttpClient, HttpClientError, HttpResponse, HttpUrl};

const DEADLINE: Duration = Duration::from_secs(3);
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// The most gateways that are tried for one lookup.
const SERVERS_MAX: usize = 3;
/// A URL with the request data in it. Servers reject longer ones.
const ADDRESS_BYTES_MAX: usize = 16 * 1024;

/// A gateway from the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedGateway {
    origin: String,
    /// `http` on this machine, which only the operator can configure.
    here: Here,
    trust: Trust,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Here {
    Yes,
    No,
}

/// The text is neither a host name nor an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayParseError;

impl AllowedGateway {
    /// `gateway.example`, `https://gateway.example:8443`, or on this machine
    /// `http://127.0.0.1:8700`; with the prefix `proof:` if its answers are proved on chain and
    /// not only signed.
    pub fn parse(text: &str) -> Result<Self, GatewayParseError> {
        let (text, trust) = match text.strip_prefix("proof:") {
            Some(rest) => (rest, Trust::Proof),
            None => (text, Trust::Signature),
        };
        let whole = if text.contains("://") { text.into() } else { format!("https://{text}") };
        let address = HttpUrl::parse(&whole).map_err(|_| GatewayParseError)?;
        let origin = address.origin();
        // An origin without a path: a path would not be checked.
        if whole.trim_end_matches('/').len() > origin.len() + ":443".len() {
            return Err(GatewayParseError);
        }
        let here = if address.is_https() { Here::No } else { Here::Yes };
        Ok(Self { origin, here, trust })
    }

    pub fn origin(&self) -> &str {
        &self.origin
    }
}

/// The gateways that may be used.
pub(super) struct Gateways {
    /// If empty, any public server.
    allowed: Vec<AllowedGateway>,
    public: HttpClient,
    here: HttpClient,
}

impl Gateways {
    pub(super) fn new(allowed: Vec<AllowedGateway>) -> Result<Self, HttpClientError> {
        let public = HttpClient::new(HostPolicy::PublicOnly)?;
        Ok(Self { allowed, public, here: HttpClient::new(HostPolicy::Configured)? })
    }

    /// Tries one gateway after another until one answers.
    pub(super) async fn ask(
        &self,
        sender: EvmAddress,
        urls: &[String],
        data: &Bytes,
    ) -> Result<(Bytes, Gateway), LookupError> {
        let mut last = LookupError::GatewayNotAllowed;
        for url in urls.iter().take(SERVERS_MAX) {
            match self.ask_one(sender, url, data).await {
                Ok(answer) => return Ok(answer),
                // A 4xx answer is final.
                Err(LookupError::GatewayRefused) => return Err(LookupError::GatewayRefused),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn ask_one(
        &self,
        sender: EvmAddress,
        template: &str,
        data: &Bytes,
    ) -> Result<(Bytes, Gateway), LookupError> {
        let sender = sender.to_string().to_ascii_lowercase();
        let url = expand(template, &sender, &data.to_string());
        let url = url.ok_or(LookupError::GatewayNotAllowed)?;
        let address = HttpUrl::parse(&url).map_err(|_| LookupError::GatewayNotAllowed)?;
        let (client, trust) = self.client_for(&address)?;
        let gateway = Gateway { host: address.host().to_owned(), trust };
        let call = if template.contains("{data}") {
            HttpCall::get("a name gateway", address)
        } else {
            HttpCall::post("a name gateway", address, &GatewayRequest { sender, data })
        };
        let answer = client.send(call.within(DEADLINE).at_most(ANSWER_BYTES_MAX)).await;
        let answer = answer.map_err(LookupError::Gateway)?;
        Ok((read(&answer)?, gateway))
    }

    /// The client for a URL, if the gateway is allowed.
    fn client_for(&self, address: &HttpUrl) -> Result<(&HttpClient, Trust), LookupError> {
        let origin = address.origin();
        match self.allowed.iter().find(|allowed| allowed.origin == origin) {
            Some(AllowedGateway { here: Here::Yes, trust, .. }) => Ok((&self.here, *trust)),
            Some(AllowedGateway { here: Here::No, trust, .. }) => Ok((&self.public, *trust)),
            // The same rule as for image hosts: a public name on the default port. The client
            // checks the resolved addresses.
            None if self.allowed.is_empty() && PublicImageUrl::parse(&origin).is_ok() => {
                Ok((&self.public, Trust::Signature))
            }
            None => Err(LookupError::GatewayNotAllowed),
        }
    }
}

/// None if the URL would be too long. A resolver may name a template with thousands of places, so
/// the length is computed before the URL is built.
fn expand(template: &str, sender: &str, data: &str) -> Option<String> {
    let mut length = template.len();
    for (place, value) in [("{sender}", sender), ("{data}", data)] {
        let count = template.matches(place).count();
        length = (length - count * place.len()).saturating_add(count.saturating_mul(value.len()));
    }
    // mutant: gateway-url-of-any-length
    let fits = length <= ADDRESS_BYTES_MAX;
    fits.then(|| template.replace("{sender}", sender).replace("{data}", data))
}

fn read(answer: &HttpResponse) -> Result<Bytes, LookupError> {
    match answer.status {
        400..=499 => Err(LookupError::GatewayRefused),
        _ => answer.read::<GatewayReply>().map(|said| said.data).map_err(LookupError::Gateway),
    }
}

#[derive(Serialize)]
struct GatewayRequest<'a> {
    sender: String,
    data: &'a Bytes,
}

#[derive(Deserialize)]
struct GatewayReply {
    data: Bytes,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(allowed: &[&str], url: &str) -> Result<Trust, LookupError> {
        let allowed = allowed.iter().map(|text| AllowedGateway::parse(text).unwrap()).collect();
        let gateways = Gateways::new(allowed).unwrap();
        let address = HttpUrl::parse(url).map_err(|_| LookupError::GatewayNotAllowed)?;
        gateways.client_for(&address).map(|(_, trust)| trust)
    }

    #[test]
    fn with_a_list_only_listed_gateways_are_used() {
        let list = ["gateway.example", "proof:https://proofs.example:8443"];
        assert_eq!(way(&list, "https://gateway.example/a/{data}"), Ok(Trust::Signature));
        assert_eq!(way(&list, "https://proofs.example:8443/"), Ok(Trust::Proof));
        for url in [
            "https://other.example/",
            "https://gateway.example:444/",
            "https://gateway.example.evil.example/",
            "http://127.0.0.1:8700/",
            "https://proofs.example/",
        ] {
            assert_eq!(way(&list, url), Err(LookupError::GatewayNotAllowed), "{url}");
        }
    }

    #[test]
    fn without_a_list_any_public_host_is_used() {
        assert_eq!(way(&[], "https://gateway.example.com/a"), Ok(Trust::Signature));
        for url in [
            "https://127.0.0.1/",
            "https://10.0.0.1/",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/",
            "https://0x7f000001/",
            "https://localhost/",
            "https://metadata.google.internal/",
            "https://gateway.example.com:8443/",
            "https://router/",
            "https://user@gateway.example.com/",
            "http://gateway.example.com/",
            "http://127.0.0.1:8700/",
            "ftp://gateway.example.com/",
        ] {
            assert_eq!(way(&[], url), Err(LookupError::GatewayNotAllowed), "{url}");
        }
    }

    #[test]
    fn a_url_is_measured_before_it_is_built() {
        let data = "0x00ff";
        let url = expand("https://a.example/{sender}/{data}.json", "0x1", data);
        assert_eq!(url.as_deref(), Some("https://a.example/0x1/0x00ff.json"));
        let longest = "{data}".repeat(ADDRESS_BYTES_MAX / 6);
        assert_eq!(expand(&longest, "0x1", data).map(|url| url.len()), Some(longest.len()));
        assert_eq!(expand(&(longest + "{data}{data}"), "0x1", data), None);
        // It would be longer than the memory of any machine.
        let data = "0".repeat(1 << 20);
        assert_eq!(expand(&"{data}".repeat(1 << 20), "0x1", &data), None);
    }

    #[test]
    fn an_allowed_gateway_is_an_origin_without_a_path() {
        assert_eq!(
            AllowedGateway::parse("gateway.example").unwrap().origin(),
            "https://gateway.example"
        );
        assert_eq!(AllowedGateway::parse("http://127.0.0.1:8700/").unwrap().here, Here::Yes);
        for text in ["", "http://gateway.example", "https://gateway.example/path", "a b"] {
            assert_eq!(AllowedGateway::parse(text), Err(GatewayParseError), "{text}");
        }
    }
}
