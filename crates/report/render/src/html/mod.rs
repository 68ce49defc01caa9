//! The report as one HTML file that needs no network and no script.
//!
//! Not a place for numbers: they come from the comparison and the records. The order is that of a
//! reader's questions: question and label, answer, what others published, the three pictures behind
//! the answer, doubts, where the differences are, further pictures and costs, how it was done,
//! everything else folded. Who stops after the first screen must not have been misled.
//!
//! To add a section, add a file with a function to markup and its line in `page`.

mod answer;
mod doubts;
mod explained;
mod fold;
mod how;
mod judged;
mod memory;
mod options;
mod page;
mod published;
mod shape;
mod table;

pub(crate) use how::command;
pub use page::render_html;
