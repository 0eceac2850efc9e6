//! A tender that settles on the fake chain.

use std::sync::Arc;

use async_trait::async_trait;

use super::chain::{FINALITY_SECONDS, LATE_SECONDS, Transfer};
use super::fault_schedule::{EFFECT_FAULTS, QUERY_FAULTS, SimulatedFault};
use super::world::FakeWorld;
use crate::model::chain::{EvmAddress, Network};
use crate::model::ids::{Fingerprint, OperationId, OrderId, Timestamp};
use crate::model::money::{CEILING, Price, Usdc};
use crate::model::payment::{
    Authorization, Credential, CredentialKeys, Finality, Instrument, Payment, PaymentKey,
    Preparation, Receipt, Settlement, TenderKind, Terms, Trace,
};
use crate::ports::Failure;
use crate::tender::{
    CheckedCredential, PresentedCredential, Rejection, Session, Tender, Tenders, Unsettled,
};

/// How long a signed authorization is valid.
pub const CREDENTIAL_SECONDS: u64 = 300;

/// The credential format of `FakeTender`.
#[derive(Clone, Copy, Debug)]
pub struct FakeCredential {
    pub nonce: u64,
    pub most: u64,
    pub deadline: u64,
    pub payee: u8,
}

impl FakeCredential {
    pub fn credential(self) -> Credential {
        let Self { nonce, most, deadline, payee } = self;
        Credential(format!("{nonce} {most} {deadline} {payee}").into_bytes())
    }

    /// The credential with the payer's payment identifier.
    pub fn identified(self, identifier: &str) -> Credential {
        let mut credential = self.credential();
        credential.0.extend([b" ", identifier.as_bytes()].concat());
        credential
    }

    fn identifier(credential: &Credential) -> Option<OperationId> {
        str::from_utf8(&credential.0).ok()?.split(' ').nth(4)?.parse().ok()
    }

    fn read(credential: &Credential) -> Option<Self> {
        let mut numbers = str::from_utf8(&credential.0).ok()?.split(' ').map(str::parse);
        let mut next = || numbers.next()?.ok();
        let (nonce, most, deadline) = (next()?, next()?, next()?);
        Some(Self { nonce, most, deadline, payee: u8::try_from(next()?).ok()? })
    }
}

/// The default payer.
pub const PAYER: EvmAddress = EvmAddress::from_bytes([0xee; 20]);

/// A tender that settles on the fake chain.
pub struct FakeTender {
    pub world: Arc<FakeWorld>,
    pub kind: TenderKind,
    /// The account that pays.
    pub payer: EvmAddress,
}

impl FakeWorld {
    pub fn tenders(self: &Arc<Self>) -> Tenders {
        let tender = |kind| -> Arc<dyn Tender> { Arc::new(self.tender(kind)) };
        Tenders(vec![tender(TenderKind::X402), tender(TenderKind::Mpp)])
    }

    pub fn tender(self: &Arc<Self>, kind: TenderKind) -> FakeTender {
        FakeTender { world: self.clone(), kind, payer: PAYER }
    }
}

impl Tender for FakeTender {
    fn kind(&self) -> TenderKind {
        self.kind
    }

    fn price(&self) -> Price {
        match self.kind {
            TenderKind::X402 => Price::UpTo(CEILING),
            TenderKind::Mpp => Price::Fixed(CEILING),
        }
    }

    fn read(&self, credential: Credential) -> Box<dyn PresentedCredential<'_> + '_> {
        let content = FakeCredential::read(&credential);
        let identifier = FakeCredential::identifier(&credential);
        let keys = CredentialKeys {
            spent: Vec::from_iter(content.map(|content| self.nonce_key(content))),
            identifier: identifier.map(|id| PaymentKey::of_identifier(&id)),
        };
        Box::new(FakePresented { tender: self, credential, content, keys })
    }

    fn resume(&self, payment: &Payment) -> Option<Box<dyn Session + '_>> {
        FakeCredential::read(&payment.authorization.credential)?;
        let Authorization { keys, deadline, .. } = &payment.authorization;
        Some(Box::new(FakeSession { world: &self.world, key: keys[0], deadline: *deadline }))
    }
}

impl FakeTender {
    fn nonce_key(&self, content: FakeCredential) -> PaymentKey {
        let mut nonce = [0; 32];
        nonce[..8].copy_from_slice(&content.nonce.to_be_bytes());
        let instrument = match self.kind {
            TenderKind::X402 => Instrument::Permit2,
            TenderKind::Mpp => Instrument::TransferAuthorization,
        };
        PaymentKey::of_nonce(instrument, Network::Base, self.payer, nonce)
    }
}

struct FakePresented<'a> {
    tender: &'a FakeTender,
    credential: Credential,
    content: Option<FakeCredential>,
    keys: CredentialKeys,
}

