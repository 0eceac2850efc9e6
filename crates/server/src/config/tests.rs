//! Valid and invalid configurations, from temporary files and test environments.

use std::fs;

use tempfile::TempDir;

use std::path::PathBuf;

use crate::config::example;
use crate::config::fault::{ConfigFault, SettingOrigin};
use crate::config::load::{ConfigReport, read_from};
use crate::config::reader::SettingRow;
use crate::config::settings::SETTINGS;
use crate::config::settings::definition::SettingDefault;
use crate::config::sources::environment::Environment;

mod services;

/// A folder with a configuration file, and an environment.
struct ConfigFixture {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl ConfigFixture {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), variables: Vec::new() }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, toml: &str) -> ConfigReport {
        let file = self.file("pennyblack.toml", toml);
        let variables = self.variables.iter().cloned();
        let environment = Environment::new(variables.map(|(name, value)| (name, value.into())));
        read_from(Some(&file), &environment)
    }
}

fn shown<'a>(report: &'a ConfigReport, key: &str) -> &'a str {
    &row(report, key).value
}

fn row<'a>(report: &'a ConfigReport, key: &str) -> &'a SettingRow {
    report.rows.iter().find(|row| row.key == key).unwrap()
}

fn faults(report: &ConfigReport) -> &[ConfigFault] {
    report.outcome.as_ref().map_or_else(|invalid| &*invalid.faults, |_| &[])
}

fn invalid_keys(report: &ConfigReport) -> Vec<&str> {
    faults(report).iter().map(|fault| fault.key.as_str()).collect()
}

fn live(fixture: &ConfigFixture) -> String {
    let key = fixture.file("key", "0123456789abcdef0123456789abcdef");
    format!(
        r#"
        [server]
        mode = "live"
        listen = "0.0.0.0:8402"
        base_url = "https://cards.example"
        data = "/var/lib/pennyblack"
        store = "postgres://clerk@db.example/orders"
        [keys]
        file = "{}"
        [sellers]
        default = "alice"
        enabled = ["alice", "bob"]
        parent = "sellers.example"
        [names]
        kind = "ens"
        rpc = ["https://rpc.example/a-key-of-the-node"]
        [provider]
        kind = "none"
        [payments]
        kind = "none"
        [shop]
        payee = "0x06c05fB3449193F815E3dd1Fb1a3fB148F8AD6c4"
        "#,
        key.display()
    )
}

#[test]
fn the_defaults_are_a_working_sandbox() {
    let report = ConfigFixture::new().read("");
    assert_eq!(invalid_keys(&report), [""; 0]);
    for (key, value) in [
        ("server.listen", "127.0.0.1:8402"),
        ("server.mode", "sandbox"),
        ("server.store", "./data/pennyblack.sqlite3"),
        ("keys.file", "./data/pennyblack.key"),
        ("limits.discovery_quota", "600"),
        ("limits.connections", "10000"),
    ] {
        assert_eq!(shown(&report, key), value);
        assert_eq!(row(&report, key).origin, SettingOrigin::Default);
    }
}

#[test]
fn every_setting_has_one_row_in_the_order_of_the_list() {
    let listed: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
    let fixture = ConfigFixture::new();
    for toml in
        ["", "[server]\nmode = 'live'", "[server]\nmode = 'both'\nlisten = 1", &live(&fixture)]
    {
        let rows: Vec<&str> = fixture.read(toml).rows.iter().map(|row| row.key).collect();
        assert_eq!(rows, listed, "{toml}");
    }
}

#[test]
fn the_environment_overrides_the_file_and_the_file_the_default() {
    let fixture =
        ConfigFixture::new().with("PENNYBLACK_LISTEN", "127.0.0.1:1").with("PENNYBLACK_DATA", "");
    let report =
        fixture.read("[server]\nlisten = '127.0.0.1:2'\nbase_url = 'http://cards.example/'");
    assert_eq!(shown(&report, "server.listen"), "127.0.0.1:1");
    let listen = row(&report, "server.listen").origin;
    assert_eq!(listen, SettingOrigin::Environment("PENNYBLACK_LISTEN"));
    assert_eq!(shown(&report, "server.base_url"), "http://cards.example");
    assert_eq!(row(&report, "server.base_url").origin, SettingOrigin::File);
    // An empty variable counts as absent.
    assert_eq!(row(&report, "server.data").origin, SettingOrigin::Default);
}

#[test]
fn the_store_and_the_key_follow_the_data_folder() {
    let report = ConfigFixture::new().with("PENNYBLACK_DATA", "/srv/penny").read("");
    assert_eq!(shown(&report, "server.store"), "/srv/penny/pennyblack.sqlite3");
    assert_eq!(shown(&report, "keys.file"), "/srv/penny/pennyblack.key");
}

