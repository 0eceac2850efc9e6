//! The path of an order in the API.

use order::model::ids::OrderId;

use crate::commands::operator_client::ClientError;

/// The path of an order. Only an id gets into a URL.
pub(super) fn path(id: &str) -> Result<String, ClientError> {
    id.parse::<OrderId>().map(|id| format!("/v1/orders/{id}")).map_err(|_| {
        ClientError::Unusable(format!(
            "`{id}` is not the id of an order, which has 32 hexadecimal digits.\n"
        ))
    })
}
