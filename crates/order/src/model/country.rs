//! The country that a card goes to.

use std::fmt;

use crate::model::redacted::redacted_debug;

pub mod postal_rules;

/// A two-letter country code of ISO 3166-1, in capitals.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CountryCode([u8; 2]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotACountry {
    Shape,
    /// People write `UK`; the code is `GB`.
    UnitedKingdom,
    Unknown,
}

impl CountryCode {
    pub fn parse(text: &str) -> Result<Self, NotACountry> {
        let &[first, second] = text.as_bytes() else { return Err(NotACountry::Shape) };
        if !first.is_ascii_alphabetic() || !second.is_ascii_alphabetic() {
            return Err(NotACountry::Shape);
        }
        let code = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
        // Two letters and a space each.
        let known = CODES.as_bytes().chunks(3).any(|known| known.starts_with(&code));
        match &code {
            b"UK" => Err(NotACountry::UnitedKingdom),
            _ if known => Ok(Self(code)),
            _ => Err(NotACountry::Unknown),
        }
    }

    /// A code that was parsed earlier and comes from the store.
    pub fn kept(text: &str) -> Option<Self> {
        text.as_bytes().try_into().ok().map(Self).filter(|code| code.0.is_ascii())
    }

    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("two ASCII letters")
    }
}

redacted_debug!(CountryCode);

impl fmt::Display for NotACountry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shape => "A country is written as two letters, such as DE or US.",
            Self::UnitedKingdom => "The code of the United Kingdom is GB.",
            Self::Unknown => "No country has this code; use a two-letter code of ISO 3166-1.",
        })
    }
}

/// ISO 3166-1, and `XK`, under which the post reaches Kosovo.
const CODES: &str = "\
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA \
    BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV \
    BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU \
    CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES \
    ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM \
    GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE \
    IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM \
    KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY \
    MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT \
    MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU \
    NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA \
    RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM \
    SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL \
    TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE \
    VG VI VN VU WF WS XK YE YT ZA ZM ZW";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_country_is_read_in_either_case_and_kept_in_capitals() {
        assert_eq!(CountryCode::parse("de").unwrap().as_str(), "DE");
        assert_eq!(CountryCode::parse("Us").unwrap().as_str(), "US");
    }

    #[test]
    fn what_is_no_country_is_refused_with_a_hint() {
        assert_eq!(CountryCode::parse("UK"), Err(NotACountry::UnitedKingdom));
        assert_eq!(CountryCode::parse("ZZ"), Err(NotACountry::Unknown));
        for text in ["", "D", "DEU", "D1", "ß", " D", "D E"] {
            assert_eq!(CountryCode::parse(text), Err(NotACountry::Shape), "{text}");
        }
    }

    #[test]
    fn the_list_holds_every_code_once() {
        let mut codes: Vec<_> = CODES.split(' ').collect();
        let count = codes.len();
        codes.dedup();
        assert_eq!((count, codes.len()), (250, 250));
        assert!(codes.is_sorted() && codes.iter().all(|code| code.len() == 2));
    }
}
