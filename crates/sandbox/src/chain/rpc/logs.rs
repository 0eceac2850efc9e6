//! Events by filter.

use alloy_primitives::{Address, B256};
use serde_json::{Map, Value};

use crate::chain::node::block::EmulatedBlock;
use crate::chain::node::state::ContractEvent;
use crate::chain::rpc::failure::{RpcError, RpcResult};
use crate::chain::rpc::params::{RpcBlockTag, RpcParams, address, hash, tag};
use crate::chain::rpc::read::BlockReader;
use crate::chain::rpc::shape::log;

/// Maximum number of events in an answer, as at public nodes.
const MOST: usize = 10_000;

struct Filter {
    /// None: any.
    addresses: Option<Vec<Address>>,
    /// For each position: none for any topic, or the accepted ones.
    topics: Vec<Option<Vec<B256>>>,
}

impl Filter {
    fn fits(&self, event: &ContractEvent) -> bool {
        let address = self.addresses.as_ref().is_none_or(|list| list.contains(&event.address));
        address
            && self.topics.iter().enumerate().all(|(place, wanted)| {
                wanted.as_ref().is_none_or(|wanted| {
                    event.topics.get(place).is_some_and(|topic| wanted.contains(topic))
                })
            })
    }
}

pub(crate) fn answer(reader: &BlockReader<'_>, params: &RpcParams<'_>) -> RpcResult {
    let filter = params.get(0).and_then(Value::as_object);
    let filter =
        filter.ok_or_else(|| RpcError::invalid("missing value for required argument 0"))?;
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
            return Err(RpcError::new(-32005, "query returned more than 10000 results"));
        }
    }
    Ok(Value::Array(found))
}

fn blocks<'a>(
    reader: &BlockReader<'a>,
    filter: &Map<String, Value>,
) -> Result<Vec<&'a EmulatedBlock>, RpcError> {
    let given = |name: &str| filter.get(name).filter(|value| !value.is_null());
    if let Some(value) = given("blockHash") {
        if given("fromBlock").is_some() || given("toBlock").is_some() {
            return Err(RpcError::invalid(
                "cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other",
            ));
        }
        let wanted = RpcBlockTag::Hash(hash(value.as_str().unwrap_or_default())?);
        let block = reader.find(wanted).ok_or_else(|| RpcError::server("unknown block"))?;
        return Ok(vec![block]);
    }
    let end = |name: &str| given(name).map_or(Ok(RpcBlockTag::Latest), tag);
    let number = |tag: RpcBlockTag| match tag {
        RpcBlockTag::Number(number) => Ok(number),
        RpcBlockTag::Latest
        | RpcBlockTag::Pending
        | RpcBlockTag::Safe
        | RpcBlockTag::Finalized
        | RpcBlockTag::Earliest
        | RpcBlockTag::Hash(_) => {
            let found = reader.find(tag).map(|block| block.number);
            found.ok_or_else(|| RpcError::server("unknown block"))
        }
    };
    let (from, to) = (number(end("fromBlock")?)?, number(end("toBlock")?)?);
    if from > to {
        return Err(RpcError::server("invalid block range params"));
    }
    let (from, to) = (from.max(reader.node().oldest()), to.min(reader.head()));
    Ok((from..=to).filter_map(|number| reader.node().block(number)).collect())
}

fn addresses(filter: &Map<String, Value>) -> Result<Option<Vec<Address>>, RpcError> {
    match filter.get("address") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(list)) if list.is_empty() => Ok(None),
        Some(value) => one_or_many(value, address).map(Some),
    }
}

fn topics(filter: &Map<String, Value>) -> Result<Vec<Option<Vec<B256>>>, RpcError> {
    let places = filter.get("topics").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if places.len() > 4 {
        return Err(RpcError::invalid("an event has four topics at most"));
    }
    let read = |place: &Value| match place {
        Value::Null => Ok(None),
        Value::Array(list) if list.is_empty() => Ok(None),
        Value::Array(_) | Value::String(_) => one_or_many(place, hash).map(Some),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Err(RpcError::invalid("a topic is null, 32 bytes or a list of them"))
        }
    };
    places.iter().map(read).collect()
}

fn one_or_many<T>(
    value: &Value,
    read: impl Fn(&str) -> Result<T, RpcError>,
) -> Result<Vec<T>, RpcError> {
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter().map(|entry| read(entry.as_str().unwrap_or_default())).collect()
}
