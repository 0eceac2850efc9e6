//! A file in the data folder with the URL of the emulated chain, for `pennyblack pay` on the same
//! machine.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use tracing::warn;

const FILE: &str = "sandbox-chain";

/// A failure is only logged: without the file, `pennyblack pay` needs the option `--sandbox`.
pub(crate) fn write(data: &Path, origin: &str) {
    if let Err(error) = fs::write(data.join(FILE), format!("{origin}\n")) {
        warn!(kind = ?error.kind(), "cannot write the file with the URL of the sandbox's chain");
    }
}

pub(crate) fn read(data: &Path) -> Option<String> {
    let text = fs::read_to_string(data.join(FILE)).ok()?;
    Some(text.trim().to_owned()).filter(|origin| !origin.is_empty())
}

/// Removes the file, unless another process has replaced it.
pub(crate) fn remove(data: &Path, origin: &str) {
    if read(data).as_deref() != Some(origin) {
        return;
    }
    match fs::remove_file(data.join(FILE)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            warn!(kind = ?error.kind(), "cannot remove the file with the URL of the sandbox's chain");
        }
        Ok(()) | Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_removed_only_by_the_process_that_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        write(folder.path(), "http://127.0.0.1:1");
        write(folder.path(), "http://127.0.0.1:2");
        remove(folder.path(), "http://127.0.0.1:1");
        assert_eq!(read(folder.path()).as_deref(), Some("http://127.0.0.1:2"));
        remove(folder.path(), "http://127.0.0.1:2");
        assert_eq!(read(folder.path()), None);
    }
}
