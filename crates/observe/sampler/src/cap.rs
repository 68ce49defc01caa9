//! A control group that caps the memory of one run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use model::{Bytes, Privilege};

use crate::control_group::{CgroupDir, Version};
use crate::error::CapError;
use crate::kernel_file::read_trimmed;
use crate::memory_limit::tightest_limit;

/// Start of the names of our groups; the creator's process id and a number follow.
const PREFIX: &str = "assay-";

/// Numbers the groups of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A memory cap that its processes share, page cache included.
///
/// This makes an IO-bound run possible on a large machine, in both versions of the interface.
/// Page cache is charged to the group that first touched the page: data that another process has
/// just written or copied stays cached outside the cap until it is dropped.
///
/// The group is removed when the cap is dropped; processes still in it are left alone, and so is
/// the group then.
#[derive(Debug)]
pub struct MemoryCap {
    group: CgroupDir,
}

impl MemoryCap {
    /// Makes a control group with the limit and nothing in it.
    ///
    /// In version 1 it lies below this process's own group. In version 2 a group with processes
    /// cannot have groups with controllers below it, so it lies next to it, unless the own group
    /// passes the memory controller on.
    ///
    /// # Errors
    /// When the machine has no memory controller, the user no rights to it, or the kernel sets
    /// another limit.
    pub fn create(limit: Bytes) -> Result<Self, CapError> {
        Self::create_in(CgroupDir::of_process(std::process::id()), &next_name(), limit)
    }

    /// Makes the group `name` at the place that the version of this process's own group requires.
    pub(crate) fn create_in(
        own: Option<CgroupDir>,
        name: &str,
        limit: Bytes,
    ) -> Result<Self, CapError> {
        let no_group = || "no control group file system is mounted".to_owned();
        let own = own.ok_or_else(|| CapError::NoController(no_group()))?;
        let version = own.version;
        let parent = match version {
            Version::V1 => &own.dir,
            Version::V2 => v2_parent(&own.dir)?,
        };
        let cap = Self { group: CgroupDir { version, dir: make_group(parent, name)? } };
        match version {
            Version::V1 => cap.limit_v1(limit)?,
            Version::V2 => cap.limit_v2(limit)?,
        }
        cap.check_enclosing(limit)?;
        Ok(cap)
    }

    /// Moves a process into the group; its later allocations count.
    ///
    /// # Errors
    /// When the user may not move it, or it has ended.
    pub fn add_pid(&self, pid: u32) -> Result<(), CapError> {
        let path = self.group.dir.join("cgroup.procs");
        fs::write(&path, pid.to_string()).map_err(|error| {
            if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) {
                return CapError::Gone(pid);
            }
            CapError::rights(&path)(error)
        })
    }

    /// Returns the group's directories, for its sampler.
    pub fn dir(&self) -> CgroupDir {
        self.group.clone()
    }

    /// Checks that no enclosing group, as a container has, binds before the limit does.
    fn check_enclosing(&self, limit: Bytes) -> Result<(), CapError> {
        let page = rustix::param::page_size() as u64;
        match tightest_limit(&self.group.dir).map(|limit| limit.bytes) {
            Some(bytes) if bytes.0 + page <= limit.0 => {
                Err(CapError::Enclosed { requested: limit, limit: bytes })
            }
            _ => Ok(()),
        }
    }

    /// Sets the limit on memory, and on memory and swap where the kernel counts swap.
    fn limit_v1(&self, limit: Bytes) -> Result<(), CapError> {
        self.set("memory.limit_in_bytes", limit)?;
        if self.group.dir.join("memory.memsw.limit_in_bytes").exists() {
            return self.set("memory.memsw.limit_in_bytes", limit);
        }
        self.write("memory.swappiness", "0")
    }

    /// Sets the limit on memory and allows no swap.
    fn limit_v2(&self, limit: Bytes) -> Result<(), CapError> {
        self.set("memory.max", limit)?;
        if self.group.dir.join("memory.swap.max").exists() {
            return self.write("memory.swap.max", "0");
        }
        Ok(())
    }

    /// Writes a limit and checks that it is in force.
    fn set(&self, name: &str, limit: Bytes) -> Result<(), CapError> {
        self.write(name, &limit.0.to_string())?;
        let path = self.group.dir.join(name);
        let in_force = read_trimmed(&path).unwrap_or_else(|| "no".to_owned());
        // The kernel counts in pages: it rounds down.
        let page = rustix::param::page_size() as u64;
        let is_set = in_force.parse::<u64>().is_ok_and(|bytes| limit.0.abs_diff(bytes) < page);
        if is_set {
            return Ok(());
        }
        Err(CapError::OtherLimit { path, wanted: limit.0, in_force })
    }

    /// Writes one of the group's files.
    fn write(&self, name: &str, text: &str) -> Result<(), CapError> {
        let path = self.group.dir.join(name);
        fs::write(&path, text).map_err(CapError::rights(&path))
    }
}

