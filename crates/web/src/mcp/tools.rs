//! The nine public tools, one file each. None can reach an order, a payment or the network.

mod discovery_documents;
mod page_list;
mod page_search;
mod page_text;
mod postcard_service;
pub(super) mod product;
mod product_list;
mod support_answer;
mod support_search;
pub(crate) mod tool;

use self::tool::Tool;

pub(crate) const TOOLS: [&dyn Tool; 9] = [
    &product_list::ListShopProducts,
    &product::GetProduct,
    &support_search::SearchSupportFaq,
    &support_answer::GetSupportAnswer,
    &page_list::ListPublicPages,
    &page_text::ReadPublicPageMarkdown,
    &page_search::SearchPublicPages,
    &postcard_service::GetPostcardServiceInfo,
    &discovery_documents::ListDiscoveryDocuments,
];
