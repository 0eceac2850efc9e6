//! Opens a post office alone, until Ctrl-C: `post_office [PORT [CARDS]]`, on port 8403
//! and with the last thousand cards unless it is told otherwise.

use std::io;
use std::str::FromStr;

use sandbox::provider::PostOffice;
use sandbox::provider::settings::Settings;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a person reads it")]
async fn main() -> io::Result<()> {
    let usual = Settings { port: 8_403, ..Settings::default() };
    let mut words = std::env::args().skip(1);
    let port = number(words.next(), usual.port)?;
    let kept_cards = number(words.next(), usual.kept_cards)?;
    let office = PostOffice::open(Settings { port, kept_cards, ..usual }).await?;
    println!("This is a sandbox: no money moves, no card is mailed.");
    println!("The mailbox is at {}", office.mailbox_url());
    tokio::signal::ctrl_c().await?;
    office.close().await
}

fn number<T: FromStr>(word: Option<String>, usual: T) -> io::Result<T> {
    let Some(word) = word else { return Ok(usual) };
    word.parse().map_err(|_| io::Error::other(format!("`{word}` is not a number that fits")))
}
