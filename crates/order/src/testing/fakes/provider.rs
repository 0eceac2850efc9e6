//! A provider with a ledger, a list that lags behind, and an hour to change one's mind.

use async_trait::async_trait;

use super::fates::{ACT, ASK, Fate};
use super::world::World;
use crate::lifecycle::{Order, Submitting};
use crate::model::card::Postcard;
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::{
    Cancellation, Delivery, Mailpiece, Preview, Promises, ProviderAccount, ProviderQuote, Stage,
};
use crate::model::money::Cents;
use crate::ports::{Failure, Provider, Unanswered};

/// How late a card that was lost on its way may still be accepted.
const LATE_SECONDS: u64 = 45;
/// From the printer to the letter box.
const DELIVERY_SECONDS: u64 = 4 * 60 * 60;

/// What the provider knows.
pub struct Press {
    pub account: &'static str,
    pub promises: Promises,
    pub total: Cents,
    pub pieces: Vec<Piece>,
    /// Handed in, and not accepted yet.
    pending: Vec<Piece>,
    handed_in: u64,
    /// How long a new card is missing from the list.
    pub list_lag_seconds: u64,
}

/// One card on paper.
#[derive(Clone, Debug)]
pub struct Piece {
    pub id: Mailpiece,
    pub order: OrderId,
    key: [u8; 32],
    pub accepted_at: Timestamp,
    pub cancelled: bool,
}

impl Press {
    pub fn new(promises: Promises) -> Self {
        Self {
            account: "press",
            promises,
            total: Cents(200),
            pieces: Vec::new(),
            pending: Vec::new(),
            handed_in: 0,
            list_lag_seconds: promises.visibility_lag_seconds,
        }
    }

    /// Cards that will be, or have been, mailed for an order.
    pub fn live(&self, order: OrderId) -> usize {
        self.pieces.iter().filter(|piece| piece.order == order && !piece.cancelled).count()
    }

    /// Whether nothing is on its way any more, and everybody has had time to see
    /// what has arrived.
    pub fn is_quiet(&mut self, now: Timestamp) -> bool {
        self.catch_up(now);
        let shown = self.list_lag_seconds + 20 * 60;
        self.pending.is_empty()
            && self.pieces.iter().all(|piece| piece.accepted_at.plus(shown) <= now)
    }

    fn catch_up(&mut self, now: Timestamp) {
        let (due, pending) =
            std::mem::take(&mut self.pending).into_iter().partition(|sent| sent.accepted_at <= now);
        self.pending = pending;
        for piece in Vec::<Piece>::from_iter(due) {
            self.accept(piece);
        }
    }

    /// A provider that promises so mails the same order once. It notices the
    /// second as late as it shows the first.
    fn accept(&mut self, piece: Piece) -> Mailpiece {
        let kept = self.promises.idempotent_seconds.unwrap_or_default();
        let lag = self.promises.visibility_lag_seconds;
        let twin = self.pieces.iter().find(|earlier| {
            let age = piece.accepted_at.since(earlier.accepted_at);
            earlier.key == piece.key && age.is_some_and(|age| age >= lag && age < kept)
        });
        if let Some(twin) = twin {
            return twin.id.clone();
        }
        let id = piece.id.clone();
        self.pieces.push(piece);
        id
    }

    fn hand_in(&mut self, order: &Order<Submitting>, at: Timestamp) -> Piece {
        self.handed_in += 1;
        Piece {
            id: Mailpiece(self.handed_in.to_string()),
            order: order.id,
            key: order.submission_key(),
            accepted_at: at,
            cancelled: false,
        }
    }

    fn cancel(&mut self, id: &Mailpiece, now: Timestamp) -> Cancellation {
        let window = self.promises.cancel_seconds;
        match self.pieces.iter_mut().find(|piece| piece.id == *id) {
            Some(piece) if piece.cancelled || now <= piece.accepted_at.plus(window) => {
                piece.cancelled = true;
                Cancellation::Cancelled
            }
            Some(_) | None => Cancellation::TooLate,
        }
    }

    fn stage(&self, id: &Mailpiece, now: Timestamp) -> Option<Delivery> {
        let piece = self.pieces.iter().find(|piece| piece.id == *id)?;
        let age = now.since(piece.accepted_at).unwrap_or_default();
        let stage = match age {
            _ if piece.cancelled => Stage::Failed,
            DELIVERY_SECONDS.. => Stage::Delivered,
            _ if age > self.promises.cancel_seconds => Stage::Mailed,
            _ => Stage::Accepted,
        };
        Some(Delivery { stage, at: now })
    }
}

#[async_trait]
impl Provider for World {
    fn account(&self) -> ProviderAccount {
        ProviderAccount(self.press.lock().unwrap().account.to_owned())
    }

    fn promises(&self) -> Promises {
        self.press.lock().unwrap().promises
    }

    async fn preview(&self, _card: &Postcard) -> Result<Preview, Unanswered> {
        let url = "https://previews.example.org/front.png".to_owned();
        self.ask(|| Preview { urls: vec![url] }).await.map_err(|_| Unanswered::Unreachable)
    }

    async fn quote(&self, _card: &Postcard) -> Result<ProviderQuote, Unanswered> {
        self.pace.travel().await;
        if self.fate(ASK) != Fate::Works {
            return Err(Unanswered::Unreachable);
        }
        ProviderQuote::new(self.press.lock().unwrap().total).ok_or(Unanswered::Unusable)
    }

    async fn submit(&self, order: &Order<Submitting>) -> Result<Mailpiece, Failure> {
        self.pace.travel().await;
        let now = self.time();
        let fate = self.fate(ACT);
        let accepted = {
            let mut press = self.press.lock().unwrap();
            press.catch_up(now);
            let piece = press.hand_in(order, now);
            match fate {
                Fate::Works | Fate::LostAfter | Fate::CrashAfter => Some(press.accept(piece)),
                Fate::Late => {
                    let late = Piece { accepted_at: now.plus(LATE_SECONDS), ..piece };
                    press.pending.push(late);
                    None
                }
                Fate::Refused | Fate::LostBefore | Fate::CrashBefore => None,
            }
        };
        self.pace.travel().await;
        match (fate, accepted) {
            (Fate::Works, Some(mailpiece)) => Ok(mailpiece),
            (Fate::Refused, _) => Err(Failure::Refused("refused".into())),
            (Fate::CrashBefore | Fate::CrashAfter, _) => self.crash().await,
            (Fate::Works | Fate::LostBefore | Fate::LostAfter | Fate::Late, _) => {
                Err(Failure::Lost("no answer".into()))
            }
        }
    }

    async fn find(&self, order: OrderId, since: Timestamp) -> Result<Vec<Mailpiece>, Failure> {
        self.ask(|| {
            let now = self.time();
            let mut press = self.press.lock().unwrap();
            press.catch_up(now);
            let lag = press.list_lag_seconds;
            let listed = |piece: &&Piece| {
                let shown = piece.accepted_at.plus(lag) <= now && piece.accepted_at >= since;
                piece.order == order && !piece.cancelled && shown
            };
            press.pieces.iter().filter(listed).map(|piece| piece.id.clone()).collect()
        })
        .await
    }

    async fn track(&self, mailpiece: &Mailpiece) -> Result<Option<Delivery>, Failure> {
        self.ask(|| self.press.lock().unwrap().stage(mailpiece, self.time())).await
    }

    async fn cancel(&self, mailpiece: &Mailpiece) -> Result<Cancellation, Failure> {
        self.ask(|| self.press.lock().unwrap().cancel(mailpiece, self.time())).await
    }
}
