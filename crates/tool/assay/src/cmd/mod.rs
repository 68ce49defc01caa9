//! The verbs, one file each.

mod asked;
mod build;
mod compare;
mod completions;
mod dispatch;
mod engine;
mod explain;
mod history;
mod judged;
mod lint;
mod list;
mod micro;
mod plan;
mod published;
mod report;
mod run;
mod selected;
mod servers;
mod show;
mod smoke_test;
mod spend;
mod steady;
mod until;
mod worker;
mod workload;

pub(crate) use dispatch::{Verb, dispatch};
