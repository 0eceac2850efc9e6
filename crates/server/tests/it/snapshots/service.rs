//! The service under test, with a base URL that does not change.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::http_client::Reply;
use crate::fixture::sandbox::ProviderControl;
use crate::fixture::test_app::TestApp;

/// What the documents name, instead of a port that changes.
pub(super) const BASE_URL: &str = "https://cards.example";

/// A running binary with a sandbox of its own.
pub(super) struct Service(TestApp);

/// An answer, with names of headers in lower case.
pub(super) struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Service {
    /// `settings` are sections of the configuration file, other than `[server]`.
    pub(super) fn start(settings: &str) -> Self {
        let settings = format!("[server]\nbase_url = \"{BASE_URL}\"\n{settings}\n");
        let settler_key = "7".repeat(64);
        Self(TestApp::start_with(&settings, &[("PENNYBLACK_SETTLER_KEY", &settler_key)]))
    }

    /// Where the emulated chains of this service are.
    pub(super) fn chains(&self) -> String {
        let file = self.0.folder().join("data/sandbox-chain");
        fs::read_to_string(file).unwrap().trim().to_owned()
    }

    pub(super) fn send(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        answer(self.0.request(line, headers, body))
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), &[], "")
    }

    /// Breaks the next calls of the emulated provider.
    pub(super) fn break_provider(&self, fault: &str) {
        let provider = ProviderControl::of(&self.0);
        provider.clear_faults();
        provider.add_faults(&json!([{ "kind": fault }]));
    }
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

fn answer(reply: Reply) -> Answer {
    let body = reply.text();
    Answer { status: reply.status, headers: reply.headers.into_iter().collect(), body }
}
