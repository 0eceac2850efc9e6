//! `/sitemap.xml`: every canonical page and product, each page with its languages.

use crate::discovery::links;
use crate::site_facts::SiteFacts;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
     <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
     xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">\n";
const FOOT: &str = "</urlset>\n";

pub fn document(facts: &SiteFacts) -> String {
    let catalog = &facts.catalog;
    let mut written = HEAD.to_owned();
    for page in &catalog.pages {
        let alternates = catalog.alternates(page);
        written.push_str(&entry(facts, &page.front.path, &page.front.updated, &alternates));
    }
    let newest = links::newest_day(facts);
    for product in &catalog.products {
        written.push_str(&entry(facts, &product.path(), newest, &[]));
    }
    written.push_str(FOOT);
    written
}

fn entry(facts: &SiteFacts, path: &str, day: &str, alternates: &[(&str, &str)]) -> String {
    let link = |(language, path): &(&str, &str)| {
        let address = escaped(&facts.url(path));
        format!("<xhtml:link rel=\"alternate\" hreflang=\"{language}\" href=\"{address}\"/>\n")
    };
    let links: String = alternates.iter().map(link).collect();
    let address = escaped(&facts.url(path));
    format!("<url>\n<loc>{address}</loc>\n<lastmod>{day}</lastmod>\n{links}</url>\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    fn entries(sitemap: &str) -> Vec<&str> {
        sitemap.split("<url>\n").skip(1).collect()
    }

    #[test]
    fn every_canonical_page_and_product_is_listed_once_without_aliases() {
        let facts = fixtures::site_facts();
        let sitemap = document(&facts);
        let catalog = &facts.catalog;
        assert_eq!(entries(&sitemap).len(), catalog.pages.len() + catalog.products.len());
        for page in &catalog.pages {
            let place = format!("<loc>{}</loc>", facts.url(&page.front.path));
            assert_eq!(sitemap.matches(&place).count(), 1, "{place}");
            for alias in &page.front.aliases {
                let place = format!("<loc>{}</loc>", facts.url(alias));
                assert!(!sitemap.contains(&place), "{alias}");
            }
        }
        for product in &catalog.products {
            assert!(sitemap.contains(&format!("<loc>{}</loc>", facts.url(&product.path()))));
        }
        assert_eq!(sitemap.matches("<lastmod>").count(), entries(&sitemap).len());
        assert!(sitemap.starts_with("<?xml") && sitemap.ends_with("</urlset>\n"));
    }

    #[test]
    fn translations_link_to_each_other_and_to_the_default() {
        let facts = fixtures::site_facts();
        let sitemap = document(&facts);
        let translated: Vec<&str> =
            entries(&sitemap).into_iter().filter(|entry| entry.contains("hreflang")).collect();
        let site = &facts.catalog.site;
        assert_eq!(translated.len(), site.languages.len() * site.translated.len());
        let links = |entry: &str| -> Vec<String> {
            entry.lines().filter(|line| line.contains("hreflang")).map(str::to_owned).collect()
        };
        for entry in &translated {
            let same = translated.iter().filter(|other| links(other) == links(entry)).count();
            assert_eq!(same, site.languages.len(), "{entry}");
            let own = entry.split("<loc>").nth(1).and_then(|rest| rest.split('<').next()).unwrap();
            assert!(links(entry).iter().any(|link| link.contains(&format!("\"{own}\""))), "{own}");
        }
        assert!(links(translated[0]).iter().any(|link| link.contains("\"x-default\"")));
    }
}
