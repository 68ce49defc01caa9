//! Runs of an experiment on other machines.

pub(crate) mod block;
mod board;
mod clients;
mod lanes;
mod slurm;
mod submit;
mod view;

pub(super) use board::FleetRun;
pub(super) use submit::{
    OWN_HOSTS, check, check_reach, is_elsewhere, measure_on, options_of, passwords, prepare,
    resolve,
};
