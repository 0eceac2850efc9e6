//! One story: a few payers, one or two processes, a reconciler in each, and bad weather.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::executor::{Executor, Group, Stage};
use super::report::{Count, Failed, Report};
use super::{payer, weather};
use crate::checkout::Desk;
use crate::lifecycle::event::Event;
use crate::lifecycle::{Shortfall, Standing, Stored};
use crate::model::mail::Promises;
use crate::model::payment::Credential;
use crate::ports::TidyLimits;
use crate::testing::fakes::fates::{ByDice, Dice, Fate, Fates};
use crate::testing::fakes::world::{Pace, World};

/// The weather clears when the payers have left, and after this long at the
/// latest, in milliseconds.
const BAD_WEATHER: u64 = 30 * 60 * 1_000;
/// Bad weather that the reconciler has to itself, in milliseconds.
const AFTERMATH: u64 = 4 * 60 * 1_000;
/// How long the house has to put everything right, in milliseconds. A clock
/// that ran a day ahead may have put a look off by a day.
const RECOVERY: u64 = 3 * 24 * 60 * 60 * 1_000;
/// How often a debt is looked at in vain before we take it that only a person
/// can pay it.
const LOOKS_OF_A_DEBT: u32 = 12;

/// What everybody in a story shares.
pub struct Scene {
    pub world: Arc<World>,
    pub stage: Arc<Stage>,
    pub dice: Mutex<Dice>,
    pub report: Mutex<Report>,
    pub journal: Option<Mutex<Vec<String>>>,
    pub instances: Mutex<Vec<Instance>>,
    pub bad_weather: Arc<AtomicBool>,
    pub nonces: AtomicU64,
    /// Everything that anybody ever signed: somebody may use it for another card.
    pub signed: Mutex<Vec<Credential>>,
    pub payers: AtomicU64,
    groups: AtomicU64,
}

/// Whether what happens is written down for a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journal {
    None,
    Kept,
}

/// One process of the house, while it lives.
#[derive(Clone)]
pub struct Instance {
    pub desk: Arc<Desk>,
    pub group: Group,
}

impl Scene {
    pub fn roll<T>(&self, roll: impl FnOnce(&mut Dice) -> T) -> T {
        roll(&mut self.dice.lock().unwrap())
    }

    pub fn count(&self, count: Count) {
        self.report.lock().unwrap().add(count, 1);
    }

    pub fn note(&self, words: impl FnOnce() -> String) {
        if let Some(journal) = &self.journal {
            let seconds = self.stage.elapsed() / 1_000;
            journal.lock().unwrap().push(format!("{seconds:>7} s  {}", words()));
        }
    }

    fn payers_have_left(&self) -> bool {
        self.payers.load(Ordering::Relaxed) == 0
    }

    /// A process that nobody else belongs to. Payers and weather do.
    pub const NATURE: Group = Group(0);

    /// What was heard, and then what was written.
    fn told(&self) -> Vec<String> {
        let Some(journal) = &self.journal else { return Vec::new() };
        let mut journal = journal.lock().unwrap().clone();
        journal.extend(self.world.shelf.history().into_iter().map(|event| {
            let Event { order, version, at, actor, state, .. } = event;
            format!("by our clock {}  {order} version {version}: {state}, by the {actor}", at.0)
        }));
        journal
    }

    /// Starts a process, with a reconciler in it.
    pub fn start_instance(self: &Arc<Self>) {
        let group = Group(self.groups.fetch_add(1, Ordering::Relaxed) + 1);
        let desk = Arc::new(self.world.desk());
        self.instances.lock().unwrap().push(Instance { desk: desk.clone(), group });
        let scene = self.clone();
        self.stage.spawn(group, async move { scene.reconcile(&desk).await });
    }

    /// A process ends at once. It starts again a little later.
    pub fn crash(self: &Arc<Self>, group: Group) {
        let mut instances = self.instances.lock().unwrap();
        let Some(place) = instances.iter().position(|instance| instance.group == group) else {
            return;
        };
        let instance = instances.remove(place);
        drop(instances);
        self.world.shelf.bury(instance.desk.worker);
        self.count(Count::Crashes);
        self.note(|| format!("process {} crashes", group.0));
        self.stage.kill(group);
        let scene = self.clone();
        let pause = self.roll(|dice| dice.between(100, 20_000));
        self.stage.spawn(Self::NATURE, async move {
            scene.stage.sleep(pause).await;
            scene.start_instance();
        });
    }

