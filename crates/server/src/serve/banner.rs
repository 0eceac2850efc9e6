//! The banner that `serve` prints when it is ready.

use std::fmt::Write;
use std::net::SocketAddr;

use content::render::Money;

use crate::config::ServerConfig;
use crate::config::names::NamesConfig;
use crate::config::provider::Mailing;
use crate::config::values::{BaseUrl, ReportText, SANDBOX_PAYEE, ServerMode};
use crate::console::Audience;
use crate::operator::token;

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) struct BannerFacts<'a> {
    pub(crate) server: &'a ServerConfig,
    pub(crate) money: Money,
    pub(crate) mailing: Mailing,
    pub(crate) names: &'a NamesConfig,
    pub(crate) bound: SocketAddr,
    /// The address of the operator's loopback listener.
    pub(crate) console: Option<SocketAddr>,
    /// The path by which the program was started.
    pub(crate) program: &'a str,
    /// The page of the emulated provider that shows accepted cards.
    pub(crate) mailbox: Option<String>,
    /// The URL of the emulated chain.
    pub(crate) chain: Option<String>,
}

/// What runs, where, and commands to try.
pub(crate) fn text(facts: &BannerFacts<'_>, audience: Audience) -> String {
    let BannerFacts { server, money, mailing, names, bound, console, program, mailbox, chain } =
        facts;
    let here = BaseUrl::of_listener(*bound);
    let program = quoted(program);
    let mut text = bold(&format!("Pennyblack {VERSION} is running."), audience);
    text.push_str("\n\n");
    let mut row = |name: &str, value: &str| {
        writeln!(text, "  {name:<9} {value}").expect("writing to a String cannot fail");
    };
    row("address", &here.to_string());
    row("base URL", &server.base_url(*bound).to_string());
    row("mode", &mode(server.mode, *money, *mailing));
    row("store", &format!("{}, {}", server.store.kind(), server.store));
    row("data", &server.data.display().to_string());
    if let Some(console) = console {
        let token = token::path(&server.data);
        row(
            "console",
            &format!("{} (operator: token in {})", BaseUrl::of_listener(*console), token.display()),
        );
    }
    match names {
        NamesConfig::Sandbox => row("payee", &payee(*money)),
        NamesConfig::Ens(_) => {}
    }
    if let Some(mailbox) = mailbox {
        row("mailbox", &format!("{mailbox} (sandbox: shows accepted cards, mails nothing)"));
    }
    if let Some(chain) = chain {
        row("chain", &format!("{chain} (sandbox: test chains at /8453, /137 and /42161)"));
    }
    format!(
        "{text}\n{}\n  a browser at {here}/, and at {here}/send to write a card\n  curl -H 'Accept: text/markdown' {here}/\n  \
         curl -i {here}/api\n  curl {here}/api/x402/resolve/demo\n{}{}  {program} simulate --orders 1000\n\n\
         Ctrl-C stops the service after the requests in progress.\n",
        bold("Try this:", audience),
        preview(&here, mailbox.as_deref()),
        payment(&here, &program, chain.as_deref()),
    )
}

/// The mode and its effects: sandbox mode can be combined with real payments or a real provider.
fn mode(mode: ServerMode, money: Money, mailing: Mailing) -> String {
    let name = mode.report_text();
    let money = match (mode, money) {
        (ServerMode::Sandbox | ServerMode::Live, Money::Play) => "no money moves",
        (ServerMode::Sandbox, Money::Real) => "money moves on the chains in payments.rpc",
        (ServerMode::Live, Money::Real) => "real money moves",
    };
    let mailing = match mailing {
        Mailing::Emulated => "nothing is mailed",
        Mailing::Real => "real cards are mailed",
    };
    format!("{name}: {money} and {mailing}")
}

/// The address to which the sandbox's names resolve.
fn payee(money: Money) -> String {
    match money {
        Money::Play => format!("{SANDBOX_PAYEE}, a burn address (no known key)"),
        Money::Real => {
            format!("{SANDBOX_PAYEE}, a burn address (no known key): payments to it are lost")
        }
    }
}

/// A preview request, whose response has the URLs of both sides.
fn preview(here: &BaseUrl, mailbox: Option<&str>) -> String {
    if mailbox.is_none() {
        return String::new();
    }
    format!(
        "  curl -X POST {here}/api/x402/postcards/preview -d '{SAMPLE}'\n  \
         and open the two URLs of the response in a browser\n"
    )
}

/// A card paid by x402 with the faucet's money, and another one paid by MPP: the same card would
/// already be paid.
fn payment(here: &BaseUrl, program: &str, chain: Option<&str>) -> String {
    let Some(chain) = chain else { return String::new() };
    format!(
        "  echo '{SAMPLE}' > card.json\n  \
         {program} pay --body card.json --base-url {here} --sandbox {chain}\n  \
         sed s/Ada/Grace/ card.json > grace.json\n  \
         {program} pay --body grace.json --base-url {here} --sandbox {chain} --rail mpp\n"
    )
}

const SAMPLE: &str = r#"{"front_image_url": "https://images.example.org/sea.jpg", "message": "The sea says hello. So do I.", "recipient": {"name": "Ada Lovelace", "address": "12 St James Square", "city": "London", "province": "London", "postal_code": "SW1Y 4JH", "country": "GB"}}"#;

