//! Words that are sound, and folders of words that are not.

use super::*;

mod languages;

/// What the built-in words link to beside their own pages.
pub(crate) const ELSEWHERE: &[&str] = &[
    "/llms.txt",
    "/auth.md",
    "/openapi.json",
    "/shop/feed.json",
    "/.well-known/security.txt",
    "/.well-known/api-catalog",
    "/api",
    "/api/x402",
    "/sitemap.xml",
    "/shop/checkout",
    "/client/pennyblack.mjs",
    "/client/pennyblack.mjs.sha256",
];

fn copy_of_the_built_in() -> tempfile::TempDir {
    let target = tempfile::tempdir().unwrap();
    let content = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../content");
    copy(&content, target.path());
    target
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn change(folder: &Path, file: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    assert!(text.contains(from), "{file} does not hold {from:?}");
    std::fs::write(folder.join(file), text.replacen(from, to, 1)).unwrap();
}

fn complaints(folder: &Path) -> Vec<String> {
    let read = Catalog::from_folder(folder, ELSEWHERE);
    read.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_built_in_is_sound() {
    let faults = Catalog::built_in(ELSEWHERE).err();
    assert_eq!(faults, None);
}

#[test]
fn a_copy_of_what_is_built_in_says_the_same() {
    let folder = copy_of_the_built_in();
    let (copy, original) =
        (Catalog::from_folder(folder.path(), ELSEWHERE), Catalog::built_in(ELSEWHERE));
    assert_eq!(copy.unwrap().pages, original.unwrap().pages);
}

#[test]
fn an_empty_folder_is_told_everything_that_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let complaints = complaints(folder.path());
    for file in ["site.toml", "pages", "shop/products.toml", "support/faq.toml", "invest.toml"] {
        assert!(complaints.iter().any(|line| line.starts_with(file)), "{file}: {complaints:?}");
    }
}

#[test]
fn a_client_that_names_no_server_is_named() {
    let folder = copy_of_the_built_in();
    change(folder.path(), "client/pennyblack.mjs", "{{ base_url }}", "http://127.0.0.1:8402");
    let expected = "client/pennyblack.mjs: must say {{ base_url }} once, where it names its server";
    assert_eq!(complaints(folder.path()), [expected]);
    std::fs::remove_dir_all(folder.path().join("client")).unwrap();
    let complaints = complaints(folder.path());
    assert!(complaints[0].starts_with("client/pennyblack.mjs: "), "{complaints:?}");
}

#[test]
fn a_page_that_lacks_a_promised_language_is_named() {
    let folder = copy_of_the_built_in();
    std::fs::remove_file(folder.path().join("pages/home.es.md")).unwrap();
    let complaints = complaints(folder.path());
    assert!(complaints.contains(&"pages/home.es.md: is missing".to_owned()), "{complaints:?}");
}

#[test]
fn a_page_in_a_language_that_nobody_promised_is_named() {
    let folder = copy_of_the_built_in();
    change(folder.path(), "site.toml", "translated = [\"home\"]", "translated = []");
    let complaints = complaints(folder.path());
    assert_eq!(complaints.len(), 3, "{complaints:?}");
    assert!(complaints[0].starts_with("pages/home.de.md: is not promised"), "{complaints:?}");
}

#[test]
fn what_must_exist_once_only_is_named_with_both_its_places() {
    let folder = copy_of_the_built_in();
    change(folder.path(), "pages/about.en.md", "path = \"/about\"", "path = \"/contact\"");
    change(folder.path(), "shop/products.toml", "slug = \"signer-pane\"", "slug = \"signer-mini\"");
    let complaints = complaints(folder.path()).join("\n");
    assert!(
        complaints.contains("path: \"/contact\" is in pages/about.en.md already"),
        "{complaints}"
    );
    assert!(complaints.contains("slug: \"signer-mini\" is in"), "{complaints}");
}

#[test]
fn a_link_to_nowhere_is_named() {
    let folder = copy_of_the_built_in();
    let page = folder.path().join("pages/about.en.md");
    let text = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, format!("{text}\n\nSee [the moon](/moon#crater).\n")).unwrap();
    let complaints = complaints(folder.path());
    let expected = "pages/about.en.md: links to /moon#crater, which is nowhere";
    assert_eq!(complaints, [expected]);
}

#[test]
fn a_word_that_one_language_lacks_is_named() {
    let folder = copy_of_the_built_in();
    change(folder.path(), "site.toml", "skip_to_content = \"Zum", "skip_to_kontent = \"Zum");
    let complaints = complaints(folder.path()).join("\n");
    assert!(complaints.contains("words.de.skip_to_content: is missing"), "{complaints}");
    assert!(complaints.contains("words.en.skip_to_kontent: is missing"), "{complaints}");
}

#[test]
fn a_broken_front_matter_is_named_by_file_and_reason() {
    let folder = copy_of_the_built_in();
    change(folder.path(), "pages/docs.en.md", "kind = \"docs\"", "kind = \"poem\"");
    change(folder.path(), "pages/about.en.md", "+++", "---");
    let complaints = complaints(folder.path()).join("\n");
    assert!(complaints.contains("pages/docs.en.md: "), "{complaints}");
    assert!(complaints.contains("poem"), "{complaints}");
    assert!(complaints.contains("pages/about.en.md: begins with TOML"), "{complaints}");
}

#[test]
fn a_picture_that_is_missing_is_named() {
    let folder = copy_of_the_built_in();
    std::fs::remove_file(folder.path().join("shop/pictures/signer-mini.svg")).unwrap();
    let complaints = complaints(folder.path());
    assert!(complaints[0].starts_with("shop/pictures/signer-mini.svg: cannot be read"));
}
