//! The operator's token, and the sessions of browsers that have sent it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use order::lifecycle::event::OperatorName;
use order::model::ids::Timestamp;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::operator::console::session::ConsoleSession;

const FILE: &str = "operator.token";
const OWNER_ONLY: u32 = 0o600;
const FILE_BYTES_MAX: u64 = 1024;
/// Shorter tokens can be guessed.
const TOKEN_BYTES_MIN: usize = 32;
/// A working day.
const SESSION_SECONDS: u64 = 12 * 60 * 60;
/// The oldest session ends when one more begins.
const SESSIONS_MAX: usize = 64;

/// Checks tokens and session ids. Both are compared in constant time.
pub(crate) struct OperatorSessions {
    token: Zeroizing<String>,
    open: Mutex<Vec<BrowserSession>>,
}

/// A browser that has sent the token.
struct BrowserSession {
    id: String,
    session: ConsoleSession,
    until: Timestamp,
}

/// The file with the token.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join(FILE)
}

impl OperatorSessions {
    /// Reads the token, and creates one if there is none. The error text contains the remedy.
    pub(crate) fn open(data: &Path) -> Result<Self, String> {
        let path = path(data);
        let cannot = |error: io::Error| {
            format!("cannot read or create the token file {}: {error}.", path.display())
        };
        let token = match read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                create(&path).map_err(cannot)?;
                read(&path).map_err(cannot)?
            }
            token => token.map_err(cannot)?,
        };
        if token.len() < TOKEN_BYTES_MIN {
            let path = path.display();
            return Err(format!(
                "the token in {path} is shorter than {TOKEN_BYTES_MIN} characters. Delete the file, and a new token is created at the next start."
            ));
        }
        Ok(Self { token, open: Mutex::new(Vec::new()) })
    }

    pub(crate) fn is_token(&self, text: &str) -> bool {
        is_same(&self.token, text)
    }

    /// Begins a session, and returns the id for its cookie. None without randomness.
    pub(crate) fn begin(&self, operator: OperatorName, now: Timestamp) -> Option<String> {
        let (id, session) = (random()?, ConsoleSession { operator, csrf: random()? });
        let until = now.plus(SESSION_SECONDS);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|browser| browser.until > now);
        if open.len() == SESSIONS_MAX {
            open.remove(0);
        }
        open.push(BrowserSession { id: id.clone(), session, until });
        Some(id)
    }

    pub(crate) fn find(&self, id: &str, now: Timestamp) -> Option<ConsoleSession> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.iter().find(|browser| is_same(&browser.id, id));
        found.filter(|browser| browser.until > now).map(|browser| browser.session.clone())
    }

    pub(crate) fn end(&self, id: &str) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|browser| !is_same(&browser.id, id));
    }
}

/// Takes the same time wherever two texts of one length differ.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

fn read(path: &Path) -> io::Result<Zeroizing<String>> {
    let file = File::open(path)?;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let advice = format!("its mode is {mode:o}, so others can read it; set it to 600");
        return Err(io::Error::new(ErrorKind::PermissionDenied, advice));
    }
    let mut text = Zeroizing::new(String::new());
    file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(Zeroizing::new(text.trim().to_owned()))
}

/// All or nothing. Of two processes that start at once, both use the token of the first.
fn create(path: &Path) -> io::Result<()> {
    let token = random().ok_or_else(|| io::Error::other("no random bytes"))?;
    let draft = path.with_extension(format!("{}.draft", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(OWNER_ONLY).open(&draft)?;
    let linked =
        writeln!(file, "{token}").and_then(|()| file.sync_all()).and_then(
            |()| match fs::hard_link(&draft, path) {
                Err(taken) if taken.kind() == ErrorKind::AlreadyExists => Ok(()),
                linked => linked,
            },
        );
    // The draft is another name of the same file, or holds a token that was never used.
    let _ = fs::remove_file(&draft);
    linked
}

/// 256 random bits as hexadecimal digits.
fn random() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_created_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = OperatorSessions::open(folder.path()).unwrap();
        let second = OperatorSessions::open(folder.path()).unwrap();
        assert!(second.is_token(&first.token));
        assert!(!second.is_token("") && !second.is_token(&first.token[1..]));
        let file = path(folder.path());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let error = OperatorSessions::open(folder.path()).err().unwrap();
        assert!(error.contains("640"), "{error}");
    }

    #[test]
    fn a_short_token_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(path(folder.path()), "sesame").unwrap();
        fs::set_permissions(path(folder.path()), fs::Permissions::from_mode(0o600)).unwrap();
        let error = OperatorSessions::open(folder.path()).err().unwrap();
        assert!(error.contains("shorter than 32"), "{error}");
    }

    #[test]
    fn a_session_ends_after_a_day_of_work_or_when_its_browser_logs_out() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = OperatorSessions::open(folder.path()).unwrap();
        let begin = |at| sessions.begin("ada".parse().unwrap(), Timestamp(at)).unwrap();
        let known = |id: &str, at| sessions.find(id, Timestamp(at)).is_some();
        let id = begin(100);
        let session = sessions.find(&id, Timestamp(200)).unwrap();
        assert_eq!(session.operator.as_str(), "ada");
        assert_ne!(session.csrf, id);
        assert!(!known("", 200));
        assert!(!known(&id, 100 + SESSION_SECONDS));
        sessions.end(&id);
        assert!(!known(&id, 200));
        let first = begin(1);
        (0..SESSIONS_MAX).for_each(|_| drop(begin(1)));
        assert!(!known(&first, 2), "the oldest one has ended");
    }
}
