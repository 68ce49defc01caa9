//! One run: one-line summaries, times, costs, load, memory.
//!
//! To add a column to the one-line summary, add it to [`line::COLUMNS`] with its meaning.

mod availability;
mod client_hosts;
mod failed;
mod kinds;
mod line;
mod open;
mod origin;
mod procedures;
mod profiles;
mod search;
mod show;
mod statements;
mod time_profile;
mod waits;

pub use line::{COLUMNS, one_line};
pub(crate) use line::{Column, is_of_device, number, shown};
pub(crate) use search::probe_tables;
pub use show::RunReport;
