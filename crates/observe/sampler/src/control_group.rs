//! Directories of control groups, versions 1 and 2.

use std::path::{Path, PathBuf};

use crate::kernel_file::{read, read_of_process, value_of};
use crate::mount::{Mount, mounts, parse_mounts};

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

/// Returns this process's group of a controller, then the groups that enclose it, if any.
///
/// `read` returns the text of a file of `/proc`.
///
/// # Errors
/// That limits are unknown, because the files of the group are not mounted.
pub fn enclosing_groups(
    read: impl Fn(&str) -> Option<String>,
    controller: &str,
) -> Result<Vec<PathBuf>, String> {
    let text = read("/proc/self/cgroup").unwrap_or_default();
    let path = v1_path(&text, controller).or_else(|| v2_path(&text));
    let Some(path) = path else { return Ok(Vec::new()) };
    let mounts = parse_mounts(&read("/proc/self/mountinfo").unwrap_or_default());
    let group = locate(&text, &mounts, controller).ok_or_else(|| {
        format!(
            "limits of the control group {path} are unknown: its {controller} files are not \
             mounted (start the container with `-v /sys/fs/cgroup:/sys/fs/cgroup:ro`)"
        )
    })?;
    Ok(group.dir.ancestors().map(Path::to_owned).collect())
}

/// Returns the groups of [`enclosing_groups`] by the files of this machine.
pub(crate) fn own_groups(controller: &str) -> Result<Vec<PathBuf>, String> {
    enclosing_groups(|path| read(path), controller)
}

/// Returns the group a `/proc/PID/cgroup` names, in the version that has the controller.
///
/// A machine may have both versions mounted; a controller is in one of them.
/// Source: cgroups(7), "/proc files".
pub(crate) fn locate(text: &str, mounts: &[Mount], controller: &str) -> Option<CgroupDir> {
    match v1_path(text, controller) {
        Some(_) => Some(CgroupDir { version: Version::V1, dir: v1_dir(text, mounts, controller)? }),
        None => Some(CgroupDir { version: Version::V2, dir: v2_dir(text, mounts)? }),
    }
}

fn v2_path(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::"))
}

fn v1_path<'t>(text: &'t str, controller: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let is_own = parts.next()?.split(',').any(|name| name == controller);
        parts.next().filter(|_| is_own)
    })
}

/// Returns the directory of the group in the one hierarchy of version 2.
pub(crate) fn v2_dir(text: &str, mounts: &[Mount]) -> Option<PathBuf> {
    let mount = mounts.iter().rfind(|mount| mount.kind == "cgroup2")?;
    Some(dir_in(mount, v2_path(text)?))
}

/// Returns the directory of the group in the hierarchy of a version 1 controller.
pub(crate) fn v1_dir(text: &str, mounts: &[Mount], controller: &str) -> Option<PathBuf> {
    let path = v1_path(text, controller)?;
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
    fn limits_of_a_group_whose_files_are_not_mounted_are_unknown() {
        let of = |cgroup: &str, mountinfo: &str| {
            let files = |path: &str| {
                Some(if path.ends_with("cgroup") { cgroup } else { mountinfo }.to_owned())
            };
            enclosing_groups(files, "memory")
        };
        let unified = "42 27 0:29 / /cg/unified rw - cgroup2 cgroup2 rw\n";
        let hidden = of("4:memory:/jobs/17\n0::/\n", unified).unwrap_err();
        assert!(hidden.contains("group /jobs/17 are unknown: its memory files"), "{hidden}");
        assert!(of("0::/\n", "").unwrap_err().contains("the control group / are unknown"));
        assert_eq!(of("", unified), Ok(Vec::new()));
        let dirs = of("0::/a/b\n", unified).unwrap();
        assert_eq!(dirs[..2], [Path::new("/cg/unified/a/b"), Path::new("/cg/unified/a")]);
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
