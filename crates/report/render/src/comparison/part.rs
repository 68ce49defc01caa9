//! A part of a comparison: title, sentences, tables, remarks.

use crate::input::Compared;
use crate::table::Table;

use super::{insert, open, search, sweep};

/// A title with its sentences, tables and remarks, in no format yet.
pub(crate) struct Part {
    pub(crate) title: String,
    /// What comes before the tables.
    pub(crate) sentences: Vec<String>,
    pub(crate) tables: Vec<Table>,
    /// What comes after them.
    pub(crate) remarks: Vec<String>,
}

/// Returns the parts of open loops, searches, sweeps and background writers.
pub(crate) fn parts(compared: &Compared<'_>) -> Vec<Part> {
    let mut parts = open::parts(compared);
    parts.extend(search::parts(compared));
    parts.extend(sweep::parts(compared));
    parts.extend(insert::parts(compared));
    parts
}
