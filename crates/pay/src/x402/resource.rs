//! What is for sale, in the words of whoever runs this house.

use serde_json::{Value, json};

/// What the endpoint answers with, once paid.
const MIME_TYPE: &str = "application/json";

// Official clients refuse longer names and more tags; the other limits keep a
// challenge within its budget of header bytes.
const URL_BYTES_MAX: usize = 300;
const DESCRIPTION_BYTES_MAX: usize = 200;
const NAME_CHARACTERS_MAX: usize = 32;
const TAG_CHARACTERS_MAX: usize = 32;
const TAGS_MAX: usize = 5;
const JSON_BYTES_MAX: usize = 850;

/// The paid endpoint, as a challenge describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    told: Value,
    text: String,
}

impl Resource {
    /// The address comes from configuration: behind a proxy, the `Host` of a
    /// request is anybody's word. Every fault is named at once.
    pub fn parse(
        url: &str,
        description: &str,
        service_name: &str,
        tags: &[&str],
    ) -> Result<Self, String> {
        let web = url.starts_with("https://") || url.starts_with("http://");
        let plain = |text: &str, most: usize| {
            (1..=most).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        };
        let described = (1..=DESCRIPTION_BYTES_MAX).contains(&description.len())
            && !description.contains(char::is_control);
        let tagged =
            tags.len() <= TAGS_MAX && tags.iter().all(|tag| plain(tag, TAG_CHARACTERS_MAX));
        let told = json!({
            "url": url,
            "description": description,
            "mimeType": MIME_TYPE,
            "serviceName": service_name,
            "tags": tags,
        });
        let text = told.to_string();
        let checks = [
            (
                web && plain(url, URL_BYTES_MAX) && !url.contains(' '),
                "the resource's address is an http or https URL of at most 300 bytes",
            ),
            (described, "its description is one line of at most 200 bytes"),
            (
                plain(service_name, NAME_CHARACTERS_MAX),
                "the service's name has at most 32 printable ASCII characters",
            ),
            (tagged, "there are at most 5 tags of at most 32 printable ASCII characters each"),
            (text.len() <= JSON_BYTES_MAX, "all of this has at most 850 bytes as JSON"),
        ];
        let faults: Vec<_> =
            checks.iter().filter(|(holds, _)| !holds).map(|(_, fault)| *fault).collect();
        if !faults.is_empty() {
            return Err(format!("In the x402 challenge {}.", faults.join("; ")));
        }
        Ok(Self { told, text })
    }

    pub(crate) fn json(&self) -> &str {
        &self.text
    }

    /// Whether a payer repeats what we sell, in part or whole. Registries list
    /// what a settled payment says is sold, so a payer must not say it anew.
    pub(crate) fn is_repeated(&self, theirs: &Value) -> Repeated {
        let same = |(name, value): (&String, &Value)| {
            value.is_null() || *value == "" || self.told.get(name) == Some(value)
        };
        let faithful =
            theirs.is_null() || theirs.as_object().is_some_and(|members| members.iter().all(same));
        if faithful { Repeated::AsItWas } else { Repeated::Otherwise }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeated {
    AsItWas,
    Otherwise,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_faulty_word_is_named_at_once() {
        let long = "x".repeat(33);
        let faults = Resource::parse("ftp://a", "a\nb", &long, &["ok", &long]).unwrap_err();
        for word in ["address", "description", "name", "tags"] {
            assert!(faults.contains(word), "{faults}");
        }
        let many = ["a"; 6];
        assert!(Resource::parse("https://a.example", "Cards", "Cards", &many).is_err());
        assert!(Resource::parse("https://a.example", "Cards", "Cards", &many[..5]).is_ok());
        assert!(Resource::parse("https://a.example", "", "Cards", &[]).is_err());
        let quotes = format!("https://a.example/{}", "\"".repeat(280));
        let faults = Resource::parse(&quotes, &"\"".repeat(200), "Cards", &[]).unwrap_err();
        assert_eq!(faults, "In the x402 challenge all of this has at most 850 bytes as JSON.");
    }

    #[test]
    fn a_payer_may_leave_out_but_not_say_otherwise() {
        let ours =
            Resource::parse("https://a.example/cards", "One card", "Cards", &["mail"]).unwrap();
        for theirs in [
            json!(null),
            json!({}),
            json!({ "url": "https://a.example/cards", "mimeType": "application/json" }),
            json!({ "tags": ["mail"], "iconUrl": null, "description": "" }),
        ] {
            assert_eq!(ours.is_repeated(&theirs), Repeated::AsItWas, "{theirs}");
        }
        for theirs in [
            json!([]),
            json!("https://a.example/cards"),
            json!({ "url": "https://b.example/cards" }),
            json!({ "iconUrl": "https://b.example/icon.png" }),
            json!({ "tags": ["mail", "more"] }),
        ] {
            assert_eq!(ours.is_repeated(&theirs), Repeated::Otherwise, "{theirs}");
        }
    }
}
