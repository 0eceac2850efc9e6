//! What the world does by itself: crashes, wrong clocks, reorganisations, sellers who move.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::report::Count;
use super::story::{Instance, Scene};
use crate::model::money::Cents;
use crate::testing::fakes::chain::Payers;

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
const TEN_YEARS: i64 = 3_652 * DAY;

/// Goes on until the weather clears.
pub(super) async fn change(scene: Arc<Scene>) {
    let calm = scene.roll(|dice| dice.pick(&[8_000, 40_000, 200_000]));
    loop {
        let pause = scene.roll(|dice| dice.between(calm / 4, calm * 2));
        scene.stage.sleep(pause).await;
        if !scene.bad_weather.load(Ordering::Relaxed) {
            return;
        }
        match scene.roll(|dice| dice.below(100)) {
            0..40 => crash_one(&scene),
            40..60 => put_the_clock_wrong(&scene),
            60..85 => reorganise(&scene),
            85..92 => change_the_price(&scene),
            92..97 => take_one_for_dead(&scene),
            _ => move_the_seller(&scene),
        }
    }
}

fn crash_one(scene: &Arc<Scene>) {
    let groups: Vec<_> =
        scene.instances.lock().unwrap().iter().map(|instance| instance.group).collect();
    if !groups.is_empty() {
        scene.crash(scene.roll(|dice| dice.pick(&groups)));
    }
}

/// Its heartbeat does not arrive for a while, and it goes on working.
fn take_one_for_dead(scene: &Arc<Scene>) {
    let workers: Vec<_> =
        scene.instances.lock().unwrap().iter().map(|instance| instance.desk.worker).collect();
    if workers.is_empty() {
        return;
    }
    let worker = scene.roll(|dice| dice.pick(&workers));
    let pause = scene.roll(|dice| dice.between(2_000, 60_000));
    scene.world.shelf.bury(worker);
    scene.note(|| format!("worker {worker} is taken for dead"));
    let later = scene.clone();
    scene.stage.spawn(Scene::NATURE, async move {
        later.stage.sleep(pause).await;
        let lives = |instance: &Instance| instance.desk.worker == worker;
        if later.instances.lock().unwrap().iter().any(lives) {
            later.world.shelf.revive(worker);
        }
    });
}

fn put_the_clock_wrong(scene: &Scene) {
    let errors = [0, 40, -40, HOUR, -HOUR, DAY, -DAY, TEN_YEARS, -TEN_YEARS];
    let error = scene.roll(|dice| dice.pick(&errors));
    scene.world.put_clock_wrong(error);
    scene.count(Count::ClockJumps);
    scene.note(|| format!("our clock is wrong by {error} s"));
}

fn reorganise(scene: &Scene) {
    let burn = scene.roll(|dice| dice.happens(100));
    let payers = if burn { Payers::Burn } else { Payers::Stand };
    let now = scene.world.time();
    let taken = scene.world.chain.lock().unwrap().reorganise(now, payers);
    scene.count(Count::Reorganisations);
    let count = if burn { Count::Burned } else { Count::TakenBack };
    scene.report.lock().unwrap().add(count, taken);
    scene.note(|| format!("the chain takes back {taken} transfers; payers: {payers:?}"));
}

fn change_the_price(scene: &Scene) {
    let total = Cents(scene.roll(|dice| dice.between(80, 310)));
    scene.world.press.lock().unwrap().total = total;
    scene.note(|| format!("a card now costs {} cents", total.0));
}

fn move_the_seller(scene: &Scene) {
    *scene.world.seller_address.lock().unwrap() ^= 0x13;
    scene.count(Count::AddressChanges);
    scene.note(|| "the seller moves".into());
}
