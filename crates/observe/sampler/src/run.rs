//! The samplers of a run.

use crate::source::SAMPLERS;
use crate::targets::{RunTargets, Sampler};

/// Returns the samplers of one run.
pub fn for_run(targets: &RunTargets<'_>) -> Vec<Sampler> {
    SAMPLERS.iter().filter_map(|start| start(targets)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::{Readings, metric};

    use super::*;
    use crate::control_group::CgroupDir;
    use crate::server_group::ServerGroup;
    use crate::targets::{Foreign, ServerTargets};

    #[test]
    fn every_reading_is_a_metric() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("000004.log"), vec![1; 100_000]).unwrap();
        let group = ServerGroup::create(None, dir.path()).unwrap();
        let targets = RunTargets {
            pid: Some(std::process::id()),
            data_dir: dir.path().to_owned(),
            cgroup: CgroupDir::of_process(std::process::id()),
            is_log: Some(Arc::new(|path| path.extension().is_some_and(|end| end == "log"))),
            server: Some(ServerTargets { pid: std::process::id(), group: &group }),
            foreign: Foreign::Nowhere,
            network: Some(std::net::Ipv4Addr::LOCALHOST.into()),
        };
        let mut all = Readings::new();
        for mut sampler in for_run(&targets) {
            let readings = sampler(true);
            assert!(readings.keys().all(|name| metric::find(name).is_some()));
            all.extend(readings);
        }
        assert!(all.len() > 10, "{all:?}");
        for name in [
            metric::RSS_BYTES,
            metric::HOST_CPU_BUSY_US,
            metric::DATA_DIR_BYTES,
            metric::DISK_FREE_BYTES,
            metric::NETWORK_SENT_BYTES,
        ] {
            assert!(all[name] > 0.0, "{name} in {all:?}");
        }
    }
}
