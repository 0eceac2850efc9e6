//! The operator's key file: a file is read exactly if a second, simpler reader takes it.

use adapters::keys::Keyring;

const KEYS_MAX: usize = 64;

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    assert_eq!(Keyring::from_text(text).is_ok(), is_key_file(text), "{text:?}");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let (first, second) = ("1f".repeat(32), "2E".repeat(32));
    super::texts(&[
        &format!("# keys\n{first}\n\n{second}\n"),
        &format!("{first}\r\nnext {second}\r\n"),
        &format!("next {first}\n{second}"),
        &format!("{first}\n{first}\n"),
    ])
}

/// Different keys of 64 digits, the first of which is not marked as the next one.
fn is_key_file(text: &str) -> bool {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<&str> = lines.collect();
    let key =
        |line: &&str| line.strip_prefix("next ").unwrap_or(line).trim_start().to_ascii_lowercase();
    let mut keys: Vec<String> = lines.iter().map(key).collect();
    let whole = keys
        .iter()
        .all(|key| key.len() == 64 && key.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let count = keys.len();
    keys.sort();
    keys.dedup();
    let begins = lines.first().is_some_and(|line| !line.starts_with("next "));
    whole && begins && keys.len() == count && count <= KEYS_MAX
}
