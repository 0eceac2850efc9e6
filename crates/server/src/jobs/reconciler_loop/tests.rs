//! Tests of the loop: overlapping runs, and the log lines of alerts.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use order::checkout::Request;
use order::model::mail::Promises;
use order::model::payment::TenderKind;
use order::testing::fakes::cards::card;
use order::testing::fakes::fault_schedule::{FaultSchedule, SimulatedFault};
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::process::FakeProcess;
use order::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};
use order::testing::fakes::world::{FakeWorld, SimulatedTime};
use tokio::time::timeout;

use super::*;

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };

struct NoFaults;

impl FaultSchedule for NoFaults {
    fn choose(&mut self, _: &[SimulatedFault]) -> SimulatedFault {
        SimulatedFault::None
    }
}

/// Time in which one request is never answered.
#[derive(Clone, Default)]
struct OneRequestHangs {
    time: ManualTime,
    next_hangs: Arc<AtomicBool>,
}

#[async_trait]
impl SimulatedTime for OneRequestHangs {
    fn elapsed(&self) -> u64 {
        self.time.elapsed()
    }

    async fn network_delay(&self) {
        if self.next_hangs.swap(false, Ordering::Relaxed) {
            pending().await
        }
    }

    async fn wait(&self, milliseconds: u64) {
        sleep(Duration::from_millis(milliseconds)).await;
    }
}

/// Pays for a card, which is mailed at once.
async fn mail(world: &Arc<FakeWorld>, process: &FakeProcess, nonce: u64) {
    let deadline = world.time().0 + CREDENTIAL_SECONDS;
    let signed = FakeCredential { nonce, most: 3_500_000, deadline, payee: 0xa1 };
    let (seller, operation_id, credential) = (None, None, Some(signed.credential()));
    let card = card(&format!("card {nonce}"));
    let request = Request { seller, operation_id, card, quote: None, credential };
    let _ = process.send(&world.tender(TenderKind::X402), request).await;
    assert!(world.store.orders().iter().all(|order| order.headline() == "mailed"));
}

fn examined(world: &FakeWorld) -> usize {
    world.store.orders().iter().filter(|order| order.attention().looks > 0).count()
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_does_not_delay_the_next_run() {
    let hanging = OneRequestHangs::default();
    let world = FakeWorld::new(Box::new(NoFaults), Box::new(hanging.clone()), PROMISES);
    let process = world.process();
    mail(&world, &process, 1).await;
    hanging.time.advance(60);
    mail(&world, &process, 2).await;
    // The first card is due, the second is not.
    hanging.time.advance(90);
    hanging.next_hangs.store(true, Ordering::Relaxed);
    let _reconciler = ReconcilerLoop::start(process.reconciler, world.tenders());
    let hangs = async {
        while hanging.next_hangs.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(60), hangs).await.unwrap();
    assert_eq!(examined(&world), 0);
    hanging.time.advance(60);
    let examines_the_second = async {
        while examined(&world) == 0 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(60), examines_the_second).await.unwrap();
}

#[test]
fn the_runbook_quotes_the_log_line_of_every_alert() {
    let runbook = include_str!("../../../../../docs/operate/alerts.md");
    for kind in [
        AlertKind::Payment,
        AlertKind::RefusedCard,
        AlertKind::CardInDoubt,
        AlertKind::Finality,
        AlertKind::Reversed,
        AlertKind::ReversedElsewhere(None),
        AlertKind::Undelivered,
        AlertKind::RefundDue,
    ] {
        let line = format!("> {}\n", alert_text(&kind));
        assert!(runbook.contains(&line), "{kind:?}: {line}");
    }
}
