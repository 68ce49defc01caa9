//! The commands, one file each.

mod analyzed;
mod budget;
mod build;
mod cached_build;
mod compare;
mod completions;
mod dispatch;
mod engine;
mod explain;
mod history;
mod lint;
mod list;
mod micro;
mod plan;
mod published;
mod report;
mod run;
mod run_options;
mod selected;
mod servers;
mod show;
mod smoke_test;
mod steady;
mod until;
mod worker;
mod workload;

pub(crate) use dispatch::{Verb, dispatch};
