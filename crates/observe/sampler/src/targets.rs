//! The samplers of one run, and what they read: worker, directories, server.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::Readings;

use crate::block_device::BlockDevice;
use crate::control_group::CgroupDir;
use crate::server_group::ServerGroup;

/// One source of readings, cheap enough for once a second.
///
/// The argument is whether this is a step's boundary: costly readings are taken there only. What
/// cannot be read is absent, as of a process that has ended.
pub type Sampler = Box<dyn FnMut(bool) -> Readings + Send>;

/// Starts a sampler; `None` for a run without such readings.
pub(crate) type Start = fn(&RunTargets<'_>) -> Option<Sampler>;

/// Whether a path below the data directory is a write-ahead log.
pub type IsLog = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// The targets of the samplers of one run.
#[derive(Clone)]
pub struct RunTargets<'a> {
    /// The worker, which is in its control group already; `None` if workers run on other hosts.
    pub pid: Option<u32>,
    /// The run's data directory; it exists.
    pub data_dir: PathBuf,
    /// The run's own control group, when it has one.
    pub cgroup: Option<CgroupDir>,
    /// Distinguishes logs from data; `None` when names do not.
    pub is_log: Option<IsLog>,
    /// The server, if its processes are known.
    pub server: Option<ServerTargets<'a>>,
    /// The place of the data of a server that Assay did not start.
    pub foreign: Foreign,
    /// Address of this machine at which clients reach the server; `None` without TCP.
    pub network: Option<IpAddr>,
}

impl RunTargets<'_> {
    /// Returns the device below the data; `None` if it is not known where the data lie.
    pub(crate) fn local_device(&self) -> Option<BlockDevice> {
        BlockDevice::under(&self.data_dir).ok().filter(|_| self.foreign == Foreign::Nowhere)
    }
}

/// The place of a server that Assay did not start, and of its data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Foreign {
    /// There is no such server, or its data directory is the data directory of the targets.
    #[default]
    Nowhere,
    /// On this machine: its processes and data are not known.
    Here,
    /// On another machine, or in a container: its data cannot be sampled here.
    Elsewhere,
}

/// The sampled parts of a server.
#[derive(Debug, Clone, Copy)]
pub struct ServerTargets<'a> {
    /// Its first process.
    pub pid: u32,
    /// Its control group.
    pub group: &'a ServerGroup,
}
