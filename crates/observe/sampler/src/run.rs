//! The samplers of a run.

use crate::sampler::Sampler;
use crate::source::{
    CgroupSampler, DataDirSampler, DeviceSampler, DiskFreeSampler, HostSampler, OthersSampler,
    ProcessIoSampler, ProcessMemorySampler, ServerSampler, SwapSampler,
};
use crate::targets::{Foreign, RunTargets};

/// Returns the samplers of one run.
#[must_use]
pub fn for_run(targets: &RunTargets<'_>) -> Vec<Box<dyn Sampler>> {
    let mut samplers: Vec<Box<dyn Sampler>> = vec![
        Box::new(ProcessIoSampler::new(targets.pid)),
        Box::new(ProcessMemorySampler::new(targets.pid)),
        Box::new(HostSampler),
        Box::new(SwapSampler),
        Box::new(DiskFreeSampler::new(&targets.data_dir)),
        Box::new(CgroupSampler::new(targets.pid, targets.cgroup.clone())),
    ];
    if targets.foreign == Foreign::Nowhere {
        samplers.push(Box::new(DeviceSampler::new(&targets.data_dir)));
        let data = DataDirSampler::new(&targets.data_dir, targets.is_log.clone());
        samplers.push(Box::new(data));
    }
    if targets.foreign != Foreign::Here {
        samplers.push(Box::new(OthersSampler::new(targets.pid, targets.server.as_ref())));
    }
    if let Some(server) = &targets.server {
        samplers.push(Box::new(ServerSampler::new(server.group)));
    }
    samplers
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::Readings;

    use model::metric;

    use super::*;
    use crate::control_group::CgroupDir;
    use crate::server_group::ServerGroup;
    use crate::targets::ServerTargets;

    #[test]
    fn every_reading_is_a_metric() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("000004.log"), vec![1; 100_000]).unwrap();
        let group = ServerGroup::create(None, dir.path()).unwrap();
        let targets = RunTargets {
            pid: std::process::id(),
            data_dir: dir.path().to_owned(),
            cgroup: CgroupDir::of_process(std::process::id()),
            is_log: Some(Arc::new(|path| path.extension().is_some_and(|end| end == "log"))),
            server: Some(ServerTargets { pid: std::process::id(), group: &group }),
            foreign: Foreign::Nowhere,
        };
        let mut all = Readings::new();
        for mut sampler in for_run(&targets) {
            let readings = sampler.sample_boundary().unwrap();
            assert!(readings.keys().all(|name| metric::find(name).is_some()));
            assert!(sampler.absence().is_none() || readings.is_empty(), "{readings:?}");
            all.extend(readings);
        }
        for name in [
            metric::RSS_BYTES,
            metric::HOST_CPU_BUSY_US,
            metric::DATA_DIR_BYTES,
            metric::DISK_FREE_BYTES,
        ] {
            assert!(all[name] > 0.0, "{name} in {all:?}");
        }
    }

    #[test]
    fn costly_readings_are_taken_at_boundaries_only() {
        let mut sampler = ProcessMemorySampler::new(std::process::id());
        assert!(!sampler.sample().unwrap().has(metric::PSS_BYTES));
        if !std::path::Path::new("/proc/self/smaps_rollup").exists() {
            println!("skipped: this kernel has no smaps_rollup");
            return;
        }
        assert!(sampler.sample_boundary().unwrap()[metric::PSS_BYTES] > 0.0);
    }
}
