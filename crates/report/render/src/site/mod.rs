//! Pages of the dashboard: the archive, an experiment, a run in progress.
//!
//! They are made of the parts of the static page and of the same documents as text. Each page works
//! without script: selections are forms, and every chart has a drawing and a table. Addresses are
//! relative, so that the site works below any path, and as files.
//!
//! To add a part of an experiment's page, add it to [`Part`](part::PagePart) with its sections.

mod archive;
mod chart;
mod difference;
mod editor;
mod experiment;
mod frame;
mod history;
mod live;
mod message;
mod part;
mod style;
mod view;

pub use archive::{ArchiveEntry, ArchiveFilter, archive_page};
pub use chart::{
    Axis, Chart, HeadedStep, Heat, Mark, Scale, Series, Shade, by_second_chart, headed_steps,
    percentile_chart,
};
pub use editor::{Editor, Launch, Problem, editor_page, launch_page};
pub use experiment::{ExperimentPage, experiment_page};
pub use frame::{Frame, PageHost};
pub use history::{history_chart, history_page};
pub use live::{Progress, live_page};
pub use message::message_page;
pub use part::PagePart;
pub use style::style_sheet;
pub use view::{View, encoded};
