//! `check`, and `serve` with an invalid configuration.

use std::process::Output;

use crate::fixture::test_app::run;

fn printed(output: &Output) -> String {
    let bytes = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8(bytes).unwrap()
}

const INVALID: &str = "[server]\nlisen = '127.0.0.1:1'\nmode = 'demo'\n[limits]\nconnections = 0\n";

#[test]
fn check_shows_every_value_and_where_it_came_from() {
    let variables = [("PENNYBLACK_LISTEN", "127.0.0.1:9000")];
    let output = run(&["check"], "[limits]\ndiscovery_quota = 60", &variables);
    assert_eq!(output.status.code(), Some(0));
    let text = printed(&output);
    let origin_of = |name: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(origin_of("listen"), "127.0.0.1:9000 environment PENNYBLACK_LISTEN");
    assert_eq!(origin_of("discovery_quota"), "60 file");
    assert_eq!(origin_of("mode"), "sandbox default");
    assert!(text.contains("The configuration and the content are valid."), "{text}");
}

#[test]
fn check_and_serve_report_all_faults_together() {
    for command in ["check", "serve"] {
        let output = run(&[command], INVALID, &[("PENNYBLACK_DISCOVERY_QUOTA", "-1")]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let text = printed(&output);
        assert!(text.contains("4 configuration errors:"), "{text}");
        for fault in [
            "unknown key `server.lisen`, did you mean `server.listen`?",
            "Write one of: sandbox, live.",
            "Write a whole number from 1 to 1000000.",
            "limits.discovery_quota (environment PENNYBLACK_DISCOVERY_QUOTA)",
        ] {
            assert!(text.contains(fault), "{fault}: {text}");
        }
    }
}

#[test]
fn check_prints_json() {
    let output = run(&["check", "--json"], INVALID, &[]);
    assert_eq!(output.status.code(), Some(2));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["faults"].as_array().unwrap().len(), 3);
    assert_eq!(report["faults"][0]["key"], "server.lisen");
    assert_eq!(report["settings"][0]["key"], "server.listen");
    assert_eq!(report["settings"][0]["origin"], "default");
}

#[test]
fn check_shows_no_secret() {
    let key = "0ff1ce".repeat(11);
    let variables = [
        ("PENNYBLACK_KEYS", &key[..64]),
        ("PENNYBLACK_STORE", "postgres://clerk:sesame@db.example/orders"),
    ];
    for arguments in [["check"].as_slice(), &["check", "--json"]] {
        let output = run(arguments, "", &variables);
        assert_eq!(output.status.code(), Some(0));
        let text = printed(&output);
        assert!(text.contains("postgres://clerk@db.example/orders"), "{text}");
        assert!(!text.contains("sesame") && !text.contains("0ff1ce"), "{text}");
    }
}

#[test]
fn a_named_file_must_exist() {
    let output = run(&["--config", "other.toml"], "", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(printed(&output).contains("cannot read other.toml"), "{}", printed(&output));
}

/// The mode is the default, `sandbox`, but payments.kind moves real money.
#[test]
fn a_test_account_of_the_provider_is_refused_wherever_real_money_can_move() {
    let real = "[sandbox]\nmixed = 'yes'\n[payments]\nkind = 'settler'\n\
                rpc = ['base=https://rpc.example']\n[provider]\nkind = 'lob'\n\
                domestic_cents = 87\ninternational_cents = 185\n";
    let key = "11".repeat(32);
    let variables = [
        ("PENNYBLACK_SETTLER_KEY", key.as_str()),
        ("PENNYBLACK_PROVIDER_TOKEN", "test_key"),
        ("PENNYBLACK_LISTEN", "127.0.0.1:0"),
    ];
    let output = run(&["serve"], real, &variables);
    assert_ne!(output.status.code(), Some(0));
    assert!(printed(&output).contains("account is in test mode"), "{}", printed(&output));
}

#[test]
fn check_warns_if_the_database_does_not_respond() {
    let toml = "[server]\nstore = 'postgres://clerk:sesame@127.0.0.1:1/orders'\n";
    let output = run(&["check", "--json"], toml, &[]);
    assert_eq!(output.status.code(), Some(0));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("was not read"), "{warnings}");
    assert!(!warnings.contains("sesame"), "{warnings}");
}
