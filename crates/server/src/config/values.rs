//! The types of setting values, each with its parser.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use url::{Host, Url};

use order::model::chain::EvmAddress;
use order::model::seller::{NotAUsername, Username};
use web::site_facts::McpProfile;

use crate::config::fault::SettingProblem;
use crate::config::values::secret::Secret;

pub(crate) mod secret;
pub(crate) mod vat_rate;

/// The sandbox's payee: a burn address (no known key).
pub(crate) const SANDBOX_PAYEE: &str = "0x06c05fB3449193F815E3dd1Fb1a3fB148F8AD6c4";

/// The text of a value in the report of `pennyblack check`. For a secret, only that it is set.
pub(crate) trait ReportText {
    fn report_text(&self) -> String;
}

/// Whether the service may move real money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerMode {
    Sandbox,
    Live,
}

/// The error of a binary without the feature `sandbox` that is configured for sandbox mode.
pub(crate) const BUILD_WITH_SANDBOX: &str = "this binary is built without the sandbox";

/// Whether the emulated services are compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SandboxSupport {
    BuiltIn,
    Absent,
}

const SANDBOX_SUPPORT: SandboxSupport =
    if cfg!(feature = "sandbox") { SandboxSupport::BuiltIn } else { SandboxSupport::Absent };

impl ServerMode {
    pub(crate) fn parse(text: &str) -> Result<Self, SettingProblem> {
        Self::parse_with(text, SANDBOX_SUPPORT)
    }

    fn parse_with(text: &str, support: SandboxSupport) -> Result<Self, SettingProblem> {
        let mode = choose(text, &[("sandbox", ServerMode::Sandbox), ("live", ServerMode::Live)])?;
        match (mode, support) {
            (ServerMode::Sandbox, SandboxSupport::Absent) => Err(SettingProblem::new(
                format!("`sandbox` is not available: {BUILD_WITH_SANDBOX}"),
                "Set it to live, or build with the default features: cargo build --release.",
            )),
            (ServerMode::Live, _) | (ServerMode::Sandbox, SandboxSupport::BuiltIn) => Ok(mode),
        }
    }
}

pub(crate) fn yes_or_no(text: &str) -> Result<bool, SettingProblem> {
    choose(text, &[("yes", true), ("no", false)])
}

/// Which profile of the contract the MCP server follows.
pub(crate) fn profile(text: &str) -> Result<McpProfile, SettingProblem> {
    choose(text, &[("node", McpProfile::Node), ("worker", McpProfile::Worker)])
}

pub(crate) fn evm_address(text: &str) -> Result<EvmAddress, SettingProblem> {
    text.parse().map_err(|_| {
        SettingProblem::new(
            format!("`{text}` is not an Ethereum address, or its checksum is wrong"),
            "Write 0x and 40 hexadecimal digits, with the checksum that wallets show.",
        )
    })
}

/// The URL that callers use: scheme and authority, without a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl(Url);

impl BaseUrl {
    pub(crate) fn parse(text: &str) -> Result<Self, SettingProblem> {
        const REMEDY: &str = "Write only scheme and host, like https://cards.example.";
        // The text is not repeated, because it may contain a password.
        let url = Url::parse(text)
            .map_err(|error| SettingProblem::new(format!("is not a URL: {error}"), REMEDY))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(SettingProblem::new("is neither http nor https", REMEDY));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(SettingProblem::new("contains a user name or a password", REMEDY));
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(SettingProblem::new("contains more than scheme and host", REMEDY));
        }
        Ok(Self(url))
    }

    /// The URL of a listener. One on every interface is reached by the loopback address.
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

    /// Whether this is http to another machine, where payment credentials could be intercepted.
    pub(crate) fn is_insecure(&self) -> bool {
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

/// The ENS name below which sellers' names are looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParentName(String);

/// A seller: one label in the normalised form of ENS.
pub(crate) fn username(text: &str) -> Result<Username, SettingProblem> {
    // No parent: the configuration has short names only.
    adapters::ens::username::read(text, "").map_err(|NotAUsername| {
        SettingProblem::new(
            format!("`{text}` is not a username"),
            "Write one label in the normalised form of ENS, such as alice, without dots.",
        )
    })
}

impl ParentName {
    pub(crate) fn parse(text: &str) -> Result<Self, SettingProblem> {
        if text.contains('.') && text.split('.').all(is_label) {
            return Ok(Self(text.to_owned()));
        }
        Err(SettingProblem::new(
            format!("`{text}` is not an ENS name"),
            "Write labels separated by dots, like pennyblack.eth.",
        ))
    }
}

pub(crate) fn listen(text: &str) -> Result<SocketAddr, SettingProblem> {
    text.parse().map_err(|_| {
        SettingProblem::new(
            format!("`{text}` is not an IP address with a port"),
            "Write it like 127.0.0.1:8402, or 0.0.0.0:8402 for every interface.",
        )
    })
}

/// A folder that exists or can be created.
pub(crate) fn folder_to_create(text: &str) -> Result<PathBuf, SettingProblem> {
    let path = PathBuf::from(text);
    if text.is_empty() || (path.exists() && !path.is_dir()) {
        return Err(SettingProblem::new(
            format!("`{text}` is not a folder"),
            "Write the path of a folder.",
        ));
    }
    Ok(path)
}

pub(crate) fn existing_folder(text: &str) -> Result<PathBuf, SettingProblem> {
    let path = PathBuf::from(text);
    if path.is_dir() {
        return Ok(path);
    }
    Err(SettingProblem::new(
        format!("the folder `{text}` does not exist"),
        "Write the path of an existing folder.",
    ))
}

pub(crate) fn number<T: TryFrom<u64>>(
    text: &str,
    range: RangeInclusive<u64>,
) -> Result<T, SettingProblem> {
    let fitting = text.parse().ok().filter(|number| range.contains(number));
    fitting.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
        SettingProblem::new(
            format!("`{text}` is not a number in range"),
            format!("Write a whole number from {} to {}.", range.start(), range.end()),
        )
    })
}

