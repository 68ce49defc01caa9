//! Reads, checks and expands experiment files into ordered plans.
//!
//! This crate runs nothing and does not inspect the machine; the facts about engines, steps and the
//! machine come in through [`Catalog`] and [`Machine`]. It imports
//! `model`, `reader` and `application`.
//!
//! Invariants: a checked experiment is complete, with every default resolved; every error names the
//! line at fault and the remedy; the order of runs is a function of the seed.
//!
//! To add a workload preset, add one line to `preset::PRESETS`; to add a setting, one line to
//! `settings`, or to `model::setting` when drivers translate it.

mod answerable;
mod catalog;
mod checked;
mod chosen;
mod clients;
mod cost;
mod cuts;
mod declared;
mod device;
mod dsn;
mod event_check;
mod events;
mod expand;
mod experiment;
mod hosts;
mod layout;
mod overrides;
mod peers;
mod pipeline;
mod preset;
mod profile;
mod published;
mod quick;
mod rate;
mod resolve;
mod reuse;
mod server;
mod settings;
mod spec;
mod step_load;
mod steps;
#[cfg(test)]
mod tests;
mod unknown;
mod value;
mod window;
mod workload;

pub use application::{ApplicationFiles, Described, describe};
pub use catalog::{Builds, Catalog, EngineInfo, Machine};
pub use checked::Checked;
pub use dsn::has_placeholder;
pub use expand::{DISK_FLOOR_BYTES, Room, expand, layout, run_time};
pub use experiment::load;
pub use overrides::{Overrides, QuickVariants};
pub use peers::{OPTIONS_OF_PEERS, option_of_peer};
pub use preset::{PRESETS, Preset};
pub use profile::{KnownOptions, profile_options, profile_tables};
pub use quick::quick;
pub use reader::{PlanError, nearest};
pub use reuse::times_by_reuse;
pub use settings::{Setting, flags};
pub use unknown::tables_with;
pub use window::check_loads;
