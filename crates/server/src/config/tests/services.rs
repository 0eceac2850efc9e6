//! The sections names, provider, payments and sandbox.

use super::*;
use crate::config::payments::PaymentsConfig;
use crate::config::provider::ProviderConfig;
use crate::config::values::BaseUrl;

#[test]
fn ens_requires_one_node_or_two_different_ones_and_their_keys_are_not_shown() {
    let fixture = ConfigFixture::new();
    let ens = |rpc: &str| {
        fixture.read(&format!("[provider]\nkind = 'none'\n[names]\nkind = 'ens'\n{rpc}"))
    };
    for faulty in [
        "",
        "rpc = []",
        "rpc = ['rpc.example']",
        "rpc = ['http://rpc.example']",
        "rpc = ['https://a.example', 'https://a.example']",
        "rpc = ['https://a.example', 'https://b.example', 'https://c.example']",
    ] {
        assert_eq!(invalid_keys(&ens(faulty)), ["names.rpc"], "{faulty}");
    }
    let two = ens("rpc = ['https://a.example/secret-one', 'https://b.example/?key=secret-two']");
    assert_eq!(invalid_keys(&two), [""; 0]);
    assert!(!shown(&two, "names.rpc").contains("secret"), "{}", shown(&two, "names.rpc"));
    let gateways = fixture.read("[names]\ngateways = ['gateway.example', 'http://plain.example']");
    assert_eq!(invalid_keys(&gateways), ["names.gateways"]);
    let live = live(&fixture).replace("kind = \"ens\"", "kind = \"sandbox\"");
    assert_eq!(invalid_keys(&fixture.read(&live)), ["names.kind"]);
}

#[test]
fn allow_mainnet_eoa_requires_nodes_of_other_networks() {
    let fixture = ConfigFixture::new().with("PENNYBLACK_SETTLER_KEY", &"11".repeat(32));
    let names = "[names]\nkind = 'ens'\nrpc = ['https://a.example']\nallow_mainnet_eoa = 'yes'\n";
    for (payments, faulty) in [
        ("kind = 'none'", vec!["names.allow_mainnet_eoa"]),
        ("kind = 'none'\nrpc = ['base=https://b.example']", vec!["names.allow_mainnet_eoa"]),
        ("kind = 'settler'\nrpc = ['base=https://b.example']", vec![]),
        ("kind = 'settler'", vec!["payments.rpc"]),
    ] {
        let toml = format!("{names}[provider]\nkind = 'none'\n[payments]\n{payments}");
        assert_eq!(invalid_keys(&fixture.read(&toml)), faulty, "{payments}");
    }
}

#[test]
fn a_secret_is_in_its_variable_or_in_a_file_and_never_shown() {
    let fixture = ConfigFixture::new();
    let (key, token) = (fixture.file("key", &"1c".repeat(32)), fixture.file("token", "sesame\n"));
    let toml = format!(
        "[provider]\nkind = 'thanks_io'\ntoken_file = '{}'\n[sandbox]\nmixed = 'yes'\n\
         [payments]\nkind = 'settler'\nrpc = ['base=https://b.example']\nsettler_key_file = '{}'\n",
        token.display(),
        key.display()
    );
    let report = fixture.read(&toml);
    let config = report.outcome.as_ref().unwrap();
    assert!(
        matches!(&config.provider, ProviderConfig::ThanksIo(it) if it.token.reveal() == "sesame")
    );
    assert!(
        matches!(&config.payments, PaymentsConfig::Settler(it) if it.key.reveal() == "1c".repeat(32))
    );
    assert!(report.rows.iter().all(|row| !row.value.contains("sesame")));

    fixture.file("key", "sesame");
    let invalid = fixture.read(&toml);
    assert_eq!(invalid_keys(&invalid), ["payments.settler_key_file"]);
    assert!(faults(&invalid).iter().all(|fault| !fault.problem.message.contains("sesame")));
    fixture.file("key", &"1c".repeat(32));
    let twice = fixture.with("PENNYBLACK_PROVIDER_TOKEN", "another");
    assert_eq!(invalid_keys(&twice.read(&toml)), ["provider.token_file"]);
}

#[test]
fn real_and_emulated_services_are_combined_only_if_allowed() {
    let fixture = ConfigFixture::new();
    let real_names = "[names]\nkind = 'ens'\nrpc = ['https://rpc.example']\n";
    assert_eq!(invalid_keys(&fixture.read(real_names)), ["sandbox.mixed"]);
    let named = format!("{real_names}[sandbox]\nmixed = 'yes'");
    assert_eq!(invalid_keys(&fixture.read(&named)), [""; 0]);
    let closed = format!("{real_names}[provider]\nkind = 'none'");
    assert_eq!(invalid_keys(&fixture.read(&closed)), [""; 0]);
}