#[test]
fn an_unknown_key_is_reported_with_the_most_similar_one() {
    let fixture = ConfigFixture::new();
    for (toml, message) in [
        ("[server]\nlisen = 'x'", "unknown key `server.lisen`, did you mean `server.listen`?"),
        ("[sever]\nlisten = 'x'", "unknown key `sever.listen`, did you mean `server.listen`?"),
        ("listen = 'x'", "unknown key `listen`, did you mean `server.listen`?"),
        ("[limits]\nparent = 'x'", "unknown key `limits.parent`, did you mean `sellers.parent`?"),
        ("[weather]\nrain = 1", "unknown key `weather.rain`"),
    ] {
        let report = fixture.read(toml);
        assert_eq!(faults(&report).len(), 1, "{toml}");
        assert_eq!(faults(&report)[0].problem.message, message);
    }
}

#[test]
fn an_unknown_variable_is_a_fault_only_if_it_is_similar_to_a_known_one() {
    let fixture = ConfigFixture::new()
        .with("PENNYBLACK_LISEN", "127.0.0.1:1")
        .with("PENNYBLACK_SERVICE_HOST", "10.0.0.1")
        .with("PENNYBLACK_PORT", "tcp://10.0.0.1:8402")
        .with("PATH", "/bin");
    assert_eq!(invalid_keys(&fixture.read("")), ["PENNYBLACK_LISEN"]);
}

#[test]
fn all_faults_are_reported_together() {
    let fixture = ConfigFixture::new().with("PENNYBLACK_DISCOVERY_QUOTA", "many");
    let report = fixture.read(
        r#"
        [server]
        listen = "localhost"
        base_url = "https://cards.example/shop"
        mode = "demo"
        store = "mysql://db.example/orders"
        [limits]
        request_seconds = "30"
        body_bytes = 5
        connections = 0
        [sellers]
        default = "@alice"
        parent = "eth"
        [log]
        format = "xml"
        filter = "request=loud"
        [content]
        folder = "/does/not/exist"
        "#,
    );
    let mut keys = invalid_keys(&report);
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "content.folder",
            "limits.body_bytes",
            "limits.connections",
            "limits.discovery_quota",
            "limits.request_seconds",
            "log.filter",
            "log.format",
            "sellers.default",
            "sellers.parent",
            "server.base_url",
            "server.listen",
            "server.mode",
            "server.store",
        ]
    );
    assert!(faults(&report).iter().all(|fault| !fault.problem.remedy.is_empty()));
}

#[test]
fn contradictory_values_are_faults() {
    let fixture = ConfigFixture::new();
    let paid = fixture.read("[limits]\nrequest_seconds = 50\npaid_request_seconds = 40");
    assert_eq!(invalid_keys(&paid), ["limits.paid_request_seconds"]);
    let seller = fixture.read("[sellers]\ndefault = 'alice'\nenabled = ['bob']");
    assert_eq!(invalid_keys(&seller), ["sellers.default"]);
}

#[test]
fn live_mode_requires_every_important_setting() {
    let fixture = ConfigFixture::new();
    assert_eq!(invalid_keys(&fixture.read(&live(&fixture))), [""; 0]);
    let bare = fixture.read("[server]\nmode = 'live'");
    assert_eq!(
        invalid_keys(&bare),
        [
            "server.listen",
            "server.base_url",
            "server.data",
            "server.store",
            "keys.file",
            "sellers.default",
            "sellers.enabled",
            "sellers.parent",
            "names.kind",
            "provider.kind",
            "payments.kind",
            "shop.payee",
        ]
    );
}

#[test]
fn live_mode_requires_https_unless_the_host_is_this_machine() {
    let fixture = ConfigFixture::new();
    for (base_url, keys) in [
        ("http://cards.example", vec!["server.base_url"]),
        ("http://127.0.0.1:8402", vec![]),
        ("http://[::1]:8402", vec![]),
        ("http://localhost", vec![]),
    ] {
        let toml = live(&fixture).replace("https://cards.example", base_url);
        assert_eq!(invalid_keys(&fixture.read(&toml)), keys, "{base_url}");
    }
    // Sandbox mode allows http, unless payments are real.
    let open = "[server]\nbase_url = 'http://cards.example'\n";
    assert_eq!(invalid_keys(&fixture.read(open)), [""; 0]);
    let fixture = fixture.with("PENNYBLACK_SETTLER_KEY", &"11".repeat(32));
    let real = "[sandbox]\nmixed = 'yes'\n[payments]\nkind = 'settler'\n\
                rpc = ['base=https://rpc.example']\n";
    let report = fixture.read(&format!("{open}{real}"));
    assert_eq!(invalid_keys(&report), ["server.base_url"]);
}

