//! A disk in memory that keeps two images of every file, and loses the difference when its power
//! fails.
//!
//! # Model
//!
//! What processes see (`now`) changes with every call. What is durable changes as follows. It is
//! as weak as POSIX allows, with the order of names that journaling file systems keep.
//!
//! * **Data.** `fsync` and `fdatasync` of a file, and each write with `O_SYNC` or `O_DSYNC`, make
//!   all its bytes and its length durable. Until then any page may reach the disk by itself: after
//!   some writes a random unsynced page does, so an older version of a page may be durable without
//!   a newer one, and pages are durable in any order.
//! * **Power loss.** For each file with unsynced pages: all are dropped, all reach the disk, or each
//!   page by itself is dropped, reaches the disk or is torn. Of a torn page a random set of sectors
//!   of 512 bytes is new and the rest is old; a sector is never torn, as disks promise. An unsynced
//!   length is lost or kept independently of the data; bytes that were never written are zeros.
//! * **Names.** Creations, renames and removals are a journal: at a power loss the first n
//!   unsynced ones are durable, for a random n, each whole. A sync of a folder makes the journal
//!   durable up to the last operation in that folder. With `NameSync::FileOrFolder` (ext4, XFS,
//!   Btrfs) a sync of a file does the same up to the last operation on that file. With
//!   `NameSync::FolderOnly` (all that POSIX requires) it does not. A durable name says nothing
//!   of the data: a file that was renamed without a sync may be empty.
//! * **Owner, mode and times** are durable at once. Databases do not rely on them.
//! * **The instant.** Power fails now, or during the nth write, sync or change of names from now
//!   on. That call is not acknowledged: a write counts as unsynced, a sync has not happened. From
//!   then on every call fails with `EIO` until [`Disk::restore`].
//! * **Full disk.** After a number of bytes each further one fails with `ENOSPC`; a write that fits
//!   in part is short. [`Space::Growth`] counts bytes by which files grow, as file systems that
//!   overwrite in place do; [`Space::Writes`] counts all, as those that copy on write do. Pages
//!   that are changed through a memory mapping are never refused: file systems reserve their space
//!   when the page is first changed.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

pub mod content;
pub mod inode;
pub mod names;
#[cfg(test)]
mod tests;

use self::content::{Content, Fate, PageCounts};
use self::inode::{DiskError, Inode, NodeKind, now};
use self::names::{NameSync, Names, Node, ROOT};
use crate::random::Random;

/// One in so many writes lets a page reach the disk without a sync.
const WRITE_BACK_ONE_IN: usize = 8;

/// How many more bytes can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Unlimited,
    Growth(usize),
    Writes(usize),
}

/// What a power loss did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    pub pages: PageCounts,
    pub names: u64,
}

/// What the controller of the disk is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    PowerLost(Loss),
    Full,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Power {
    On,
    /// It fails during the nth change from now on.
    FailsAfter(u64),
    Lost,
}

/// Whether the power fails during this change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Instant {
    Safe,
    Fatal,
}

pub struct Disk {
    inodes: HashMap<Node, Inode>,
    names: Names,
    next: Node,
    name_sync: NameSync,
    random: Random,
    power: Power,
    space: Space,
    told_full: bool,
    notify: Box<dyn FnMut(Notice) + Send>,
}

type Outcome<T> = Result<T, DiskError>;

impl Disk {
    pub fn new(
        seed: u64,
        name_sync: NameSync,
        notify: impl FnMut(Notice) + Send + 'static,
    ) -> Self {
        let changed = now();
        let root = Inode { kind: NodeKind::Folder, mode: 0o755, uid: 0, gid: 0, changed };
        Self {
            inodes: HashMap::from([(ROOT, root)]),
            names: Names::default(),
            next: ROOT + 1,
            name_sync,
            random: Random::new(seed),
            power: Power::On,
            space: Space::Unlimited,
            told_full: false,
            notify: Box::new(notify),
        }
    }

    pub fn inode(&self, node: Node) -> Outcome<&Inode> {
        self.check_power()?;
        self.inodes.get(&node).ok_or(DiskError::Missing)
    }

