//! The report as one self-contained HTML file.
//!
//! Numbers come from the comparison and the records; network and script are not needed. Order of
//! the sections: question and label, answer, published findings, the three pictures behind the
//! answer, warnings, explanations, flame graphs, further pictures, costs with lines of public
//! reports, how it was done, folded details.
//!
//! To add a section, add a file with a function to markup and its line in `page`.

mod answer;
mod explained;
mod fold;
mod how;
mod memory;
mod method;
mod options;
mod page;
mod shape;

pub(crate) use answer::section as answer_section;
pub(crate) use explained::section as explained;
pub(crate) use fold::section as everything;
pub(crate) use how::command;
pub(crate) use memory::section as memory_section;
pub use page::render_html;
pub(crate) use page::{
    PAGE_STYLE, costs, document_page, figures, header, how_it_was_done, page, published, warnings,
};
pub(crate) use shape::section as shape_section;
