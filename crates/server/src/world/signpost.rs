//! A note in the data folder that says where the sandbox's chain answers, for
//! `pennyblack pay` on the same machine.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use tracing::warn;

const FILE: &str = "sandbox-chain";

/// Without it the service runs as well; only the payer has to be told.
pub(crate) fn put(data: &Path, origin: &str) {
    if let Err(error) = fs::write(data.join(FILE), format!("{origin}\n")) {
        warn!(kind = ?error.kind(), "the note about the sandbox's chain cannot be written");
    }
}

pub(crate) fn read(data: &Path) -> Option<String> {
    let text = fs::read_to_string(data.join(FILE)).ok()?;
    Some(text.trim().to_owned()).filter(|origin| !origin.is_empty())
}

/// Takes our own note away, and leaves that of a successor alone.
pub(crate) fn remove(data: &Path, origin: &str) {
    if read(data).as_deref() != Some(origin) {
        return;
    }
    match fs::remove_file(data.join(FILE)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            warn!(kind = ?error.kind(), "the note about the sandbox's chain cannot be removed");
        }
        Ok(()) | Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_back_and_only_its_own_writer_removes_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        put(folder.path(), "http://127.0.0.1:1");
        put(folder.path(), "http://127.0.0.1:2");
        remove(folder.path(), "http://127.0.0.1:1");
        assert_eq!(read(folder.path()).as_deref(), Some("http://127.0.0.1:2"));
        remove(folder.path(), "http://127.0.0.1:2");
        assert_eq!(read(folder.path()), None);
    }
}
