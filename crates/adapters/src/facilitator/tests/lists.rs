//! What is remembered of a facilitator's list, and when it is asked for again.

use super::*;
use pay::x402::settler::GasSponsoring;

const OTHER: &str = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const THIRD: &str = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";

fn list(facilitator: &str) -> String {
    json!({
        "kinds": [
            { "x402Version": 2, "scheme": "exact", "network": "eip155:8453" },
            { "x402Version": 1, "scheme": "upto", "network": "eip155:8453",
              "extra": { "facilitatorAddress": THIRD } },
            { "x402Version": 2, "scheme": "upto", "network": "eip155:8453",
              "extra": { "facilitatorAddress": facilitator } },
            { "x402Version": 2, "scheme": "upto", "network": "eip155:137", "extra": null },
            { "x402Version": 2, "scheme": "upto", "network": "solana:mainnet",
              "extra": { "facilitatorAddress": facilitator } },
            "a surprise",
        ],
        "extensions": ["eip2612GasSponsoring", { "key": "other" }],
        "signers": { "eip155:*": [facilitator, 7], "solana:*": ["x"], "eip155:137": [OTHER] },
    })
    .to_string()
}

#[tokio::test]
async fn nothing_is_served_before_the_first_good_list_and_the_last_one_holds() {
    let server = Server::start([
        Reply::json(503, "{}"),
        Reply::good(&list(FACILITATOR)),
        Reply::good("<html>"),
        Reply::good(&list(OTHER)),
        Reply::good("{\"kinds\":[]}"),
    ])
    .await;
    let remote = facilitator(&server.address, None, WaitRecorder::with_turns(0));
    let ours = |network, text| remote.classify_facilitator(network, address(text));
    let service = |text| {
        Some(Permit2Support { facilitator: address(text), sponsoring: GasSponsoring::Offered })
    };

    assert_eq!(remote.refresh().await, SupportedReply::Bad { retry_after: None });
    assert_eq!(remote.support(Network::Base), None);
    assert_eq!(ours(Network::Base, FACILITATOR), FacilitatorAddress::Unknown);

    remote.refresh().await;
    assert_eq!(remote.support(Network::Base), service(FACILITATOR));
    assert_eq!(remote.support(Network::Polygon), None, "an entry without an address is none");
    assert_eq!(ours(Network::Base, FACILITATOR), FacilitatorAddress::Ours);
    assert_eq!(
        ours(Network::Arbitrum, FACILITATOR),
        FacilitatorAddress::Ours,
        "the signers of all networks"
    );
    assert_eq!(ours(Network::Polygon, OTHER), FacilitatorAddress::Ours, "the signers of one");
    assert_eq!(ours(Network::Base, OTHER), FacilitatorAddress::Unknown);
    assert_eq!(
        ours(Network::Base, THIRD),
        FacilitatorAddress::Unknown,
        "another version of the protocol"
    );

    remote.refresh().await;
    assert_eq!(remote.support(Network::Base), service(FACILITATOR), "a bad list changes nothing");
    remote.refresh().await;
    assert_eq!(remote.support(Network::Base), service(OTHER));
    assert_eq!(
        ours(Network::Base, FACILITATOR),
        FacilitatorAddress::Ours,
        "an account that was named stays known"
    );
    remote.refresh().await;
    assert_eq!(remote.support(Network::Base), None);
    assert_eq!(ours(Network::Base, FACILITATOR), FacilitatorAddress::Ours);
}

#[tokio::test]
async fn without_the_extension_no_sponsoring_is_offered() {
    let kind = json!({ "x402Version": 2, "scheme": "upto", "network": "eip155:42161",
                       "extra": { "facilitatorAddress": FACILITATOR } });
    for extra in [json!({}), json!({ "extensions": null, "signers": null })] {
        let mut body = extra;
        body["kinds"] = json!([kind]);
        let server = Server::start([Reply::good(&body.to_string())]).await;
        let remote = facilitator(&server.address, None, WaitRecorder::with_turns(0));
        remote.refresh().await;
        let service = remote.support(Network::Arbitrum).unwrap();
        assert_eq!(service.sponsoring, GasSponsoring::NotOffered);
    }
}

#[tokio::test]
async fn a_list_is_asked_for_again_later_sooner_when_bad_and_as_told_when_told() {
    let busy = |seconds: &str| {
        Reply::Raw(format!("HTTP/1.1 429 X\r\nretry-after: {seconds}\r\ncontent-length: 0\r\n\r\n"))
    };
    let server = Server::start([
        Reply::json(500, "{}"),
        Reply::json(500, "{}"),
        busy("17"),
        busy("0"),
        busy("86400"),
        busy("Wed, 21 Oct 2026 07:28:00 GMT"),
        Reply::good("{\"kinds\":[]}"),
        Reply::json(500, "{}"),
    ])
    .await;
    let watch = WaitRecorder::with_turns(7);
    let remote = facilitator(&server.address, None, watch.clone());
    let fresh = remote.keep_fresh();
    let all = async {
        while watch.waits.lock().unwrap().len() < 8 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        never = fresh => match never {},
        () = all => {}
    }
    assert_eq!(*watch.waits.lock().unwrap(), [5, 10, 17, 1, 600, 60, 300, 5]);
}

#[tokio::test]
async fn a_list_is_known_after_a_restart_while_its_own_facilitator_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("facilitator-supported.json");
    let server = Server::start([
        Reply::good(&list(OTHER)),
        Reply::good(&list(FACILITATOR)),
        Reply::json(503, "{}"),
    ])
    .await;
    let start = |base: &HttpUrl| {
        facilitator(base, None, WaitRecorder::with_turns(0)).saving_in(folder.path())
    };
    let first = start(&server.address);
    assert_eq!(first.support(Network::Base), None, "nothing is there at the first start");
    first.refresh().await;
    first.refresh().await;

    let restarted = start(&server.address);
    let service =
        Permit2Support { facilitator: address(FACILITATOR), sponsoring: GasSponsoring::Offered };
    assert_eq!(restarted.support(Network::Base), Some(service));
    assert_eq!(
        restarted.classify_facilitator(Network::Base, address(OTHER)),
        FacilitatorAddress::Ours,
        "named earlier"
    );
    assert_eq!(
        restarted.classify_facilitator(Network::Base, address(THIRD)),
        FacilitatorAddress::Unknown
    );
    assert!(matches!(restarted.refresh().await, SupportedReply::Bad { .. }));
    assert_eq!(restarted.support(Network::Base), Some(service));
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "nothing but the file itself");

    let elsewhere = start(&server.address.below(&["another"]));
    assert_eq!(elsewhere.support(Network::Base), None, "another facilitator's list is no list");

    let saved = std::fs::read_to_string(&file).unwrap();
    assert!(!saved.contains(&server.address.to_text()), "a URL may hold a key");
    let later = saved.replace("\"version\": 1", "\"version\": 2");
    let wrong = saved.replace("eip155:8453", "eip155:1");
    for spoilt in ["", "{}", "[1]", &saved[..saved.len() / 2], &later, &wrong] {
        std::fs::write(&file, spoilt).unwrap();
        assert_eq!(start(&server.address).support(Network::Base), None, "{spoilt}");
    }
}