#[test]
fn live_mode_requires_exactly_one_existing_key() {
    let key = &"0123456789abcdef".repeat(4);
    let fixture = ConfigFixture::new();
    let toml = live(&fixture);
    fs::remove_file(fixture.path("key")).unwrap();
    assert_eq!(invalid_keys(&fixture.read(&toml)), ["keys.file"]);

    let fixture = ConfigFixture::new().with("PENNYBLACK_KEYS", key);
    let toml = live(&fixture);
    assert_eq!(invalid_keys(&fixture.read(&toml)), ["keys.file"]);
    let by_environment = toml.replace("file =", "# file =");
    let report = fixture.read(&by_environment);
    assert_eq!(invalid_keys(&report), [""; 0]);
    assert_eq!(shown(&report, "keys.secret"), "(set, never shown)");

    for no_key in ["short", "sesame, open, whatever it takes, now", &key[1..]] {
        let report = ConfigFixture::new().with("PENNYBLACK_KEYS", no_key).read("");
        assert_eq!(invalid_keys(&report), ["keys.secret"], "{no_key}");
    }
    let in_the_file = ConfigFixture::new().read(&format!("[keys]\nsecret = '{key}'"));
    assert_eq!(invalid_keys(&in_the_file), ["keys.secret"]);
}

#[test]
fn no_secret_is_ever_shown() {
    let fixture = ConfigFixture::new();
    let password_file = fixture.file("password", "sesame\n");
    let password_file = password_file.display();
    let by_file = format!("store_password_file = '{password_file}'");
    for store in [
        "store = 'postgres://clerk:sesame@db.example/orders?sslmode=require'".to_owned(),
        "store = 'postgres://clerk@db.example/orders?password=sesame'".to_owned(),
        "store = 'postgres:/clerk:sesame@db.example/orders'".to_owned(),
        "store = 'mysql://clerk:sesame@db.example/orders'".to_owned(),
        "store = 'postgres://clerk:sesame@db.example:port/orders'".to_owned(),
        "store = postgres://clerk:sesame@db.example/orders".to_owned(),
        "base_url = 'https://clerk:sesame@cards.example'".to_owned(),
        format!("store = 'postgres://clerk@db.example/orders'\n{by_file}"),
        format!("store = 'postgres://clerk:sesame@db.example/orders'\n{by_file}"),
        by_file.clone(),
    ] {
        let fixture =
            ConfigFixture::new().with("PENNYBLACK_KEYS", "sesame, open, whatever it takes, now");
        let report = fixture.read(&format!("[server]\n{store}"));
        let rows = report.rows.iter().map(|row| row.value.as_str());
        let faults = faults(&report).iter().map(ToString::to_string);
        let everything = rows.map(str::to_owned).chain(faults).collect::<String>();
        assert!(!everything.contains("sesame"), "{store}: {everything}");
        assert!(!format!("{:?}", report.outcome).contains("sesame"), "{store}");
    }
}

#[test]
fn a_password_file_completes_the_url_of_a_store() {
    let fixture = ConfigFixture::new();
    let file = fixture.file("password", "ses@me\n");
    let toml = format!(
        "[server]\nstore = 'postgres://clerk@db.example/orders'\nstore_password_file = '{}'",
        file.display()
    );
    let report = fixture.read(&toml);
    assert_eq!(invalid_keys(&report), [""; 0]);
    assert_eq!(shown(&report, "server.store"), "postgres://clerk@db.example/orders");
}

#[test]
fn a_missing_file_or_invalid_toml_is_one_fault() {
    let fixture = ConfigFixture::new();
    let missing = read_from(Some(&fixture.path("none.toml")), &Environment::new([]));
    assert_eq!(invalid_keys(&missing), ["--config"]);
    let named = [("PENNYBLACK_CONFIG".to_owned(), fixture.path("none.toml").into())];
    assert_eq!(invalid_keys(&read_from(None, &Environment::new(named))), ["--config"]);
    let broken = fixture.read("[server]\nlisten = '127.0.0.1:1'\nmode = \n");
    assert_eq!(invalid_keys(&broken), ["--config"]);
    assert!(faults(&broken)[0].problem.message.contains("line 3"), "{:?}", faults(&broken));
}

#[test]
fn every_line_of_the_example_is_a_known_setting_with_its_default() {
    let fixture = ConfigFixture::new();
    let example = example::file();
    assert_eq!(invalid_keys(&fixture.read(&example)), [""; 0]);
    let is_assignment = |line: &&str| line.starts_with("# ") && line.contains(" = ");
    let uncommented: String = example
        .lines()
        .map(|line| if is_assignment(&line) { &line[2..] } else { line })
        .map(|line| format!("{line}\n"))
        .collect();
    let report = fixture.read(&uncommented);
    // They name files that do not exist here.
    let operators = [
        "server.store_password_file",
        "provider.token_file",
        "payments.settler_key_file",
        "payments.facilitator_secret_file",
        "content.folder",
    ];
    assert_eq!(invalid_keys(&report), operators);
    let defaults = fixture.read("");
    for setting in SETTINGS {
        if let SettingDefault::Value(_) = setting.default {
            assert_eq!(row(&report, setting.key).origin, SettingOrigin::File, "{}", setting.key);
            assert_eq!(shown(&report, setting.key), shown(&defaults, setting.key));
        }
    }
}
