//! Configurations as the operator meets them: `check`, and a `serve` that refuses.

use std::process::Output;

use crate::house::run;

fn said(output: &Output) -> String {
    let words = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8(words).unwrap()
}

const FAULTY: &str = "[server]\nlisen = '127.0.0.1:1'\nmode = 'demo'\n[limits]\nconnections = 0\n";

#[test]
fn check_shows_every_value_and_where_it_came_from() {
    let variables = [("PENNYBLACK_LISTEN", "127.0.0.1:9000")];
    let output = run(&["check"], "[limits]\ndiscovery_quota = 60", &variables);
    assert_eq!(output.status.code(), Some(0));
    let words = said(&output);
    let origin_of = |name: &str| {
        let line = words.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(origin_of("listen"), "127.0.0.1:9000 environment PENNYBLACK_LISTEN");
    assert_eq!(origin_of("discovery_quota"), "60 file");
    assert_eq!(origin_of("mode"), "sandbox default");
    assert!(words.contains("Everything is in order, the content too."), "{words}");
}

#[test]
fn check_and_serve_tell_all_faults_at_once() {
    for command in ["check", "serve"] {
        let output = run(&[command], FAULTY, &[("PENNYBLACK_DISCOVERY_QUOTA", "-1")]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let words = said(&output);
        assert!(words.contains("4 faults to mend:"), "{words}");
        for fault in [
            "unknown key `server.lisen`, did you mean `server.listen`?",
            "Write one of: sandbox, live.",
            "Write a whole number from 1 to 1000000.",
            "limits.discovery_quota (environment PENNYBLACK_DISCOVERY_QUOTA)",
        ] {
            assert!(words.contains(fault), "{fault}: {words}");
        }
    }
}

#[test]
fn check_speaks_json_to_machines() {
    let output = run(&["check", "--json"], FAULTY, &[]);
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
        let words = said(&output);
        assert!(words.contains("postgres://clerk@db.example/orders"), "{words}");
        assert!(!words.contains("sesame") && !words.contains("0ff1ce"), "{words}");
    }
}

#[test]
fn a_named_file_must_be_there() {
    let output = run(&["--config", "other.toml"], "", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("cannot read other.toml"), "{}", said(&output));
}

/// The mode is the default, `sandbox`: what counts is that payments.kind moves real money.
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
    assert!(said(&output).contains("account is in its test mode"), "{}", said(&output));
}

#[test]
fn check_says_that_it_could_not_look_into_a_database_that_does_not_answer() {
    let toml = "[server]\nstore = 'postgres://clerk:sesame@127.0.0.1:1/orders'\n";
    let output = run(&["check", "--json"], toml, &[]);
    assert_eq!(output.status.code(), Some(0));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("was not looked into"), "{warnings}");
    assert!(!warnings.contains("sesame"), "{warnings}");
}
