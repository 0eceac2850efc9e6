//! A shutdown while the reconciler submits a card: the submission is completed.

use std::fs;
use std::sync::Arc;

use order::lifecycle::Stored;
use order::model::ids::OrderId;
use sandbox::provider::ProviderEmulator;
use sandbox::provider::fault::kind::ProviderFault;
use sandbox::provider::fault::operation::ProviderOperation;
use sandbox::provider::fault::rule::ProviderFaultRule;
use sandbox::provider::state::settings::ProviderSettings;
use tempfile::TempDir;

use crate::fixture::holding_relay::HoldingRelay;
use crate::fixture::sandbox::{card, with_dialect};
use crate::fixture::store::stored_order;
use crate::fixture::test_app::{TestApp, pennyblack, until};

/// Pays for a card with `pennyblack pay`, and returns its order.
fn pay(app: &TestApp) -> OrderId {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("card.json"), card().to_string()).unwrap();
    let chain = fs::read_to_string(app.folder().join("data/sandbox-chain")).unwrap();
    let shop = format!("http://{}", app.address);
    let mut command = pennyblack(&folder, "", &[]);
    command.args(["pay", "--body", "card.json", "--base-url", &shop, "--sandbox", chain.trim()]);
    let paid = command.output().unwrap();
    let text = String::from_utf8([paid.stdout, paid.stderr].concat()).unwrap();
    assert!(text.contains("fulfillment_needs_reconciliation"), "{text}");
    let id = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    id.filter_map(|word| word.parse().ok()).next().unwrap_or_else(|| panic!("no order in {text}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_is_submitted_again_during_a_shutdown_is_recorded_as_mailed() {
    let provider = ProviderEmulator::open(ProviderSettings::default()).await.unwrap();
    let provider = Arc::new(provider);
    let relay = HoldingRelay::open(provider.clone()).await;
    // The first attempt is refused, and the response to the second one is held back.
    let refused = ProviderFaultRule::new(ProviderFault::RateLimited);
    provider.add_fault(refused.on(ProviderOperation::Send).once());
    let settings = format!("{}provider = \"http://{}\"\n", with_dialect("lob"), relay.address);
    let (app, order) = tokio::task::block_in_place(|| {
        let mut app = TestApp::start(&settings);
        let order = pay(&app);
        until("the card is submitted again", || (provider.report().accepted == 1).then_some(()));
        app.signal("TERM");
        app.wait_until_connections_are_refused();
        assert!(app.is_running(), "it waits for the provider's response");
        relay.release();
        assert!(app.wait_for_exit().success());
        assert!(app.log().contains("shutdown complete"), "{}", app.log());
        (app, order)
    });
    let left = stored_order(&app.folder().join("data"), order).await;
    assert!(matches!(left, Stored::Mailed(_)), "{}", left.headline());
    assert_eq!(provider.report().accepted, 1);
}
