//! Directories of control groups, versions 1 and 2.

use std::path::{Path, PathBuf};

use crate::kernel_file::{read, read_of_process, value_of};
use crate::mount::{Mount, mounts};

/// Version of the control group interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// One hierarchy per controller.
    V1 = 1,
    /// One hierarchy.
    V2 = 2,
}

impl Version {
    /// Returns the name of the file of the memory in use.
    fn usage_file(self) -> &'static str {
        match self {
            Self::V1 => "memory.usage_in_bytes",
            Self::V2 => "memory.current",
        }
    }

    /// Returns the name of the file that counts kills for lack of memory.
    fn kills_file(self) -> &'static str {
        match self {
            Self::V1 => "memory.oom_control",
            Self::V2 => "memory.events",
        }
    }
}

/// The directory of a control group's accounts of one kind.
///
/// Memory and CPU may be controlled by different versions on one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupDir {
    pub(crate) version: Version,
    pub(crate) dir: PathBuf,
}

impl CgroupDir {
    /// Returns where the memory of a process's group is counted, if the machine shows one.
    pub fn of_process(pid: u32) -> Option<Self> {
        locate(&read_of_process(pid, "cgroup")?, &mounts(), "memory")
    }

    /// Returns the version of the interface that controls memory: 1 or 2.
    pub fn version(&self) -> u8 {
        self.version as u8
    }

    /// Returns the memory charged to the group, page cache included.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        read(self.dir.join(self.version.usage_file()))?.trim().parse().ok()
    }

    /// Returns the number of out-of-memory kills in the group, if it is counted.
    pub fn oom_kills(&self) -> Option<u64> {
        value_of(&read(self.kills_file())?, "oom_kill")
    }

    /// Returns the file that counts kills for lack of memory.
    pub(crate) fn kills_file(&self) -> PathBuf {
        self.dir.join(self.version.kills_file())
    }
}

/// Returns the group a `/proc/PID/cgroup` names, in the version that has the controller.
///
/// A machine may have both versions mounted; a controller is in one of them.
/// Source: cgroups(7), "/proc files".
pub(crate) fn locate(text: &str, mounts: &[Mount], controller: &str) -> Option<CgroupDir> {
    if let Some(dir) = v1_dir(text, mounts, controller) {
        return Some(CgroupDir { version: Version::V1, dir });
    }
    Some(CgroupDir { version: Version::V2, dir: v2_dir(text, mounts)? })
}

/// Returns the directory of the group in the one hierarchy of version 2.
pub(crate) fn v2_dir(text: &str, mounts: &[Mount]) -> Option<PathBuf> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = mounts.iter().rfind(|mount| mount.kind == "cgroup2")?;
    Some(dir_in(mount, path))
}

/// Returns the directory of the group in the hierarchy of a version 1 controller.
pub(crate) fn v1_dir(text: &str, mounts: &[Mount], controller: &str) -> Option<PathBuf> {
    let path = text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let is_own = parts.next()?.split(',').any(|name| name == controller);
        parts.next().filter(|_| is_own)
    })?;
    let is_own = |mount: &&Mount| {
        mount.kind == "cgroup" && mount.options.iter().any(|name| name == controller)
    };
    Some(dir_in(mounts.iter().rfind(is_own)?, path))
}

/// Returns a group's directory under a mount that may show only a part of the hierarchy.
fn dir_in(mount: &Mount, path: &str) -> PathBuf {
    let path = Path::new(path);
    // In a container the mount starts at the container's own group.
    match path.strip_prefix(&mount.root) {
        Ok(below) => mount.point.join(below),
        Err(_elsewhere) => mount.point.clone(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    /// Returns whether this user may write the groups of a controller of version 1, by the rights
    /// to its directory: then no cap or account is missing for want of them.
    pub(crate) fn is_writable(controller: &str) -> bool {
        let groups = std::path::Path::new("/sys/fs/cgroup").join(controller);
        rustix::fs::access(&groups, rustix::fs::Access::WRITE_OK).is_ok()
    }

    use super::*;

    fn mount(kind: &str, point: &str, root: &str, options: &[&str]) -> Mount {
        Mount {
            number: "0:30".to_owned(),
            mount_options: Vec::new(),
            root: root.into(),
            point: point.into(),
            kind: kind.to_owned(),
            source: kind.to_owned(),
            options: options.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn version_1_has_a_directory_for_each_controller() {
        let text = "9:name=systemd:/\n4:memory:/jobs/17\n2:cpuacct:/acct\n1:cpu:/\n0::/\n";
        let mounts = [
            mount("cgroup", "/cg/memory", "/", &["rw", "memory"]),
            mount("cgroup", "/cg/cpuacct", "/", &["rw", "cpuacct"]),
            mount("cgroup", "/cg/cpu", "/", &["rw", "cpu"]),
            mount("cgroup2", "/cg/unified", "/", &["rw"]),
        ];
        let group = locate(text, &mounts, "memory").unwrap();
        assert_eq!(group.version(), 1);
        assert_eq!(group.dir, Path::new("/cg/memory/jobs/17"));
        let cpu = CgroupDir { version: Version::V1, dir: "/cg/cpu".into() };
        assert_eq!(locate(text, &mounts, "cpu"), Some(cpu));
    }

    #[test]
    fn version_2_has_one_directory() {
        let mounts = [mount("cgroup2", "/sys/fs/cgroup", "/", &["rw", "nsdelegate"])];
        let text = "0::/user.slice/user-1000.slice/session-2.scope\n";
        let group = locate(text, &mounts, "memory").unwrap();
        assert_eq!(group.version(), 2);
        let dir = Path::new("/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope");
        assert_eq!(group.dir, dir);
        let cpu = CgroupDir { version: Version::V2, dir: dir.into() };
        assert_eq!(locate(text, &mounts, "cpu"), Some(cpu));
    }

    #[test]
    fn with_both_versions_each_controller_is_found_in_its_own() {
        let text = "1:cpu,cpuacct:/a\n0::/b\n";
        let mounts = [
            mount("cgroup", "/cg/cpu", "/", &["rw", "cpu", "cpuacct"]),
            mount("cgroup2", "/cg/unified", "/", &["rw"]),
        ];
        let group = locate(text, &mounts, "memory").unwrap();
        assert_eq!(group.dir, Path::new("/cg/unified/b"));
        assert_eq!(locate(text, &mounts, "cpu").unwrap().dir, Path::new("/cg/cpu/a"));
    }

    #[test]
    fn a_container_has_its_own_group_at_the_top() {
        let text = "4:memory:/docker/0123\n";
        let inside = [mount("cgroup", "/cg/memory", "/docker/0123", &["memory"])];
        assert_eq!(locate(text, &inside, "memory").unwrap().dir, Path::new("/cg/memory"));
        let unrelated = [mount("cgroup", "/cg/memory", "/elsewhere", &["memory"])];
        assert_eq!(locate(text, &unrelated, "memory").unwrap().dir, Path::new("/cg/memory"));
        assert_eq!(locate("0::/\n", &[], "memory"), None);
    }
}
