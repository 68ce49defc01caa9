//! The sections of open loops, searches, sweeps and background writers.

use super::section::Section;
use super::{insert, open, search, sweep};
use crate::input::Compared;

/// Returns the sections of open loops, searches, sweeps and background writers.
pub(crate) fn sections(compared: &Compared<'_>) -> Vec<Section> {
    let mut sections = open::parts(compared);
    sections.extend(search::parts(compared));
    sections.extend(sweep::parts(compared));
    sections.extend(insert::parts(compared));
    sections
}
