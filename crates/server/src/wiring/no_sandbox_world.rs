//! Replaces `sandbox_world` in a binary that is built without the feature `sandbox`.

use std::sync::Arc;

use order::ports::Clock;

use crate::config::Config;
use crate::config::values::{BUILD_WITH_SANDBOX, ServerMode};
use crate::wiring::sandbox_endpoints::SandboxEndpoints;

/// No emulator exists.
pub(super) struct SandboxWorld;

/// The configuration rejects sandbox mode before, so this succeeds for every valid configuration.
#[expect(clippy::unused_async, reason = "the same signature as with the sandbox")]
pub(super) async fn open(
    config: &Config,
    _: Arc<dyn Clock>,
) -> Result<(SandboxWorld, SandboxEndpoints), String> {
    match config.server.mode {
        ServerMode::Live => Ok((SandboxWorld, SandboxEndpoints::default())),
        ServerMode::Sandbox => Err(BUILD_WITH_SANDBOX.to_owned()),
    }
}

/// None runs.
pub(crate) fn running(_: &Config) -> SandboxEndpoints {
    SandboxEndpoints::default()
}

impl SandboxWorld {
    #[expect(clippy::unused_async, reason = "the same signature as with the sandbox")]
    pub(super) async fn close(self) {}
}
