//! Runs the emulated provider alone until Ctrl-C: `provider [PORT [CARDS]]`, by default on port 8403 with the last thousand cards.

use std::io;
use std::str::FromStr;

use sandbox::provider::ProviderEmulator;
use sandbox::provider::state::settings::ProviderSettings;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a person reads it")]
async fn main() -> io::Result<()> {
    let defaults = ProviderSettings { port: 8_403, ..ProviderSettings::default() };
    let mut words = std::env::args().skip(1);
    let port = number(words.next(), defaults.port)?;
    let kept_cards = number(words.next(), defaults.kept_cards)?;
    let provider =
        ProviderEmulator::open(ProviderSettings { port, kept_cards, ..defaults }).await?;
    println!("This is a sandbox: no money moves, no card is mailed.");
    println!("The mailbox is at {}", provider.mailbox_url());
    tokio::signal::ctrl_c().await?;
    provider.close().await
}

fn number<T: FromStr>(word: Option<String>, usual: T) -> io::Result<T> {
    let Some(word) = word else { return Ok(usual) };
    word.parse().map_err(|_| io::Error::other(format!("`{word}` is not a number that fits")))
}
