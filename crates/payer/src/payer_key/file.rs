//! The payer's private key as text and in a file.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use evm::hex;
use evm::signature::SigningKey;
use zeroize::Zeroizing;

use crate::outcome::PaymentOutcome;

/// A key has 66 characters; a large file that was named by mistake is not read whole.
const FILE_BYTES_MAX: u64 = 256;

/// From `0x` and 64 digits, or the digits alone.
pub(crate) fn parse(text: &str) -> Option<SigningKey> {
    let text = text.trim();
    let bytes = Zeroizing::new(hex::decode_digits(text.strip_prefix("0x").unwrap_or(text))?);
    SigningKey::from_bytes(bytes.as_slice().try_into().ok()?).ok()
}

pub(crate) fn read(path: &Path) -> Result<SigningKey, PaymentOutcome> {
    let shown = path.display();
    let unreadable = |error| {
        PaymentOutcome::Unusable(format!("The key file {shown} cannot be read: {error}.\n"))
    };
    let file = File::open(path).map_err(unreadable)?;
    let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(PaymentOutcome::Unusable(format!(
            "The key file {shown} can be read by others on this machine (mode {mode:03o}).\n\
             Close it first: chmod 600 {shown}\n"
        )));
    }
    let mut text = Zeroizing::new(String::new());
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(unreadable)?;
    parse(&text).ok_or_else(|| {
        PaymentOutcome::Unusable(format!(
            "The key file {shown} holds no private key. It holds one line: 0x and 64 \
             hexadecimal digits.\n"
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

    #[test]
    fn a_key_is_read_with_and_without_its_prefix() {
        let address = parse(KEY).unwrap().address();
        assert_eq!(parse(&KEY[2..]).unwrap().address(), address);
        assert_eq!(parse(&format!(" {KEY}\n")).unwrap().address(), address);
        for wrong in ["", "0x12", &"0".repeat(64), &KEY.replace("ac", "zz")] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_key_file_that_others_can_read_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        fs::write(&path, format!("{KEY}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let outcome = read(&path).unwrap_err();
        assert!(outcome.text().contains("chmod 600"), "{outcome:?}");
        assert!(!outcome.text().contains(&KEY[2..]), "{outcome:?}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(read(&path).is_ok());
    }
}