impl Drop for MemoryCap {
    /// Removes the group unless processes are left in it.
    fn drop(&mut self) {
        // What cannot be removed now is swept when the next cap is made.
        drop(fs::remove_dir(&self.group.dir));
    }
}

/// Returns a name for a group of ours that no other has.
pub(crate) fn next_name() -> String {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}{}-{}-{number}", pid_namespace(), std::process::id())
}

/// Returns the number of this process's PID namespace; 0 if it is not known.
///
/// Source: namespaces(7), "The /proc/[pid]/ns/ directory".
fn pid_namespace() -> u64 {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let text = link.to_string_lossy();
    let number = text.strip_prefix("pid:[").and_then(|text| text.strip_suffix(']'));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Makes a group; those of creators that have ended are removed before.
pub(crate) fn make_group(parent: &Path, name: &str) -> Result<PathBuf, CapError> {
    sweep(parent);
    let dir = parent.join(name);
    fs::create_dir(&dir).map_err(CapError::rights(&dir))?;
    Ok(dir)
}

/// Returns the nearest group, own or enclosing, that passes the memory controller on.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst, "No Internal Process Constraint".
pub(crate) fn v2_parent(own: &Path) -> Result<&Path, CapError> {
    let mut last = None;
    for dir in own.ancestors().take(2) {
        if !has_memory(&dir.join("cgroup.controllers")) {
            continue;
        }
        let path = dir.join("cgroup.subtree_control");
        if has_memory(&path) {
            return Ok(dir);
        }
        match fs::write(&path, "+memory") {
            Ok(()) => return Ok(dir),
            Err(error) => last = Some((path, error)),
        }
    }
    match last {
        Some((path, error)) if error.kind() == io::ErrorKind::ResourceBusy => {
            let reason = format!(
                "{} cannot delegate the memory controller while its group has processes: this \
                 {}",
                path.display(),
                Privilege::CONTROL_GROUPS_V2
            );
            Err(CapError::NoController(reason))
        }
        Some((path, error)) => Err(CapError::rights(&path)(error)),
        None => {
            let file = own.join("cgroup.controllers");
            let reason = format!(
                "{} does not list `memory`: have the memory controller delegated (systemd: \
                 Delegate=memory), or boot with cgroup_enable=memory",
                file.display()
            );
            Err(CapError::NoController(reason))
        }
    }
}

/// Returns whether a list of controllers has the memory controller.
fn has_memory(path: &Path) -> bool {
    let list = fs::read_to_string(path).unwrap_or_default();
    list.split_ascii_whitespace().any(|name| name == "memory")
}

/// Removes groups whose creators have ended, as after a kill.
///
/// The processes of another PID namespace, as of a container, are not known here: its groups stay.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let namespace = pid_namespace();
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| creator_of(name, namespace)) else {
            continue;
        };
        if !Path::new("/proc").join(pid.to_string()).exists() {
            // A group with processes in it stays: the kernel refuses.
            drop(fs::remove_dir(entry.path()));
        }
    }
}

