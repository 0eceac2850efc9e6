//! A response written directly to the socket: partial, slow, reset or silent.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::sleep;

pub(crate) struct RawResponse {
    /// Sent at once.
    prompt: Vec<u8>,
    /// Sent byte by byte.
    slow: Vec<u8>,
    pause: Duration,
    end: ConnectionEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    Close,
    /// The connection is reset, not closed.
    Reset,
    /// Nothing more is sent until the client leaves.
    Silence,
}

impl RawResponse {
    pub(crate) const fn prompt(bytes: Vec<u8>, end: ConnectionEnd) -> Self {
        Self { prompt: bytes, slow: Vec::new(), pause: Duration::ZERO, end }
    }

    pub(crate) const fn slow(prompt: Vec<u8>, slow: Vec<u8>, milliseconds: u64) -> Self {
        Self { prompt, slow, pause: Duration::from_millis(milliseconds), end: ConnectionEnd::Close }
    }

    pub(crate) const fn silence() -> Self {
        Self::prompt(Vec::new(), ConnectionEnd::Silence)
    }

    pub(crate) const fn reset() -> Self {
        Self::prompt(Vec::new(), ConnectionEnd::Reset)
    }

    /// Sends it, unless the server closes first. Errors mean that the client has left, which
    /// is expected.
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
            ConnectionEnd::Close => stream.shutdown().await,
            // Without lingering, dropping the socket sends RST in place of FIN.
            ConnectionEnd::Reset => stream.set_zero_linger(),
            ConnectionEnd::Silence => {
                let mut ignored = [0; 1_024];
                while stream.read(&mut ignored).await? > 0 {}
                Ok(())
            }
        }
    }
}
