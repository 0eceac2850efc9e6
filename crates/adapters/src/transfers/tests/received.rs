//! What sellers received in a period.

use order::operator::transfers::ReceivedTransfer;
use sandbox::chain::{NodeFault, NodeFaultRule};

use super::*;

const OTHER: EvmAddress = EvmAddress::from_bytes([0x07; 20]);
const LOGS: &str = "eth_getLogs";
const ALWAYS: (Timestamp, Timestamp) = (Timestamp(0), Timestamp(u64::MAX));

async fn received(
    transfers: &NodeTransfers,
    (from, until): (Timestamp, Timestamp),
) -> Result<Vec<ReceivedTransfer>, Failure> {
    transfers.received(BASE, &[SELLER, OTHER], from, until).await
}

fn amounts(found: &[ReceivedTransfer]) -> Vec<u64> {
    found.iter().map(|one| one.transfer.amount.atomic()).collect()
}

fn calls(chains: &Chains) -> u64 {
    chains.base().counts().get(LOGS).copied().unwrap_or_default()
}

#[tokio::test]
async fn a_period_includes_its_first_second_and_excludes_its_last() {
    let chains = Chains::open().await;
    let mut times = Vec::new();
    for (to, atomic) in [(SELLER, 1), (OTHER, 2), (EvmAddress::from_bytes([9; 20]), 3), (SELLER, 4)]
    {
        chains.clock.advance(10);
        chains.pay(to, atomic);
        times.push(chains.clock.now());
    }
    chains.clock.advance(10);
    chains.base().mine(1);
    let transfers = chains.transfers();
    let found = received(&transfers, ALWAYS).await.unwrap();
    assert_eq!(amounts(&found), [1, 2, 4]);
    let seen: Vec<_> = found.iter().map(|one| (one.at, one.transfer.to)).collect();
    assert_eq!(seen, [(times[0], SELLER), (times[1], OTHER), (times[3], SELLER)]);
    let between = async |from, until| amounts(&received(&transfers, (from, until)).await.unwrap());
    assert_eq!(between(times[0], times[3]).await, [1, 2]);
    assert_eq!(between(times[0].plus(1), times[3].plus(1)).await, [2, 4]);
    assert_eq!(between(times[3], times[3]).await, [0; 0]);
    assert_eq!(between(times[3].plus(11), ALWAYS.1).await, [0; 0], "no block yet");
}

#[tokio::test]
async fn a_transfer_in_a_block_that_is_not_final_is_left_out() {
    let chains = Chains::open().await;
    chains.base().set_depths(TagDepths { safe: 0, finalized: 1 });
    chains.pay(SELLER, 1);
    chains.pay(SELLER, 2);
    assert_eq!(amounts(&received(&chains.transfers(), ALWAYS).await.unwrap()), [1]);
    chains.base().mine(1);
    assert_eq!(amounts(&received(&chains.transfers(), ALWAYS).await.unwrap()), [1, 2]);
}

#[tokio::test]
async fn without_an_account_nothing_is_asked() {
    let chains = Chains::open().await;
    chains.pay(SELLER, 1);
    let found = chains.transfers().received(BASE, &[], ALWAYS.0, ALWAYS.1).await;
    assert_eq!((found, calls(&chains)), (Ok(Vec::new()), 0));
}

#[tokio::test]
async fn a_long_period_is_read_in_ranges_that_the_node_answers() {
    let chains = Chains::open().await;
    chains.pay(SELLER, 1);
    chains.base().mine(2_997);
    chains.pay(SELLER, 2);
    // With the first block of the chain, 3,000 blocks.
    assert_eq!(amounts(&received(&chains.transfers(), ALWAYS).await.unwrap()), [1, 2]);
    assert_eq!(calls(&chains), 2);
    chains.base().clear_journal();
    let limited = NodeFault::Error { code: -32005, message: "too many results".to_owned() };
    let rule = NodeFaultRule { times: Some(2), ..NodeFaultRule::once(limited.clone(), LOGS) };
    chains.base().add_fault(rule);
    assert_eq!(amounts(&received(&chains.transfers(), ALWAYS).await.unwrap()), [1, 2]);
    assert_eq!(calls(&chains), 2 + 6, "2,000 and 1,000 blocks fail, then 500 are read six times");
    chains.base().clear_journal();
    chains.base().add_fault(NodeFaultRule { times: None, ..NodeFaultRule::once(limited, LOGS) });
    let failed = received(&chains.transfers(), ALWAYS).await;
    assert!(matches!(failed, Err(Failure::Lost(_))), "{failed:?}");
    assert_eq!(calls(&chains), 11, "down to one block");
}

#[tokio::test]
async fn an_event_that_was_not_asked_for_is_an_error() {
    let chains = Chains::open().await;
    chains.pay(SELLER, 1);
    let lies: [Lie; 8] = [
        |method, result| change(method, result, "address", json!(format!("0x{}", "11".repeat(20)))),
        |method, result| change(method, result, "removed", json!(true)),
        |method, result| change(method, result, "blockNumber", json!("0xffffff")),
        |method, result| change(method, result, "blockNumber", json!("0x3e8")),
        |method, result| change(method, result, "blockHash", json!(hash_of(1))),
        |method, result| change(method, result, "data", json!("0x")),
        |method, result| change_topic(method, result, 0),
        |method, result| change_topic(method, result, 2),
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        let found = received(&chains.changed(lie).await, ALWAYS).await;
        assert!(matches!(found, Err(Failure::Lost(_))), "lie {number}: {found:?}");
    }
}

fn change_topic(method: &str, result: &mut Value, place: usize) {
    if let Some(event) = first_event(method, result) {
        event["topics"][place] = json!(hash_of(1));
    }
}

#[tokio::test]
async fn a_period_whose_blocks_the_node_has_pruned_is_not_answered() {
    let chains = Chains::open().await;
    chains.pay(SELLER, 1);
    chains.clock.advance(10);
    // The emulated node keeps 4,096 blocks.
    chains.base().mine(4_096);
    let pruned = received(&chains.transfers(), ALWAYS).await;
    assert!(matches!(pruned, Err(Failure::Lost(_))), "{pruned:?}");
    chains.clock.advance(10);
    let since = chains.clock.now();
    chains.pay(SELLER, 2);
    let kept = received(&chains.transfers(), (since, ALWAYS.1)).await.unwrap();
    assert_eq!(amounts(&kept), [2]);
}
