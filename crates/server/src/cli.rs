//! The command line, and the help that teaches it.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use order::model::chain::Network;
use order::model::money::Usdc;

use crate::config::example;
use crate::pay_command::values::{self, Rail};

const ABOUT: &str = "Mails physical postcards for USDC, and tells agents how to buy one";

const LONG_ABOUT: &str = "\
Pennyblack mails physical postcards that are paid in USDC, by x402 or by native MPP, \
and publishes everything that an agent needs to buy one.

Without any configuration it runs in sandbox mode on http://127.0.0.1:8402: against a \
small world of its own, without moving money or mailing anything.";

const EXAMPLES: &str = "\
Examples:
  pennyblack                                  serve with what the configuration says
  pennyblack check                            show every setting and where it came from
  pennyblack check --example > pennyblack.toml
                                              begin a configuration of your own
  PENNYBLACK_LISTEN=127.0.0.1:9000 pennyblack
                                              listen on another port, just this once
  pennyblack pay --body card.json             pay for a card, in the sandbox with play money
  pennyblack simulate --orders 1000 --seed 7  a thousand orders with faults, repeatable";

const PAY_LESSON: &str = "\
In the sandbox, beside a service that runs in the same folder, by x402 and, with another card,
by MPP; the banner of the service has a card.json to begin with:
  pennyblack pay --body card.json
  sed s/Ada/Grace/ card.json > grace.json
  pennyblack pay --body grace.json --rail mpp

For real, with a key of yours (the file has one line, 0x and 64 digits, mode 600):
  pennyblack pay --body card.json --base-url https://cards.example --key-file payer.key

The first payment on a network, while Permit2 may not take your USDC yet. With a node alone the
allowance is signed along (EIP-2612) and costs no gas, where the service offers to carry it:
  pennyblack pay --body card.json --base-url https://cards.example --key-file payer.key \\
      --network base --rpc-url https://base.example
With --approve too, this command grants it by a transaction of yours, for a little gas:
  pennyblack pay --body card.json --base-url https://cards.example --key-file payer.key \\
      --network base --rpc-url https://base.example --approve

Two rails lead to the same card. By x402 you sign a promise of at most 3.50 USDC on Base,
Polygon or Arbitrum, and what the card costs is charged; Permit2 has to be allowed to move it. By MPP
you sign a transfer of exactly 3.50 USDC on Base, and no allowance and no gas of yours is needed:
  pennyblack pay --body card.json --rail mpp --base-url https://cards.example --key-file payer.key

A signed payment is written to <body>.payment before it is sent, and removed when its end is
known. While it is there the same command sends the same payment again and signs no second one, so
repeating it is always safe.

Exit codes:
  0  paid, and the card is with the provider
  1  not paid, nothing moved, repeating will not help
  2  a file or an argument is wrong; nothing was signed
  3  not known yet, or not now; the same command again is safe
  4  Permit2 may not take the payer's USDC yet; nothing moved
  5  paid, but it is not certain yet that the card is with the provider";

#[derive(Parser)]
#[command(name = "pennyblack", version, about = ABOUT, long_about = LONG_ABOUT)]
#[command(after_help = EXAMPLES, after_long_help = lesson())]
pub(crate) struct CommandLine {
    /// The TOML file to read; PENNYBLACK_CONFIG names it too
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,

    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Clone, Subcommand)]
pub(crate) enum Task {
    /// Serve requests until told to stop (what happens without a command)
    Serve,
    /// Show every setting, where it came from and what is wrong with it
    Check(CheckArguments),
    /// Pay for a card by x402 or MPP, for at most what you allow
    #[command(after_long_help = PAY_LESSON)]
    Pay(PayArguments),
    /// Send orders through an emulated world with faults, and count lost and doubled cards
    Simulate(SimulateArguments),
}

#[derive(Clone, Args)]
pub(crate) struct CheckArguments {
    /// Report as JSON
    #[arg(long)]
    pub json: bool,

    /// Print the example configuration instead, with every setting and its default
    #[arg(long, conflicts_with = "json")]
    pub example: bool,
}

#[derive(Clone, Args)]
pub(crate) struct PayArguments {
    /// The card as JSON; the quick start of the documentation has one to begin with
    #[arg(long, value_name = "FILE")]
    pub body: PathBuf,

    /// x402 or mpp: the protocol to pay by
    #[arg(long, default_value = "x402", value_parser = values::rail)]
    pub rail: Rail,

    /// The service; the one that the configuration here describes if not given
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// A file with the payer's private key; the sandbox's faucet pays if not given
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,

    /// The most that may be signed for, in USDC
    #[arg(long, value_name = "USDC", default_value = "3.50", value_parser = values::usdc)]
    pub max: Usdc,

    /// base, polygon or arbitrum; the first that the service offers if not given. MPP has base
    #[arg(long, value_parser = values::network)]
    pub network: Option<Network>,

