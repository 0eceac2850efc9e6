//! The key file: created once, readable by its owner only.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::{KeyError, Keyring, random_line};

/// Room for every key that may be in it, and for some remarks.
const FILE_BYTES_MAX: u64 = 64 * 1024;
const OWNER_ONLY: u32 = 0o600;
const CREDENTIAL: u32 = 0o440;

const REMARK: &str = "\
# The keys of this Pennyblack. Keep a copy somewhere safe.
# The first is the identity key: never change it. To rotate, append a line;
# with several processes see docs/operate/key-rotation.md.
";

impl Keyring {
    /// Reads the key file, and makes one with a random key if there is none.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyError> {
        match load(path) {
            Err(KeyError::File { cause, .. }) if cause.kind() == ErrorKind::NotFound => {
                create(path)?;
                load(path)
            }
            loaded => loaded,
        }
    }
}

fn load(path: &Path) -> Result<Keyring, KeyError> {
    let fault = |cause| KeyError::File { path: path.to_owned(), cause };
    let file = File::open(path).map_err(fault)?;
    // The file that is open is the one that is asked, so it cannot be replaced
    // between the question and the reading.
    let facts = file.metadata().map_err(fault)?;
    let mode = facts.mode() & 0o777;
    if is_exposed(mode, facts.uid(), facts.gid()) {
        return Err(KeyError::Exposed { path: path.to_owned(), mode });
    }
    let mut text = Zeroizing::new(String::new());
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(fault)?;
    Keyring::from_text(&text)
}

/// Whether users other than the owner and root may read or change the file. systemd gives a service
/// its credentials with an access list, whose mask appears as the mode of the group: such a file
/// belongs to root, and its group is root.
const fn is_exposed(mode: u32, owner: u32, group: u32) -> bool {
    let is_credential = mode == CREDENTIAL && owner == 0 && group == 0;
    mode & 0o077 != 0 && !is_credential
}

/// All or nothing: a crash leaves either no key file or a whole one.
fn create(path: &Path) -> Result<(), KeyError> {
    let line = random_line()?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    };
    let draft = draft_name(path);
    let made = write_draft(&draft, &line).and_then(|()| {
        // Unlike a rename, a link never replaces: of two processes that start
        // at once, both go on with the keys of the first.
        match fs::hard_link(&draft, path) {
            Err(taken) if taken.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    });
    // A draft that stays behind holds a key that was never used.
    let _ = fs::remove_file(&draft);
    let synced = made.and_then(|()| File::open(folder)?.sync_all());
    synced.map_err(|cause| KeyError::File { path: path.to_owned(), cause })
}

fn draft_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.draft", std::process::id()));
    PathBuf::from(name)
}

fn write_draft(draft: &Path, line: &str) -> io::Result<()> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(OWNER_ONLY).open(draft)?;
    file.write_all(REMARK.as_bytes())?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::is_exposed;

    #[test]
    fn only_a_credential_of_root_may_have_the_mode_of_a_group() {
        for (mode, owner, group, exposed) in [
            (0o600, 1000, 1000, false),
            (0o400, 1000, 1000, false),
            (0o440, 1000, 1000, true),
            (0o604, 1000, 1000, true),
            (0o440, 0, 0, false),
            (0o440, 0, 1000, true),
            (0o440, 1000, 0, true),
            (0o640, 0, 0, true),
            (0o444, 0, 0, true),
        ] {
            assert_eq!(is_exposed(mode, owner, group), exposed, "{mode:o} {owner} {group}");
        }
    }
}
