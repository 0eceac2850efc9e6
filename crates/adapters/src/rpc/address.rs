//! Conversions between our address type and alloy's.

use alloy_primitives::Address;
use order::model::chain::EvmAddress;

pub(crate) fn to_alloy(address: EvmAddress) -> Address {
    address.bytes().into()
}

pub(crate) fn from_alloy(address: Address) -> EvmAddress {
    EvmAddress::from_bytes(address.into())
}
