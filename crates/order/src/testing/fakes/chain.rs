//! A chain with blocks, reorganisations and payers who burn their promises, and the tills that use it.

use std::sync::Arc;

use async_trait::async_trait;

use super::fates::{ACT, ASK, Fate};
use super::world::World;
use crate::model::chain::{EvmAddress, Network};
use crate::model::ids::{OperationId, Timestamp};
use crate::model::money::{CEILING, Price, Usdc};
use crate::model::payment::{
    Authorization, Credential, CredentialKeys, Finality, Instrument, Payment, PaymentKey,
    Preparation, Receipt, Settlement, TenderKind, Terms, Trace,
};
use crate::ports::Failure;
use crate::tender::{Rejection, Tender, Unsettled};

/// A block this old cannot be reorganised away.
pub const FINALITY_SECONDS: u64 = 60;
/// How long a signed promise is good for.
pub const PROMISE_SECONDS: u64 = 300;
/// How late a transaction that was lost on its way may still go in.
const LATE_SECONDS: u64 = 40;

/// What everybody can see.
#[derive(Default)]
pub struct Chain {
    pub transfers: Vec<Transfer>,
    /// Sent, and not in a block yet.
    pending: Vec<Transfer>,
    burned: Vec<PaymentKey>,
    /// How often a till asked for money.
    pub settle_calls: u64,
}

/// What payers do when the chain gives them their money back for a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payers {
    Stand,
    Burn,
}

/// Money that moved.
#[derive(Clone, Debug)]
pub struct Transfer {
    pub key: PaymentKey,
    pub amount: Usdc,
    pub most: Usdc,
    pub at: Timestamp,
    deadline: Timestamp,
}

impl Chain {
    /// Puts into blocks what is due by now.
    fn catch_up(&mut self, now: Timestamp) {
        let (due, pending) =
            std::mem::take(&mut self.pending).into_iter().partition(|sent| sent.at <= now);
        self.pending = pending;
        for sent in Vec::<Transfer>::from_iter(due) {
            self.include(sent);
        }
    }

    /// The contract's own rules: a promise is good once, and until it runs out.
    fn include(&mut self, sent: Transfer) -> bool {
        let spent = self.is_spent(sent.key) || sent.at > sent.deadline;
        if !spent {
            self.transfers.push(sent);
        }
        !spent
    }

    fn is_spent(&self, key: PaymentKey) -> bool {
        self.burned.contains(&key) || self.transfers.iter().any(|moved| moved.key == key)
    }

    fn moved(&self, key: PaymentKey) -> Option<&Transfer> {
        self.transfers.iter().find(|moved| moved.key == key)
    }

    /// Whether money moved for this promise, or still may without our doing.
    pub fn moved_or_may(&mut self, key: PaymentKey, now: Timestamp) -> bool {
        self.catch_up(now);
        let on_its_way =
            self.pending.iter().any(|sent| sent.key == key && sent.at <= sent.deadline);
        self.moved(key).is_some() || (on_its_way && !self.burned.contains(&key))
    }

    /// Whether nothing is on its way any more.
    pub fn is_quiet(&mut self, now: Timestamp) -> bool {
        self.catch_up(now);
        self.pending.is_empty()
            && self.transfers.iter().all(|moved| moved.at.plus(FINALITY_SECONDS) <= now)
    }

    /// Takes the newest blocks back. What was in them waits to go in again,
    /// unless its payer uses the moment to burn the promise.
    pub fn reorganise(&mut self, now: Timestamp, payers: Payers) -> u64 {
        self.catch_up(now);
        let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.transfers)
            .into_iter()
            .partition(|moved| moved.at.plus(FINALITY_SECONDS) > now);
        self.transfers = kept;
        let count = u64::try_from(gone.len()).expect("a length fits 64 bits");
        for taken in gone {
            match payers {
                Payers::Burn => self.burned.push(taken.key),
                // Half of them are forgotten by the nodes and must be sent again.
                Payers::Stand if taken.at.0.is_multiple_of(2) => {}
                Payers::Stand => self.pending.push(Transfer { at: now.plus(12), ..taken }),
            }
        }
        count
    }
}

/// What a payer signs, as these tills read it.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    pub nonce: u64,
    pub most: u64,
    pub deadline: u64,
    pub payee: u8,
}

impl Promise {
    pub fn credential(self) -> Credential {
        let Self { nonce, most, deadline, payee } = self;
        Credential(format!("{nonce} {most} {deadline} {payee}").into_bytes())
    }

    /// The same with the payer's own identifier of the payment.
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

/// A way of paying over this chain.
pub struct Till {
    pub world: Arc<World>,
    pub kind: TenderKind,
    /// The account that pays here.
    pub payer: EvmAddress,
}

#[async_trait]
impl Tender for Till {
    fn kind(&self) -> TenderKind {
        self.kind
    }

    fn price(&self) -> Price {
        match self.kind {
            TenderKind::X402 => Price::UpTo(CEILING),
            TenderKind::Mpp => Price::Fixed(CEILING),
        }
    }

    fn keys(&self, credential: &Credential) -> CredentialKeys {
        let identifier = Promise::identifier(credential).map(|id| PaymentKey::of_identifier(&id));
        let spent = Promise::read(credential).map(|promise| self.nonce_key(promise));
        CredentialKeys { spent: Vec::from_iter(spent), identifier }
    }

