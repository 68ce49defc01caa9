//! The run's control group: memory, throttling, kills; versions 1 and 2.

use std::path::{Path, PathBuf};

use model::Readings;

use crate::control_group::{CgroupDir, Version};
use crate::error::SampleError;
use crate::kernel_file::{put, read_if_there, value_of};
use crate::sampler::Sampler;

/// Reads the accounts of the worker's control group.
pub(crate) struct CgroupSampler {
    /// The run's own group: the memory of a shared one says nothing about the run.
    own: Option<CgroupDir>,
    /// The groups whose CPU cap holds the worker: its own and the enclosing ones.
    cpu: Vec<PathBuf>,
    version: Option<Version>,
}

impl CgroupSampler {
    /// Returns the sampler of process `pid`, and of its group if the run has one to itself.
    pub(crate) fn new(pid: u32, own: Option<CgroupDir>) -> Self {
        let of_worker = CgroupDir::of_process(pid);
        let version = of_worker.as_ref().map(|group| group.version);
        let cpu = of_worker.and_then(|group| group.cpu).map_or_else(Vec::new, |dir| cpu_dirs(&dir));
        Self { own, cpu, version }
    }
}

impl Sampler for CgroupSampler {
    fn metrics(&self) -> &'static [&'static str] {
        &["cgroup_memory_bytes", "cgroup_throttled_us", "cgroup_oom_kills"]
    }

    fn sample(&mut self) -> Result<Readings, SampleError> {
        let mut readings = Readings::new();
        if let Some(group) = &self.own {
            put(&mut readings, "cgroup_memory_bytes", group.memory_bytes()?);
            put(&mut readings, "cgroup_oom_kills", group.oom_kills()?);
        }
        let mut throttled = None;
        for dir in &self.cpu {
            let text = read_if_there(&dir.join("cpu.stat"))?.unwrap_or_default();
            let more = self.version.and_then(|version| throttled_us(&text, version));
            throttled = throttled.into_iter().chain(more).reduce(u64::wrapping_add);
        }
        put(&mut readings, "cgroup_throttled_us", throttled);
        Ok(readings)
    }
}

/// Returns a group's directory and those of the groups that enclose it.
///
/// A group that is not throttled itself is held up by the cap of an enclosing one, which alone
/// counts it.
fn cpu_dirs(dir: &Path) -> Vec<PathBuf> {
    let dirs = dir.ancestors().take_while(|dir| dir.join("cpu.stat").exists());
    dirs.map(Path::to_path_buf).collect()
}

/// Returns the throttled time in the text of `cpu.stat`, us.
///
/// Source: Linux, Documentation/scheduler/sched-bwc.rst (version 1, ns) and
/// Documentation/admin-guide/cgroup-v2.rst (version 2, us; absent without the CPU controller).
fn throttled_us(text: &str, version: Version) -> Option<u64> {
    match version {
        Version::V1 => value_of(text, "throttled_time").map(|ns| ns / 1000),
        Version::V2 => value_of(text, "throttled_usec"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttling_is_in_microseconds_in_both_versions() {
        let v1 = "nr_periods 40\nnr_throttled 3\nthrottled_time 2500000\n";
        assert_eq!(throttled_us(v1, Version::V1), Some(2500));
        let v2 = "usage_usec 90\nuser_usec 60\nsystem_usec 30\nthrottled_usec 17\n";
        assert_eq!(throttled_us(v2, Version::V2), Some(17));
        assert_eq!(throttled_us("usage_usec 90\n", Version::V2), None);
    }

    #[test]
    fn the_throttling_of_enclosing_groups_counts_too() {
        let top = tempfile::tempdir().unwrap();
        let group = top.path().join("slice/job");
        std::fs::create_dir_all(&group).unwrap();
        std::fs::write(top.path().join("slice/cpu.stat"), "throttled_usec 7\n").unwrap();
        std::fs::write(group.join("cpu.stat"), "usage_usec 90\n").unwrap();
        let cpu = cpu_dirs(&group);
        assert_eq!(cpu.len(), 2);
        let version = Some(Version::V2);
        let readings = CgroupSampler { own: None, cpu, version }.sample().unwrap();
        assert_eq!(readings.into_iter().collect::<Vec<_>>(), [("cgroup_throttled_us".into(), 7.0)]);
    }

    #[test]
    fn both_versions_give_the_same_readings() {
        for (version, files) in [
            (
                Version::V1,
                [
                    ("memory.usage_in_bytes", "4096\n"),
                    ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"),
                    ("cpu.stat", "throttled_time 5000\n"),
                ],
            ),
            (
                Version::V2,
                [
                    ("memory.current", "4096\n"),
                    ("memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n"),
                    ("cpu.stat", "throttled_usec 5\n"),
                ],
            ),
        ] {
            let dir = tempfile::tempdir().unwrap();
            for (name, text) in files {
                std::fs::write(dir.path().join(name), text).unwrap();
            }
            let memory = Some(dir.path().to_owned());
            let own = Some(CgroupDir { version, memory, cpu: None });
            let cpu = cpu_dirs(dir.path());
            let version = Some(version);
            let readings = CgroupSampler { own, cpu, version }.sample().unwrap();
            assert_eq!(readings.get("cgroup_memory_bytes"), Some(&4096.0), "{version:?}");
            assert_eq!(readings.get("cgroup_oom_kills"), Some(&2.0), "{version:?}");
            assert_eq!(readings.get("cgroup_throttled_us"), Some(&5.0), "{version:?}");
        }
    }
}
