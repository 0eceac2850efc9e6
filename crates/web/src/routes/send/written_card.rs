//! The card that a form contains, before and after it is checked.

use content::render::{CardForm, CardFormFault, CardFormValues};
use order::model::card::{ADDRESS_CHARACTERS_MAX, Draft, MESSAGE_CHARACTERS_MAX};
use order::model::image_url::{NotPublic, PublicImageUrl};
use serde_json::json;

use crate::routes::url_encoded::UrlEncodedFields;

/// The value of `step` that requests the payment page.
const PAY: &str = "pay";

/// The most characters of a value that the form repeats: twice the longest message. A caller who
/// sends more and reads slowly must not fill the memory.
const REPEATED_CHARACTERS_MAX: usize = 2 * MESSAGE_CHARACTERS_MAX;

/// A picture that the form offers.
pub(crate) struct GalleryUrl {
    pub(crate) name: String,
    pub(crate) url: String,
}

/// What a person wrote. Personal data, so it has no `Debug`.
pub(super) struct WrittenCard {
    picture: String,
    /// As it was written, for the form.
    own_url: String,
    front_image_url: String,
    message: String,
    name: String,
    address: String,
    city: String,
    /// As it was written, for the form.
    own_province: String,
    province: String,
    postal_code: String,
    country: String,
    /// The quote that the preview showed.
    quote_id: String,
    step: String,
}

impl WrittenCard {
    pub(super) fn read(body: &[u8], gallery: &[GalleryUrl]) -> Self {
        let fields = UrlEncodedFields::parse(body);
        let line = |name: &str| fields.get(name).unwrap_or_default().trim().to_owned();
        let (picture, own_url) = (line("picture"), line("front_image_url"));
        let chosen = gallery.iter().find(|known| known.name == picture);
        let front_image_url = match chosen {
            Some(known) => known.url.clone(),
            None => own_url.clone(),
        };
        // A browser sends line breaks as CR LF. A card has LF.
        let message = fields.get("message").unwrap_or_default();
        let message = message.replace("\r\n", "\n").replace('\r', "\n");
        let (city, own_province) = (line("city"), line("province"));
        // The provider requires a province, which many countries do not have.
        let province = if own_province.is_empty() { &city } else { &own_province };
        Self {
            front_image_url,
            message,
            name: line("name"),
            address: line("address"),
            province: province.clone(),
            postal_code: line("postal_code"),
            country: line("country"),
            quote_id: line("quote_id"),
            step: line("step"),
            picture,
            own_url,
            city,
            own_province,
        }
    }

    /// Whether the payment page is requested, and not the preview.
    pub(super) fn pays(&self) -> bool {
        self.step == PAY
    }

    pub(super) fn draft(&self) -> Draft<'_> {
        Draft {
            front_image_url: Some(&self.front_image_url),
            message: Some(&self.message),
            name: Some(&self.name),
            address: Some(&self.address),
            city: Some(&self.city),
            province: Some(&self.province),
            postal_code: Some(&self.postal_code),
            country: Some(&self.country),
        }
    }

    /// The request of the API, which the payment page sends.
    pub(super) fn json(&self) -> Vec<u8> {
        let mut card = json!({
            "front_image_url": self.front_image_url,
            "message": self.message,
            "recipient": {
                "name": self.name,
                "address": self.address,
                "city": self.city,
                "province": self.province,
                "postal_code": self.postal_code,
                "country": self.country,
            },
        });
        if !self.quote_id.is_empty() {
            card["quote_id"] = json!(self.quote_id);
        }
        card.to_string().into_bytes()
    }

    /// The form with the same values.
    pub(super) fn form(&self) -> CardForm<'_> {
        let values = CardFormValues {
            picture: repeated(&self.picture),
            front_image_url: repeated(&self.own_url),
            message: repeated(&self.message),
            name: repeated(&self.name),
            address: repeated(&self.address),
            city: repeated(&self.city),
            province: repeated(&self.own_province),
            postal_code: repeated(&self.postal_code),
            country: repeated(&self.country),
        };
        CardForm { values, ..CardForm::default() }
    }

    /// What is wrong with a field, in the form's own texts: those of the API are English.
    pub(super) fn fault(&self, field: &'static str) -> CardFormFault {
        let (field, value, most) = match field {
            "message" => ("message", &self.message, MESSAGE_CHARACTERS_MAX),
            "recipient.name" => ("name", &self.name, ADDRESS_CHARACTERS_MAX),
            "recipient.address" => ("address", &self.address, ADDRESS_CHARACTERS_MAX),
            "recipient.city" => ("city", &self.city, ADDRESS_CHARACTERS_MAX),
            "recipient.province" => ("province", &self.province, ADDRESS_CHARACTERS_MAX),
            "recipient.postal_code" => ("postal_code", &self.postal_code, ADDRESS_CHARACTERS_MAX),
            "recipient.country" => return self.country_fault(),
            _ => return self.picture_fault(),
        };
        let count = value.chars().count();
        let text = if value.trim().is_empty() {
            format!("error_{field}_missing")
        } else if count > most {
            format!("error_{field}_too_long")
        } else if field == "message" {
            "error_message_characters".to_owned()
        } else {
            "error_line_characters".to_owned()
        };
        CardFormFault { field, text, count }
    }

    fn country_fault(&self) -> CardFormFault {
        let missing = self.country.is_empty();
        let text = if missing { "error_country_missing" } else { "error_country_unknown" };
        CardFormFault { field: "country", text: text.to_owned(), count: 0 }
    }

    fn picture_fault(&self) -> CardFormFault {
        let text = match PublicImageUrl::parse(&self.front_image_url) {
            _ if self.front_image_url.is_empty() => "error_picture_missing",
            Err(NotPublic::TooLong) => "error_picture_too_long",
            Err(NotPublic::ForbiddenCharacter) => "error_picture_characters",
            Err(NotPublic::NotHttps) => "error_picture_not_https",
            Err(NotPublic::UserInfo) => "error_picture_login",
            Err(NotPublic::Port) => "error_picture_port",
            Err(NotPublic::AddressLiteral) => "error_picture_numeric",
            Err(NotPublic::PrivateSuffix | NotPublic::SingleLabel) => "error_picture_private",
            Err(NotPublic::PercentInHost | NotPublic::TrailingDot | NotPublic::BadHostName) => {
                "error_picture_host"
            }
            Ok(_) | Err(NotPublic::NotAUrl) => "error_picture_not_url",
        };
        CardFormFault { field: "front_image_url", text: text.to_owned(), count: 0 }
    }
}

/// The beginning of a value.
fn repeated(value: &str) -> &str {
    // mutant: whole-value-repeated
    let end = value.char_indices().nth(REPEATED_CHARACTERS_MAX);
    end.map_or(value, |(end, _)| &value[..end])
}
