//! The question before real money is authorized.

use std::io::{BufRead, IsTerminal, stderr, stdin};

use super::{MoneyKind, PayerKey};
use crate::io::PayerIo;
use crate::options::PaymentOptions;
use crate::outcome::PaymentOutcome;
use crate::values::amount::UsdcAmount;
use crate::values::network::PaymentNetwork;

/// Asks, unless `--yes` was given or the money is a sandbox's.
pub(crate) fn obtain(
    options: &PaymentOptions,
    io: &dyn PayerIo,
    payer_key: &PayerKey,
    most: UsdcAmount,
    network: PaymentNetwork,
) -> Result<(), PaymentOutcome> {
    match payer_key.money {
        MoneyKind::Sandbox => return Ok(()),
        MoneyKind::Real if options.yes => return Ok(()),
        MoneyKind::Real => {}
    }
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        return Err(PaymentOutcome::Unusable(
            "Nothing was signed: there is no terminal to ask on. Add --yes to pay without a question; \
             --max holds all the same.\n"
                .to_owned(),
        ));
    }
    io.print_error(&format!("Sign for at most {most} USDC on {}? [y/N] ", network.name()));
    let mut line = String::new();
    let read = stdin().lock().read_line(&mut line);
    if read.is_ok() && is_yes(&line) {
        return Ok(());
    }
    Err(PaymentOutcome::Refused("Nothing was signed.\n".to_owned()))
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_y_and_yes_consent() {
        assert!(is_yes("y\n") && is_yes(" YES \n"));
        for no in ["", "\n", "n\n", "yy\n", "yes please\n"] {
            assert!(!is_yes(no), "{no:?}");
        }
    }
}
