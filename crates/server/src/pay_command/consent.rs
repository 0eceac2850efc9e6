//! The question before real money is promised.

use std::io::{BufRead, IsTerminal, stderr, stdin};

use order::model::chain::Network;
use order::model::money::Usdc;

use crate::cli::PayArguments;
use crate::console;

use super::end::End;
use super::purse::{Money, Purse};
use super::values::name;

/// Asks whoever sits there, unless that was answered already or the money is play money.
pub(super) fn obtain(
    arguments: &PayArguments,
    purse: &Purse,
    most: Usdc,
    network: Network,
) -> Result<(), End> {
    match purse.money {
        Money::OfSandbox => return Ok(()),
        Money::Real if arguments.yes => return Ok(()),
        Money::Real => {}
    }
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        return Err(End::Unusable(
            "Nothing was signed: there is nobody to ask. Add --yes to pay without a question; \
             --max holds all the same.\n"
                .to_owned(),
        ));
    }
    console::complain(&format!("Sign for at most {most} USDC on {}? [y/N] ", name(network)));
    let mut line = String::new();
    let heard = stdin().lock().read_line(&mut line);
    if heard.is_ok() && is_yes(&line) {
        return Ok(());
    }
    Err(End::Refused("Nothing was signed.\n".to_owned()))
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(is_yes("y\n") && is_yes(" YES \n"));
        for no in ["", "\n", "n\n", "yy\n", "yes please\n"] {
            assert!(!is_yes(no), "{no:?}");
        }
    }
}
