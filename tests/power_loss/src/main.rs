//! Mounts a disk that loses what was not synced when its power fails, for `tests/power_loss/run`.
//!
//! ```text
//! power_loss FOLDER SEED file|folder
//! ```
//!
//! `file`: a sync of a file makes its name durable, too; `folder`: only a sync of its folder does.
//! Commands are lines on standard input, and each is answered by one line:
//!
//! ```text
//! lose                          power fails now
//! lose-after N                  power fails during the Nth change from now on
//! remount                       restores power; once all processes that used it have ended
//! space growth|writes N         the disk is full after N more bytes
//! space unlimited               there is space again
//! ```
//!
//! A line that begins with `notice` says what happened. The end of the input unmounts.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fuser::{BackgroundSession, Config, MountOption, SessionACL};

mod disk;
mod file_system;
mod random;

use disk::names::NameSync;
use disk::{Disk, Loss, Notice, Space};
use file_system::FileSystem;

/// Twenty seconds: a killed process needs some time to close its files.
const UNMOUNT_ATTEMPTS: u32 = 10_000;
const PAUSE: Duration = Duration::from_millis(2);

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, seed, name_sync] = arguments.as_slice() else {
        return Err(invalid("power_loss FOLDER SEED file|folder"));
    };
    let seed = seed.parse().map_err(|_| invalid("the seed is not a number"))?;
    let name_sync = match name_sync.as_str() {
        "file" => NameSync::FileOrFolder,
        "folder" => NameSync::FolderOnly,
        _ => return Err(invalid("file or folder")),
    };
    let folder = Path::new(folder);
    let mut disk = Arc::new(Mutex::new(Disk::new(seed, name_sync, |notice| {
        // The controller may have ended.
        let _ = say(&describe(notice));
    })));
    let mut session = mount(folder, &disk)?;
    say("mounted")?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        if words == ["remount"] {
            unmount(folder, session)?;
            disk = restored(&disk);
            session = mount(folder, &disk)?;
        } else {
            command(&mut lock(&disk), &words)?;
        }
        say("done")?;
    }
    unmount(folder, session)
}

fn command(disk: &mut Disk, words: &[&str]) -> io::Result<()> {
    let number = |word: &str| word.parse().map_err(|_| invalid("not a number"));
    match words {
        ["lose"] => disk.lose_power(),
        ["lose-after", changes] => {
            disk.lose_power_after(changes.parse().map_err(|_| invalid("not a number"))?);
        }
        ["space", "growth", bytes] => disk.set_space(Space::Growth(number(bytes)?)),
        ["space", "writes", bytes] => disk.set_space(Space::Writes(number(bytes)?)),
        ["space", "unlimited"] => disk.set_space(Space::Unlimited),
        _ => return Err(invalid("an unknown command")),
    }
    Ok(())
}

fn mount(folder: &Path, disk: &Arc<Mutex<Disk>>) -> io::Result<BackgroundSession> {
    let mut config = Config::default();
    config.mount_options =
        vec![MountOption::FSName("power_loss".into()), MountOption::DefaultPermissions];
    // PostgreSQL does not run as root.
    config.acl = SessionACL::All;
    fuser::spawn_mount(FileSystem(Arc::clone(disk)), folder, &config)
}

/// The disk for the next mount. The last one is left without power: a copy of it may stay in the
/// mount namespace of an unrelated process, and the kernel may still write its cached pages.
fn restored(disk: &Mutex<Disk>) -> Arc<Mutex<Disk>> {
    let mut unused = Disk::new(0, NameSync::FolderOnly, |_| {});
    unused.lose_power();
    let mut disk = std::mem::replace(&mut *lock(disk), unused);
    disk.restore();
    Arc::new(Mutex::new(disk))
}

/// Does not wait for the end of the session, which such a copy would delay.
fn unmount(folder: &Path, session: BackgroundSession) -> io::Result<()> {
    let mut attempts = 0;
    while let Err(error) = nix::mount::umount(folder) {
        if attempts == UNMOUNT_ATTEMPTS {
            return Err(error.into());
        }
        attempts += 1;
        std::thread::sleep(PAUSE);
    }
    drop(session);
    Ok(())
}

fn lock(disk: &Mutex<Disk>) -> std::sync::MutexGuard<'_, Disk> {
    disk.lock().unwrap_or_else(PoisonError::into_inner)
}

fn describe(notice: Notice) -> String {
    match notice {
        Notice::Full => "notice full".into(),
        Notice::PowerLost(Loss { pages, names }) => format!(
            "notice lost dropped={} reached={} torn={} names={names}",
            pages.dropped, pages.reached, pages.torn
        ),
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}
