//! `/invest/index.json`: the investor briefing as data.

use serde_json::{Value, json};

use super::places;
use crate::premises::Premises;

pub fn document(premises: &Premises) -> Value {
    let (site, briefing) = (&premises.catalog.site, &premises.catalog.briefing);
    json!({
        "name": site.legal_name,
        "url": premises.url(places::BRIEFING.path),
        "language": site.default_language().code(),
        "contact": site.investor_email,
        "payment_required": false,
        "updated": briefing.updated,
        "headline": briefing.headline,
        "facts": briefing.facts,
        "risks": briefing.risks,
        "questions": briefing.questions,
        "links": {
            "html": places::page(premises, places::INVEST),
            "markdown": places::page_markdown(premises, places::INVEST),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;

    #[test]
    fn the_briefing_is_told_whole_and_asks_for_no_payment() {
        let premises = samples::premises();
        let document = document(&premises);
        let members = ["name", "url", "language", "contact", "updated", "headline"];
        samples::has_members(&document, &members);
        samples::has_no_relative_address(&document);
        assert_eq!(document["payment_required"], false);
        let briefing = &premises.catalog.briefing;
        assert_eq!(samples::list(&document["facts"]).len(), briefing.facts.len());
        assert_eq!(samples::list(&document["risks"]).len(), briefing.risks.len());
        assert_eq!(document["questions"][0]["question"], briefing.questions[0].question);
        assert_eq!(document["links"]["markdown"], premises.url("/invest/index.md"));
    }
}
