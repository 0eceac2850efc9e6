//! libFuzzer's entry point: runs the target that the environment names, or writes its seeds.

#![no_main]

mod targets;

use std::process::exit;
use std::sync::OnceLock;

use targets::{TARGETS, Target};

/// The name of the target, and optionally a folder to which its seeds are written.
const TARGET: &str = "FUZZ_TARGET";
const SEEDS: &str = "FUZZ_SEEDS";

static CHOSEN: OnceLock<&Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: {
        let name = std::env::var(TARGET).unwrap_or_default();
        let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
            for target in &TARGETS {
                println!("{}", target.name);
            }
            exit(2);
        };
        if let Ok(folder) = std::env::var(SEEDS) {
            for (number, seed) in (target.seeds)().iter().enumerate() {
                std::fs::write(format!("{folder}/seed-{number:02}"), seed).expect("a folder");
            }
            exit(0);
        }
        let _ = CHOSEN.set(target);
    },
    |data: &[u8]| {
        if let Some(target) = CHOSEN.get() {
            (target.run)(data);
        }
    }
);
