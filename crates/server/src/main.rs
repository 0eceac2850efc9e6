//! Pennyblack: parses the command line and runs the subcommand.

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{CommandLine, Task};
use crate::commands::{
    audit, backup, check, orders, pay, report, serve as serve_command, simulate,
};
use crate::config::load;

mod cli;
mod commands;
mod config;
mod console;
mod jobs;
mod metrics;
mod operator;
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
        Task::Orders(arguments) => orders::run(&arguments, &load::read(config_file)),
        Task::Audit(arguments) => audit::run(&arguments, &load::read(config_file)),
        Task::Report(arguments) => report::run(&arguments, &load::read(config_file)),
        Task::Backup(arguments) => backup::run(&arguments, &load::read(config_file)),
        Task::Serve => serve_command::run(config_file),
    }
}
