//! The accounts of servers, and what they leave: processes and shared memory.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::sandbox::Sandbox;

/// First id of the accounts made up for servers, see `server::User`; other ids are shared.
const FIRST_OWN_ID: u32 = 1_879_048_192;

/// The accounts of the servers that a sandbox had, to find what they leave.
#[derive(Default)]
pub(crate) struct Accounts(BTreeSet<u32>);

impl Accounts {
    /// Notes the accounts of the servers that the sandbox has now: the owners of their data.
    pub(crate) fn note(&mut self, sandbox: &Sandbox) {
        let runs = fs::read_dir(sandbox.path("data")).into_iter().flatten().flatten();
        let owners = runs.filter_map(|run| fs::metadata(run.path().join("data")).ok());
        self.0.extend(owners.map(|data| data.uid()).filter(|uid| *uid >= FIRST_OWN_ID));
    }

    /// Returns whether no server was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the processes that run under them, the first one started first.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let all = fs::read_dir("/proc").expect("/proc is mounted").flatten();
        let is_its =
            |path: &Path| fs::metadata(path).is_ok_and(|meta| self.0.contains(&meta.uid()));
        let pids = all.filter(|entry| is_its(&entry.path()));
        let mut pids: Vec<u32> =
            pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        pids.sort_unstable();
        pids
    }

    /// Returns their processes, named shared memory and System V segments.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut left: Vec<_> =
            self.processes().iter().map(|pid| format!("process {pid}")).collect();
        let named = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
        let is_its =
            |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| self.0.contains(&meta.uid()));
        let named = named.map(|entry| entry.path()).filter(|path| is_its(path));
        left.extend(named.map(|path| path.display().to_string()));
        let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        // Source: proc(5), `/proc/sysvipc`: the eighth column is the owner.
        let owner = |line: &str| line.split_ascii_whitespace().nth(7)?.parse::<u32>().ok();
        let segments =
            table.lines().filter(|line| owner(line).is_some_and(|id| self.0.contains(&id)));
        left.extend(segments.map(|line| format!("segment {line}")));
        left
    }
}
