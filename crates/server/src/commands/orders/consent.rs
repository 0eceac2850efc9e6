//! Who acts, and whether they consent.

use std::io::{BufRead, IsTerminal, stdin};

use order::lifecycle::event::OperatorName;

use crate::cli::orders::ConsentArguments;
use crate::commands::operator_client::ClientError;
use crate::config::load;
use crate::console;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    Given,
    Refused,
}

/// The name that was given, or the login name.
pub(super) fn operator(given: &ConsentArguments) -> Result<OperatorName, ClientError> {
    let login = || load::login_name().and_then(|name| name.parse().ok());
    given.operator.clone().or_else(login).ok_or_else(|| {
        ClientError::Unusable("Your name is not known. Pass it with --operator NAME.\n".to_owned())
    })
}

pub(super) fn ask(given: &ConsentArguments) -> Result<Consent, ClientError> {
    if given.yes {
        return Ok(Consent::Given);
    }
    if !stdin().is_terminal() {
        let text = "The input is not a terminal, so nothing was changed. Pass --yes to consent.\n";
        return Err(ClientError::Rejected(text.to_owned()));
    }
    console::print_error("Proceed? [y/N] ");
    let mut answer = String::new();
    // Without an answer, there is no consent.
    let _ = stdin().lock().read_line(&mut answer);
    let yes = ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str());
    Ok(if yes { Consent::Given } else { Consent::Refused })
}
