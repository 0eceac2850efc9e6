//! Reads a postcard in Lob's format. The first error is reported, as at Lob.

use order::model::country::CountryCode;
use order::model::ids::Timestamp;
use serde_json::Value;

use crate::provider::state::card::{CardRecipient, CardSize, PostcardContent};

const SIDE_CHARACTERS_MAX: usize = 10_000;
const METADATA_KEYS_MAX: usize = 20;

pub(crate) struct LobPostcardRequest {
    pub(crate) content: PostcardContent,
    pub(crate) send_date: Option<Timestamp>,
}

pub(crate) fn postcard(body: &Value) -> Result<LobPostcardRequest, String> {
    let use_type = body.get("use_type").and_then(Value::as_str);
    if !matches!(use_type, Some("marketing" | "operational")) {
        return Err("use_type must be marketing or operational.".into());
    }
    let send_date = match body.get("send_date") {
        None | Some(Value::Null) => None,
        Some(date) => Some(date.as_str().and_then(seconds).ok_or("send_date must be a date.")?),
    };
    Ok(LobPostcardRequest { content: content(body)?, send_date })
}

pub(crate) fn content(body: &Value) -> Result<PostcardContent, String> {
    let size = match body.get("size") {
        None | Some(Value::Null) => CardSize::FourBySix,
        Some(size) => {
            size.as_str().and_then(CardSize::read).ok_or("size must be 4x6, 6x9 or 6x11.")?
        }
    };
    let front = text(body, "front", SIDE_CHARACTERS_MAX)?;
    let back = text(body, "back", SIDE_CHARACTERS_MAX)?;
    let metadata =
        body.get("metadata").cloned().unwrap_or_else(|| Value::Object(Default::default()));
    let plain = metadata.as_object().is_some_and(|entries| {
        entries.len() <= METADATA_KEYS_MAX && entries.values().all(Value::is_string)
    });
    if !plain {
        return Err("metadata must be an object of at most 20 texts.".into());
    }
    let spoken = body.get("merge_variables").and_then(|merged| merged.get("message"));
    let message = spoken.and_then(Value::as_str).map_or_else(|| words(&back), str::to_owned);
    Ok(PostcardContent { front, message, size, recipient: recipient(body.get("to"))?, metadata })
}

fn recipient(to: Option<&Value>) -> Result<CardRecipient, String> {
    let to = to.filter(|to| to.is_object()).ok_or("to must be an address, not an id.")?;
    let line = |name: &str| text(to, name, 64).map_err(|fault| format!("to.{fault}"));
    let optional = |name: &str| to.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let country = match to.get("address_country").and_then(Value::as_str).unwrap_or("US") {
        "UNITED STATES" => "US",
        code => code,
    };
    let name = optional("name");
    let company = optional("company");
    if name.is_empty() && company.is_empty() {
        return Err("to.name or to.company is required.".into());
    }
    Ok(CardRecipient {
        name,
        company,
        address: line("address_line1")?,
        address2: optional("address_line2"),
        city: line("address_city")?,
        province: line("address_state")?,
        postal_code: line("address_zip")?,
        country: CountryCode::parse(country)
            .map_err(|fault| format!("to.address_country: {fault}"))?,
    })
}

fn text(from: &Value, name: &str, most: usize) -> Result<String, String> {
    let text = from.get(name).and_then(Value::as_str).unwrap_or_default().trim();
    if text.is_empty() {
        return Err(format!("{name} is required."));
    }
    if text.chars().count() > most {
        return Err(format!("{name} has at most {most} characters."));
    }
    Ok(text.to_owned())
}

/// The text of a side that is given as HTML. A URL or a template has no text.
fn words(back: &str) -> String {
    if !back.trim_start().starts_with('<') {
        return String::new();
    }
    let mut text = String::new();
    let mut rest = back;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        let skipped = ["style", "script", "title"].iter().find(|name| after.starts_with(**name));
        let after = match skipped {
            Some(name) => after.split_once(&format!("</{name}")).map_or("", |(_, rest)| rest),
            None => after,
        };
        let breaks = ["br", "/p", "/div", "/h1"].iter().any(|tag| after.starts_with(tag));
        text.push(if breaks { '\n' } else { ' ' });
        rest = after.split_once('>').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    for (written, letter) in
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    {
        text = text.replace(written, letter);
    }
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let text: String = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    text.chars().take(1_000).collect()
}

/// Seconds of `2026-11-15`, with or without a time of day in UTC.
fn seconds(date: &str) -> Option<Timestamp> {
    let midnight = || format!("{date}T00:00:00Z").parse().ok();
    date.parse().ok().or_else(midnight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::dates;

    #[test]
    fn a_formatted_date_parses_back() {
        for at in [0, 951_782_399, 951_782_400, 1_798_761_599, 4_107_542_400].map(Timestamp) {
            assert_eq!(seconds(&dates::instant(at)), Some(at));
        }
        assert_eq!(seconds("1970-01-02"), Some(Timestamp(86_400)));
        for nonsense in ["", "soon", "2026", "2026-13-01", "2026-01-01Tx"] {
            assert_eq!(seconds(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn html_is_converted_to_its_text() {
        let html =
            "<html><style>p{color:red}</style><p>Dear  Ada,</p><p>3 &lt; 4<br>yours</p></html>";
        assert_eq!(words(html), "Dear Ada,\n3 < 4\nyours");
        assert_eq!(words("https://pictures.example/back.png"), "");
        assert_eq!(words("<p"), "");
    }
}