fn bold(text: &str, audience: Audience) -> String {
    match audience {
        Audience::Terminal => format!("\u{1b}[1m{text}\u{1b}[0m"),
        Audience::Pipe => text.to_owned(),
    }
}

/// The program's path, quoted for a shell.
fn quoted(program: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+".contains(letter);
    if !program.is_empty() && program.chars().all(plain) {
        return program.to_owned();
    }
    format!("'{}'", program.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::config::store_location::StoreLocation;

    fn server() -> ServerConfig {
        let store = "postgres://clerk:sesame@db.example/orders";
        ServerConfig {
            listen: ([0, 0, 0, 0], 0).into(),
            base_url: None,
            data: PathBuf::from("./data"),
            mode: ServerMode::Sandbox,
            store: StoreLocation::parse(store, None).unwrap(),
        }
    }

    fn facts(server: &ServerConfig) -> BannerFacts<'_> {
        BannerFacts {
            server,
            money: Money::Play,
            mailing: Mailing::Emulated,
            names: &NamesConfig::Sandbox,
            bound: ([127, 0, 0, 1], 8402).into(),
            console: None,
            program: "pennyblack",
            mailbox: None,
            chain: None,
        }
    }

    #[test]
    fn the_banner_states_the_effects_of_the_mode() {
        let mut server = server();
        let moving = "money moves on the chains in payments.rpc and nothing is mailed";
        for (mode, money, mailing, effects) in [
            (
                ServerMode::Sandbox,
                Money::Play,
                Mailing::Emulated,
                "no money moves and nothing is mailed",
            ),
            (ServerMode::Sandbox, Money::Real, Mailing::Emulated, moving),
            (
                ServerMode::Sandbox,
                Money::Play,
                Mailing::Real,
                "no money moves and real cards are mailed",
            ),
            (
                ServerMode::Live,
                Money::Real,
                Mailing::Real,
                "real money moves and real cards are mailed",
            ),
            (
                ServerMode::Live,
                Money::Play,
                Mailing::Emulated,
                "no money moves and nothing is mailed",
            ),
        ] {
            server.mode = mode;
            let text = text(&BannerFacts { money, mailing, ..facts(&server) }, Audience::Pipe);
            let line = format!("  mode      {}: {effects}\n", mode.report_text());
            assert!(text.contains(&line), "{text}");
            assert_eq!(text.contains("payments to it are lost"), money == Money::Real);
        }
    }

    #[test]
    fn the_banner_says_where_the_console_and_its_token_are() {
        let server = server();
        let console = Some(([127, 0, 0, 1], 8404).into());
        let printed = text(&BannerFacts { console, ..facts(&server) }, Audience::Pipe);
        let row = "  console   http://127.0.0.1:8404 (operator: token in ./data/operator.token)\n";
        assert!(printed.contains(row), "{printed}");
        assert!(!text(&facts(&server), Audience::Pipe).contains("console"));
    }

    #[test]
    fn the_banner_in_a_pipe_is_plain_and_has_working_commands() {
        let bound = ([0, 0, 0, 0], 8402).into();
        let mailbox = Some("http://127.0.0.1:8403/".to_owned());
        let server = server();
        let program = "target/debug/pennyblack";
        let chain = Some("http://127.0.0.1:8404".to_owned());
        let facts = BannerFacts { bound, program, mailbox, chain, ..facts(&server) };
        let text = text(&facts, Audience::Pipe);
        assert!(text.contains("chain     http://127.0.0.1:8404 "), "{text}");
        let pay = "\n  target/debug/pennyblack pay --body card.json --base-url \
                   http://127.0.0.1:8402 --sandbox http://127.0.0.1:8404\n";
        assert!(text.contains(pay), "{text}");
        // The same card by the other protocol would already be paid.
        let other = pay.replace("card.json", "grace.json").replace("8404\n", "8404 --rail mpp\n");
        let other = format!("\n  sed s/Ada/Grace/ card.json > grace.json{other}");
        assert!(text.contains(&other), "{text}");
        assert!(text.contains("mailbox   http://127.0.0.1:8403/ "), "{text}");
        assert!(
            text.contains("curl -X POST http://127.0.0.1:8402/api/x402/postcards/preview"),
            "{text}"
        );
        assert!(text.contains("address   http://127.0.0.1:8402\n"), "{text}");
        assert!(text.contains("curl -i http://127.0.0.1:8402/api\n"), "{text}");
        assert!(text.contains("\n  target/debug/pennyblack simulate --orders 1000\n"), "{text}");
        assert!(text.contains("PostgreSQL, postgres://clerk@db.example/orders\n"), "{text}");
        assert!(!text.contains("sesame") && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn the_banner_on_a_terminal_has_bold_headings() {
        let bound = ([127, 0, 0, 1], 1).into();
        let server = server();
        let program = "pennyblack";
        let facts = BannerFacts { bound, program, ..facts(&server) };
        let text = text(&facts, Audience::Terminal);
        assert!(!text.contains("preview") && !text.contains("pay --body"), "{text}");
        assert!(text.starts_with("\u{1b}[1mPennyblack"), "{text}");
    }

    #[test]
    fn a_program_with_a_space_in_its_path_is_quoted() {
        assert_eq!(quoted("/opt/a b/it's"), r"'/opt/a b/it'\''s'");
    }
}
