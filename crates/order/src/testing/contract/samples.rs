//! Sample orders, made by the real transitions.

use std::sync::LazyLock;

use crate::lifecycle::schedule::Attention;
use crate::lifecycle::{
    Mailed, Offered, Order, Refund, Setback, Settling, Standing, Stored, Submitting,
};
use crate::model::card::Postcard;
use crate::model::chain::{EvmAddress, Network};
use crate::model::identity::{Identity, Operation};
use crate::model::ids::{Timestamp, WorkerId};
use crate::model::mail::{Delivery, Mailpiece, ProviderAccount, ProviderQuote, Stage};
use crate::model::money::{CEILING, Cents, Usdc};
use crate::model::payment::{
    Authorization, Credential, Finality, Instrument, Payment, PaymentKey, Preparation, Receipt,
    Settlement, TenderKind,
};
use crate::model::seller::Username;
use crate::testing::fakes::cards::card;

/// The time at which every sample is offered.
pub const NOW: Timestamp = Timestamp(1_900_000_000);

static IDENTITY: LazyLock<Identity> = LazyLock::new(|| Identity::new([7; 32]));

/// The identity that names every sample.
pub fn identity() -> Identity {
    IDENTITY.clone()
}

/// The operation that asks for card number `seed`.
pub fn operation(seed: u64) -> Operation {
    let seller = Username::kept("alice".into());
    IDENTITY.operation(&seller, &card_of(seed), None)
}

pub fn offer_of(operation: Operation, now: Timestamp) -> Order<Offered> {
    let id = IDENTITY.order_id(&operation);
    Order::offer(id, operation, now)
}

pub fn offer(seed: u64) -> Order<Offered> {
    offer_of(operation(seed), NOW)
}

pub fn card_of(seed: u64) -> Postcard {
    card(&format!("Greetings, number {seed}."))
}

pub fn quote() -> ProviderQuote {
    ProviderQuote::new(Cents(175)).expect("not nothing")
}

/// A payment key that is unique to `seed`.
pub fn key(seed: u64) -> PaymentKey {
    let mut nonce = [0; 32];
    nonce[..8].copy_from_slice(&seed.to_be_bytes());
    let payer = EvmAddress::from_bytes([5; 20]);
    PaymentKey::of_nonce(Instrument::Permit2, Network::Base, payer, nonce)
}

pub fn payment_with(keys: Vec<PaymentKey>, tender: TenderKind, network: Network) -> Payment {
    let credential = Credential(b"a signed promise".to_vec());
    Payment {
        authorization: Authorization {
            tender,
            network,
            payer: EvmAddress::from_bytes([5; 20]),
            pay_to: EvmAddress::from_bytes([0xab; 20]),
            most: CEILING,
            deadline: NOW.plus(600),
            keys,
            digest: credential.digest(),
            credential,
        },
        charge: Usdc::from_atomic(2_117_500),
        preparation: Preparation(b"a signed transaction".to_vec()),
    }
}

pub fn payment(seed: u64) -> Payment {
    payment_with(vec![key(seed)], TenderKind::X402, Network::Base)
}

/// The order of this number, paid with the authorization of this number.
pub fn begun(order: Order<Offered>, seed: u64) -> Order<Settling> {
    let payment = payment(seed);
    order.begin_settlement(card_of(seed), quote(), payment, NOW.plus(1))
}

fn account() -> ProviderAccount {
    ProviderAccount("a provider, an account".into())
}

pub fn settlement(finality: Finality) -> Settlement {
    Settlement {
        transaction: format!("0x{}", "5e".repeat(32)),
        amount: Usdc::from_atomic(2_117_500),
        at: NOW.plus(2),
        finality,
        receipt: Receipt(b"a receipt".to_vec()),
    }
}

pub fn paid(seed: u64) -> Order<Submitting> {
    begun(offer(seed), seed).settled(settlement(Finality::Provisional), NOW.plus(3))
}

pub fn mailed(seed: u64) -> Order<Mailed> {
    paid(seed).accepted(Mailpiece(format!("order-{seed}")), NOW.plus(4))
}

