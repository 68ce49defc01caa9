//! Reads, writes, space and cache side by side: what `compare --rum` prints.

mod data;
mod row;
mod table;

/// Title of their section in reports.
pub(crate) const TRADE_OFFS: &str = "Reads, writes, space and cache";

pub use table::render_trade_offs;
pub(crate) use table::trade_offs;
