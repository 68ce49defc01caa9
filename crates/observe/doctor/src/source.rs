//! Files and programs that checks read.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sampler::{BlockDevice, Mount, holding, nearest_existing, parse_mounts};

use crate::machine::{Machine, Space, ThisMachine};

/// The outcome of a check that needs the mounts, without them.
pub(crate) const NO_MOUNTS: &str = "the mounts cannot be read from /proc/self/mountinfo";

/// A machine below a root directory, and a directory for data on it.
pub struct Source {
    root: PathBuf,
    dir: PathBuf,
    machine: Box<dyn Machine>,
    /// Outputs by command line: several checks read that of one program.
    outputs: RefCell<BTreeMap<String, Result<String, String>>>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("root", &self.root).field("dir", &self.dir).finish()
    }
}

impl Source {
    /// Returns this machine, and the device and file system of `dir` or its nearest parent.
    pub fn this_machine(dir: &Path) -> Self {
        Self::at(Path::new("/"), &nearest_existing(dir), Box::new(ThisMachine))
    }

    /// Returns a machine whose files lie below `root`; `dir` is absolute and without links.
    pub fn at(root: &Path, dir: &Path, machine: Box<dyn Machine>) -> Self {
        let (root, dir) = (root.to_owned(), dir.to_owned());
        Self { root, dir, machine, outputs: RefCell::default() }
    }

    /// Returns the directory for data.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the trimmed text of a file, by its absolute path; `None` when it cannot be read.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        // The name that a process gives itself may be no UTF-8.
        let bytes = std::fs::read(self.below_root(path.as_ref())).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        Some(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
    }

    /// Returns the number in a file.
    pub(crate) fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.read(path)?.parse().ok()
    }

    /// Returns the names in a directory, sorted; none when it is not there.
    pub(crate) fn names(&self, dir: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.below_root(Path::new(dir))) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Returns whether systemd started this system; in most containers it did not.
    pub(crate) fn has_systemd(&self) -> bool {
        self.read("/proc/1/comm").as_deref() == Some("systemd")
    }

    /// Returns the directories of CPUs that are online, in the order of their numbers.
    pub(crate) fn cpus(&self) -> Vec<String> {
        let number = |name: &String| name.strip_prefix("cpu")?.parse::<u32>().ok();
        let names = self.names("/sys/devices/system/cpu");
        let mut cpus: Vec<(u32, String)> = names
            .into_iter()
            .filter_map(|name| Some((number(&name)?, format!("/sys/devices/system/cpu/{name}"))))
            .collect();
        cpus.sort();
        cpus.into_iter().map(|(_, dir)| dir).collect()
    }

    /// Returns what a program printed, from its first run.
    pub(crate) fn output(&self, program: &str, args: &[&str]) -> Result<String, String> {
        let line = format!("{program} {}", args.join(" "));
        let known = self.outputs.borrow().get(&line).cloned();
        known.unwrap_or_else(|| {
            let output = self.machine.output(program, args);
            self.outputs.borrow_mut().insert(line, output.clone());
            output
        })
    }

    /// Returns the mount that holds the directory.
    pub(crate) fn mount(&self) -> Option<Mount> {
        let mounts = parse_mounts(&self.read("/proc/self/mountinfo")?);
        holding(&mounts, &self.dir).cloned()
    }

    /// Returns the block device below the directory, or the reason for none.
    pub(crate) fn disk(&self) -> Result<BlockDevice, String> {
        let mount = self.mount().ok_or(NO_MOUNTS)?;
        let sys = self.root.join("sys");
        let mut number = mount.number.clone();
        // Anonymous numbers are for file systems over devices, such as btrfs.
        if number.starts_with("0:") {
            let name = Path::new(&mount.source).strip_prefix("/dev").ok();
            let class = name.map(|name| Path::new("/sys/class/block").join(name).join("dev"));
            number = class.and_then(|path| self.read(path)).ok_or_else(|| {
                format!("the data is on {}, which has no block device", mount.kind)
            })?;
        }
        BlockDevice::numbered(&sys, &number)
    }

    /// Returns a file below the device's `queue`, with its path.
    pub(crate) fn queue(&self, name: &str) -> Result<(String, String), String> {
        let disk = self.disk()?;
        let path = format!("/sys/block/{}/queue/{name}", disk.name);
        let text = std::fs::read_to_string(disk.sys_dir.join("queue").join(name));
        let text = text.map_err(|error| format!("cannot read {path}: {error}"))?;
        Ok((text.trim().to_owned(), path))
    }

    /// Returns the machine's time of a clock read, ns.
    pub(crate) fn clock_read_ns(&self) -> f64 {
        self.machine.clock_read_ns()
    }

    /// Returns the machine's time of a context switch, ns.
    pub(crate) fn context_switch_ns(&self) -> Option<f64> {
        self.machine.context_switch_ns()
    }

    /// Returns the size of the directory's file system.
    pub(crate) fn space(&self) -> Option<Space> {
        self.machine.space(&self.dir)
    }

    /// Returns whether files in the directory can bypass the page cache; `None` if it takes none.
    pub(crate) fn takes_direct_io(&self) -> Option<bool> {
        self.machine.takes_direct_io(&self.dir)
    }

    /// Waits while other processes run.
    pub(crate) fn wait(&self, span: Duration) {
        self.machine.wait(span);
    }

    fn below_root(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

/// Returns the choice in brackets: `none` of `[none] mq-deadline`.
pub(crate) fn chosen(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}
