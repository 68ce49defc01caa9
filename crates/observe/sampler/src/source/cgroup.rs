//! The run's control group: memory, throttling, kills; versions 1 and 2.

use model::{Readings, metric};

use crate::control_group::{CgroupDir, Version, locate};
use crate::kernel_file::{read, read_of_process, value_of};
use crate::mount::mounts;
use crate::targets::{RunTargets, Sampler};

/// Starts the sampler.
pub(crate) fn start(targets: &RunTargets<'_>) -> Option<Sampler> {
    let (own, pid) = (targets.cgroup.clone(), targets.pid?);
    let mut sampler = CgroupSampler { own, pid, throttling: Throttling::default() };
    Some(Box::new(move |_| sampler.sample()))
}

/// Reads the accounts of the worker's control group.
struct CgroupSampler {
    /// The run's own group: the memory of a shared one is not the run's.
    own: Option<CgroupDir>,
    pid: u32,
    throttling: Throttling,
}

impl CgroupSampler {
    fn sample(&mut self) -> Readings {
        let mut readings = Readings::new();
        if let Some(group) = &self.own {
            readings.set(metric::CGROUP_MEMORY_BYTES, group.memory_bytes());
            readings.set(metric::CGROUP_OOM_KILLS, group.oom_kills());
        }
        let group = read_of_process(self.pid, "cgroup").unwrap_or_default();
        readings.set(metric::CGROUP_THROTTLED_US, self.throttling.update(&group));
        readings
    }
}

/// The throttling of the groups whose CPU cap holds the worker: its own and the enclosing ones.
///
/// A worker may be moved to another group while it runs (by a container's manager, by a user who
/// caps it): what a group counted before the worker came to it is not the worker's.
#[derive(Default)]
struct Throttling {
    /// The worker's `/proc/PID/cgroup` when its groups were last located.
    text: String,
    groups: Vec<CgroupDir>,
    /// What the groups counted at the last update, us.
    last_us: Option<u64>,
    total_us: u64,
}

impl Throttling {
    /// Returns the time throttled since the first update, us, for a worker whose `/proc/PID/cgroup`
    /// has this text; `None` when its groups do not report it.
    fn update(&mut self, text: &str) -> Option<u64> {
        if text != self.text {
            text.clone_into(&mut self.text);
            self.groups =
                locate(text, &mounts(), "cpu").map_or_else(Vec::new, |group| enclosing(&group));
            self.last_us = None;
        }
        self.add()
    }

    /// Adds what the groups have counted since the last update.
    fn add(&mut self) -> Option<u64> {
        let mut now_us = None;
        for group in &self.groups {
            let text = read(group.dir.join("cpu.stat")).unwrap_or_default();
            let more = throttled_us(&text, group.version);
            now_us = now_us.into_iter().chain(more).reduce(u64::wrapping_add);
        }
        if let (Some(now), Some(last)) = (now_us, self.last_us) {
            self.total_us += u64::saturating_sub(now, last);
        }
        self.last_us = now_us;
        now_us.map(|_known| self.total_us)
    }
}

/// Returns a group and those that enclose it.
///
/// A group that is not throttled itself is held up by the cap of an enclosing one, which alone
/// counts it.
fn enclosing(group: &CgroupDir) -> Vec<CgroupDir> {
    let dirs = group.dir.ancestors().take_while(|dir| dir.join("cpu.stat").exists());
    let version = group.version;
    dirs.map(|dir| CgroupDir { version, dir: dir.to_path_buf() }).collect()
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
    use std::path::Path;

    use super::*;

    #[test]
    fn throttling_is_in_microseconds_in_both_versions() {
        let v1 = "nr_periods 40\nnr_throttled 3\nthrottled_time 2500000\n";
        assert_eq!(throttled_us(v1, Version::V1), Some(2500));
        let v2 = "usage_usec 90\nuser_usec 60\nsystem_usec 30\nthrottled_usec 17\n";
        assert_eq!(throttled_us(v2, Version::V2), Some(17));
        assert_eq!(throttled_us("usage_usec 90\n", Version::V2), None);
    }

    /// Returns the throttling of the groups from `dir` up, updated once.
    fn updated_once(dir: &Path, version: Version) -> Throttling {
        let groups = enclosing(&CgroupDir { version, dir: dir.to_path_buf() });
        let mut throttling = Throttling { groups, ..Throttling::default() };
        throttling.add();
        throttling
    }

    #[test]
    fn the_throttling_of_enclosing_groups_counts_too() {
        let top = tempfile::tempdir().unwrap();
        let group = top.path().join("slice/job");
        std::fs::create_dir_all(&group).unwrap();
        std::fs::write(top.path().join("slice/cpu.stat"), "throttled_usec 7\n").unwrap();
        std::fs::write(group.join("cpu.stat"), "usage_usec 90\n").unwrap();
        let mut throttling = updated_once(&group, Version::V2);
        assert_eq!(throttling.groups.len(), 2);
        std::fs::write(top.path().join("slice/cpu.stat"), "throttled_usec 19\n").unwrap();
        assert_eq!(throttling.add(), Some(12));
    }

    #[test]
    fn a_group_the_worker_is_moved_to_brings_no_throttling_of_its_past() {
        let (old, new) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let count = |group: &tempfile::TempDir, ns: u64| {
            std::fs::write(group.path().join("cpu.stat"), format!("throttled_time {ns}\n"))
                .unwrap();
        };
        count(&old, 5_000);
        count(&new, 900_000);
        let mut throttling = updated_once(old.path(), Version::V1);
        count(&old, 8_000);
        assert_eq!(throttling.add(), Some(3));
        throttling.groups = enclosing(&CgroupDir { version: Version::V1, dir: new.path().into() });
        throttling.last_us = None;
        assert_eq!(throttling.add(), Some(3));
        count(&new, 902_000);
        assert_eq!(throttling.add(), Some(5));
        count(&new, 0);
        assert_eq!(throttling.add(), Some(5), "a reset counter adds nothing");
    }

    #[test]
    fn a_process_without_groups_has_no_throttling() {
        assert_eq!(Throttling::default().update(""), None);
    }

    #[test]
    fn both_versions_give_the_same_readings() {
        for (version, files) in [
            (
                Version::V1,
                [
                    ("memory.usage_in_bytes", "4096\n"),
                    ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"),
                ],
            ),
            (
                Version::V2,
                [
                    ("memory.current", "4096\n"),
                    ("memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n"),
                ],
            ),
        ] {
            let dir = tempfile::tempdir().unwrap();
            for (name, text) in files {
                std::fs::write(dir.path().join(name), text).unwrap();
            }
            let own = Some(CgroupDir { version, dir: dir.path().to_owned() });
            let (pid, throttling) = (std::process::id(), Throttling::default());
            let readings = CgroupSampler { own, pid, throttling }.sample();
            assert_eq!(readings.value(metric::CGROUP_MEMORY_BYTES), Some(4096.0), "{version:?}");
            assert_eq!(readings.value(metric::CGROUP_OOM_KILLS), Some(2.0), "{version:?}");
        }
    }
}
