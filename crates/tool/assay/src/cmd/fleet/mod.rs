//! Runs of an experiment on other machines.

pub(crate) mod block;
mod board;
mod lanes;
mod slurm;
mod submit;
mod view;

pub(super) use submit::{FleetRun, check, measure_on, options_of, prepare};
