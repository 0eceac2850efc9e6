//! Names, providers and the sandbox, chosen well and badly.

use super::*;

#[test]
fn names_on_ethereum_need_a_node_or_two_different_ones_and_keep_their_keys() {
    let desk = Desk::new();
    let ens =
        |rpc: &str| desk.read(&format!("[provider]\nkind = 'none'\n[names]\nkind = 'ens'\n{rpc}"));
    for faulty in [
        "",
        "rpc = []",
        "rpc = ['rpc.example']",
        "rpc = ['http://rpc.example']",
        "rpc = ['https://a.example', 'https://a.example']",
        "rpc = ['https://a.example', 'https://b.example', 'https://c.example']",
    ] {
        assert_eq!(faulty_keys(&ens(faulty)), ["names.rpc"], "{faulty}");
    }
    let two = ens("rpc = ['https://a.example/secret-one', 'https://b.example/?key=secret-two']");
    assert_eq!(faulty_keys(&two), [""; 0]);
    assert!(!shown(&two, "names.rpc").contains("secret"), "{}", shown(&two, "names.rpc"));
    let gateways = desk.read("[names]\ngateways = ['gateway.example', 'http://plain.example']");
    assert_eq!(faulty_keys(&gateways), ["names.gateways"]);
    let live = live(&desk).replace("kind = \"ens\"", "kind = \"sandbox\"");
    assert_eq!(faulty_keys(&desk.read(&live)), ["names.kind"]);
}

#[test]
fn plain_accounts_of_mainnet_are_for_those_who_have_nodes_elsewhere() {
    let desk = Desk::new().with("PENNYBLACK_SETTLER_KEY", &"11".repeat(32));
    let names = "[names]\nkind = 'ens'\nrpc = ['https://a.example']\nallow_mainnet_eoa = 'yes'\n";
    for (payments, faulty) in [
        ("kind = 'none'", vec!["names.allow_mainnet_eoa"]),
        ("kind = 'none'\nrpc = ['base=https://b.example']", vec!["names.allow_mainnet_eoa"]),
        ("kind = 'settler'\nrpc = ['base=https://b.example']", vec![]),
        ("kind = 'settler'", vec!["payments.rpc"]),
    ] {
        let toml = format!("{names}[provider]\nkind = 'none'\n[payments]\n{payments}");
        assert_eq!(faulty_keys(&desk.read(&toml)), faulty, "{payments}");
    }
}

#[test]
fn a_mixture_of_real_and_sandbox_parts_is_named_or_refused() {
    let desk = Desk::new();
    let real_names = "[names]\nkind = 'ens'\nrpc = ['https://rpc.example']\n";
    assert_eq!(faulty_keys(&desk.read(real_names)), ["sandbox.mixed"]);
    let named = format!("{real_names}[sandbox]\nmixed = 'yes'");
    assert_eq!(faulty_keys(&desk.read(&named)), [""; 0]);
    let closed = format!("{real_names}[provider]\nkind = 'none'");
    assert_eq!(faulty_keys(&desk.read(&closed)), [""; 0]);
}

#[test]
fn a_provider_is_told_what_it_cannot_do_without() {
    let desk = Desk::new();
    let mixed = "[sandbox]\nmixed = 'yes'\n";
    let thanks = desk.read(&format!("{mixed}[provider]\nkind = 'thanks_io'"));
    assert_eq!(faulty_keys(&thanks), ["provider.token"]);
    let lob = desk.read(&format!("{mixed}[provider]\nkind = 'lob'\nsender = 'Penny / London'"));
    let expected = [
        "provider.sender",
        "provider.token",
        "provider.domestic_cents",
        "provider.international_cents",
    ];
    assert_eq!(faulty_keys(&lob), expected);
    let unmailed = live(&desk)
        .replace("[provider]\n        kind = \"none\"", "[provider]\nkind = \"sandbox\"");
    for toml in [unmailed.clone(), format!("{unmailed}\n[sandbox]\nmixed = 'yes'")] {
        assert_eq!(faulty_keys(&desk.read(&toml)), ["provider.kind"]);
    }
}

