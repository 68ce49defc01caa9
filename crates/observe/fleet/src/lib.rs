//! Runs the blocks of an experiment on other machines: by Slurm, or over OpenSSH.
//!
//! A block is one repetition: all its runs are done on one machine, one after the other. Neither an
//! exit code nor an output of Slurm or OpenSSH is evidence of a result: only the files of a block
//! are, which one rename makes complete.

mod hosts;

pub use hosts::{Hosts, RemoteHost, read_hosts};
