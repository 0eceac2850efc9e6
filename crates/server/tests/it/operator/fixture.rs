//! A service with paid orders, its operator's listener, and the command line.

use std::fs;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::fixture::http_client::{Reply, parse_reply, send_request};
use crate::fixture::sandbox::{JSON, ProviderControl};
use crate::fixture::test_app::TestApp;

/// One marked word for every field of a card, which must appear in no output.
pub(super) const MARKED: [&str; 7] = [
    "markedpicture",
    "Markedmessage",
    "Markedname",
    "Markedstreet",
    "Markedcity",
    "Markedprovince",
    "Markedcode",
];

pub(super) struct OperatorFixture {
    pub(super) app: TestApp,
    /// The loopback listener.
    pub(super) listener: SocketAddr,
    pub(super) token: String,
}

impl OperatorFixture {
    pub(super) fn start() -> Self {
        Self::with_config("")
    }

    pub(super) fn with_config(config: &str) -> Self {
        let app = TestApp::start(config);
        let row = app.banner.lines().find_map(|line| line.trim().strip_prefix("console"));
        let (_, after) = row.expect("the banner names the console").split_once("http://").unwrap();
        let listener = after.split(' ').next().unwrap().parse().unwrap();
        let token = fs::read_to_string(app.folder().join("data/operator.token")).unwrap();
        Self { app, listener, token: token.trim().to_owned() }
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.app.folder().join("data").join(name)
    }

    /// The binary in the folder of the service.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pennyblack"));
        command.current_dir(self.app.folder()).env_clear().env("USER", "ada").args(arguments);
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What a command prints to stdout, if it succeeds.
    #[track_caller]
    pub(super) fn printed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A paid order, whose card has this number.
    pub(super) fn paid_order(&self, number: u32) -> String {
        self.pay(number, "x402", 0)
    }

    /// A paid order whose submission had an unknown outcome. Until faults are cleared, the
    /// provider's list is empty.
    pub(super) fn lost_order(&self, number: u32) -> String {
        self.lost_order_by(number, "x402")
    }

    /// The same, paid by this protocol.
    pub(super) fn lost_order_by(&self, number: u32, rail: &str) -> String {
        let provider = ProviderControl::of(&self.app);
        provider.add_faults(&json!({ "kind": "list_empty", "operation": "list" }));
        provider.add_faults(&json!({ "kind": "status_before", "operation": "send", "times": 1 }));
        self.pay(number, rail, 5)
    }

    fn pay(&self, number: u32, rail: &str, code: i32) -> String {
        let [picture, message, name, address, city, province, postal_code] = MARKED;
        let card = json!({
            "front_image_url": format!("https://images.example.org/{picture}.jpg"),
            "message": format!("{message} {number}"),
            "recipient": {
                "name": name, "address": address, "city": city, "province": province,
                "postal_code": postal_code, "country": "GB",
            },
        });
        let file = format!("card-{number}.json");
        fs::write(self.app.folder().join(&file), card.to_string()).unwrap();
        let base_url = format!("http://{}", self.app.address);
        let output = self.run(&["pay", "--body", &file, "--base-url", &base_url, "--rail", rail]);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(code), "{text}");
        let is_id =
            |word: &&str| word.len() == 32 && word.bytes().all(|digit| digit.is_ascii_hexdigit());
        text.split_whitespace().find(is_id).expect("an order's id").to_owned()
    }

    /// An order as `show --json` prints it.
    pub(super) fn show(&self, order: &str) -> Value {
        serde_json::from_str(&self.printed(&["orders", "show", order, "--json"])).unwrap()
    }

    /// A request to the loopback listener with the token.
    pub(super) fn request(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let token = format!("Bearer {}", self.token);
        let headers = [&[("Authorization", token.as_str())], headers].concat();
        send_request(self.listener, line, &headers, body)
    }

    /// An action on an order as this operator saw it.
    pub(super) fn act(&self, order: &str, action: &str, body: &Value) -> Reply {
        self.request(&format!("POST /v1/orders/{order}/{action}"), &[JSON], &body.to_string())
    }

    /// A request to the Unix socket, without a token.
    pub(super) fn socket_request(&self, line: &str, body: &str) -> Reply {
        let mut stream = self.begin_socket_request(line, body);
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        parse_reply(&received)
    }

    /// The same, whose response is not read yet.
    pub(super) fn begin_socket_request(&self, line: &str, body: &str) -> UnixStream {
        let mut stream = UnixStream::connect(self.file("operator.sock")).unwrap();
        let length = body.len();
        let head = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }
}
