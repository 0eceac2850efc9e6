//! Reads the JSON body of a control request and collects all invalid fields.

use order::model::chain::EvmAddress;
use serde_json::{Map, Value, json};

use crate::chain::ens::names::{GatewayFault, GatewayLookup, NameAddresses, NameRecord};
use crate::chain::faults::NodeFault;

/// All invalid fields, each with what is expected.
#[derive(Debug)]
pub(crate) struct InvalidFields(pub(crate) Vec<String>);

impl InvalidFields {
    pub(crate) fn one(words: &str) -> Self {
        Self(vec![words.to_owned()])
    }
}

pub(crate) struct ControlForm {
    fields: Map<String, Value>,
    wrong: Vec<String>,
}

impl ControlForm {
    /// An empty body is an empty object.
    pub(crate) fn read(body: &[u8]) -> Result<Self, InvalidFields> {
        if body.is_empty() {
            return Ok(Self { fields: Map::new(), wrong: Vec::new() });
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Ok(Self { fields, wrong: Vec::new() }),
            Ok(_) | Err(_) => Err(InvalidFields::one("body: a JSON object")),
        }
    }

    /// Adds an error that concerns several fields.
    pub(crate) fn wrong(&mut self, words: &str) {
        self.wrong.push(words.to_owned());
    }

    /// Call last: fields that are left are unknown.
    pub(crate) fn done(self) -> Result<(), InvalidFields> {
        let mut wrong = self.wrong;
        wrong.extend(self.fields.keys().map(|name| format!("{name}: unknown field")));
        if wrong.is_empty() { Ok(()) } else { Err(InvalidFields(wrong)) }
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

    pub(crate) fn number(&mut self, name: &str) -> Option<u64> {
        self.take(name, Value::as_u64, "a whole number")
    }

    pub(crate) fn small(&mut self, name: &str) -> Option<u32> {
        let read = |value: &Value| value.as_u64().and_then(|number| number.try_into().ok());
        self.take(name, read, "a whole number below 4,294,967,296")
    }

    pub(crate) fn positive(&mut self, name: &str) -> Option<u32> {
        let read = |value: &Value| value.as_u64().and_then(|number| number.try_into().ok());
        let otherwise = "a whole number from 1 to 4,294,967,295";
        self.take(name, |value| read(value).filter(|number| *number > 0), otherwise)
    }

    pub(crate) fn needed(&mut self, name: &str) -> u64 {
        if !self.fields.contains_key(name) {
            self.wrong.push(format!("{name}: required, a whole number"));
        }
        self.number(name).unwrap_or_default()
    }

    /// An amount of money may not fit into a JSON number, so it is a string too.
    pub(crate) fn amount(&mut self, name: &str) -> Option<u128> {
        let read = |value: &Value| match value.as_u64() {
            Some(number) => Some(number.into()),
            None => value.as_str()?.parse().ok(),
        };
        self.take(name, read, "a whole number in the smallest unit, or a string of digits")
    }

    pub(crate) fn address(&mut self, name: &str) -> Option<EvmAddress> {
        let read = |value: &Value| value.as_str()?.parse().ok();
        self.take(name, read, "0x and 40 digits")
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        self.take(name, |value| value.as_str().map(str::to_owned), "a string")
    }

    /// The value of the chosen word.
    pub(crate) fn choice<T: Clone>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let read = |value: &Value| {
            let said = value.as_str()?;
            choices.iter().find(|(word, _)| *word == said).map(|(_, meant)| meant.clone())
        };
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        self.take(name, read, &format!("one of {}", words.join(", ")))
    }

    /// A required choice.
    fn needed_choice<T: Clone>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        // An invalid word, so that the error lists the choices.
        self.fields.entry(name).or_insert_with(|| json!(""));
        self.choice(name, choices)
    }

    fn addresses(&mut self) -> NameAddresses {
        let read = |value: &Value| {
            let pairs = value.as_object()?.iter().map(|(coin, address)| {
                Some((coin.parse().ok()?, address.as_str()?.parse::<EvmAddress>().ok()?))
            });
            pairs.collect::<Option<NameAddresses>>()
        };
        let words = "an object from coin type to address, as {\"60\": \"0x…\"}";
        self.take("addresses", read, words).unwrap_or_default()
    }
}

pub(crate) fn fault(form: &mut ControlForm) -> Option<NodeFault> {
    let (seconds, blocks) = (form.number("seconds"), form.number("blocks"));
    let (chain, message) = (form.number("chain_id"), form.text("message"));
    let code = form.take("code", Value::as_i64, "a whole number").unwrap_or(-32000);
    let message = message.unwrap_or_else(|| "the node failed".to_owned());
    let faults = [
        NodeFault::Reset,
        NodeFault::Unavailable,
        NodeFault::Hang,
        NodeFault::RateLimited { seconds: seconds.unwrap_or(1) },
        NodeFault::LoseAnswer,
        NodeFault::HangAfter,
        NodeFault::Garbage,
        NodeFault::Revert,
        NodeFault::Error { code, message },
        NodeFault::ChainId(chain.unwrap_or(31_337)),
        NodeFault::Stale { blocks: blocks.unwrap_or(10) },
        NodeFault::Silent,
        NodeFault::Strand,
        NodeFault::Drop,
        NodeFault::Reorder,
    ];
    form.needed_choice("fault", &faults.map(|fault| (fault.name(), fault)))
}

pub(crate) fn gateway_fault(form: &mut ControlForm) -> Option<GatewayFault> {
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

pub(crate) fn lookup(form: &mut ControlForm) -> Option<GatewayLookup> {
    let ways = [
        ("get", GatewayLookup::Get),
        ("post", GatewayLookup::Post),
        ("batched", GatewayLookup::Batched),
    ];
    form.choice("lookup", &ways)
}

/// A name record, on chain unless `kind` says otherwise.
pub(crate) fn name(form: &mut ControlForm) -> Option<NameRecord> {
    let addresses = form.addresses();
    let words = form.text("words").unwrap_or_else(|| "the resolver fails".to_owned());
    form.fields.entry("kind").or_insert_with(|| json!("on_chain"));
    let kinds = [
        ("on_chain", NameRecord::OnChain(addresses.clone())),
        ("offchain", NameRecord::Offchain(addresses)),
        ("wildcard", NameRecord::Wildcard),
        ("not_contract", NameRecord::NotContract),
        ("failing", NameRecord::Failing(words)),
    ];
    form.choice("kind", &kinds)
}

pub(crate) fn show_name(name: &NameRecord) -> Value {
    let addresses = |list: &NameAddresses| -> Value {
        list.iter().map(|(coin, address)| (coin.to_string(), json!(address.to_string()))).collect()
    };
    match name {
        NameRecord::OnChain(list) => json!({ "kind": "on_chain", "addresses": addresses(list) }),
        NameRecord::Offchain(list) => json!({ "kind": "offchain", "addresses": addresses(list) }),
        NameRecord::Wildcard => json!({ "kind": "wildcard" }),
        NameRecord::NotContract => json!({ "kind": "not_contract" }),
        NameRecord::Failing(words) => json!({ "kind": "failing", "words": words }),
    }
}
