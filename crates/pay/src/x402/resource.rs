//! The paid endpoint as a challenge describes it, from the configuration.

use serde_json::{Value, json};

/// Of the answer to a paid request.
const MIME_TYPE: &str = "application/json";

// Official clients reject longer names and more tags. The other limits keep the header of a
// challenge short enough.
const URL_BYTES_MAX: usize = 300;
const DESCRIPTION_BYTES_MAX: usize = 200;
const NAME_CHARACTERS_MAX: usize = 32;
const TAG_CHARACTERS_MAX: usize = 32;
const TAGS_MAX: usize = 5;
const JSON_BYTES_MAX: usize = 850;

/// The paid endpoint, as a challenge describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    json: Value,
    /// The same, rendered.
    text: String,
}

impl Resource {
    /// The URL comes from the configuration, because a client can set the `Host` of a request.
    /// Lists all mistakes in one error.
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
        let json = json!({
            "url": url,
            "description": description,
            "mimeType": MIME_TYPE,
            "serviceName": service_name,
            "tags": tags,
        });
        let text = json.to_string();
        let checks = [
            (
                web && plain(url, URL_BYTES_MAX) && !url.contains(' '),
                "the URL of the resource must be an http or https URL of at most 300 bytes",
            ),
            (described, "its description must be one line of at most 200 bytes"),
            (
                plain(service_name, NAME_CHARACTERS_MAX),
                "the name of the service must have 1 to 32 printable ASCII characters",
            ),
            (tagged, "there must be at most 5 tags of 1 to 32 printable ASCII characters each"),
            (text.len() <= JSON_BYTES_MAX, "all of this must have at most 850 bytes as JSON"),
        ];
        let faults: Vec<_> =
            checks.iter().filter(|(holds, _)| !holds).map(|(_, fault)| *fault).collect();
        if !faults.is_empty() {
            return Err(format!("In the x402 challenge {}.", faults.join("; ")));
        }
        Ok(Self { json, text })
    }

    pub(crate) fn json(&self) -> &str {
        &self.text
    }

    /// Compares the resource that a payer echoes, in part or as a whole. Registries list the
    /// resource of a settled payment, so a payer must not change it.
    pub(crate) fn compare_echo(&self, theirs: &Value) -> ResourceEcho {
        let same = |(name, value): (&String, &Value)| {
            value.is_null() || *value == "" || self.json.get(name) == Some(value)
        };
        let faithful =
            theirs.is_null() || theirs.as_object().is_some_and(|members| members.iter().all(same));
        if faithful { ResourceEcho::Same } else { ResourceEcho::Different }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceEcho {
    Same,
    Different,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_lists_all_mistakes() {
        let long = "x".repeat(33);
        let faults = Resource::parse("ftp://a", "a\nb", &long, &["ok", &long]).unwrap_err();
        for word in ["URL", "description", "name", "tags"] {
            assert!(faults.contains(word), "{faults}");
        }
        let many = ["a"; 6];
        assert!(Resource::parse("https://a.example", "Cards", "Cards", &many).is_err());
        assert!(Resource::parse("https://a.example", "Cards", "Cards", &many[..5]).is_ok());
        assert!(Resource::parse("https://a.example", "", "Cards", &[]).is_err());
        let quotes = format!("https://a.example/{}", "\"".repeat(280));
        let faults = Resource::parse(&quotes, &"\"".repeat(200), "Cards", &[]).unwrap_err();
        assert_eq!(
            faults,
            "In the x402 challenge all of this must have at most 850 bytes as JSON."
        );
    }

    #[test]
    fn a_payer_may_leave_out_members_of_the_resource_but_not_change_them() {
        let ours =
            Resource::parse("https://a.example/cards", "One card", "Cards", &["mail"]).unwrap();
        for theirs in [
            json!(null),
            json!({}),
            json!({ "url": "https://a.example/cards", "mimeType": "application/json" }),
            json!({ "tags": ["mail"], "iconUrl": null, "description": "" }),
        ] {
            assert_eq!(ours.compare_echo(&theirs), ResourceEcho::Same, "{theirs}");
        }
        for theirs in [
            json!([]),
            json!("https://a.example/cards"),
            json!({ "url": "https://b.example/cards" }),
            json!({ "iconUrl": "https://b.example/icon.png" }),
            json!({ "tags": ["mail", "more"] }),
        ] {
            assert_eq!(ours.compare_echo(&theirs), ResourceEcho::Different, "{theirs}");
        }
    }
}
