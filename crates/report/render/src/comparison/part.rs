//! A part of a comparison: a title, tables, and sentences that say what they mean.

use crate::input::Compared;
use crate::table::Table;

use super::{insert, open, search, sweep};

/// What every format shows in its own way.
pub(crate) struct Part {
    pub(crate) title: String,
    /// What comes before the tables.
    pub(crate) sentences: Vec<String>,
    pub(crate) tables: Vec<Table>,
    /// What comes after them.
    pub(crate) remarks: Vec<String>,
}

/// Returns what is told of open loops, searches, sweeps and background writers, in this order.
pub(crate) fn parts(compared: &Compared<'_>) -> Vec<Part> {
    let mut parts = open::parts(compared);
    parts.extend(search::parts(compared));
    parts.extend(sweep::parts(compared));
    parts.extend(insert::parts(compared));
    parts
}
