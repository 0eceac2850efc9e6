//! What ARCHITECTURE.md says where to find: the files exist and have the functions.

use std::fs;
use std::path::{Path, PathBuf};

/// The file or folder that a path like `order/model/money.rs` names: below a crate's `src/`, or
/// below the root of the repository.
fn find(root: &Path, path: &str) -> Option<PathBuf> {
    let (name, rest) = path.split_once('/')?;
    let in_crate = root.join("crates").join(name).join("src").join(rest);
    [in_crate, root.join("crates").join(path), root.join(path)].into_iter().find(|at| at.exists())
}

fn is_source_path(text: &str) -> bool {
    text.contains('/')
        && text.ends_with(".rs")
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "/_.-".contains(letter))
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
        let function = (place >= 3 && parts[place - 1] == " in ").then(|| parts[place - 2]);
        let name = function.and_then(|function| function.rsplit("::").next());
        let text = fs::read_to_string(file).unwrap();
        if let Some(name) = name
            && !text.contains(&format!("fn {name}("))
            && !text.contains(&format!("fn {name}<"))
        {
            faults.push(format!("{path} has no function {name}"));
        }
    }
    faults
}

#[test]
fn the_architecture_page_names_files_and_functions_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    assert_eq!(faults(&root, &page), [""; 0]);
    let wrong = "`vanish` in `order/model/money.rs`, `order/model/gone.rs`, `Price::charge` in `order/model/money.rs`";
    assert_eq!(
        faults(&root, wrong),
        ["order/model/money.rs has no function vanish", "order/model/gone.rs does not exist"]
    );
}
