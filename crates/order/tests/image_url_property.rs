//! A million addresses in disguise, judged by the guard and by a second reader of its own making.

#[path = "image_url_property/network.rs"]
mod network;
#[path = "image_url_property/random.rs"]
mod random;
#[path = "image_url_property/second_reader.rs"]
mod second_reader;
#[path = "image_url_property/spelling.rs"]
mod spelling;
#[path = "image_url_property/unicode.rs"]
mod unicode;

use std::net::IpAddr;

use order::model::image_url::{NotPublic, PublicImageUrl};
use order::model::public_address::is_public;
use random::Random;
use spelling::{Expectation, KINDS, Sample};

/// Any number will do; this one makes a failure happen again.
const SEED: u64 = 1_840;
const SAMPLES: u64 = 1_000_000;

/// Enough faults to see a pattern, few enough to read.
const FAULTS_SHOWN: usize = 20;

#[test]
fn no_disguise_of_a_private_address_passes_in_a_million_and_two_readers_agree() {
    let mut faults = Vec::new();
    let mut seen = [0_u64; KINDS.len()];
    let mut passed = 0_u64;
    for number in 0..SAMPLES {
        let mut random = Random::new(SEED, number);
        let kind = random.below(KINDS.len());
        seen[kind] += 1;
        let sample = KINDS[kind].sample(&mut random);
        let guard = PublicImageUrl::parse(&sample.text);
        passed += u64::from(guard.is_ok());
        if let Some(fault) = fault_in(&sample, &guard) {
            faults.push(format!("sample {number}, {:?}: {fault}", KINDS[kind]));
            if faults.len() == FAULTS_SHOWN {
                break;
            }
        }
    }
    assert!(faults.is_empty(), "with seed {SEED}:\n{}", faults.join("\n"));
    println!("{passed} of {SAMPLES} passed; of each kind there were {seen:?}");
    assert!(seen.iter().all(|count| *count > SAMPLES / 20), "a kind is missing: {seen:?}");
    assert!((SAMPLES / 5..SAMPLES / 2).contains(&passed), "the mixture is off: {passed}");
}

#[test]
fn no_address_of_a_blocked_range_is_public_in_a_million() {
    for number in 0..SAMPLES {
        let mut random = Random::new(SEED, number);
        let plain = IpAddr::V4(network::blocked_version_4(&mut random));
        let wide = IpAddr::V6(network::blocked_version_6(&mut random));
        assert!(!is_public(plain), "sample {number} with seed {SEED}: {plain}");
        assert!(!is_public(wide), "sample {number} with seed {SEED}: {wide}");
    }
}

fn fault_in(sample: &Sample, guard: &Result<PublicImageUrl, NotPublic>) -> Option<String> {
    let second = second_reader::judge(&sample.text);
    let verdicts = || format!("{:?}\n  guard: {guard:?}\n  second: {second:?}", sample.text);
    if guard.is_ok() != second.is_ok() {
        return Some(format!("the readers disagree about {}", verdicts()));
    }
    match sample.expectation {
        Expectation::Pass if guard.is_err() => return Some(format!("refused {}", verdicts())),
        Expectation::Fail if guard.is_ok() => return Some(format!("passed {}", verdicts())),
        Expectation::Pass | Expectation::Fail | Expectation::Either => {}
    }
    let kept = guard.as_ref().ok()?.as_str();
    if PublicImageUrl::parse(kept) != *guard {
        return Some(format!("{kept:?} is not read the same again, from {}", verdicts()));
    }
    if !kept.is_ascii() || second_reader::judge(kept).is_err() {
        return Some(format!("{kept:?} is not what may be kept, from {}", verdicts()));
    }
    None
}
