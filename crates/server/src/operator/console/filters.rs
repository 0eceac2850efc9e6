//! The filters of the list of orders, from and to the query of its URL.

use order::model::ids::{OrderId, Timestamp};
use order::operator::filter::{AttentionFilter, OrderFilter};
use url::form_urlencoded::Serializer;

use super::form::FormFields;
use super::labels::STATES;

/// The query of a list, as an operator typed it, and what it means.
pub(super) struct ListQuery {
    pub(super) state: String,
    pub(super) payer: String,
    pub(super) since: String,
    pub(super) attention: AttentionFilter,
    pub(super) filter: OrderFilter,
    /// What could not be read.
    pub(super) faults: Vec<&'static str>,
}

impl ListQuery {
    pub(super) fn parse(query: &str, now: Timestamp) -> Self {
        let fields = FormFields::parse(query.as_bytes());
        let text = |name: &str| fields.get(name).unwrap_or_default().to_owned();
        let (state, payer, since) = (text("state"), text("payer"), text("since"));
        let attention = match fields.get("attention") {
            Some(_) => AttentionFilter::NeedsAttention(now),
            None => AttentionFilter::All,
        };
        let mut filter = OrderFilter { attention, ..OrderFilter::default() };
        let mut faults = Vec::new();
        if !state.is_empty() {
            filter.state = Some(state.clone()).filter(|state| is_state(state));
            filter.state.is_none().then(|| faults.push("There is no such state."));
        }
        if !payer.is_empty() {
            filter.payer = payer.parse().ok();
            let fault = "A payer is 0x and 40 hexadecimal digits.";
            filter.payer.is_none().then(|| faults.push(fault));
        }
        if !since.is_empty() {
            filter.since = parse_day(&since);
            let fault = "A day is written as 2026-11-15, a time as 2026-11-15T09:30:00Z.";
            filter.since.is_none().then(|| faults.push(fault));
        }
        if let Some(after) = fields.get("after") {
            filter.after = parse_place(after);
            let fault = "This link to a page is not valid. Begin with the newest orders.";
            filter.after.is_none().then(|| faults.push(fault));
        }
        Self { state, payer, since, attention, filter, faults }
    }

    /// Whether all orders are listed, from the newest on.
    pub(super) fn is_plain(&self) -> bool {
        self.filter == OrderFilter::default() && self.faults.is_empty()
    }

    /// The link to the page that follows this order.
    pub(super) fn link_after(&self, (at, id): (Timestamp, OrderId)) -> String {
        let mut query = self.without_place();
        query.append_pair("after", &format!("{}-{id}", at.0));
        format!("/?{}", query.finish())
    }

    /// The link to the first page with the same filters.
    pub(super) fn link_first(&self) -> String {
        format!("/?{}", self.without_place().finish())
    }

    fn without_place(&self) -> Serializer<'static, String> {
        let mut query = Serializer::new(String::new());
        let given = [("state", &self.state), ("payer", &self.payer), ("since", &self.since)];
        for (name, value) in given.into_iter().filter(|(_, value)| !value.is_empty()) {
            query.append_pair(name, value);
        }
        match self.attention {
            AttentionFilter::All => {}
            AttentionFilter::NeedsAttention(_) => {
                query.append_pair("attention", "yes");
            }
        }
        query
    }
}

fn is_state(text: &str) -> bool {
    STATES.iter().any(|(code, ..)| *code == text)
}

/// A day, which begins at midnight UTC, or a time.
fn parse_day(text: &str) -> Option<Timestamp> {
    text.parse().or_else(|_| format!("{text}T00:00:00Z").parse()).ok()
}

/// The place in the list after an order: when it was begun, and its id.
fn parse_place(text: &str) -> Option<(Timestamp, OrderId)> {
    let (seconds, id) = text.split_once('-')?;
    Some((Timestamp(seconds.parse().ok()?), id.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use order::testing::contract::samples::{NOW, mailed};

    use super::*;
    use order::lifecycle::Stored;

    const PAYER: &str = "0x0505050505050505050505050505050505050505";

    #[test]
    fn every_filter_is_read_and_kept_in_the_link_to_the_next_page() {
        let query = format!("state=mailed&payer={PAYER}&since=2026-11-15&attention=yes");
        let parsed = ListQuery::parse(&query, NOW);
        assert!(parsed.faults.is_empty() && !parsed.is_plain());
        assert_eq!(parsed.filter.since, Some("2026-11-15T00:00:00Z".parse().unwrap()));
        let last = Stored::from(mailed(1));
        let link = parsed.link_after((last.created_at(), last.id()));
        let next = ListQuery::parse(link.strip_prefix("/?").unwrap(), NOW);
        let after = Some((last.created_at(), last.id()));
        assert_eq!(next.filter, OrderFilter { after, ..parsed.filter.clone() });
        assert_eq!(next.link_first(), parsed.link_first());
    }

    #[test]
    fn a_filter_that_cannot_be_read_is_a_fault_and_not_ignored() {
        for query in ["state=sent", "payer=0x12", "since=yesterday", "after=1", "after=x-y"] {
            assert_eq!(ListQuery::parse(query, NOW).faults.len(), 1, "{query}");
        }
        assert!(ListQuery::parse("", NOW).is_plain());
        assert!(ListQuery::parse("state=&payer=&since=", NOW).is_plain());
    }
}
