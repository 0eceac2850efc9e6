//! What the document says in words of how a card is paid for, as far as that is open.

use crate::premises::{Premises, Service};

/// One way of paying: where, and what it costs.
const WAYS: [(Service, &str); 2] = [
    (Service::X402, "/api/x402/postcards (at most 3.50 USDC, usually less)"),
    (Service::Mpp, "/api/mpp/postcards (3.50 USDC on Base)"),
];

/// What makes a card ours to mail.
pub(super) fn authorization(premises: &Premises) -> &'static str {
    match (premises.opens(Service::X402), premises.opens(Service::Mpp)) {
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

/// What an agent does, step by step.
pub(super) fn steps(premises: &Premises) -> String {
    let shop = "Products are in /shop/feed.json; /shop/checkout quotes and captures no funds.";
    format!("{}{shop}", card(premises))
}

fn card(premises: &Premises) -> String {
    let open = WAYS.iter().filter(|(service, _)| premises.opens(*service));
    let ways: Vec<&str> = open.map(|(_, way)| *way).collect();
    if !ways.is_empty() {
        return format!(
            "To mail a card, POST the postcard to /api/x402/postcards/preview and look at it. Then \
             POST the same body to {}. The first answer is 402 with a challenge; sign it and send \
             the identical body again with the payment. Poll /api/x402/orders/{{publicOrderId}}. \
             Pay only when the answer is 402: after 409, 502 or 503 look at the order and sign \
             nothing new. ",
            ways.join(" or to ")
        );
    }
    let preview = match premises.opens(Service::Preview) {
        true => "To see a card, POST the postcard to /api/x402/postcards/preview. ",
        false => "",
    };
    format!(
        "{preview}No card is sold at present. The status of an earlier one is at \
         /api/x402/orders/{{publicOrderId}}. "
    )
}
