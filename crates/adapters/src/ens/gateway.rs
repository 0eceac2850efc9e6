//! Asks a server that a resolver named (EIP-3668), within narrow limits: a stranger chose it.

use std::time::Duration;

use alloy_primitives::Bytes;
use order::model::chain::EvmAddress;
use order::model::evidence::{Gateway, Trust};
use order::model::image_url::PublicImageUrl;
use serde::{Deserialize, Serialize};

use super::trouble::Trouble;
use crate::http::{Address, Answer, Call, Client, NoClient, Reach};

const DEADLINE: Duration = Duration::from_secs(3);
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// A resolver that names more servers than this is not asked on our time.
const SERVERS_MAX: usize = 3;
/// An address with its question in it. Longer ones no server takes.
const ADDRESS_BYTES_MAX: usize = 16 * 1024;

/// A server that the operator trusts to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    origin: String,
    /// Plain and on this very machine, as only an operator can want it.
    here: Here,
    trust: Trust,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Here {
    Yes,
    No,
}

/// The text is neither a host name nor the beginning of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAGateway;

impl Allowed {
    /// `gateway.example`, `https://gateway.example:8443`, or on this very
    /// machine `http://127.0.0.1:8700`; with `proof:` in front if what it says
    /// is proved on chain and not merely signed.
    pub fn parse(text: &str) -> Result<Self, NotAGateway> {
        let (text, trust) = match text.strip_prefix("proof:") {
            Some(rest) => (rest, Trust::Proof),
            None => (text, Trust::Signature),
        };
        let whole = if text.contains("://") { text.into() } else { format!("https://{text}") };
        let address = Address::parse(&whole).map_err(|_| NotAGateway)?;
        let origin = address.origin();
        // An origin and nothing behind it: a path would promise a check that
        // nobody makes.
        if whole.trim_end_matches('/').len() > origin.len() + ":443".len() {
            return Err(NotAGateway);
        }
        let here = if address.is_https() { Here::No } else { Here::Yes };
        Ok(Self { origin, here, trust })
    }

    pub fn origin(&self) -> &str {
        &self.origin
    }
}

/// Whom we ask on a resolver's word.
pub(super) struct Gateways {
    /// If empty, any server on the open internet.
    allowed: Vec<Allowed>,
    public: Client,
    here: Client,
}

impl Gateways {
    pub(super) fn new(allowed: Vec<Allowed>) -> Result<Self, NoClient> {
        let public = Client::new(Reach::PublicOnly)?;
        Ok(Self { allowed, public, here: Client::new(Reach::Configured)? })
    }

    /// Asks one server after another until one answers.
    pub(super) async fn ask(
        &self,
        sender: EvmAddress,
        urls: &[String],
        data: &Bytes,
    ) -> Result<(Bytes, Gateway), Trouble> {
        let mut last = Trouble::GatewayNotAllowed;
        for url in urls.iter().take(SERVERS_MAX) {
            match self.ask_one(sender, url, data).await {
                Ok(answer) => return Ok(answer),
                // It understood the question and has no answer: so it stands.
                Err(Trouble::GatewayRefused) => return Err(Trouble::GatewayRefused),
                Err(trouble) => last = trouble,
            }
        }
        Err(last)
    }

    async fn ask_one(
        &self,
        sender: EvmAddress,
        template: &str,
        data: &Bytes,
    ) -> Result<(Bytes, Gateway), Trouble> {
        let sender = sender.to_string().to_ascii_lowercase();
        let url = template.replace("{sender}", &sender).replace("{data}", &data.to_string());
        if url.len() > ADDRESS_BYTES_MAX {
            return Err(Trouble::GatewayNotAllowed);
        }
        let address = Address::parse(&url).map_err(|_| Trouble::GatewayNotAllowed)?;
        let (client, trust) = self.way_to(&address)?;
        let gateway = Gateway { host: address.host().to_owned(), trust };
        let call = if template.contains("{data}") {
            Call::get("a name gateway", address)
        } else {
            Call::post("a name gateway", address, &Question { sender, data })
        };
        let answer = client.send(call.within(DEADLINE).at_most(ANSWER_BYTES_MAX)).await;
        let answer = answer.map_err(Trouble::Gateway)?;
        Ok((read(&answer)?, gateway))
    }

    /// The client for an address, if it may be asked at all.
    fn way_to(&self, address: &Address) -> Result<(&Client, Trust), Trouble> {
        let origin = address.origin();
        match self.allowed.iter().find(|allowed| allowed.origin == origin) {
            Some(Allowed { here: Here::Yes, trust, .. }) => Ok((&self.here, *trust)),
            Some(Allowed { here: Here::No, trust, .. }) => Ok((&self.public, *trust)),
            // What may be said of a picture's host holds for this one: a public
            // name on the usual port. What it leads to is the client's check.
            None if self.allowed.is_empty() && PublicImageUrl::parse(&origin).is_ok() => {
                Ok((&self.public, Trust::Signature))
            }
            None => Err(Trouble::GatewayNotAllowed),
        }
    }
}

fn read(answer: &Answer) -> Result<Bytes, Trouble> {
    match answer.status {
        400..=499 => Err(Trouble::GatewayRefused),
        _ => answer.read::<Said>().map(|said| said.data).map_err(Trouble::Gateway),
    }
}

#[derive(Serialize)]
struct Question<'a> {
    sender: String,
    data: &'a Bytes,
}

#[derive(Deserialize)]
struct Said {
    data: Bytes,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(allowed: &[&str], url: &str) -> Result<Trust, Trouble> {
        let allowed = allowed.iter().map(|text| Allowed::parse(text).unwrap()).collect();
        let gateways = Gateways::new(allowed).unwrap();
        let address = Address::parse(url).map_err(|_| Trouble::GatewayNotAllowed)?;
        gateways.way_to(&address).map(|(_, trust)| trust)
    }

    #[test]
    fn only_listed_servers_are_asked_where_there_is_a_list() {
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
            assert_eq!(way(&list, url), Err(Trouble::GatewayNotAllowed), "{url}");
        }
    }

    #[test]
    fn without_a_list_any_public_name_will_do_and_nothing_else() {
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
            assert_eq!(way(&[], url), Err(Trouble::GatewayNotAllowed), "{url}");
        }
    }

    #[test]
    fn an_entry_of_the_list_is_a_host_and_nothing_behind_it() {
        assert_eq!(Allowed::parse("gateway.example").unwrap().origin(), "https://gateway.example");
        assert_eq!(Allowed::parse("http://127.0.0.1:8700/").unwrap().here, Here::Yes);
        for text in ["", "http://gateway.example", "https://gateway.example/path", "a b"] {
            assert_eq!(Allowed::parse(text), Err(NotAGateway), "{text}");
        }
    }
}
