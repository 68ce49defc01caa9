//! The comparison in every format.
//!
//! Closed loops, open loops, searches, sweeps, then costs; the HTML page has its own folder.
//! Nothing is computed here: every number comes from the `Comparison`.
//!
//! To add a section, add a file and its line in `document::sections`.

mod answer;
mod availability;
mod buckets;
mod csv;
mod document;
mod insert;
mod level;
pub(crate) mod machines;
mod metric;
mod open;
mod parts;
mod search;
mod section;
mod sweep;
mod tables;
mod trade_offs;

pub(crate) use availability::{EVENT_COLUMNS, writes_sentence};
pub(crate) use buckets::part as bucket_tables;
pub use csv::CSV_COLUMNS;
pub use document::render_answer;
pub(crate) use document::{document, head, notes, problems, request_tables, sections};
pub(crate) use insert::{BRACKETS, has_brackets};
pub use metric::MetricReport;
pub(crate) use parts::details;
pub(crate) use section::{Section, folded};
pub(crate) use tables::{REQUESTS, absolute, is_missed, ratios, runs_table, written_legend};
pub use trade_offs::TradeOffs;
pub(crate) use trade_offs::{TRADE_OFFS, trade_offs};