/// Returns the process of this PID namespace that made the group of this name, if the name is one
/// of ours.
fn creator_of(name: &str, namespace: u64) -> Option<u32> {
    let (of, rest) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let pid = rest.split_once('-')?.0.parse().ok();
    pid.filter(|_| of.parse() == Ok(namespace))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::control_group::tests::is_writable;

    /// Makes a cap; prints why not where this user has no rights to control groups.
    fn cap(limit: Bytes) -> Option<MemoryCap> {
        match MemoryCap::create(limit) {
            Ok(cap) => Some(cap),
            Err(error @ (CapError::NoController(_) | CapError::NoRights(..)))
                if !is_writable("memory") =>
            {
                println!("skipped: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn group(version: Version, dir: &Path) -> Option<CgroupDir> {
        Some(CgroupDir { version, dir: dir.to_path_buf() })
    }

    /// Starts a shell that waits for a line and then runs `script`.
    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("read line; {script}")]).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a shell")
    }

    /// Lets the shell go, in the cap, and waits for its end.
    fn run(cap: &MemoryCap, mut child: Child) -> std::process::ExitStatus {
        cap.add_pid(child.id()).expect("own child, own group");
        let mut pipe = child.stdin.take().expect("piped");
        writeln!(pipe, "go").expect("the shell reads");
        child.wait().expect("own child")
    }

    #[test]
    fn page_cache_stays_below_the_cap() {
        let Some(cap) = cap(Bytes(32 << 20)) else { return };
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("big");
        let file = file.display();
        let status = run(&cap, shell(&format!("head -c 100000000 /dev/zero >'{file}'")));
        assert!(status.success());
        let usage = cap.dir().memory_bytes().unwrap();
        assert!((1 << 20..=32 << 20).contains(&usage), "{usage}");
        assert_eq!(cap.dir().oom_kills(), Some(0));
    }

    /// Goal: a process that needs more than the cap is killed, and the kill is counted.
    /// Method: `tail -n 1` must keep an input without line ends in memory.
    #[test]
    fn a_process_above_the_cap_is_killed_and_counted() {
        let Some(cap) = cap(Bytes(32 << 20)) else { return };
        run(&cap, shell("head -c 200000000 /dev/zero | tail -n 1 | wc -c"));
        assert!(cap.dir().oom_kills().is_some_and(|kills| kills >= 1));
    }

    #[test]
    fn a_dropped_cap_leaves_nothing_and_the_cap_of_a_killed_process_is_swept() {
        let Some(cap) = cap(Bytes(32 << 20)) else { return };
        let dir = cap.group.dir.clone();
        assert!(dir.exists());
        drop(cap);
        assert!(!dir.exists());
        // No process has the largest id a kernel hands out.
        let of = |namespace| dir.with_file_name(format!("{PREFIX}{namespace}-4194304-0"));
        let [stale, foreign] = [of(pid_namespace()), of(1)];
        fs::create_dir(&stale).unwrap();
        fs::create_dir(&foreign).unwrap();
        drop(MemoryCap::create(Bytes(32 << 20)).unwrap());
        assert!(!stale.exists());
        // Whether a process of another namespace has ended is not known here.
        assert!(foreign.exists());
        fs::remove_dir(&foreign).unwrap();
    }

    #[test]
    fn a_process_that_has_ended_is_not_reported_as_missing_rights() {
        let Some(cap) = cap(Bytes(32 << 20)) else { return };
        let mut child = shell("exit 0");
        child.kill().unwrap();
        child.wait().unwrap();
        let error = cap.add_pid(child.id()).unwrap_err();
        assert!(matches!(error, CapError::Gone(_)), "{error}");
    }

    #[test]
    fn a_limit_that_the_kernel_changes_is_an_error() {
        let Some(_rights) = cap(Bytes(32 << 20)) else { return };
        let error = MemoryCap::create(Bytes(u64::MAX)).unwrap_err();
        assert!(matches!(error, CapError::OtherLimit { .. }), "{error}");
    }

    #[test]
    fn a_cap_above_the_limit_of_an_enclosing_group_is_an_error() {
        let Some(outer) = cap(Bytes(32 << 20)) else { return };
        let create = |limit| MemoryCap::create_in(Some(outer.dir()), "inner", limit);
        assert!(matches!(create(Bytes(64 << 20)).unwrap_err(), CapError::Enclosed { .. }));
        assert!(create(Bytes(32 << 20)).is_ok());
        assert_eq!(
            fs::read_dir(&outer.group.dir)
                .unwrap()
                .filter(|it| { it.as_ref().is_ok_and(|it| it.path().is_dir()) })
                .count(),
            0,
            "inner groups are removed"
        );
    }

    #[test]
    fn version_2_caps_memory_and_forbids_swap() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path();
        fs::write(own.join("cgroup.controllers"), "memory\n").unwrap();
        fs::write(own.join("cgroup.subtree_control"), "memory\n").unwrap();
        let cap = MemoryCap::create_in(group(Version::V2, own), "x", Bytes::GIB).unwrap();
        let text = |name: &str| fs::read_to_string(own.join("x").join(name)).unwrap();
        assert_eq!(text("memory.max"), "1073741824");
        fs::write(own.join("x/memory.swap.max"), "max").unwrap();
        cap.limit_v2(Bytes::GIB).unwrap();
        assert_eq!(text("memory.swap.max"), "0");
        cap.add_pid(17).unwrap();
        assert_eq!(text("cgroup.procs"), "17");
        fs::write(own.join("x/memory.events"), "oom 1\noom_kill 1\n").unwrap();
        assert_eq!(cap.dir().oom_kills(), Some(1));
    }

    #[test]
    fn missing_rights_name_the_file_and_the_remedy() {
        let own = Path::new("/proc/no-such-group");
        let error = MemoryCap::create_in(group(Version::V1, own), "x", Bytes::GIB).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("/proc/no-such-group/x") && text.contains("sudo chown -R $USER"),
            "{text}"
        );
    }

    #[test]
    fn version_2_without_a_delegated_controller_is_an_error_with_a_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("slice/session");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("cgroup.controllers"), "cpu pids\n").unwrap();
        let text = v2_parent(&own).unwrap_err().to_string();
        assert!(text.contains("session/cgroup.controllers"), "{text}");
        assert!(text.contains("Delegate=memory"), "{text}");
    }

    #[test]
    fn version_2_groups_lie_next_to_a_group_with_processes() {
        let dir = tempfile::tempdir().unwrap();
        let slice = dir.path().join("slice");
        let own = slice.join("session");
        fs::create_dir_all(&own).unwrap();
        for group in [&slice, &own] {
            fs::write(group.join("cgroup.controllers"), "cpu memory\n").unwrap();
        }
        fs::write(slice.join("cgroup.subtree_control"), "cpu memory\n").unwrap();
        // A directory cannot be written like a file, as the kernel refuses the write.
        fs::create_dir(own.join("cgroup.subtree_control")).unwrap();
        assert_eq!(v2_parent(&own).unwrap(), slice);
    }
}
