//! Reads the section `operator`.

use std::net::{Ipv4Addr, SocketAddr};

use crate::config::fault::SettingProblem;
use crate::config::reader::{FaultRecorded, SettingsReader};
use crate::config::values::{ReportText, ServerMode};
use crate::config::{OperatorConfig, OperatorListen, settings};

const DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8404);
const OFF: &str = "off";

/// Whether there is a loopback listener, and where.
struct LoopbackListener(Option<SocketAddr>);

pub(super) fn read(
    reader: &mut SettingsReader,
    mode: Result<ServerMode, FaultRecorded>,
) -> Result<OperatorConfig, FaultRecorded> {
    let default = match mode {
        Ok(ServerMode::Sandbox) => DEFAULT.to_string(),
        Ok(ServerMode::Live) | Err(FaultRecorded) => OFF.to_owned(),
    };
    let is_set = reader.is_set(&settings::OPERATOR_LISTEN);
    let listen = reader.take_or(&settings::OPERATOR_LISTEN, &default, parse)?;
    let kind = if is_set { OperatorListen::Configured } else { OperatorListen::Default };
    Ok(OperatorConfig { listen: listen.0.map(kind) })
}

fn parse(text: &str) -> Result<LoopbackListener, SettingProblem> {
    const REMEDY: &str = "Write it like 127.0.0.1:8404 or [::1]:8404, or `off`. To reach it from \
                          another machine, use an SSH tunnel.";
    if text == OFF {
        return Ok(LoopbackListener(None));
    }
    match text.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(LoopbackListener(Some(address))),
        Ok(address) => Err(SettingProblem::new(
            format!("`{address}` can be reached from other machines"),
            REMEDY,
        )),
        Err(_) => Err(SettingProblem::new(
            format!("`{text}` is neither a loopback address with a port nor `off`"),
            REMEDY,
        )),
    }
}

impl ReportText for LoopbackListener {
    fn report_text(&self) -> String {
        self.0.map_or_else(|| OFF.to_owned(), |address| address.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_accepted() {
        for (text, shown) in
            [("127.0.0.1:1", "127.0.0.1:1"), ("[::1]:0", "[::1]:0"), ("off", "off")]
        {
            assert_eq!(parse(text).unwrap().report_text(), shown);
        }
        for (text, why) in [
            ("0.0.0.0:8404", "can be reached"),
            ("10.0.0.1:8404", "can be reached"),
            ("[::]:8404", "can be reached"),
            ("localhost:8404", "is neither"),
            ("8404", "is neither"),
            ("", "is neither"),
        ] {
            let problem = parse(text).err().unwrap();
            assert!(problem.message.contains(why), "{text}: {}", problem.message);
        }
    }
}
