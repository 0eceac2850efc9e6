//! Bytes of our own on a socket, at our own pace, to an end of our own.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::sleep;

pub(crate) struct Plan {
    /// Sent at once.
    prompt: Vec<u8>,
    /// Sent byte by byte.
    slow: Vec<u8>,
    pause: Duration,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Close,
    /// The connection is torn down, not closed.
    Reset,
    /// Nothing more is said until the caller leaves.
    Silence,
}

impl Plan {
    pub(crate) const fn prompt(bytes: Vec<u8>, end: End) -> Self {
        Self { prompt: bytes, slow: Vec::new(), pause: Duration::ZERO, end }
    }

    pub(crate) const fn slow(prompt: Vec<u8>, slow: Vec<u8>, milliseconds: u64) -> Self {
        Self { prompt, slow, pause: Duration::from_millis(milliseconds), end: End::Close }
    }

    pub(crate) const fn silence() -> Self {
        Self::prompt(Vec::new(), End::Silence)
    }

    pub(crate) const fn reset() -> Self {
        Self::prompt(Vec::new(), End::Reset)
    }

    /// Plays it, unless the office closes first. Errors mean that the caller
    /// has left, which is what these plans are made to bring about.
    pub(crate) async fn play(self, mut stream: TcpStream, mut closing: watch::Receiver<()>) {
        tokio::select! {
            _ = self.act(&mut stream) => {}
            _ = closing.changed() => {}
        }
    }

    async fn act(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        stream.write_all(&self.prompt).await?;
        for byte in &self.slow {
            sleep(self.pause).await;
            stream.write_all(&[*byte]).await?;
        }
        match self.end {
            End::Close => stream.shutdown().await,
            // Without lingering, dropping the socket sends RST in place of FIN.
            End::Reset => stream.set_zero_linger(),
            End::Silence => {
                let mut ignored = [0; 1_024];
                while stream.read(&mut ignored).await? > 0 {}
                Ok(())
            }
        }
    }
}
