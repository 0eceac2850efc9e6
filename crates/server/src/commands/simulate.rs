//! `pennyblack simulate`: sends orders through emulated services with faults, and prints counts.

use std::fmt::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use adapters::settlement::model::{self, SenderBreach, SenderReport};
use order::testing::fakes::audit::Breach;
use order::testing::fakes::coverage::{Coverage, Incident, IncidentCounts};
use order::testing::simulation::report::{SimulationCount, SimulationReport};
use order::testing::simulation::run::run_scenario;
use order::testing::simulation::scenario::ScenarioLog;
use order::testing::simulation::{ORDERS_PER_SCENARIO, run as simulate};

use crate::cli::SimulateArguments;
use crate::console::{self, Audience};

/// How often the progress bar moves.
const TICK: Duration = Duration::from_millis(200);
const BAR_WIDTH: u64 = 40;
/// So often a progress line is printed where there is no terminal: every so many percent.
const PROGRESS_PERCENT: u64 = 2;
/// From so many orders on, every possible combination must have occurred.
const FULL_SIZE: u64 = 1_000_000;
/// One payment of the sender's model takes as long as about fifty orders.
const ORDERS_A_PAYMENT: u64 = 50;

pub(crate) fn run(arguments: SimulateArguments) -> ExitCode {
    let SimulateArguments { orders, seed, threads, story } = arguments;
    if story {
        return print_story(seed);
    }
    let begun = now();
    let report = with_progress(orders.get(), seed, threads.get());
    let sender = model::run(orders.get().div_ceil(ORDERS_A_PAYMENT), seed);
    let taken = begun.elapsed().as_secs();
    console::print_error(&format!("{} orders in {taken} s on {threads} threads\n", orders.get()));
    console::print(&table(seed, &report));
    console::print(&coverage_table(orders.get(), &report.incidents));
    console::print(&sender_table(&sender));
    let covered = orders.get() < FULL_SIZE || missing(&report.incidents).is_empty();
    if sender.is_clean() && covered { verdict(&report) } else { ExitCode::FAILURE }
}

/// How often each outcome of each call met an order in each state. At full size, what is missing.
fn coverage_table(orders: u64, incidents: &IncidentCounts) -> String {
    let (missing, unexpected) = (missing(incidents), incidents.unexpected(Coverage::Simulation));
    let occurred = incidents.kinds() - unexpected.len();
    let mut text = format!(
        "\nOutcomes and disturbances by the state of the order; a dot is impossible, a zero is \
         missing,\nand a dash is too rare to be demanded\n\n{}\n{occurred} possible combinations occurred, {} did not\n",
        incidents.table(Coverage::Simulation),
        missing.len()
    );
    let mut line = |what: &str, Incident { call, outcome, state }: Incident, why: &str| {
        writeln!(text, "{what}: {call}: {outcome} in {state}{why}")
            .expect("writing to a String cannot fail");
    };
    for incident in missing.into_iter().filter(|_| orders >= FULL_SIZE) {
        line("MISSING", incident, "");
    }
    for incident in unexpected {
        line("IMPOSSIBLE", incident, &format!(": {}", IncidentCounts::why_impossible(incident)));
    }
    text
}

fn missing(incidents: &IncidentCounts) -> Vec<Incident> {
    incidents.missing(Coverage::Simulation)
}

/// Counts of the sender's model, where senders crash and lose their lease, and violated invariants.
fn sender_table(report: &SenderReport) -> String {
    let counts = [
        ("payments given to senders", report.payments),
        ("settled", report.settled),
        ("failed in a block, or expired after failing", report.failed),
        ("certainly not sent", report.unsent),
        ("processes killed", report.crashes),
        ("leases lost by a process that went on", report.leases_lost),
        ("reorganisations", report.reorganisations),
        ("transactions replaced", report.replacements),
    ];
    let broken = SenderBreach::ALL
        .map(|breach| (breach.words(), report.breaches.get(&breach).copied().unwrap_or_default()));
    let rows = |rows: &[(&str, u64)]| {
        let line = |(label, count): &(&str, u64)| format!("  {label:<62} {count:>10}\n");
        rows.iter().map(line).collect::<String>()
    };
    let mut text = format!(
        "\nSender and outbox\n\n{}\nInvariants violated\n\n{}",
        rows(&counts),
        rows(&broken)
    );
    if let Some(seed) = report.first_failure {
        writeln!(text, "\nThe first story that violated an invariant has the seed {seed}.")
            .expect("writing to a String cannot fail");
    }
    text
}

