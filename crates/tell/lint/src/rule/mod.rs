//! The rules: a file each, named after code and subject.
//!
//! A code `A0nn` is that of rule `Lnn` in the project's reference, analysis, section 7; codes from
//! `A041` on are Assay's own.

mod a001_durability;
mod a003_inherited_debt;
mod a004_not_steady;
mod a008_client_bound;
mod a009_busy_threads;
mod a010_omission;
mod a011_void;
mod a014_failed;
mod a021_neighbours;
mod a027_too_short;
mod a031_writer_rate;
mod a039_one_run;
mod a041_found_nothing;
mod a042_lower_limit;
mod a043_stalls;
mod a044_runs_missing;
mod a045_incomplete;
mod a051_unknown_code;
mod define;

pub(crate) use a001_durability::RULE as A001;
pub(crate) use a003_inherited_debt::RULE as A003;
pub(crate) use a004_not_steady::RULE as A004;
pub(crate) use a008_client_bound::RULE as A008;
pub(crate) use a009_busy_threads::RULE as A009;
pub(crate) use a010_omission::RULE as A010;
pub(crate) use a011_void::RULE as A011;
pub(crate) use a014_failed::RULE as A014;
pub(crate) use a021_neighbours::RULE as A021;
pub(crate) use a027_too_short::RULE as A027;
pub(crate) use a031_writer_rate::RULE as A031;
pub(crate) use a039_one_run::RULE as A039;
pub(crate) use a041_found_nothing::RULE as A041;
pub(crate) use a042_lower_limit::RULE as A042;
pub(crate) use a043_stalls::RULE as A043;
pub(crate) use a044_runs_missing::RULE as A044;
pub(crate) use a045_incomplete::RULE as A045;
pub(crate) use a051_unknown_code::RULE as A051;
pub use define::Rule;
pub(crate) use define::Seen;
