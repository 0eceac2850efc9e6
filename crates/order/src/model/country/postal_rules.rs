//! How addresses are written in the countries that most cards go to.
//!
//! Only rules of the national posts without exceptions are here. A country that is missing has
//! no warning.

use super::CountryCode;

/// A rule that an address does not keep, with an example that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressRule {
    PostalCode { example: &'static str },
    Province { example: &'static str },
}

/// The rules of its country that an address does not keep.
pub fn broken(country: CountryCode, postal_code: &str, province: &str) -> Vec<AddressRule> {
    let mut rules = Vec::new();
    let format = POSTAL_CODES.iter().find(|format| format.is_of(country));
    if let Some(format) = format.filter(|format| !format.fits(postal_code)) {
        rules.push(AddressRule::PostalCode { example: format.example });
    }
    let provinces = PROVINCES.iter().find(|(code, ..)| *code == country.as_str());
    if let Some((_, example, codes)) = provinces {
        let known = codes.split(' ').any(|code| code.eq_ignore_ascii_case(province.trim()));
        if !known {
            rules.push(AddressRule::Province { example });
        }
    }
    rules
}

/// The postal codes of countries that write them in the same way.
struct PostalCodeFormat {
    countries: &'static str,
    /// `9` is a digit, `A` a letter and `X` either; alternatives are separated by spaces. Spaces
    /// and hyphens of a postal code do not count.
    patterns: &'static str,
    example: &'static str,
}

const fn format(
    countries: &'static str,
    patterns: &'static str,
    example: &'static str,
) -> PostalCodeFormat {
    PostalCodeFormat { countries, patterns, example }
}

const POSTAL_CODES: &[PostalCodeFormat] = &[
    format("US", "99999 999999999", "94107 or 94107-1234"),
    format("CA", "A9A9A9", "K1A 0B1"),
    format("GB", "A99AA A999AA A9A9AA AA99AA AA999AA AA9A9AA", "SW1Y 4LB"),
    format("DE ES FI FR IT MX", "99999", "10115"),
    format("AT AU BE CH DK HU NO NZ", "9999", "1010"),
    format("CZ SE SK", "99999", "111 22"),
    format("NL", "9999AA", "1012 AB"),
    format("PL", "99999", "00-001"),
    format("PT", "9999999", "1000-001"),
    format("IE", "A9XXXXX", "D02 X285"),
    format("JP", "9999999", "100-0001"),
    format("BR", "99999999", "01310-100"),
    format("IN", "999999", "110001"),
];

/// Where the post requires a code, an example and all codes.
const PROVINCES: &[(&str, &str, &str)] = &[
    (
        "US",
        "CA",
        "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV \
         NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY AA AE AP AS GU MP PR \
         UM VI FM MH PW",
    ),
    ("CA", "ON", "AB BC MB NB NL NS NT NU ON PE QC SK YT"),
];

impl PostalCodeFormat {
    fn is_of(&self, country: CountryCode) -> bool {
        self.countries.split(' ').any(|code| code == country.as_str())
    }

    fn fits(&self, postal_code: &str) -> bool {
        let code: Vec<char> =
            postal_code.chars().filter(|letter| !matches!(letter, ' ' | '-')).collect();
        self.patterns.split(' ').any(|pattern| {
            pattern.len() == code.len()
                && pattern.chars().zip(&code).all(|(kind, letter)| match kind {
                    '9' => letter.is_ascii_digit(),
                    'A' => letter.is_ascii_alphabetic(),
                    _ => letter.is_ascii_alphanumeric(),
                })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(country: &str, postal_code: &str, province: &str) -> bool {
        broken(CountryCode::parse(country).unwrap(), postal_code, province).is_empty()
    }

    #[test]
    fn the_example_of_each_country_keeps_its_rules() {
        for format in POSTAL_CODES {
            for country in format.countries.split(' ') {
                assert!(CountryCode::parse(country).is_ok(), "{country}");
                for example in format.example.split(" or ") {
                    assert!(format.fits(example), "{country}: {example}");
                }
            }
        }
        for (country, example, _) in PROVINCES {
            let code = if *country == "US" { "94107" } else { "K1A 0B1" };
            assert!(keeps(country, code, example), "{country}");
        }
    }

    #[test]
    fn no_country_has_two_formats() {
        let mut countries: Vec<_> =
            POSTAL_CODES.iter().flat_map(|format| format.countries.split(' ')).collect();
        let count = countries.len();
        countries.sort_unstable();
        countries.dedup();
        assert_eq!(countries.len(), count);
    }

    #[test]
    fn a_postal_code_of_another_shape_is_reported() {
        for (country, good, bad) in [
            ("DE", "10115", "1011"),
            ("DE", "10115", "D-10115"),
            ("GB", "sw1y4lb", "12345"),
            ("GB", "M1 1AE", "SW1"),
            ("NL", "1012AB", "1012"),
            ("JP", "1000001", "100"),
            ("IE", "D6W X285", "Dublin 2"),
            ("CH", "8001", "٨٠٠١"),
        ] {
            assert!(keeps(country, good, "any"), "{country} {good}");
            assert!(!keeps(country, bad, "any"), "{country} {bad}");
        }
        assert!(keeps("HK", "-", "-"), "no rule, no warning");
    }

    #[test]
    fn a_state_is_written_as_its_code() {
        assert!(keeps("US", "94107-1234", "ca"));
        assert!(!keeps("US", "94107", "California"));
        assert!(!keeps("US", "94107", ""));
        assert!(!keeps("CA", "K1A 0B1", "Ontario"));
    }
}
