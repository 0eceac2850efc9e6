//! What the controls are told: a JSON object, with every wrong field named at once.

use order::model::chain::EvmAddress;
use serde_json::{Map, Value, json};

use super::super::faults::Fault;
use super::super::names::{Addresses, GatewayFault, Lookup, Name};

/// Everything that is wrong, each with what it should be.
#[derive(Debug)]
pub(super) struct Wrong(pub(super) Vec<String>);

impl Wrong {
    pub(super) fn one(words: &str) -> Self {
        Self(vec![words.to_owned()])
    }
}

pub(super) struct Form {
    fields: Map<String, Value>,
    wrong: Vec<String>,
}

impl Form {
    /// Nothing at all is an empty object.
    pub(super) fn read(body: &[u8]) -> Result<Self, Wrong> {
        if body.is_empty() {
            return Ok(Self { fields: Map::new(), wrong: Vec::new() });
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Ok(Self { fields, wrong: Vec::new() }),
            Ok(_) | Err(_) => Err(Wrong::one("body: a JSON object")),
        }
    }

    /// Adds what is wrong between fields.
    pub(super) fn wrong(&mut self, words: &str) {
        self.wrong.push(words.to_owned());
    }

    /// Call when everything has been read: whatever is left is unknown.
    pub(super) fn done(self) -> Result<(), Wrong> {
        let mut wrong = self.wrong;
        wrong.extend(self.fields.keys().map(|name| format!("{name}: no such field here")));
        if wrong.is_empty() { Ok(()) } else { Err(Wrong(wrong)) }
    }

    fn take<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Value) -> Option<T>,
        otherwise: &str,
    ) -> Option<T> {
        let value = self.fields.remove(name).filter(|value| !value.is_null())?;
        let found = read(&value);
        if found.is_none() {
            self.wrong.push(format!("{name}: {otherwise}"));
        }
        found
    }

    pub(super) fn number(&mut self, name: &str) -> Option<u64> {
        self.take(name, Value::as_u64, "a whole number")
    }

    pub(super) fn small(&mut self, name: &str) -> Option<u32> {
        let read = |value: &Value| value.as_u64().and_then(|number| number.try_into().ok());
        self.take(name, read, "a whole number below 4,294,967,296")
    }

    pub(super) fn positive(&mut self, name: &str) -> Option<u32> {
        let read = |value: &Value| value.as_u64().and_then(|number| number.try_into().ok());
        let otherwise = "a whole number from 1 to 4,294,967,295";
        self.take(name, |value| read(value).filter(|number| *number > 0), otherwise)
    }

    pub(super) fn needed(&mut self, name: &str) -> u64 {
        if !self.fields.contains_key(name) {
            self.wrong.push(format!("{name}: a whole number, and it is needed"));
        }
        self.number(name).unwrap_or_default()
    }

    /// An amount of money may not fit into a JSON number, so it is a string too.
    pub(super) fn amount(&mut self, name: &str) -> Option<u128> {
        let read = |value: &Value| match value.as_u64() {
            Some(number) => Some(number.into()),
            None => value.as_str()?.parse().ok(),
        };
        self.take(name, read, "a whole number in the smallest unit, or a string of digits")
    }

    pub(super) fn address(&mut self, name: &str) -> Option<EvmAddress> {
        let read = |value: &Value| value.as_str()?.parse().ok();
        self.take(name, read, "0x and 40 digits")
    }

    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        self.take(name, |value| value.as_str().map(str::to_owned), "a string")
    }

    /// What the chosen word stands for.
    pub(super) fn choice<T: Clone>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let read = |value: &Value| {
            let said = value.as_str()?;
            choices.iter().find(|(word, _)| *word == said).map(|(_, meant)| meant.clone())
        };
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        self.take(name, read, &format!("one of {}", words.join(", ")))
    }

    /// As a choice that must be made.
    fn needed_choice<T: Clone>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        // A word that is none of the choices, so that they are listed.
        self.fields.entry(name).or_insert_with(|| json!(""));
        self.choice(name, choices)
    }

    fn addresses(&mut self) -> Addresses {
        let read = |value: &Value| {
            let pairs = value.as_object()?.iter().map(|(coin, address)| {
                Some((coin.parse().ok()?, address.as_str()?.parse::<EvmAddress>().ok()?))
            });
            pairs.collect::<Option<Addresses>>()
        };
        let words = "an object from coin type to address, as {\"60\": \"0x…\"}";
        self.take("addresses", read, words).unwrap_or_default()
    }
}

pub(super) fn fault(form: &mut Form) -> Option<Fault> {
    let (seconds, blocks) = (form.number("seconds"), form.number("blocks"));
    let (chain, message) = (form.number("chain_id"), form.text("message"));
    let code = form.take("code", Value::as_i64, "a whole number").unwrap_or(-32000);
    let message = message.unwrap_or_else(|| "the node does not feel well".to_owned());
    let faults = [
        Fault::Reset,
        Fault::Unavailable,
        Fault::Hang,
        Fault::RateLimited { seconds: seconds.unwrap_or(1) },
        Fault::LoseAnswer,
        Fault::HangAfter,
        Fault::Garbage,
        Fault::Revert,
        Fault::Error { code, message },
        Fault::ChainId(chain.unwrap_or(31_337)),
        Fault::Stale { blocks: blocks.unwrap_or(10) },
        Fault::Silent,
        Fault::Strand,
        Fault::Drop,
        Fault::Reorder,
    ];
    form.needed_choice("fault", &faults.map(|fault| (fault.name(), fault)))
}

pub(super) fn gateway_fault(form: &mut Form) -> Option<GatewayFault> {
    let faults = [
        ("none", GatewayFault::None),
        ("down", GatewayFault::Down),
        ("not_found", GatewayFault::NotFound),
        ("forged", GatewayFault::Forged),
        ("expired", GatewayFault::Expired),
        ("garbage", GatewayFault::Garbage),
        ("hang", GatewayFault::Hang),
    ];
    form.choice("fault", &faults)
}

pub(super) fn lookup(form: &mut Form) -> Option<Lookup> {
    let ways = [("get", Lookup::Get), ("post", Lookup::Post), ("batched", Lookup::Batched)];
    form.choice("lookup", &ways)
}

/// A name, which stands on chain unless `kind` says otherwise.
pub(super) fn name(form: &mut Form) -> Option<Name> {
    let addresses = form.addresses();
    let words = form.text("words").unwrap_or_else(|| "the resolver fails".to_owned());
    form.fields.entry("kind").or_insert_with(|| json!("on_chain"));
    let kinds = [
        ("on_chain", Name::OnChain(addresses.clone())),
        ("offchain", Name::Offchain(addresses)),
        ("wildcard", Name::Wildcard),
        ("not_contract", Name::NotContract),
        ("failing", Name::Failing(words)),
    ];
    form.choice("kind", &kinds)
}

pub(super) fn show_name(name: &Name) -> Value {
    let addresses = |list: &Addresses| -> Value {
        list.iter().map(|(coin, address)| (coin.to_string(), json!(address.to_string()))).collect()
    };
    match name {
        Name::OnChain(list) => json!({ "kind": "on_chain", "addresses": addresses(list) }),
        Name::Offchain(list) => json!({ "kind": "offchain", "addresses": addresses(list) }),
        Name::Wildcard => json!({ "kind": "wildcard" }),
        Name::NotContract => json!({ "kind": "not_contract" }),
        Name::Failing(words) => json!({ "kind": "failing", "words": words }),
    }
}
