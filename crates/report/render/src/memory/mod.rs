//! Memory: kernel counters, allocator totals, utilisation of size classes.
//!
//! Source: [Callaghan 2022-09-19]: bins sorted by mapped bytes, their utilisation, RSS over the
//! size of the block cache.
//!
//! To add a column, add its line in `table::GAUGES`.

mod classes;
mod show;
mod table;

pub(crate) use classes::reading;
pub(crate) use classes::{classes, most_wasted};
pub(crate) use show::memory;
pub(crate) use table::{Row, allocator, is_recorded, table};
