//! Opens a post office alone, on port 8403, until Ctrl-C.

use sandbox::provider::PostOffice;
use sandbox::provider::settings::Settings;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a person reads it")]
async fn main() -> std::io::Result<()> {
    let office = PostOffice::open(Settings { port: 8_403, ..Settings::default() }).await?;
    println!("This is a sandbox: no money moves, no card is mailed.");
    println!("The mailbox is at {}", office.mailbox_url());
    tokio::signal::ctrl_c().await?;
    office.close().await
}