/// Every state, every cause and every choice inside them, each with its own
/// operation and its own payment key, numbered from `seed` on.
pub fn every_state(seed: u64) -> Vec<Stored> {
    let mut seeds = seed..;
    let mut next = || seeds.next().expect("numbers do not run out");
    let mut all: Vec<Stored> = vec![
        offer(next()).into(),
        offer_of(Operation { generation: u32::MAX, ..named_operation(next()) }, NOW).into(),
        named(next()).lapse().into(),
        begun(named(next()), next()).declined(NOW.plus(5)).into(),
        begun(offer(next()), next()).prepared_again(Preparation::default(), NOW.plus(5)).into(),
        begun(offer(next()), next()).declined(NOW.plus(5)).into(),
        begun(offer(next()), next()).lost(NOW.plus(5)).into(),
    ];
    all.extend(every_payment(&mut next));
    all.extend(every_shortfall(&mut next));
    all.extend(every_end(&mut next));
    all
}

/// The operation that asks for card number `seed` under an identifier of the caller's own.
pub fn named_operation(seed: u64) -> Operation {
    let (seller, id) = (Username::kept("bob".into()), format!("birthday-{seed:020}"));
    let id = id.parse().expect("a good name");
    IDENTITY.operation(&seller, &card_of(seed), Some(&id))
}

/// An offer under an identifier of the caller's own, which is what a store is given.
pub fn named(seed: u64) -> Order<Offered> {
    offer_of(named_operation(seed), NOW)
}

fn every_payment(next: &mut impl FnMut() -> u64) -> Vec<Stored> {
    let mut all = Vec::new();
    for tender in [TenderKind::X402, TenderKind::Mpp] {
        for network in Network::ALL {
            let (keys, seed) = (vec![key(next()), key(next())], next());
            let mut payment = payment_with(keys, tender, network);
            // A payer may set the latest possible deadline.
            payment.authorization.deadline = Timestamp(u64::MAX);
            let order = offer(seed);
            all.push(order.begin_settlement(card_of(seed), quote(), payment, NOW).into());
        }
    }
    let unkeyed = payment_with(Vec::new(), TenderKind::Mpp, Network::Base);
    let seed = next();
    all.push(offer(seed).begin_settlement(card_of(seed), quote(), unkeyed, NOW).into());
    all
}

fn every_shortfall(next: &mut impl FnMut() -> u64) -> Vec<Stored> {
    let sure = settlement(Finality::Final);
    let now = NOW.plus(6);
    vec![
        paid(next()).into(),
        begun(offer(next()), next()).settled(sure, now).into(),
        paid(next()).in_doubt().submitting_to(account()).again(now).into(),
        paid(next()).submitting_to(account()).failed(Setback::Lost, now).into(),
        paid(next()).submitting_to(account()).accepted(Mailpiece("order-9".into()), now).into(),
        paid(next()).failed(Setback::Refused, now).into(),
        paid(next()).failed(Setback::Lost, now).into(),
        paid(next()).in_doubt().failed(Setback::Refused, now).looked(now).into(),
        mailed(next()).undelivered(now).into(),
        paid(next()).submitting_to(account()).erased(now).into(),
        paid(next()).payment_reversed(now).into(),
    ]
}

fn every_end(next: &mut impl FnMut() -> u64) -> Vec<Stored> {
    let now = NOW.plus(7);
    let amount = Usdc::from_atomic(2_420_000);
    let refund = |seed: u64| Refund { transaction: format!("0x{seed:064x}"), amount, at: now };
    let mut all: Vec<Stored> = vec![
        mailed(next()).into(),
        mailed(next()).cancelled_after_reversal(now).into(),
        mailed(next()).refunded(refund(next()), now).into(),
        mailed(next()).undelivered(now).refunded(refund(next()), now).into(),
        paid(next()).failed(Setback::Refused, now).refunded(refund(next()), now).into(),
        paid(next()).erased(now).refunded(refund(next()), now).into(),
    ];
    for stage in [Stage::Accepted, Stage::Mailed, Stage::Delivered, Stage::Returned, Stage::Failed]
    {
        all.push(mailed(next()).followed(Delivery { stage, at: now }, now).into());
    }
    for standing in [Standing::Provisional, Standing::Final, Standing::Reversed] {
        let mut order = mailed(next());
        order.state.paid.standing = standing;
        let worker = Some(WorkerId::from_bytes([0xfe; 16]));
        let (planned, acknowledged) = (NOW, Some(NOW));
        order.attention = Attention { due: None, planned, looks: u32::MAX, worker, acknowledged };
        all.push(order.into());
    }
    all
}
