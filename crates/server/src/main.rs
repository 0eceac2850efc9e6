//! Pennyblack: parses the command line and runs the subcommand.

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{CommandLine, Task};
use crate::commands::{check, pay, serve as serve_command, simulate};
use crate::config::load;

mod cli;
mod commands;
mod config;
mod console;
mod jobs;
mod metrics;
mod serve;
mod telemetry;
mod wiring;

fn main() -> ExitCode {
    let line = CommandLine::parse();
    let config_file = line.config.as_deref();
    match line.task() {
        Task::Simulate(arguments) => simulate::run(arguments),
        Task::Pay(arguments) => pay::run(&arguments, config_file),
        Task::Check(arguments) => check::run(&arguments, &load::read(config_file)),
        Task::Serve => serve_command::run(config_file),
    }
}
