//! Pennyblack, from the command line to its end.

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{CommandLine, Task};

mod banner;
mod check;
mod cli;
mod config;
mod console;
mod open_orders;
mod pay_command;
mod rounds;
mod serve;
mod simulate;
mod storage;
mod sweep;
mod telemetry;
mod wiring;
mod words;
mod world;

fn main() -> ExitCode {
    let line = CommandLine::parse();
    match line.task() {
        Task::Simulate(arguments) => simulate::run(arguments),
        Task::Pay(arguments) => pay_command::run(&arguments, line.config.as_deref()),
        Task::Check(arguments) => check::run(&arguments, &config::read(line.config.as_deref())),
        Task::Serve => match config::read(line.config.as_deref()).outcome {
            Ok(config) => {
                telemetry::start(&config.log);
                serve::run(&config)
            }
            Err(faulty) => {
                console::complain(&check::complaint(&faulty));
                ExitCode::from(check::FAULTY)
            }
        },
    }
}
