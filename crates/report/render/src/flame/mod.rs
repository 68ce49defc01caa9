//! Flame graphs: the picture with zoom and search, files for other viewers, and a table.
//!
//! `analysis::profile` computes the tree and its costs; this module draws and writes them.
//!
//! To add a file for another viewer, add its file here and its line in `assay flame`.

mod firefox;
mod folded;
mod layout;
mod picture;
mod report;
mod section;

pub use firefox::firefox;
pub use folded::folded;
pub use report::FlameReport;
pub(crate) use section::{TITLE, section};
