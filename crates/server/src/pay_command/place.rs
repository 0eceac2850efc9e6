//! Where the service is that is to be paid, and whether a sandbox stands behind it.

use std::path::Path;

use crate::check;
use crate::cli::PayArguments;
use crate::config;
use crate::world::signpost;

use super::end::End;

pub(super) struct Place {
    pub(super) base_url: String,
    /// Where the sandbox's chain answers, if its faucet is to pay.
    pub(super) sandbox: Option<String>,
}

impl Place {
    /// What the command line says, and for the rest the configuration: whoever
    /// says everything needs none.
    pub(super) fn find(arguments: &PayArguments, file: Option<&Path>) -> Result<Self, End> {
        let PayArguments { base_url, key_file, sandbox, .. } = arguments;
        if let (Some(base_url), true) = (base_url, key_file.is_some() || sandbox.is_some()) {
            return Ok(Self { base_url: base_url.clone(), sandbox: sandbox.clone() });
        }
        let config = config::read(file).outcome;
        let config = config.map_err(|faulty| End::Unusable(check::complaint(&faulty)))?;
        let base_url = match base_url {
            Some(told) => told.clone(),
            None => config.server.base_url(config.server.listen).to_string(),
        };
        let sandbox = match (key_file, sandbox) {
            (Some(_), _) => None,
            (None, Some(told)) => Some(told.clone()),
            (None, None) => signpost::read(&config.server.data),
        };
        Ok(Self { base_url, sandbox })
    }
}