    async fn reconcile(&self, desk: &Desk) {
        let tenders = self.world.tenders();
        loop {
            let pause = self.roll(|dice| dice.between(3_000, 7_000));
            self.stage.sleep(pause.max(self.idle_for())).await;
            let _ = desk.reconcile(&tenders, &|_| ()).await;
            if self.roll(|dice| dice.happens(100)) {
                let _ = desk.store.tidy(desk.clock.now(), TidyLimits::DEFAULT).await;
            }
        }
    }

    /// Nobody is kept waiting if the reconciler sleeps until something is due.
    fn idle_for(&self) -> u64 {
        if self.bad_weather.load(Ordering::Relaxed) {
            return 0;
        }
        let now = self.world.time();
        let due = self.world.shelf.next_due(now).map_or(u64::MAX, |due| due.0);
        due.saturating_sub(now.0).min(60 * 60) * 1_000
    }

    /// Whether all that can be put right without a person is.
    fn is_at_rest(&self) -> bool {
        let now = self.world.time();
        let quiet = self.world.chain.lock().unwrap().is_quiet(now)
            && self.world.press.lock().unwrap().is_quiet(now);
        let rests = |order: &Stored| match order {
            Stored::Offered(_) | Stored::Lapsed(_) | Stored::Refunded(_) => true,
            Stored::Settling(_) | Stored::Unconfirmed(_) | Stored::Submitting(_) => false,
            Stored::Unfulfilled(order) => match order.state.shortfall {
                Shortfall::Refused(_) => false,
                Shortfall::Lost(_) => order.attention.looks > LOOKS_OF_A_DEBT,
                Shortfall::Undelivered(_) => true,
            },
            Stored::Mailed(order) => {
                order.attention.due.is_none() || order.state.paid.standing == Standing::Reversed
            }
        };
        quiet && self.world.shelf.orders().iter().all(rests)
    }
}

/// Simulated time for the fakes: each journey takes as long as the dice say.
struct Roads {
    stage: Arc<Stage>,
    dice: Mutex<Dice>,
}

#[async_trait]
impl Pace for Roads {
    fn elapsed(&self) -> u64 {
        self.stage.elapsed()
    }

    async fn travel(&self) {
        let milliseconds = {
            let mut dice = self.dice.lock().unwrap();
            // Most journeys are short, a few take very long.
            if dice.happens(20) { dice.between(1_000, 40_000) } else { dice.between(0, 80) }
        };
        if milliseconds > 10 {
            self.stage.sleep(milliseconds).await;
        }
    }

    async fn wait(&self, milliseconds: u64) {
        self.stage.sleep(milliseconds).await;
    }
}

/// Faults while the weather is bad, and none afterwards.
struct Clearing {
    storm: ByDice,
    bad_weather: Arc<AtomicBool>,
}

impl Fates for Clearing {
    fn choose(&mut self, options: &[Fate]) -> Fate {
        if self.bad_weather.load(Ordering::Relaxed) {
            self.storm.choose(options)
        } else {
            options[0]
        }
    }
}

/// Tells one story from its seed alone.
pub fn tell(story: u64, seed: u64, orders: u64, journal: Journal) -> (Report, Vec<String>) {
    let mut dice = Dice::new(seed);
    let scene = scene(&mut dice, journal);
    let mut executor = Executor::new(scene.stage.clone(), Dice::new(dice.roll()));
    for _ in 0..dice.between(1, 2) {
        scene.start_instance();
    }
    for number in 0..orders {
        scene.count(Count::Orders);
        scene.payers.fetch_add(1, Ordering::Relaxed);
        let payer = scene.clone();
        scene.stage.spawn(Scene::NATURE, async move {
            payer::live(&payer, number).await;
            payer.payers.fetch_sub(1, Ordering::Relaxed);
        });
    }
    scene.stage.spawn(Scene::NATURE, weather::change(scene.clone()));

    let crash = |group| {
        if scene.world.has_crashed() {
            scene.crash(group);
        }
    };
    let mut until = 0;
    while until < BAD_WEATHER && !scene.payers_have_left() {
        until += 60 * 1_000;
        executor.run(until, crash);
    }
    executor.run(until + AFTERMATH, crash);
    scene.bad_weather.store(false, Ordering::Relaxed);
    scene.world.put_clock_wrong(0);
    scene.note(|| "the weather clears".into());
    let recovered = until + AFTERMATH + RECOVERY;
    until += AFTERMATH;
    while until < recovered && !scene.is_at_rest() {
        until += 10 * 60 * 1_000;
        executor.run(until, crash);
    }
    drop(executor);
    let report = conclude(&scene, story, seed);
    (report, scene.told())
}

