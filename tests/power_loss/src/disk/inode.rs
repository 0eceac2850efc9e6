//! What a name on the disk stands for.

use std::time::SystemTime;

use super::content::Content;

/// The time of a change, for `stat`.
#[expect(clippy::disallowed_methods, reason = "a file system has no clock to ask")]
pub fn now() -> SystemTime {
    SystemTime::now()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskError {
    PowerLost,
    Full,
    Missing,
    Exists,
    NotEmpty,
    NotAFolder,
    IsAFolder,
}

pub enum NodeKind {
    File(Content),
    Folder,
    Link(Vec<u8>),
    /// A socket or a pipe: only its name is here.
    Special(u32),
}

pub struct Inode {
    pub kind: NodeKind,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub changed: SystemTime,
}

impl Inode {
    pub fn is_folder(&self) -> bool {
        matches!(self.kind, NodeKind::Folder)
    }

    pub fn len(&self) -> usize {
        match &self.kind {
            NodeKind::File(content) => content.len(),
            NodeKind::Link(target) => target.len(),
            NodeKind::Folder | NodeKind::Special(_) => 0,
        }
    }
}
