//! `/llms-full.txt`: every page in one text.

const SEPARATOR: &str = "\n---\n\n";

/// From URLs and Markdown of pages, in the given order.
pub fn document(pages: &[(String, String)]) -> String {
    let pages =
        pages.iter().map(|(address, text)| format!("Source: {address}\n\n{}\n", text.trim()));
    pages.collect::<Vec<_>>().join(SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_follows_its_url() {
        let page = |address: &str, text: &str| (address.to_owned(), text.to_owned());
        let pages =
            [page("https://a.example/", "# A\n\nOne.\n"), page("https://a.example/b", "# B")];
        let expected = "Source: https://a.example/\n\n# A\n\nOne.\n\n---\n\n\
                        Source: https://a.example/b\n\n# B\n";
        assert_eq!(document(&pages), expected);
        assert_eq!(document(&[]), "");
    }
}