fn scene(dice: &mut Dice, journal: Journal) -> Arc<Scene> {
    let stage = Arc::new(Stage::default());
    let bad_weather = Arc::new(AtomicBool::new(true));
    let faults_in_a_thousand = dice.pick(&[0, 20, 60, 150]);
    let storm = ByDice { dice: Dice::new(dice.roll()), faults_in_a_thousand };
    let fates = Clearing { storm, bad_weather: bad_weather.clone() };
    let roads = Roads { stage: stage.clone(), dice: Mutex::new(Dice::new(dice.roll())) };
    let promises = Promises {
        idempotent_seconds: dice.pick(&[None, Some(24 * 60 * 60)]),
        cancel_seconds: dice.pick(&[0, 60 * 60, 60 * 60]),
        visibility_lag_seconds: dice.pick(&[0, 30, 90]),
    };
    let world = World::new(Box::new(fates), Box::new(roads), promises);
    // Some providers show a card much later than they promise.
    let late = dice.pick(&[0, 0, 0, 900]);
    world.press.lock().unwrap().list_lag_seconds += late;
    Arc::new(Scene {
        world,
        stage,
        dice: Mutex::new(Dice::new(dice.roll())),
        report: Mutex::default(),
        journal: match journal {
            Journal::None => None,
            Journal::Kept => Some(Mutex::default()),
        },
        instances: Mutex::default(),
        bad_weather,
        nonces: AtomicU64::new(0),
        signed: Mutex::default(),
        payers: AtomicU64::new(0),
        groups: AtomicU64::new(0),
    })
}

/// Holds money and cards against the books.
fn conclude(scene: &Scene, story: u64, seed: u64) -> Report {
    let mut report = std::mem::take(&mut *scene.report.lock().unwrap());
    let count = |length: usize| u64::try_from(length).expect("a length fits 64 bits");
    {
        let chain = scene.world.chain.lock().unwrap();
        report.add(Count::SettleCalls, chain.settle_calls);
        report.add(Count::Charges, count(chain.transfers.len()));
        let press = scene.world.press.lock().unwrap();
        let cancelled = press.pieces.iter().filter(|piece| piece.cancelled).count();
        report.add(Count::Cards, count(press.pieces.len() - cancelled));
        report.add(Count::Cancelled, count(cancelled));
    }
    for order in scene.world.shelf.orders() {
        match order {
            Stored::Unfulfilled(order) => report.add(
                match order.state.shortfall {
                    Shortfall::Refused(_) => Count::PersonRefused,
                    Shortfall::Lost(_) => Count::PersonLost,
                    Shortfall::Undelivered(_) => Count::PersonUndelivered,
                },
                1,
            ),
            Stored::Mailed(order) if order.state.paid.standing == Standing::Reversed => {
                report.add(Count::Losses, 1);
            }
            Stored::Mailed(_)
            | Stored::Offered(_)
            | Stored::Settling(_)
            | Stored::Unconfirmed(_)
            | Stored::Submitting(_)
            | Stored::Refunded(_)
            | Stored::Lapsed(_) => {}
        }
    }
    let breaches = scene.world.audit();
    for (breach, _) in &breaches {
        *report.breaches.entry(*breach).or_default() += 1;
    }
    if !breaches.is_empty() {
        report.first_failure = Some(Failed { story, seed, breaches });
    }
    report
}
