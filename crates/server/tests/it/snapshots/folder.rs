//! A folder of recorded texts: what changed, what is new, and what is no longer produced.

use std::fs;
use std::path::Path;

use super::{Snapshots, diff};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Compare,
    Update,
}

/// What the variable `UPDATE_SNAPSHOTS` asks for.
#[expect(clippy::disallowed_methods, reason = "no setting of the service: a tool's argument")]
pub(super) fn mode() -> Mode {
    match std::env::var_os("UPDATE_SNAPSHOTS") {
        Some(_) => Mode::Update,
        None => Mode::Compare,
    }
}

pub(super) fn compare(folder: &Path, now: &Snapshots, mode: Mode) {
    if mode == Mode::Update {
        update(folder, now);
    }
    let differences = differences(&read(folder), now);
    assert!(
        differences.is_empty(),
        "{} snapshots differ.\n\n{}\nIf this is intended, accept it and read the difference in \
         git:\n    UPDATE_SNAPSHOTS=1 cargo test -p server --test it snapshots\n",
        differences.len(),
        differences.join("\n")
    );
}

fn differences(recorded: &Snapshots, now: &Snapshots) -> Vec<String> {
    let mut found = Vec::new();
    for (file, text) in now {
        match recorded.get(file) {
            None => found.push(format!("{file}: not recorded yet\n")),
            Some(old) if old == text => {}
            Some(old) => found.push(format!("{file}:\n{}", diff::lines(old, text))),
        }
    }
    let unread = recorded.keys().filter(|file| !now.contains_key(*file));
    found.extend(unread.map(|file| format!("{file}: no test produces this any more\n")));
    found
}

fn update(folder: &Path, now: &Snapshots) {
    for file in read(folder).keys().filter(|file| !now.contains_key(*file)) {
        fs::remove_file(folder.join(file)).unwrap();
    }
    for (file, text) in now {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn read(folder: &Path) -> Snapshots {
    let mut recorded = Snapshots::new();
    collect(folder, "", &mut recorded);
    recorded
}

fn collect(folder: &Path, prefix: &str, recorded: &mut Snapshots) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), recorded);
        } else {
            recorded.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

fn made_up(files: &[(&str, &str)]) -> Snapshots {
    files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn a_changed_a_new_and_a_forgotten_snapshot_are_found() {
    let recorded = made_up(&[("same.txt", "a\n"), ("changed.txt", "a\n"), ("old.txt", "a\n")]);
    let now = made_up(&[("same.txt", "a\n"), ("changed.txt", "b\n"), ("new.txt", "a\n")]);
    assert_eq!(
        differences(&recorded, &now),
        [
            "changed.txt:\n- a\n+ b\n",
            "new.txt: not recorded yet\n",
            "old.txt: no test produces this any more\n",
        ]
    );
}

#[test]
fn an_update_writes_what_is_new_and_removes_what_is_forgotten() {
    let folder = tempfile::TempDir::new().unwrap();
    update(folder.path(), &made_up(&[("a/old.txt", "1\n"), ("kept.txt", "1\n")]));
    let now = made_up(&[("b/new.txt", "2\n"), ("kept.txt", "2\n")]);
    compare(folder.path(), &now, Mode::Update);
    assert_eq!(read(folder.path()), now);
}
