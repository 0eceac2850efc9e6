//! Explores orders in which tasks take turns, for the parts of the service that share memory.
//!
//!   schedules [PART|all|locks] [SCHEDULES] [SEED]
//!
//! `locks` are all parts but `claims`. The seed that a failure prints repeats it as the first
//! schedule of a run.

use std::env;
use std::process::ExitCode;

use explore::explore;
use parts::Part;

mod explore;
mod parts;
mod sources;
mod stand_ins;

/// For a run in a few seconds.
const SHORT: u64 = 500;
const SEED: u64 = 22;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |place: usize, default| {
        arguments.get(place).map_or(Some(default), |text| text.replace('_', "").parse().ok())
    };
    let name = arguments.first().map_or("all", String::as_str);
    let chosen: Vec<&Part> = parts::ALL
        .iter()
        .filter(|part| match name {
            "all" => true,
            "locks" => part.name != "claims",
            _ => part.name == name,
        })
        .collect();
    let (Some(schedules), Some(seed), false) =
        (number(1, SHORT), number(2, SEED), chosen.is_empty())
    else {
        let names: Vec<&str> = parts::ALL.iter().map(|part| part.name).collect();
        eprintln!("usage: tests/schedules/run [all|locks|{}] [SCHEDULES] [SEED]", names.join("|"));
        return ExitCode::from(2);
    };
    println!("seed {seed}");
    let explored = chosen.into_iter().map(|part| {
        let figures = explore(part, schedules, seed);
        if let Some(figures) = &figures {
            println!("{figures}");
        }
        figures
    });
    match explored.collect::<Option<Vec<_>>>() {
        Some(figures) => {
            println!("figures: {}; seed {seed}", figures.join("; "));
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    }
}
