//! Valid content, and folders with mistakes.

use std::path::Path;

use super::fixtures::OTHER_PATHS;
use super::*;

mod languages;

fn copy_of_built_in() -> tempfile::TempDir {
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

fn faults(folder: &Path) -> Vec<String> {
    let read = Catalog::from_folder(folder, OTHER_PATHS);
    read.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

#[test]
fn the_built_in_content_is_valid() {
    let faults = Catalog::built_in(OTHER_PATHS).err();
    assert_eq!(faults, None);
}

#[test]
fn a_copy_of_built_in_content_has_the_same_pages() {
    let folder = copy_of_built_in();
    let (copy, original) =
        (Catalog::from_folder(folder.path(), OTHER_PATHS), Catalog::built_in(OTHER_PATHS));
    assert_eq!(copy.unwrap().pages, original.unwrap().pages);
}

#[test]
fn all_missing_files_are_reported_together() {
    let folder = tempfile::tempdir().unwrap();
    let faults = faults(folder.path());
    for file in ["site.toml", "pages", "shop/products.toml", "support/faq.toml", "invest.toml"] {
        assert!(faults.iter().any(|line| line.starts_with(file)), "{file}: {faults:?}");
    }
}

#[test]
fn a_client_without_the_server_placeholder_is_reported() {
    let folder = copy_of_built_in();
    change(folder.path(), "client/pennyblack.mjs", "{{ base_url }}", "http://127.0.0.1:8402");
    let expected = "client/pennyblack.mjs: must contain {{ base_url }} once, as its server";
    assert_eq!(faults(folder.path()), [expected]);
    std::fs::remove_dir_all(folder.path().join("client")).unwrap();
    let faults = faults(folder.path());
    assert!(faults[0].starts_with("client/pennyblack.mjs: "), "{faults:?}");
}

#[test]
fn a_missing_translation_is_reported() {
    let folder = copy_of_built_in();
    std::fs::remove_file(folder.path().join("pages/home.es.md")).unwrap();
    let faults = faults(folder.path());
    assert!(faults.contains(&"pages/home.es.md: is missing".to_owned()), "{faults:?}");
}

#[test]
fn an_unexpected_translation_is_reported() {
    let folder = copy_of_built_in();
    change(folder.path(), "site.toml", "translated = [\"home\", ", "translated = [");
    let faults = faults(folder.path());
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(faults[0].starts_with("pages/home.de.md: is not expected"), "{faults:?}");
}

#[test]
fn a_duplicate_value_is_reported_with_both_files() {
    let folder = copy_of_built_in();
    change(folder.path(), "pages/about.en.md", "path = \"/about\"", "path = \"/contact\"");
    change(folder.path(), "shop/products.toml", "slug = \"signer-pane\"", "slug = \"signer-mini\"");
    let faults = faults(folder.path()).join("\n");
    assert!(faults.contains("path: \"/contact\" is also in pages/about.en.md"), "{faults}");
    assert!(faults.contains("slug: \"signer-mini\" is also in"), "{faults}");
}

#[test]
fn a_broken_link_is_reported() {
    let folder = copy_of_built_in();
    let page = folder.path().join("pages/about.en.md");
    let text = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, format!("{text}\n\nSee [the moon](/moon#crater).\n")).unwrap();
    let faults = faults(folder.path());
    let expected = "pages/about.en.md: links to /moon#crater, which does not exist";
    assert_eq!(faults, [expected]);
}

#[test]
fn a_missing_interface_text_is_reported() {
    let folder = copy_of_built_in();
    change(folder.path(), "site.toml", "skip_to_content = \"Zum", "skip_to_kontent = \"Zum");
    let faults = faults(folder.path()).join("\n");
    assert!(faults.contains("words.de.skip_to_content: is missing"), "{faults}");
    assert!(faults.contains("words.en.skip_to_kontent: is missing"), "{faults}");
}

#[test]
fn invalid_front_matter_is_reported_with_file_and_reason() {
    let folder = copy_of_built_in();
    change(folder.path(), "pages/docs.en.md", "kind = \"docs\"", "kind = \"poem\"");
    change(folder.path(), "pages/about.en.md", "+++", "---");
    let faults = faults(folder.path()).join("\n");
    assert!(faults.contains("pages/docs.en.md: "), "{faults}");
    assert!(faults.contains("poem"), "{faults}");
    assert!(faults.contains("pages/about.en.md: must begin with TOML"), "{faults}");
}

#[test]
fn a_missing_image_is_reported() {
    let folder = copy_of_built_in();
    std::fs::remove_file(folder.path().join("shop/pictures/signer-mini.svg")).unwrap();
    let faults = faults(folder.path());
    assert!(faults[0].starts_with("shop/pictures/signer-mini.svg: cannot be read"));
}
