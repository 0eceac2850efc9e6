//! Runs the emulated chains alone for a script: prints their URL, and ends with standard input.

use std::io::Write;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::ports::Clock;
use sandbox::chain::{ChainEmulator, ChainSettings};
use tokio::io::AsyncReadExt;

struct Wall;

#[async_trait]
impl Clock for Wall {
    #[expect(clippy::disallowed_methods, reason = "an example has no clock to ask")]
    fn now(&self) -> Timestamp {
        Timestamp(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
    }

    fn uptime(&self) -> u64 {
        0
    }

    async fn wait(&self, seconds: u64) {
        tokio::time::sleep(std::time::Duration::from_secs(seconds)).await;
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let chains = ChainEmulator::open(ChainSettings::new(Arc::new(Wall))).await?;
    writeln!(std::io::stdout(), "{}", chains.origin())?;
    let mut rest = Vec::new();
    tokio::io::stdin().read_to_end(&mut rest).await?;
    chains.close().await;
    Ok(())
}
