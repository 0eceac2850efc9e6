//! Rejects private addresses for URLs from untrusted sources.

use std::net::{IpAddr, SocketAddr};

use order::model::public_address::is_public;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Resolves a name and returns only checked addresses. The connection uses these addresses,
/// without a second lookup.
pub(super) struct PublicResolver;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // The caller sets the port.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let checked = all_public(found).ok_or("not a public address")?;
            Ok::<Addrs, Box<dyn std::error::Error + Send + Sync>>(Box::new(checked.into_iter()))
        })
    }
}

/// All addresses, if all are public. One private address among public ones is a DNS rebinding
/// attack.
fn all_public(found: impl Iterator<Item = SocketAddr>) -> Option<Vec<SocketAddr>> {
    let found = Vec::from_iter(found);
    let good = !found.is_empty() && found.iter().all(|address| is_public(address.ip()));
    good.then_some(found)
}

/// Whether the host is a name or a public IP address.
pub(super) fn may_be_public(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let digits = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    !host.is_empty() && digits.map_or(true, is_public)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_private_address_rejects_the_lookup() {
        let check = |texts: &[&str]| {
            all_public(texts.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 0)))
        };
        assert_eq!(check(&["1.1.1.1", "2606:4700::1111"]).map(|found| found.len()), Some(2));
        for inward in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:192.168.0.1"] {
            assert_eq!(check(&[inward]), None, "{inward}");
            assert_eq!(check(&["1.1.1.1", inward]), None, "{inward}");
        }
        assert_eq!(check(&[]), None);
    }

    #[test]
    fn literal_addresses_are_checked_without_a_lookup() {
        let may = |text: &str| may_be_public(&Url::parse(text).unwrap());
        assert!(may("https://gateway.example.org/"));
        assert!(may("https://1.1.1.1/"));
        for inward in [
            "https://127.0.0.1/",
            "https://0x7f000001/",
            "https://2130706433/",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
        ] {
            assert!(!may(inward), "{inward}");
        }
    }

    #[tokio::test]
    async fn a_name_with_a_private_address_is_not_resolved() {
        assert!(PublicResolver.resolve("localhost".parse().unwrap()).await.is_err());
    }
}
