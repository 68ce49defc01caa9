//! A control group that counts and caps one server.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Bytes, Privilege};

use crate::block_device::BlockDevice;
use crate::cap::{MemoryCap, make_group, next_name, v2_parent};
use crate::control_group::{CgroupDir, Version, locate, v1_dir, v2_dir};
use crate::error::CapError;
use crate::kernel_file::read_of_process;
use crate::mount::{Mount, mounts};
use crate::process_tree::process_tree;

/// Requests per second of the rule without which version 1 does not count requests.
///
/// Our choice: far above what a device serves, so that it never throttles.
const RULE_OPS_PER_S: u32 = 1_000_000;
/// Files of that rule.
const RULES: [&str; 2] = ["blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device"];

/// The accounts of a server's group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Accounts {
    pub(crate) cpu: Option<CgroupDir>,
    /// The IO accounts, and the device they are read for.
    pub(crate) io: Option<(CgroupDir, String)>,
    pub(crate) memory: Option<CgroupDir>,
    /// Any of the directories: where its processes are listed.
    pub(crate) processes: Option<PathBuf>,
}

/// A control group for one server; one that was made is removed when dropped.
///
/// It is made before the server starts. In version 1 it is a group in each hierarchy that counts
/// something, in version 2 one group.
#[derive(Debug)]
pub struct ServerGroup {
    accounts: Accounts,
    dirs: Vec<PathBuf>,
    /// Holds the capped group.
    _cap: Option<MemoryCap>,
    absence: Option<String>,
}

impl ServerGroup {
    /// Makes an empty group; what it cannot count is absent.
    ///
    /// `data_dir` lies on the device whose requests are counted.
    ///
    /// # Errors
    /// Only when `limit` is given and cannot be set; see [`MemoryCap::create`].
    pub fn create(limit: Option<Bytes>, data_dir: &Path) -> Result<Self, CapError> {
        let pid = std::process::id();
        let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        Self::create_in(&text, &mounts(), limit, data_dir)
    }

    fn create_in(
        text: &str,
        mounts: &[Mount],
        limit: Option<Bytes>,
        data_dir: &Path,
    ) -> Result<Self, CapError> {
        let mut builder = GroupBuilder { name: next_name(), dirs: Vec::new(), failure: None };
        let cap = limit.map(|limit| builder.cap(text, mounts, limit)).transpose()?;
        let mut account = |controller| builder.account(text, mounts, controller);
        let (cpu, io) = (account("cpuacct"), account("blkio"));
        let memory = cap.as_ref().map(MemoryCap::dir).or_else(|| account("memory"));
        let GroupBuilder { dirs, failure, .. } = builder;
        let (mut absence, processes) = (failure, dirs.first().cloned());
        let device = BlockDevice::under(data_dir).and_then(|device| {
            device.number().ok_or_else(|| format!("{} has no number", device.name))
        });
        let io = match device {
            Ok(device) => io.map(|group| (group, device)),
            Err(reason) => {
                absence.get_or_insert(reason);
                None
            }
        };
        let io = io.filter(|(CgroupDir { version, dir }, device)| {
            let counted = match version {
                Version::V1 => count_requests(dir, device),
                Version::V2 => Ok(()),
            };
            counted.map_err(|error| absence.get_or_insert(error)).is_ok()
        });
        Ok(Self { accounts: Accounts { cpu, io, memory, processes }, dirs, _cap: cap, absence })
    }

    /// Finds what counts a running server, without a change to its group.
    ///
    /// A group counts the server if it holds all of its processes and no other one.
    pub(crate) fn of_running(pid: u32, data_dir: Option<&Path>) -> Self {
        let text = read_of_process(pid, "cgroup").unwrap_or_default();
        Self::of_running_in(pid, &text, &mounts(), data_dir)
    }

    fn of_running_in(pid: u32, text: &str, mounts: &[Mount], data_dir: Option<&Path>) -> Self {
        let account = |controller| {
            locate(text, mounts, controller).filter(|group| holds_only(&group.dir, pid, text))
        };
        let (cpu, memory) = (account("cpuacct"), account("memory"));
        // Version 1 counts requests under a rule only: see `count_requests`.
        let io = account("blkio").filter(|io| io.dir.join("io.stat").exists());
        let device = data_dir.and_then(|dir| BlockDevice::under(dir).ok()?.number());
        let io = io.zip(device);
        let absence = if cpu.is_none() || memory.is_none() {
            Some("the server has no control group for itself alone")
        } else if io.is_none() {
            Some("the control group of the server does not count requests to the data's device")
        } else {
            None
        };
        let processes = cpu.as_ref().map(|cpu| cpu.dir.clone());
        let (accounts, absence) =
            (Accounts { cpu, io, memory, processes }, absence.map(str::to_owned));
        Self { accounts, dirs: Vec::new(), _cap: None, absence }
    }

