//! The products of the shop.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fault::ContentFault;
use crate::site::Language;

pub(crate) const FILE: &str = "shop/products.toml";
const PICTURE_WIDTH: &str = "640";

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Product {
    /// Its id in URLs and documents: the id of the feed, the sku of the checkout.
    pub slug: String,
    pub name: String,
    pub kind: String,
    pub brand: String,
    pub condition: String,
    /// Euro cents, taxes included.
    pub price_cents: u64,
    /// Our list price in hundredths of a USDC.
    pub price_usdc_cents: u64,
    pub stock: u32,
    pub weight_grams: u32,
    pub summary: String,
    /// Markdown without headings.
    pub description: String,
    pub picture_alt: String,
    pub specification: Vec<SpecificationLine>,
    /// For lists in the other languages of the site.
    #[serde(default)]
    pub translations: BTreeMap<Language, Translation>,
}

/// What a list says of a product.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Translation {
    pub kind: String,
    pub summary: String,
    pub picture_alt: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecificationLine {
    pub name: String,
    pub value: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    product: Vec<Product>,
}

impl Product {
    pub(crate) fn read_all(text: &str) -> Result<Vec<Self>, ContentFault> {
        let file: File =
            toml::from_str(text).map_err(|error| ContentFault::new(FILE, error.to_string()))?;
        let bad = file.product.iter().find(|product| !is_slug(&product.slug));
        match bad {
            None => Ok(file.product),
            Some(bad) => Err(ContentFault::new(
                FILE,
                format!("slug: {:?} is not made of a-z, 0-9 and single hyphens", bad.slug),
            )),
        }
    }

    pub fn path(&self) -> String {
        format!("/shop/{}", self.slug)
    }

    pub fn markdown_path(&self) -> String {
        crate::page::markdown_path(&self.path())
    }

    pub fn picture_path(&self) -> String {
        format!("/shop/pictures/{}.svg", self.slug)
    }

    pub fn picture_file(&self) -> String {
        format!("shop/pictures/{}.svg", self.slug)
    }

    pub fn checkout_path(&self) -> String {
        format!("/shop/checkout?sku={}", self.slug)
    }

    pub fn is_available(&self) -> bool {
        self.stock > 0
    }

    /// The translation, or else the original.
    pub fn translated(&self, language: Language) -> Translation {
        let own = || Translation {
            kind: self.kind.clone(),
            summary: self.summary.clone(),
            picture_alt: self.picture_alt.clone(),
        };
        self.translations.get(&language).cloned().unwrap_or_else(own)
    }

    /// The price in the format of a language.
    pub fn price_shown(&self, language: Language) -> String {
        let plain = self.price_plain();
        match language {
            Language::En => format!("€{plain}"),
            Language::De | Language::Es | Language::It => {
                format!("{}\u{a0}€", plain.replace('.', ","))
            }
        }
    }

    /// The price as a decimal: `79.00`.
    pub fn price_plain(&self) -> String {
        format!("{}.{:02}", self.price_cents / 100, self.price_cents % 100)
    }
}

/// Whether a text is safe in URLs, file names and identifiers.
pub(crate) fn is_slug(text: &str) -> bool {
    !text.is_empty()
        && text.split('-').all(|part| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

/// Images have a fixed size, so that the page layout does not shift.
pub(crate) fn has_expected_size(picture: &str) -> bool {
    picture.contains(&format!("width=\"{PICTURE_WIDTH}\"")) && picture.contains("height=\"480\"")
}
