//! The generated example file at the root of the repository.

use std::path::Path;

use crate::fixture::test_app::run;

#[test]
fn the_example_file_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let committed = std::fs::read_to_string(root.join("pennyblack.example.toml")).unwrap();
    let output = run(&["check", "--example"], "", &[]);
    let generated = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        committed, generated,
        "generate it: cargo run -- check --example > pennyblack.example.toml"
    );
}
