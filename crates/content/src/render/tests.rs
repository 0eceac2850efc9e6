//! Every page as HTML and as Markdown.

use super::*;
use crate::catalog::Catalog;
use crate::site::Language;

pub(super) fn catalog() -> Catalog {
    Catalog::built_in(crate::catalog::fixtures::OTHER_PATHS).unwrap()
}

pub(super) fn context() -> RenderContext {
    RenderContext {
        base_url: "https://penny.example".to_owned(),
        style: "/assets/style.css".to_owned(),
        script: "/assets/webmcp.js".to_owned(),
        paywall: ["wallet", "signed_payment", "payment_view", "paywall"]
            .map(|name| format!("/assets/{name}.js"))
            .to_vec(),
        send_scripts: vec!["/assets/send.js".to_owned()],
        order_script: "/assets/order.js".to_owned(),
        card_limits: CardLimits { message_characters: 1_000, line_characters: 100 },
        picture_origin: "https://penny.example".to_owned(),
        endpoint_list: "| a | b |\n| --- | --- |\n| 1 | 2 |".to_owned(),
        example_body: "{\"message\": \"Hello\"}".to_owned(),
        client_sha256: "c0ffee".to_owned(),
        open: vec!["preview", "x402", "mpp", "registration"],
        networks: "eip155:8453".to_owned(),
        money: Money::Real,
    }
}

#[test]
fn every_page_has_one_heading_in_html_and_in_markdown() {
    let catalog = catalog();
    let renderer = Renderer::new(&catalog, context()).unwrap();
    for page in &catalog.pages {
        let PageBodies { html, markdown } = renderer.page(page, &[]).unwrap();
        assert_eq!(html.matches("<h1").count(), 1, "{}", page.name);
        assert!(html.contains(&format!("lang=\"{}\"", page.language.code())));
        assert!(markdown.starts_with(&format!("# {}\n", page.front.heading)));
        for mark in ["{{", "<!-- product_list", "<!-- faq_list"] {
            assert!(!html.contains(mark) && !markdown.contains(mark), "{mark} in {}", page.name);
        }
        assert_eq!(markdown.matches("```").count() % 2, 0, "an open fence in {}", page.name);
    }
}

#[test]
fn only_pages_of_the_sandbox_say_that_no_money_moves() {
    let catalog = catalog();
    for money in [Money::Real, Money::Play] {
        let renderer = Renderer::new(&catalog, RenderContext { money, ..context() }).unwrap();
        for page in &catalog.pages {
            let note = &catalog.site.words(page.language)["notice_sandbox"];
            let PageBodies { html, markdown } = renderer.page(page, &[]).unwrap();
            for body in [html, markdown] {
                assert_eq!(body.contains(note), money == Money::Play, "{}", page.name);
            }
        }
    }
}

#[test]
fn every_product_is_on_every_page_that_lists_products() {
    let catalog = catalog();
    let renderer = Renderer::new(&catalog, context()).unwrap();
    for page in catalog.pages.iter().filter(|page| page.source.contains("product_list")) {
        let PageBodies { html, markdown } = renderer.page(page, &[]).unwrap();
        for product in &catalog.products {
            assert!(html.contains(&format!("href=\"{}\"", product.path())), "{}", product.slug);
            assert!(markdown.contains(&format!("({})", product.path())), "{}", product.slug);
        }
    }
}

#[test]
fn every_answer_is_on_the_support_page() {
    let catalog = catalog();
    let renderer = Renderer::new(&catalog, context()).unwrap();
    let support = catalog.page("support", Language::En).unwrap();
    let PageBodies { html, markdown } = renderer.page(support, &[]).unwrap();
    for answer in &catalog.answers {
        assert!(html.contains(&format!("<details id=\"{}\"", answer.id)), "{}", answer.id);
        assert!(markdown.contains(&format!("### {}\n", answer.question)), "{}", answer.id);
    }
}

/// The tests run the same files that pages show.
#[test]
fn every_snippet_is_on_a_page_unchanged() {
    let catalog = catalog();
    let renderer = Renderer::new(&catalog, context()).unwrap();
    let texts = catalog.pages.iter().map(|page| renderer.page(page, &[]).unwrap().markdown);
    let texts: Vec<String> = texts.collect();
    for name in catalog.source.names("snippets").unwrap() {
        let file = catalog.source.text(&format!("snippets/{name}")).unwrap();
        let shown = file.trim_end().replace("{{ base_url }}", "https://penny.example");
        assert!(texts.iter().any(|text| text.contains(&format!("\n{shown}\n```"))), "{name}");
    }
}

#[test]
fn an_unknown_placeholder_is_reported_with_file_and_line() {
    let catalog = catalog();
    let renderer = Renderer::new(&catalog, context()).unwrap();
    let fault = renderer.text("agents/auth.md", "one\n{{ moon_phase }}").unwrap_err();
    assert!(fault.to_string().starts_with("agents/auth.md: undefined value"), "{fault}");
    assert!(fault.to_string().contains("line 2"), "{fault}");
}

#[test]
fn translated_pages_name_each_other_and_the_default() {
    let catalog = catalog();
    let renderer = Renderer::new(&catalog, context()).unwrap();
    for language in Language::ALL {
        let home = catalog.page("home", language).unwrap();
        let html = renderer.page(home, &[]).unwrap().html;
        for (hreflang, path) in [("en", "/"), ("de", "/bitcoin-deutschland/"), ("x-default", "/")] {
            let link = format!("hreflang=\"{hreflang}\" href=\"https://penny.example{path}\"");
            assert!(html.contains(&link), "{link}");
        }
    }
}
