//! Prices by country: invented, but realistic.

use order::model::country::CountryCode;
use order::model::money::Cents;

/// The only country whose price is above the ceiling, so that the price conflict can be
/// tried.
pub const COUNTRY_ABOVE_THE_CEILING: &str = "AQ";

const HOME: Cents = Cents(118);
const NEIGHBOURS: Cents = Cents(149);
const OVERSEAS: Cents = Cents(172);
const FAR: Cents = Cents(198);
const REMOTE: Cents = Cents(245);
const ANTARCTICA: Cents = Cents(340);

pub(crate) fn listed(country: CountryCode) -> Cents {
    match country.as_str() {
        "US" | "AS" | "GU" | "MP" | "PR" | "UM" | "VI" => HOME,
        "CA" | "MX" => NEIGHBOURS,
        "AD" | "AT" | "BE" | "CH" | "CZ" | "DE" | "DK" | "EE" | "ES" | "FI" | "FR" | "GB"
        | "GR" | "HR" | "HU" | "IE" | "IS" | "IT" | "LI" | "LT" | "LU" | "LV" | "MC" | "MT"
        | "NL" | "NO" | "PL" | "PT" | "RO" | "SE" | "SI" | "SK" | "SM" | "UA" | "VA" | "JP"
        | "KR" => OVERSEAS,
        "BV" | "FK" | "GS" | "HM" | "IO" | "NF" | "NU" | "PN" | "SH" | "SJ" | "TF" | "TK"
        | "TV" | "WF" => REMOTE,
        COUNTRY_ABOVE_THE_CEILING => ANTARCTICA,
        _ => FAR,
    }
}

#[cfg(test)]
mod tests {
    use order::model::money::{CEILING, Price};

    use super::*;

    #[test]
    fn every_card_can_be_sold_except_one_to_antarctica() {
        let mut countries = 0;
        for first in 'A'..='Z' {
            for second in 'A'..='Z' {
                let Ok(country) = CountryCode::parse(&format!("{first}{second}")) else { continue };
                countries += 1;
                let sold = Price::UpTo(CEILING).charge(listed(country)).is_ok();
                assert_eq!(sold, country.as_str() != COUNTRY_ABOVE_THE_CEILING);
                assert!(listed(country) >= HOME);
            }
        }
        assert_eq!(countries, 250);
    }
}
