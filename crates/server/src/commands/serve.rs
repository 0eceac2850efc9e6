//! `pennyblack serve`: reads the configuration, starts the log, and serves until a signal.

use std::path::Path;
use std::process::ExitCode;

use crate::commands::check::INVALID_CONFIG;
use crate::config::load;
use crate::{console, serve, telemetry};

pub(crate) fn run(config_file: Option<&Path>) -> ExitCode {
    match load::read(config_file).outcome {
        Ok(config) => {
            telemetry::start(&config.log);
            serve::run(&config)
        }
        Err(invalid) => {
            console::print_error(&invalid.message());
            ExitCode::from(INVALID_CONFIG)
        }
    }
}
