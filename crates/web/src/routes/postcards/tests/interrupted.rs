//! Payments during which the request times out, the client disconnects or the task panics.

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::*;
use crate::http::limits::REQUEST_TIME;

fn transfers(site: &TestSite) -> usize {
    site.world.chain.lock().unwrap().transfers.len()
}

#[tokio::test(start_paused = true)]
async fn a_payment_continues_after_its_request_times_out() {
    for path in [X402, MPP] {
        let gate = Arc::new(Semaphore::new(0));
        let site = site_with(&Interruption::Waits(gate.clone()));
        let started = Instant::now();
        let (late, body) = ask_at(&site, path, Method::POST, &[coin(&site)]).await;
        assert_eq!(started.elapsed(), REQUEST_TIME);
        assert_eq!(late.status(), StatusCode::SERVICE_UNAVAILABLE, "{body}");
        assert_eq!(body["error"]["code"], "request_timed_out");
        assert_eq!(transfers(&site), 0);
        gate.add_permits(1);
        assert_eq!(site.tasks.shutdown(REQUEST_TIME).await, 0);
        let (again, _) = ask_at(&site, path, Method::POST, &[]).await;
        assert_eq!((again.status(), transfers(&site)), (StatusCode::OK, 1), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_payment_continues_after_its_client_disconnects() {
    for path in [X402, MPP] {
        let gate = Arc::new(Semaphore::new(0));
        let site = site_with(&Interruption::Waits(gate.clone()));
        let payment = [coin(&site)];
        let request = ask_at(&site, path, Method::POST, &payment);
        assert!(timeout(REQUEST_TIME / 2, request).await.is_err());
        gate.add_permits(1);
        assert_eq!(site.tasks.shutdown(REQUEST_TIME).await, 0);
        let (again, _) = ask_at(&site, path, Method::POST, &[]).await;
        assert_eq!((again.status(), transfers(&site)), (StatusCode::OK, 1), "{path}");
    }
}

#[tokio::test]
async fn a_panic_during_settlement_is_never_answered_402() {
    for path in [X402, MPP] {
        let site = site_with(&Interruption::Panics);
        let (broken, body) = ask_at(&site, path, Method::POST, &[coin(&site)]).await;
        assert_eq!(broken.status(), StatusCode::INTERNAL_SERVER_ERROR, "{body}");
        let (again, body) = ask_at(&site, path, Method::POST, &[]).await;
        assert_eq!(again.status(), StatusCode::CONFLICT, "{path}: {body}");
    }
}
