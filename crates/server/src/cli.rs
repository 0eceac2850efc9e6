//! The command line and its help.

use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use payer::values::amount::UsdcAmount;
use payer::values::network::PaymentNetwork;
use payer::values::rail::PaymentRail;

use crate::cli::accounting::{
    AUDIT_HELP, AuditArguments, BACKUP_HELP, BackupArguments, REPORT_HELP, ReportArguments,
};
use crate::cli::orders::{ORDERS_HELP, OrdersArguments};
use crate::config::example;

pub(crate) mod accounting;
pub(crate) mod orders;
pub(crate) mod time_argument;

const ABOUT: &str = "Mails physical postcards for USDC payments";

const LONG_ABOUT: &str = "\
Pennyblack mails physical postcards for USDC payments by x402 or MPP, and publishes the \
documents that agents need to buy one.

Without configuration it runs in sandbox mode on http://127.0.0.1:8402, with emulated services: \
no money moves and nothing is mailed.";

const EXAMPLES: &str = "\
Examples:
  pennyblack                                  serve with the current configuration
  pennyblack check                            show every setting and where it came from
  pennyblack check --live                     ask nodes, provider, names and store
  pennyblack check --example > pennyblack.toml
                                              create a configuration file
  PENNYBLACK_LISTEN=127.0.0.1:9000 pennyblack
                                              listen on another port
  pennyblack pay --body card.json             pay for a card, in the sandbox with test money
  pennyblack orders list --attention          orders that need a person
  pennyblack simulate --orders 1000 --seed 7  simulate 1000 orders with faults, reproducibly";

const PAY_HELP: &str = "\
In the sandbox, in the folder of a running service, by x402 and, with another card, by MPP. The
banner of the service shows how to create card.json:
  pennyblack pay --body card.json
  sed s/Ada/Grace/ card.json > grace.json
  pennyblack pay --body grace.json --rail mpp

With real money and your own key (a file with mode 600 and one line, 0x and 64 digits):
  pennyblack pay --body card.json --base-url https://cards.example --key-file payer.key

The first payment on a network needs an allowance for Permit2. With --rpc-url the allowance is
signed with the payment (EIP-2612) and costs no gas, if the service offers that:
  pennyblack pay --body card.json --base-url https://cards.example --key-file payer.key \\
      --network base --rpc-url https://base.example
With --approve, this command grants the allowance by a transaction, which costs gas:
  pennyblack pay --body card.json --base-url https://cards.example --key-file payer.key \\
      --network base --rpc-url https://base.example --approve

Both protocols buy the same card. By x402 you authorize at most 3.50 USDC on Base, Polygon or
Arbitrum, and the price of the card is charged; this needs an allowance for Permit2. By MPP you sign
a transfer of exactly 3.50 USDC on Base, which needs no allowance and no gas:
  pennyblack pay --body card.json --rail mpp --base-url https://cards.example --key-file payer.key

A signed payment is written to <body>.payment before it is sent, and removed when its outcome is
known. While the file exists, the same command sends the same payment again and signs no other, so
it is always safe to repeat the command.

Exit codes:
  0  paid, and the provider has accepted the card
  1  not paid; no money moved, and repeating does not help
  2  a file or an argument is invalid; nothing was signed
  3  outcome unknown, or temporarily unavailable; repeat the same command
  4  the allowance for Permit2 is missing; no money moved
  5  paid, but it is not confirmed yet that the provider has the card";

#[derive(Parser)]
#[command(name = "pennyblack", version, about = ABOUT, long_about = LONG_ABOUT)]
#[command(after_help = EXAMPLES, after_long_help = long_help())]
pub(crate) struct CommandLine {
    /// The configuration file (TOML); overrides PENNYBLACK_CONFIG
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,

    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Clone, Subcommand)]
pub(crate) enum Task {
    /// Serve requests until a signal (the default)
    Serve,
    /// Show every setting, where it came from, and all errors
    Check(CheckArguments),
    /// Pay for a card by x402 or MPP, up to a limit
    #[command(after_long_help = PAY_HELP)]
    Pay(PayArguments),
    /// See orders of the running service, and act on them
    #[command(after_help = ORDERS_HELP)]
    Orders(OrdersArguments),
    /// Compare the chain and the provider with the orders of a period
    #[command(after_help = AUDIT_HELP)]
    Audit(AuditArguments),
    /// Print one row for each paid order of a period, as CSV or JSON
    #[command(after_help = REPORT_HELP)]
    Report(ReportArguments),
    /// Copy the SQLite store while the service runs
    #[command(after_help = BACKUP_HELP)]
    Backup(BackupArguments),
    /// Simulate orders with faults, and count lost and duplicate cards
    Simulate(SimulateArguments),
}

#[derive(Clone, Args)]
pub(crate) struct CheckArguments {
    /// Report as JSON
    #[arg(long)]
    pub json: bool,

    /// Ask nodes, provider, name service and store whether they work; nothing is sent or mailed
    #[arg(long)]
    pub live: bool,

    /// Print an example configuration with every setting and its default
    #[arg(long, conflicts_with_all = ["json", "live"])]
    pub example: bool,
}

#[derive(Clone, Args)]
pub(crate) struct PayArguments {
    /// The card as JSON; the quick start of the documentation has an example
    #[arg(long, value_name = "FILE")]
    pub body: PathBuf,

    /// The payment protocol: x402 or mpp
    #[arg(long, default_value = "x402")]
    pub rail: PaymentRail,

    /// The URL of the service; default: the one of the local configuration
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// A file with the payer's private key; default: the sandbox's faucet pays
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,

