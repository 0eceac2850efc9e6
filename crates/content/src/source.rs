//! Where content is read from: the binary or a folder.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

use crate::fault::ContentFault;

static BUILT_IN: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../content");

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ContentSource {
    BuiltIn,
    Folder(PathBuf),
}

impl ContentSource {
    pub(crate) fn bytes(&self, file: &str) -> Result<Cow<'static, [u8]>, ContentFault> {
        match self {
            Self::BuiltIn => BUILT_IN
                .get_file(file)
                .map(|found| Cow::Borrowed(found.contents()))
                .ok_or_else(|| ContentFault::new(file, "is missing")),
            Self::Folder(folder) => match std::fs::read(folder.join(file)) {
                Ok(bytes) => Ok(Cow::Owned(bytes)),
                Err(error) => Err(unreadable(file, &error)),
            },
        }
    }

    pub(crate) fn text(&self, file: &str) -> Result<String, ContentFault> {
        String::from_utf8(self.bytes(file)?.into_owned())
            .map_err(|_| ContentFault::new(file, "is not UTF-8 text"))
    }

    /// The names of the files and folders in a folder, in alphabetical order.
    pub(crate) fn names(&self, folder: &str) -> Result<Vec<String>, ContentFault> {
        let mut names = match self {
            Self::BuiltIn => BUILT_IN
                .get_dir(folder)
                .ok_or_else(|| ContentFault::new(folder, "is missing"))?
                .entries()
                .iter()
                .filter_map(|entry| name(entry.path()))
                .collect(),
            Self::Folder(root) => {
                names_on_disk(&root.join(folder)).map_err(|error| unreadable(folder, &error))?
            }
        };
        names.sort_unstable();
        Ok(names)
    }
}

fn names_on_disk(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.extend(name(&entry?.path()));
    }
    Ok(names)
}

fn name(path: &Path) -> Option<String> {
    path.file_name().and_then(|name| name.to_str()).map(str::to_owned)
}

fn unreadable(file: &str, error: &std::io::Error) -> ContentFault {
    ContentFault::new(file, format!("cannot be read: {error}"))
}
