//! What the values of settings mean: each parsed once, valid once it exists.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use url::{Host, Url};

use order::model::chain::EvmAddress;
use order::model::seller::{NotAUsername, Username};
use web::premises::Profile;

use crate::config::fault::Wrong;
use crate::config::secret::Secret;

/// How a value looks in a report. What a secret shows is that it is there.
pub(crate) trait Shown {
    fn shown(&self) -> String;
}

/// Whether real money moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Sandbox,
    Live,
}

impl Mode {
    pub(crate) fn parse(text: &str) -> Result<Self, Wrong> {
        choose(text, &[("sandbox", Mode::Sandbox), ("live", Mode::Live)])
    }
}

/// What an operator says to a question of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
}

pub(crate) fn yes_or_no(text: &str) -> Result<Answer, Wrong> {
    choose(text, &[("yes", Answer::Yes), ("no", Answer::No)])
}

/// Which runtime of the contract the MCP server is like.
pub(crate) fn profile(text: &str) -> Result<Profile, Wrong> {
    choose(text, &[("node", Profile::Node), ("worker", Profile::Worker)])
}

pub(crate) fn address(text: &str) -> Result<EvmAddress, Wrong> {
    text.parse().map_err(|_| {
        Wrong::new(
            format!("`{text}` is no Ethereum address, or its checksum is wrong"),
            "Write 0x and 40 hexadecimal digits, best as your wallet shows them.",
        )
    })
}

/// The address that callers use: scheme and authority, without a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl(Url);

impl BaseUrl {
    pub(crate) fn parse(text: &str) -> Result<Self, Wrong> {
        const REMEDY: &str = "Write scheme and host alone, like https://cards.example.";
        // The text is not repeated, as it may hold a password that does not
        // belong there.
        let url =
            Url::parse(text).map_err(|error| Wrong::new(format!("is no URL: {error}"), REMEDY))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Wrong::new("is neither http nor https", REMEDY));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Wrong::new("has a user name or a password in it", REMEDY));
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(Wrong::new("has more behind the host", REMEDY));
        }
        Ok(Self(url))
    }

    /// The address of our own listener. One that listens on every interface is
    /// reached from this machine by the loopback one.
    pub(crate) fn of_listener(listener: SocketAddr) -> Self {
        let ip = match listener.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
            ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
        };
        let text = format!("http://{}", SocketAddr::new(ip, listener.port()));
        Self(Url::parse(&text).expect("a socket address is a valid authority"))
    }

    /// The host alone, without its port.
    pub(crate) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Whether a payment credential sent there could be read on the way.
    pub(crate) fn is_open_to_eavesdroppers(&self) -> bool {
        let on_this_machine = match self.0.host() {
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        };
        self.0.scheme() == "http" && !on_this_machine
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

/// A label or a dotted name, as far as configuration can judge it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(String);

/// A seller: one label, as ENS normalises it.
pub(crate) fn username(text: &str) -> Result<Username, Wrong> {
    // No parent: here it is the short name that counts.
    adapters::names::read(text, "").map_err(|NotAUsername| {
        Wrong::new(
            format!("`{text}` is not a username"),
            "Write one label as ENS normalises it, such as alice, without dots.",
        )
    })
}

impl Name {
    /// An ENS name under which others may hang.
    pub(crate) fn parent(text: &str) -> Result<Self, Wrong> {
        if text.contains('.') && text.split('.').all(is_label) {
            return Ok(Self(text.to_owned()));
        }
        Err(Wrong::new(
            format!("`{text}` is not an ENS name"),
            "Write labels with dots between them, like pennyblack.eth.",
        ))
    }
}

pub(crate) fn listen(text: &str) -> Result<SocketAddr, Wrong> {
    text.parse().map_err(|_| {
        Wrong::new(
            format!("`{text}` is not an IP address with a port"),
            "Write it like 127.0.0.1:8402, or 0.0.0.0:8402 for every interface.",
        )
    })
}

/// A folder that is there or can still be made.
pub(crate) fn folder_to_be(text: &str) -> Result<PathBuf, Wrong> {
    let path = PathBuf::from(text);
    if text.is_empty() || (path.exists() && !path.is_dir()) {
        return Err(Wrong::new(format!("`{text}` is not a folder"), "Name a folder."));
    }
    Ok(path)
}

pub(crate) fn existing_folder(text: &str) -> Result<PathBuf, Wrong> {
    let path = PathBuf::from(text);
    if path.is_dir() {
        return Ok(path);
    }
    Err(Wrong::new(format!("there is no folder `{text}`"), "Name a folder that exists."))
}

pub(crate) fn number<T: TryFrom<u64>>(text: &str, range: RangeInclusive<u64>) -> Result<T, Wrong> {
    let fitting = text.parse().ok().filter(|number| range.contains(number));
    fitting.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
        Wrong::new(
            format!("`{text}` is not a number that fits"),
            format!("Write a whole number from {} to {}.", range.start(), range.end()),
        )
    })
}

/// How much faster than the wall's a clock may run: an hour in a second is fast enough.
pub(crate) fn speed(text: &str) -> Result<NonZero<u32>, Wrong> {
    const MOST: u32 = 3_600;
    let fitting = text.parse().ok().filter(|speed: &NonZero<u32>| speed.get() <= MOST);
    fitting.ok_or_else(|| {
        Wrong::new(
            format!("`{text}` is not a speed"),
            format!("Write a whole number from 1, as the clock on the wall, to {MOST}."),
        )
    })
}

/// How many times as much as usual.
pub(crate) fn times(text: &str) -> Result<NonZero<u16>, Wrong> {
    text.parse().map_err(|_| {
        Wrong::new(format!("`{text}` is not a number of times"), "Write a whole number from 1.")
    })
}

impl Shown for NonZero<u16> {
    fn shown(&self) -> String {
        self.to_string()
    }
}

fn is_label(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len()) && text.bytes().all(allowed)
}

pub(super) fn choose<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, Wrong> {
    choices.iter().find(|(name, _)| *name == text).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        Wrong::new(
            format!("`{text}` is not a choice here"),
            format!("Write one of: {}.", names.join(", ")),
        )
    })
}

impl Shown for Mode {
    fn shown(&self) -> String {
        match self {
            Mode::Sandbox => "sandbox".to_owned(),
            Mode::Live => "live".to_owned(),
        }
    }
}

impl Shown for Answer {
    fn shown(&self) -> String {
        match self {
            Answer::Yes => "yes".to_owned(),
            Answer::No => "no".to_owned(),
        }
    }
}

impl Shown for Profile {
    fn shown(&self) -> String {
        match self {
            Profile::Node => "node".to_owned(),
            Profile::Worker => "worker".to_owned(),
        }
    }
}

impl Shown for EvmAddress {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for BaseUrl {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for Username {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Shown for Name {
    fn shown(&self) -> String {
        self.0.clone()
    }
}

impl Shown for Vec<Username> {
    fn shown(&self) -> String {
        self.iter().map(Username::shown).collect::<Vec<_>>().join(", ")
    }
}

impl Shown for SocketAddr {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for PathBuf {
    fn shown(&self) -> String {
        self.display().to_string()
    }
}

impl Shown for Secret {
    fn shown(&self) -> String {
        "(set, never shown)".to_owned()
    }
}

impl Shown for u16 {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for u32 {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for NonZero<u32> {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for u64 {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for usize {
    fn shown(&self) -> String {
        self.to_string()
    }
}
