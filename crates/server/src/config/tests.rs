//! Configurations, good and faulty, from files and environments made for the purpose.

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::config::fault::Origin;

mod outside;

/// A folder with a configuration file, and an environment.
struct Desk {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Desk {
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

    fn file(&self, name: &str, words: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, words).unwrap();
        path
    }

    fn read(&self, toml: &str) -> Reading {
        let file = self.file("pennyblack.toml", toml);
        let variables = self.variables.iter().cloned();
        let environment = Environment::new(variables.map(|(name, value)| (name, value.into())));
        read_from(Some(&file), &environment)
    }
}

fn shown<'a>(reading: &'a Reading, key: &str) -> &'a str {
    &row(reading, key).shown
}

fn row<'a>(reading: &'a Reading, key: &str) -> &'a Row {
    reading.rows.iter().find(|row| row.key == key).unwrap()
}

fn faults(reading: &Reading) -> &[Fault] {
    reading.outcome.as_ref().map_or_else(|faulty| &*faulty.faults, |_| &[])
}

fn faulty_keys(reading: &Reading) -> Vec<&str> {
    faults(reading).iter().map(|fault| fault.key.as_str()).collect()
}

fn live(desk: &Desk) -> String {
    let key = desk.file("key", "0123456789abcdef0123456789abcdef");
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
fn nothing_said_is_a_sandbox_that_works() {
    let reading = Desk::new().read("");
    assert_eq!(faulty_keys(&reading), [""; 0]);
    for (key, value) in [
        ("server.listen", "127.0.0.1:8402"),
        ("server.mode", "sandbox"),
        ("server.store", "./data/pennyblack.sqlite3"),
        ("keys.file", "./data/pennyblack.key"),
        ("limits.discovery_quota", "600"),
        ("limits.connections", "10000"),
    ] {
        assert_eq!(shown(&reading, key), value);
        assert_eq!(row(&reading, key).origin, Origin::Default);
    }
}

#[test]
fn every_setting_has_one_row_in_the_sequence_of_the_list() {
    let listed: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
    let desk = Desk::new();
    for toml in ["", "[server]\nmode = 'live'", "[server]\nmode = 'both'\nlisten = 1", &live(&desk)]
    {
        let rows: Vec<&str> = desk.read(toml).rows.iter().map(|row| row.key).collect();
        assert_eq!(rows, listed, "{toml}");
    }
}

#[test]
fn the_environment_wins_over_the_file_and_the_file_over_the_default() {
    let desk = Desk::new().with("PENNYBLACK_LISTEN", "127.0.0.1:1").with("PENNYBLACK_DATA", "");
    let reading = desk.read("[server]\nlisten = '127.0.0.1:2'\nbase_url = 'http://cards.example/'");
    assert_eq!(shown(&reading, "server.listen"), "127.0.0.1:1");
    let listen = row(&reading, "server.listen").origin;
    assert_eq!(listen, Origin::Environment("PENNYBLACK_LISTEN"));
    assert_eq!(shown(&reading, "server.base_url"), "http://cards.example");
    assert_eq!(row(&reading, "server.base_url").origin, Origin::File);
    // An empty variable counts as absent.
    assert_eq!(row(&reading, "server.data").origin, Origin::Default);
}

#[test]
fn the_store_and_the_key_follow_the_data_folder() {
    let reading = Desk::new().with("PENNYBLACK_DATA", "/srv/penny").read("");
    assert_eq!(shown(&reading, "server.store"), "/srv/penny/pennyblack.sqlite3");
    assert_eq!(shown(&reading, "keys.file"), "/srv/penny/pennyblack.key");
}

#[test]
fn an_unknown_key_comes_with_the_one_that_was_meant() {
    let desk = Desk::new();
    for (toml, words) in [
        ("[server]\nlisen = 'x'", "unknown key `server.lisen`, did you mean `server.listen`?"),
        ("[sever]\nlisten = 'x'", "unknown key `sever.listen`, did you mean `server.listen`?"),
        ("listen = 'x'", "unknown key `listen`, did you mean `server.listen`?"),
        ("[limits]\nparent = 'x'", "unknown key `limits.parent`, did you mean `sellers.parent`?"),
        ("[weather]\nrain = 1", "unknown key `weather.rain`"),
    ] {
        let reading = desk.read(toml);
        assert_eq!(faults(&reading).len(), 1, "{toml}");
        assert_eq!(faults(&reading)[0].wrong.problem, words);
    }
}

#[test]
fn an_unknown_variable_is_a_fault_only_if_it_is_nearly_one_of_ours() {
    let desk = Desk::new()
        .with("PENNYBLACK_LISEN", "127.0.0.1:1")
        .with("PENNYBLACK_SERVICE_HOST", "10.0.0.1")
        .with("PENNYBLACK_PORT", "tcp://10.0.0.1:8402")
        .with("PATH", "/bin");
    assert_eq!(faulty_keys(&desk.read("")), ["PENNYBLACK_LISEN"]);
}

#[test]
fn all_faults_are_told_at_once() {
    let desk = Desk::new().with("PENNYBLACK_DISCOVERY_QUOTA", "many");
    let reading = desk.read(
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
        folder = "/nowhere/at/all"
        "#,
    );
    let mut keys = faulty_keys(&reading);
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
    assert!(faults(&reading).iter().all(|fault| !fault.wrong.remedy.is_empty()));
}

#[test]
fn values_that_do_not_fit_together_are_faults() {
    let desk = Desk::new();
    let paid = desk.read("[limits]\nrequest_seconds = 50\npaid_request_seconds = 40");
    assert_eq!(faulty_keys(&paid), ["limits.paid_request_seconds"]);
    let seller = desk.read("[sellers]\ndefault = 'alice'\nenabled = ['bob']");
    assert_eq!(faulty_keys(&seller), ["sellers.default"]);
}

#[test]
fn live_mode_demands_that_everything_important_is_told() {
    let desk = Desk::new();
    assert_eq!(faulty_keys(&desk.read(&live(&desk))), [""; 0]);
    let bare = desk.read("[server]\nmode = 'live'");
    assert_eq!(
        faulty_keys(&bare),
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
fn live_mode_wants_https_unless_the_host_is_this_machine() {
    let desk = Desk::new();
    for (base_url, keys) in [
        ("http://cards.example", vec!["server.base_url"]),
        ("http://127.0.0.1:8402", vec![]),
        ("http://[::1]:8402", vec![]),
        ("http://localhost", vec![]),
    ] {
        let toml = live(&desk).replace("https://cards.example", base_url);
        assert_eq!(faulty_keys(&desk.read(&toml)), keys, "{base_url}");
    }
    // A sandbox may be anywhere, unless its payments are real.
    let open = "[server]\nbase_url = 'http://cards.example'\n";
    assert_eq!(faulty_keys(&desk.read(open)), [""; 0]);
    let desk = desk.with("PENNYBLACK_SETTLER_KEY", &"11".repeat(32));
    let real = "[sandbox]\nmixed = 'yes'\n[payments]\nkind = 'settler'\n\
                rpc = ['base=https://rpc.example']\n";
    let reading = desk.read(&format!("{open}{real}"));
    assert_eq!(faulty_keys(&reading), ["server.base_url"]);
}

#[test]
fn live_mode_wants_a_key_that_is_there_and_only_one() {
    let words = &"0123456789abcdef".repeat(4);
    let desk = Desk::new();
    let toml = live(&desk);
    fs::remove_file(desk.path("key")).unwrap();
    assert_eq!(faulty_keys(&desk.read(&toml)), ["keys.file"]);

    let desk = Desk::new().with("PENNYBLACK_KEYS", words);
    let toml = live(&desk);
    assert_eq!(faulty_keys(&desk.read(&toml)), ["keys.file"]);
    let by_environment = toml.replace("file =", "# file =");
    let reading = desk.read(&by_environment);
    assert_eq!(faulty_keys(&reading), [""; 0]);
    assert_eq!(shown(&reading, "keys.secret"), "(set, never shown)");

    for no_key in ["short", "sesame, open, whatever it takes, now", &words[1..]] {
        let reading = Desk::new().with("PENNYBLACK_KEYS", no_key).read("");
        assert_eq!(faulty_keys(&reading), ["keys.secret"], "{no_key}");
    }
    let in_the_file = Desk::new().read(&format!("[keys]\nsecret = '{words}'"));
    assert_eq!(faulty_keys(&in_the_file), ["keys.secret"]);
}

#[test]
fn no_secret_is_ever_shown() {
    let desk = Desk::new();
    let password_file = desk.file("password", "sesame\n");
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
        let desk = Desk::new().with("PENNYBLACK_KEYS", "sesame, open, whatever it takes, now");
        let reading = desk.read(&format!("[server]\n{store}"));
        let rows = reading.rows.iter().map(|row| row.shown.as_str());
        let faults = faults(&reading).iter().map(ToString::to_string);
        let everything = rows.map(str::to_owned).chain(faults).collect::<String>();
        assert!(!everything.contains("sesame"), "{store}: {everything}");
        assert!(!format!("{:?}", reading.outcome).contains("sesame"), "{store}");
    }
}

#[test]
fn a_password_file_completes_the_address_of_a_store() {
    let desk = Desk::new();
    let file = desk.file("password", "ses@me\n");
    let toml = format!(
        "[server]\nstore = 'postgres://clerk@db.example/orders'\nstore_password_file = '{}'",
        file.display()
    );
    let reading = desk.read(&toml);
    assert_eq!(faulty_keys(&reading), [""; 0]);
    assert_eq!(shown(&reading, "server.store"), "postgres://clerk@db.example/orders");
}

#[test]
fn a_file_that_is_not_there_or_not_toml_is_one_clear_fault() {
    let desk = Desk::new();
    let missing = read_from(Some(&desk.path("none.toml")), &Environment::new([]));
    assert_eq!(faulty_keys(&missing), ["--config"]);
    let named = [("PENNYBLACK_CONFIG".to_owned(), desk.path("none.toml").into())];
    assert_eq!(faulty_keys(&read_from(None, &Environment::new(named))), ["--config"]);
    let broken = desk.read("[server]\nlisten = '127.0.0.1:1'\nmode = \n");
    assert_eq!(faulty_keys(&broken), ["--config"]);
    assert!(faults(&broken)[0].wrong.problem.contains("line 3"), "{:?}", faults(&broken));
}

#[test]
fn every_line_of_the_example_is_a_known_setting_with_its_default() {
    let desk = Desk::new();
    let example = example::file();
    assert_eq!(faulty_keys(&desk.read(&example)), [""; 0]);
    let is_assignment = |line: &&str| line.starts_with("# ") && line.contains(" = ");
    let uncommented: String = example
        .lines()
        .map(|line| if is_assignment(&line) { &line[2..] } else { line })
        .map(|line| format!("{line}\n"))
        .collect();
    let reading = desk.read(&uncommented);
    // Two name files that only an operator has, and one a key whose secret is
    // kept out of the file.
    let operators = ["server.store_password_file", "payments.facilitator_key", "content.folder"];
    assert_eq!(faulty_keys(&reading), operators);
    let defaults = desk.read("");
    for setting in SETTINGS {
        if let settings::Fallback::Value(_) = setting.fallback {
            assert_eq!(row(&reading, setting.key).origin, Origin::File, "{}", setting.key);
            assert_eq!(shown(&reading, setting.key), shown(&defaults, setting.key));
        }
    }
}
