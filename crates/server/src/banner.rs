//! What we say when the doors open.

use std::fmt::Write;
use std::net::SocketAddr;

use content::render::Money;

use crate::config::Server;
use crate::config::naming::Naming;
use crate::config::posting::Mail;
use crate::config::values::{BaseUrl, Mode};
use crate::console::Audience;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What there is to tell of.
pub(crate) struct Opened<'a> {
    pub(crate) server: &'a Server,
    pub(crate) money: Money,
    pub(crate) mail: Mail,
    pub(crate) names: &'a Naming,
    pub(crate) bound: SocketAddr,
    /// The program as it was called.
    pub(crate) program: &'a str,
    /// Where the sandbox shows the cards that it "mailed", if it runs.
    pub(crate) mailbox: Option<String>,
    /// Where the sandbox's chain answers, if it runs.
    pub(crate) chain: Option<String>,
}

/// What runs, where, and a few things to try.
pub(crate) fn text(opened: &Opened<'_>, audience: Audience) -> String {
    let Opened { server, money, mail, names, bound, program, mailbox, chain } = opened;
    let here = BaseUrl::of_listener(*bound);
    let program = quoted(program);
    let mut text = emphasised(&format!("Pennyblack {VERSION} is open."), audience);
    text.push_str("\n\n");
    let mut row = |name: &str, value: &str| {
        writeln!(text, "  {name:<9} {value}").expect("a String takes every text");
    };
    row("address", &here.to_string());
    row("base URL", &server.base_url(*bound).to_string());
    row("mode", &mode(server.mode, *money, *mail));
    row("store", &format!("{}, {}", server.store.kind(), server.store));
    row("data", &server.data.display().to_string());
    match names {
        Naming::Sandbox => row("payee", &payee(*money)),
        Naming::Ens(_) => {}
    }
    if let Some(mailbox) = mailbox {
        row("mailbox", &format!("{mailbox} (the sandbox's: cards as pictures, none is mailed)"));
    }
    if let Some(chain) = chain {
        row("chain", &format!("{chain} (the sandbox's: play money at /8453, /137 and /42161)"));
    }
    format!(
        "{text}\n{}\n  a browser at {here}/\n  curl -H 'Accept: text/markdown' {here}/\n  \
         curl -i {here}/api\n  curl {here}/api/x402/resolve/demo\n{}{}  {program} simulate --orders 1000\n\n\
         Ctrl-C stops it, once the requests under way are done.\n",
        emphasised("Try this:", audience),
        preview(&here, mailbox.as_deref()),
        payment(&here, &program, chain.as_deref()),
    )
}

/// What the mode comes to. Its name alone says little: in sandbox mode too payments may
/// be carried to other chains, and cards given to a company that prints.
fn mode(mode: Mode, money: Money, mail: Mail) -> String {
    let name = match mode {
        Mode::Sandbox => "sandbox",
        Mode::Live => "live",
    };
    let money = match (mode, money) {
        (Mode::Sandbox | Mode::Live, Money::Play) => "no money moves",
        (Mode::Sandbox, Money::Real) => "money moves on the chains that payments.rpc names",
        (Mode::Live, Money::Real) => "real money moves",
    };
    let mail = match mail {
        Mail::Play => "nothing is mailed",
        Mail::Real => "real cards are mailed",
    };
    format!("{name}: {money} and {mail}")
}

/// Whom the sandbox's names lead to.
fn payee(money: Money) -> String {
    let payee = sandbox::payee::payee();
    match money {
        Money::Play => format!("{payee}, whose key nobody holds"),
        Money::Real => format!("{payee}, whose key nobody holds: what is paid to it is lost"),
    }
}

/// A card to look at; the answer has the addresses of its two sides.
fn preview(here: &BaseUrl, mailbox: Option<&str>) -> String {
    if mailbox.is_none() {
        return String::new();
    }
    format!(
        "  curl -X POST {here}/api/x402/postcards/preview -d '{SAMPLE}'\n  \
         and open the two pictures that it names in the browser\n"
    )
}

