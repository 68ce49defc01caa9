//! `assay archive`: the archive as a whole, for other programs and of several machines.

mod merge;
mod parquet;
mod verb;

pub(crate) use verb::{Args, run};
