//! Answers of a node and of gateways about a seller's name: no account is paid that they do not name.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use adapters::ens::{
    AllowedGateway, Ens, EnsNodes, EnsSettings, MainnetAccounts, UNIVERSAL_RESOLVER,
};
use adapters::rpc::Node;
use order::model::chain::Network;
use order::model::evidence::BlockTag;
use order::model::seller::Username;
use order::ports::{NameService, Purpose};
use order::testing::manual_clock::ManualClock;
use pay::x402::{PERMIT2, UPTO_PROXY};

use super::answers::{AnswerServer, Form, server, split};

/// Stands for the server of answers in seeds; it has the same length.
const PLACEHOLDER: &[u8] = b"127.0.0.1:18700";
/// Longer than any result is remembered.
const PAUSE_SECONDS: u64 = 100_000;
const SELECTOR_OF_LOOKUP: [u8; 4] = [0x55, 0x6f, 0x18, 0x30];

struct Names {
    ens: Ens,
    clock: Arc<ManualClock>,
}

pub(crate) fn run(data: &[u8]) {
    static NAMES: OnceLock<Names> = OnceLock::new();
    let server = server();
    let names = NAMES.get_or_init(|| names(&server));
    names.clock.advance(PAUSE_SECONDS);
    let parts: Vec<Vec<u8>> = split(data).map(|part| placed(part, &server.place)).collect();
    let seller = Username::kept("alice".to_owned());
    let calls = names.ens.resolve(&seller, Purpose::Payment);
    let (found, _) = server.answering(Form::Ens, parts.iter().cloned(), calls);
    let Ok(Some(found)) = found else { return };
    assert!(!found.records().is_empty());
    for record in found.records() {
        let account = record.address.bytes();
        let text = evm::hex::encode(&account)[2..].to_owned();
        let names_it = |part: &Vec<u8>| {
            part.windows(20).any(|bytes| bytes == account)
                || String::from_utf8_lossy(part).to_lowercase().contains(&text)
        };
        assert!(parts.iter().any(names_it), "{} is in no answer", record.address);
        assert!(account[..18] != [0; 18], "{} belongs to the chain", record.address);
        let contracts =
            Network::ALL.map(|network| network.usdc()).into_iter().chain([PERMIT2, UPTO_PROXY]);
        assert!(!contracts.into_iter().any(|contract| contract == record.address));
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let found = [b"r".to_vec(), address([0x4e; 20]), vec![0; 64]].concat();
    let account = |byte: u8| [b"r".to_vec(), resolved(&[byte; 20])].concat();
    let unset = [b"r".to_vec(), resolved(&[])].concat();
    let lookup = |url: &str| [b"e".to_vec(), lookup(url)].concat();
    let join = |parts: &[Vec<u8>]| parts.join(&b"\n--\n"[..]);
    let get = "http://127.0.0.1:18700/{sender}/{data}.json";
    let post = "http://127.0.0.1:18700/lookup";
    let gateway = [b"r".to_vec(), vec![7; 40]].concat();
    let through = |url: &str| {
        [
            found.clone(),
            lookup(url),
            lookup(url),
            lookup(url),
            gateway.clone(),
            gateway.clone(),
            gateway.clone(),
            account(1),
            account(2),
            account(3),
        ]
    };
    vec![
        join(&[found.clone(), account(1), account(2), account(3)]),
        join(&[found.clone(), unset.clone(), unset.clone(), account(3), account(4)]),
        join(&[
            found.clone(),
            unset.clone(),
            unset.clone(),
            unset.clone(),
            unset.clone(),
            account(5),
            b"r".to_vec(),
            b"r".to_vec(),
        ]),
        join(&through(get)),
        join(&through(post)),
        join(&through("http://127.0.0.1:18701/")),
        join(&[found.clone(), account(0), account(1), account(2)]),
        join(&[found, b"e\x77\x20\x9f\xe8".to_vec(), b"!5{}".to_vec()]),
    ]
}

fn names(server: &AnswerServer) -> Names {
    let _entered = server.runtime.enter();
    let node = || Node::new(server.client.clone(), server.url(), 1);
    let gateway = AllowedGateway::parse(&format!("http://{}", server.place)).expect("a gateway");
    let settings = EnsSettings {
        parent: "cards.example.eth".to_owned(),
        nodes: EnsNodes { first: node(), second: None },
        universal_resolver: UNIVERSAL_RESOLVER.parse().expect("an account"),
        block_tag: BlockTag::Safe,
        gateways: vec![gateway],
        mainnet: MainnetAccounts::IfPlain(BTreeMap::from([(Network::Base, node())])),
        enabled: vec![Username::kept("alice".to_owned())],
    };
    let clock = Arc::new(ManualClock::default());
    Names { ens: Ens::new(settings, clock.clone()).expect("clients"), clock }
}

/// The part with the place of our server instead of its placeholder.
fn placed(part: &[u8], place: &str) -> Vec<u8> {
    let mut part = part.to_vec();
    for start in 0..part.len().saturating_sub(PLACEHOLDER.len() - 1) {
        if part[start..].starts_with(PLACEHOLDER) && place.len() == PLACEHOLDER.len() {
            part[start..start + PLACEHOLDER.len()].copy_from_slice(place.as_bytes());
        }
    }
    part
}

fn number(number: usize) -> Vec<u8> {
    evm::word::from_u64(number.try_into().expect("64 bits")).to_vec()
}

fn address(account: [u8; 20]) -> Vec<u8> {
    evm::word::from_address(account).to_vec()
}

/// Bytes with their length, filled up to whole words.
fn tail(bytes: &[u8]) -> Vec<u8> {
    let mut tail = number(bytes.len());
    tail.extend(bytes);
    tail.resize(tail.len().next_multiple_of(32), 0);
    tail
}

/// What `resolve` of the Universal Resolver returns for an account.
fn resolved(account: &[u8]) -> Vec<u8> {
    let inner = [number(32), tail(account)].concat();
    [number(64), address([0x4e; 20]), tail(&inner)].concat()
}

/// The error with which a resolver names a gateway (EIP-3668).
fn lookup(url: &str) -> Vec<u8> {
    let sender = UNIVERSAL_RESOLVER.parse::<order::model::chain::EvmAddress>().expect("an account");
    let urls = [number(1), number(32), tail(url.as_bytes())].concat();
    let (data, extra) = (tail(&[1, 2, 3]), tail(&[4]));
    let mut callback = vec![0xab; 4];
    callback.resize(32, 0);
    let head = 5 * 32;
    [
        SELECTOR_OF_LOOKUP.to_vec(),
        address(sender.bytes()),
        number(head),
        number(head + urls.len()),
        callback,
        number(head + urls.len() + data.len()),
        urls,
        data,
        extra,
    ]
    .concat()
}
