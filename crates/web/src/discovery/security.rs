//! `/.well-known/security.txt`: whom to tell about a hole (RFC 9116).

use super::places;
use crate::premises::Premises;

/// `expires` is a moment as RFC 3339 writes it, less than a year ahead; the
/// caller knows the clock.
pub fn document(premises: &Premises, expires: &str) -> String {
    let site = &premises.catalog.site;
    let languages: Vec<&str> = site.languages.iter().map(|language| language.code()).collect();
    format!(
        "Contact: mailto:{email}\n\
         Contact: {contact}\n\
         Expires: {expires}\n\
         Preferred-Languages: {languages}\n\
         Canonical: {canonical}\n",
        email = site.security_email,
        contact = places::page(premises, places::CONTACT),
        languages = languages.join(", "),
        canonical = premises.url(places::SECURITY.path),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;

    #[test]
    fn the_required_fields_are_there_and_expiry_once_only() {
        let text = document(&samples::premises(), "2027-05-01T00:00:00Z");
        assert!(text.starts_with("Contact: mailto:security@"), "{text}");
        assert_eq!(text.matches("Expires: 2027-05-01T00:00:00Z\n").count(), 1);
        assert!(text.contains("Preferred-Languages: en, de, es, it\n"), "{text}");
        let canonical = "Canonical: https://shop.example.org/.well-known/security.txt\n";
        assert!(text.ends_with(canonical), "{text}");
    }
}
