//! Memory: what the kernel counts, what the allocator holds of it, and how well its classes are
//! used.
//!
//! Source: M. Callaghan, 2022, "Understanding some jemalloc stats for RocksDB": bins sorted by
//! what they map, their utilisation, RSS over the size of the block cache.
//!
//! To add a column, add its line in `table::GAUGES`.

mod classes;
mod reading;
mod show;
mod table;

pub(crate) use classes::{classes, most_wasted};
pub(crate) use reading::reading;
pub(crate) use show::memory;
pub(crate) use table::{Row, allocator, table};
