//! `/.well-known/security.txt`: security contact (RFC 9116).

use crate::discovery::links;
use crate::site_facts::SiteFacts;

/// `expires` is an RFC 3339 time less than a year from now.
pub fn document(facts: &SiteFacts, expires: &str) -> String {
    let site = &facts.catalog.site;
    let languages: Vec<&str> = site.languages.iter().map(|language| language.code()).collect();
    format!(
        "Contact: mailto:{email}\n\
         Contact: {contact}\n\
         Expires: {expires}\n\
         Preferred-Languages: {languages}\n\
         Canonical: {canonical}\n",
        email = site.security_email,
        contact = links::page(facts, links::CONTACT),
        languages = languages.join(", "),
        canonical = facts.url(links::SECURITY.path),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    #[test]
    fn all_required_fields_are_present_and_expires_once() {
        let text = document(&fixtures::site_facts(), "2027-05-01T00:00:00Z");
        assert!(text.starts_with("Contact: mailto:security@"), "{text}");
        assert_eq!(text.matches("Expires: 2027-05-01T00:00:00Z\n").count(), 1);
        assert!(text.contains("Preferred-Languages: en, de, es, it\n"), "{text}");
        let canonical = "Canonical: https://shop.example.org/.well-known/security.txt\n";
        assert!(text.ends_with(canonical), "{text}");
    }
}
