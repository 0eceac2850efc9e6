//! What survives a power loss, and what need not.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::sync::mpsc::{Receiver, channel};
use std::time::SystemTime;

use super::content::{PAGE, SECTOR};
use super::*;

fn disk(seed: u64, name_sync: NameSync) -> (Disk, Receiver<Notice>) {
    let (sender, notices) = channel();
    let disk = Disk::new(seed, name_sync, move |notice| sender.send(notice).expect("a receiver"));
    (disk, notices)
}

fn file() -> Inode {
    let kind = NodeKind::File(Content::default());
    Inode { kind, mode: 0o600, uid: 0, gid: 0, changed: SystemTime::UNIX_EPOCH }
}

fn create(disk: &mut Disk, name: &str) -> Node {
    disk.create(ROOT, OsStr::new(name), file()).expect("a new file")
}

/// A file of two pages of the byte 1 that survives, data and name.
fn durable_file(disk: &mut Disk) -> Node {
    let node = create(disk, "file");
    disk.write(node, 0, &[1; 2 * PAGE]).expect("written");
    disk.sync(node).expect("synced");
    disk.sync(ROOT).expect("synced");
    node
}

fn after_power_loss(disk: &mut Disk) {
    disk.lose_power();
    disk.restore();
}

fn bytes(disk: &Disk, node: Node) -> Vec<u8> {
    disk.read(node, 0, 100 * PAGE).expect("a file").to_vec()
}

#[test]
fn what_was_synced_survives_every_power_loss() {
    for seed in 0..200 {
        let (mut disk, _notices) = disk(seed, NameSync::FolderOnly);
        let node = durable_file(&mut disk);
        disk.write(node, 3 * PAGE, &[2; 100]).expect("written");
        disk.sync(node).expect("synced");
        disk.write(node, 10 * PAGE, &[3; PAGE]).expect("written");
        after_power_loss(&mut disk);
        let found = bytes(&disk, node);
        assert_eq!(found[..2 * PAGE], [1; 2 * PAGE]);
        assert_eq!(found[2 * PAGE..3 * PAGE], [0; PAGE]);
        assert_eq!(found[3 * PAGE..3 * PAGE + 100], [2; 100]);
        assert_eq!(disk.find(ROOT, OsStr::new("file")), Ok(node));
    }
}

#[test]
fn unsynced_pages_are_dropped_kept_or_torn_between_sectors() {
    let (mut dropped, mut kept, mut torn) = (0, 0, 0);
    for seed in 0..300 {
        let (mut disk, notices) = disk(seed, NameSync::FolderOnly);
        let node = durable_file(&mut disk);
        disk.write(node, 0, &[2; PAGE]).expect("written");
        after_power_loss(&mut disk);
        let found = bytes(&disk, node);
        for sector in found.chunks(SECTOR) {
            assert!(sector.iter().all(|byte| *byte == sector[0]), "a torn sector, seed {seed}");
        }
        let new = found[..PAGE].iter().filter(|byte| **byte == 2).count();
        match new {
            0 => dropped += 1,
            PAGE => kept += 1,
            _ => torn += 1,
        }
        assert!(matches!(notices.try_recv(), Ok(Notice::PowerLost(_))));
    }
    assert!(dropped > 50 && kept > 50 && torn > 50, "{dropped} {kept} {torn}");
}

#[test]
fn pages_reach_the_disk_in_any_order_and_an_older_version_may_be_what_is_left() {
    let mut later_without_earlier = 0;
    let mut older_versions = 0;
    for seed in 0..500 {
        let (mut disk, _notices) = disk(seed, NameSync::FolderOnly);
        let node = durable_file(&mut disk);
        for version in 2..6 {
            disk.write(node, 0, &[version; PAGE]).expect("written");
        }
        disk.write(node, PAGE, &[9; PAGE]).expect("written");
        after_power_loss(&mut disk);
        let found = bytes(&disk, node);
        later_without_earlier += usize::from(found[0] == 1 && found[PAGE] == 9);
        older_versions += usize::from((2..5).contains(&found[0]));
    }
    assert!(later_without_earlier > 0 && older_versions > 0);
}

#[test]
fn an_unsynced_length_may_be_lost_or_kept_without_its_data() {
    let mut lengths = HashSet::new();
    let mut zeros = 0;
    for seed in 0..300 {
        let (mut disk, _notices) = disk(seed, NameSync::FolderOnly);
        let node = durable_file(&mut disk);
        disk.write(node, 2 * PAGE, &[2; PAGE]).expect("written");
        after_power_loss(&mut disk);
        let found = bytes(&disk, node);
        lengths.insert(found.len());
        zeros += usize::from(found.len() == 3 * PAGE && found[2 * PAGE..] == [0; PAGE]);
    }
    assert!(lengths.contains(&(2 * PAGE)) && lengths.contains(&(3 * PAGE)));
    assert!(zeros > 0);
}

#[test]
fn a_truncation_is_lost_or_kept_and_durable_after_a_sync() {
    let mut lengths = HashSet::new();
    for seed in 0..100 {
        let (mut disk, _notices) = disk(seed, NameSync::FolderOnly);
        let node = durable_file(&mut disk);
        disk.set_len(node, 100).expect("truncated");
        after_power_loss(&mut disk);
        lengths.insert(bytes(&disk, node).len());
        disk.set_len(node, 50).expect("truncated");
        disk.set_len(node, 2 * PAGE).expect("longer");
        disk.sync(node).expect("synced");
        after_power_loss(&mut disk);
        let found = bytes(&disk, node);
        assert_eq!((found.len(), found[49], &found[50..]), (2 * PAGE, 1, &[0; 2 * PAGE - 50][..]));
    }
    assert_eq!(lengths, HashSet::from([100, 2 * PAGE]));
}

