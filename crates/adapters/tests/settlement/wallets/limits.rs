//! Signatures that no key made cost a limited number of calls, and delay no payment by a key.

use adapters::settlement::SettlerLimits;

use tokio::time::Instant;

use super::*;

const REJECTED: &str = "contract_wallet_rejected_signature";

/// How often the chain was asked about a payer or a signature.
fn questions(fixture: &Fixture) -> u64 {
    let asked = ["eth_getCode", "eth_call", "eth_estimateGas"];
    asked.iter().map(|method| count(fixture, method)).sum()
}

fn count(fixture: &Fixture, method: &str) -> u64 {
    fixture.chain().counts().get(method).copied().unwrap_or_default()
}

/// The limit for all accounts that have not paid: 60 at once, and 5 a second.
fn allowed_unpaid(since: Instant) -> u64 {
    60 + 5 * (since.elapsed().as_secs() + 1)
}

fn stranger(number: u16) -> EvmAddress {
    let mut stranger = [0x99; 20];
    stranger[..2].copy_from_slice(&number.to_be_bytes());
    EvmAddress::from_bytes(stranger)
}

async fn verify(
    fixture: &Fixture,
    settler: &Settler,
    payer: EvmAddress,
    key: &str,
) -> Result<(), Rejection> {
    let authorization = fixture.terms(payer).signed_by(&fixture.chains.key(key));
    settler.verify(&authorization, SignatureKind::Contract).await
}

/// The wallet pays once.
async fn pay_by_wallet(fixture: &Fixture, settler: &Settler) {
    place_wallet(fixture);
    assert_eq!(verify(fixture, settler, WALLET, "owner").await, Ok(()));
    prepared(fixture, settler).await.unwrap().settle(settler).await.unwrap();
}

#[tokio::test]
async fn signatures_that_no_key_made_cost_a_limited_number_of_calls() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    pay_by_wallet(&fixture, &settler).await;
    let (before, started) = (count(&fixture, "eth_getCode"), Instant::now());
    let mut verdicts = Vec::new();
    for number in 0..500 {
        verdicts.push(verify(&fixture, &settler, stranger(number), "owner").await);
    }
    let asked = count(&fixture, "eth_getCode") - before;
    let allowed = allowed_unpaid(started);
    assert!((1..=allowed).contains(&asked), "{asked} calls for 500 signatures");
    assert!(verdicts.contains(&Err(Rejection::Unavailable)));
    // A wallet that has paid has a limit of its own.
    assert_eq!(verify(&fixture, &settler, WALLET, "owner").await, Ok(()));
}

#[tokio::test]
async fn wallets_that_accept_signatures_and_never_pay_share_one_limit() {
    let fixture = Fixture::open().await;
    let (settler, owner) = (fixture.settler(), fixture.chains.key("owner"));
    let wallets: Vec<EvmAddress> = (0..20).map(stranger).collect();
    for wallet in &wallets {
        fixture.chain().place_wallet(*wallet, owner.address());
    }
    let (before, started) = (count(&fixture, "eth_getCode"), Instant::now());
    let mut verdicts = Vec::new();
    for wallet in wallets.iter().cycle().take(500) {
        verdicts.push(verify(&fixture, &settler, *wallet, "owner").await);
    }
    assert_eq!(verdicts[0], invalid("permit2_insufficient_balance"), "the signature is good");
    let asked = count(&fixture, "eth_getCode") - before;
    let allowed = allowed_unpaid(started);
    assert!((1..=allowed).contains(&asked), "{asked} calls for 500 signatures");
    assert!(verdicts.contains(&Err(Rejection::Unavailable)));
}

#[tokio::test]
async fn a_wallet_that_has_paid_is_asked_about_a_limited_number_of_forged_signatures() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    pay_by_wallet(&fixture, &settler).await;
    let (before, started) = (questions(&fixture), Instant::now());
    for _ in 0..200 {
        assert!(verify(&fixture, &settler, WALLET, "thief").await.is_err());
    }
    // The limit: 10 at once, and one a second, each two calls.
    let allowed = 2 * (10 + started.elapsed().as_secs() + 1);
    let asked = questions(&fixture) - before;
    assert!((2..=allowed).contains(&asked), "{asked} calls for 200 signatures");
}

#[tokio::test]
async fn the_code_of_an_account_may_use_no_more_gas_than_a_settlement() {
    let fixture = Fixture::open().await;
    place_wallet(&fixture);
    let within =
        |gas_max| fixture.settler_within(SettlerLimits { gas_max, ..SettlerLimits::of(BASE) });
    // The wallet of the sandbox takes some 30,000.
    let (frugal, generous) = (within(25_000), within(50_000));
    assert_eq!(verify(&fixture, &generous, WALLET, "owner").await, Ok(()));
    let verdict = verify(&fixture, &frugal, WALLET, "owner").await;
    assert_eq!(verdict, Err(Rejection::Unavailable));
    // The same holds where the code runs within the settlement.
    let authorization = permitting(&fixture);
    fixture.chain().place_wallet(authorization.payer, authorization.payer);
    let verdict =
        async |settler: &Settler| settler.verify(&authorization, SignatureKind::Key).await;
    assert_eq!(verdict(&generous).await, Err(Rejection::Unavailable));
    assert_eq!(verdict(&fixture.settler()).await, Ok(()));
}

#[tokio::test]
async fn a_key_is_verified_while_the_checks_of_many_wallets_have_no_answer() {
    let fixture = Fixture::open().await;
    let settler = Arc::new(fixture.settler());
    pay_by_wallet(&fixture, &settler).await;
    let hangs = NodeFaultRule::once(NodeFault::Hang, "eth_getCode");
    fixture.chain().add_fault(NodeFaultRule { times: None, ..hangs });
    let before = count(&fixture, "eth_getCode");
    // As many as the limits allow at once, perhaps without the one that was checked above. That is
    // more than are simulated at once.
    let payers = (0..60).map(stranger).chain([WALLET; 10]);
    let checks: Vec<_> = payers
        .map(|payer| {
            let authorization = fixture.terms(payer).signed_by(&fixture.chains.key("owner"));
            let settler = settler.clone();
            tokio::spawn(
                async move { settler.verify(&authorization, SignatureKind::Contract).await },
            )
        })
        .collect();
    until("all are asked", async || count(&fixture, "eth_getCode") - before >= 69).await;
    let verdict = settler.verify(&fixture.authorization(), SignatureKind::Key).await;
    assert_eq!(verdict, Ok(()));
    let waiting = checks.iter().filter(|check| !check.is_finished()).count();
    assert!(waiting > 64, "{waiting} still wait");
    for check in checks {
        check.abort();
    }
}

#[tokio::test]
async fn an_account_with_a_key_is_asked_for_its_reason_a_limited_number_of_times() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    let authorization = fixture.authorization();
    // Its code reverts without a reason.
    fixture.chain().place_code(authorization.payer);
    let (before, started) = (count(&fixture, "eth_call"), Instant::now());
    let mut verdicts = Vec::new();
    for _ in 0..200 {
        verdicts.push(settler.prepare(&authorization, CHARGE, None).await.map(drop));
    }
    let asked = count(&fixture, "eth_call") - before;
    let allowed = allowed_unpaid(started);
    assert!((1..=allowed).contains(&asked), "{asked} calls for 200 payments");
    assert_eq!(verdicts[0], invalid(REJECTED));
    assert!(verdicts.contains(&invalid("permit2_simulation_failed")));
}