#[test]
fn each_provider_requires_its_settings() {
    let fixture = ConfigFixture::new();
    let mixed = "[sandbox]\nmixed = 'yes'\n";
    let thanks = fixture.read(&format!("{mixed}[provider]\nkind = 'thanks_io'"));
    assert_eq!(invalid_keys(&thanks), ["provider.token"]);
    let lob = fixture.read(&format!("{mixed}[provider]\nkind = 'lob'\nsender = 'Penny / London'"));
    let expected = [
        "provider.sender",
        "provider.token",
        "provider.domestic_cents",
        "provider.international_cents",
    ];
    assert_eq!(invalid_keys(&lob), expected);
    let unmailed = live(&fixture)
        .replace("[provider]\n        kind = \"none\"", "[provider]\nkind = \"sandbox\"");
    for toml in [unmailed.clone(), format!("{unmailed}\n[sandbox]\nmixed = 'yes'")] {
        assert_eq!(invalid_keys(&fixture.read(&toml)), ["provider.kind"]);
    }
}

#[test]
fn the_realm_defaults_to_the_host_name() {
    let fixture = ConfigFixture::new();
    let realm = |toml: &str| {
        let report = fixture.read(toml);
        let realm = report.outcome.as_ref().unwrap().realm.clone();
        realm.map(|realm| realm.as_str().to_owned())
    };
    assert_eq!(realm(""), None);
    assert_eq!(realm("[payments]\nrealm = 'cards.example'"), Some("cards.example".to_owned()));
    for faulty in ["", "a|b", "caf\u{e9}"] {
        let report = fixture.read(&format!("[payments]\nrealm = '{faulty}'"));
        assert_eq!(invalid_keys(&report), ["payments.realm"], "{faulty}");
    }
    let url = BaseUrl::parse("https://cards.example:8443").unwrap_or_else(|_| panic!("a URL"));
    assert_eq!(url.host(), "cards.example");
}

#[test]
fn payments_require_a_key_and_nodes_or_a_facilitator_and_secrets_are_not_shown() {
    let fixture = ConfigFixture::new();
    let payments =
        |lines: &str| fixture.read(&format!("[sandbox]\nmixed = 'yes'\n[payments]\n{lines}"));
    let settler = payments("kind = 'settler'");
    assert_eq!(invalid_keys(&settler), ["payments.settler_key", "payments.rpc"]);
    let facilitator = payments("kind = 'facilitator'");
    assert_eq!(invalid_keys(&facilitator), ["payments.facilitator", "payments.rpc"]);
    for faulty in [
        "rpc = ['https://rpc.example']",
        "rpc = ['solana=https://rpc.example']",
        "rpc = ['base=http://rpc.example']",
        "rpc = ['base=https://a.example', 'base=https://b.example']",
    ] {
        assert_eq!(invalid_keys(&payments(faulty)), ["payments.rpc"], "{faulty}");
    }
    let half = payments("facilitator_key = 'a-key'");
    assert_eq!(invalid_keys(&half), ["payments.facilitator_key"]);
    let both = "kind = 'facilitator'\nfacilitator = 'https://pay.example'\n\
                rpc = ['base=https://rpc.example/secret', 'polygon=https://rpc.example/secret']";
    let both = payments(both);
    assert_eq!(invalid_keys(&both), [""; 0]);
    assert!(!shown(&both, "payments.rpc").contains("secret"), "{}", shown(&both, "payments.rpc"));
    let live = live(&fixture)
        .replace("[payments]\n        kind = \"none\"", "[payments]\nkind = \"sandbox\"");
    assert_eq!(invalid_keys(&fixture.read(&live)), ["payments.kind"]);
    let unsold = fixture.read("[payments]\nkind = 'settler'");
    assert_eq!(invalid_keys(&unsold), ["payments.settler_key", "payments.rpc"]);
}

#[test]
fn the_clock_may_run_faster_unless_cards_are_real() {
    let fixture = ConfigFixture::new().with("PENNYBLACK_PROVIDER_TOKEN", "a-token-of-lob");
    let faster = fixture.read("[sandbox]\nprovider = 'http://127.0.0.1:8403'\nspeed = 20");
    assert_eq!(invalid_keys(&faster), [""; 0]);
    assert_eq!(shown(&faster, "sandbox.provider"), "http://127.0.0.1:8403");
    assert_eq!(shown(&faster, "sandbox.speed"), "20");
    for (faulty, key) in [
        ("speed = 0", "sandbox.speed"),
        ("speed = 3601", "sandbox.speed"),
        ("speed = -1", "sandbox.speed"),
        ("provider = 'http://cards.example'", "sandbox.provider"),
    ] {
        assert_eq!(invalid_keys(&fixture.read(&format!("[sandbox]\n{faulty}"))), [key], "{faulty}");
    }
    let real = "[provider]\nkind = 'lob'\ndomestic_cents = 87\ninternational_cents = 185\n";
    let real = format!("{real}[sandbox]\nmixed = 'yes'\n");
    assert_eq!(invalid_keys(&fixture.read(&real)), [""; 0]);
    assert_eq!(invalid_keys(&fixture.read(&format!("{real}speed = 2"))), ["sandbox.speed"]);
}