impl<'a> PresentedCredential<'a> for FakePresented<'a> {
    fn keys(&self) -> &CredentialKeys {
        &self.keys
    }

    fn check(self: Box<Self>, terms: &Terms) -> Result<CheckedCredential<'a>, Rejection> {
        let invalid = |reason: &str| Rejection::Invalid(reason.into());
        let content = self.content.ok_or_else(|| invalid("unreadable"))?;
        let payee = EvmAddress::from_bytes([content.payee; 20]);
        if content.most < terms.ceiling.atomic() {
            return Err(invalid("too little"));
        }
        if content.deadline <= terms.now.0 {
            return Err(invalid("ran out"));
        }
        if terms.payees.on(Network::Base) != Some(payee) {
            return Err(Rejection::PayeeChanged);
        }
        let FakeTender { world, kind, payer } = self.tender;
        let (keys, deadline) = (self.keys.all(), Timestamp(content.deadline));
        let session = Box::new(FakeSession { world, key: keys[0], deadline });
        let authorization = Authorization {
            tender: *kind,
            network: Network::Base,
            payer: *payer,
            pay_to: payee,
            most: Usdc::from_atomic(content.most),
            deadline,
            keys,
            digest: self.credential.digest(),
            credential: self.credential,
        };
        Ok(CheckedCredential { authorization, session })
    }
}

struct FakeSession<'a> {
    world: &'a FakeWorld,
    key: PaymentKey,
    deadline: Timestamp,
}

impl FakeSession<'_> {
    /// The order that the payment is bound to.
    fn order(&self) -> Option<OrderId> {
        self.world.store.bound_to(self.key)
    }
}

#[async_trait]
impl Session for FakeSession<'_> {
    /// Always succeeds: [`prepare`](Self::prepare) checks the chain.
    async fn verify(&self) -> Result<(), Rejection> {
        Ok(())
    }

    async fn prepare(
        &self,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        let order = self.order().or_else(|| self.world.requested_order());
        self.world.time_source.network_delay().await;
        if self.world.next_fault("prepare", order, QUERY_FAULTS) != SimulatedFault::None {
            return Err(Rejection::Unavailable);
        }
        let now = self.world.time();
        let mut chain = self.world.chain.lock().unwrap();
        chain.catch_up(now);
        // A failed simulation does not tell whether the authorization was spent on
        // this order or cancelled.
        if chain.is_spent(self.key) || now > self.deadline {
            self.world.count("prepare", "rejected", order);
            return Err(Rejection::Invalid("simulation failed".into()));
        }
        self.world.count("prepare", "ready", order);
        let fresh = || Preparation(charge.atomic().to_be_bytes().to_vec());
        Ok(earlier.cloned().unwrap_or_else(fresh))
    }

    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled> {
        self.world.time_source.network_delay().await;
        let sent = transfer(payment, self.world.time());
        let order = self.order();
        let fault = self.world.next_fault("settle", order, EFFECT_FAULTS);
        let went_in = {
            let mut chain = self.world.chain.lock().unwrap();
            chain.settle_calls += 1;
            chain.catch_up(sent.at);
            match fault {
                SimulatedFault::None | SimulatedFault::LostAfter | SimulatedFault::CrashAfter => {
                    chain.include(sent.clone())
                }
                SimulatedFault::Late => {
                    chain.pending.push(Transfer { at: sent.at.plus(LATE_SECONDS), ..sent.clone() });
                    false
                }
                SimulatedFault::Refused
                | SimulatedFault::LostBefore
                | SimulatedFault::CrashBefore => false,
            }
        };
        if fault == SimulatedFault::None {
            self.world.count("settle", if went_in { "settled" } else { "reverted" }, order);
        }
        self.world.time_source.network_delay().await;
        match fault {
            SimulatedFault::None if went_in => Ok(settlement(&sent, Finality::Provisional)),
            SimulatedFault::None | SimulatedFault::Refused => {
                Err(Unsettled::Refused("reverted".into()))
            }
            SimulatedFault::LostBefore | SimulatedFault::LostAfter | SimulatedFault::Late => {
                Err(Unsettled::Lost("no answer".into()))
            }
            SimulatedFault::CrashBefore | SimulatedFault::CrashAfter => self.world.crash().await,
        }
    }

    async fn trace(&self, _payment: &Payment, _told: Option<&str>) -> Result<Trace, Failure> {
        self.world
            .query("trace", self.order(), || {
                let now = self.world.time();
                let mut chain = self.world.chain.lock().unwrap();
                chain.catch_up(now);
                if let Some(moved) = chain.moved(self.key) {
                    let old = moved.at.plus(FINALITY_SECONDS) <= now;
                    let (words, finality) = if old {
                        ("final", Finality::Final)
                    } else {
                        ("provisional", Finality::Provisional)
                    };
                    return (words, Trace::Moved(settlement(moved, finality)));
                }
                // Decided by the latest final block, never by the local clock.
                let dead = self.deadline.plus(FINALITY_SECONDS) < now;
                let void = dead || chain.cancelled.contains(&self.key);
                if void { ("void", Trace::Void) } else { ("open", Trace::Open) }
            })
            .await
    }
}

fn transfer(payment: &Payment, at: Timestamp) -> Transfer {
    let Authorization { keys, most, deadline, .. } = &payment.authorization;
    Transfer { key: keys[0], amount: payment.charge, most: *most, at, deadline: *deadline }
}

fn settlement(moved: &Transfer, finality: Finality) -> Settlement {
    let transaction = format!("0x{:?}", Fingerprint(moved.key.0));
    let receipt = Receipt(transaction.clone().into_bytes());
    Settlement { transaction, amount: moved.amount, at: moved.at, finality, receipt }
}
