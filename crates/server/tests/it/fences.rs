//! Who may know whom: the manifests, held against the drawing in ARCHITECTURE.md.

use std::collections::BTreeSet;
use std::path::Path;

/// What each crate may depend on, outside of tests. A crate or a dependency
/// that is not here needs a page in docs/decisions first.
const FENCES: &[(&str, &[&str])] = &[
    ("order", &["async-trait", "futures-util", "jiff", "ring", "sha2", "sha3", "subtle", "url"]),
    ("evm", &["alloy-sol-types", "secp256k1", "sha3"]),
    ("content", &["include_dir", "minijinja", "pulldown-cmark", "serde", "toml"]),
    (
        "pay",
        &["order", "evm", "async-trait", "base64", "http", "ring", "serde", "serde_json", "subtle"],
    ),
    (
        "payer",
        &[
            "evm",
            "async-trait",
            "base64",
            "getrandom",
            "http",
            "jiff",
            "serde_json",
            "sha2",
            "url",
            "zeroize",
        ],
    ),
    (
        "adapters",
        &[
            "order",
            "pay",
            "evm",
            "alloy-primitives",
            "alloy-sol-types",
            "async-trait",
            "base64",
            "chacha20poly1305",
            "deadpool-postgres",
            "ens-normalize-rs",
            "getrandom",
            "hmac",
            "metrics",
            "reqwest",
            "ring",
            "rusqlite",
            "rustls",
            "serde",
            "serde_json",
            "sha2",
            "tokio",
            "tokio-postgres",
            "tokio-rustls",
            "tracing",
            "webpki-roots",
            "zeroize",
        ],
    ),
    (
        "sandbox",
        &[
            "order",
            "evm",
            "alloy-primitives",
            "alloy-sol-types",
            "axum",
            "getrandom",
            "jiff",
            "serde_json",
            "sha2",
            "tokio",
            "url",
        ],
    ),
    (
        "web",
        &[
            "order",
            "pay",
            "content",
            "axum",
            "base64",
            "brotli",
            "bytes",
            "flate2",
            "http",
            "http-body",
            "http-body-util",
            "jiff",
            "metrics",
            "ring",
            "serde",
            "serde_json",
            "sha2",
            "subtle",
            "tokio",
            "tower",
            "tracing",
        ],
    ),
    (
        "server",
        &[
            "order",
            "pay",
            "content",
            "adapters",
            "sandbox",
            "web",
            "payer",
            "async-trait",
            "axum",
            "clap",
            "futures-util",
            "getrandom",
            "http-body-util",
            "hyper",
            "hyper-util",
            "metrics",
            "metrics-exporter-prometheus",
            // The pages of the operator's console, whose texts are escaped.
            "minijinja",
            "serde_json",
            "subtle",
            "tokio",
            "toml",
            "tracing",
            "tracing-subscriber",
            "url",
            "zeroize",
        ],
    ),
];

fn manifest(name: &str) -> toml::Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("Cargo.toml");
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

fn knows(manifest: &toml::Table) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for section in ["dependencies", "build-dependencies"] {
        let table = manifest.get(section).and_then(toml::Value::as_table);
        known.extend(table.into_iter().flat_map(|table| table.keys().cloned()));
    }
    // A dependency for one platform only would be a hole in the fence.
    assert!(!manifest.contains_key("target"), "no dependency by platform");
    known
}

#[test]
fn no_crate_knows_more_than_the_plan_allows() {
    for (name, allowed) in FENCES {
        for known in knows(&manifest(name)) {
            assert!(allowed.contains(&known.as_str()), "`{name}` must not know `{known}`");
        }
    }
}

#[test]
fn every_crate_of_the_workspace_has_a_fence() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let found: BTreeSet<String> = std::fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let fenced: BTreeSet<String> = FENCES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, fenced);
}

/// The core must stay free of wire formats and of the outside, however deep the
/// dependency would come in.
#[test]
fn the_core_reaches_no_network_no_disk_and_no_wire_format() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock: toml::Table = std::fs::read_to_string(lock).unwrap().parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let dependencies = |name: &str| -> Vec<String> {
        packages
            .iter()
            .filter(|package| package["name"].as_str() == Some(name))
            .flat_map(|package| package.get("dependencies").and_then(toml::Value::as_array))
            .flatten()
            .filter_map(|entry| entry.as_str()?.split(' ').next().map(str::to_owned))
            .collect()
    };
    let mut reached = BTreeSet::new();
    let mut next = knows(&manifest("order")).into_iter().collect::<Vec<_>>();
    while let Some(name) = next.pop() {
        if reached.insert(name.clone()) {
            next.extend(dependencies(&name));
        }
    }
    for forbidden in
        ["serde_json", "http", "hyper", "axum", "metrics", "tokio", "reqwest", "rusqlite"]
    {
        assert!(!reached.contains(forbidden), "`order` reaches `{forbidden}`");
    }
}
