//! What calls leave in the metrics and in the client's memory.

use metrics::set_default_local_recorder;
use metrics_exporter_prometheus::PrometheusBuilder;

use super::*;
use crate::measurements::OUTSIDE_CALLS;

#[tokio::test]
async fn a_call_is_counted_by_peer_and_outcome_and_the_last_outcome_is_kept() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let _recording = set_default_local_recorder(&recorder);
    let client = client();
    let call = |address: &HttpUrl| HttpCall::get("the test", address.clone()).within(SOON);
    assert_eq!(client.last_outcome("the test"), None);

    let unavailable = "HTTP/1.1 503 Unavailable\r\ncontent-length: 0\r\n\r\n";
    let answering = serving(unavailable).await;
    client.send(call(&answering).within(PATIENTLY)).await.unwrap();
    assert_eq!(client.last_outcome("the test"), Some(OutsideOutcome::Answered));

    let (listener, closed) = listen().await;
    drop(listener);
    client.send(call(&closed).within(PATIENTLY)).await.unwrap_err();
    assert_eq!(client.last_outcome("the test"), Some(OutsideOutcome::Refused));

    let silent = serving("").await;
    client.clone().send(call(&silent)).await.unwrap_err();
    assert_eq!(client.last_outcome("the test"), Some(OutsideOutcome::Lost), "clones share it");
    assert_eq!(client.last_outcome("another"), None);

    let text = recorder.handle().render();
    for outcome in ["answered", "refused", "lost"] {
        let line = format!("{OUTSIDE_CALLS}{{peer=\"test\",outcome=\"{outcome}\"}} 1\n");
        assert!(text.contains(&line), "{line}: {text}");
    }
}
