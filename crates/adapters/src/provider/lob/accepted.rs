//! All cards of a period, from Lob's list.

use order::model::ids::Timestamp;
use order::model::mail::{AcceptedCard, Mailpiece};

use super::wire::{LobPostcard, PostcardList};
use super::{Lob, PEER};
use crate::http::{CallError, CallErrorKind, HttpCall, HttpUrl};
use crate::provider::time::ProviderTime;

const CARDS_A_PAGE: &str = "100";
/// A card has its addresses, its tracking events and URLs of its pictures.
const PAGE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// A million cards. A list that has more does not end.
const PAGES_MAX: u64 = 10_000;

impl Lob {
    /// Reads the list, newest first. The filter by date only shortens it: one that is ignored
    /// returns all cards.
    pub(super) async fn list_accepted(
        &self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<AcceptedCard>, CallError> {
        let first = self
            .account_client
            .url(&["postcards"])
            .asking("limit", CARDS_A_PAGE)
            .asking("date_created[gte]", &from.to_string())
            .asking("date_created[lt]", &until.to_string());
        let (mut cards, mut at) = (Vec::new(), first.clone());
        for _ in 0..PAGES_MAX {
            let call = HttpCall::get(PEER, at.clone()).at_most(PAGE_BYTES_MAX);
            let page: PostcardList = self.account_client.read_when_free(call).await?;
            for made in &page.data {
                let card = accepted(made)?;
                if from <= card.at && card.at < until && !made.deleted {
                    cards.push(card);
                }
            }
            let oldest =
                page.data.iter().filter_map(LobPostcard::created).min_by_key(|at| at.latest());
            let is_past = oldest.is_some_and(|oldest| oldest.latest() < from);
            let Some(next) = page.next_url.filter(|_| !is_past && !page.data.is_empty()) else {
                return Ok(cards);
            };
            at = first.asking("after", &cursor(&next)?);
        }
        Err(CallError::Lost(CallErrorKind::TooLarge))
    }
}

fn accepted(made: &LobPostcard) -> Result<AcceptedCard, CallError> {
    let at = made.created().map(ProviderTime::written);
    let at = at.filter(|_| !made.id.is_empty());
    let at = at.ok_or(CallError::Lost(CallErrorKind::Unreadable))?;
    let (mailpiece, order) = (Mailpiece(made.id.clone()), made.order());
    Ok(AcceptedCard { mailpiece, order, at, total: None })
}

/// The cursor in the URL of the next page. Only that is taken from it: a response must not choose
/// the host that our key is sent to.
fn cursor(next: &str) -> Result<String, CallError> {
    let cursor = HttpUrl::parse(next).ok().and_then(|next| next.parameter("after"));
    cursor.ok_or(CallError::Lost(CallErrorKind::Unreadable))
}
