//! The real binary in a folder of its own, and a caller who speaks to it byte by byte.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

/// Long enough for a busy machine; a test that works never waits for it.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(10);

/// The binary in an empty environment, with these variables and this file.
pub(crate) fn pennyblack(folder: &TempDir, toml: &str, variables: &[(&str, &str)]) -> Command {
    fs::write(folder.path().join("pennyblack.toml"), toml).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pennyblack"));
    command.current_dir(folder.path()).env_clear().envs(variables.iter().copied());
    command
}

/// Runs the binary to its end.
pub(crate) fn run(arguments: &[&str], toml: &str, variables: &[(&str, &str)]) -> Output {
    let folder = TempDir::new().unwrap();
    pennyblack(&folder, toml, variables).args(arguments).output().unwrap()
}

/// Asks again and again until the answer is there.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let tries = PATIENCE.as_millis() / PAUSE.as_millis();
    for _ in 0..tries {
        if let Some(answer) = ask() {
            return answer;
        }
        sleep(PAUSE);
    }
    panic!("waited in vain until {what}");
}

/// A house that is open, and is torn down when the test ends.
pub(crate) struct House {
    pub address: SocketAddr,
    pub banner: String,
    child: Child,
    folder: TempDir,
    // Kept open, so that the house never writes into a broken pipe.
    _stdout: BufReader<ChildStdout>,
}

impl House {
    pub(crate) fn open(toml: &str) -> Self {
        Self::open_with(toml, &[])
    }

    /// A house whose operator has set these variables too.
    pub(crate) fn open_with(toml: &str, variables: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let variables = [&[("PENNYBLACK_LISTEN", "127.0.0.1:0")], variables].concat();
        let mut child = pennyblack(&folder, toml, &variables)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut banner = String::new();
        while !banner.contains("Ctrl-C") {
            let count = stdout.read_line(&mut banner).unwrap();
            assert_ne!(count, 0, "the house did not open: {banner}");
        }
        let (_, after) = banner.split_once("http://").unwrap();
        let address = after.split_whitespace().next().unwrap().parse().unwrap();
        let house = Self { address, banner, child, folder, _stdout: stdout };
        until("it is ready", || house.ask("GET /readyz").contains("200 OK").then_some(()));
        house
    }

    pub(crate) fn call(&self) -> Caller {
        Caller::new(self.address)
    }

    /// One request on a connection of its own, without a body; the whole answer.
    pub(crate) fn ask(&self, line: &str) -> String {
        let mut caller = self.call();
        caller.say(&format!("{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
        caller.hear_all()
    }

    /// Where it was started, with everything that it wrote.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn wait_for_end(&mut self) -> ExitStatus {
        until("it has ended", || self.child.try_wait().unwrap())
    }

    pub(crate) fn wait_until_it_takes_nobody(&self) {
        until("it refuses callers", || TcpStream::connect(self.address).is_err().then_some(()));
    }
}

impl Drop for House {
    fn drop(&mut self) {
        // It may have ended already, as some tests want it to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Caller(TcpStream);

impl Caller {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(stream)
    }

    pub(crate) fn say(&mut self, words: &str) {
        self.say_bytes(words.as_bytes());
    }

    pub(crate) fn say_bytes(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// Whatever comes next, but at least one byte.
    pub(crate) fn hear(&mut self) -> String {
        let mut heard = [0; 4096];
        let count = self.0.read(&mut heard).unwrap();
        String::from_utf8_lossy(&heard[..count]).into_owned()
    }

    /// Everything until the house hangs up.
    pub(crate) fn hear_all(&mut self) -> String {
        String::from_utf8_lossy(&self.hear_bytes()).into_owned()
    }

    pub(crate) fn hear_bytes(&mut self) -> Vec<u8> {
        let mut heard = Vec::new();
        self.0.read_to_end(&mut heard).unwrap();
        heard
    }

    /// Waits no longer than this for the next word.
    pub(crate) fn hurry(&mut self, patience: Duration) {
        self.0.set_read_timeout(Some(patience)).unwrap();
    }

    /// Whether nothing at all is heard for a while.
    pub(crate) fn hears_nothing_for(&mut self, spell: Duration) -> bool {
        self.hurry(spell);
        let silence = self.0.read(&mut [0; 1]).is_err();
        self.hurry(PATIENCE);
        silence
    }
}

/// The body of an answer as JSON.
pub(crate) fn json(answer: &str) -> serde_json::Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}
