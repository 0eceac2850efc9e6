//! Random disturbances: crashes, clock errors, reorganisations, price and address changes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::report::SimulationCount;
use super::scenario::{Scenario, SimulatedProcess};
use crate::lifecycle::Stored;
use crate::model::money::Cents;
use crate::testing::fakes::chain::PayerReaction;

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
const TEN_YEARS: i64 = 3_652 * DAY;
const CLOCK_ERRORS: [(i64, &str); 9] = [
    (0, "is right"),
    (40, "is 40 s ahead"),
    (-40, "is 40 s behind"),
    (HOUR, "is 1 h ahead"),
    (-HOUR, "is 1 h behind"),
    (DAY, "is 1 day ahead"),
    (-DAY, "is 1 day behind"),
    (TEN_YEARS, "is 10 years ahead"),
    (-TEN_YEARS, "is 10 years behind"),
];

/// Runs until faults are disabled.
pub(super) async fn run(scenario: Arc<Scenario>) {
    let calm = scenario.random(|rng| rng.pick(&[8_000, 40_000, 200_000]));
    loop {
        let pause = scenario.random(|rng| rng.between(calm / 4, calm * 2));
        scenario.executor.sleep(pause).await;
        if !scenario.faults_enabled.load(Ordering::Relaxed) {
            return;
        }
        match scenario.random(|rng| rng.below(100)) {
            0..40 => crash_one(&scenario),
            40..60 => change_clock_error(&scenario),
            60..85 => reorganise(&scenario),
            85..92 => change_the_price(&scenario),
            92..96 => mark_one_dead(&scenario),
            96..98 => fail_a_card(&scenario),
            _ => move_the_seller(&scenario),
        }
    }
}

fn crash_one(scenario: &Arc<Scenario>) {
    let groups: Vec<_> =
        scenario.processes.lock().unwrap().iter().map(|process| process.group).collect();
    if !groups.is_empty() {
        scenario.world.count_for("process", "is killed", |_| true);
        scenario.crash(scenario.random(|rng| rng.pick(&groups)));
    }
}

/// The heartbeat of one process is missing for a while; the process goes on working.
fn mark_one_dead(scenario: &Arc<Scenario>) {
    let workers: Vec<_> = scenario
        .processes
        .lock()
        .unwrap()
        .iter()
        .map(|process| process.process.writer().worker)
        .collect();
    if workers.is_empty() {
        return;
    }
    let worker = scenario.random(|rng| rng.pick(&workers));
    let pause = scenario.random(|rng| rng.between(2_000, 60_000));
    scenario.world.store.mark_dead(worker);
    scenario.world.count_for("process", "is taken for dead", |_| true);
    scenario.log(|| format!("worker {worker} is taken for dead"));
    let later = scenario.clone();
    scenario.executor.spawn(Scenario::OUTSIDE, async move {
        later.executor.sleep(pause).await;
        let lives = |process: &SimulatedProcess| process.process.writer().worker == worker;
        if later.processes.lock().unwrap().iter().any(lives) {
            later.world.store.mark_alive(worker);
        }
    });
}

fn change_clock_error(scenario: &Scenario) {
    let (error, words) = scenario.random(|rng| rng.pick(&CLOCK_ERRORS));
    let world = &scenario.world;
    world.count_for("clock", words, |_| true);
    if error < *world.clock_error.lock().unwrap() {
        let is_claimed = |order: &Stored| order.attention().worker.is_some();
        world.count_for("clock", "goes back during a claim", is_claimed);
    }
    world.set_clock_error(error);
    scenario.count(SimulationCount::ClockJumps);
    scenario.log(|| format!("our clock is wrong by {error} s"));
}

fn reorganise(scenario: &Scenario) {
    let burn = scenario.random(|rng| rng.happens(100));
    let payers =
        if burn { PayerReaction::CancelAuthorization } else { PayerReaction::KeepAuthorization };
    let now = scenario.world.time();
    let keys = scenario.world.chain.lock().unwrap().not_final(now);
    let words = if burn { "takes back for good" } else { "takes back" };
    scenario.world.count_for("chain", words, |order| {
        order.payment_keys().iter().any(|key| keys.contains(key))
    });
    let taken = scenario.world.chain.lock().unwrap().reorganise(now, payers);
    scenario.count(SimulationCount::Reorganisations);
    let count = if burn { SimulationCount::CancelledByPayer } else { SimulationCount::TakenBack };
    scenario.report.lock().unwrap().add(count, taken);
    scenario.log(|| format!("the chain takes back {taken} transfers; payers: {payers:?}"));
}

fn change_the_price(scenario: &Scenario) {
    let total = Cents(scenario.random(|rng| rng.between(80, 310)));
    scenario.world.provider.lock().unwrap().total = total;
    scenario.world.count_for("price", "changes", |_| true);
    scenario.log(|| format!("a card now costs {} cents", total.0));
}

/// A card that the provider accepted will not arrive.
fn fail_a_card(scenario: &Scenario) {
    let mut provider = scenario.world.provider.lock().unwrap();
    let live: Vec<_> = provider.mailpieces.iter_mut().filter(|card| !card.cancelled).collect();
    let count = u64::try_from(live.len()).expect("a length fits 64 bits");
    if count == 0 {
        return;
    }
    let chosen = usize::try_from(scenario.random(|rng| rng.below(count))).expect("below a length");
    let Some(card) = live.into_iter().nth(chosen) else { return };
    card.failed = true;
    let order = card.order;
    drop(provider);
    scenario.world.count_for("provider", "fails a card", |stored| stored.id() == order);
    scenario.log(|| format!("the card of {order} will not arrive"));
}

fn move_the_seller(scenario: &Scenario) {
    *scenario.world.seller_address.lock().unwrap() ^= 0x13;
    scenario.count(SimulationCount::AddressChanges);
    scenario.world.count_for("seller", "moves", |_| true);
    scenario.log(|| "the seller moves".into());
}
