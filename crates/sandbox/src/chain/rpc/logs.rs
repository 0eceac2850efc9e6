//! Events by filter.

use alloy_primitives::{Address, B256};
use serde_json::{Map, Value};

use super::super::block::Block;
use super::super::state::Event;
use super::params::{Params, Tag, address, hash, tag};
use super::read::Reader;
use super::shape::log;
use super::{Answer, Failure};

/// How many events one answer holds, as public nodes limit it.
const MOST: usize = 10_000;

struct Filter {
    /// None: any.
    addresses: Option<Vec<Address>>,
    /// For each place: none for any, or the ones that fit.
    topics: Vec<Option<Vec<B256>>>,
}

impl Filter {
    fn fits(&self, event: &Event) -> bool {
        let address = self.addresses.as_ref().is_none_or(|list| list.contains(&event.address));
        address
            && self.topics.iter().enumerate().all(|(place, wanted)| {
                wanted.as_ref().is_none_or(|wanted| {
                    event.topics.get(place).is_some_and(|topic| wanted.contains(topic))
                })
            })
    }
}

pub(super) fn answer(reader: &Reader<'_>, params: &Params<'_>) -> Answer {
    let filter = params.get(0).and_then(Value::as_object);
    let filter = filter.ok_or_else(|| Failure::invalid("missing value for required argument 0"))?;
    let blocks = blocks(reader, filter)?;
    let filter = Filter { addresses: addresses(filter)?, topics: topics(filter)? };
    let mut found = Vec::new();
    for block in blocks {
        for (index, mined) in block.transactions.iter().enumerate() {
            let first = block.events_before(index);
            let fitting = mined.events.iter().enumerate().filter(|(_, event)| filter.fits(event));
            found.extend(fitting.map(|(place, event)| log(block, index, first + place, event)));
        }
        if found.len() > MOST {
            return Err(Failure::new(-32005, "query returned more than 10000 results"));
        }
    }
    Ok(Value::Array(found))
}

fn blocks<'a>(reader: &Reader<'a>, filter: &Map<String, Value>) -> Result<Vec<&'a Block>, Failure> {
    let given = |name: &str| filter.get(name).filter(|value| !value.is_null());
    if let Some(value) = given("blockHash") {
        if given("fromBlock").is_some() || given("toBlock").is_some() {
            return Err(Failure::invalid(
                "cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other",
            ));
        }
        let wanted = Tag::Hash(hash(value.as_str().unwrap_or_default())?);
        let block = reader.find(wanted).ok_or_else(|| Failure::server("unknown block"))?;
        return Ok(vec![block]);
    }
    let end = |name: &str| given(name).map_or(Ok(Tag::Latest), tag);
    let number = |tag: Tag| match tag {
        Tag::Number(number) => Ok(number),
        Tag::Latest | Tag::Pending | Tag::Safe | Tag::Finalized | Tag::Earliest | Tag::Hash(_) => {
            let found = reader.find(tag).map(|block| block.number);
            found.ok_or_else(|| Failure::server("unknown block"))
        }
    };
    let (from, to) = (number(end("fromBlock")?)?, number(end("toBlock")?)?);
    if from > to {
        return Err(Failure::server("invalid block range params"));
    }
    let (from, to) = (from.max(reader.node().oldest()), to.min(reader.head()));
    Ok((from..=to).filter_map(|number| reader.node().block(number)).collect())
}

fn addresses(filter: &Map<String, Value>) -> Result<Option<Vec<Address>>, Failure> {
    match filter.get("address") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(list)) if list.is_empty() => Ok(None),
        Some(value) => one_or_many(value, address).map(Some),
    }
}

fn topics(filter: &Map<String, Value>) -> Result<Vec<Option<Vec<B256>>>, Failure> {
    let places = filter.get("topics").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if places.len() > 4 {
        return Err(Failure::invalid("an event has four topics at most"));
    }
    let read = |place: &Value| match place {
        Value::Null => Ok(None),
        Value::Array(list) if list.is_empty() => Ok(None),
        Value::Array(_) | Value::String(_) => one_or_many(place, hash).map(Some),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Err(Failure::invalid("a topic is null, 32 bytes or a list of them"))
        }
    };
    places.iter().map(read).collect()
}

fn one_or_many<T>(
    value: &Value,
    read: impl Fn(&str) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter().map(|entry| read(entry.as_str().unwrap_or_default())).collect()
}
