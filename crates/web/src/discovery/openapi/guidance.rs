//! Texts about payment that depend on the enabled services.

use crate::site_facts::SiteFacts;
use crate::surface::OptionalService;

/// Endpoint and price of each payment protocol.
const WAYS: [(OptionalService, &str); 2] = [
    (OptionalService::X402, "/api/x402/postcards (at most 3.50 USDC, usually less)"),
    (OptionalService::Mpp, "/api/mpp/postcards (3.50 USDC on Base)"),
];

/// How a postcard is authorized.
pub(super) fn authorization(facts: &SiteFacts) -> &'static str {
    match (facts.is_enabled(OptionalService::X402), facts.is_enabled(OptionalService::Mpp)) {
        (true, true) => {
            "a card is authorized by its payment in USDC, by x402 or by MPP, and everything else \
             is free to read"
        }
        (true, false) => {
            "a card is authorized by its payment in USDC, by x402, and everything else is free to \
             read"
        }
        (false, true) => {
            "a card is authorized by its payment in USDC, by MPP, and everything else is free to \
             read"
        }
        (false, false) => "everything is free to read, and no card is sold at present",
    }
}

/// The steps for an agent.
pub(super) fn steps(facts: &SiteFacts) -> String {
    let shop = "Products are in /shop/feed.json; /shop/checkout quotes and captures no funds.";
    format!("{}{shop}", card(facts))
}

fn card(facts: &SiteFacts) -> String {
    let open = WAYS.iter().filter(|(service, _)| facts.is_enabled(*service));
    let ways: Vec<&str> = open.map(|(_, way)| *way).collect();
    if !ways.is_empty() {
        return format!(
            "To mail a card, POST the postcard to /api/x402/postcards/preview and check it, its \
             quote and its warnings. Then POST the same body to {}, with Quote-Id. The first response is 402 with a challenge; sign it and \
              send \
             the identical body again with the payment. Poll /api/x402/orders/{{publicOrderId}}. \
             Pay only after 402: after 409, 502 or 503 check the order and sign nothing new. ",
            ways.join(" or to ")
        );
    }
    let preview = match facts.is_enabled(OptionalService::Preview) {
        true => "To see a card, POST the postcard to /api/x402/postcards/preview. ",
        false => "",
    };
    format!(
        "{preview}No card is sold at present. The status of an earlier one is at \
         /api/x402/orders/{{publicOrderId}}. "
    )
}
