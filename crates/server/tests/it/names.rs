//! Sellers' names: the real adapter before the sandbox's chain, over real HTTP.

mod crowd;
mod door;
mod gateways;
mod nodes;
mod records;
mod town;