    fn read(&self, credential: Credential, terms: &Terms) -> Result<Authorization, Rejection> {
        let invalid = |reason: &str| Rejection::Invalid(reason.into());
        let promise = Promise::read(&credential).ok_or_else(|| invalid("unreadable"))?;
        let payee = EvmAddress::from_bytes([promise.payee; 20]);
        if promise.most < terms.ceiling.atomic() {
            return Err(invalid("too little"));
        }
        if promise.deadline <= terms.now.0 {
            return Err(invalid("ran out"));
        }
        if terms.payees.on(Network::Base) != Some(payee) {
            return Err(Rejection::PayeeChanged);
        }
        let keys = self.keys(&credential).all();
        Ok(self.authorization(credential, promise, keys))
    }

    /// Whatever the chain could tell is told by [`prepare`](Self::prepare).
    async fn verify(&self, _authorization: &Authorization) -> Result<(), Rejection> {
        Ok(())
    }

    async fn prepare(
        &self,
        authorization: &Authorization,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        self.world.pace.travel().await;
        if self.world.fate(ASK) != Fate::Works {
            return Err(Rejection::Unavailable);
        }
        let key = authorization.keys[0];
        let now = self.world.time();
        let mut chain = self.world.chain.lock().unwrap();
        chain.catch_up(now);
        // A simulation that fails says the same of a promise that was spent on
        // us and of one that was burned.
        if chain.is_spent(key) || now > authorization.deadline {
            return Err(Rejection::Invalid("simulation failed".into()));
        }
        let fresh = || Preparation(charge.atomic().to_be_bytes().to_vec());
        Ok(earlier.cloned().unwrap_or_else(fresh))
    }

    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled> {
        self.world.pace.travel().await;
        let sent = transfer(payment, self.world.time());
        let fate = self.world.fate(ACT);
        let went_in = {
            let mut chain = self.world.chain.lock().unwrap();
            chain.settle_calls += 1;
            chain.catch_up(sent.at);
            match fate {
                Fate::Works | Fate::LostAfter | Fate::CrashAfter => chain.include(sent.clone()),
                Fate::Late => {
                    chain.pending.push(Transfer { at: sent.at.plus(LATE_SECONDS), ..sent.clone() });
                    false
                }
                Fate::Refused | Fate::LostBefore | Fate::CrashBefore => false,
            }
        };
        self.world.pace.travel().await;
        match fate {
            Fate::Works if went_in => Ok(settlement(&sent, Finality::Provisional)),
            Fate::Works | Fate::Refused => Err(Unsettled::Refused("reverted".into())),
            Fate::LostBefore | Fate::LostAfter | Fate::Late => {
                Err(Unsettled::Lost("no answer".into()))
            }
            Fate::CrashBefore | Fate::CrashAfter => self.world.crash().await,
        }
    }

    async fn trace(&self, payment: &Payment, _told: Option<&str>) -> Result<Trace, Failure> {
        let key = payment.authorization.keys[0];
        self.world
            .ask(|| {
                let now = self.world.time();
                let mut chain = self.world.chain.lock().unwrap();
                chain.catch_up(now);
                if let Some(moved) = chain.moved(key) {
                    let old = moved.at.plus(FINALITY_SECONDS) <= now;
                    let finality = if old { Finality::Final } else { Finality::Provisional };
                    return Trace::Moved(settlement(moved, finality));
                }
                // Judged by the latest final block, never by our own clock.
                let dead = payment.authorization.deadline.plus(FINALITY_SECONDS) < now;
                if dead || chain.burned.contains(&key) { Trace::Void } else { Trace::Open }
            })
            .await
    }
}

/// The payer, unless a test names another.
pub const PAYER: EvmAddress = EvmAddress::from_bytes([0xee; 20]);

impl Till {
    fn nonce_key(&self, promise: Promise) -> PaymentKey {
        let mut nonce = [0; 32];
        nonce[..8].copy_from_slice(&promise.nonce.to_be_bytes());
        let instrument = match self.kind {
            TenderKind::X402 => Instrument::Permit2,
            TenderKind::Mpp => Instrument::TransferAuthorization,
        };
        PaymentKey::of_nonce(instrument, Network::Base, self.payer, nonce)
    }

    fn authorization(
        &self,
        credential: Credential,
        promise: Promise,
        keys: Vec<PaymentKey>,
    ) -> Authorization {
        Authorization {
            tender: self.kind,
            network: Network::Base,
            payer: self.payer,
            pay_to: EvmAddress::from_bytes([promise.payee; 20]),
            most: Usdc::from_atomic(promise.most),
            deadline: Timestamp(promise.deadline),
            keys,
            digest: credential.digest(),
            credential,
        }
    }
}

fn transfer(payment: &Payment, at: Timestamp) -> Transfer {
    let Authorization { keys, most, deadline, .. } = &payment.authorization;
    Transfer { key: keys[0], amount: payment.charge, most: *most, at, deadline: *deadline }
}

fn settlement(moved: &Transfer, finality: Finality) -> Settlement {
    let transaction = format!("0x{:?}", crate::model::ids::Fingerprint(moved.key.0));
    let receipt = Receipt(transaction.clone().into_bytes());
    Settlement { transaction, amount: moved.amount, at: moved.at, finality, receipt }
}
