//! The disk as a FUSE file system. The kernel's page cache is in front of it, so that files can be mapped into memory;
//! the kernel writes through, so every write of a process is a write to the disk at once.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use crate::disk::content::{Content, PAGE};
use crate::disk::inode::{DiskError, Inode, NodeKind, now};
use crate::disk::{Disk, Space};

/// The kernel is the only user, so what it knows stays true.
const FOREVER: Duration = Duration::from_secs(1_000_000);
/// Pages in the kernel's cache stay valid when a file is opened again.
const CACHED: FopenFlags = FopenFlags::FOPEN_KEEP_CACHE;
const SYNCHRONOUS: i32 = 0o4_010_000;
const TYPE_BITS: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const MODE_BITS: u32 = 0o7_777;
/// Reported while space is not limited.
const ROOMY: u64 = 1 << 30;

#[derive(Clone)]
pub struct FileSystem(pub Arc<Mutex<Disk>>);

impl FileSystem {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attributes(&self, node: u64) -> Result<FileAttr, Errno> {
        let disk = self.disk();
        let inode = disk.inode(node).map_err(errno)?;
        let size = u64::try_from(inode.len()).unwrap_or(u64::MAX);
        Ok(FileAttr {
            ino: INodeNo(node),
            size,
            blocks: size.div_ceil(512),
            atime: inode.changed,
            mtime: inode.changed,
            ctime: inode.changed,
            crtime: inode.changed,
            kind: file_type(inode),
            perm: u16::try_from(inode.mode & MODE_BITS).unwrap_or(0),
            nlink: 1,
            uid: inode.uid,
            gid: inode.gid,
            rdev: 0,
            blksize: u32::try_from(PAGE).unwrap_or(0),
            flags: 0,
        })
    }

    fn make(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        kind: NodeKind,
        mode: u32,
    ) -> Result<FileAttr, Errno> {
        let changed = now();
        let inode = Inode { kind, mode, uid: request.uid(), gid: request.gid(), changed };
        let node = self.disk().create(parent.0, name, inode).map_err(errno)?;
        self.attributes(node)
    }
}

fn errno(error: DiskError) -> Errno {
    match error {
        DiskError::PowerLost => Errno::EIO,
        DiskError::Full => Errno::ENOSPC,
        DiskError::Missing => Errno::ENOENT,
        DiskError::Exists => Errno::EEXIST,
        DiskError::NotEmpty => Errno::ENOTEMPTY,
        DiskError::NotAFolder => Errno::ENOTDIR,
        DiskError::IsAFolder => Errno::EISDIR,
    }
}

fn file_type(inode: &Inode) -> FileType {
    match &inode.kind {
        NodeKind::File(_) => FileType::RegularFile,
        NodeKind::Folder => FileType::Directory,
        NodeKind::Link(_) => FileType::Symlink,
        NodeKind::Special(mode) if mode & TYPE_BITS == 0o140_000 => FileType::Socket,
        NodeKind::Special(_) => FileType::NamedPipe,
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn reply_empty(outcome: Result<(), DiskError>, reply: ReplyEmpty) {
    match outcome {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(errno(error)),
    }
}

fn reply_entry(outcome: Result<FileAttr, Errno>, reply: ReplyEntry) {
    match outcome {
        Ok(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
        Err(error) => reply.error(error),
    }
}

impl Filesystem for FileSystem {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.disk().find(parent.0, name).map_err(errno);
        reply_entry(found.and_then(|node| self.attributes(node)), reply);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(ino.0) {
            Ok(attributes) => reply.attr(&FOREVER, &attributes),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<std::time::SystemTime>,
        _: Option<FileHandle>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut done = self.disk().set_owner(ino.0, mode, uid, gid);
        if let Some(size) = size {
            done = done.and_then(|()| self.disk().set_len(ino.0, index(size)));
        }
        match done.map_err(errno).and_then(|()| self.attributes(ino.0)) {
            Ok(attributes) => reply.attr(&FOREVER, &attributes),
            Err(error) => reply.error(error),
        }
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        match self.disk().inode(ino.0).map(|inode| &inode.kind) {
            Ok(NodeKind::Link(target)) => reply.data(target),
            Ok(_) => reply.error(Errno::EINVAL),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let kind = if mode & TYPE_BITS == REGULAR {
            NodeKind::File(Content::default())
        } else {
            NodeKind::Special(mode)
        };
        reply_entry(self.make(request, parent, name, kind, mode & !umask), reply);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        reply_entry(self.make(request, parent, name, NodeKind::Folder, mode & !umask), reply);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let kind = NodeKind::Link(target.as_os_str().as_encoded_bytes().to_vec());
        reply_entry(self.make(request, parent, name, kind, 0o777), reply);
    }

    fn link(
        &self,
        _: &Request,
        ino: INodeNo,
        newparent: INodeNo,
        newname: &OsStr,
        reply: ReplyEntry,
    ) {
        let made = self.disk().link(ino.0, newparent.0, newname).map_err(errno);
        reply_entry(made.and_then(|()| self.attributes(ino.0)), reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(self.disk().remove(parent.0, name), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(self.disk().remove(parent.0, name), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        if !flags.is_empty() {
            return reply.error(Errno::EINVAL);
        }
        reply_empty(self.disk().rename((parent.0, name), (newparent.0, newname)), reply);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let kind = NodeKind::File(Content::default());
        match self.make(request, parent, name, kind, mode & !umask) {
            Ok(attributes) => {
                reply.created(&FOREVER, &attributes, Generation(0), FileHandle(0), CACHED);
            }
            Err(error) => reply.error(error),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), CACHED);
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.disk().read(ino.0, index(offset), index(size.into())) {
            Ok(data) => reply.data(data),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        write_flags: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut disk = self.disk();
        let written = if write_flags.contains(WriteFlags::FUSE_WRITE_CACHE) {
            disk.write_mapped(ino.0, index(offset), data)
        } else {
            disk.write(ino.0, index(offset), data)
        };
        let written = written.and_then(|size| {
            if flags.0 & SYNCHRONOUS != 0 {
                disk.sync(ino.0)?;
            }
            Ok(size)
        });
        match written {
            Ok(size) => reply.written(u32::try_from(size).unwrap_or(u32::MAX)),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply_empty(self.disk().sync(ino.0), reply);
    }

    fn fsyncdir(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply_empty(self.disk().sync(ino.0), reply);
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let disk = self.disk();
        let names = match disk.list(ino.0) {
            Ok(names) => names,
            Err(error) => return reply.error(errno(error)),
        };
        let dots = [(OsStr::new("."), ino.0), (OsStr::new(".."), ino.0)];
        for (place, (name, node)) in (1..).zip(dots.into_iter().chain(names)) {
            if place <= offset {
                continue;
            }
            let kind = disk.inode(node).map_or(FileType::RegularFile, file_type);
            if reply.add(INodeNo(node), place, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let page = u64::try_from(PAGE).unwrap_or(1);
        let free = match self.disk().space() {
            Space::Unlimited => ROOMY,
            Space::Growth(left) | Space::Writes(left) => u64::try_from(left).unwrap_or(0) / page,
        };
        let size = u32::try_from(PAGE).unwrap_or(0);
        reply.statfs(2 * ROOMY, free, free, ROOMY, ROOMY, size, 255, size);
    }
}
