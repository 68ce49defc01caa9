//! Reports of an experiment: tables, pictures, a page, a post.
//!
//! Metrics, means and ratios come from `analysis`, names and units from `model`. It stands last
//! in the flow before the programs, and returns text and bytes: it reads no file, no clock and no
//! environment, and writes none.
//!
//! Invariants: the same input gives the same bytes; the base, the number of runs, the durability
//! class, incomplete runs and warnings go wherever the numbers go; colour is never the only sign;
//! an unknown value is written `NA`, never 0; a page needs neither network nor script; data hold no
//! markup and no control character that a reader obeys.
//!
//! To give a subject every format, see [`report`]; to add a format, `document`; a section of the
//! comparison, [`comparison`]; a picture, `plot`; a section of the page, [`html`].

mod brief;
pub mod comparison;
pub mod cuts;
pub mod device;
pub mod doctor;
mod document;
pub mod explain;
pub mod exposition;
pub mod figure;
pub mod findings;
pub mod flame;
pub mod format;
pub mod history;
pub mod hosts;
pub mod html;
pub mod input;
mod label;
mod legend;
pub mod lines;
pub mod list;
mod memory;
pub mod meta;
mod method;
pub mod micro;
mod next;
mod pipeline;
mod plot;
pub mod post;
pub mod published;
pub mod report;
pub mod run;
mod sentence;
pub mod site;
mod sparkline;
mod style;
pub mod timeline;
mod trust;
mod validity;
mod where_cpu;

pub use comparison::{CSV_COLUMNS, MetricReport, TradeOffs, render_answer};
pub use cuts::CutReport;
pub use device::{DeviceProfile, render_device_page};
pub use doctor::doctor_script;
pub use document::{Document, Rows, labelled};
pub use explain::Explained;
pub use exposition::{render_otlp, render_prometheus};
pub use findings::{Checked, ExplainedRule, folded, is_folded};
pub use flame::FlameReport;
pub use format::{Format, Style};
pub use history::{HistoryInput, plot_history};
pub use hosts::{HostExperiment, HostsCompared, page_of_hosts};
pub use html::render_html;
pub use input::{Compared, ReportInput};
pub use lines::{Lines, LinesOf};
pub use list::{RunList, RunSummary, complete_runs};
pub use meta::Meta;
pub use next::next_steps;
pub use post::render_markdown_post;
pub use published::{FINDINGS, PublishedFindings, render_reproduced, unmeasured};
pub use report::Report;
pub use run::{COLUMNS, RunReport, one_line};
pub use sentence::step_sentences;
pub use timeline::RunTimeline;
pub use trust::headline;