    pub fn find(&self, folder: Node, name: &OsStr) -> Outcome<Node> {
        self.check_power()?;
        self.names.find(folder, name).ok_or(DiskError::Missing)
    }

    pub fn list(&self, folder: Node) -> Outcome<Vec<(&OsStr, Node)>> {
        if !self.inode(folder)?.is_folder() {
            return Err(DiskError::NotAFolder);
        }
        Ok(self.names.list(folder).map(|(name, node)| (name.as_os_str(), node)).collect())
    }

    pub fn read(&self, node: Node, from: usize, size: usize) -> Outcome<&[u8]> {
        match &self.inode(node)?.kind {
            NodeKind::File(content) => Ok(content.read(from, size)),
            NodeKind::Folder | NodeKind::Link(_) | NodeKind::Special(_) => {
                Err(DiskError::IsAFolder)
            }
        }
    }

    /// Writes a page that a process changed in memory. Its space was reserved before.
    pub fn write_mapped(&mut self, node: Node, from: usize, data: &[u8]) -> Outcome<usize> {
        let space = std::mem::replace(&mut self.space, Space::Unlimited);
        let written = self.write(node, from, data);
        self.space = space;
        written
    }

    /// How many bytes were written: fewer than given if the disk becomes full.
    pub fn write(&mut self, node: Node, from: usize, data: &[u8]) -> Outcome<usize> {
        let instant = self.begin()?;
        let len = self.content(node)?.len();
        let size = match self.space {
            Space::Unlimited => data.len(),
            Space::Writes(left) => data.len().min(left),
            Space::Growth(left) => data.len().min((len + left).saturating_sub(from)),
        };
        if size == 0 && !data.is_empty() {
            return Err(self.full());
        }
        let grown = (from + size).saturating_sub(len);
        match &mut self.space {
            Space::Unlimited => {}
            Space::Writes(left) => *left -= size,
            Space::Growth(left) => *left = left.saturating_sub(grown),
        }
        self.content(node)?.write(from, &data[..size]);
        self.touch(node);
        self.write_back(node);
        self.end(instant)?;
        Ok(size)
    }

    pub fn set_len(&mut self, node: Node, len: usize) -> Outcome<()> {
        let instant = self.begin()?;
        self.content(node)?.set_len(len);
        self.touch(node);
        self.end(instant)
    }