#[test]
fn names_are_lost_from_the_end_unless_their_folder_was_synced() {
    let mut found = HashSet::new();
    for seed in 0..200 {
        let (mut disk, _notices) = disk(seed, NameSync::FolderOnly);
        let first = create(&mut disk, "first");
        disk.sync(ROOT).expect("synced");
        let second = create(&mut disk, "second");
        disk.sync(second).expect("synced");
        disk.rename((ROOT, OsStr::new("second")), (ROOT, OsStr::new("first"))).expect("renamed");
        after_power_loss(&mut disk);
        let name = |name| disk.find(ROOT, OsStr::new(name)).ok();
        let names = (name("first"), name("second"));
        let allowed = [(Some(first), None), (Some(first), Some(second)), (Some(second), None)];
        assert!(allowed.contains(&names), "{names:?}");
        found.insert(names);
    }
    assert_eq!(found.len(), 3);
}

#[test]
fn a_sync_of_a_file_keeps_its_name_only_where_the_file_system_promises_it() {
    for (name_sync, is_promised) in [(NameSync::FileOrFolder, true), (NameSync::FolderOnly, false)]
    {
        let mut kept = 0;
        for seed in 0..100 {
            let (mut disk, _notices) = disk(seed, name_sync);
            let node = create(&mut disk, "file");
            disk.sync(node).expect("synced");
            after_power_loss(&mut disk);
            kept += usize::from(disk.find(ROOT, OsStr::new("file")).is_ok());
        }
        assert_eq!(kept == 100, is_promised, "{kept}");
    }
}

#[test]
fn power_fails_during_the_nth_change_and_everything_fails_until_it_is_restored() {
    let (mut disk, notices) = disk(7, NameSync::FolderOnly);
    let node = durable_file(&mut disk);
    disk.lose_power_after(3);
    assert_eq!(disk.write(node, 0, &[2; 8]), Ok(8));
    assert_eq!(disk.write(node, 0, &[3; 8]), Ok(8));
    assert!(notices.try_recv().is_err());
    assert_eq!(disk.sync(node), Err(DiskError::PowerLost));
    assert!(matches!(notices.try_recv(), Ok(Notice::PowerLost(_))));
    assert_eq!(disk.read(node, 0, 1), Err(DiskError::PowerLost));
    assert_eq!(disk.find(ROOT, OsStr::new("file")), Err(DiskError::PowerLost));
    assert_eq!(disk.write(node, 0, &[4]), Err(DiskError::PowerLost));
    disk.restore();
    assert_eq!(disk.write(node, 0, &[4]), Ok(1));
}

#[test]
fn the_same_seed_loses_the_same() {
    let lose = |seed| {
        let (mut disk, _notices) = disk(seed, NameSync::FileOrFolder);
        let node = durable_file(&mut disk);
        for number in 0..50 {
            disk.write(node, usize::from(number) * 700, &[number; 900]).expect("written");
        }
        after_power_loss(&mut disk);
        bytes(&disk, node)
    };
    assert_eq!(lose(1), lose(1));
    assert_ne!(lose(1), lose(2));
}

#[test]
fn a_full_disk_writes_what_fits_and_works_again_once_there_is_space() {
    let (mut disk, notices) = disk(7, NameSync::FileOrFolder);
    let node = durable_file(&mut disk);
    disk.set_space(Space::Growth(10));
    assert_eq!(disk.write(node, 0, &[2; PAGE]), Ok(PAGE), "this does not grow the file");
    assert_eq!(disk.write(node, 2 * PAGE - 5, &[2; 100]), Ok(15));
    assert_eq!(disk.write(node, 2 * PAGE + 10, &[2; 100]), Err(DiskError::Full));
    assert_eq!(disk.create(ROOT, OsStr::new("other"), file()), Err(DiskError::Full));
    assert_eq!((notices.try_recv(), notices.try_recv().is_err()), (Ok(Notice::Full), true));
    disk.set_space(Space::Writes(10));
    assert_eq!(disk.write(node, 0, &[2; PAGE]), Ok(10));
    assert_eq!(disk.write(node, 0, &[2; PAGE]), Err(DiskError::Full));
    assert_eq!(disk.write_mapped(node, 0, &[2; PAGE]), Ok(PAGE));
    disk.sync(node).expect("what was written can be synced");
    disk.set_space(Space::Unlimited);
    assert_eq!(disk.write(node, 0, &[2; PAGE]), Ok(PAGE));
}

#[test]
fn a_removed_file_is_back_if_its_removal_was_not_durable() {
    let mut back = 0;
    for seed in 0..100 {
        let (mut disk, _notices) = disk(seed, NameSync::FileOrFolder);
        let node = durable_file(&mut disk);
        disk.remove(ROOT, OsStr::new("file")).expect("removed");
        assert_eq!(bytes(&disk, node).len(), 2 * PAGE, "it may be open");
        after_power_loss(&mut disk);
        if disk.find(ROOT, OsStr::new("file")).is_ok() {
            assert_eq!(bytes(&disk, node), vec![1; 2 * PAGE]);
            back += 1;
        }
    }
    assert!((1..100).contains(&back));
}
