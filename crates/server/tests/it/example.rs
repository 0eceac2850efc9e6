//! The example file at the root of the repository, which nobody edits by hand.

use std::path::Path;

use crate::house::run;

#[test]
fn the_example_file_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let committed = std::fs::read_to_string(root.join("pennyblack.example.toml")).unwrap();
    let output = run(&["check", "--example"], "", &[]);
    let made = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        committed, made,
        "make it anew: cargo run -- check --example > pennyblack.example.toml"
    );
}