    /// A node of that network, to look at the allowance and to sign it along, without gas
    #[arg(long, value_name = "URL")]
    pub rpc_url: Option<String>,

    /// Where signing it along is not enough: grant the allowance by a transaction, for gas
    #[arg(long)]
    pub approve: bool,

    /// Do not ask before a key of yours signs
    #[arg(long)]
    pub yes: bool,

    /// Where a signed payment is kept until its end is known; BODY.payment if not given
    #[arg(long, value_name = "FILE")]
    pub keep: Option<PathBuf>,

    /// The sandbox's chain, as the banner of the service names it
    #[arg(long, value_name = "URL", conflicts_with = "key_file")]
    pub sandbox: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub(crate) struct SimulateArguments {
    /// How many orders to send
    #[arg(long, default_value = "10000")]
    pub orders: NonZero<u64>,

    /// Where chance begins; the same seed gives the same faults. Random if not given, and printed
    #[arg(long, default_value_t = random_seed(), hide_default_value = true)]
    pub seed: u64,

    /// How many threads share the work; one for each core if not given
    #[arg(long, default_value_t = cores(), hide_default_value = true)]
    pub threads: NonZero<usize>,

    /// Tell one story of two orders event by event, to see why a seed fails
    #[arg(long)]
    pub story: bool,
}

impl CommandLine {
    pub(crate) fn task(&self) -> Task {
        self.task.clone().unwrap_or(Task::Serve)
    }
}

fn lesson() -> String {
    format!("{EXAMPLES}\n\n{}", example::environment())
}

fn random_seed() -> u64 {
    // Any seed will do; one that cannot be drawn is as good as another.
    getrandom::u64().unwrap_or_default()
}

fn cores() -> NonZero<usize> {
    std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::config::settings::SETTINGS;

    fn task_of(words: &str) -> Result<Task, clap::Error> {
        CommandLine::try_parse_from(words.split(' ')).map(|line| line.task())
    }

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn without_a_command_it_serves() {
        assert!(matches!(task_of("pennyblack"), Ok(Task::Serve)));
        assert!(matches!(task_of("pennyblack --config a.toml"), Ok(Task::Serve)));
    }

    #[test]
    fn the_configuration_is_named_before_or_after_the_command() {
        for words in ["pennyblack --config a.toml check", "pennyblack check --config a.toml"] {
            let line = CommandLine::try_parse_from(words.split(' ')).unwrap();
            assert_eq!(line.config, Some(PathBuf::from("a.toml")));
        }
    }

    #[test]
    fn simulate_has_defaults() {
        let arguments = |words| match task_of(words) {
            Ok(Task::Simulate(arguments)) => arguments,
            Ok(Task::Serve | Task::Check(_) | Task::Pay(_)) | Err(_) => {
                panic!("not a simulation: {words}")
            }
        };
        let first = arguments("pennyblack simulate");
        assert_eq!(first.orders.get(), 10_000);
        let second = arguments("pennyblack simulate --orders 5 --seed 7 --threads 2");
        let told = (second.orders.get(), second.seed, second.threads.get());
        assert_eq!(told, (5, 7, 2));
        assert!(task_of("pennyblack simulate --orders 0").is_err());
    }

    #[test]
    fn a_payment_is_for_one_card_and_three_fifty_unless_told_otherwise() {
        let arguments = |words| match task_of(words) {
            Ok(Task::Pay(arguments)) => Some(arguments),
            Ok(Task::Serve | Task::Check(_) | Task::Simulate(_)) | Err(_) => None,
        };
        let plain = arguments("pennyblack pay --body card.json").unwrap();
        assert_eq!((plain.max, plain.network), (order::model::money::CEILING, None));
        let more = "pennyblack pay --body c --max 1.25 --network polygon";
        let more = arguments(more).unwrap();
        assert_eq!((more.max.atomic(), more.network), (1_250_000, Some(Network::Polygon)));
        assert_eq!(plain.rail, Rail::X402);
        assert_eq!(arguments("pennyblack pay --body c --rail mpp").unwrap().rail, Rail::Mpp);
        assert!(arguments("pennyblack pay --body c --rail lightning").is_none());
        assert!(arguments("pennyblack pay").is_none());
        assert!(arguments("pennyblack pay --body c --max lots").is_none());
        assert!(arguments("pennyblack pay --body c --key-file k --sandbox s").is_none());
    }

    #[test]
    fn the_long_help_names_every_variable() {
        let help = CommandLine::command().render_long_help().to_string();
        for variable in SETTINGS.iter().filter_map(|setting| setting.variable()) {
            assert!(help.contains(variable), "{variable}");
        }
        assert!(help.contains("PENNYBLACK_CONFIG"));
        assert!(help.contains("Examples:"));
    }
}