/// One story, event by event, to analyse a failure.
fn print_story(seed: u64) -> ExitCode {
    let (report, journal) = run_scenario(0, seed, ORDERS_PER_SCENARIO, ScenarioLog::On);
    console::print(&format!("{}\n\n{}", journal.join("\n"), table(seed, &report)));
    verdict(&report)
}

fn with_progress(orders: u64, seed: u64, threads: usize) -> SimulationReport {
    let done_orders = AtomicU64::new(0);
    let audience = Audience::of_stderr();
    let mut shown = 0;
    thread::scope(|scope| {
        let (done, finished) = channel();
        let done_orders = &done_orders;
        scope.spawn(move || {
            let report = simulate(orders, seed, threads, done_orders);
            done.send(report).expect("the loop below receives until there is a report");
        });
        loop {
            match finished.recv_timeout(TICK) {
                Ok(report) => {
                    show_progress(orders, orders, audience, &mut shown);
                    return report;
                }
                Err(RecvTimeoutError::Timeout) => {
                    let done = done_orders.load(Ordering::Relaxed);
                    show_progress(done, orders, audience, &mut shown);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the simulation ended without a report")
                }
            }
        }
    })
}

/// A bar on a terminal, else a line every few percent. `shown` is the last line's percentage.
fn show_progress(done: u64, orders: u64, audience: Audience, shown: &mut u64) {
    let percent = done * 100 / orders;
    match audience {
        Audience::Pipe if percent < *shown + PROGRESS_PERCENT => {}
        Audience::Pipe => {
            *shown = percent;
            console::print_error(&format!("{done} of {orders} orders\n"));
        }
        Audience::Terminal => {
            let repeat = |sign: &str, times: u64| sign.repeat(usize::try_from(times).unwrap_or(0));
            let full = done * BAR_WIDTH / orders;
            let bar = repeat("█", full) + &repeat("░", BAR_WIDTH - full);
            let end = if done == orders { "\n" } else { "" };
            console::print_error(&format!("\r{bar} {done} of {orders} orders{end}"));
        }
    }
}

/// The same on every machine for the same seed.
fn table(seed: u64, report: &SimulationReport) -> String {
    let mut text = format!("Simulation, seed {seed}\n\n");
    let mut row = |label: &str, count: u64| {
        writeln!(text, "  {label:<62} {count:>10}").expect("writing to a String cannot fail");
    };
    for count in SimulationCount::ALL {
        row(count.words(), report.get(*count));
    }
    text.push_str("\nInvariants violated\n\n");
    let mut row = |label: String, count: u64| {
        writeln!(text, "  {label:<62} {count:>10}").expect("writing to a String cannot fail");
    };
    for breach in Breach::ALL {
        row(breach.to_string(), report.breaches.get(&breach).copied().unwrap_or_default());
    }
    if let Some(failed) = &report.first_failure {
        let named: Vec<_> = failed
            .breaches
            .iter()
            .map(|(breach, order)| match order {
                Some(order) => format!("{breach} (order {order})"),
                None => breach.to_string(),
            })
            .collect();
        let (story, seed) = (failed.number, failed.seed);
        write!(
            text,
            "\nStory {story} violated an invariant: {}.\nPrint it event by event:\n\n  pennyblack \
             simulate --story --seed {seed}\n",
            named.join(", ")
        )
        .expect("writing to a String cannot fail");
    }
    text
}

fn verdict(report: &SimulationReport) -> ExitCode {
    if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[expect(clippy::disallowed_methods, reason = "only printed; no decision depends on it")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use order::model::ids::OrderId;
    use order::testing::simulation::report::FailedScenario;

    #[test]
    fn a_clean_table_is_the_same_for_the_same_seed() {
        let report = || with_progress(40, 7, 2);
        assert_eq!(table(7, &report()), table(7, &report()));
        assert!(table(7, &report()).contains("orders charged twice"));
    }

    #[test]
    fn a_failure_prints_the_seed_that_replays_it() {
        let order = OrderId::from_bytes([7; 16]);
        let breaches = vec![(Breach::DoubleCard, Some(order))];
        let failed = FailedScenario { number: 3, seed: 99, breaches };
        let report =
            SimulationReport { first_failure: Some(failed), ..SimulationReport::default() };
        let text = table(1, &report);
        assert!(text.contains("simulate --story --seed 99"), "{text}");
        assert!(text.contains(&order.to_string()), "{text}");
    }
}