    /// The maximum amount to sign, in USDC
    #[arg(long, value_name = "USDC", default_value = "3.50")]
    pub max: UsdcAmount,

    /// base, polygon or arbitrum; default: the first that the service offers. MPP has base only
    #[arg(long)]
    pub network: Option<PaymentNetwork>,

    /// A node of that network, to read the allowance and to sign it without gas
    #[arg(long, value_name = "URL")]
    pub rpc_url: Option<String>,

    /// If a signed allowance is not offered: grant it by a transaction, which costs gas
    #[arg(long)]
    pub approve: bool,

    /// Do not ask for confirmation before signing
    #[arg(long)]
    pub yes: bool,

    /// The file for the signed payment until its outcome is known; default: BODY.payment
    #[arg(long, value_name = "FILE")]
    pub keep: Option<PathBuf>,

    /// The URL of the sandbox's chain, as in the banner of the service
    #[arg(long, value_name = "URL", conflicts_with = "key_file")]
    pub sandbox: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub(crate) struct SimulateArguments {
    /// The number of orders
    #[arg(long, default_value = "10000", value_parser = at_least_one::<NonZero<u64>>)]
    pub orders: NonZero<u64>,

    /// The random seed; the same seed gives the same faults. Default: random, and printed
    #[arg(long, default_value_t = random_seed(), hide_default_value = true)]
    pub seed: u64,

    /// The number of threads; default: one for each core
    #[arg(
        long,
        default_value_t = cores(),
        hide_default_value = true,
        value_parser = at_least_one::<NonZero<usize>>
    )]
    pub threads: NonZero<usize>,

    /// Print one story of two orders event by event, to analyse a failing seed
    #[arg(long)]
    pub story: bool,
}

impl CommandLine {
    pub(crate) fn task(&self) -> Task {
        self.task.clone().unwrap_or(Task::Serve)
    }
}

fn long_help() -> String {
    format!("{EXAMPLES}\n\n{}", example::environment())
}

fn random_seed() -> u64 {
    // Any seed is valid; without randomness it is 0.
    getrandom::u64().unwrap_or_default()
}

fn at_least_one<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "not a whole number from 1 on")
}

fn cores() -> NonZero<usize> {
    std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::config::settings::SETTINGS;

    fn task_of(line: &str) -> Result<Task, clap::Error> {
        CommandLine::try_parse_from(line.split(' ')).map(|line| line.task())
    }

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_default_command_is_serve() {
        assert!(matches!(task_of("pennyblack"), Ok(Task::Serve)));
        assert!(matches!(task_of("pennyblack --config a.toml"), Ok(Task::Serve)));
    }

    #[test]
    fn the_configuration_file_is_set_before_or_after_the_command() {
        for text in ["pennyblack --config a.toml check", "pennyblack check --config a.toml"] {
            let line = CommandLine::try_parse_from(text.split(' ')).unwrap();
            assert_eq!(line.config, Some(PathBuf::from("a.toml")));
        }
    }

    #[test]
    fn simulate_has_defaults() {
        let arguments = |line| match task_of(line) {
            Ok(Task::Simulate(arguments)) => arguments,
            Ok(
                Task::Serve
                | Task::Check(_)
                | Task::Pay(_)
                | Task::Orders(_)
                | Task::Audit(_)
                | Task::Report(_)
                | Task::Backup(_),
            )
            | Err(_) => panic!("not a simulation: {line}"),
        };
        let first = arguments("pennyblack simulate");
        assert_eq!(first.orders.get(), 10_000);
        let second = arguments("pennyblack simulate --orders 5 --seed 7 --threads 2");
        let values = (second.orders.get(), second.seed, second.threads.get());
        assert_eq!(values, (5, 7, 2));
        assert!(task_of("pennyblack simulate --orders 0").is_err());
    }

    #[test]
    fn a_payment_is_at_most_three_fifty_by_default() {
        let arguments = |line| match task_of(line) {
            Ok(Task::Pay(arguments)) => Some(arguments),
            Ok(
                Task::Serve
                | Task::Check(_)
                | Task::Simulate(_)
                | Task::Orders(_)
                | Task::Audit(_)
                | Task::Report(_)
                | Task::Backup(_),
            )
            | Err(_) => None,
        };
        let plain = arguments("pennyblack pay --body card.json").unwrap();
        assert_eq!(plain.max.atomic(), order::model::money::CEILING.atomic());
        assert_eq!(plain.network, None);
        let more = "pennyblack pay --body c --max 1.25 --network polygon";
        let more = arguments(more).unwrap();
        assert_eq!((more.max.atomic(), more.network), (1_250_000, Some(PaymentNetwork::Polygon)));
        assert_eq!(plain.rail, PaymentRail::X402);
        assert_eq!(arguments("pennyblack pay --body c --rail mpp").unwrap().rail, PaymentRail::Mpp);
        assert!(arguments("pennyblack pay --body c --rail lightning").is_none());
        assert!(arguments("pennyblack pay").is_none());
        assert!(arguments("pennyblack pay --body c --max lots").is_none());
        assert!(arguments("pennyblack pay --body c --key-file k --sandbox s").is_none());
    }

    #[test]
    fn the_long_help_lists_every_variable() {
        let help = CommandLine::command().render_long_help().to_string();
        for variable in SETTINGS.iter().filter_map(|setting| setting.variable()) {
            assert!(help.contains(variable), "{variable}");
        }
        assert!(help.contains("PENNYBLACK_CONFIG"));
        assert!(help.contains("Examples:"));
    }
}
