//! `pennyblack simulate`: a million orders in bad weather, with a table at the end.

use std::fmt::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use adapters::settlement::model::{self, SenderBreach, SenderReport};
use order::testing::fakes::audit::Breach;
use order::testing::simulation::report::{Count, Report};
use order::testing::simulation::story::{Journal, tell};
use order::testing::simulation::{ORDERS_IN_A_STORY, run as simulate};

use crate::cli::SimulateArguments;
use crate::console::{self, Audience};

/// How often the progress bar moves.
const TICK: Duration = Duration::from_millis(200);
const BAR_WIDTH: u64 = 40;
/// A payment of the sender's model takes as long as some tens of orders.
const ORDERS_A_PAYMENT: u64 = 50;

pub(crate) fn run(arguments: SimulateArguments) -> ExitCode {
    let SimulateArguments { orders, seed, threads, story } = arguments;
    if story {
        return tell_one(seed);
    }
    let begun = now();
    let report = with_progress(orders.get(), seed, threads.get());
    let sender = model::run(orders.get().div_ceil(ORDERS_A_PAYMENT), seed);
    let taken = begun.elapsed().as_secs();
    console::complain(&format!("{} orders in {taken} s on {threads} threads\n", orders.get()));
    console::say(&table(seed, &report));
    console::say(&sender_table(&sender));
    if sender.is_clean() { verdict(&report) } else { ExitCode::FAILURE }
}

/// What happened to senders that crash and lose their lease, and which rules they broke.
fn sender_table(report: &SenderReport) -> String {
    let counts = [
        ("payments handed to senders", report.payments),
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
        let line = |(words, count): &(&str, u64)| format!("  {words:<62} {count:>10}\n");
        rows.iter().map(line).collect::<String>()
    };
    let mut text =
        format!("\nSender and outbox\n\n{}\nRules broken\n\n{}", rows(&counts), rows(&broken));
    if let Some(seed) = report.first_failure {
        writeln!(text, "\nThe first story that broke a rule has the seed {seed}.")
            .expect("a String takes every text");
    }
    text
}

/// One story, event by event, for whoever wants to know why it went wrong.
fn tell_one(seed: u64) -> ExitCode {
    let (report, journal) = tell(0, seed, ORDERS_IN_A_STORY, Journal::Kept);
    console::say(&format!("{}\n\n{}", journal.join("\n"), table(seed, &report)));
    verdict(&report)
}

fn with_progress(orders: u64, seed: u64, threads: usize) -> Report {
    let told = AtomicU64::new(0);
    let audience = Audience::of_stderr();
    thread::scope(|scope| {
        let (done, finished) = channel();
        let told = &told;
        scope.spawn(move || done.send(simulate(orders, seed, threads, told)));
        loop {
            match finished.recv_timeout(TICK) {
                Ok(report) => {
                    show_progress(orders, orders, audience);
                    return report;
                }
                Err(RecvTimeoutError::Timeout) => {
                    show_progress(told.load(Ordering::Relaxed), orders, audience);
                }
                Err(RecvTimeoutError::Disconnected) => panic!("the simulation broke off"),
            }
        }
    })
}

/// On a terminal only: a log has no use for a bar.
fn show_progress(told: u64, orders: u64, audience: Audience) {
    match audience {
        Audience::Pipe => {}
        Audience::Terminal => {
            let repeat = |sign: &str, times: u64| sign.repeat(usize::try_from(times).unwrap_or(0));
            let full = told * BAR_WIDTH / orders;
            let bar = repeat("█", full) + &repeat("░", BAR_WIDTH - full);
            let end = if told == orders { "\n" } else { "" };
            console::complain(&format!("\r{bar} {told} of {orders} orders{end}"));
        }
    }
}

/// The same for the same seed, whatever the machine.
fn table(seed: u64, report: &Report) -> String {
    let mut text = format!("Simulation, seed {seed}\n\n");
    let mut row = |words: &str, count: u64| {
        writeln!(text, "  {words:<62} {count:>10}").expect("a String takes every text");
    };
    for count in Count::ALL {
        row(count.words(), report.get(*count));
    }
    text.push_str("\nPromises broken\n\n");
    let mut row = |words: String, count: u64| {
        writeln!(text, "  {words:<62} {count:>10}").expect("a String takes every text");
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
        let (story, seed) = (failed.story, failed.seed);
        write!(
            text,
            "\nStory {story} broke a promise: {}.\nTell it again, event by event:\n\n  pennyblack \
             simulate --story --seed {seed}\n",
            named.join(", ")
        )
        .expect("a String takes every text");
    }
    text
}

fn verdict(report: &Report) -> ExitCode {
    if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[expect(clippy::disallowed_methods, reason = "a person waits; nothing is decided by it")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use order::model::ids::OrderId;
    use order::testing::simulation::report::Failed;

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
        let failed = Failed { story: 3, seed: 99, breaches };
        let report = Report { first_failure: Some(failed), ..Report::default() };
        let text = table(1, &report);
        assert!(text.contains("simulate --story --seed 99"), "{text}");
        assert!(text.contains(&order.to_string()), "{text}");
    }
}
