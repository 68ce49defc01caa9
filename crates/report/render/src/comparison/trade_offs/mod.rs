//! Reads, writes, space and cache side by side: what `compare --rum` prints.

mod data;
mod row;
mod table;

pub use table::TradeOffs;
pub(crate) use table::{TRADE_OFFS, trade_offs};
