//! Replays the corpus of every fuzz target without instrumentation, as a test of `server`, which
//! knows all crates.

mod bodies;
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use targets::{TARGETS, Target};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fuzz/corpus");

fn replay(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let mut inputs = (target.seeds)();
    assert!(!inputs.is_empty(), "{name} has no seeds");
    for file in fs::read_dir(Path::new(CORPUS).join(name)).into_iter().flatten() {
        inputs.push(fs::read(file.expect("a file").path()).expect("its bytes"));
    }
    for input in &inputs {
        run(target, input);
    }
}

fn run(target: &Target, input: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_err() {
        panic!("{}: {}", target.name, input.escape_ascii());
    }
}

macro_rules! replayed {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                replay($name);
            }
        )*

        #[test]
        fn every_target_is_replayed() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$($name),*]);
        }
    };
}

replayed! {
    card_body: "card-body",
    router: "router",
    mcp: "mcp",
    image_url: "image-url",
    identifiers: "identifiers",
    x402_credential: "x402-credential",
    mpp_credential: "mpp-credential",
    payer_challenge: "payer-challenge",
    ens: "ens",
    node: "node",
    facilitator: "facilitator",
    thanks_io: "thanks-io",
    lob: "lob",
    key_file: "key-file",
}
