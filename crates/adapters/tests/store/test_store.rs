//! Shared by the store tests: keys, a runtime, concurrent writers.

use adapters::keys::Keyring;
use order::model::ids::WorkerId;
use order::testing::contract::StoreTask;
use tokio::runtime::{Builder, Runtime};

pub(crate) fn keyring() -> Keyring {
    Keyring::from_text(&"42".repeat(32)).unwrap()
}

/// One of several processes.
pub(crate) const fn worker(number: u8) -> WorkerId {
    WorkerId::from_bytes([number; 16])
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap()
}

/// Runs tasks on all threads of the runtime at once.
pub(crate) fn crowd(tasks: Vec<StoreTask>) -> StoreTask {
    Box::pin(async move {
        let running: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
        for task in running {
            task.await.unwrap();
        }
    })
}

/// What the environment of the tests says.
#[expect(clippy::disallowed_methods, reason = "a test may be told what to use")]
pub(crate) fn told(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whether any of the words is among the bytes, in plain or as hexadecimal digits.
pub(crate) fn find_word(bytes: &[u8], words: &[&str]) -> Option<String> {
    let contains =
        |needle: &[u8]| bytes.windows(needle.len()).any(|part| part.eq_ignore_ascii_case(needle));
    let hex = |word: &str| word.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    words
        .iter()
        .find(|word| contains(word.as_bytes()) || contains(hex(word).as_bytes()))
        .map(ToString::to_string)
}
