//! The sources of readings, one file each.
//!
//! A source reads; it does not compute differences or rates. To add one, write its file with a
//! [`crate::Sampler`] and add its line to [`crate::for_run`].

mod cgroup;
mod data_dir;
mod device;
mod disk_free;
mod host;
mod others;
mod process_io;
mod process_memory;
mod server;
mod swap;

pub(crate) use cgroup::CgroupSampler;
pub(crate) use data_dir::DataDirSampler;
pub(crate) use device::DeviceSampler;
pub(crate) use disk_free::DiskFreeSampler;
pub(crate) use host::HostSampler;
pub use host::dirty_bytes;
pub(crate) use others::OthersSampler;
pub(crate) use process_io::ProcessIoSampler;
pub(crate) use process_memory::ProcessMemorySampler;
pub(crate) use server::ServerSampler;
pub(crate) use swap::SwapSampler;