    /// Returns the directories whose `cgroup.procs` a process must be written to.
    pub fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }

    /// Returns where the memory is counted; `None` when it is not.
    pub fn memory(&self) -> Option<CgroupDir> {
        self.accounts.memory.clone()
    }

    /// Returns why something is not counted; `None` when everything is.
    pub fn absence(&self) -> Option<&str> {
        self.absence.as_deref()
    }

    /// Returns which writes are counted; `None` when all are.
    ///
    /// Version 1 charges no group with what the kernel writes back by itself: what it counts of
    /// writes is a part of unknown size, and left out.
    /// Source: Linux, Documentation/admin-guide/cgroup-v1/blkio-controller.rst.
    pub fn writes_counted(&self) -> Option<&'static str> {
        let is_v1 = self.accounts.io.as_ref().is_some_and(|(io, _)| io.version == Version::V1);
        is_v1.then_some("none: control groups of version 1 do not count write-back by the kernel")
    }

    pub(crate) fn accounts(&self) -> Accounts {
        self.accounts.clone()
    }
}

impl Drop for ServerGroup {
    /// Removes the groups unless processes are left in them.
    fn drop(&mut self) {
        for dir in &self.dirs {
            // What cannot be removed now is swept when the next one is made.
            drop(fs::remove_dir(dir));
        }
    }
}

/// A group under construction.
struct GroupBuilder {
    name: String,
    dirs: Vec<PathBuf>,
    failure: Option<String>,
}

impl GroupBuilder {
    /// Makes the capped group.
    fn cap(&mut self, text: &str, mounts: &[Mount], limit: Bytes) -> Result<MemoryCap, CapError> {
        let cap = MemoryCap::create_in(locate(text, mounts, "memory"), &self.name, limit)?;
        self.dirs.push(cap.dir().dir);
        Ok(cap)
    }

    /// Makes a group that counts what a controller of version 1, or version 2, does.
    fn account(&mut self, text: &str, mounts: &[Mount], controller: &str) -> Option<CgroupDir> {
        let v1 = v1_dir(text, mounts, controller).and_then(|own| self.make(&own));
        match v1 {
            Some(dir) => Some(CgroupDir { version: Version::V1, dir }),
            None => Some(CgroupDir { version: Version::V2, dir: self.make_v2(text, mounts)? }),
        }
    }

    /// Makes the one group of version 2, with what counters can be had.
    fn make_v2(&mut self, text: &str, mounts: &[Mount]) -> Option<PathBuf> {
        let own = v2_dir(text, mounts)?;
        // The kernel counts CPU without a controller; a group below ours is then as good.
        let parent = v2_parent(&own).unwrap_or(&own);
        for controller in ["+io", "+cpu"] {
            // What is not delegated is not counted.
            fs::write(parent.join("cgroup.subtree_control"), controller).ok();
        }
        let dir = self.make(parent)?;
        if !dir.join("io.stat").exists() {
            let why = || format!("IO of servers is not counted: this {}", Privilege::IO_CONTROLLER);
            self.failure.get_or_insert_with(why);
        }
        Some(dir)
    }

    /// Makes the group below `parent`, unless it is there.
    fn make(&mut self, parent: &Path) -> Option<PathBuf> {
        let dir = parent.join(&self.name);
        if self.dirs.contains(&dir) {
            return Some(dir);
        }
        match make_group(parent, &self.name) {
            Ok(dir) => {
                self.dirs.push(dir.clone());
                Some(dir)
            }
            Err(error) => {
                let why = || format!("no control group for the server: {error}");
                self.failure.get_or_insert_with(why);
                None
            }
        }
    }
}

/// Returns whether a group holds a process with its descendants and nothing else.
///
/// `text` is the process's `/proc/PID/cgroup`.
fn holds_only(dir: &Path, pid: u32, text: &str) -> bool {
    let Ok(listed) = fs::read_to_string(dir.join("cgroup.procs")) else { return false };
    let mut below = fs::read_dir(dir).into_iter().flatten().flatten();
    let tree = process_tree(pid);
    // The kernel lists a process of another namespace as 0. Processes come and go meanwhile.
    let is_of_tree = |line: &str| {
        line.parse().is_ok_and(|pid: u32| {
            tree.contains(&pid) || pid != 0 && !Path::new(&format!("/proc/{pid}")).exists()
        })
    };
    let is_here = |pid: &u32| read_of_process(*pid, "cgroup").is_none_or(|own| own == text);
    listed.lines().all(is_of_tree)
        && tree.iter().all(is_here)
        && !below.any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
}

