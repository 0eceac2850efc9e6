//! The public face over real HTTP: every row of the contract for what needs no payment.

mod agents;
mod client;
mod discovery;
mod mcp;
mod offers;
mod pages;
mod quota;
mod shop;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::house::{Caller, House};

/// An answer, taken apart.
pub(crate) struct Reply {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl House {
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request(&format!("GET {path}"), &[], "")
    }

    pub(crate) fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.request(&format!("GET {path}"), headers, "")
    }

    pub(crate) fn request(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        ask(self.address, line, headers, body)
    }
}

/// One request on a connection of its own, to whoever listens there.
pub(crate) fn ask(address: SocketAddr, line: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut caller = Caller::new(address);
    let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    caller.say(&format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{more}Content-Length: {length}\r\n\r\n{body}"
    ));
    reply(&caller.hear_bytes())
}

fn reply(heard: &[u8]) -> Reply {
    let end = heard.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8(heard[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    Reply { status, headers, body: heard[end + 4..].to_vec() }
}
