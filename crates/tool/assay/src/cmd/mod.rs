//! The commands, one file each.

mod analyzed;
mod budget;
mod build;
mod cached_build;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod engine;
pub(crate) mod explain;
pub(crate) mod history;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod micro;
pub(crate) mod plan;
mod prove;
mod published;
pub(crate) mod report;
mod requested_build;
pub(crate) mod run;
mod run_options;
mod selected;
mod servers;
pub(crate) mod show;
pub(crate) mod smoke_test;
mod steady;
mod until;
pub(crate) mod worker;
pub(crate) mod workload;
