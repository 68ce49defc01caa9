//! The sources of readings, one file each.
//!
//! A source reads; it does not compute differences or rates. To add one: its file with a
//! function `start`, its `mod` line and its entry in [`SAMPLERS`].

mod cgroup;
mod data_dir;
mod device;
pub(crate) mod disk_free;
mod energy;
mod heat;
pub(crate) mod host;
pub(crate) mod network;
mod observer;
mod others;
mod process;
mod server;
mod server_processes;
mod suspension;

use crate::targets::Start;

/// Every sampler.
pub(crate) static SAMPLERS: &[Start] = &[
    process::start,
    host::start,
    network::start,
    suspension::start,
    disk_free::start,
    cgroup::start,
    heat::start,
    energy::start,
    device::start,
    data_dir::start,
    others::start,
    observer::start,
    server::start,
];