#[test]
fn the_realm_of_challenges_is_the_hosts_name_unless_it_is_told() {
    let desk = Desk::new();
    let realm = |toml: &str| {
        let reading = desk.read(toml);
        let realm = reading.outcome.as_ref().unwrap().realm.clone();
        realm.map(|realm| realm.as_str().to_owned())
    };
    assert_eq!(realm(""), None);
    assert_eq!(realm("[payments]\nrealm = 'cards.example'"), Some("cards.example".to_owned()));
    for faulty in ["", "a|b", "caf\u{e9}"] {
        let reading = desk.read(&format!("[payments]\nrealm = '{faulty}'"));
        assert_eq!(faulty_keys(&reading), ["payments.realm"], "{faulty}");
    }
    let url = BaseUrl::parse("https://cards.example:8443").unwrap_or_else(|_| panic!("a URL"));
    assert_eq!(url.host(), "cards.example");
}

#[test]
fn payments_need_a_key_and_nodes_or_a_facilitator_and_keep_their_secrets() {
    let desk = Desk::new();
    let paying = |lines: &str| desk.read(&format!("[sandbox]\nmixed = 'yes'\n[payments]\n{lines}"));
    let settler = paying("kind = 'settler'");
    assert_eq!(faulty_keys(&settler), ["payments.settler_key", "payments.rpc"]);
    let facilitator = paying("kind = 'facilitator'");
    assert_eq!(faulty_keys(&facilitator), ["payments.facilitator", "payments.rpc"]);
    for faulty in [
        "rpc = ['https://rpc.example']",
        "rpc = ['solana=https://rpc.example']",
        "rpc = ['base=http://rpc.example']",
        "rpc = ['base=https://a.example', 'base=https://b.example']",
    ] {
        assert_eq!(faulty_keys(&paying(faulty)), ["payments.rpc"], "{faulty}");
    }
    let half = paying("facilitator_key = 'a-key'");
    assert_eq!(faulty_keys(&half), ["payments.facilitator_key"]);
    let both = "kind = 'facilitator'\nfacilitator = 'https://pay.example'\n\
                rpc = ['base=https://rpc.example/secret', 'polygon=https://rpc.example/secret']";
    let both = paying(both);
    assert_eq!(faulty_keys(&both), [""; 0]);
    assert!(!shown(&both, "payments.rpc").contains("secret"), "{}", shown(&both, "payments.rpc"));
    let live = live(&desk)
        .replace("[payments]\n        kind = \"none\"", "[payments]\nkind = \"sandbox\"");
    assert_eq!(faulty_keys(&desk.read(&live)), ["payments.kind"]);
    let unsold = desk.read("[payments]\nkind = 'settler'");
    assert_eq!(faulty_keys(&unsold), ["payments.settler_key", "payments.rpc"]);
}

#[test]
fn a_rehearsal_may_hurry_but_not_where_cards_are_real() {
    let desk = Desk::new().with("PENNYBLACK_PROVIDER_TOKEN", "a-token-of-lob");
    let hurried = desk.read("[sandbox]\noffice = 'http://127.0.0.1:8403'\nspeed = 20");
    assert_eq!(faulty_keys(&hurried), [""; 0]);
    assert_eq!(shown(&hurried, "sandbox.office"), "http://127.0.0.1:8403");
    assert_eq!(shown(&hurried, "sandbox.speed"), "20");
    for (faulty, key) in [
        ("speed = 0", "sandbox.speed"),
        ("speed = 3601", "sandbox.speed"),
        ("speed = -1", "sandbox.speed"),
        ("office = 'http://cards.example'", "sandbox.office"),
    ] {
        assert_eq!(faulty_keys(&desk.read(&format!("[sandbox]\n{faulty}"))), [key], "{faulty}");
    }
    let real = "[provider]\nkind = 'lob'\ndomestic_cents = 87\ninternational_cents = 185\n";
    let real = format!("{real}[sandbox]\nmixed = 'yes'\n");
    assert_eq!(faulty_keys(&desk.read(&real)), [""; 0]);
    assert_eq!(faulty_keys(&desk.read(&format!("{real}speed = 2"))), ["sandbox.speed"]);
}