    pub fn set_owner(
        &mut self,
        node: Node,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Outcome<()> {
        self.check_power()?;
        let inode = self.inodes.get_mut(&node).ok_or(DiskError::Missing)?;
        inode.mode = mode.unwrap_or(inode.mode);
        inode.uid = uid.unwrap_or(inode.uid);
        inode.gid = gid.unwrap_or(inode.gid);
        Ok(())
    }

    pub fn sync(&mut self, node: Node) -> Outcome<()> {
        let instant = self.begin()?;
        if instant == Instant::Safe {
            if let Some(Inode { kind: NodeKind::File(content), .. }) = self.inodes.get_mut(&node) {
                content.sync();
            }
            self.names.sync(node, self.name_sync);
        }
        self.end(instant)
    }

    pub fn create(&mut self, folder: Node, name: &OsStr, inode: Inode) -> Outcome<Node> {
        let instant = self.begin()?;
        if matches!(self.space, Space::Growth(0) | Space::Writes(0)) {
            return Err(self.full());
        }
        if self.names.find(folder, name).is_some() {
            return Err(DiskError::Exists);
        }
        let node = self.next;
        self.next += 1;
        self.inodes.insert(node, inode);
        self.names.add(folder, name, node);
        self.end(instant)?;
        Ok(node)
    }

    /// Another name for a file.
    pub fn link(&mut self, node: Node, folder: Node, name: &OsStr) -> Outcome<()> {
        let instant = self.begin()?;
        if self.names.find(folder, name).is_some() {
            return Err(DiskError::Exists);
        }
        self.names.add(folder, name, node);
        self.end(instant)
    }

    /// The file stays readable for those that have it open.
    pub fn remove(&mut self, folder: Node, name: &OsStr) -> Outcome<()> {
        let instant = self.begin()?;
        let node = self.names.find(folder, name).ok_or(DiskError::Missing)?;
        if !self.names.is_empty(node) {
            return Err(DiskError::NotEmpty);
        }
        self.names.remove(folder, name);
        self.end(instant)
    }

    pub fn rename(&mut self, from: (Node, &OsStr), to: (Node, &OsStr)) -> Outcome<()> {
        let instant = self.begin()?;
        self.names.find(from.0, from.1).ok_or(DiskError::Missing)?;
        if self.names.find(to.0, to.1).is_some_and(|replaced| !self.names.is_empty(replaced)) {
            return Err(DiskError::NotEmpty);
        }
        self.names.rename(from, to);
        self.end(instant)
    }

    /// Power fails now.
    pub fn lose_power(&mut self) {
        if self.power == Power::Lost {
            return;
        }
        let mut loss = Loss::default();
        let mut nodes: Vec<_> = self.inodes.keys().copied().collect();
        // In the order of a seed, not of a hash.
        nodes.sort_unstable();
        for node in nodes {
            let Some(Inode { kind: NodeKind::File(content), .. }) = self.inodes.get_mut(&node)
            else {
                continue;
            };
            let fate = match self.random.below(5) {
                0 => Fate::AllDropped,
                1 => Fate::AllReached,
                _ => Fate::Mixed,
            };
            let counts = content.lose(fate, &mut self.random);
            loss.pages.dropped += counts.dropped;
            loss.pages.reached += counts.reached;
            loss.pages.torn += counts.torn;
        }
        loss.names = u64::try_from(self.names.lose(&mut self.random)).unwrap_or(u64::MAX);
        let named: HashSet<_> = self.names.reachable().into_iter().collect();
        self.inodes.retain(|node, _| named.contains(node));
        self.power = Power::Lost;
        (self.notify)(Notice::PowerLost(loss));
    }

    /// Power will fail during the nth change from now on.
    pub fn lose_power_after(&mut self, changes: u64) {
        self.power = Power::FailsAfter(changes.max(1));
    }

    pub fn restore(&mut self) {
        self.power = Power::On;
    }

    pub fn set_space(&mut self, space: Space) {
        self.space = space;
        self.told_full = false;
    }

    pub fn space(&self) -> Space {
        self.space
    }

    fn check_power(&self) -> Outcome<()> {
        if self.power == Power::Lost { Err(DiskError::PowerLost) } else { Ok(()) }
    }

    fn begin(&mut self) -> Outcome<Instant> {
        self.check_power()?;
        match &mut self.power {
            Power::FailsAfter(1) => Ok(Instant::Fatal),
            Power::FailsAfter(left) => {
                *left -= 1;
                Ok(Instant::Safe)
            }
            Power::On | Power::Lost => Ok(Instant::Safe),
        }
    }

    fn end(&mut self, instant: Instant) -> Outcome<()> {
        if instant == Instant::Fatal {
            self.lose_power();
        }
        self.check_power()
    }

    fn full(&mut self) -> DiskError {
        if !self.told_full {
            self.told_full = true;
            (self.notify)(Notice::Full);
        }
        DiskError::Full
    }

    fn content(&mut self, node: Node) -> Outcome<&mut Content> {
        match self.inodes.get_mut(&node).map(|inode| &mut inode.kind) {
            Some(NodeKind::File(content)) => Ok(content),
            Some(NodeKind::Folder | NodeKind::Link(_) | NodeKind::Special(_)) => {
                Err(DiskError::IsAFolder)
            }
            None => Err(DiskError::Missing),
        }
    }

    fn touch(&mut self, node: Node) {
        if let Some(inode) = self.inodes.get_mut(&node) {
            inode.changed = now();
        }
    }

    fn write_back(&mut self, node: Node) {
        if self.random.one_in(WRITE_BACK_ONE_IN)
            && let Some(Inode { kind: NodeKind::File(content), .. }) = self.inodes.get_mut(&node)
        {
            content.write_back(&mut self.random);
        }
    }
}
