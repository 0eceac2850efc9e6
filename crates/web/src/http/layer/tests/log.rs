//! The log line of a request, and what it must not contain.

use std::fmt::Debug;
use std::sync::{Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context as LayerContext, Layer as SubscriberLayer, SubscriberExt};
use tracing_subscriber::registry;

use super::*;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// One subscriber for the whole test process, because tracing caches the interest of an event
/// process-wide. Tests select their lines by request id.
fn record_logs() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        tracing::subscriber::set_global_default(registry().with(Recorder)).unwrap();
    });
}

struct Recorder;

impl<S: Subscriber> SubscriberLayer<S> for Recorder {
    fn on_event(&self, event: &Event<'_>, _: LayerContext<'_, S>) {
        let mut line = Line(format!("{} {}", event.metadata().level(), event.metadata().target()));
        event.record(&mut line);
        LINES.lock().unwrap().push(line.0);
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!(" {field}={value:?}"));
    }
}

fn lines_with(mark: &str) -> Vec<String> {
    LINES.lock().unwrap().iter().filter(|line| line.contains(mark)).cloned().collect()
}

async fn line_of(method: Method, path: &str) -> String {
    record_logs();
    let response = send(ask(method, path).body(Body::empty()).unwrap()).await;
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let lines = lines_with(&id);
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines[0].replace(&id, "ID")
}

#[tokio::test(start_paused = true)]
async fn a_request_is_logged_once_with_its_route_pattern() {
    assert_eq!(
        line_of(Method::GET, "/orders/cafe?to=Ada").await,
        r#"INFO request message=answered method="GET" route="/orders/{order}" status=200 duration_ms=0 request_id="ID""#
    );
    assert_eq!(
        line_of(Method::GET, "/stuck").await,
        r#"WARN request message=failed method="GET" route="/stuck" status=503 duration_ms=30000 request_id="ID""#
    );
}

#[tokio::test]
async fn the_log_line_contains_no_text_of_the_caller() {
    let method = Method::from_bytes(b"CANARY").unwrap();
    for path in ["/canary?canary=canary", "/orders/canary?canary"] {
        let line = line_of(method.clone(), path).await;
        assert!(!line.to_lowercase().contains("canary"), "{line}");
        assert!(line.contains(r#"method="(other)""#), "{line}");
    }
}

#[tokio::test]
async fn a_disconnect_is_logged() {
    record_logs();
    // No other test disconnects from this route.
    let disconnected = r#"route="/stuck" status=499"#;
    let before = lines_with(disconnected).len();
    let request = ask(Method::GET, "/stuck").body(Body::empty()).unwrap();
    let waiting = tokio::spawn(send(request));
    tokio::task::yield_now().await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert_eq!(lines_with(disconnected).len(), before + 1);
}
