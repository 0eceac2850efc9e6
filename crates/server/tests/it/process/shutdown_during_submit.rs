//! A shutdown while the reconciler submits a card: the submission is completed.

use std::fs;

use adapters::keys::Keyring;
use adapters::store::sqlite::SqliteStore;
use order::lifecycle::Stored;
use order::model::ids::OrderId;
use order::ports::Store;
use sandbox::provider::ProviderEmulator;
use sandbox::provider::fault::kind::ProviderFault;
use sandbox::provider::fault::operation::ProviderOperation;
use sandbox::provider::fault::rule::ProviderFaultRule;
use sandbox::provider::state::settings::ProviderSettings;
use tempfile::TempDir;

use crate::fixture::sandbox::{card, with_dialect};
use crate::fixture::test_app::{TestApp, pennyblack, until};

/// Between two bytes of the provider's response, which takes some seconds in total.
const MILLISECONDS: u64 = 3;

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

/// The order in the store of the ended service.
async fn stored(app: &TestApp, id: OrderId) -> Stored {
    let data = app.folder().join("data");
    let keys = Keyring::load_or_create(&data.join("pennyblack.key")).unwrap();
    let store = SqliteStore::open(&data.join("pennyblack.sqlite3"), &keys).unwrap();
    let order = store.find(id).await.unwrap().unwrap();
    store.close().await.unwrap();
    order
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_is_submitted_again_during_a_shutdown_is_recorded_as_mailed() {
    let office = ProviderEmulator::open(ProviderSettings::default()).await.unwrap();
    // The first attempt is refused, and the second one takes seconds.
    let send = |kind| ProviderFaultRule::new(kind).on(ProviderOperation::Send).once();
    office.add_fault(send(ProviderFault::RateLimited));
    office.add_fault(send(ProviderFault::SlowHeaders).milliseconds(MILLISECONDS));
    let settings = format!("{}office = \"{}\"\n", with_dialect("lob"), office.base_url());
    let (app, order) = tokio::task::block_in_place(|| {
        let mut app = TestApp::start(&settings);
        let order = pay(&app);
        until("the card is submitted again", || (office.report().accepted == 1).then_some(()));
        app.signal("TERM");
        app.wait_until_connections_are_refused();
        assert!(app.is_running(), "it waits for the provider's response");
        assert!(app.wait_for_exit().success());
        assert!(app.log().contains("shutdown complete"), "{}", app.log());
        (app, order)
    });
    let left = stored(&app, order).await;
    assert!(matches!(left, Stored::Mailed(_)), "{}", left.headline());
    assert_eq!(office.report().accepted, 1);
    office.close().await.unwrap();
}
