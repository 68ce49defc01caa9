//! Runs the blocks of an experiment on other machines: by Slurm, or over OpenSSH.
//!
//! A block is one repetition: all its runs are done on one machine, one after the other. Neither an
//! exit code nor an output of Slurm or OpenSSH is evidence of a result: only the files of a block
//! are, which one rename makes complete (`block`). Complete blocks enter the archive (`collect`).
//!
//! The workers of a block may run on client hosts: the submitter starts each over OpenSSH, and
//! relays its lines to the machine of the block (`clients`).
//!
//! Invariants: a block is complete once, by one owner; a later owner ends the claims of earlier
//! ones before it runs anything; nothing that was measured is removed.

mod block;
mod builds;
mod clients;
mod collect;
mod connection;
mod directory;
mod error;
mod hosts;
pub mod job;
mod order;
mod reach;
mod remote;
mod slurm;
mod stream;
mod this_machine;
mod transport;

pub use block::{Attempt, Claim, Claimed, Outcome, Owner};
pub use builds::{BuildEntry, sha256_of, unpack_builds};
pub use collect::collect;
pub use directory::{BlockState, Fleet};
pub use error::FleetError;
pub use hosts::{Hosts, RemoteHost, read_hosts};
pub use order::{Order, RunLimits};
pub use reach::{Unreachable, check_reach};
pub use slurm::{Element, Queue, Slurm, Submission};
pub use stream::{Answer, CLIENT_HELLO, HELLO, Request, read_message, send_message};
pub use this_machine::{check_cpus, default_data_dir, job_name, machine_name};
pub use transport::{RemoteBlock, TimedReader, Transport};
