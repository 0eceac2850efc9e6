//! Keeps calls to addresses that strangers chose out of private networks.

use std::net::{IpAddr, SocketAddr};

use order::model::public_address::is_public;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Looks a name up and hands on only what was judged; the connection goes to
/// these very addresses, with no second lookup in between.
pub(super) struct PublicNames;

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // The port is put in by whoever asked.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let judged = all_public(found).ok_or("not a public address")?;
            Ok::<Addrs, Box<dyn std::error::Error + Send + Sync>>(Box::new(judged.into_iter()))
        })
    }
}

/// All of the answers, if all are public. One private answer among public ones
/// is how a name is made to point inward at the second look.
fn all_public(found: impl Iterator<Item = SocketAddr>) -> Option<Vec<SocketAddr>> {
    let found = Vec::from_iter(found);
    let good = !found.is_empty() && found.iter().all(|address| is_public(address.ip()));
    good.then_some(found)
}

/// Whether a URL may be worth a lookup: a name, or public digits.
pub(super) fn may_be_public(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let digits = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    !host.is_empty() && digits.map_or(true, is_public)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_private_answer_spoils_the_lookup() {
        let judge = |texts: &[&str]| {
            all_public(texts.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 0)))
        };
        assert_eq!(judge(&["1.1.1.1", "2606:4700::1111"]).map(|found| found.len()), Some(2));
        for inward in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:192.168.0.1"] {
            assert_eq!(judge(&[inward]), None, "{inward}");
            assert_eq!(judge(&["1.1.1.1", inward]), None, "{inward}");
        }
        assert_eq!(judge(&[]), None);
    }

    #[test]
    fn digits_are_judged_without_a_lookup() {
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
    async fn a_name_that_leads_home_is_not_resolved() {
        assert!(PublicNames.resolve("localhost".parse().unwrap()).await.is_err());
    }
}
