//! `/invest/index.json`: the investor briefing as data.

use serde_json::{Value, json};

use crate::discovery::links;
use crate::site_facts::SiteFacts;

pub fn document(facts: &SiteFacts) -> Value {
    let (site, briefing) = (&facts.catalog.site, &facts.catalog.briefing);
    json!({
        "name": site.legal_name,
        "url": facts.url(links::BRIEFING.path),
        "language": site.default_language().code(),
        "contact": site.investor_email,
        "payment_required": false,
        "updated": briefing.updated,
        "headline": briefing.headline,
        "facts": briefing.facts,
        "risks": briefing.risks,
        "questions": briefing.questions,
        "links": {
            "html": links::page(facts, links::INVEST),
            "markdown": links::page_markdown(facts, links::INVEST),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    #[test]
    fn the_briefing_is_complete_and_free() {
        let facts = fixtures::site_facts();
        let document = document(&facts);
        let members = ["name", "url", "language", "contact", "updated", "headline"];
        fixtures::has_members(&document, &members);
        fixtures::has_no_relative_address(&document);
        assert_eq!(document["payment_required"], false);
        let briefing = &facts.catalog.briefing;
        assert_eq!(fixtures::list(&document["facts"]).len(), briefing.facts.len());
        assert_eq!(fixtures::list(&document["risks"]).len(), briefing.risks.len());
        assert_eq!(document["questions"][0]["question"], briefing.questions[0].question);
        assert_eq!(document["links"]["markdown"], facts.url("/invest/index.md"));
    }
}