/// Makes version 1 count the requests of a group to a device; returns why it does not.
fn count_requests(dir: &Path, device: &str) -> Result<(), String> {
    RULES.iter().try_for_each(|name| {
        let path = dir.join(name);
        // A kernel without throttling counts nothing, and its files are absent.
        match fs::write(&path, format!("{device} {RULE_OPS_PER_S}")) {
            Err(error) if path.exists() => {
                Err(format!("requests are not counted: cannot write {}: {error}", path.display()))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control_group::tests::is_writable;

    #[test]
    fn a_group_is_made_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let group = ServerGroup::create(None, dir.path()).unwrap();
        if group.dirs().is_empty() {
            assert!(!is_writable("cpuacct") && !is_writable("memory"), "{:?}", group.absence());
            println!("skipped: {}", group.absence().unwrap_or("no control groups here"));
            return;
        }
        let dirs = group.dirs().to_vec();
        assert!(dirs.iter().all(|dir| dir.join("cgroup.procs").exists()), "{dirs:?}");
        let is_v1 = group.accounts().io.is_some_and(|(io, _)| io.version == Version::V1);
        assert_eq!(group.writes_counted().is_some(), is_v1);
        drop(group);
        assert!(!dirs.iter().any(|dir| dir.exists()));
    }

    #[test]
    fn the_memory_of_a_group_is_capped() {
        let dir = tempfile::tempdir().unwrap();
        let group = match ServerGroup::create(Some(Bytes(32 << 20)), dir.path()) {
            Ok(group) => group,
            Err(error @ (CapError::NoController(_) | CapError::NoRights(..)))
                if !is_writable("memory") =>
            {
                return println!("skipped: {error}");
            }
            Err(error) => panic!("{error}"),
        };
        let memory = group.memory().unwrap().dir;
        assert!(group.dirs().contains(&memory), "{memory:?}");
        let limits = ["memory.limit_in_bytes", "memory.max"].map(|name| memory.join(name));
        let limit = limits.iter().find_map(|path| fs::read_to_string(path).ok()).unwrap();
        assert_eq!(limit.trim(), (32 << 20).to_string());
    }

    #[test]
    fn version_2_has_one_directory_for_all_accounts() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("session");
        fs::create_dir(&own).unwrap();
        for name in ["cgroup.controllers", "cgroup.subtree_control"] {
            fs::write(own.join(name), "cpu io memory\n").unwrap();
        }
        let mount = Mount {
            number: "0:30".to_owned(),
            mount_options: Vec::new(),
            root: "/".into(),
            point: root.path().into(),
            kind: "cgroup2".to_owned(),
            source: "cgroup2".to_owned(),
            options: Vec::new(),
        };
        let group = ServerGroup::create_in("0::/session\n", &[mount], None, root.path()).unwrap();
        assert_eq!(group.dirs().len(), 1, "{:?}", group.dirs());
        assert!(group.dirs()[0].starts_with(&own));
        assert_eq!(group.memory().unwrap().version(), 2);
        assert_eq!(group.accounts().cpu.unwrap().dir, group.dirs()[0]);
    }

    /// Goal: a group counts a running server only if it holds the server and nothing else.
    /// Method: files that describe the group of a child.
    #[test]
    fn running_server_is_counted_by_a_group_of_its_own_only() {
        let root = tempfile::tempdir().unwrap();
        let list = |pids: &[u32]| {
            let lines: String = pids.iter().map(|pid| format!("{pid}\n")).collect();
            fs::write(root.path().join("cgroup.procs"), lines).unwrap();
        };
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
        let mounts = ["cgroup", "cgroup2"].map(|kind| Mount {
            number: "0:30".to_owned(),
            mount_options: Vec::new(),
            // A group elsewhere is the mounted one.
            root: "/elsewhere".into(),
            point: root.path().into(),
            kind: kind.to_owned(),
            source: kind.to_owned(),
            options: vec!["cpuacct".to_owned()],
        });
        let cpu = |text: &str| {
            let group = ServerGroup::of_running_in(pid, text, &mounts, None);
            assert!(group.dirs().is_empty() && group.absence().is_some(), "{group:?}");
            group.accounts().cpu.map(|cpu| cpu.dir)
        };
        for others in [[pid, std::process::id()], [pid, 0]] {
            list(&others);
            assert_eq!(cpu(&text), None, "{others:?}");
        }
        list(&[pid]);
        assert_eq!(cpu(&text).as_deref(), Some(root.path()));
        assert_eq!(cpu(&format!("{text}7:x:/\n")), None, "its processes are in several groups");
        fs::create_dir(root.path().join("below")).unwrap();
        assert_eq!(cpu(&text), None, "there may be other processes below");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn without_control_groups_nothing_is_counted_and_a_cap_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let group = ServerGroup::create_in("", &[], None, root.path()).unwrap();
        assert!(group.dirs().is_empty() && group.accounts().cpu.is_none());
        assert!(ServerGroup::create_in("", &[], Some(Bytes(1 << 30)), root.path()).is_err());
    }
}
