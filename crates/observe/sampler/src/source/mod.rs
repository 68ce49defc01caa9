//! The sources of readings, one file each.
//!
//! A source reads; it does not compute differences or rates. To add one, write its file and add its
//! line to [`crate::for_run`].

pub(crate) mod cgroup;
pub(crate) mod data_dir;
pub(crate) mod device;
pub(crate) mod disk_free;
pub(crate) mod heat;
pub(crate) mod host;
pub(crate) mod others;
pub(crate) mod process;
pub(crate) mod server;
pub(crate) mod server_processes;
pub(crate) mod suspension;