/// The same card, bought with the faucet's money, and another one by the other rail: the
/// same one would be paid for already.
fn payment(here: &BaseUrl, program: &str, chain: Option<&str>) -> String {
    let Some(chain) = chain else { return String::new() };
    format!(
        "  echo '{SAMPLE}' > card.json\n  \
         {program} pay --body card.json --base-url {here} --sandbox {chain}\n  \
         sed s/Ada/Grace/ card.json > grace.json\n  \
         {program} pay --body grace.json --base-url {here} --sandbox {chain} --rail mpp\n"
    )
}

/// A card that anybody may look at.
const SAMPLE: &str = r#"{"front_image_url": "https://images.example.org/sea.jpg", "message": "The sea says hello. So do I.", "recipient": {"name": "Ada Lovelace", "address": "12 St James Square", "city": "London", "province": "London", "postal_code": "SW1Y 4JH", "country": "GB"}}"#;

fn emphasised(words: &str, audience: Audience) -> String {
    match audience {
        Audience::Terminal => format!("\u{1b}[1m{words}\u{1b}[0m"),
        Audience::Pipe => words.to_owned(),
    }
}

/// The program as it was called, ready for a shell.
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
    use crate::config::store_place::StorePlace;
    use crate::config::values::Shown;

    fn server() -> Server {
        let store = "postgres://clerk:sesame@db.example/orders";
        Server {
            listen: ([0, 0, 0, 0], 0).into(),
            base_url: None,
            data: PathBuf::from("./data"),
            mode: Mode::Sandbox,
            store: StorePlace::parse(store, None).unwrap(),
        }
    }

    fn opened(server: &Server) -> Opened<'_> {
        Opened {
            server,
            money: Money::Play,
            mail: Mail::Play,
            names: &Naming::Sandbox,
            bound: ([127, 0, 0, 1], 8402).into(),
            program: "pennyblack",
            mailbox: None,
            chain: None,
        }
    }

    #[test]
    fn a_banner_says_what_moves_and_not_only_what_the_mode_is_called() {
        let mut server = server();
        let moving = "money moves on the chains that payments.rpc names and nothing is mailed";
        for (live, money, mail, words) in [
            (Mode::Sandbox, Money::Play, Mail::Play, "no money moves and nothing is mailed"),
            (Mode::Sandbox, Money::Real, Mail::Play, moving),
            (Mode::Sandbox, Money::Play, Mail::Real, "no money moves and real cards are mailed"),
            (Mode::Live, Money::Real, Mail::Real, "real money moves and real cards are mailed"),
            (Mode::Live, Money::Play, Mail::Play, "no money moves and nothing is mailed"),
        ] {
            server.mode = live;
            let text = text(&Opened { money, mail, ..opened(&server) }, Audience::Pipe);
            let line = format!("  mode      {}: {words}\n", live.shown());
            assert!(text.contains(&line), "{text}");
            assert_eq!(text.contains("what is paid to it is lost"), money == Money::Real);
        }
    }

    #[test]
    fn a_banner_in_a_pipe_is_plain_and_names_commands_that_work() {
        let bound = ([0, 0, 0, 0], 8402).into();
        let mailbox = Some("http://127.0.0.1:8403/".to_owned());
        let server = server();
        let program = "target/debug/pennyblack";
        let chain = Some("http://127.0.0.1:8404".to_owned());
        let opened = Opened { bound, program, mailbox, chain, ..opened(&server) };
        let text = text(&opened, Audience::Pipe);
        assert!(text.contains("chain     http://127.0.0.1:8404 "), "{text}");
        let pay = "\n  target/debug/pennyblack pay --body card.json --base-url \
                   http://127.0.0.1:8402 --sandbox http://127.0.0.1:8404\n";
        assert!(text.contains(pay), "{text}");
        // The same card by the other rail is paid for already, and would teach nothing.
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
    fn a_banner_on_a_terminal_has_bold_headings() {
        let bound = ([127, 0, 0, 1], 1).into();
        let server = server();
        let program = "pennyblack";
        let opened = Opened { bound, program, ..opened(&server) };
        let text = text(&opened, Audience::Terminal);
        assert!(!text.contains("preview") && !text.contains("pay --body"), "{text}");
        assert!(text.starts_with("\u{1b}[1mPennyblack"), "{text}");
    }

    #[test]
    fn a_program_with_a_space_in_its_path_is_quoted() {
        assert_eq!(quoted("/opt/a b/it's"), r"'/opt/a b/it'\''s'");
    }
}
