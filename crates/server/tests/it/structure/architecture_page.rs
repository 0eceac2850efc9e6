//! What the documentation says where to find: the files exist and have the functions.

use std::fs;
use std::path::{Path, PathBuf};

/// The file or folder that a path like `order/model/money.rs` names: below a crate's `src/`, or
/// below the root of the repository.
fn find(root: &Path, path: &str) -> Option<PathBuf> {
    let (name, rest) = path.split_once('/')?;
    let in_crate = root.join("crates").join(name).join("src").join(rest);
    [in_crate, root.join("crates").join(path), root.join(path)].into_iter().find(|at| at.exists())
}

const ITEMS: [&str; 7] = ["fn", "const", "static", "struct", "enum", "trait", "type"];

/// A path with NAME in it stands for a file that the reader is to write.
fn is_source_path(text: &str) -> bool {
    text.contains('/')
        && text.ends_with(".rs")
        && !text.contains("NAME")
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "/_.-".contains(letter))
}

/// Whether a source file defines an item of this name.
fn defines(text: &str, name: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .collect::<Vec<_>>()
        .windows(2)
        .any(|words| ITEMS.contains(&words[0]) && words[1] == name)
}

/// What is wrong with a page, in which code is between backticks.
fn faults(root: &Path, page: &str) -> Vec<String> {
    let parts: Vec<&str> = page.split('`').collect();
    let mut faults = Vec::new();
    for place in (1..parts.len()).step_by(2).filter(|place| is_source_path(parts[*place])) {
        let path = parts[place];
        let Some(file) = find(root, path) else {
            faults.push(format!("{path} does not exist"));
            continue;
        };
        let item = (place >= 3 && parts[place - 1] == " in ").then(|| parts[place - 2]);
        let name = item.and_then(|item| item.rsplit("::").next());
        let text = fs::read_to_string(file).unwrap();
        if let Some(name) = name.filter(|name| !defines(&text, name)) {
            faults.push(format!("{path} does not define {name}"));
        }
    }
    faults
}

#[test]
fn the_documentation_names_files_and_functions_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["docs", "docs/decisions", "docs/how-to", "docs/operate"];
    let in_folders = folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let pages = in_folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let single = ["ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md"];
    let mut all = Vec::new();
    for page in pages.chain(single.iter().map(|page| root.join(page))) {
        let text = fs::read_to_string(&page).unwrap();
        all.extend(faults(&root, &text).into_iter().map(|fault| (page.clone(), fault)));
    }
    assert_eq!(all, []);
    let wrong = "`vanish` in `order/model/money.rs`, `order/model/gone.rs`, `Price::charge` in `order/model/money.rs`";
    assert_eq!(
        faults(&root, wrong),
        ["order/model/money.rs does not define vanish", "order/model/gone.rs does not exist"]
    );
}
