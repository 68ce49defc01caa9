//! The role of a sampler, and the list of them.

use std::path::PathBuf;

use model::Readings;

use crate::control_group::CgroupDir;
use crate::error::SampleError;
use crate::source::{
    CgroupSampler, DataDirSampler, DeviceSampler, DiskFreeSampler, HostSampler, OthersSampler,
    ProcessIoSampler, ProcessMemorySampler, SwapSampler,
};

/// One source of readings.
pub trait Sampler: Send {
    /// Returns the names of the metrics it may read.
    fn metrics(&self) -> &'static [&'static str];

    /// Returns the readings of this moment; cheap enough for once a second.
    ///
    /// # Errors
    /// When the source was there and is no more, as of a process that has ended.
    fn sample(&mut self) -> Result<Readings, SampleError>;

    /// Returns the readings of a step's boundary, with those too costly for each second.
    ///
    /// # Errors
    /// As [`Sampler::sample`].
    fn sample_boundary(&mut self) -> Result<Readings, SampleError> {
        self.sample()
    }

    /// Returns why metrics of its list are missing on this machine, if that is known beforehand.
    fn absence(&self) -> Option<&str> {
        None
    }
}

/// What the samplers of one run look at.
#[derive(Debug, Clone)]
pub struct RunTargets {
    /// The worker; it is in its control group already.
    pub pid: u32,
    /// The run's data directory; it exists.
    pub data_dir: PathBuf,
    /// The run's own control group, when it has one.
    pub cgroup: Option<CgroupDir>,
    /// Ends of the names of the engine's log files: `.log`, `-wal`.
    pub log_suffixes: Vec<String>,
}

/// Returns the samplers of one run.
#[must_use]
pub fn for_run(targets: &RunTargets) -> Vec<Box<dyn Sampler>> {
    vec![
        Box::new(ProcessIoSampler::new(targets.pid)),
        Box::new(ProcessMemorySampler::new(targets.pid)),
        Box::new(DeviceSampler::new(&targets.data_dir)),
        Box::new(HostSampler),
        Box::new(SwapSampler),
        Box::new(OthersSampler::new(targets.pid)),
        Box::new(DataDirSampler::new(&targets.data_dir, &targets.log_suffixes)),
        Box::new(DiskFreeSampler::new(&targets.data_dir)),
        Box::new(CgroupSampler::new(targets.pid, targets.cgroup.clone())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_is_a_metric_its_sampler_announced() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("000004.log"), vec![1; 100_000]).unwrap();
        let targets = RunTargets {
            pid: std::process::id(),
            data_dir: dir.path().to_owned(),
            cgroup: CgroupDir::of_process(std::process::id()),
            log_suffixes: vec![".log".to_owned()],
        };
        let mut all = Readings::new();
        for mut sampler in for_run(&targets) {
            let announced = sampler.metrics();
            assert!(announced.iter().all(|name| model::metric::find(name).is_some()));
            let readings = sampler.sample_boundary().unwrap();
            assert!(readings.keys().all(|name| announced.contains(&name.as_str())));
            assert!(sampler.absence().is_none() || readings.is_empty(), "{readings:?}");
            all.extend(readings);
        }
        for name in ["rss_bytes", "host_cpu_busy_us", "data_dir_bytes", "disk_free_bytes"] {
            assert!(all[name] > 0.0, "{name} in {all:?}");
        }
    }

    #[test]
    fn costly_readings_are_taken_at_boundaries_only() {
        let mut sampler = ProcessMemorySampler::new(std::process::id());
        assert!(!sampler.sample().unwrap().contains_key("pss_bytes"));
        if !std::path::Path::new("/proc/self/smaps_rollup").exists() {
            println!("skipped: this kernel has no smaps_rollup");
            return;
        }
        assert!(sampler.sample_boundary().unwrap()["pss_bytes"] > 0.0);
    }
}
