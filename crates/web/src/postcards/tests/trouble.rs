//! Money on its way when the answer takes too long, the caller leaves, or something breaks.

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::*;
use crate::guard::REQUEST_TIME;

/// What happens to whoever carries the money, before anything moves.
#[derive(Clone)]
pub(super) enum Trouble {
    Never,
    /// Until somebody lets them pass.
    Waits(Arc<Semaphore>),
    Breaks,
}

impl Trouble {
    pub(super) async fn comes(&self) {
        match self {
            Self::Never => {}
            Self::Waits(gate) => gate.acquire().await.unwrap().forget(),
            Self::Breaks => panic!("on purpose"),
        }
    }
}

fn transfers(site: &Site) -> usize {
    site.world.chain.lock().unwrap().transfers.len()
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_takes_too_long_is_given_up_and_the_payment_goes_on() {
    for path in [X402, MPP] {
        let gate = Arc::new(Semaphore::new(0));
        let site = site_with(&Trouble::Waits(gate.clone()));
        let asked = Instant::now();
        let (late, told) = ask_at(&site, path, Method::POST, &[coin(&site)]).await;
        assert_eq!(asked.elapsed(), REQUEST_TIME);
        assert_eq!(late.status(), StatusCode::SERVICE_UNAVAILABLE, "{told}");
        assert_eq!(told["error"]["code"], "request_timed_out");
        assert_eq!(transfers(&site), 0);
        gate.add_permits(1);
        assert_eq!(site.walks.finish(REQUEST_TIME).await, 0);
        let (again, _) = ask_at(&site, path, Method::POST, &[]).await;
        assert_eq!((again.status(), transfers(&site)), (StatusCode::OK, 1), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_hangs_up_has_paid_all_the_same() {
    for path in [X402, MPP] {
        let gate = Arc::new(Semaphore::new(0));
        let site = site_with(&Trouble::Waits(gate.clone()));
        let payment = [coin(&site)];
        let asked = ask_at(&site, path, Method::POST, &payment);
        assert!(timeout(REQUEST_TIME / 2, asked).await.is_err());
        gate.add_permits(1);
        assert_eq!(site.walks.finish(REQUEST_TIME).await, 0);
        let (again, _) = ask_at(&site, path, Method::POST, &[]).await;
        assert_eq!((again.status(), transfers(&site)), (StatusCode::OK, 1), "{path}");
    }
}

#[tokio::test]
async fn what_breaks_while_money_may_move_asks_nobody_to_pay_again() {
    for path in [X402, MPP] {
        let site = site_with(&Trouble::Breaks);
        let (broken, told) = ask_at(&site, path, Method::POST, &[coin(&site)]).await;
        assert_eq!(broken.status(), StatusCode::INTERNAL_SERVER_ERROR, "{told}");
        let (again, told) = ask_at(&site, path, Method::POST, &[]).await;
        assert_eq!(again.status(), StatusCode::CONFLICT, "{path}: {told}");
    }
}