/// Clock speed multiplier. At 3600 an hour passes in a second.
pub(crate) fn speed(text: &str) -> Result<NonZero<u32>, SettingProblem> {
    const MAX: u32 = 3_600;
    let fitting = text.parse().ok().filter(|speed: &NonZero<u32>| speed.get() <= MAX);
    fitting.ok_or_else(|| {
        SettingProblem::new(
            format!("`{text}` is not a speed"),
            format!("Write a whole number from 1 (normal speed) to {MAX}."),
        )
    })
}

/// A multiplier of a limit.
pub(crate) fn times(text: &str) -> Result<NonZero<u16>, SettingProblem> {
    text.parse().map_err(|_| {
        SettingProblem::new(
            format!("`{text}` is not a multiplier"),
            "Write a whole number, at least 1.",
        )
    })
}

impl ReportText for NonZero<u16> {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

fn is_label(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len()) && text.bytes().all(allowed)
}

pub(super) fn choose<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, SettingProblem> {
    choices.iter().find(|(name, _)| *name == text).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        SettingProblem::new(
            format!("`{text}` is not a valid value"),
            format!("Write one of: {}.", names.join(", ")),
        )
    })
}

impl ReportText for ServerMode {
    fn report_text(&self) -> String {
        match self {
            ServerMode::Sandbox => "sandbox".to_owned(),
            ServerMode::Live => "live".to_owned(),
        }
    }
}

impl ReportText for bool {
    fn report_text(&self) -> String {
        if *self { "yes".to_owned() } else { "no".to_owned() }
    }
}

impl ReportText for McpProfile {
    fn report_text(&self) -> String {
        match self {
            McpProfile::Node => "node".to_owned(),
            McpProfile::Worker => "worker".to_owned(),
        }
    }
}

impl ReportText for EvmAddress {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

impl ReportText for BaseUrl {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

impl ReportText for Username {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for ParentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ReportText for ParentName {
    fn report_text(&self) -> String {
        self.0.clone()
    }
}

impl ReportText for Vec<Username> {
    fn report_text(&self) -> String {
        self.iter().map(Username::report_text).collect::<Vec<_>>().join(", ")
    }
}

impl ReportText for SocketAddr {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

impl ReportText for PathBuf {
    fn report_text(&self) -> String {
        self.display().to_string()
    }
}

impl ReportText for Secret {
    fn report_text(&self) -> String {
        "(set, never shown)".to_owned()
    }
}

impl ReportText for u16 {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

impl ReportText for u32 {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

impl ReportText for NonZero<u32> {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

impl ReportText for u64 {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

impl ReportText for usize {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_the_sandbox_rejects_sandbox_mode_and_says_how_to_build_it() {
        let parse = |text| ServerMode::parse_with(text, SandboxSupport::Absent);
        assert_eq!(parse("live"), Ok(ServerMode::Live));
        let problem = parse("sandbox").unwrap_err();
        assert!(problem.message.contains("built without the sandbox"), "{problem:?}");
        assert!(problem.remedy.contains("cargo build --release"), "{problem:?}");
        let with = |text| ServerMode::parse_with(text, SandboxSupport::BuiltIn);
        assert_eq!(with("sandbox"), Ok(ServerMode::Sandbox));
    }
}
