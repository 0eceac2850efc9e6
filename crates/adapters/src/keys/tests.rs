//! What keys are read from, and what they refuse.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn line(byte: u8) -> String {
    format!("{}\n", format!("{byte:02x}").repeat(KEY_BYTES))
}

fn sealing(keys: &Keyring) -> Vec<[u8; KEY_BYTES]> {
    keys.newest_first(KeyPurpose::Seal).map(|key| *key).collect()
}

#[test]
fn the_first_line_names_the_house_and_the_last_one_seals() {
    let one = Keyring::from_text(&line(1)).unwrap();
    let rotated = Keyring::from_text(&format!("# ours\n{}\n{}", line(1), line(2))).unwrap();
    let other = Keyring::from_text(&line(2)).unwrap();
    assert_eq!(one.identity_name(), rotated.identity_name());
    assert_ne!(one.identity_name(), other.identity_name());
    assert_eq!(sealing(&rotated), [sealing(&other), sealing(&one)].concat());
}

#[test]
fn a_next_key_opens_and_seals_only_without_the_word() {
    let prepared = Keyring::from_text(&format!("{}next {}", line(1), line(2))).unwrap();
    let promoted = Keyring::from_text(&format!("{}{}", line(1), line(2))).unwrap();
    let (one, two) = (sealing(&promoted)[1], sealing(&promoted)[0]);
    assert_eq!(sealing(&prepared), [one, two], "the first one seals");
    assert_eq!(prepared.identity_name(), promoted.identity_name());
    let (newest, earlier) = prepared.challenges();
    let (later, before) = promoted.challenges();
    assert_eq!((vec![newest], earlier), (before, vec![later]));
    assert_eq!(prepared.tokens(), promoted.tokens().into_iter().rev().collect::<Vec<_>>());
    let first = Keyring::from_text(&format!("next {}{}", line(2), line(1))).unwrap_err();
    assert!(matches!(first, KeyError::NextBeforeFirst { number: 1 }), "{first}");
    let twice = Keyring::from_text(&format!("{}next {}", line(1), line(1))).unwrap_err();
    assert!(matches!(twice, KeyError::Repeated { number: 2 }), "{twice}");
}

#[test]
fn each_purpose_has_its_own_key() {
    let keys = Keyring::from_text(&line(7)).unwrap();
    let purposes = [
        KeyPurpose::Identity,
        KeyPurpose::Seal,
        KeyPurpose::Token,
        KeyPurpose::Challenge,
        KeyPurpose::Name,
    ];
    let derived = purposes.map(|purpose| *keys.newest_first(purpose).next().unwrap());
    for (place, key) in derived.iter().enumerate() {
        assert!(!derived[..place].contains(key), "{:?}", purposes[place]);
    }
    assert!(!derived.contains(&[7; KEY_BYTES]));
}

#[test]
fn the_last_line_binds_challenges_and_the_earlier_ones_answer_for_theirs() {
    let one = Keyring::from_text(&line(1)).unwrap().challenges();
    let two = Keyring::from_text(&line(2)).unwrap().challenges();
    let rotated = Keyring::from_text(&format!("{}{}", line(1), line(2))).unwrap().challenges();
    assert_eq!((&one.1, &two.1), (&Vec::new(), &Vec::new()));
    assert_eq!(rotated, (two.0, vec![one.0]));
}

#[test]
fn what_is_no_key_is_refused_by_its_number_and_not_repeated() {
    let refused = |text: &str| Keyring::from_text(text).unwrap_err().to_string();
    assert!(refused("").contains("openssl rand -hex 32"));
    assert!(refused("# nothing\n\n").contains("no key"));
    let secret = "ab".repeat(31);
    let said = refused(&format!("{}{secret}\n", line(1)));
    assert!(said.contains("line 2") && !said.contains(&secret), "{said}");
    assert!(refused(&"é".repeat(32)).contains("line 1"));
    assert!(refused(&format!("{}{}", line(1), line(1))).contains("line 2"));
    let many: String = (0..=64).map(line).collect();
    assert!(refused(&many).contains("too many"));
}

#[test]
fn keys_do_not_print_themselves() {
    let keys = Keyring::from_text(&line(0xab)).unwrap();
    assert_eq!(format!("{keys:?}"), "Keyring { .. }");
}

#[test]
fn the_first_run_makes_a_key_file_for_its_owner_only_and_the_next_run_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let made = Keyring::load_or_create(&path).unwrap();
    let read = Keyring::load_or_create(&path).unwrap();
    assert_eq!(made.identity_name(), read.identity_name());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft stays behind");
    let other = Keyring::load_or_create(&folder.path().join("others")).unwrap();
    assert_ne!(made.identity_name(), other.identity_name());
}

#[test]
fn a_key_file_that_others_may_read_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    Keyring::load_or_create(&path).unwrap();
    for mode in [0o640, 0o604, 0o660] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let said = Keyring::load_or_create(&path).unwrap_err().to_string();
        assert!(said.contains("chmod 600"), "{said}");
    }
}

#[test]
fn a_damaged_key_file_is_refused_and_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    Keyring::load_or_create(&path).unwrap();
    fs::write(&path, "not a key\n").unwrap();
    assert!(matches!(Keyring::load_or_create(&path), Err(KeyError::Line { number: 1 })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "not a key\n");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = Keyring::load_or_create(&folder.path().join("no/keys")).unwrap_err().to_string();
    assert!(said.contains("no/keys"), "{said}");
}
