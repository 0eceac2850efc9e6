//! A shutdown while the reconciler hands a card in: it finishes what it has begun.

use std::fs;

use adapters::keys::Keyring;
use adapters::store::sqlite::SqliteStore;
use order::lifecycle::Stored;
use order::model::ids::OrderId;
use order::ports::Store;
use sandbox::provider::PostOffice;
use sandbox::provider::fault::kind::Kind;
use sandbox::provider::fault::operation::Operation;
use sandbox::provider::fault::rule::Rule;
use sandbox::provider::settings::Settings;
use tempfile::TempDir;

use super::{card, speaking};
use crate::house::{House, pennyblack, until};

/// Between two bytes of the provider's answer, which takes some seconds in all.
const MILLISECONDS: u64 = 3;

/// Pays for a card with the command, and says its order.
fn pay(house: &House) -> OrderId {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("card.json"), card().to_string()).unwrap();
    let chain = fs::read_to_string(house.folder().join("data/sandbox-chain")).unwrap();
    let shop = format!("http://{}", house.address);
    let mut command = pennyblack(&folder, "", &[]);
    command.args(["pay", "--body", "card.json", "--base-url", &shop, "--sandbox", chain.trim()]);
    let paid = command.output().unwrap();
    let text = String::from_utf8([paid.stdout, paid.stderr].concat()).unwrap();
    assert!(text.contains("fulfillment_needs_reconciliation"), "{text}");
    let id = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    id.filter_map(|word| word.parse().ok()).next().unwrap_or_else(|| panic!("no order in {text}"))
}

/// The order as the ended service has left it.
async fn stored(house: &House, id: OrderId) -> Stored {
    let data = house.folder().join("data");
    let keys = Keyring::load_or_create(&data.join("pennyblack.key")).unwrap();
    let store = SqliteStore::open(&data.join("pennyblack.sqlite3"), &keys).unwrap();
    let order = store.find(id).await.unwrap().unwrap();
    store.close().await.unwrap();
    order
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_is_being_handed_in_again_at_a_shutdown_is_mailed_and_said_to_be() {
    let office = PostOffice::open(Settings::default()).await.unwrap();
    // The first attempt is refused, and the second one takes seconds.
    let send = |kind| Rule::new(kind).on(Operation::Send).once();
    office.add_fault(send(Kind::RateLimited));
    office.add_fault(send(Kind::SlowHeaders).milliseconds(MILLISECONDS));
    let settings = format!("{}office = \"{}\"\n", speaking("lob"), office.base_url());
    let (house, order) = tokio::task::block_in_place(|| {
        let mut house = House::open(&settings);
        let order = pay(&house);
        until("the card is handed in again", || (office.report().accepted == 1).then_some(()));
        house.signal("TERM");
        house.wait_until_it_takes_nobody();
        assert!(house.is_running(), "it waits for the provider's answer");
        assert!(house.wait_for_end().success());
        assert!(house.log().contains("nobody was left"), "{}", house.log());
        (house, order)
    });
    let left = stored(&house, order).await;
    assert!(matches!(left, Stored::Mailed(_)), "{}", left.headline());
    assert_eq!(office.report().accepted, 1);
    office.close().await.unwrap();
}
