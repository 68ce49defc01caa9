//! Golden tests of tables, page and post over invented experiments.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails its test")]

mod answer;
mod escaping;
mod explain;
mod figures;
mod fixture;
mod flame;
mod ibench;
mod lines;
mod machines;
mod memory;
mod page;
mod parts;
mod published;
mod settle;
mod steady;
mod storage;
mod stored;
mod tables;
mod timeline;
mod trade_offs;
